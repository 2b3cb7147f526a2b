-- Three token rings that know nothing of each other. A round of the first ring is counted, and the count runs over.
-- shortest: 200
const Rings: 3; Nodes: 10; Rounds: 20;
type Ring: 1..Rings; Node: 0..Nodes - 1;
var
  at: array [Ring] of Node;
  busy: array [Ring] of array [Node] of boolean;
  rounds: array [Ring] of 0..Rounds;
startstate begin
  for r: Ring do at[r] := 0; rounds[r] := 0; for n: Node do busy[r][n] := false; end; end;
end;
ruleset r: Ring; n: Node do
  rule "pass" at[r] = n & rounds[r] < Rounds ==> begin
    at[r] := (n + 1) % Nodes;
    if n = Nodes - 1 then rounds[r] := rounds[r] + 1; end;
  end;
  rule "start work" !busy[r][n] ==> begin busy[r][n] := true; end;
  rule "end work" busy[r][n] ==> begin busy[r][n] := false; end;
end;
invariant "bounded" rounds[1] < Rounds;
