-- model: cache coherence by a list of sharers, as in SCI
-- verdict: holds
-- states: 101340
-- rules: 323622
-- orbits: 17054
-- with: ValueCount=1 states=21558 rules=67116
-- with: CacheCount=2 states=1288 rules=2844
-- why: a list that lives in the caches themselves and changes at several places at once, by requests that may be refused and are repeated
--
-- The home of a line knows only the cache at the head of a list; caches know
-- their neighbours. A cache that wants the line becomes the head and attaches
-- the old one. The head writes after it has purged the others one by one. A
-- cache that leaves tells both of its neighbours; the head tells the home first.
-- Every request, its service and its answer are steps of their own, and a cache
-- that is busy with a request of its own refuses others.
--
-- Sizes. rumur, which does not compare undefined values, counts the same where a
-- line ends with r, with 0 in place of an undefined cache:
--
--   CacheCount  ValueCount      states       fired  depth     orbits      fired
--       3           2          101,340     323,622     58     17,054     54,494  r
--       2           2            1,288       2,844     30        650      1,436
--       3           1           21,558      67,116     48      3,639     11,340  r
--       3           3          277,974     919,872     58     46,710    154,662
--       4           1        1,839,616   7,584,168     75     77,769    320,788
--       4           2       12,028,304  50,341,784     91    507,482  2,124,784
--
-- Tronci, Della Penna, Intrigila and Venturini Zilli report 18,193 states, 60,455
-- rules fired and a diameter of 62 for the model of SCI that comes with Murphi,
-- with symmetry. The default has 6 % fewer with symmetry; 3, 1 has 18 % more
-- without. The start can be reached again from every state of the default.
--
-- With Mended = 0 a cache whose request is under way lets its neighbour change.
-- With four caches the old neighbour can then have left and come back, so that a
-- request meant for its former place takes effect: 53 steps.
--
-- `forall c: Cache do line[c].stage = Member endforall` is a goal to look for: 18
-- steps.

const
  CacheCount: 3;
  ValueCount: 2;
  Mended:     1;      -- 0: a cache whose request is under way lets its neighbour change

type
  Cache: scalarset(CacheCount);
  Value: 0..ValueCount - 1;
  Stage: enum { Out, Fetching, Attaching, Member, Purging, LeavingHome, LeavingPrevious, LeavingNext };
  Phase: enum { Resting, Asked, Answered };

  Line: record
    stage:    Stage;
    previous: Cache;             -- undefined: the head of the list
    next:     Cache;             -- undefined: its end
    purged:   Cache;             -- the neighbour that it purged last
    value:    Value;
    to_write: boolean;           -- why it fetches the line
  endrecord;

  -- A cache has one request under way at most; its stage says what it asks.
  Request: record
    phase:  Phase;
    target: Cache;               -- undefined: the home
    agreed: boolean;
    link:   Cache;
    value:  Value;
  endrecord;

var
  line:    array[Cache] of Line;
  request: array[Cache] of Request;
  head:    Cache;                -- as the home knows it
  memory:  Value;
  latest:  Value;                -- what was written last

procedure rest(c: Cache);
begin
  undefine request[c];
  request[c].phase := Resting;
endprocedure;

procedure answer(c: Cache; agreed: boolean);
begin
  request[c].phase := Answered;
  request[c].agreed := agreed;
  undefine request[c].target;
endprocedure;

procedure leave(c: Cache);
begin
  undefine line[c];
  line[c].stage := Out;
endprocedure;

function is_head(c: Cache): boolean;
begin
  return line[c].stage = Member & isundefined(line[c].previous);
endfunction;

startstate "nobody has the line"
begin
  for c: Cache do
    leave(c);
    rest(c);
  endfor;
  undefine head;
  memory := 0;
  latest := 0;
endstartstate;

ruleset c: Cache do

  ruleset to_write: boolean do
    rule "wants the line"
      line[c].stage = Out & request[c].phase = Resting
    ==>
    begin
      line[c].stage := Fetching;
      line[c].to_write := to_write;
    endrule;
  endruleset;

  rule "wants to leave"
    line[c].stage = Member
  ==>
  begin
    line[c].stage := isundefined(line[c].previous) ? LeavingHome : LeavingPrevious;
  endrule;

  rule "wants to write"
    is_head(c) & !isundefined(line[c].next)
  ==>
  begin
    line[c].stage := Purging;
  endrule;

  ruleset v: Value do
    rule "writes"
      is_head(c) & isundefined(line[c].next) & v != line[c].value
    ==>
    begin
      line[c].value := v;
      latest := v;
    endrule;
  endruleset;

  rule "sends its request"
    request[c].phase = Resting & line[c].stage != Out & line[c].stage != Member
  ==>
  begin
    request[c].phase := Asked;
    switch line[c].stage
      case Attaching, Purging, LeavingNext:
        request[c].target := line[c].next;
      case LeavingPrevious:
        request[c].target := line[c].previous;
    endswitch;
  endrule;

  rule "home puts a cache at the head"
    request[c].phase = Asked & line[c].stage = Fetching
  ==>
  begin
    answer(c, true);
    request[c].link := head;
    if isundefined(head) then
      request[c].value := memory;
    endif;
    head := c;
  endrule;

  rule "home lets the head leave"
    request[c].phase = Asked & line[c].stage = LeavingHome
  ==>
  begin
    answer(c, head = c);
    if head = c then
      head := line[c].next;
      memory := line[c].value;
    endif;
  endrule;

  rule "learns where it is in the list"
    request[c].phase = Answered & line[c].stage = Fetching
  ==>
  begin
    if isundefined(request[c].link) then
      line[c].stage := Member;
      line[c].value := request[c].value;
      undefine line[c].to_write;
    else
      line[c].stage := Attaching;
      line[c].next := request[c].link;
    endif;
    rest(c);
  endrule;

  rule "is refused"
    request[c].phase = Answered & !request[c].agreed
  ==>
  begin
    if line[c].stage = LeavingHome | line[c].stage = LeavingPrevious then
      line[c].stage := Member;
    endif;
    rest(c);
  endrule;

  rule "is attached"
    request[c].phase = Answered & request[c].agreed & line[c].stage = Attaching
  ==>
  begin
    line[c].stage := line[c].to_write ? Purging : Member;
    line[c].value := request[c].value;
    undefine line[c].to_write;
    rest(c);
  endrule;

  rule "has purged its neighbour"
    request[c].phase = Answered & request[c].agreed & line[c].stage = Purging
  ==>
  begin
    line[c].purged := line[c].next;
    line[c].next := request[c].link;
    if isundefined(line[c].next) then
      line[c].stage := Member;
      undefine line[c].purged;
    endif;
    rest(c);
  endrule;

  rule "has told one side that it leaves"
    request[c].phase = Answered & request[c].agreed
    & (line[c].stage = LeavingHome | line[c].stage = LeavingPrevious)
  ==>
  begin
    if isundefined(line[c].next) then
      leave(c);
    else
      line[c].stage := LeavingNext;
    endif;
    rest(c);
  endrule;

  rule "has told both sides that it leaves"
    request[c].phase = Answered & request[c].agreed & line[c].stage = LeavingNext
  ==>
  begin
    leave(c);
    rest(c);
  endrule;

endruleset;

ruleset c: Cache; n: Cache do

  rule "the old head is asked to attach a new one"
    request[c].phase = Asked & line[c].stage = Attaching & request[c].target = n
  ==>
  begin
    if is_head(n) then
      line[n].previous := c;
      request[c].value := line[n].value;
      answer(c, true);
    else
      answer(c, false);
    endif;
  endrule;

  rule "a neighbour is purged"
    request[c].phase = Asked & line[c].stage = Purging & request[c].target = n
  ==>
  begin
    if line[n].stage = Member & (line[n].previous = c | line[n].previous = line[c].purged) then
      request[c].link := line[n].next;
      leave(n);
      answer(c, true);
    else
      answer(c, false);
    endif;
  endrule;

  rule "the cache before is told that one leaves"
    request[c].phase = Asked & line[c].stage = LeavingPrevious & request[c].target = n
  ==>
  begin
    if line[n].stage = Member & line[n].next = c then
      line[n].next := line[c].next;
      answer(c, true);
    else
      answer(c, false);
    endif;
  endrule;

  rule "the cache behind is told that one leaves"
    request[c].phase = Asked & line[c].stage = LeavingNext & request[c].target = n
  ==>
  begin
    if line[n].previous = c & (Mended = 0 | line[n].stage = Member) then
      line[n].previous := line[c].previous;
      answer(c, true);
    else
      answer(c, false);
    endif;
  endrule;

endruleset;

-- A cache that leaves does not read any more.
invariant "copies agree"
  forall c: Cache do
    line[c].stage = Member | line[c].stage = Purging -> line[c].value = latest
  endforall;

invariant "memory is right when nobody has the line"
  isundefined(head) -> memory = latest;

invariant "who may write has the only copy"
  forall c: Cache do forall d: Cache do
    c != d & is_head(c) & isundefined(line[c].next) -> line[d].stage != Member & line[d].stage != Purging
  endforall endforall;

invariant "neighbours know each other"
  (forall c: Cache do line[c].stage = Member | line[c].stage = Out endforall) ->
    forall c: Cache do forall d: Cache do
      line[c].stage = Member & line[d].stage = Member ->
        (!isundefined(line[c].next) & line[c].next = d) = (!isundefined(line[d].previous) & line[d].previous = c)
    endforall endforall;

cover "all share the line"
  forall c: Cache do line[c].stage = Member endforall;
