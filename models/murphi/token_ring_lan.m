-- model: a token ring network whose stations have messages to send
-- verdict: holds
-- states: 20170
-- rules: 63334
-- with: StationCount=3 MessageCount=4 states=18402 rules=47664
-- with: StationCount=4 MessageCount=2 BufferSize=3 states=58120 rules=205129
-- why: deep and narrow: one token or one frame moves around the ring, step by step, and only arrivals change the rest
--
-- Whoever holds the token may send one frame to any other station. The frame
-- goes around; its target copies it if its buffer has room and marks it. The
-- sender takes it off, passes the token on, and keeps a message whose frame
-- came back unmarked for its next turn.
--
-- Sizes; rumur counts the same where a line ends with r:
--
--   StationCount  MessageCount  BufferSize      states       fired  depth
--        5             1             1          20,170      63,334     51  r
--        3             4             1          18,402      47,664     66  r
--        4             2             1          38,246     116,182     60  r
--        4             2             3          58,120     205,129     60  r
--        6             1             1         147,249     526,277     73
--        5             2             1         482,105   1,700,279     90
--        7             1             1         971,271   3,892,493     99
--        5             3             1       2,781,155   9,960,719    125
--        6             2             1       5,244,627  21,072,089    126
--        7             2             1      51,740,808 233,449,056    168
--
-- Abed, Tripakis and Vincent report 20,953 states and a longest acyclic path of
-- 72 for their model. The default has 3.7 % fewer; 3, 4, 1 is nearer in depth.
--
-- `delivered()` is a goal to look for: 35 steps.

const
  StationCount: 5;
  MessageCount: 1;     -- messages of each station
  BufferSize:   1;     -- messages that a station's host has not yet taken
  Endless:      0;     -- 1: new messages take the place of those sent
  Rest:         0;     -- 1: the token stays where it is once all is delivered, a deadlock

type
  Station: 0..StationCount - 1;
  Amount:  0..MessageCount;
  Medium:  record
    at:     Station;            -- where it is
    frame:  boolean;            -- otherwise it is the token
    source: Station;
    target: Station;
    copied: boolean;
  endrecord;

var
  medium: Medium;
  to_send: array[Station] of Amount;
  buffer:  array[Station] of 0..BufferSize;

function delivered(): boolean;
begin
  return forall s: Station do to_send[s] = 0 & buffer[s] = 0 endforall;
endfunction;

function next(s: Station): Station;
begin
  return (s + 1) % StationCount;
endfunction;

procedure token_to(s: Station);
begin
  undefine medium;
  medium.at := s;
  medium.frame := false;
endprocedure;

startstate "the token is at station 0"
begin
  token_to(0);
  for s: Station do
    to_send[s] := (Endless = 1) ? 0 : MessageCount;
    buffer[s] := 0;
  endfor;
endstartstate;

ruleset s: Station do

  rule "a message is ready"
    Endless = 1 & to_send[s] < MessageCount
  ==>
  begin
    to_send[s] := to_send[s] + 1;
  endrule;

  rule "passes the token on"
    medium.at = s & !medium.frame & to_send[s] = 0 & (Rest = 0 | !delivered())
  ==>
  begin
    token_to(next(s));
  endrule;

  rule "takes a message from its buffer"
    buffer[s] > 0
  ==>
  begin
    buffer[s] := buffer[s] - 1;
  endrule;

  rule "copies a frame"
    medium.at = s & medium.frame & medium.source != s & medium.target = s & buffer[s] < BufferSize
  ==>
  begin
    buffer[s] := buffer[s] + 1;
    medium.copied := true;
    medium.at := next(s);
  endrule;

  rule "lets a frame pass"
    medium.at = s & medium.frame & medium.source != s & (medium.target != s | buffer[s] = BufferSize)
  ==>
  begin
    medium.at := next(s);
  endrule;

  rule "takes its frame off the ring"
    medium.at = s & medium.frame & medium.source = s
  ==>
  begin
    if medium.copied then
      to_send[s] := to_send[s] - 1;
    endif;
    token_to(next(s));
  endrule;

  ruleset d: Station do
    rule "sends a frame"
      medium.at = s & !medium.frame & to_send[s] > 0 & d != s
    ==>
    begin
      medium.at := next(s);
      medium.frame := true;
      medium.source := s;
      medium.target := d;
      medium.copied := false;
    endrule;
  endruleset;

endruleset;

invariant "a frame belongs to a message that is still to be sent"
  medium.frame -> to_send[medium.source] > 0;

invariant "no station sends to itself"
  medium.frame -> medium.source != medium.target;

cover "everything is delivered"
  delivered();
