-- model: quicksort with a list of open segments, checked against another sort
-- verdict: holds
-- states: 5408
-- rules: 5612
-- why: an algorithm rather than a protocol: for with by, while loops, nested loops over arrays, startstates in nested rulesets, and a non-deterministic order of work
--
-- The segments may be sorted in any order, as if by several workers. When none
-- is left, the array must equal the result of odd-even transposition.

const
  Length:   5;
  Greatest: 3;

type
  Index:  0..Length - 1;
  Item:   0..Greatest;
  Items:  array[Index] of Item;
  -- An open segment starts at its index and reaches up to `last`.
  Segment: record open: boolean; last: Index; endrecord;

var
  input:   Items;
  output:  Items;
  segment: array[Index] of Segment;
  done:    boolean;

procedure swap(var x: Item; var y: Item);
var
  keep: Item;
begin
  keep := x;
  x := y;
  y := keep;
endprocedure;

-- Puts the last item into its final place, which is the border between the
-- smaller items and the others.
procedure partition(var items: Items; low: Index; high: Index; var border: Index);
var
  scan: Index;
begin
  border := low;
  scan := low;
  while scan < high do
    if items[scan] < items[high] then
      swap(items[scan], items[border]);
      border := border + 1;
    endif;
    scan := scan + 1;
  endwhile;
  swap(items[border], items[high]);
endprocedure;

-- Slow but obviously right: compares neighbours at even and at odd places
-- alternately, as many times as there are items.
procedure transpose(var items: Items);
begin
  for round: Index do
    for i := 0 to Length - 2 by 2 do
      if items[i] > items[i + 1] then
        swap(items[i], items[i + 1]);
      endif;
    endfor;
    for i := 1 to Length - 2 by 2 do
      if items[i] > items[i + 1] then
        swap(items[i], items[i + 1]);
      endif;
    endfor;
  endfor;
endprocedure;

procedure open_segment(first: Index; last: Index);
begin
  segment[first].open := true;
  segment[first].last := last;
endprocedure;

procedure close_segment(first: Index);
begin
  segment[first].open := false;
  undefine segment[first].last;
endprocedure;

procedure prepare();
begin
  output := input;
  for i: Index do
    close_segment(i);
  endfor;
  open_segment(0, Length - 1);
  done := false;
endprocedure;

ruleset a: Item; b: Item; c: Item do
  ruleset d: Item; e: Item do
    startstate "an array"
    begin
      input[0] := a;
      input[1] := b;
      input[2] := c;
      input[3] := d;
      input[4] := e;
      prepare();
    endstartstate;
  endruleset;
endruleset;

ruleset first: Index do
  rule "sorts one segment"
    segment[first].open
  ==>
  var
    last: Index;
    middle: Index;
  begin
    last := segment[first].last;
    close_segment(first);
    partition(output, first, last, middle);
    if first + 1 < middle then
      open_segment(first, middle - 1);
    endif;
    if middle + 1 < last then
      open_segment(middle + 1, last);
    endif;
  endrule;
endruleset;

rule "compares with the slow sort"
  !done & forall i: Index do !segment[i].open endforall
==>
var
  reference: Items;
begin
  reference := input;
  transpose(reference);
  for i: Index do
    assert output[i] = reference[i] "quicksort sorts";
  endfor;
  done := true;
endrule;

rule "starts over"
  done
==>
begin
  prepare();
endrule;

invariant "a finished array ascends"
  done -> forall i: Index do
    i = Length - 1 | output[i] <= output[i + 1]
  endforall;
