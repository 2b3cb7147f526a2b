-- model: eight workers that share three connections
-- verdict: holds
-- states: 4789568
-- rules: 47259808
-- orbits: 2261
-- why: many equal processes: 8! permutations, so that exploring orbits instead of states pays more than a thousandfold
--
-- A worker asks for a connection and gets one at once or waits for one that
-- comes back. It may fail while it works; then it clears up, gives the
-- connection back, rests and tries again.

const
  WorkerCount: 8;
  ConnectionCount: 3;

type
  Worker: scalarset(WorkerCount);
  Place: enum { Idle, Waiting, Working, Failed, Cleared, Resting, Finished };

var
  place: array[Worker] of Place;
  free:  0..ConnectionCount;

startstate "all idle"
begin
  for w: Worker do
    place[w] := Idle;
  endfor;
  free := ConnectionCount;
endstartstate;

ruleset w: Worker do

  rule "ask"
    place[w] = Idle
  ==>
  begin
    if free > 0 then
      free := free - 1;
      place[w] := Working;
    else
      place[w] := Waiting;
    endif;
  endrule;

  rule "stop waiting"
    place[w] = Waiting & free > 0
  ==>
  begin
    free := free - 1;
    place[w] := Working;
  endrule;

  rule "give up"
    place[w] = Waiting
  ==>
  begin
    place[w] := Resting;
  endrule;

  rule "finish"
    place[w] = Working
  ==>
  begin
    free := free + 1;
    place[w] := Finished;
  endrule;

  rule "fail"
    place[w] = Working
  ==>
  begin
    place[w] := Failed;
  endrule;

  rule "clear up"
    place[w] = Failed
  ==>
  begin
    free := free + 1;
    place[w] := Cleared;
  endrule;

  rule "rest"
    place[w] = Cleared
  ==>
  begin
    place[w] := Resting;
  endrule;

  rule "try again"
    place[w] = Resting
  ==>
  begin
    place[w] := Idle;
  endrule;

  rule "next task"
    place[w] = Finished
  ==>
  begin
    place[w] := Idle;
  endrule;

endruleset;

-- Every connection is free or in one worker's hands.
invariant "no connection is lost or shared"
  free = ConnectionCount
  -> forall w: Worker do place[w] != Working & place[w] != Failed end;

invariant "one connection, one worker"
  free = 2
  -> exists w: Worker do
       (place[w] = Working | place[w] = Failed)
       & forall v: Worker do v != w -> (place[v] != Working & place[v] != Failed) end
     end;
