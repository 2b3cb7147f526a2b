-- model: the bounded retransmission protocol
-- verdict: holds
-- states: 338
-- rules: 506
-- why: a protocol that may fail but must not lie about it: the verdicts of sender and receiver are compared; a switch decides the sender's verdict
--
-- A file of ChunkCount chunks goes over channels that lose messages. Each chunk
-- is repeated at most RetryCount times with an alternating bit. Then the sender
-- gives up and reports: success, failure, or, when only the acknowledgement of
-- the last chunk is missing, that it does not know. The receiver notices by a
-- longer timer that nothing more will come.

const
  ChunkCount: 6;
  RetryCount: 4;

type
  Chunk:  1..ChunkCount;
  Bit:    0..1;
  Frame:  record present: boolean; chunk: Chunk; bit: Bit; endrecord;
  Activity: enum { Ready, Sending, GivenUp };
  SenderReport:   enum { NoneYet, Success, Failure, DontKnow };
  ReceiverReport: enum { Silent, Incomplete, Complete, Broken };

var
  -- the sender
  activity: Activity;
  chunk:    Chunk;
  bit:      Bit;
  retries:  0..RetryCount;
  sender_says: SenderReport;

  -- the receiver
  expects:       Bit;
  received:      0..ChunkCount;
  receiver_says: ReceiverReport;

  frame: Frame;            -- the channel for data holds one frame
  ack:   boolean;          -- the channel back holds one acknowledgement
  -- The sender's timer is set so long that it runs out only when the frame or
  -- its acknowledgement is lost.
  lost:  boolean;

procedure empty(var f: Frame);
begin
  f.present := false;
  undefine f.chunk;
  undefine f.bit;
endprocedure;

procedure put_on_wire();
begin
  frame.present := true;
  frame.chunk := chunk;
  frame.bit := bit;
endprocedure;

startstate "a file is ready to be sent"
begin
  activity := Ready;
  chunk := 1;
  bit := 0;
  retries := 0;
  sender_says := NoneYet;
  expects := 0;
  received := 0;
  receiver_says := Silent;
  empty(frame);
  ack := false;
  lost := false;
endstartstate;

rule "sender begins"
  activity = Ready & sender_says = NoneYet
==>
begin
  activity := Sending;
  put_on_wire();
endrule;

rule "the frame is lost"
  frame.present
==>
begin
  empty(frame);
  lost := true;
endrule;

rule "the acknowledgement is lost"
  ack
==>
begin
  ack := false;
  lost := true;
endrule;

-- The receiver acknowledges repetitions too, but takes each chunk once.
rule "receiver receives"
  frame.present & !ack
==>
begin
  if frame.bit = expects then
    assert frame.chunk = received + 1 "chunks arrive in order";
    received := frame.chunk;
    receiver_says := (received = ChunkCount) ? Complete : Incomplete;
    expects := 1 - expects;
  endif;
  ack := true;
  empty(frame);
endrule;

rule "sender is acknowledged"
  ack & activity = Sending
==>
begin
  ack := false;
  bit := 1 - bit;
  retries := 0;
  if chunk = ChunkCount then
    activity := Ready;
    sender_says := Success;
  else
    chunk := chunk + 1;
    put_on_wire();
  endif;
endrule;

rule "sender tries again"
  lost & activity = Sending & retries < RetryCount
==>
begin
  lost := false;
  retries := retries + 1;
  put_on_wire();
endrule;

rule "sender gives up"
  lost & activity = Sending & retries = RetryCount
==>
begin
  lost := false;
  activity := GivenUp;
  switch chunk
    case ChunkCount:
      sender_says := DontKnow;
    else
      sender_says := Failure;
  endswitch;
endrule;

-- The receiver's timer is longer than all the sender's attempts together.
rule "receiver gives up"
  activity = GivenUp & receiver_says != Complete & receiver_says != Broken
==>
begin
  receiver_says := Broken;
endrule;

-- Both have reported. After a failure the bits are brought into step again,
-- which takes as long as the receiver's timer.
rule "the next file"
  (sender_says = Success)
  | (activity = GivenUp & (receiver_says = Broken | receiver_says = Complete))
==>
begin
  activity := Ready;
  chunk := 1;
  retries := 0;
  bit := expects;
  sender_says := NoneYet;
  received := 0;
  receiver_says := Silent;
endrule;

invariant "success means that everything arrived"
  sender_says = Success -> receiver_says = Complete;

invariant "failure means that something is missing"
  sender_says = Failure -> receiver_says != Complete;

invariant "the receiver's report is true"
  (receiver_says = Complete) = (received = ChunkCount);

invariant "between the files the wires are empty"
  activity != Sending -> (!frame.present & !ack & !lost);
