-- model: strongly connected components side by side
-- verdict: holds
-- states: 31
-- rules: 115
-- why: a shape: the first step decides for one component, which holds a random search for good
--
-- The start leads into each component; within one, every place leads to every
-- other; the last place has an exit. rumur counts the same. Engels, Groote, van
-- Weerdenburg and Willemse use this shape with five components of five places
-- and ask how many exits a search finds.
--
-- `outside & component = n` is a goal to look for: 3 steps.

const
  ComponentCount: 5;
  PlaceCount:     5;
  Repeat:         1;       -- 0: an exit is a deadlock

type
  Component: 1..ComponentCount;
  Place:     1..PlaceCount;

var
  component: Component;    -- undefined at the start
  place:     Place;
  outside:   boolean;

procedure start_over();
begin
  undefine component;
  undefine place;
  outside := false;
endprocedure;

startstate "the start"
begin
  start_over();
endstartstate;

ruleset c: Component do
  rule "enters"
    isundefined(component)
  ==>
  begin
    component := c;
    place := 1;
  endrule;
endruleset;

ruleset p: Place do
  rule "moves"
    !isundefined(place) & p != place
  ==>
  begin
    place := p;
  endrule;
endruleset;

rule "leaves"
  !isundefined(place) & place = PlaceCount
==>
begin
  undefine place;
  outside := true;
endrule;

rule "starts over"
  Repeat = 1 & outside
==>
begin
  start_over();
endrule;

cover "the last exit"
  outside & component = ComponentCount;
