-- model: a mailbox that is read after it was emptied
-- verdict: violated
-- violation: fault undefined
-- witness: 5
-- why: a fault example: a value is read while undefined; undefine, not a missing initialisation, brings it about
--
-- The letter that is no longer there may be copied, and the copy is undefined too;
-- using the copy is the error. (With --undefined strict, making the copy is.)

const
  BoxCount: 2;

type
  Box:    scalarset(BoxCount);
  Letter: 0..3;

var
  letter: array[Box] of Letter;
  full:   array[Box] of boolean;
  read:   Letter;

startstate "empty boxes"
begin
  for b: Box do
    full[b] := false;
    undefine letter[b];
  endfor;
  read := 0;
endstartstate;

ruleset b: Box do

  ruleset l: Letter do
    rule "a letter comes"
      !full[b]
    ==>
    begin
      letter[b] := l;
      full[b] := true;
    endrule;
  endruleset;

  rule "a letter is read"
    full[b]
  ==>
  begin
    read := letter[b];
  endrule;

  rule "the box is emptied"
    full[b]
  ==>
  begin
    undefine letter[b];
    full[b] := false;
  endrule;

  -- The mistake: the box is emptied but still counts as full.
  rule "the box is emptied in a hurry"
    full[b] & read = 3 & !isundefined(letter[b])
  ==>
  begin
    undefine letter[b];
  endrule;

endruleset;
