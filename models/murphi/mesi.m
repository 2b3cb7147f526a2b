-- model: MESI snooping on a shared bus, with data
-- verdict: holds
-- states: 117220
-- rules: 783408
-- orbits: 5340
-- why: nested arrays (processor by address), procedures with var parameters of record type, a switch with several labels, nested rulesets
--
-- The bus carries out one transaction at a time, as an atomic step. Between a
-- processor's request for the bus and its turn, other transactions pass, and
-- they may take away the very copy that the request was about.

const
  ProcessorCount: 3;
  AddressCount:   2;
  ValueCount:     2;

type
  Processor: scalarset(ProcessorCount);
  Address:   scalarset(AddressCount);
  Value:     scalarset(ValueCount);

  Permission: enum { Modified, Exclusive, Shared, Invalid };
  Line: record permission: Permission; value: Value; endrecord;

  Transaction: enum {
    Quiet,      -- not waiting for the bus
    Read,       -- wants a copy
    ReadOwn,    -- wants the only copy
    Upgrade     -- has a shared copy, wants the others gone
  };
  Waiting: record transaction: Transaction; address: Address; endrecord;

var
  cache:   array[Processor] of array[Address] of Line;
  waiting: array[Processor] of Waiting;
  memory:  array[Address] of Value;
  latest:  array[Address] of Value;     -- a ghost: what was written last

procedure lose(var l: Line);
begin
  l.permission := Invalid;
  undefine l.value;
endprocedure;

procedure rest(var w: Waiting);
begin
  w.transaction := Quiet;
  undefine w.address;
endprocedure;

-- How a cache answers what it sees on the bus.
procedure snoop(seen: Transaction; var l: Line; var m: Value);
begin
  if l.permission = Modified then
    m := l.value;                       -- memory takes the value from the bus
  endif;
  switch seen
    case Read:
      if l.permission != Invalid then
        l.permission := Shared;
      endif;
    case ReadOwn, Upgrade:
      lose(l);
    else
      error "nobody puts quiet on the bus";
  endswitch;
endprocedure;

function has_copy(p: Processor; a: Address): boolean;
begin
  return cache[p][a].permission != Invalid;
endfunction;

ruleset initial: Value do
  startstate "cold caches"
  begin
    for p: Processor do
      for a: Address do
        lose(cache[p][a]);
      endfor;
      rest(waiting[p]);
    endfor;
    for a: Address do
      memory[a] := initial;
      latest[a] := initial;
    endfor;
  endstartstate;
endruleset;

ruleset p: Processor; a: Address do
  alias l: cache[p][a]; w: waiting[p] do

    rule "asks for the bus to read"
      w.transaction = Quiet & l.permission = Invalid
    ==>
    begin
      w.transaction := Read;
      w.address := a;
    endrule;

    rule "asks for the bus to write"
      w.transaction = Quiet & (l.permission = Invalid | l.permission = Shared)
    ==>
    begin
      w.transaction := (l.permission = Shared) ? Upgrade : ReadOwn;
      w.address := a;
    endrule;

    -- The gain of the E state: the first write needs no bus.
    ruleset v: Value do
      rule "writes"
        l.permission = Modified | l.permission = Exclusive
      ==>
      begin
        l.permission := Modified;
        l.value := v;
        latest[a] := v;
      endrule;
    endruleset;

    -- A line may leave whenever the processor is not asking about it.
    rule "evicts"
      l.permission != Invalid & w.transaction = Quiet
    ==>
    begin
      if l.permission = Modified then
        memory[a] := l.value;
      endif;
      lose(l);
    endrule;

  endalias;
endruleset;

ruleset p: Processor do
  rule "takes the bus"
    waiting[p].transaction != Quiet
  ==>
  var
    alone: boolean;
    transaction: Transaction;
  begin
    alias
      a: waiting[p].address;
      l: cache[p][waiting[p].address]
    do
      transaction := waiting[p].transaction;
      -- An upgrade whose copy was taken away meanwhile needs the value again.
      if transaction = Upgrade & l.permission = Invalid then
        transaction := ReadOwn;
      endif;

      alone := !exists q: Processor do q != p & has_copy(q, a) endexists;
      for q: Processor do
        if q != p then
          snoop(transaction, cache[q][a], memory[a]);
        endif;
      endfor;

      switch transaction
        case Read:
          l.permission := alone ? Exclusive : Shared;
          l.value := memory[a];
        case ReadOwn:
          l.permission := Exclusive;
          l.value := memory[a];
        case Upgrade:
          l.permission := Exclusive;
      endswitch;
    endalias;
    rest(waiting[p]);
  endrule;
endruleset;

invariant "a writer is alone"
  forall a: Address do forall p: Processor do forall q: Processor do
    (p != q & (cache[p][a].permission = Modified
               | cache[p][a].permission = Exclusive))
      -> !has_copy(q, a)
  endforall endforall endforall;

invariant "every copy is fresh"
  forall a: Address do forall p: Processor do
    has_copy(p, a) -> cache[p][a].value = latest[a]
  endforall endforall;

invariant "clean means equal to memory"
  forall a: Address do forall p: Processor do
    (cache[p][a].permission = Shared | cache[p][a].permission = Exclusive)
      -> cache[p][a].value = memory[a]
  endforall endforall;
