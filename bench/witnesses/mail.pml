/* Two senders and two receivers on channels of their own. The first receiver counts too far.
   shortest: 151 */
#define LETTERS 30
chan box[2] = [2] of { byte };
byte got[2];
proctype Sender(byte me)
{
	do
	:: box[me] ! 1
	:: box[me] ! 0
	od
}
proctype Receiver(byte me)
{
	byte kind;
	do
	:: box[me] ? kind ->
		if
		:: kind == 1 && got[me] < LETTERS -> got[me]++; assert(me == 1 || got[me] < LETTERS)
		:: else
		fi
	od
}
init { atomic { run Sender(0); run Sender(1); run Receiver(0); run Receiver(1) } }
