-- model: dining philosophers, all alike
-- verdict: violated
-- violation: deadlock
-- witness: 5
-- with: PhilosopherCount=8 Slow=1 witness=8
-- why: the textbook deadlock: everybody takes the left fork and waits for the right one; no invariant is broken on the way
--
-- Philosophers sit in a circle with one fork between neighbours and need two
-- forks to eat. Since all are alike, all can be stuck alike.
--
-- Sizes with --deadlock off; there is one deadlock, and a shortest way to it
-- has PhilosopherCount steps. rumur counts the same where a line ends with r:
--
--   PhilosopherCount  Slow      states       fired  depth
--          5           0            82         265      5  r
--          5           1           392       1,250     16  r
--          8           1        14,158      72,336     28  r
--         10           1       154,450     986,430     36
--         17           0     3,215,042  35,332,001     17
--
-- Engels, Groote, van Weerdenburg and Willemse search 5 and 17 philosophers; the
-- model that comes with mCRL2, which they use, has the steps of Slow = 1.

const
  PhilosopherCount: 5;
  Slow: 0;              -- 1: eating is a step, and forks go down one by one

type
  Seat: 0..PhilosopherCount - 1;
  Mood: enum { Thinking, HasFirst, Eating, Fed, Leaving };

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
    Slow = 0 & mood[s] = Eating
  ==>
  begin
    free[left(s)] := true;
    free[right(s)] := true;
    mood[s] := Thinking;
  endrule;

  rule "has eaten"
    Slow = 1 & mood[s] = Eating
  ==>
  begin
    mood[s] := Fed;
  endrule;

  rule "puts the left fork down"
    mood[s] = Fed
  ==>
  begin
    free[left(s)] := true;
    mood[s] := Leaving;
  endrule;

  rule "puts the right fork down"
    mood[s] = Leaving
  ==>
  begin
    free[right(s)] := true;
    mood[s] := Thinking;
  endrule;

endruleset;

invariant "neighbours do not eat together"
  forall s: Seat do
    !(mood[s] = Eating & mood[right(s)] = Eating)
  endforall;
