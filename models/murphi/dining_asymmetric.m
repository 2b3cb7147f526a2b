-- model: dining philosophers, one of them left-handed
-- verdict: holds
-- states: 1118878
-- rules: 9415128
-- why: the repair of dining.m: with one philosopher reaching the other way, no circle of waiting can close; forks are put down one at a time; large enough to be timed
--
-- Forks are numbered and taken in ascending order. A circle of philosophers who
-- wait for each other would have to descend somewhere.

const
  PhilosopherCount: 12;

type
  Seat: 0..PhilosopherCount - 1;
  Mood: enum { Thinking, HasFirst, Eating, Leaving };

var
  mood: array[Seat] of Mood;
  free: array[Seat] of boolean;      -- the fork to the left of this seat

function right(s: Seat): Seat;
begin
  return (s + 1) % PhilosopherCount;
endfunction;

-- The forks in the order in which they are taken: everybody takes the fork
-- with the smaller number first, which for the last seat is the right one.
function first(s: Seat): Seat;
begin
  return (s = PhilosopherCount - 1) ? right(s) : s;
endfunction;

function second(s: Seat): Seat;
begin
  return (s = PhilosopherCount - 1) ? s : right(s);
endfunction;

startstate "all are thinking"
begin
  for s: Seat do
    mood[s] := Thinking;
    free[s] := true;
  endfor;
endstartstate;

ruleset s: Seat do

  rule "takes the first fork"
    mood[s] = Thinking & free[first(s)]
  ==>
  begin
    free[first(s)] := false;
    mood[s] := HasFirst;
  endrule;

  rule "takes the second fork"
    mood[s] = HasFirst & free[second(s)]
  ==>
  begin
    free[second(s)] := false;
    mood[s] := Eating;
  endrule;

  rule "puts the second fork down"
    mood[s] = Eating
  ==>
  begin
    free[second(s)] := true;
    mood[s] := Leaving;
  endrule;

  rule "puts the first fork down"
    mood[s] = Leaving
  ==>
  begin
    free[first(s)] := true;
    mood[s] := Thinking;
  endrule;

endruleset;

invariant "neighbours do not eat together"
  forall s: Seat do
    !(mood[s] = Eating & mood[right(s)] = Eating)
  endforall;

invariant "a fork is free or in one hand"
  forall s: Seat do
    (mood[s] != Thinking -> !free[first(s)])
    & (mood[s] = Eating -> !free[second(s)])
  endforall;
