-- model: the ticket lock
-- verdict: holds
-- states: 3255
-- rules: 6475
-- orbits: 55
-- why: counters that wrap around by the remainder operator, and fairness (first come, first served) stated as an invariant
--
-- Two counters make a fair lock: one hands out tickets, the other calls them up.
-- Both wrap around, which is safe as long as tickets do not run out.

const
  ProcessCount: 5;

type
  Process: scalarset(ProcessCount);
  -- As many tickets as processes: fewer, and two could hold the same one.
  Ticket: 0..ProcessCount - 1;
  Place: enum { Outside, Queued, Critical };

var
  place:       array[Process] of Place;
  mine:        array[Process] of Ticket;   -- undefined while outside
  next_ticket: Ticket;
  now_serving: Ticket;

function after(t: Ticket): Ticket;
begin
  return (t + 1) % ProcessCount;
endfunction;

-- How many tickets lie between the one served now and this one.
function distance(t: Ticket): Ticket;
begin
  return (t + ProcessCount - now_serving) % ProcessCount;
endfunction;

startstate "the lock is free"
begin
  for p: Process do
    place[p] := Outside;
    undefine mine[p];
  endfor;
  next_ticket := 0;
  now_serving := 0;
endstartstate;

ruleset p: Process do

  rule "draws a ticket"
    place[p] = Outside
  ==>
  begin
    mine[p] := next_ticket;
    next_ticket := after(next_ticket);
    place[p] := Queued;
  endrule;

  rule "is called"
    place[p] = Queued & mine[p] = now_serving
  ==>
  begin
    place[p] := Critical;
  endrule;

  rule "calls the next"
    place[p] = Critical
  ==>
  begin
    now_serving := after(now_serving);
    undefine mine[p];
    place[p] := Outside;
  endrule;

endruleset;

invariant "mutual exclusion"
  forall p: Process do forall q: Process do
    p != q -> !(place[p] = Critical & place[q] = Critical)
  endforall endforall;

invariant "no ticket is held twice"
  forall p: Process do forall q: Process do
    (p != q & place[p] != Outside & place[q] != Outside) -> mine[p] != mine[q]
  endforall endforall;

invariant "whoever is inside came first"
  forall p: Process do forall q: Process do
    (p != q & place[p] = Critical & place[q] = Queued)
      -> distance(mine[p]) < distance(mine[q])
  endforall endforall;
