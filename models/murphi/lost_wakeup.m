-- model: a bounded buffer with a lost wake-up
-- verdict: violated
-- violation: deadlock
-- witness: 8
-- why: a deadlock that needs a particular interleaving: a signal sent between "the buffer is empty" and "I go to sleep" reaches nobody
--
-- The producer wakes the consumer when it fills an empty buffer, and the
-- consumer wakes the producer when it takes from a full one. Looking at the
-- buffer and falling asleep are two steps, and that is the mistake.

const
  Capacity: 2;

type
  Place: enum { Looking, Acting, Dozing, Asleep };

var
  filled:   0..Capacity;
  producer: Place;
  consumer: Place;

-- A signal to somebody who does not sleep yet is lost.
procedure wake(var who: Place);
begin
  if who = Asleep then
    who := Looking;
  endif;
endprocedure;

startstate "an empty buffer"
begin
  filled := 0;
  producer := Looking;
  consumer := Looking;
endstartstate;

rule "producer looks"
  producer = Looking
==>
begin
  producer := (filled = Capacity) ? Dozing : Acting;
endrule;

rule "producer falls asleep"
  producer = Dozing
==>
begin
  producer := Asleep;
endrule;

rule "producer fills a place"
  producer = Acting
==>
begin
  filled := filled + 1;
  if filled = 1 then
    wake(consumer);
  endif;
  producer := Looking;
endrule;

rule "consumer looks"
  consumer = Looking
==>
begin
  consumer := (filled = 0) ? Dozing : Acting;
endrule;

rule "consumer falls asleep"
  consumer = Dozing
==>
begin
  consumer := Asleep;
endrule;

rule "consumer empties a place"
  consumer = Acting
==>
begin
  filled := filled - 1;
  if filled = Capacity - 1 then
    wake(producer);
  endif;
  consumer := Looking;
endrule;

invariant "the buffer neither overflows nor underflows"
  filled >= 0 & filled <= Capacity;
