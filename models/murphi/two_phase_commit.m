-- model: two-phase commit with crashes and recovery
-- verdict: holds
-- states: 201595
-- rules: 1841942
-- orbits: 4047
-- why: a symmetric set of participants against one coordinator, messages as fields that are consumed, quantifiers over outcomes
--
-- A participant writes its vote to disk before it sends it and the
-- coordinator its decision before it announces it; only data not on disk is
-- lost in a crash. The protocol is safe; it may block while the coordinator
-- is down, which is not an error but the reason why people went on to Paxos.

const
  ParticipantCount: 5;

type
  Participant: scalarset(ParticipantCount);
  Standing: enum { Working, Prepared, Committed, Aborted };
  Decision: enum { Undecided, DecidedCommit, DecidedAbort };
  Ballot:   enum { NoBallot, VoteYes, VoteNo };

var
  standing: array[Participant] of Standing;   -- on disk
  up:       array[Participant] of boolean;
  ballot:   array[Participant] of Ballot;     -- on its way to the coordinator
  told:     array[Participant] of Decision;   -- on its way to the participant
  yes:      array[Participant] of boolean;    -- in the coordinator's memory
  decision: Decision;                         -- on disk

procedure begin_transaction();
begin
  for p: Participant do
    standing[p] := Working;
    up[p] := true;
    ballot[p] := NoBallot;
    told[p] := Undecided;
    yes[p] := false;
  endfor;
  decision := Undecided;
endprocedure;

procedure decide(d: Decision);
begin
  decision := d;
  for p: Participant do
    yes[p] := false;          -- no longer of use
    ballot[p] := NoBallot;    -- late votes find nobody who counts them
  endfor;
endprocedure;

startstate "a transaction begins"
begin
  begin_transaction();
endstartstate;

ruleset p: Participant do

  rule "votes yes"
    up[p] & standing[p] = Working & decision = Undecided
  ==>
  begin
    standing[p] := Prepared;
    ballot[p] := VoteYes;
  endrule;

  -- Who votes no needs nobody's permission to abort.
  rule "votes no"
    up[p] & standing[p] = Working
  ==>
  begin
    standing[p] := Aborted;
    if decision = Undecided then
      ballot[p] := VoteNo;
    endif;
  endrule;

  rule "coordinator counts a vote"
    decision = Undecided & ballot[p] != NoBallot
  ==>
  begin
    if ballot[p] = VoteYes then
      yes[p] := true;
      ballot[p] := NoBallot;
    else
      decide(DecidedAbort);
    endif;
  endrule;

  rule "coordinator announces"
    decision != Undecided & told[p] = Undecided
    & (standing[p] = Working | standing[p] = Prepared)
  ==>
  begin
    told[p] := decision;
  endrule;

  rule "obeys"
    up[p] & told[p] != Undecided
  ==>
  begin
    if standing[p] = Working | standing[p] = Prepared then
      standing[p] := (told[p] = DecidedCommit) ? Committed : Aborted;
    endif;
    told[p] := Undecided;
  endrule;

  -- A crash loses the messages under way to the participant. Its standing is
  -- safe on disk, and the coordinator repeats what it announced.
  rule "crashes"
    up[p]
  ==>
  begin
    up[p] := false;
    told[p] := Undecided;
  endrule;

  rule "recovers"
    !up[p]
  ==>
  begin
    up[p] := true;
  endrule;

endruleset;

rule "coordinator commits"
  decision = Undecided & forall p: Participant do yes[p] endforall
==>
begin
  decide(DecidedCommit);
endrule;

-- A time-out, or the coordinator's own crash: it forgets the votes.
rule "coordinator gives up"
  decision = Undecided
==>
begin
  decide(DecidedAbort);
endrule;

rule "the next transaction"
  forall p: Participant do
    up[p] & (standing[p] = Committed | standing[p] = Aborted)
    & told[p] = Undecided
  endforall
  & decision != Undecided
==>
begin
  begin_transaction();
endrule;

invariant "all or nothing"
  forall p: Participant do forall q: Participant do
    !(standing[p] = Committed & standing[q] = Aborted)
  endforall endforall;

invariant "nobody commits against the coordinator"
  forall p: Participant do
    standing[p] = Committed -> decision = DecidedCommit
  endforall;

invariant "a counted yes stands"
  forall p: Participant do yes[p] -> standing[p] = Prepared endforall;
