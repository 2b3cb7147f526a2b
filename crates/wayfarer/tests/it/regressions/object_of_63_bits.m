-- model: a record that takes 63 bits
-- verdict: holds
-- states: 4
-- rules: 8
-- why: shrunk from a generated model: the mask of 63 bits overflowed where the compiler makes it
var r: record a: -2305843009213693952 .. 2305843009213693951; end; clock: boolean;
startstate begin clear clock; clear r; end;
rule begin r.a := -1 - r.a; end;
rule begin clock := !clock; end;
