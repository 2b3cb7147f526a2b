-- Two philosophers' tables without a common guest. Tables close when each has served enough meals; then nothing moves.
-- shortest: 126
const Tables: 2; Seats: 3; Meals: 21;
type Table: 1..Tables; Seat: 0..Seats - 1;
var
  fork: array [Table] of array [Seat] of boolean;
  left: array [Table] of array [Seat] of boolean;
  right: array [Table] of array [Seat] of boolean;
  meals: array [Table] of 0..Meals;
startstate begin
  for t: Table do
    meals[t] := 0;
    for s: Seat do fork[t][s] := true; left[t][s] := false; right[t][s] := false; end;
  end;
end;
ruleset t: Table; s: Seat do
  rule "left" fork[t][s] & !left[t][s] & meals[t] < Meals ==> begin fork[t][s] := false; left[t][s] := true; end;
  rule "put back" left[t][s] & !right[t][s] ==> begin fork[t][s] := true; left[t][s] := false; end;
  rule "right" left[t][s] & fork[t][(s + 1) % Seats] & !right[t][s] ==> begin fork[t][(s + 1) % Seats] := false; right[t][s] := true; end;
  rule "eat" left[t][s] & right[t][s] & meals[t] < Meals ==> begin
    meals[t] := meals[t] + 1;
    fork[t][s] := true; fork[t][(s + 1) % Seats] := true; left[t][s] := false; right[t][s] := false;
  end;
end;
