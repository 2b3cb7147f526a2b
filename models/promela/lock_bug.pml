// model: a lock that is tested and set in two steps
// verdict: violated
// states: 29
// rules: 58
// why: an assertion that fails behind an atomic sequence that is left in the middle

bit locked;
byte holders;
chan door = [1] of { bit };

active [2] proctype User()
{
	do
	:: atomic { !locked -> door!1; locked = 1 };
	   holders++;
	   assert(holders == 1);
	   holders--;
	   atomic { locked = 0; door?_ }
	:: atomic { locked -> skip };
	   holders++;
	   holders--
	od
}
