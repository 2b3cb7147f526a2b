/* Twin of models/murphi/peterson.m: Peterson's filter lock for N processes.
 *
 * The place of a process is its location here. `last` holds numbers from 1, with 0 for undefined; `inside` follows from the
 * locations, so it adds no states. Every rule of the Murphi model is one transition. */

#ifndef N
#define N 5
#endif
#if N < 2 || N > 8
#error "N from 2 to 8"
#endif

byte depth[N];   /* 0: not competing */
byte last[N];    /* who came to this level most recently; element 0 is not used */
byte inside;

#define behind(q) (q == _pid || depth[q] < depth[_pid])

#if N > 2
#define third && behind(2)
#else
#define third
#endif
#if N > 3
#define fourth && behind(3)
#else
#define fourth
#endif
#if N > 4
#define fifth && behind(4)
#else
#define fifth
#endif
#if N > 5
#define sixth && behind(5)
#else
#define sixth
#endif
#if N > 6
#define seventh && behind(6)
#else
#define seventh
#endif
#if N > 7
#define eighth && behind(7)
#else
#define eighth
#endif

#define may_advance (last[depth[_pid]] != _pid + 1 || (behind(0) && behind(1) third fourth fifth sixth seventh eighth))

active [N] proctype competitor() {
outside:
    true;
enter:
    depth[_pid]++;
    last[depth[_pid]] = _pid + 1;
    if
    :: depth[_pid] < N - 1 && may_advance -> goto enter
    :: d_step { depth[_pid] == N - 1 && may_advance -> inside++; assert(inside == 1) }
    fi;
    d_step { assert(depth[_pid] == N - 1); depth[_pid] = 0; inside-- };
    goto outside
}
