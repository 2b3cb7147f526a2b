-- Two lifts with calls of their own. The first lift wears out after so many full journeys.
-- shortest: 160
const Lifts: 2; Floors: 11; Wear: 40;
type Lift: 1..Lifts; Floor: 0..Floors - 1;
var
  at: array [Lift] of Floor;
  target: array [Lift] of 0..2;
  calls: array [Lift] of array [0..3] of boolean;
  journeys: array [Lift] of 0..Wear;
startstate begin
  for l: Lift do at[l] := 0; target[l] := 1; journeys[l] := 0; for c: 0..3 do calls[l][c] := false; end; end;
end;
ruleset l: Lift do
  ruleset c: 0..3 do
    rule "call" !calls[l][c] ==> begin calls[l][c] := true; end;
    rule "answer" calls[l][c] & at[l] = c * 3 ==> begin calls[l][c] := false; end;
  end;
  rule "up" target[l] = 1 & at[l] < Floors - 1 & journeys[l] < Wear ==> begin at[l] := at[l] + 1; end;
  rule "down" target[l] = 2 & at[l] > 0 & journeys[l] < Wear ==> begin at[l] := at[l] - 1; end;
  rule "turn" at[l] > 0 & target[l] = 1 ==> begin target[l] := 2; if at[l] = Floors - 1 then journeys[l] := journeys[l] + 1; end; end;
  rule "turn" at[l] = 0 & target[l] = 2 ==> begin target[l] := 1; journeys[l] := journeys[l] + 1; end;
end;
invariant "not worn" journeys[1] < Wear;
