-- model: single-decree Paxos
-- verdict: holds
-- states: 185369
-- rules: 566575
-- orbits: 17153
-- why: consensus with messages that are never consumed, quorums as quantified pairs, arrays of records indexed by two types
--
-- Messages are kept for ever and may be received late, twice or never. Ballots
-- are run by different proposers; a proposer may go on as soon as a majority
-- has promised to ignore smaller ballots.

const
  AcceptorCount: 3;
  BallotCount:   3;
  ValueCount:    2;

type
  Acceptor: scalarset(AcceptorCount);
  Ballot:   1..BallotCount;
  Value:    scalarset(ValueCount);

  -- What an acceptor promises: nothing below this ballot, and by the way, here
  -- is the last vote it cast.
  Promise: record
    sent: boolean;
    vote: 0..BallotCount;      -- 0: has not voted yet
    value: Value;
  endrecord;

var
  -- messages
  prepared: array[Ballot] of boolean;
  promise:  array[Ballot] of array[Acceptor] of Promise;
  proposed: array[Ballot] of Value;                       -- undefined: not yet
  accepted: array[Ballot] of array[Acceptor] of boolean;  -- votes, for the proposed value

  -- acceptors
  promised:   array[Acceptor] of 0..BallotCount;
  last_vote:  array[Acceptor] of 0..BallotCount;
  last_value: array[Acceptor] of Value;

procedure start_afresh();
begin
  for b: Ballot do
    prepared[b] := false;
    undefine proposed[b];
    for a: Acceptor do
      promise[b][a].sent := false;
      promise[b][a].vote := 0;
      undefine promise[b][a].value;
      accepted[b][a] := false;
    endfor;
  endfor;
  for a: Acceptor do
    promised[a] := 0;
    last_vote[a] := 0;
    undefine last_value[a];
  endfor;
endprocedure;

-- With three acceptors a majority is any two; a larger number of acceptors
-- needs a count here.
function majority_promised(b: Ballot): boolean;
begin
  return exists x: Acceptor do exists y: Acceptor do
    x != y & promise[b][x].sent & promise[b][y].sent
  endexists endexists;
endfunction;

function chosen(b: Ballot): boolean;
begin
  return exists x: Acceptor do exists y: Acceptor do
    x != y & accepted[b][x] & accepted[b][y]
  endexists endexists;
endfunction;

-- A value is safe for a ballot if some majority lets the proposer take it:
-- either none of them voted, or it is the value of the latest vote among them.
function safe(b: Ballot; v: Value): boolean;
begin
  return exists x: Acceptor do exists y: Acceptor do
    x != y & promise[b][x].sent & promise[b][y].sent
    & ((promise[b][x].vote = 0 & promise[b][y].vote = 0)
       | (promise[b][x].vote > 0
          & promise[b][x].vote >= promise[b][y].vote
          & promise[b][x].value = v))
  endexists endexists;
endfunction;

startstate "nobody has spoken"
begin
  start_afresh();
endstartstate;

ruleset b: Ballot do

  rule "proposer prepares"
    !prepared[b]
  ==>
  begin
    prepared[b] := true;
  endrule;

  ruleset v: Value do
    rule "proposer proposes"
      isundefined(proposed[b]) & majority_promised(b) & safe(b, v)
    ==>
    begin
      proposed[b] := v;
    endrule;
  endruleset;

  ruleset a: Acceptor do

    rule "acceptor promises"
      prepared[b] & promised[a] < b
    ==>
    begin
      promised[a] := b;
      alias p: promise[b][a] do
        p.sent := true;
        p.vote := last_vote[a];
        if last_vote[a] > 0 then
          p.value := last_value[a];
        endif;
      endalias;
    endrule;

    rule "acceptor votes"
      !isundefined(proposed[b]) & promised[a] <= b & !accepted[b][a]
    ==>
    begin
      promised[a] := b;
      last_vote[a] := b;
      last_value[a] := proposed[b];
      accepted[b][a] := true;
    endrule;

  endruleset;

endruleset;

-- The last ballot always succeeds when everybody answers. Then the next
-- decision is due; without it the final state would count as a deadlock.
rule "the next decision"
  chosen(BallotCount)
==>
begin
  start_afresh();
endrule;

invariant "one value is chosen"
  forall b: Ballot do forall c: Ballot do
    (chosen(b) & chosen(c)) -> proposed[b] = proposed[c]
  endforall endforall;

invariant "nobody votes for what was not proposed"
  forall b: Ballot do forall a: Acceptor do
    accepted[b][a] -> !isundefined(proposed[b])
  endforall endforall;

invariant "promises bind"
  forall a: Acceptor do last_vote[a] <= promised[a] endforall;
