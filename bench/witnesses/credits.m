-- Two lanes of a credit protocol. A lane's counter of delivered messages is too small by one.
-- shortest: 131
const Lanes: 2; Credits: 3; Last: 32;
type Lane: 1..Lanes;
var
  credit: array [Lane] of 0..Credits;
  sent: array [Lane] of 0..Credits;
  kept: array [Lane] of 0..Credits;
  owed: array [Lane] of 0..Credits;
  count: array [Lane] of 0..Last + 1;
startstate begin
  for l: Lane do credit[l] := Credits; sent[l] := 0; kept[l] := 0; owed[l] := 0; count[l] := 0; end;
end;
ruleset l: Lane do
  rule "send" credit[l] > 0 ==> begin credit[l] := credit[l] - 1; sent[l] := sent[l] + 1; end;
  rule "receive" sent[l] > 0 ==> begin sent[l] := sent[l] - 1; kept[l] := kept[l] + 1; end;
  rule "lose" sent[l] > 0 ==> begin sent[l] := sent[l] - 1; owed[l] := owed[l] + 1; end;
  rule "consume" kept[l] > 0 & count[l] <= Last & owed[l] = 0 ==> begin kept[l] := kept[l] - 1; owed[l] := owed[l] + 1; count[l] := count[l] + 1; end;
  rule "return" owed[l] > 0 ==> begin owed[l] := owed[l] - 1; credit[l] := credit[l] + 1; end;
end;
invariant "counted" forall l: Lane do count[l] <= Last end;
