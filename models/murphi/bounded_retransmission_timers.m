-- model: the bounded retransmission protocol, its timers and channels as processes
-- verdict: holds
-- states: 11068
-- rules: 12654
-- with: RetryCount=10 states=29422 rules=33696
-- why: deep and narrow, and a goal that needs one bad turn after another: most steps have no alternative
--
-- The protocol of bounded_retransmission.m in small steps: setting and stopping
-- a timer, handing a frame to a channel, the channel's decision and its result,
-- and each report are steps of their own. Repetitions are counted for a file and
-- not for a chunk. When the sender has given up, it tells the receiver's timer,
-- which lets the receiver stop waiting and then the sender go on.
--
-- The rule "sender tells the receiver's timer" is a goal to look for; a shortest
-- way has 5 * (RetryCount + 1) + 3 steps. rumur counts the same where a line ends
-- with r:
--
--   RetryCount    states     fired  depth    breadth-first search to the goal
--        3        11,068    12,654     54      4,047 states      23 steps      r
--       10        29,422    33,696    116     20,502             58            r
--       30        81,862    93,816    316     68,262            158
--       50       134,302   153,936    516    116,022            258
--       70       186,742   214,056    716    163,782            358
--       90       239,182   274,176    916    211,542            458
--
-- Engels, Groote, van Weerdenburg and Willemse search this protocol with 10 to
-- 90 repetitions. With 10, breadth-first search on the mCRL2 specification
-- that they name takes 20,604 states and 58 steps.

const
  RetryCount: 3;       -- repetitions for a whole file
  ChunkMax:   3;
  ValueCount: 3;       -- what a chunk may contain
  FileCount:  27;      -- ValueCount to the power of ChunkMax

type
  Bit:    0..1;
  Value:  0..ValueCount - 1;
  Length: 1..ChunkMax;
  File:   0..FileCount - 1;      -- chunks as digits, the next one last

  Frame:  record first: boolean; last: boolean; bit: Bit; value: Value; endrecord;
  Fate:   enum { Empty, Open, Passes, Fails };

var
  sender: enum { Idle, SetsTimer, Sends, Waits, StopsTimer, ReportsSuccess, ReportsFailure, TellsTimer, Pauses };
  file:    File;
  length:  Length;               -- chunks left, the present one included
  first:   boolean;
  bit:     Bit;
  retries: 0..RetryCount;
  timer:   enum { Off, On, RunsOut };

  there: Fate;                   -- the channel for frames
  frame: Frame;
  back:  Fate;                   -- the channel for acknowledgements

  receiver: enum { Fresh, Expects, StopsWaiting, HandsOver, StartsWaiting, Acknowledges, Repeats, ReportsBroken, GetsReady };
  expected: Bit;
  value:    Value;               -- while it is handed over
  ended:    boolean;             -- the last chunk was the last of its file

  -- The receiver's timer is so long that it runs out only after the sender has
  -- given up; so the sender tells it that.
  watch: enum { Asleep, Awake, Told, Rings, Released };

function power(n: Length): 1..FileCount;
var
  p: 1..FileCount;
begin
  p := 1;
  for i: Length do
    if i <= n then
      p := p * ValueCount;
    endif;
  endfor;
  return p;
endfunction;

procedure end_file();
begin
  sender := Idle;
  undefine file;
  undefine length;
  undefine first;
  retries := 0;
  bit := 1 - bit;
endprocedure;

startstate "nothing to send"
begin
  bit := 1;
  end_file();
  timer := Off;
  there := Empty;
  undefine frame;
  back := Empty;
  receiver := Fresh;
  undefine expected;
  undefine value;
  undefine ended;
  watch := Asleep;
endstartstate;

-- The sender ----------------------------------------------------------------

ruleset n: Length; f: File do
  rule "a file arrives"
    sender = Idle & f < power(n)
  ==>
  begin
    sender := SetsTimer;
    file := f;
    length := n;
    first := true;
  endrule;
endruleset;

rule "sender sets its timer"
  sender = SetsTimer
==>
begin
  sender := Sends;
  timer := On;
endrule;

rule "sender sends a frame"
  sender = Sends & there = Empty
==>
begin
  sender := Waits;
  there := Open;
  frame.first := first;
  frame.last := (length = 1);
  frame.bit := bit;
  frame.value := file % ValueCount;
endrule;

rule "sender is acknowledged"
  sender = Waits & back = Passes
==>
begin
  sender := StopsTimer;
  back := Empty;
endrule;

rule "sender stops its timer"
  sender = StopsTimer
==>
begin
  timer := Off;
  if length = 1 then
    sender := ReportsSuccess;
  else
    sender := SetsTimer;
    length := length - 1;
    file := file / ValueCount;
    first := false;
    bit := 1 - bit;
  endif;
endrule;

rule "sender's timer runs out"
  sender = Waits & timer = RunsOut
==>
begin
  timer := Off;
  if retries = RetryCount then
    sender := ReportsFailure;
  else
    sender := SetsTimer;
    retries := retries + 1;
  endif;
endrule;

rule "sender reports success"
  sender = ReportsSuccess
==>
begin
  assert receiver = Expects & ended "success means that everything arrived";
  end_file();
endrule;

-- Before the last chunk this means failure, and afterwards that the sender does
-- not know.
rule "sender reports that it gave up"
  sender = ReportsFailure
==>
begin
  assert length = 1 | first | receiver = Fresh | !ended "failure means that something is missing";
  sender := TellsTimer;
endrule;

rule "sender tells the receiver's timer"
  sender = TellsTimer & (watch = Awake | watch = Asleep)
==>
begin
  sender := Pauses;
  watch := (watch = Awake) ? Told : Released;
endrule;

rule "sender may go on"
  sender = Pauses & watch = Released
==>
begin
  watch := Asleep;
  end_file();
endrule;

-- The channels --------------------------------------------------------------

rule "a frame will pass"
  there = Open
==>
begin
  there := Passes;
endrule;

rule "a frame will be lost"
  there = Open
==>
begin
  there := Fails;
  undefine frame;
endrule;

rule "a frame is lost"
  there = Fails
==>
begin
  there := Empty;
  if timer = On then
    timer := RunsOut;
  endif;
endrule;

rule "an acknowledgement will pass"
  back = Open
==>
begin
  back := Passes;
endrule;

rule "an acknowledgement will be lost"
  back = Open
==>
begin
  back := Fails;
endrule;

rule "an acknowledgement is lost"
  back = Fails
==>
begin
  back := Empty;
  if timer = On then
    timer := RunsOut;
  endif;
endrule;

-- The receiver --------------------------------------------------------------

rule "receiver receives a first frame"
  there = Passes & receiver = Fresh
==>
begin
  assert frame.first "a file begins with its first chunk";
  receiver := HandsOver;
  expected := frame.bit;
  value := frame.value;
  ended := frame.last;
  there := Empty;
  undefine frame;
endrule;

rule "receiver receives a frame"
  there = Passes & receiver = Expects
==>
begin
  if frame.bit = expected then
    assert frame.first = ended "chunks come in order";
    receiver := StopsWaiting;
    value := frame.value;
    ended := frame.last;
  else
    receiver := Repeats;
  endif;
  there := Empty;
  undefine frame;
endrule;

rule "receiver stops its timer"
  receiver = StopsWaiting & (watch = Awake | watch = Told)
==>
begin
  receiver := HandsOver;
  watch := (watch = Told) ? Released : Asleep;
endrule;

rule "receiver hands a chunk over"
  receiver = HandsOver
==>
begin
  receiver := StartsWaiting;
  undefine value;
endrule;

rule "receiver starts its timer"
  receiver = StartsWaiting & watch = Asleep
==>
begin
  receiver := Acknowledges;
  watch := Awake;
endrule;

rule "receiver acknowledges"
  receiver = Acknowledges & back = Empty
==>
begin
  receiver := Expects;
  expected := 1 - expected;
  back := Open;
endrule;

rule "receiver acknowledges again"
  receiver = Repeats & back = Empty
==>
begin
  receiver := Expects;
  back := Open;
endrule;

rule "receiver's timer runs out"
  receiver = Expects & watch = Told
==>
begin
  watch := Rings;
  receiver := ended ? GetsReady : ReportsBroken;
endrule;

rule "receiver reports that the file is broken"
  receiver = ReportsBroken
==>
begin
  receiver := GetsReady;
endrule;

rule "receiver is ready"
  receiver = GetsReady
==>
begin
  receiver := Fresh;
  undefine expected;
  undefine ended;
  watch := Released;
endrule;

invariant "between files the channels are empty"
  sender = Idle -> there = Empty & back = Empty;

cover "the sender gives up"
  sender = TellsTimer;
