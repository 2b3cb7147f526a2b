// model: the alternating-bit protocol over channels that lose messages
// verdict: holds
// states: 50
// rules: 58
// why: buffered channels, matching on constants, timeout, atomic sequences that block

#define LAST 3

mtype = { data, ack };

chan there = [2] of { mtype, bit, byte };
chan back  = [2] of { mtype, bit };

byte delivered;

active proctype Sender()
{
	bit now;
	byte item = 1;

	do
	:: item <= LAST ->
		there!data(now, item);
again:		if
		:: back?ack(eval(now)) -> now = 1 - now; item++
		:: back?ack(eval(1 - now)) -> goto again
		:: timeout -> there!data(now, item); goto again
		fi
	:: else -> break
	od
}

active proctype Receiver()
{
	bit wanted, number;
	byte item;

end:	do
	:: there?data(number, item) ->
		if
		:: number == wanted ->
			assert(item == delivered + 1);
			atomic { delivered = item; wanted = 1 - wanted }
		:: else
		fi;
		back!ack(number)
	od
}

active proctype Thief()
{
end:	do
	:: atomic { there?_,_,_ }
	:: atomic { back?_,_ }
	od
}
