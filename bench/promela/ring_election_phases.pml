/* Twin of models/murphi/ring_election_phases.m: leader election on a ring of N nodes after Dolev, Klawe and Rodeh.
 *
 * The variables are those of the Murphi model, with channels for its links, and three more that are used within a step only and are
 * 0 between steps. Every rule is one d_step of a process that has one location. */

#ifndef N
#define N 6
#endif
#ifndef LINK
#define LINK 2
#endif

mtype = { Near, Far, Elected };

#define Asleep  0
#define Racing  1
#define Passing 2
#define Leader  3

byte role[N];
byte value[N];    /* what a racer races with */
byte near[N];     /* the value of the racer before it */
byte chosen[N];   /* whom this node has heard to be elected */
chan link[N] = [LINK] of { mtype, byte };

mtype kind;
byte got;
byte i;

/* Small and great names alternate. */
#define name (_pid % 2 == 0 -> _pid / 2 + 1 : N - _pid / 2)
#define next ((_pid + 1) % N)

active [N] proctype node() {
    do
    :: d_step {
        role[_pid] == Asleep && nfull(link[next]) ->
        role[_pid] = Racing;
        value[_pid] = name;
        link[next]!Near(name)
       }
    :: d_step {
        role[_pid] != Asleep && nempty(link[_pid]) && nfull(link[next]) ->
        link[_pid]?kind(got);
        if
        :: kind == Near ->
            if
            :: role[_pid] == Passing -> link[next]!Near(got)
            :: role[_pid] != Passing && got == value[_pid] ->
                for (i : 0 .. N - 1) { assert(role[i] != Leader) }
                assert(got == N);
                role[_pid] = Leader;
                chosen[_pid] = got;
                link[next]!Elected(got)
            :: else ->
                near[_pid] = got;
                link[next]!Far(got)
            fi
        :: kind == Far ->
            if
            :: role[_pid] == Passing -> link[next]!Far(got)
            :: role[_pid] != Passing && near[_pid] > got && near[_pid] > value[_pid] ->
                value[_pid] = near[_pid];
                near[_pid] = 0;
                link[next]!Near(value[_pid])
            :: else ->
                role[_pid] = Passing;
                value[_pid] = 0;
                near[_pid] = 0
            fi
        :: kind == Elected ->
            if
            :: role[_pid] == Leader ->
                for (i : 0 .. N - 1) { assert(chosen[i] == got) }
                for (i : 0 .. N - 1) {
                    role[i] = Asleep;
                    value[i] = 0;
                    near[i] = 0;
                    chosen[i] = 0
                }
            :: else ->
                chosen[_pid] = got;
                link[next]!Elected(got)
            fi
        fi;
        kind = 0; got = 0; i = 0
       }
    od
}
