-- model: Dekker's mutual exclusion for two processes
-- verdict: holds
-- states: 122
-- rules: 230
-- why: the oldest software lock, every shared read and write a step of its own; a process index that is a number, so that a function can compute the rival
--
-- A process that finds its rival competing insists or gives way, depending on
-- whose turn it is. The turn changes only on leaving, which makes the lock fair.

type
  Process: 0..1;
  Place: enum {
    Outside, Raise, Look, ReadTurn, Lower, AwaitTurn, Critical, PassTurn, Leave
  };

var
  place: array[Process] of Place;
  wants: array[Process] of boolean;
  turn:  Process;

function rival(p: Process): Process;
begin
  return 1 - p;
endfunction;

-- The favour may lie with either process at first.
ruleset favoured: Process do
  startstate "both outside"
  begin
    for p: Process do
      place[p] := Outside;
      wants[p] := false;
    endfor;
    turn := favoured;
  endstartstate;
endruleset;

ruleset p: Process do

  rule "begins to compete"
    place[p] = Outside
  ==>
  begin
    place[p] := Raise;
  endrule;

  rule "raises its flag"
    place[p] = Raise
  ==>
  begin
    wants[p] := true;
    place[p] := Look;
  endrule;

  rule "looks at the rival"
    place[p] = Look
  ==>
  begin
    if wants[rival(p)] then
      place[p] := ReadTurn;
    else
      place[p] := Critical;
    endif;
  endrule;

  rule "reads whose turn it is"
    place[p] = ReadTurn
  ==>
  begin
    if turn = p then
      place[p] := Look;      -- insist: the rival will give way
    else
      place[p] := Lower;
    endif;
  endrule;

  rule "gives way"
    place[p] = Lower
  ==>
  begin
    wants[p] := false;
    place[p] := AwaitTurn;
  endrule;

  rule "tries again on its turn"
    place[p] = AwaitTurn & turn = p
  ==>
  begin
    place[p] := Raise;
  endrule;

  rule "finishes the critical section"
    place[p] = Critical
  ==>
  begin
    place[p] := PassTurn;
  endrule;

  rule "hands over the turn"
    place[p] = PassTurn
  ==>
  begin
    turn := rival(p);
    place[p] := Leave;
  endrule;

  rule "lowers its flag"
    place[p] = Leave
  ==>
  begin
    wants[p] := false;
    place[p] := Outside;
  endrule;

endruleset;

invariant "mutual exclusion"
  !(place[0] = Critical & place[1] = Critical);

invariant "whoever is inside has its flag up"
  forall p: Process do place[p] = Critical -> wants[p] endforall;
