-- model: a command that returns out of a loop and changes one of an array of multisets
-- verdict: holds
-- states: 2
-- rules: 4
-- why: shrunk from a generated model: what puts the bags in order before the return takes the loop's register, and the verifier refuses the program
var bags: array [0 .. 1] of multiset [2] of 0 .. 2; clock: boolean;
startstate begin clear clock; clear bags; end;
rule begin for i: 0 .. 1 do return; end; multisetremovepred(slot: bags[0], true); end;
rule begin clock := !clock; end;
