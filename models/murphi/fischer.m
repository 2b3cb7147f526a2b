-- model: Fischer's timed mutual exclusion, in discrete time
-- verdict: holds
-- states: 22724
-- rules: 65538
-- orbits: 513
-- with: ProcessCount=4 WriteWithin=6 WaitFor=7 states=34624 rules=92971
-- with: ProcessCount=6 WriteWithin=1 WaitFor=2 states=41979 rules=133064
-- why: a clock per process and one rule that advances them all: time may pass only while no deadline is due
--
-- A process that found the lock free must write its name within WriteWithin
-- ticks, and then wait for longer than that before it looks again. By then
-- every rival that found the lock free has written too.
--
-- Sizes without symmetry; rumur counts the same where a line ends with r:
--
--   ProcessCount  WriteWithin  WaitFor       states       fired  depth
--        5             2          3          22,724      65,538     19  r
--        4             2          3           3,280       8,363     17  r
--        4             6          7          34,624      92,971     25  r
--        6             1          2          41,979     133,064     19  r
--        6             2          3         155,976     505,737     21
--        6             6          7       4,731,824  16,432,569     29
--        7             5          6      24,418,569  93,479,693     29
--
-- Abed, Tripakis and Vincent report 34,606 states and a longest acyclic path of
-- 14 for their model of this algorithm, whose clocks are not described. 4, 6, 7
-- differs from it by 18 states; 6, 1, 2 is nearer to it in depth.

const
  ProcessCount: 5;
  WriteWithin:  2;
  WaitFor:      3;      -- with WriteWithin instead, mutual exclusion fails

type
  Process: scalarset(ProcessCount);
  Time:    0..WaitFor;
  Place:   enum { Outside, Writing, Waiting, Critical };

var
  place: array[Process] of Place;
  clock: array[Process] of Time;     -- since this place was entered
  owner: Process;                    -- undefined: the lock is free

procedure go(p: Process; where: Place);
begin
  place[p] := where;
  clock[p] := 0;
endprocedure;

-- Clocks that nobody reads stand still, and those that are read stop at the
-- largest value that matters: without this, time would have no end.
function runs(p: Process): boolean;
begin
  switch place[p]
    case Writing, Waiting:
      return clock[p] < WaitFor;
    else
      return false;
  endswitch;
  return false;
endfunction;

startstate "the lock is free"
begin
  undefine owner;
  for p: Process do
    go(p, Outside);
  endfor;
endstartstate;

rule "time passes"
  forall p: Process do place[p] = Writing -> clock[p] < WriteWithin endforall
==>
begin
  for p: Process do
    if runs(p) then
      clock[p] := clock[p] + 1;
    endif;
  endfor;
endrule;

ruleset p: Process do

  rule "finds the lock free"
    place[p] = Outside & isundefined(owner)
  ==>
  begin
    go(p, Writing);
  endrule;

  rule "writes its name"
    place[p] = Writing
  ==>
  begin
    owner := p;
    go(p, Waiting);
  endrule;

  rule "finds its name still there"
    place[p] = Waiting & clock[p] = WaitFor & !isundefined(owner) & owner = p
  ==>
  begin
    go(p, Critical);
  endrule;

  rule "finds itself overtaken"
    place[p] = Waiting & clock[p] = WaitFor & (isundefined(owner) | owner != p)
  ==>
  begin
    go(p, Outside);
  endrule;

  rule "frees the lock"
    place[p] = Critical
  ==>
  begin
    undefine owner;
    go(p, Outside);
  endrule;

endruleset;

invariant "mutual exclusion"
  forall p: Process do forall q: Process do
    p != q -> !(place[p] = Critical & place[q] = Critical)
  endforall endforall;

invariant "whoever is inside owns the lock"
  forall p: Process do
    place[p] = Critical -> (!isundefined(owner) & owner = p)
  endforall;
