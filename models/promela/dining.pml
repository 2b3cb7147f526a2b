// model: three philosophers who all take the left fork first
// verdict: violated
// states: 26
// rules: 51
// why: an invalid end state; rendezvous between processes of one type

#define N 3

chan fork[N] = [0] of { bit };

active [N] proctype Fork()
{
end:	do
	:: fork[_pid]!1; fork[_pid]?0
	od
}

active [N] proctype Philosopher()
{
	byte me = _pid - N;
	do
	:: fork[me]?1;
	   fork[(me + 1) % N]?1;
eats:	   fork[me]!0;
	   fork[(me + 1) % N]!0
	od
}
