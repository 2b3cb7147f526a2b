-- model: the MCS queue lock
-- verdict: holds
-- states: 12656
-- rules: 39540
-- orbits: 124
-- why: a linked queue whose null pointers are undefined values: undefine and isundefined on variables that are read by other processes
--
-- Waiting processes form a queue and each spins on a flag of its own. A process
-- is the tail from its swap on but linked only later; releasing the lock in
-- between is the delicate case.

const
  ProcessCount: 5;

type
  Process: scalarset(ProcessCount);
  Place: enum { Outside, Link, Spin, Critical, Release, Handover };

var
  place: array[Process] of Place;
  tail:  Process;                       -- undefined: the lock is free
  -- One queue cell per process. An undefined successor is a null pointer.
  successor:   array[Process] of Process;
  predecessor: array[Process] of Process;
  must_wait:   array[Process] of boolean;

startstate "the lock is free"
begin
  undefine tail;
  for p: Process do
    place[p] := Outside;
    undefine successor[p];
    undefine predecessor[p];
    must_wait[p] := false;
  endfor;
endstartstate;

ruleset p: Process do

  -- An atomic swap of the tail. The cell was prepared before, which nobody
  -- can see, so it is part of the same step.
  rule "swaps itself in as tail"
    place[p] = Outside
  ==>
  begin
    if isundefined(tail) then
      place[p] := Critical;
    else
      predecessor[p] := tail;
      must_wait[p] := true;
      place[p] := Link;
    endif;
    tail := p;
  endrule;

  rule "links behind its predecessor"
    place[p] = Link
  ==>
  begin
    successor[predecessor[p]] := p;
    undefine predecessor[p];
    place[p] := Spin;
  endrule;

  rule "is woken"
    place[p] = Spin & !must_wait[p]
  ==>
  begin
    place[p] := Critical;
  endrule;

  rule "looks for a successor"
    place[p] = Critical
  ==>
  begin
    if isundefined(successor[p]) then
      place[p] := Release;
    else
      place[p] := Handover;
    endif;
  endrule;

  -- Compare and swap: free the lock if nobody queued up in the meantime,
  -- otherwise wait for the newcomer to link itself.
  rule "tries to free the lock"
    place[p] = Release
  ==>
  begin
    if tail = p then
      undefine tail;
      place[p] := Outside;
    else
      place[p] := Handover;
    endif;
  endrule;

  rule "wakes its successor"
    place[p] = Handover & !isundefined(successor[p])
  ==>
  begin
    must_wait[successor[p]] := false;
    undefine successor[p];
    place[p] := Outside;
  endrule;

endruleset;

invariant "mutual exclusion"
  forall p: Process do forall q: Process do
    p != q -> !(place[p] = Critical & place[q] = Critical)
  endforall endforall;

invariant "the lock is free exactly when nobody queues"
  isundefined(tail) = forall p: Process do place[p] = Outside endforall;

invariant "only linked processes are pointed at"
  forall p: Process do
    isundefined(successor[p]) | place[successor[p]] = Spin
  endforall;
