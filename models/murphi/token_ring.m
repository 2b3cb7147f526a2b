-- model: Dijkstra's self-stabilising token ring
-- verdict: holds
-- states: 3125
-- rules: 10625
-- why: every state is a start state, given by startstates in nested rulesets; closure is asserted inside a rule, with a count kept by a function
--
-- Each machine compares its counter with its left neighbour's. The token is
-- where they say "move". However the counters are disturbed, the ring comes
-- back to a single token, and from then on keeps it.

const
  MachineCount: 5;
  CounterCount: 5;      -- at least as many values as machines

type
  Machine: 0..MachineCount - 1;
  Counter: 0..CounterCount - 1;
  Amount:  0..MachineCount;

var
  counter: array[Machine] of Counter;

function left(m: Machine): Machine;
begin
  return (m + MachineCount - 1) % MachineCount;
endfunction;

-- The bottom machine follows a rule of its own; that breaks the symmetry.
function privileged(m: Machine): boolean;
begin
  if m = 0 then
    return counter[m] = counter[left(m)];
  else
    return counter[m] != counter[left(m)];
  endif;
endfunction;

function tokens(): Amount;
var
  found: Amount;
begin
  found := 0;
  for m: Machine do
    if privileged(m) then
      found := found + 1;
    endif;
  endfor;
  return found;
endfunction;

-- One parameter per machine, so a change of MachineCount changes this list too.
ruleset a: Counter; b: Counter do
  ruleset c: Counter; d: Counter; e: Counter do
    startstate "disturbed"
    begin
      counter[0] := a;
      counter[1] := b;
      counter[2] := c;
      counter[3] := d;
      counter[4] := e;
    endstartstate;
  endruleset;
endruleset;

ruleset m: Machine do
  rule "moves"
    privileged(m)
  ==>
  var
    before: Amount;
  begin
    before := tokens();
    if m = 0 then
      counter[m] := (counter[m] + 1) % CounterCount;
    else
      counter[m] := counter[left(m)];
    endif;
    assert tokens() <= before "a move never makes a token";
  endrule;
endruleset;

invariant "the token is never lost"
  tokens() >= 1;
