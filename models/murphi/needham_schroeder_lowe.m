-- model: the Needham-Schroeder-Lowe public-key protocol
-- verdict: holds
-- states: 9337
-- rules: 39630
-- orbits: 2459
-- why: the pair of needham_schroeder.m: one name added to one message repairs it; here with two agents on either side, so that sessions interleave
--
--     1.  A -> B   { Na, A } for B
--     2.  B -> A   { Na, Nb, B } for A
--     3.  A -> B   { Nb } for B
--
-- Only Mallory carries messages. She reads those that are encrypted for her,
-- and keeps all others as they are, to deliver them any number of times.
-- She makes new messages from the nonces she knows. The nonce of an agent is
-- named after the agent.

const
  InitiatorCount: 2;
  ResponderCount: 2;

type
  Initiator: scalarset(InitiatorCount);
  Responder: scalarset(ResponderCount);
  Intruder:  enum { Mallory };
  Agent: union { Initiator, Responder, Intruder };
  Stage: enum { Idle, Waiting, Done };

  Session: record
    stage: Stage;
    partner: Agent;      -- whom this agent believes it talks with
    nonce:   Agent;      -- the partner's nonce, once heard
  endrecord;

var
  opening: array[Initiator] of Session;
  serving: array[Responder] of Session;

  knows: array[Agent] of boolean;      -- nonces that Mallory has read
  -- Messages that Mallory keeps but cannot read, by what they contain.
  kept_first:  array[Initiator] of array[Responder] of boolean;
  kept_second: array[Responder] of array[Agent] of array[Initiator] of boolean;
  kept_third:  array[Agent] of array[Responder] of boolean;

procedure forget(var s: Session);
begin
  s.stage := Idle;
  undefine s.partner;
  undefine s.nonce;
endprocedure;

procedure start_afresh();
begin
  for a: Initiator do forget(opening[a]); endfor;
  for b: Responder do forget(serving[b]); endfor;
  for n: Agent do knows[n] := (n = Mallory); endfor;
  clear kept_first;
  clear kept_second;
  clear kept_third;
endprocedure;

startstate "nobody has talked yet"
begin
  start_afresh();
endstartstate;

-- Message 1 ----------------------------------------------------------------

ruleset a: Initiator; partner: Agent do
  rule "initiator opens a session"
    opening[a].stage = Idle & !ismember(partner, Initiator)
  ==>
  begin
    opening[a].stage := Waiting;
    opening[a].partner := partner;
    if ismember(partner, Responder) then
      kept_first[a][partner] := true;
    else
      knows[a] := true;
    endif;
  endrule;
endruleset;

-- Message 1 arrives, message 2 leaves ----------------------------------------

ruleset b: Responder; claimed: Agent; n: Agent do
  rule "responder answers"
    serving[b].stage = Idle
    & !ismember(claimed, Responder)
    -- either made by Mallory or delivered as it was sent
    & (knows[n]
       | (ismember(claimed, Initiator) & n = claimed & kept_first[claimed][b]))
  ==>
  begin
    serving[b].stage := Waiting;
    serving[b].partner := claimed;
    serving[b].nonce := n;
    if ismember(claimed, Initiator) then
      kept_second[b][n][claimed] := true;
    else
      knows[n] := true;
      knows[b] := true;
    endif;
  endrule;
endruleset;

-- Message 2 arrives, message 3 leaves ----------------------------------------

ruleset a: Initiator; n: Agent do
  rule "initiator finishes"
    opening[a].stage = Waiting
    -- Lowe's repair: the message names its sender, who must be the partner.
    -- Mallory can write any name into a message that she makes herself.
    & ((knows[a] & knows[n])
       | (ismember(n, Responder) & n = opening[a].partner
          & kept_second[n][a][a]))
  ==>
  begin
    opening[a].stage := Done;
    opening[a].nonce := n;
    if ismember(opening[a].partner, Responder) then
      kept_third[n][opening[a].partner] := true;
    else
      knows[n] := true;
    endif;
  endrule;
endruleset;

-- Message 3 arrives ----------------------------------------------------------

ruleset b: Responder do
  rule "responder finishes"
    serving[b].stage = Waiting & (knows[b] | kept_third[b][b])
  ==>
  begin
    serving[b].stage := Done;
  endrule;
endruleset;

-- Mallory may always wait for better luck.
rule "everybody starts afresh"
  exists a: Initiator do opening[a].stage != Idle endexists
  | exists b: Responder do serving[b].stage != Idle endexists
==>
begin
  start_afresh();
endrule;

invariant "the responder talks with whom it believes"
  forall b: Responder do
    (serving[b].stage = Done & ismember(serving[b].partner, Initiator))
      -> (opening[serving[b].partner].stage != Idle
          & opening[serving[b].partner].partner = b)
  endforall;

invariant "the initiator talks with whom it believes"
  forall a: Initiator do
    (opening[a].stage = Done & ismember(opening[a].partner, Responder))
      -> (serving[opening[a].partner].stage != Idle
          & serving[opening[a].partner].partner = a)
  endforall;

-- A session between honest agents keeps both nonces to itself.
invariant "the initiator's nonce stays secret"
  forall a: Initiator do
    (opening[a].stage != Idle & ismember(opening[a].partner, Responder))
      -> !knows[a]
  endforall;

invariant "the responder's nonce stays secret"
  forall b: Responder do
    (serving[b].stage != Idle & ismember(serving[b].partner, Initiator))
      -> !knows[b]
  endforall;
