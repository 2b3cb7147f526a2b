-- model: an MSI directory over an unordered network
-- verdict: holds
-- states: 17764
-- orbits: 1650
-- why: the network is a multiset, so messages overtake each other and wait in it as long as their receiver is not ready; unions name both caches and the home
--
-- The home serves one transaction at a time and leaves further requests in the
-- network meanwhile. A transaction ends only when its client confirms that the
-- data has come: otherwise a later invalidation could overtake it.

const
  CacheCount:  3;
  ValueCount:  2;
  NetworkSize: 3 * CacheCount;

type
  Cache: scalarset(CacheCount);
  Value: scalarset(ValueCount);
  Home:  enum { Directory };
  Agent: union { Cache, Home };

  CacheState: enum {
    Invalid, Shared, Modified,
    InvalidToShared, InvalidToModified,    -- asked, data not here yet
    ModifiedToInvalid                      -- written back, not yet confirmed
  };
  HomeState: enum {
    Steady,
    Collecting,       -- waits for acknowledgements of invalidations
    Fetching,         -- waits for the owner's data
    Confirming        -- waits for the client to confirm
  };
  Kind: enum {
    GetShared, GetModified, PutModified,   -- cache to home: requests
    Acknowledge, WriteBack, Confirm,       -- cache to home: answers
    Data, Invalidate, Fetch, PutDone       -- home to cache
  };
  Message: record
    kind:     Kind;
    sender:   Agent;
    receiver: Agent;
    value:    Value;                       -- undefined unless it carries data
  endrecord;

var
  network: multiset[NetworkSize] of Message;

  cache: array[Cache] of record state: CacheState; value: Value; endrecord;

  home:    HomeState;
  memory:  Value;
  owner:   Agent;                          -- undefined: nobody may write
  sharer:  array[Cache] of boolean;
  client:  Agent;                          -- of the present transaction
  writing: boolean;                        -- the client wants to write
  awaited: array[Cache] of boolean;        -- acknowledgements still to come

  latest: Value;                           -- a ghost: what was written last

procedure send(kind: Kind; sender: Agent; receiver: Agent);
var
  m: Message;
begin
  undefine m;
  m.kind := kind;
  m.sender := sender;
  m.receiver := receiver;
  multisetadd(m, network);
endprocedure;

procedure send_value(kind: Kind; sender: Agent; receiver: Agent; value: Value);
var
  m: Message;
begin
  m.kind := kind;
  m.sender := sender;
  m.receiver := receiver;
  m.value := value;
  multisetadd(m, network);
endprocedure;

procedure grant();
begin
  send_value(Data, Directory, client, memory);
  home := Confirming;
endprocedure;

-- Begins to serve a request for a copy.
procedure serve(c: Agent; wants_to_write: boolean);
begin
  client := c;
  writing := wants_to_write;
  if !isundefined(owner) then
    send(Fetch, Directory, owner);
    home := Fetching;
  elsif wants_to_write & exists s: Cache do s != c & sharer[s] endexists then
    for s: Cache do
      if s != c & sharer[s] then
        awaited[s] := true;
        send(Invalidate, Directory, s);
      endif;
    endfor;
    home := Collecting;
  else
    grant();
  endif;
endprocedure;

ruleset initial: Value do
  startstate "only memory has the line"
  begin
    clear network;
    for c: Cache do
      cache[c].state := Invalid;
      undefine cache[c].value;
      sharer[c] := false;
      awaited[c] := false;
    endfor;
    home := Steady;
    memory := initial;
    latest := initial;
    undefine owner;
    undefine client;
    writing := false;
  endstartstate;
endruleset;

-- What a cache does on its own -----------------------------------------------

ruleset c: Cache do

  rule "asks to read"
    cache[c].state = Invalid
  ==>
  begin
    cache[c].state := InvalidToShared;
    send(GetShared, c, Directory);
  endrule;

  -- A shared copy is dropped first: the answer brings the value again.
  rule "asks to write"
    cache[c].state = Invalid | cache[c].state = Shared
  ==>
  begin
    cache[c].state := InvalidToModified;
    undefine cache[c].value;
    send(GetModified, c, Directory);
  endrule;

  ruleset v: Value do
    rule "writes"
      cache[c].state = Modified
    ==>
    begin
      cache[c].value := v;
      latest := v;
    endrule;
  endruleset;

  -- The home need not know: a needless invalidation will be acknowledged.
  rule "drops a shared copy"
    cache[c].state = Shared
  ==>
  begin
    cache[c].state := Invalid;
    undefine cache[c].value;
  endrule;

  -- The copy is kept until the home confirms, in case it is fetched.
  rule "writes back"
    cache[c].state = Modified
  ==>
  begin
    cache[c].state := ModifiedToInvalid;
    send_value(PutModified, c, Directory, cache[c].value);
  endrule;

endruleset;

-- What arrives ----------------------------------------------------------------

choose i: network do
  alias m: network[i] do

    rule "a cache receives"
      ismember(m.receiver, Cache)
    ==>
    var
      got: Message;
    begin
      got := network[i];
      multisetremove(i, network);
      alias me: got.receiver; mine: cache[got.receiver] do
        switch got.kind

          case Data:
            mine.value := got.value;
            if mine.state = InvalidToModified then
              mine.state := Modified;
            else
              mine.state := Shared;
            endif;
            send(Confirm, me, Directory);

          case Invalidate:
            if mine.state = Shared then
              mine.state := Invalid;
              undefine mine.value;
            endif;
            send(Acknowledge, me, Directory);

          case Fetch:
            send_value(WriteBack, me, Directory, mine.value);
            if mine.state = Modified then
              mine.state := Invalid;
              undefine mine.value;
            endif;

          case PutDone:
            mine.state := Invalid;
            undefine mine.value;

          else
            error "a cache received what only the home understands";
        endswitch;
      endalias;
    endrule;

    -- Requests wait in the network until the home is at rest.
    rule "the home takes a request"
      m.receiver = Directory & home = Steady
      & (m.kind = GetShared | m.kind = GetModified | m.kind = PutModified)
    ==>
    var
      got: Message;
    begin
      got := network[i];
      multisetremove(i, network);
      switch got.kind
        case GetShared:
          serve(got.sender, false);
        case GetModified:
          serve(got.sender, true);
        case PutModified:
          -- Out of date if the line was fetched in the meantime.
          if !isundefined(owner) & owner = got.sender then
            memory := got.value;
            undefine owner;
          endif;
          send(PutDone, Directory, got.sender);
      endswitch;
    endrule;

    rule "the home takes an answer"
      m.receiver = Directory
      & (m.kind = Acknowledge | m.kind = WriteBack | m.kind = Confirm)
    ==>
    var
      got: Message;
    begin
      got := network[i];
      multisetremove(i, network);
      switch got.kind

        case Acknowledge:
          awaited[got.sender] := false;
          sharer[got.sender] := false;
          if forall s: Cache do !awaited[s] endforall then
            grant();
          endif;

        case WriteBack:
          memory := got.value;
          undefine owner;
          grant();

        case Confirm:
          if writing then
            owner := got.sender;
            sharer[got.sender] := false;
          else
            sharer[got.sender] := true;
          endif;
          undefine client;
          writing := false;
          home := Steady;

      endswitch;
    endrule;

  endalias;
endchoose;

invariant "a writer is alone"
  forall c: Cache do forall d: Cache do
    (c != d & cache[c].state = Modified)
      -> (cache[d].state != Modified & cache[d].state != Shared)
  endforall endforall;

invariant "every copy is fresh"
  forall c: Cache do
    (cache[c].state = Shared | cache[c].state = Modified)
      -> cache[c].value = latest
  endforall;

invariant "one answer at a time"
  multisetcount(i: network,
    network[i].kind = Data | network[i].kind = Fetch
    | network[i].kind = WriteBack | network[i].kind = Confirm) <= 1;

invariant "at most two messages per cache are under way"
  multisetcount(i: network, true) <= 2 * CacheCount;
