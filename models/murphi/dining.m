-- model: dining philosophers, all alike
-- verdict: violated
-- violation: deadlock
-- witness: 5
-- why: the textbook deadlock: everybody takes the left fork and waits for the right one; no invariant is broken on the way
--
-- Philosophers sit in a circle with one fork between neighbours and need two
-- forks to eat. Since all are alike, all can be stuck alike.

const
  PhilosopherCount: 5;

type
  Seat: 0..PhilosopherCount - 1;
  Mood: enum { Thinking, HasFirst, Eating };

var
  mood: array[Seat] of Mood;
  free: array[Seat] of boolean;      -- the fork to the left of this seat

function left(s: Seat): Seat;
begin
  return s;
endfunction;

function right(s: Seat): Seat;
begin
  return (s + 1) % PhilosopherCount;
endfunction;

startstate "all are thinking"
begin
  for s: Seat do
    mood[s] := Thinking;
    free[s] := true;
  endfor;
endstartstate;

ruleset s: Seat do

  rule "takes the left fork"
    mood[s] = Thinking & free[left(s)]
  ==>
  begin
    free[left(s)] := false;
    mood[s] := HasFirst;
  endrule;

  rule "takes the right fork"
    mood[s] = HasFirst & free[right(s)]
  ==>
  begin
    free[right(s)] := false;
    mood[s] := Eating;
  endrule;

  rule "puts both forks down"
    mood[s] = Eating
  ==>
  begin
    free[left(s)] := true;
    free[right(s)] := true;
    mood[s] := Thinking;
  endrule;

endruleset;

invariant "neighbours do not eat together"
  forall s: Seat do
    !(mood[s] = Eating & mood[right(s)] = Eating)
  endforall;
