-- model: readers and writers with two semaphores
-- verdict: holds
-- states: 2000
-- rules: 2897
-- orbits: 42
-- why: two scalarsets of different size side by side, and a counter checked against the quantified truth it stands for
--
-- The first solution of Courtois, Heymans and Parnas: the first reader locks
-- the writers out and the last one lets them in again. Writers may starve.

const
  ReaderCount: 7;
  WriterCount: 3;

type
  Reader: scalarset(ReaderCount);
  Writer: scalarset(WriterCount);
  ReaderPlace: enum { Away, Counting, Locking, Entering, Reading, Uncounting, Unlocking, Parting };
  WriterPlace: enum { Resting, Writing };

var
  reader: array[Reader] of ReaderPlace;
  writer: array[Writer] of WriterPlace;
  counter_free:  boolean;            -- semaphore that guards the counter
  resource_free: boolean;            -- semaphore that guards the resource
  readers_in:    0..ReaderCount;

procedure acquire(var semaphore: boolean);
begin
  assert semaphore "a semaphore is taken only when free";
  semaphore := false;
endprocedure;

procedure release(var semaphore: boolean);
begin
  assert !semaphore "a semaphore is given back only when taken";
  semaphore := true;
endprocedure;

startstate "the room is empty"
begin
  for r: Reader do reader[r] := Away; endfor;
  for w: Writer do writer[w] := Resting; endfor;
  counter_free := true;
  resource_free := true;
  readers_in := 0;
endstartstate;

ruleset r: Reader do

  rule "reader comes"
    reader[r] = Away & counter_free
  ==>
  begin
    acquire(counter_free);
    reader[r] := Counting;
  endrule;

  rule "reader counts itself in"
    reader[r] = Counting
  ==>
  begin
    readers_in := readers_in + 1;
    reader[r] := (readers_in = 1) ? Locking : Entering;
  endrule;

  -- The counter stays locked meanwhile, so that later readers wait as well.
  rule "first reader locks writers out"
    reader[r] = Locking & resource_free
  ==>
  begin
    acquire(resource_free);
    reader[r] := Entering;
  endrule;

  rule "reader enters"
    reader[r] = Entering
  ==>
  begin
    release(counter_free);
    reader[r] := Reading;
  endrule;

  rule "reader leaves"
    reader[r] = Reading & counter_free
  ==>
  begin
    acquire(counter_free);
    reader[r] := Uncounting;
  endrule;

  rule "reader counts itself out"
    reader[r] = Uncounting
  ==>
  begin
    readers_in := readers_in - 1;
    reader[r] := (readers_in = 0) ? Unlocking : Parting;
  endrule;

  rule "last reader lets writers in"
    reader[r] = Unlocking
  ==>
  begin
    release(resource_free);
    reader[r] := Parting;
  endrule;

  rule "reader is gone"
    reader[r] = Parting
  ==>
  begin
    release(counter_free);
    reader[r] := Away;
  endrule;

endruleset;

ruleset w: Writer do

  rule "writer enters"
    writer[w] = Resting & resource_free
  ==>
  begin
    acquire(resource_free);
    writer[w] := Writing;
  endrule;

  rule "writer leaves"
    writer[w] = Writing
  ==>
  begin
    release(resource_free);
    writer[w] := Resting;
  endrule;

endruleset;

invariant "a writer is alone"
  forall w: Writer do
    writer[w] = Writing ->
      (forall r: Reader do reader[r] != Reading endforall
       & forall v: Writer do v = w | writer[v] = Resting endforall)
  endforall;

invariant "the resource is taken while anybody uses it"
  (exists r: Reader do reader[r] = Reading endexists
   | exists w: Writer do writer[w] = Writing endexists)
    -> !resource_free;
