-- model: a path with a way back from every place
-- verdict: violated
-- violation: deadlock
-- witness: 10
-- why: a shape: a search that leaves the path is led back to the start, step by step, along a separate branch
--
-- From each place of a path one may go on or turn back. Turning back takes as
-- many steps as the way there. Behind the last place is a deadlock, the goal. Searches
-- that visit no state twice cannot try again once they have turned back.
--
-- With --deadlock off there are 47 states, 56 rules fire, and rumur counts the
-- same. Engels, Groote, van Weerdenburg and Willemse use this shape.

const
  Length: 9;

type
  Place: 0..Length + 1;

var
  place:  Place;
  turned: Place;         -- where it turned back; 0 while it goes on

startstate "the start"
begin
  place := 0;
  turned := 0;
endstartstate;

rule "waits at the start"
  place = 0
==>
begin
  place := 0;
endrule;

rule "goes on"
  turned = 0 & place <= Length
==>
begin
  place := place + 1;
endrule;

rule "turns back"
  turned = 0 & place > 0 & place <= Length
==>
begin
  turned := place;
  place := place - 1;
  if place = 0 then
    turned := 0;
  endif;
endrule;

rule "goes back"
  turned > 0
==>
begin
  place := place - 1;
  if place = 0 then
    turned := 0;
  endif;
endrule;
