-- model: the Needham-Schroeder-Lowe protocol over a network with intruders who keep what they hear
-- verdict: holds
-- states: 7354
-- rules: 21331
-- orbits: 294
-- with: InitiatorCount=1 ResponderCount=1 IntruderCount=1 MemorySize=10 Forgeries=1 Sessions=2 states=618 rules=1761
-- why: many rules and wide states: 26,137 rule instances, most of them letters that an intruder might make up, over states of 5,147 bits, most of them the letters that intruders keep
--
--     1.  A -> B   { Na, A } for B
--     2.  B -> A   { Na, Nb, B } for A
--     3.  A -> B   { Nb } for B
--
-- Letters travel over a network, a multiset. An intruder takes a letter off
-- it, learns what it can read, and keeps every letter that it cannot read, to
-- send it again to anyone. It makes up letters from nonces that it knows, in
-- anyone's name, `Forgeries` times in all. The nonce of an agent is named after
-- the agent.
--
-- CMurphi counts the same in both sizes.

const
  InitiatorCount: 3;
  ResponderCount: 3;
  IntruderCount:  2;
  NetworkSize:    8;      -- room for letters on the way
  OnTheWay:       1;      -- letters on the way at once
  MemorySize:     90;     -- room for letters that an intruder keeps
  Forgeries:      0;      -- letters that intruders make up
  Sessions:       1;      -- sessions that initiators begin

type
  Initiator: scalarset(InitiatorCount);
  Responder: scalarset(ResponderCount);
  Intruder:  scalarset(IntruderCount);
  Agent:     union { Initiator, Responder, Intruder };
  Kind:      enum { First, Second, Third };
  Stage:     enum { Idle, Waiting, Done };

  Letter: record
    kind:   Kind;
    from:   Agent;        -- who put it on the network
    dest:   Agent;
    key:    Agent;        -- who can read it
    nonce:  Agent;
    other:  Agent;        -- the second nonce, or the name of the sender
    name:   Agent;        -- the name in the second message
  endrecord;

  Session: record
    stage:   Stage;
    partner: Agent;
  endrecord;

  Memory: record
    knows: array[Agent] of boolean;
    kept:  multiset[MemorySize] of Letter;
  endrecord;

var
  network:   multiset[NetworkSize] of Letter;
  opening:   array[Initiator] of Session;
  serving:   array[Responder] of Session;
  memory:    array[Intruder] of Memory;
  forged:    0..Forgeries;
  begun:     0..Sessions;

procedure send(kind: Kind; from: Agent; dest: Agent; key: Agent; nonce: Agent; other: Agent; name: Agent);
var letter: Letter;
begin
  undefine letter;
  letter.kind := kind;
  letter.from := from;
  letter.dest := dest;
  letter.key := key;
  letter.nonce := nonce;
  letter.other := other;
  letter.name := name;
  multisetadd(letter, network);
endprocedure;

procedure start_afresh();
begin
  undefine network;
  forged := 0;
  begun := 0;
  for a: Initiator do
    opening[a].stage := Idle;
    undefine opening[a].partner;
  endfor;
  for b: Responder do
    serving[b].stage := Idle;
    undefine serving[b].partner;
  endfor;
  for i: Intruder do
    undefine memory[i].kept;
    for n: Agent do
      memory[i].knows[n] := n = i;
    endfor;
  endfor;
endprocedure;

-- An initiator begins a session with a responder or an intruder.
ruleset a: Initiator do
  ruleset b: Agent do
    rule "begin"
      opening[a].stage = Idle & !ismember(b, Initiator) & begun < Sessions & multisetcount(l: network, true) < OnTheWay
    ==>
    begin
      begun := begun + 1;
      opening[a].stage := Waiting;
      opening[a].partner := b;
      send(First, a, b, b, a, a, a);
    endrule;
  endruleset;
endruleset;

-- A responder answers the first message.
ruleset b: Responder do
  choose l: network do
    rule "answer"
      network[l].dest = b & network[l].kind = First & network[l].key = b & serving[b].stage = Idle
      & !ismember(network[l].from, Responder)
    ==>
    var a: Agent; n: Agent;
    begin
      a := network[l].other;
      n := network[l].nonce;
      multisetremove(l, network);
      serving[b].stage := Waiting;
      serving[b].partner := a;
      send(Second, b, a, a, n, b, b);
    endrule;
  endchoose;
endruleset;

-- An initiator takes the second message, if the name in it is the partner's.
ruleset a: Initiator do
  choose l: network do
    rule "confirm"
      network[l].dest = a & network[l].kind = Second & network[l].key = a & opening[a].stage = Waiting
      & network[l].nonce = a & network[l].name = opening[a].partner
    ==>
    var n: Agent;
    begin
      n := network[l].other;
      multisetremove(l, network);
      opening[a].stage := Done;
      send(Third, a, opening[a].partner, opening[a].partner, n, n, n);
    endrule;
  endchoose;
endruleset;

-- A responder takes the third message.
ruleset b: Responder do
  choose l: network do
    rule "finish"
      network[l].dest = b & network[l].kind = Third & network[l].key = b & serving[b].stage = Waiting & network[l].nonce = b
    ==>
    begin
      multisetremove(l, network);
      serving[b].stage := Done;
    endrule;
  endchoose;
endruleset;

-- An agent throws away a letter that it cannot use.
choose l: network do
  rule "lose"
    !ismember(network[l].dest, Intruder)
  ==>
  begin
    multisetremove(l, network);
  endrule;
endchoose;

-- An intruder takes a letter off the network.
ruleset i: Intruder do
  choose l: network do
    rule "overhear"
      !ismember(network[l].from, Intruder)
    ==>
    var letter: Letter;
    begin
      letter := network[l];
      multisetremove(l, network);
      if letter.key = i then
        memory[i].knows[letter.nonce] := true;
        if letter.kind = Second then
          memory[i].knows[letter.other] := true;
        endif;
      elsif multisetcount(k: memory[i].kept,
                          memory[i].kept[k].kind = letter.kind & memory[i].kept[k].key = letter.key
                          & memory[i].kept[k].nonce = letter.nonce & memory[i].kept[k].other = letter.other
                          & memory[i].kept[k].name = letter.name) = 0 then
        undefine letter.from;
        undefine letter.dest;
        multisetadd(letter, memory[i].kept);
      endif;
    endrule;
  endchoose;
endruleset;

-- An intruder sends a letter that it keeps, to anyone else.
ruleset i: Intruder do
  choose k: memory[i].kept do
    ruleset b: Agent do
      rule "send again"
        !ismember(b, Intruder) & multisetcount(l: network, true) < OnTheWay
      ==>
      begin
        send(memory[i].kept[k].kind, i, b, memory[i].kept[k].key, memory[i].kept[k].nonce, memory[i].kept[k].other, memory[i].kept[k].name);
      endrule;
    endruleset;
  endchoose;
endruleset;

-- An intruder makes up a letter from nonces that it knows.
ruleset i: Intruder do
  ruleset b: Agent do
    ruleset kind: Kind do
      ruleset n: Agent do
        ruleset o: Agent do
          ruleset name: Agent do
            rule "make up"
              !ismember(b, Intruder)
              & memory[i].knows[n]
              & (kind != Second | memory[i].knows[o])
              & (kind != Third | o = n)
              & (kind = Second | name = o)
              & forged < Forgeries
              & multisetcount(l: network, true) < OnTheWay
            ==>
            begin
              forged := forged + 1;
              send(kind, i, b, b, n, o, name);
            endrule;
          endruleset;
        endruleset;
      endruleset;
    endruleset;
  endruleset;
endruleset;

startstate "nobody has begun"
begin
  start_afresh();
endstartstate;

-- The network may be switched off at any time; without this a state in which
-- nobody has anything left to do would count as a deadlock.
rule "switch off"
  true
==>
begin
  start_afresh();
endrule;

invariant "an initiator's partner has answered"
  forall a: Initiator do
    opening[a].stage = Done & ismember(opening[a].partner, Responder)
    -> (serving[opening[a].partner].stage != Idle & serving[opening[a].partner].partner = a)
  endforall;

invariant "a responder's partner has begun with it"
  forall b: Responder do
    serving[b].stage = Done & ismember(serving[b].partner, Initiator)
    -> (opening[serving[b].partner].stage = Done & opening[serving[b].partner].partner = b)
  endforall;
