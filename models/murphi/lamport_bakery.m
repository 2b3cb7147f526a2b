-- model: Lamport's bakery lock with bounded tickets
-- verdict: holds
-- states: 29171
-- rules: 74669
-- why: a lock whose reads are scattered over many steps; processes are ordered numbers because ties are broken by name; a bound keeps the tickets finite
--
-- A process that wants to be served draws a ticket greater than all it sees, and
-- waits for everybody with a smaller one. No write is assumed to be atomic with
-- a read, so two may draw the same ticket.

const
  ProcessCount:  3;
  HighestTicket: 4;

type
  Process: 1..ProcessCount;
  Ticket:  0..HighestTicket;              -- 0: not competing
  Place: enum { Outside, Scan, Draw, AwaitDoor, AwaitTicket, Critical };
  Cursor:  1..ProcessCount + 1;           -- one past the end: scan finished

var
  place:    array[Process] of Place;
  choosing: array[Process] of boolean;
  ticket:   array[Process] of Ticket;
  highest:  array[Process] of Ticket;     -- the largest ticket seen in this scan
  cursor:   array[Process] of Cursor;

-- Tickets may collide, since drawing one is not atomic; then the smaller name
-- goes first.
function precedes(q: Process; p: Process): boolean;
begin
  return ticket[q] < ticket[p] | (ticket[q] = ticket[p] & q < p);
endfunction;

procedure rewind(var c: Cursor);
begin
  c := 1;
endprocedure;

startstate "the shop is empty"
begin
  for p: Process do
    place[p] := Outside;
    choosing[p] := false;
    ticket[p] := 0;
    highest[p] := 0;
    rewind(cursor[p]);
  endfor;
endstartstate;

ruleset p: Process do

  rule "comes in"
    place[p] = Outside
  ==>
  begin
    choosing[p] := true;
    highest[p] := 0;
    rewind(cursor[p]);
    place[p] := Scan;
  endrule;

  rule "reads one ticket"
    place[p] = Scan & cursor[p] <= ProcessCount
  ==>
  begin
    if ticket[cursor[p]] > highest[p] then
      highest[p] := ticket[cursor[p]];
    endif;
    cursor[p] := cursor[p] + 1;
  endrule;

  -- The bound: with the tickets used up, the newcomer steps out again and
  -- scans later. It never holds anybody up in between.
  rule "finds no ticket left"
    place[p] = Scan & cursor[p] > ProcessCount & highest[p] = HighestTicket
  ==>
  begin
    choosing[p] := false;
    highest[p] := 0;
    rewind(cursor[p]);
    place[p] := Outside;
  endrule;

  rule "draws a ticket"
    place[p] = Scan & cursor[p] > ProcessCount & highest[p] < HighestTicket
  ==>
  begin
    ticket[p] := highest[p] + 1;
    highest[p] := 0;
    place[p] := Draw;
  endrule;

  rule "closes the door"
    place[p] = Draw
  ==>
  begin
    choosing[p] := false;
    rewind(cursor[p]);
    place[p] := AwaitDoor;
  endrule;

  rule "sees that another has chosen"
    place[p] = AwaitDoor & cursor[p] <= ProcessCount & !choosing[cursor[p]]
  ==>
  begin
    place[p] := AwaitTicket;
  endrule;

  rule "sees that another is not ahead"
    place[p] = AwaitTicket
    & (ticket[cursor[p]] = 0 | !precedes(cursor[p], p))
  ==>
  begin
    cursor[p] := cursor[p] + 1;
    place[p] := AwaitDoor;
  endrule;

  rule "is served"
    place[p] = AwaitDoor & cursor[p] > ProcessCount
  ==>
  begin
    rewind(cursor[p]);
    place[p] := Critical;
  endrule;

  rule "goes home"
    place[p] = Critical
  ==>
  begin
    ticket[p] := 0;
    place[p] := Outside;
  endrule;

endruleset;

invariant "mutual exclusion"
  forall p: Process do forall q: Process do
    p != q -> !(place[p] = Critical & place[q] = Critical)
  endforall endforall;

invariant "nobody who has chosen is ahead of the one served"
  forall p: Process do forall q: Process do
    (place[p] = Critical & p != q & place[q] = AwaitTicket) -> precedes(p, q)
  endforall endforall;
