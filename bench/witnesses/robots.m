-- Robots in halls of their own. Each carries parcels from one corner to the opposite one; the first one's shelf takes one too few.
-- shortest: 120
const Robots: 3; Side: 3; Parcels: 8;
type Robot: 1..Robots; Place: 0..Side;
var
  x: array [Robot] of Place;
  y: array [Robot] of Place;
  loaded: array [Robot] of boolean;
  shelf: array [Robot] of 0..Parcels + 1;
startstate begin
  for r: Robot do x[r] := 0; y[r] := 0; loaded[r] := false; shelf[r] := 0; end;
end;
ruleset r: Robot do
  rule "east" x[r] < Side ==> begin x[r] := x[r] + 1; end;
  rule "west" x[r] > 0 ==> begin x[r] := x[r] - 1; end;
  rule "north" y[r] < Side ==> begin y[r] := y[r] + 1; end;
  rule "south" y[r] > 0 ==> begin y[r] := y[r] - 1; end;
  rule "load" x[r] = 0 & y[r] = 0 & !loaded[r] & shelf[r] <= Parcels ==> begin loaded[r] := true; end;
  rule "unload" x[r] = Side & y[r] = Side & loaded[r] ==> begin loaded[r] := false; shelf[r] := shelf[r] + 1; end;
end;
invariant "room" shelf[1] < Parcels + 1;
