-- model: Peterson's filter lock for n processes
-- verdict: holds
-- states: 409308
-- rules: 1431660
-- orbits: 4740
-- why: the smallest interesting use of a scalarset, as element and as index; `last` starts undefined and is read only once written
--
-- Before it enters, a process climbs through a filter of levels, each of which
-- holds at least one process back. On every level the last to arrive waits.

const
  ProcessCount: 5;

type
  Process: scalarset(ProcessCount);
  Level:   1..ProcessCount - 1;
  Depth:   0..ProcessCount - 1;      -- 0: not competing
  Place:   enum { Outside, Enter, Yield, Wait, Critical };

var
  place: array[Process] of Place;
  depth: array[Process] of Depth;
  last:  array[Level] of Process;    -- who came to this level most recently

-- A process leaves a level when somebody else arrived after it, or when
-- nobody else has come as deep as it has.
function may_advance(p: Process): boolean;
begin
  return last[depth[p]] != p
       | forall q: Process do q = p | depth[q] < depth[p] endforall;
endfunction;

startstate "nobody competes"
begin
  for p: Process do
    place[p] := Outside;
    depth[p] := 0;
  endfor;
  undefine last;
endstartstate;

ruleset p: Process do

  rule "wants the lock"
    place[p] = Outside
  ==>
  begin
    place[p] := Enter;
  endrule;

  -- The two writes of a level are separate steps: their order is what the
  -- algorithm depends on.
  rule "claims the next level"
    place[p] = Enter
  ==>
  begin
    depth[p] := depth[p] + 1;
    place[p] := Yield;
  endrule;

  rule "lets others pass"
    place[p] = Yield
  ==>
  begin
    last[depth[p]] := p;
    place[p] := Wait;
  endrule;

  rule "passes the level"
    place[p] = Wait & may_advance(p)
  ==>
  begin
    if depth[p] = ProcessCount - 1 then
      place[p] := Critical;
    else
      place[p] := Enter;
    endif;
  endrule;

  rule "releases the lock"
    place[p] = Critical
  ==>
  begin
    depth[p] := 0;
    place[p] := Outside;
  endrule;

endruleset;

invariant "mutual exclusion"
  forall p: Process do forall q: Process do
    p = q | place[p] != Critical | place[q] != Critical
  endforall endforall;

invariant "the lock is entered from the deepest level"
  forall p: Process do
    place[p] = Critical -> depth[p] = ProcessCount - 1
  endforall;
