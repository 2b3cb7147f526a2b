-- model: quicksort by workers that run side by side
-- verdict: holds
-- states: 5946
-- rules: 6849
-- with: Length=5 ValueCount=5 Remember=1 states=1670 rules=1885
-- with: Length=7 ValueCount=7 states=42779 rules=49283
-- why: a wide fan of inputs that narrows to few outcomes, with one small step for each comparison
--
-- Items arrive one by one, in any order. Then a worker compares the items of
-- its segment with the last of them, one in each step, and swaps the smaller
-- ones to the front; it leaves what lies on either side of the pivot to two
-- more workers, who run side by side. sort.m partitions in one step instead.
--
-- Sizes; rumur counts the same where a line ends with r:
--
--   Length  ValueCount  Distinct  Remember      states      fired  depth
--     6         6          1         0           5,946      6,849     20  r
--     5         5          1         1           1,670      1,885     19  r
--     6         6          1         1          14,285     17,276     26
--     7         7          1         0          42,779     49,283     24
--     6         6          0         0         336,718    396,085     26
--     8         8          1         0         347,595    398,629     28
--     7         7          0         0       6,069,198  7,160,744     34
--
-- Abed, Tripakis and Vincent report 6,032 states and a longest acyclic path of
-- 19 for their model. The default has 1.4 % fewer.
--
-- `finished()` is a goal to look for: 17 steps.

const
  Length:     6;
  ValueCount: 6;       -- items are 0 .. ValueCount - 1
  Distinct:   1;       -- 0: items may be equal
  Remember:   0;       -- 1: the input is kept, so that orders of arrival stay apart
  Repeat:     1;       -- 0: a sorted array is the end, which is a deadlock

type
  Index: 0..Length - 1;
  Item:  0..ValueCount - 1;
  -- A worker is known by the first index of its segment. What lies below
  -- `border` is smaller than the pivot; what lies from there to `scan` is not.
  Segment: record open: boolean; last: Index; scan: Index; border: Index; endrecord;

var
  filled:  0..Length;
  input:   array[Index] of Item;
  items:   array[Index] of Item;
  segment: array[Index] of Segment;

procedure swap(i: Index; j: Index);
var
  keep: Item;
begin
  keep := items[i];
  items[i] := items[j];
  items[j] := keep;
endprocedure;

procedure open_segment(first: Index; last: Index);
begin
  segment[first].open := true;
  segment[first].last := last;
  segment[first].scan := first;
  segment[first].border := first;
endprocedure;

procedure close_segment(first: Index);
begin
  undefine segment[first];
  segment[first].open := false;
endprocedure;

function finished(): boolean;
begin
  return filled = Length & forall i: Index do !segment[i].open endforall;
endfunction;

procedure prepare();
begin
  filled := 0;
  undefine input;
  undefine items;
  for i: Index do
    close_segment(i);
  endfor;
endprocedure;

startstate "no items yet"
begin
  prepare();
endstartstate;

ruleset v: Item do
  rule "the next item arrives"
    filled < Length & (Distinct = 0 | forall i: Index do i < filled -> items[i] != v endforall)
  ==>
  begin
    items[filled] := v;
    if Remember = 1 then
      input[filled] := v;
    endif;
    filled := filled + 1;
    if filled = Length then
      open_segment(0, Length - 1);
    endif;
  endrule;
endruleset;

ruleset first: Index do

  rule "compares one item with the pivot"
    segment[first].open & segment[first].scan < segment[first].last
  ==>
  begin
    alias s: segment[first] do
      if items[s.scan] < items[s.last] then
        swap(s.scan, s.border);
        s.border := s.border + 1;
      endif;
      s.scan := s.scan + 1;
    endalias;
  endrule;

  -- The pivot goes to its final place. A segment of one item needs no worker.
  rule "splits its segment"
    segment[first].open & segment[first].scan = segment[first].last
  ==>
  var
    middle: Index;
    last: Index;
  begin
    middle := segment[first].border;
    last := segment[first].last;
    swap(middle, last);
    close_segment(first);
    if first + 1 < middle then
      open_segment(first, middle - 1);
    endif;
    if middle + 1 < last then
      open_segment(middle + 1, last);
    endif;
  endrule;

endruleset;

rule "starts over"
  Repeat = 1 & finished()
==>
begin
  prepare();
endrule;

invariant "a finished array ascends"
  finished() -> forall i: Index do i = Length - 1 | items[i] <= items[i + 1] endforall;

invariant "no item is lost"
  filled = Length & Distinct = 1 ->
    forall i: Index do forall j: Index do i != j -> items[i] != items[j] endforall endforall;

invariant "segments do not overlap"
  forall i: Index do forall j: Index do
    segment[i].open & segment[j].open & i < j -> segment[i].last < j
  endforall endforall;
