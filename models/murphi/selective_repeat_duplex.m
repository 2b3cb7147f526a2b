-- model: selective repeat in both directions and in small steps, with Tanenbaum's livelock
-- verdict: violated
-- violation: invariant "Right does not fall silent for ever"
-- witness: 16
-- with: ValueCount=2 witness=16
-- why: the fault of selective_repeat.m in a form that is harder to find: two stations, four timers and two channels that move side by side
--
-- Both stations send messages, and frames carry acknowledgements for the other
-- direction. Sending a frame, setting or stopping a timer, delivering a message,
-- a channel's decision and its result are steps of their own.
--
-- `silent()` is a goal to look for: Left's window is full and delivered, and
-- Right has nothing that would make it answer. `livelock()` asks besides that no
-- answer is under way. Breadth-first search takes:
--
--   WindowSize  ValueCount     silent()              livelock()
--       1           1                532 states   9 steps       6,353 states  16 steps
--       1           2              1,713          9            22,447         16
--       2           2            161,199         16         1,785,746         23
--       3           2          6,179,834         23
--
-- Mended = 1 gives the protocol of later editions, where a repetition is answered
-- in any case, so that being silent is no livelock: 562,168 states by default,
-- which rumur counts alike.
--
-- Engels, Groote, van Weerdenburg and Willemse look for `silent()`, with two
-- values and windows of 2 to 10, within 80,000 states.

const
  WindowSize:    1;
  SequenceCount: 2 * WindowSize;
  ChannelSize:   1;
  ValueCount:    1;
  Mended:        0;      -- 1: a repetition starts the acknowledgement timer

type
  Side:     enum { Left, Right };
  Sequence: 0..SequenceCount - 1;
  Value:    0..ValueCount - 1;
  Slot:     0..ChannelSize - 1;
  Kind:     enum { Data, Ack, Nak };
  Frame:    record kind: Kind; number: Sequence; value: Value; ack: Sequence; endrecord;

  Station: record
    doing:    enum { Nothing, SendsData, StartsTimer, Delivers, Refuses, StopsAckTimer, Settles, SendsAck };
    next:     Sequence;                      -- to be sent
    oldest:   Sequence;                      -- not acknowledged
    expected: Sequence;
    sent:     array[Sequence] of Value;      -- undefined: nothing
    held:     array[Sequence] of Value;      -- undefined: nothing
    refused:  boolean;                       -- since `expected` last moved
    number:   Sequence;                      -- of the frame that it sends
    ack:      Sequence;                      -- that came with the frame it received

    timer:     array[Sequence] of boolean;
    ack_timer: boolean;
  endrecord;

  Wire: record
    length: 0..ChannelSize;
    slot:   array[Slot] of Frame;
    fate:   enum { Open, Arrives, GetsLost, IsDamaged };      -- of the oldest frame
  endrecord;

var
  station: array[Side] of Station;
  wire:    array[Side] of Wire;              -- away from that side

function other(s: Side): Side;
begin
  return (s = Left) ? Right : Left;
endfunction;

function after(s: Sequence; n: 0..SequenceCount): Sequence;
begin
  return (s + n) % SequenceCount;
endfunction;

-- Whether a number lies from `low` on and before `high`, around the circle.
function between(n: Sequence; low: Sequence; high: Sequence): boolean;
begin
  return (n + SequenceCount - low) % SequenceCount < (high + SequenceCount - low) % SequenceCount;
endfunction;

function window_is_full(s: Side): boolean;
begin
  return after(station[s].oldest, WindowSize) = station[s].next;
endfunction;

-- All that Left may send has been delivered, and Right is at rest without its
-- timer.
function silent(): boolean;
begin
  return window_is_full(Left) & station[Left].doing = Nothing & station[Right].doing = Nothing
    & station[Right].expected = station[Left].next & !station[Right].ack_timer;
endfunction;

-- No answer is under way either, and none will be made until Right has data of
-- its own to send: it has refused once, and what Left repeats is not new.
function livelock(): boolean;
begin
  return Mended = 0 & silent() & station[Right].refused & wire[Right].length = 0
    & station[Right].oldest = station[Right].next;
endfunction;

-- A channel that is full forgets the frame that entered last.
procedure put_on_wire(s: Side; k: Kind);
begin
  alias w: wire[s] do
    if w.length < ChannelSize then
      w.length := w.length + 1;
    endif;
    undefine w.slot[w.length - 1];
    w.slot[w.length - 1].kind := k;
    w.slot[w.length - 1].ack := after(station[s].expected, SequenceCount - 1);
    if k = Data then
      w.slot[w.length - 1].number := station[s].number;
      w.slot[w.length - 1].value := station[s].sent[station[s].number];
    endif;
  endalias;
endprocedure;

procedure drop(s: Side);
begin
  alias w: wire[s] do
    for i: Slot do
      if i + 1 < w.length then
        w.slot[i] := w.slot[i + 1];
      endif;
    endfor;
    undefine w.slot[w.length - 1];
    w.length := w.length - 1;
    w.fate := Open;
  endalias;
endprocedure;

-- Takes note of the acknowledgement that came with a frame, if it says anything
-- new.
procedure settle(s: Side);
begin
  undefine station[s].number;
  if !isundefined(station[s].ack) & between(station[s].ack, station[s].oldest, station[s].next) then
    station[s].doing := Settles;
  else
    station[s].doing := Nothing;
    undefine station[s].ack;
  endif;
endprocedure;

startstate "nothing sent"
begin
  for s: Side do
    undefine station[s];
    station[s].doing := Nothing;
    station[s].next := 0;
    station[s].oldest := 0;
    station[s].expected := 0;
    station[s].refused := false;
    for n: Sequence do
      station[s].timer[n] := false;
    endfor;
    station[s].ack_timer := false;
    wire[s].length := 0;
    undefine wire[s].slot;
    wire[s].fate := Open;
  endfor;
endstartstate;

ruleset s: Side do

  ruleset v: Value do
    rule "takes a message from its user"
      station[s].doing = Nothing & !window_is_full(s)
    ==>
    begin
      alias t: station[s] do
        t.doing := SendsData;
        t.number := t.next;
        t.sent[t.next] := v;
        t.next := after(t.next, 1);
      endalias;
    endrule;
  endruleset;

  ruleset n: Sequence do
    rule "a timer runs out"
      station[s].doing = Nothing & station[s].timer[n]
    ==>
    begin
      station[s].timer[n] := false;
      station[s].doing := SendsData;
      station[s].number := n;
    endrule;
  endruleset;

  rule "sends a frame"
    station[s].doing = SendsData
  ==>
  begin
    put_on_wire(s, Data);
    station[s].doing := StartsTimer;
  endrule;

  -- The frame carries an acknowledgement.
  rule "starts a timer"
    station[s].doing = StartsTimer
  ==>
  begin
    station[s].timer[station[s].number] := true;
    station[s].ack_timer := false;
    settle(s);
  endrule;

  rule "the acknowledgement timer runs out"
    station[s].doing = Nothing & station[s].ack_timer
  ==>
  begin
    station[s].ack_timer := false;
    station[s].doing := SendsAck;
  endrule;

  rule "sends an acknowledgement"
    station[s].doing = SendsAck
  ==>
  begin
    put_on_wire(s, Ack);
    station[s].doing := Nothing;
  endrule;

  rule "receives a frame"
    station[s].doing = Nothing & wire[other(s)].length > 0 & wire[other(s)].fate = Arrives
  ==>
  begin
    alias t: station[s] do
    alias f: wire[other(s)].slot[0] do
      t.ack := f.ack;
      switch f.kind
        case Data:
          if between(f.number, t.expected, after(t.expected, WindowSize)) & isundefined(t.held[f.number]) then
            t.held[f.number] := f.value;
          endif;
          if f.number = t.expected then
            t.doing := Delivers;
          elsif t.refused then
            t.ack_timer := t.ack_timer | Mended = 1;
            settle(s);
          else
            t.doing := Refuses;
          endif;
        case Nak:
          if between(after(f.ack, 1), t.oldest, t.next) then
            t.number := after(f.ack, 1);
            t.doing := SendsData;
          else
            settle(s);
          endif;
        case Ack:
          settle(s);
      endswitch;
    endalias;
    endalias;
    drop(other(s));
  endrule;

  rule "receives a damaged frame"
    station[s].doing = Nothing & wire[other(s)].length > 0 & wire[other(s)].fate = IsDamaged
  ==>
  begin
    if !station[s].refused then
      station[s].doing := Refuses;
    endif;
    drop(other(s));
  endrule;

  rule "delivers a message"
    station[s].doing = Delivers & !isundefined(station[s].held[station[s].expected])
  ==>
  begin
    alias t: station[s] do
      undefine t.held[t.expected];
      t.expected := after(t.expected, 1);
      t.refused := false;
    endalias;
  endrule;

  rule "starts the acknowledgement timer"
    station[s].doing = Delivers & isundefined(station[s].held[station[s].expected])
  ==>
  begin
    station[s].ack_timer := true;
    settle(s);
  endrule;

  rule "refuses a frame"
    station[s].doing = Refuses
  ==>
  begin
    put_on_wire(s, Nak);
    station[s].refused := true;
    station[s].doing := StopsAckTimer;
  endrule;

  rule "stops the acknowledgement timer"
    station[s].doing = StopsAckTimer
  ==>
  begin
    station[s].ack_timer := false;
    settle(s);
  endrule;

  rule "stops a timer"
    station[s].doing = Settles
  ==>
  begin
    alias t: station[s] do
      t.timer[t.oldest] := false;
      undefine t.sent[t.oldest];
      t.oldest := after(t.oldest, 1);
    endalias;
    settle(s);
  endrule;

  rule "a frame will arrive"
    wire[s].length > 0 & wire[s].fate = Open
  ==>
  begin
    wire[s].fate := Arrives;
  endrule;

  rule "a frame will be lost"
    wire[s].length > 0 & wire[s].fate = Open
  ==>
  begin
    wire[s].fate := GetsLost;
  endrule;

  rule "a frame will be damaged"
    wire[s].length > 0 & wire[s].fate = Open
  ==>
  begin
    wire[s].fate := IsDamaged;
  endrule;

  rule "a frame is lost"
    wire[s].length > 0 & wire[s].fate = GetsLost
  ==>
  begin
    drop(s);
  endrule;

endruleset;

invariant "receivers are within the senders' windows"
  forall s: Side do
    station[other(s)].expected = station[s].oldest
    | between(after(station[other(s)].expected, SequenceCount - 1), station[s].oldest, station[s].next)
  endforall;

invariant "Right does not fall silent for ever"
  !livelock();
