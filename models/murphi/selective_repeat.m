-- model: a sliding window protocol with selective repeat, and the livelock that Tanenbaum's had
-- verdict: violated
-- violation: assertion "repetitions are answered"
-- witness: 9
-- with: WindowSize=4 witness=13
-- with: WindowSize=3 Mended=1 verdict=holds states=4944 rules=36282
-- why: a livelock that is caught as a state: everything is delivered, the sender repeats it for ever, and the receiver is silent
--
-- Frames may arrive in any order within the window, get lost or damaged. The
-- receiver refuses an unexpected frame once, and acknowledges when a timer
-- runs out; every answer stops that timer. In the early editions of Tanenbaum's
-- Computer Networks only the delivery of a message starts it again. So a refusal
-- that gets lost can be the last word. Data goes one way only: with data going
-- back, acknowledgements would ride on it.
--
-- `livelock()` is a goal to look for. Breadth-first search finds it after:
--
--   WindowSize       1    2    3      4       6       8       10
--   steps            5    7    9     11      15      19       23
--   states          31  167  597  1,912  15,309  98,754  571,009
--
-- Mended = 1 gives the protocol of later editions, which holds: 1,172 states
-- for WindowSize = 2, 4,944 for 3 (rumur counts the same), 16,864 for 4, and
-- 377,896 for 4 with ChannelSize = 2. With fewer than 2 * WindowSize numbers
-- (SequenceCount = 3) a repetition is taken for a new message: 6 steps.
--
-- Engels, Groote, van Weerdenburg and Willemse search the same fault in a model
-- of both directions with smaller steps, where it takes 17 steps for a window of
-- 2, and report no sizes.

const
  WindowSize:    2;
  SequenceCount: 2 * WindowSize;
  ChannelSize:   1;
  Mended:        0;      -- 1: a repetition starts the receiver's timer

type
  Sequence: 0..SequenceCount - 1;
  Amount:   0..WindowSize;
  Slot:     0..ChannelSize - 1;
  Kind:     enum { Ack, Nak };

  -- A damaged frame still arrives, but says nothing.
  Frame:    record damaged: boolean; sequence: Sequence; endrecord;
  Answer:   record damaged: boolean; kind: Kind; ack: Sequence; endrecord;

var
  -- the sender
  oldest:  Sequence;                     -- not acknowledged
  pending: Amount;                       -- frames from there on that are under way

  -- the receiver
  expected:  Sequence;
  arrived:   array[Sequence] of boolean; -- frames of the window that came early
  nak_sent:  boolean;                    -- since `expected` last moved
  ack_timer: boolean;                    -- runs

  frames:  record length: 0..ChannelSize; slot: array[Slot] of Frame; endrecord;
  answers: record length: 0..ChannelSize; slot: array[Slot] of Answer; endrecord;

function after(s: Sequence; n: 0..SequenceCount): Sequence;
begin
  return (s + n) % SequenceCount;
endfunction;

-- How far one number lies behind another, around the circle.
function distance(low: Sequence; high: Sequence): Sequence;
begin
  return (high + SequenceCount - low) % SequenceCount;
endfunction;

-- A channel that is full forgets the frame that entered last.
procedure send_frame(s: Sequence);
begin
  if frames.length < ChannelSize then
    frames.length := frames.length + 1;
  endif;
  frames.slot[frames.length - 1].damaged := false;
  frames.slot[frames.length - 1].sequence := s;
endprocedure;

procedure drop_frame();
begin
  for i: Slot do
    if i + 1 < frames.length then
      frames.slot[i] := frames.slot[i + 1];
    endif;
  endfor;
  undefine frames.slot[frames.length - 1];
  frames.length := frames.length - 1;
endprocedure;

-- Every answer names the last message that was delivered, so it seems to make
-- the timer needless. But answers get lost.
procedure send_answer(k: Kind);
begin
  if answers.length < ChannelSize then
    answers.length := answers.length + 1;
  endif;
  alias a: answers.slot[answers.length - 1] do
    a.damaged := false;
    a.kind := k;
    a.ack := after(expected, SequenceCount - 1);
  endalias;
  if k = Nak then
    nak_sent := true;
  endif;
  ack_timer := false;
endprocedure;

procedure drop_answer();
begin
  for i: Slot do
    if i + 1 < answers.length then
      answers.slot[i] := answers.slot[i + 1];
    endif;
  endfor;
  undefine answers.slot[answers.length - 1];
  answers.length := answers.length - 1;
endprocedure;

procedure deliver();
begin
  while arrived[expected] do
    arrived[expected] := false;
    expected := after(expected, 1);
    nak_sent := false;
    ack_timer := true;
  endwhile;
endprocedure;

-- The window is full and all of it has been delivered, but the receiver does not
-- say so: it has used its one refusal, its timer stands, and what the sender
-- repeats is not new.
function livelock(): boolean;
begin
  return pending = WindowSize & expected = after(oldest, pending) & nak_sent & !ack_timer
    & answers.length = 0;
endfunction;

startstate "nothing sent"
begin
  oldest := 0;
  pending := 0;
  expected := 0;
  for s: Sequence do
    arrived[s] := false;
  endfor;
  nak_sent := false;
  ack_timer := false;
  frames.length := 0;
  undefine frames.slot;
  answers.length := 0;
  undefine answers.slot;
endstartstate;

rule "sender sends a new frame"
  pending < WindowSize
==>
begin
  send_frame(after(oldest, pending));
  pending := pending + 1;
endrule;

ruleset n: 0..WindowSize - 1 do
  rule "sender's timer runs out"
    n < pending
  ==>
  begin
    send_frame(after(oldest, n));
  endrule;
endruleset;

rule "sender receives an answer"
  answers.length > 0 & !answers.slot[0].damaged
==>
var
  freed: 0..SequenceCount;
  missing: Sequence;
begin
  freed := distance(oldest, answers.slot[0].ack) + 1;
  missing := after(answers.slot[0].ack, 1);
  if answers.slot[0].kind = Nak & distance(oldest, missing) < pending then
    send_frame(missing);
  endif;
  if freed <= pending then
    oldest := after(oldest, freed);
    pending := pending - freed;
  endif;
  drop_answer();
endrule;

rule "sender receives a damaged answer"
  answers.length > 0 & answers.slot[0].damaged
==>
begin
  drop_answer();
endrule;

rule "receiver receives a frame"
  frames.length > 0 & !frames.slot[0].damaged
==>
var
  s: Sequence;
begin
  s := frames.slot[0].sequence;
  drop_frame();
  if s != expected then
    if !nak_sent then
      send_answer(Nak);
    elsif Mended = 1 then
      ack_timer := true;
    endif;
    assert !livelock() "repetitions are answered";
  endif;
  if distance(expected, s) < WindowSize then
    assert distance(oldest, expected) <= distance(oldest, s) & distance(oldest, s) < pending
      "what is accepted is new";
    arrived[s] := true;
    deliver();
  endif;
endrule;

rule "receiver receives a damaged frame"
  frames.length > 0 & frames.slot[0].damaged
==>
begin
  drop_frame();
  if !nak_sent then
    send_answer(Nak);
  endif;
endrule;

rule "receiver's timer runs out"
  ack_timer
==>
begin
  send_answer(Ack);
endrule;

ruleset i: Slot do

  rule "a frame is damaged"
    i < frames.length & !frames.slot[i].damaged
  ==>
  begin
    frames.slot[i].damaged := true;
    undefine frames.slot[i].sequence;
  endrule;

  rule "an answer is damaged"
    i < answers.length & !answers.slot[i].damaged
  ==>
  begin
    undefine answers.slot[i];
    answers.slot[i].damaged := true;
  endrule;

endruleset;

rule "a frame is lost"
  frames.length > 0
==>
begin
  drop_frame();
endrule;

rule "an answer is lost"
  answers.length > 0
==>
begin
  drop_answer();
endrule;

invariant "the receiver is within the sender's window"
  distance(oldest, expected) <= pending;
