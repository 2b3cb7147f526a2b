-- model: the farmer, the wolf, the goat and the cabbage
-- verdict: violated
-- violation: invariant "the puzzle is unsolved"
-- witness: 7
-- why: a puzzle whose solution is the counterexample: the invariant says that not all have crossed, so its shortest violation is the answer
--
-- The boat takes the farmer and at most one more. Without the farmer, the wolf
-- eats the goat and the goat eats the cabbage.

type
  Passenger: enum { Wolf, Goat, Cabbage };
  Bank: enum { Near, Far };

var
  farmer: Bank;
  at:     array[Passenger] of Bank;

function opposite(b: Bank): Bank;
begin
  return (b = Near) ? Far : Near;
endfunction;

-- The goat is the trouble: it must be apart from both others, or watched.
function peaceful(): boolean;
begin
  return (at[Wolf] != at[Goat] & at[Goat] != at[Cabbage]) | at[Goat] = farmer;
endfunction;

startstate "all on the near bank"
begin
  farmer := Near;
  for p: Passenger do
    at[p] := Near;
  endfor;
endstartstate;

-- A crossing after which something is eaten is not a move: the rules undo it.
rule "rows alone"
  true
==>
begin
  farmer := opposite(farmer);
  if !peaceful() then
    farmer := opposite(farmer);
  endif;
endrule;

ruleset p: Passenger do
  rule "takes along"
    at[p] = farmer
  ==>
  begin
    farmer := opposite(farmer);
    at[p] := farmer;
    if !peaceful() then
      farmer := opposite(farmer);
      at[p] := farmer;
    endif;
  endrule;
endruleset;

invariant "the puzzle is unsolved"
  exists p: Passenger do at[p] = Near endexists;
