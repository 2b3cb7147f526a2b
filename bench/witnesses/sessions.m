-- Sessions of three clients on one server, symmetric. Each client's session counts its requests; one count runs over.
-- shortest: 161
const Clients: 3; Requests: 40;
type Client: scalarset(Clients); State: enum { away, knocking, inside, waiting, served };
var
  state: array [Client] of State;
  count: array [Client] of 0..Requests + 1;
startstate begin
  for c: Client do state[c] := away; count[c] := 0; end;
end;
ruleset c: Client do
  rule "knock" state[c] = away ==> begin state[c] := knocking; end;
  rule "give up" state[c] = knocking ==> begin state[c] := away; end;
  rule "enter" state[c] = knocking ==> begin state[c] := inside; end;
  rule "ask" state[c] = inside & count[c] <= Requests ==> begin state[c] := waiting; end;
  rule "answer" state[c] = waiting ==> begin state[c] := served; end;
  rule "forget" state[c] = waiting ==> begin state[c] := inside; end;
  rule "read" state[c] = served ==> begin count[c] := count[c] + 1; state[c] := knocking; end;
  rule "leave" state[c] = inside ==> begin state[c] := away; end;
end;
invariant "few requests" forall c: Client do count[c] < Requests end;
