-- model: a function with a loop, called by an invariant inside a ruleset
-- verdict: holds
-- states: 2
-- rules: 2
-- why: shrunk from a generated model: the compiler kept the registers of the invariant's parameters while it emitted the callee
var clock: boolean;
function f(): boolean;
  var n: 0 .. 2;
begin
  n := 0;
  while n < 1 do n := n + 1; end;
  return false;
end;
startstate begin clear clock; end;
rule begin clock := !clock; end;
ruleset i: 0 .. 1; j: 0 .. 1 do
  invariant !f();
end;
