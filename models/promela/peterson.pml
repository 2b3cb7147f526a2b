// model: Peterson's algorithm for two processes
// verdict: holds
// states: 38
// rules: 64
// why: the smallest model with a question: active processes, arrays, assertions, a label to look for

bool wants[2];
byte turn;
byte inside;

active [2] proctype P()
{
	do
	:: wants[_pid] = true;
	   turn = 1 - _pid;
	   !wants[1 - _pid] || turn == _pid;
crit:	   inside++;
	   assert(inside == 1);
	   inside--;
	   wants[_pid] = false
	od
}
