// model: Chang and Roberts' election in a ring of processes that are made at the start
// verdict: holds
// states: 526
// rules: 1342
// why: run with channels as arguments, channels in variables, processes that end in reverse order

#define N 4

mtype = { candidate, leader };

chan ring[N] = [N] of { mtype, byte };
byte leaders;

proctype node(chan inward, outward; byte name)
{
	byte other;

	outward!candidate(name);
	do
	:: inward?candidate(other) ->
		if
		:: other > name -> outward!candidate(other)
		:: other < name
		:: else ->
			leaders++;
			assert(leaders == 1);
			outward!leader(name)
		fi
	:: inward?leader(other) ->
		if
		:: other != name -> outward!leader(other)
		:: else
		fi;
		break
	od
}

init {
	byte i;

	atomic {
		for (i : 0 .. N-1) {
			run node(ring[i], ring[(i+1) % N], (i*3) % N + 1)
		}
	};
	_nr_pr == 1;
	assert(leaders == 1)
}
