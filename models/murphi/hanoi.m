-- model: the towers of Hanoi
-- verdict: violated
-- violation: invariant "the tower has not moved"
-- witness: 127
-- why: a long shortest witness in a small space: 2^n - 1 moves among 3^n states, so breadth-first search is told from any other
--
-- A disk moves from the top of one peg to another that has no smaller disk. As
-- in river.m, the counterexample is the solution.

const
  DiskCount: 7;

type
  Disk: 1..DiskCount;      -- by size
  Peg:  enum { Left, Middle, Right };

var
  peg: array[Disk] of Peg;

-- No smaller disk lies on the same peg.
function on_top(d: Disk; where: Peg): boolean;
begin
  return forall smaller: Disk do
    smaller >= d | peg[smaller] != where
  endforall;
endfunction;

startstate "all on the left"
begin
  for d: Disk do
    peg[d] := Left;
  endfor;
endstartstate;

ruleset d: Disk; target: Peg do
  rule "moves a disk"
    peg[d] != target & on_top(d, peg[d]) & on_top(d, target)
  ==>
  begin
    peg[d] := target;
  endrule;
endruleset;

invariant "the tower has not moved"
  exists d: Disk do peg[d] != Right endexists;
