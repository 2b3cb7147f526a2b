-- model: a counter that leaves its range
-- verdict: violated
-- violation: fault range
-- witness: 3
-- why: a fault example: the value assigned does not belong to the variable's type, only after a mix of two rules that no single one of them reaches
--
-- A tank is filled by buckets and barrels. Nothing but the type of the variable
-- says how much it holds, and that is what the mistaken guard runs into.

const
  Capacity: 7;

var
  level: 0..Capacity;

startstate "an empty tank"
begin
  level := 0;
endstartstate;

rule "a bucket"
  level + 2 <= Capacity
==>
begin
  level := level + 2;
endrule;

-- The guard is wrong: it leaves room for two units, not for three.
rule "a barrel"
  level >= 2 & level + 2 <= Capacity
==>
begin
  level := level + 3;
endrule;

rule "a leak"
  level > 0
==>
begin
  level := level - 1;
endrule;

invariant "the tank does not overflow"
  level <= Capacity;
