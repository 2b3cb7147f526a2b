// model: a worker that an alarm calls away, and that may only work while there is power
// verdict: holds
// states: 672
// rules: 1668
// why: unless, provided, goto, a d_step with a choice inside

bool alarm;
bool power = true;
byte done, lost;

active proctype Worker() provided (power)
{
	byte part;
rest:
	{
		do
		:: part < 3 -> part++
		:: part == 3 ->
			d_step {
				if
				:: done < 2 -> done++
				:: else -> done = 0
				fi;
				part = 0
			}
		od
	} unless {
		alarm -> d_step { lost = (lost + part) % 4; part = 0 }
	};
	!alarm;
	goto rest
}

active proctype World()
{
	do
	:: power = !power
	:: alarm = true; alarm = false
	:: assert(lost < 4)
	od
}
