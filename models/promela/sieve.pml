// model: the sieve of Eratosthenes as a growing line of processes
// verdict: holds
// states: 329
// rules: 684
// why: processes that make processes, channels made by processes, a message that ends them one after the other

#define MAX 9

mtype = { number, stop };

byte primes;

proctype filter(chan inward; byte prime)
{
	chan onward = [0] of { mtype, byte };
	byte n;
	bool has_next;

	primes++;
	do
	:: inward?number(n) ->
		if
		:: n % prime == 0
		:: n % prime != 0 && has_next -> onward!number(n)
		:: n % prime != 0 && !has_next -> has_next = true; run filter(onward, n)
		fi
	:: inward?stop(_) ->
		if
		:: has_next -> onward!stop(0)
		:: else
		fi;
		break
	od
}

init {
	chan first = [0] of { mtype, byte };
	byte i;

	run filter(first, 2);
	for (i : 3 .. MAX) {
		first!number(i)
	}
	first!stop(0);
	_nr_pr == 1;
	assert(primes == 4)
}
