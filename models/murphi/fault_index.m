-- model: a stack that overflows
-- verdict: violated
-- violation: fault index
-- witness: 5
-- why: a fault example: an array is indexed past its end, by a variable whose own range is wider than the array
--
-- The push is guarded by the range of the depth instead of the size of the
-- stack. Popping works, so the overflow needs an unbroken row of pushes.

const
  StackSize: 4;

type
  Slot:  0..StackSize - 1;
  Depth: 0..StackSize + 1;
  Value: 0..1;

var
  stack: array[Slot] of Value;
  depth: Depth;

startstate "an empty stack"
begin
  depth := 0;
  undefine stack;
endstartstate;

-- The mistake: this should be `depth < StackSize`.
ruleset v: Value do
  rule "push"
    depth <= StackSize
  ==>
  begin
    stack[depth] := v;
    depth := depth + 1;
  endrule;
endruleset;

rule "pop"
  depth > 0
==>
begin
  depth := depth - 1;
  undefine stack[depth];
endrule;
