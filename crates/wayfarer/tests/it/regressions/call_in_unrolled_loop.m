-- model: a function with a loop, called inside a quantifier inside rulesets
-- verdict: holds
-- states: 2
-- rules: 2
-- why: shrunk from a generated model: the compiler kept the loop's register of the caller while it emitted the callee
var x: 0 .. 2; clock: boolean;
function f(): boolean;
begin
  for i := 0 to x do end;
  return false;
end;
startstate begin clear clock; clear x; end;
ruleset i: 0 .. 2; j: 0 .. 2 do
  rule forall k: 0 .. 2 do f() end ==> begin end;
end;
rule begin clock := !clock; end;
