-- model: the alternating bit protocol over channels that lose and repeat
-- verdict: holds
-- states: 272
-- rules: 1132
-- why: queues as records of an array and a length, shared by procedures with var parameters; alternating_bit_bug.m is its mutant
--
-- The sender repeats a message until the acknowledgement carries its bit. The
-- receiver acknowledges every message, but delivers only those with the bit
-- it expects.

const
  QueueSize:   3;
  SerialCount: 4;       -- messages are numbered, modulo this, to check order

type
  Bit:    0..1;
  Serial: 0..SerialCount - 1;
  Packet: record bit: Bit; serial: Serial; endrecord;
  Queue: record
    length: 0..QueueSize;
    slot: array[0..QueueSize - 1] of Packet;
  endrecord;

var
  data: Queue;                -- sender to receiver
  acks: Queue;                -- receiver to sender; these carry no serial
  sending:   Packet;          -- what the sender repeats
  expects:   Bit;             -- the bit that the receiver waits for
  delivered: Serial;          -- how many messages the receiver passed on
  accepted:  boolean;         -- the current message was delivered (a ghost)

procedure append(var q: Queue; p: Packet);
begin
  q.slot[q.length] := p;
  q.length := q.length + 1;
endprocedure;

procedure remove(var q: Queue);
begin
  for i := 0 to QueueSize - 2 do
    q.slot[i] := q.slot[i + 1];
  endfor;
  undefine q.slot[QueueSize - 1];
  q.length := q.length - 1;
endprocedure;

startstate "nothing sent"
begin
  data.length := 0;
  undefine data.slot;
  acks.length := 0;
  undefine acks.slot;
  sending.bit := 0;
  sending.serial := 0;
  expects := 0;
  delivered := 0;
  accepted := false;
endstartstate;

rule "sender sends, perhaps again"
  data.length < QueueSize
==>
begin
  append(data, sending);
endrule;

rule "receiver receives"
  data.length > 0 & acks.length < QueueSize
==>
var
  answer: Packet;
begin
  undefine answer;
  answer.bit := data.slot[0].bit;
  if data.slot[0].bit = expects then
    assert data.slot[0].serial = delivered "messages arrive in order";
    assert !accepted "no message arrives twice";
    delivered := (delivered + 1) % SerialCount;
    accepted := true;
    expects := 1 - expects;
  endif;
  append(acks, answer);
  remove(data);
endrule;

rule "sender hears an acknowledgement"
  acks.length > 0
==>
begin
  if acks.slot[0].bit = sending.bit then
    assert accepted "no message is given up before it arrived";
    accepted := false;
    sending.bit := 1 - sending.bit;
    sending.serial := (sending.serial + 1) % SerialCount;
  endif;
  remove(acks);
endrule;

rule "data channel loses its head"
  data.length > 0
==>
begin
  remove(data);
endrule;

rule "data channel repeats its head"
  data.length > 0 & data.length < QueueSize
==>
begin
  for i := 0 to QueueSize - 2 do
    data.slot[QueueSize - 1 - i] := data.slot[QueueSize - 2 - i];
  endfor;
  data.length := data.length + 1;
endrule;

rule "acknowledgement channel loses its head"
  acks.length > 0
==>
begin
  remove(acks);
endrule;

invariant "the receiver is at most one message ahead"
  delivered = (accepted ? (sending.serial + 1) % SerialCount : sending.serial);

invariant "the bits agree on who is ahead"
  accepted = (expects != sending.bit);
