-- model: a network of buffers, and how long data takes through it
-- verdict: holds
-- states: 3967
-- rules: 7436
-- with: UnitCount=8 states=32947 rules=63300
-- why: time as growing numbers: no state occurs twice, all runs are equally long, and the goal is an extreme value
--
-- Units enter one of several lanes, each of two buffers with room for one unit
-- and the channels behind them. A merge takes one unit at a time from the lanes.
-- The order is left open, and with it the time that passes until the last unit
-- is through: the fewer lanes are busy at once, the longer it takes.
--
-- A run has 2 * UnitCount + 2 steps. rumur counts the same where a line ends
-- with r:
--
--   UnitCount      states      fired
--       4             435        787  r
--       6           3,967      7,436  r
--       8          32,947     63,300
--      10         229,665    460,989
--     100          not to be counted
--
-- Engels, Groote, van Weerdenburg and Willemse look for extreme times of 100
-- units (202 states to a run) in a network of width 3 and depth 2. They give
-- delays in a figure only; here random runs of 100 units take from 970 to 1,180
-- seconds (3,000 of them), most near 1,070 (theirs near 1,100); the slowest lane
-- alone takes 1,920, and with all lanes kept busy 913 are enough. A goal to look
-- for is `state = Reported & clock <= 960`, with Repeat = 0.

const
  UnitCount: 6;
  Width:     3;
  Repeat:    1;          -- 0: the report is the end, which is a deadlock

  -- In seconds: what the buffers of a lane take, each with the channel behind
  -- it, and what the merge takes for a unit.
  FirstTakes:  4;
  FirstGrows:  3;        -- from lane to lane
  SecondTakes: 9;
  SecondGrows: 5;
  MergeTakes:  8;
  MergeGrows:  1;
  TimeMax: UnitCount * (FirstTakes + SecondTakes + MergeTakes
                        + Width * (FirstGrows + SecondGrows + MergeGrows));

type
  Lane: 0..Width - 1;
  Time: 0..TimeMax;

  -- Times say when something happens or happened. Each buffer holds one unit.
  Buffers: record
    units:       0..2;
    first_free:  Time;    -- when the first buffer was last emptied
    first_done:  Time;    -- when it is through with the unit in it
    second_free: Time;
    second_done: Time;    -- when the unit has come to the merge
  endrecord;

var
  lane:  array[Lane] of Buffers;
  sent:  0..UnitCount;
  done:  0..UnitCount;
  clock: Time;            -- when the merge is through with what it has taken
  state: enum { Ready, Running, Reported };

function later(a: Time; b: Time): Time;
begin
  return (a < b) ? b : a;
endfunction;

-- A unit leaves the first buffer for the second.
procedure move_on(l: Lane; when: Time);
begin
  alias b: lane[l] do
    b.first_free := when;
    b.second_done := when + SecondTakes + l * SecondGrows;
  endalias;
endprocedure;

procedure empty_all();
begin
  for l: Lane do
    lane[l].units := 0;
    lane[l].first_free := 0;
    lane[l].second_free := 0;
    undefine lane[l].first_done;
    undefine lane[l].second_done;
  endfor;
  sent := 0;
  done := 0;
  clock := 0;
  state := Ready;
endprocedure;

startstate "empty"
begin
  empty_all();
endstartstate;

rule "begins"
  state = Ready
==>
begin
  state := Running;
endrule;

ruleset l: Lane do

  rule "a unit enters a lane"
    state = Running & sent < UnitCount & lane[l].units < 2
  ==>
  begin
    sent := sent + 1;
    alias b: lane[l] do
      b.units := b.units + 1;
      b.first_done := b.first_free + FirstTakes + l * FirstGrows;
      if b.units = 1 then
        move_on(l, later(b.first_done, b.second_free));
        undefine b.first_done;
      endif;
    endalias;
  endrule;

  rule "the merge takes a unit"
    state = Running & lane[l].units > 0
  ==>
  var
    start: Time;
  begin
    done := done + 1;
    alias b: lane[l] do
      start := later(b.second_done, clock);
      clock := start + MergeTakes + l * MergeGrows;
      b.second_free := start;
      b.units := b.units - 1;
      undefine b.second_done;
      if b.units = 1 then
        move_on(l, later(b.first_done, start));
        undefine b.first_done;
      endif;
    endalias;
  endrule;

endruleset;

rule "reports"
  state = Running & done = UnitCount
==>
begin
  state := Reported;
endrule;

rule "starts over"
  Repeat = 1 & state = Reported
==>
begin
  empty_all();
endrule;

invariant "units are neither lost nor made"
  done <= sent;

invariant "the merge works all the time or waits for a lane"
  clock >= done * MergeTakes;
