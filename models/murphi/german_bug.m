-- model: German's cache coherence protocol, impatient home
-- verdict: violated
-- violation: invariant "a writer is alone"
-- witness: 9
-- why: a mutant of german.m: the home grants exclusively once every holder was told to give up, instead of once every holder has
--
-- A home directory lends one cache line to a set of nodes: to many for
-- reading or to one for writing. Each node is joined to the home by three
-- channels that hold one message each:
--
--     request   node -> home    what the node would like
--     order     home -> node    a grant, or the demand to give the line up
--     reply     node -> home    the line was given up; here is its last value
--
-- The home serves one request at a time. It first demands back every copy that
-- stands in the way, and then grants. The mistake: it does not wait for the
-- replies, so an old copy may survive for as long as a message travels.

const
  NodeCount:  3;
  ValueCount: 2;    -- two values are enough to tell fresh from stale

type
  Node:  scalarset(NodeCount);
  Value: scalarset(ValueCount);

  Permission:  enum { Invalid, Shared, Exclusive };
  RequestKind: enum { NoRequest, WantShared, WantExclusive };
  OrderKind:   enum { NoOrder, GrantShared, GrantExclusive, GiveUp };
  ReplyKind:   enum { NoReply, GivenUp };

  Line:  record permission: Permission; value: Value; endrecord;
  Order: record kind: OrderKind;        value: Value; endrecord;
  Reply: record kind: ReplyKind;        value: Value; endrecord;

var
  -- the nodes
  line: array[Node] of Line;

  -- the channels; a value that means nothing is kept undefined, so that two
  -- states never differ by what nobody can observe
  request: array[Node] of RequestKind;
  order:   array[Node] of Order;
  reply:   array[Node] of Reply;

  -- the home
  memory:       Value;
  serving:      RequestKind;              -- NoRequest: ready for the next one
  client:       Node;                     -- whose request is being served
  holder:       array[Node] of boolean;   -- nodes that have or may get a copy
  to_give_up:   array[Node] of boolean;   -- holders still to be told
  exclusive:    boolean;                  -- the only holder may write

  -- a ghost, in no rule's guard: the value that was written last
  latest: Value;

procedure drop(var l: Line);
begin
  l.permission := Invalid;
  undefine l.value;
endprocedure;

procedure take_order(var o: Order);
begin
  o.kind := NoOrder;
  undefine o.value;
endprocedure;

-- The home has answered its client and is ready for the next request.
procedure finish_service();
begin
  serving := NoRequest;
  undefine client;
endprocedure;

-- The mistake is here: this should ask whether anybody still holds a copy.
function all_are_told(): boolean;
begin
  return forall n: Node do !to_give_up[n] endforall;
endfunction;

ruleset initial: Value do
  startstate "only memory has the line"
  begin
    for n: Node do
      drop(line[n]);
      request[n] := NoRequest;
      take_order(order[n]);
      reply[n].kind := NoReply;
      undefine reply[n].value;
      holder[n] := false;
      to_give_up[n] := false;
    endfor;
    exclusive := false;
    finish_service();
    memory := initial;
    latest := initial;
  endstartstate;
endruleset;

-- The nodes ----------------------------------------------------------------

ruleset n: Node do
  alias mine: line[n]; told: order[n]; answer: reply[n] do

    rule "node asks to read"
      request[n] = NoRequest & mine.permission = Invalid
    ==>
    begin
      request[n] := WantShared;
    endrule;

    rule "node asks to write"
      request[n] = NoRequest & mine.permission != Exclusive
    ==>
    begin
      request[n] := WantExclusive;
    endrule;

    ruleset v: Value do
      rule "node writes"
        mine.permission = Exclusive
      ==>
      begin
        mine.value := v;
        latest := v;
      endrule;
    endruleset;

    rule "node receives a shared copy"
      told.kind = GrantShared
    ==>
    begin
      mine.permission := Shared;
      mine.value := told.value;
      take_order(told);
    endrule;

    rule "node receives the exclusive copy"
      told.kind = GrantExclusive
    ==>
    begin
      mine.permission := Exclusive;
      mine.value := told.value;
      take_order(told);
    endrule;

    -- Only a writer's value is news to the home.
    rule "node gives its copy up"
      told.kind = GiveUp & answer.kind = NoReply
    ==>
    begin
      answer.kind := GivenUp;
      if mine.permission = Exclusive then
        answer.value := mine.value;
      endif;
      drop(mine);
      take_order(told);
    endrule;

  endalias;
endruleset;

-- The home -----------------------------------------------------------------

ruleset n: Node do

  rule "home accepts a request"
    serving = NoRequest & request[n] != NoRequest
  ==>
  begin
    serving := request[n];
    client := n;
    request[n] := NoRequest;
    for m: Node do
      to_give_up[m] := holder[m];
    endfor;
  endrule;

  -- Copies stand in the way of a writer, and a writer in the way of anybody.
  rule "home demands a copy back"
    to_give_up[n] & order[n].kind = NoOrder
    & (serving = WantExclusive | (serving = WantShared & exclusive))
  ==>
  begin
    order[n].kind := GiveUp;
    to_give_up[n] := false;
  endrule;

  rule "home hears that a copy is given up"
    serving != NoRequest & reply[n].kind = GivenUp
  ==>
  begin
    holder[n] := false;
    if exclusive then
      memory := reply[n].value;
      exclusive := false;
    endif;
    reply[n].kind := NoReply;
    undefine reply[n].value;
  endrule;

endruleset;

rule "home grants a shared copy"
  serving = WantShared & !exclusive & order[client].kind = NoOrder
==>
begin
  holder[client] := true;
  order[client].kind := GrantShared;
  order[client].value := memory;
  for m: Node do
    to_give_up[m] := false;
  endfor;
  finish_service();
endrule;

rule "home grants the exclusive copy"
  serving = WantExclusive & all_are_told() & order[client].kind = NoOrder
==>
begin
  holder[client] := true;
  exclusive := true;
  order[client].kind := GrantExclusive;
  order[client].value := memory;
  finish_service();
endrule;

-- Invariants ---------------------------------------------------------------

invariant "a writer is alone"
  forall n: Node do forall m: Node do
    (n != m & line[n].permission = Exclusive) -> line[m].permission = Invalid
  endforall endforall;

invariant "every copy is fresh"
  forall n: Node do
    line[n].permission != Invalid -> line[n].value = latest
  endforall;

invariant "memory is fresh while nobody may write"
  !exclusive -> memory = latest;

invariant "the home knows every copy"
  forall n: Node do
    line[n].permission != Invalid -> holder[n]
  endforall;
