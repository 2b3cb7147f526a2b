-- model: a sliding window protocol (go back n) over lossy channels
-- verdict: holds
-- states: 983848
-- rules: 4572736
-- why: arithmetic modulo two different numbers, records of arrays, a while loop; large enough to be timed
--
-- The sender keeps up to WindowSize messages under way. An acknowledgement
-- names the next message that the receiver waits for, and stands for all before
-- it. Sequence numbers wrap at WindowSize + 1, which is the least that works;
-- payloads wrap later, so that a message taken for another is noticed.

const
  WindowSize:    3;
  SequenceCount: WindowSize + 1;
  PayloadCount:  2 * SequenceCount;
  QueueSize:     5;

type
  Sequence: 0..SequenceCount - 1;
  Payload:  0..PayloadCount - 1;
  Place:    0..QueueSize - 1;
  Frame:    record sequence: Sequence; payload: Payload; endrecord;

var
  -- the sender: messages from `oldest` on, `pending` of them, are under way
  oldest:  Payload;
  pending: 0..WindowSize;

  expected: Payload;           -- the receiver

  frames: record length: 0..QueueSize; slot: array[Place] of Frame; endrecord;
  acks:   record length: 0..QueueSize; slot: array[Place] of Sequence; endrecord;

function sequence_of(p: Payload): Sequence;
begin
  return p % SequenceCount;
endfunction;

procedure drop_frame();
begin
  for i := 0 to QueueSize - 2 do
    frames.slot[i] := frames.slot[i + 1];
  endfor;
  undefine frames.slot[QueueSize - 1];
  frames.length := frames.length - 1;
endprocedure;

procedure drop_ack();
var
  i: Place;
begin
  i := 0;
  while i + 1 < acks.length do
    acks.slot[i] := acks.slot[i + 1];
    i := i + 1;
  endwhile;
  undefine acks.slot[i];
  acks.length := acks.length - 1;
endprocedure;

startstate "nothing sent"
begin
  oldest := 0;
  pending := 0;
  expected := 0;
  frames.length := 0;
  undefine frames.slot;
  acks.length := 0;
  undefine acks.slot;
endstartstate;

rule "sender opens the window by one"
  pending < WindowSize
==>
begin
  pending := pending + 1;
endrule;

-- Any frame of the window may be sent at any time: this covers first
-- transmissions, time-outs and repetitions in whatever order.
ruleset offset: 0..WindowSize - 1 do
  rule "sender sends a frame of the window"
    offset < pending & frames.length < QueueSize
  ==>
  var
    p: Payload;
  begin
    p := (oldest + offset) % PayloadCount;
    frames.slot[frames.length].payload := p;
    frames.slot[frames.length].sequence := sequence_of(p);
    frames.length := frames.length + 1;
  endrule;
endruleset;

rule "receiver receives a frame"
  frames.length > 0 & acks.length < QueueSize
==>
begin
  alias head: frames.slot[0] do
    if head.sequence = sequence_of(expected) then
      assert head.payload = expected "messages are delivered in order";
      expected := (expected + 1) % PayloadCount;
    endif;
  endalias;
  acks.slot[acks.length] := sequence_of(expected);
  acks.length := acks.length + 1;
  drop_frame();
endrule;

-- An acknowledgement within the window frees everything before it; one that
-- equals the oldest message's number is stale and frees nothing.
rule "sender receives an acknowledgement"
  acks.length > 0
==>
var
  freed: Sequence;
begin
  freed := (acks.slot[0] + SequenceCount - sequence_of(oldest)) % SequenceCount;
  if freed <= pending then
    oldest := (oldest + freed) % PayloadCount;
    pending := pending - freed;
  endif;
  drop_ack();
endrule;

rule "a frame is lost"
  frames.length > 0
==>
begin
  drop_frame();
endrule;

rule "an acknowledgement is lost"
  acks.length > 0
==>
begin
  drop_ack();
endrule;

invariant "the receiver is within the sender's window"
  (expected + PayloadCount - oldest) % PayloadCount <= pending;
