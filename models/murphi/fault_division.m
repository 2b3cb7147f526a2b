-- model: an average over nobody
-- verdict: violated
-- violation: fault division
-- witness: 4
-- why: a fault example: the divisor becomes zero when the last member leaves
--
-- A budget is shared among those present. The quotient is well defined in the
-- start state and stays so until everybody has left.

const
  MemberCount: 3;
  Budget:      12;

type
  Member: scalarset(MemberCount);
  Amount: 0..MemberCount;

var
  present: array[Member] of boolean;
  share:   0..Budget;

function present_count(): Amount;
var
  sum: Amount;
begin
  sum := 0;
  for m: Member do
    if present[m] then
      sum := sum + 1;
    endif;
  endfor;
  return sum;
endfunction;

startstate "all are here"
begin
  for m: Member do
    present[m] := true;
  endfor;
  share := Budget / MemberCount;
endstartstate;

ruleset m: Member do

  rule "leaves"
    present[m]
  ==>
  begin
    present[m] := false;
  endrule;

  rule "comes back"
    !present[m]
  ==>
  begin
    present[m] := true;
  endrule;

endruleset;

-- The mistake: nobody asks whether anybody is left.
rule "divides the budget"
  share * present_count() != Budget
==>
begin
  share := Budget / present_count();
endrule;

invariant "nobody gets more than there is"
  share <= Budget;
