-- Four stations share a bus. Station 1 numbers its transfers, and the numbers run out.
-- shortest: 125
const Stations: 4; Transfers: 25;
type Station: 1..Stations; Phase: enum { idle, asking, granted, sending, done };
var
  phase: array [Station] of Phase;
  taken: boolean;
  holder: Station;
  number: array [Station] of 0..Transfers;
startstate begin
  for s: Station do phase[s] := idle; number[s] := 0; end;
  taken := false; holder := 1;
end;
ruleset s: Station do
  rule "ask" phase[s] = idle & number[s] < Transfers ==> begin phase[s] := asking; end;
  rule "withdraw" phase[s] = asking ==> begin phase[s] := idle; end;
  rule "grant" phase[s] = asking & !taken ==> begin taken := true; holder := s; phase[s] := granted; end;
  rule "send" phase[s] = granted ==> begin phase[s] := sending; end;
  rule "fail" phase[s] = sending ==> begin phase[s] := granted; end;
  rule "finish" phase[s] = sending ==> begin phase[s] := done; end;
  rule "release" phase[s] = done & holder = s ==> begin
    taken := false; phase[s] := idle;
    assert "a number is left" !(s = 1 & number[s] = Transfers - 1);
    number[s] := number[s] + 1;
  end;
end;
