-- A pipeline of four stages and beside it a second one. An item passes every stage; the first pipeline's ledger overflows.
-- shortest: 216
const Lines: 2; Stages: 5; Items: 36;
type Line: 1..Lines; Stage: 1..Stages;
var
  full: array [Line] of array [Stage] of boolean;
  ledger: array [Line] of 0..Items;
startstate begin
  for l: Line do ledger[l] := 0; for s: Stage do full[l][s] := false; end; end;
end;
ruleset l: Line do
  rule "feed" !full[l][1] & ledger[l] < Items ==> begin full[l][1] := true; end;
  ruleset s: Stage do
    rule "on" s < Stages & full[l][s] & !full[l][s + 1] ==> begin full[l][s] := false; full[l][s + 1] := true; end;
    rule "back" s > 1 & full[l][s] & !full[l][s - 1] ==> begin full[l][s] := false; full[l][s - 1] := true; end;
    rule "spill" full[l][s] ==> begin full[l][s] := false; end;
  end;
  rule "book" full[l][Stages] ==> begin
    assert "the ledger has room" l = 2 | ledger[l] < Items - 1;
    full[l][Stages] := false;
    if ledger[l] < Items then ledger[l] := ledger[l] + 1; end;
  end;
end;
