-- model: two trains on a single track
-- verdict: violated
-- violation: error "the trains have met"
-- witness: 6
-- why: the error statement, reached inside a procedure and behind a condition that no invariant expresses; put shows what led there
--
-- Two trains enter a single track from either end. Nobody keeps them apart, so
-- they meet after as many steps as the track has sections.

const
  TrackLength: 6;

type
  Position: 0..TrackLength;

var
  eastbound: Position;
  westbound: Position;

procedure look_out();
begin
  if eastbound = westbound then
    put "both trains are at ";
    put eastbound;
    put "\n";
    error "the trains have met";
  endif;
endprocedure;

startstate "at either end"
begin
  eastbound := 0;
  westbound := TrackLength;
endstartstate;

rule "the eastbound train moves on"
  eastbound < TrackLength
==>
begin
  eastbound := eastbound + 1;
  look_out();
endrule;

rule "the westbound train moves on"
  westbound > 0
==>
begin
  westbound := westbound - 1;
  look_out();
endrule;

-- The signals are obeyed at the ends only, which is not enough.
rule "the eastbound train backs out"
  eastbound = 1
==>
begin
  eastbound := 0;
endrule;
