-- model: a diamond
-- verdict: holds
-- states: 100
-- rules: 181
-- why: a shape: two counters that grow side by side, so that few paths lead to the outer ends of the widest level
--
-- Size + 1 states lie on the widest level, Size steps from the start. A random
-- path comes through the one with `right = n` in the share binomial(Size, n) /
-- 2^Size of all cases. rumur counts the same. Engels, Groote, van Weerdenburg
-- and Willemse use this shape with Size = 9.
--
-- `left + right = Size & right = n` is a goal to look for: Size steps.

const
  Size:   9;
  Repeat: 1;           -- 0: the last state is a deadlock

type
  Count: 0..Size;

var
  left:  Count;
  right: Count;

startstate "the start"
begin
  left := 0;
  right := 0;
endstartstate;

rule "left"
  left < Size
==>
begin
  left := left + 1;
endrule;

rule "right"
  right < Size
==>
begin
  right := right + 1;
endrule;

rule "starts over"
  Repeat = 1 & left = Size & right = Size
==>
begin
  left := 0;
  right := 0;
endrule;

cover "the far end of the widest level"
  left = 0 & right = Size;
