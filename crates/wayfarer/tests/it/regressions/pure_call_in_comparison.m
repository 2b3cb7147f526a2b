-- model: records compared, one of them found by a function that changes nothing
-- verdict: holds
-- states: 2
-- rules: 2
-- why: shrunk from a generated model: the call is refused as if the function changed the state, which it does not
var cells: array [0 .. 2] of record a: 0 .. 1; end; clock: boolean;
function h(): 0 .. 2; begin return 1; end;
startstate begin clear clock; clear cells; end;
rule cells[0] != cells[h()] ==> begin clear cells; end;
rule begin clock := !clock; end;
