-- model: an account with a lost update
-- verdict: violated
-- violation: assertion "every deposit counts"
-- witness: 5
-- why: an assertion inside a rule, broken by two clerks who read, add and write back in separate steps
--
-- Two clerks each book a deposit. The assertion is checked when the day is
-- closed, one step after the harm is done: the end of a witness and the cause of
-- the harm are different steps.

const
  ClerkCount: 2;

type
  Clerk: scalarset(ClerkCount);
  Place: enum { Reading, Writing, Finished };

var
  balance: 0..ClerkCount;
  place:   array[Clerk] of Place;
  seen:    array[Clerk] of 0..ClerkCount;

startstate "an empty account"
begin
  balance := 0;
  for c: Clerk do
    place[c] := Reading;
    undefine seen[c];
  endfor;
endstartstate;

ruleset c: Clerk do

  rule "reads the balance"
    place[c] = Reading
  ==>
  begin
    seen[c] := balance;
    place[c] := Writing;
  endrule;

  rule "writes the balance back"
    place[c] = Writing
  ==>
  begin
    balance := seen[c] + 1;
    undefine seen[c];
    place[c] := Finished;
  endrule;

endruleset;

rule "the day is closed"
  forall c: Clerk do place[c] = Finished endforall
==>
begin
  assert balance = ClerkCount "every deposit counts";
  balance := 0;
  for c: Clerk do
    place[c] := Reading;
  endfor;
endrule;
