/* Two ferries on two lakes. The first one's log is one entry too short.
   shortest: 201 */
#define TRIPS 40
byte logged[2];
proctype Ferry(byte me)
{
	byte load = 0;
	do
	:: logged[me] < TRIPS -> 
		if
		:: load = 1
		:: load = 2
		fi;
		if
		:: load == 1 -> load = 0
		:: load == 2 -> logged[me]++; assert(me == 1 || logged[me] < TRIPS)
		fi
	:: else -> break
	od
}
init { atomic { run Ferry(0); run Ferry(1) } }
