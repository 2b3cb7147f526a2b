-- model: a lock-free stack and the ABA problem
-- verdict: violated
-- violation: invariant "the top of the stack belongs to the stack"
-- witness: 11
-- why: a long witness in a pointer structure: compare and swap finds the same node on top again and does not notice that the stack below it has changed
--
-- Treiber's stack with nodes that are reused at once. The mistake is
-- that a popped node may be pushed again while another thread still remembers
-- it as the top.

const
  ThreadCount: 2;
  NodeCount:   3;

type
  Thread: 1..ThreadCount;
  -- Pointers are numbers and 0 is null, as in the language C.
  Node:    1..NodeCount;
  Pointer: 0..NodeCount;
  Owner:   0..ThreadCount;          -- 0: the node belongs to the stack
  Place:   enum { Idle, ReadBelow, SwapOut, SwapIn };

var
  top:   Pointer;
  below: array[Node] of Pointer;
  owner: array[Node] of Owner;      -- a ghost: who popped the node

  -- what a thread remembers between its steps
  place:   array[Thread] of Place;
  old_top: array[Thread] of Pointer;
  next:    array[Thread] of Pointer;   -- below the old top, or the node to push

procedure forget(t: Thread);
begin
  place[t] := Idle;
  old_top[t] := 0;
  next[t] := 0;
endprocedure;

-- A compare and swap of the top of the stack.
procedure swap_top(expected: Pointer; desired: Pointer; var succeeded: boolean);
begin
  succeeded := (top = expected);
  if succeeded then
    top := desired;
  endif;
endprocedure;

startstate "all nodes on the stack"
begin
  top := NodeCount;
  for n: Node do
    below[n] := n - 1;
    owner[n] := 0;
  endfor;
  for t: Thread do
    forget(t);
  endfor;
endstartstate;

ruleset t: Thread do

  rule "pop: reads the top"
    place[t] = Idle & top != 0
  ==>
  begin
    old_top[t] := top;
    place[t] := ReadBelow;
  endrule;

  rule "pop: reads what lies below"
    place[t] = ReadBelow
  ==>
  begin
    next[t] := below[old_top[t]];
    place[t] := SwapOut;
  endrule;

  rule "pop: swaps"
    place[t] = SwapOut
  ==>
  var
    succeeded: boolean;
  begin
    swap_top(old_top[t], next[t], succeeded);
    if succeeded then
      owner[old_top[t]] := t;
    endif;
    forget(t);
  endrule;

  ruleset n: Node do
    rule "push: reads the top"
      place[t] = Idle & owner[n] = t
    ==>
    begin
      old_top[t] := top;
      below[n] := top;
      next[t] := n;
      place[t] := SwapIn;
    endrule;
  endruleset;

  rule "push: swaps"
    place[t] = SwapIn
  ==>
  var
    succeeded: boolean;
  begin
    swap_top(old_top[t], next[t], succeeded);
    if succeeded then
      owner[next[t]] := 0;
    endif;
    forget(t);
  endrule;

endruleset;

invariant "the top of the stack belongs to the stack"
  top != 0 -> owner[top] = 0;
