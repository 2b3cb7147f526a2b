-- model: A thermostat with hysteresis, in real numbers of four digits
-- verdict: holds
-- states: 6732
-- rules: 18972
-- why: real numbers with CMurphi's meaning: rounded to their digits when they are stored, so that the state space is finite
--
-- The room loses heat to the outside and gains some while the heater is on.
-- Sampling once a minute; the outside may warm up or cool down.

const
  Loss:    0.1;
  Gain:    2.25;
  Low:     19.0;
  High:    21.0;

type
  Degrees: real(4, 99);

var
  room, outside: Degrees;
  heating: boolean;

function next(t: Degrees; out: Degrees; on: boolean): Degrees;
begin
  return t + Loss * (out - t) + (on ? Gain : 0.0);
end;

startstate "morning"
  room := 20;
  outside := 5;
  heating := false;
end;

rule "minute" true
==>
  room := next(room, outside, heating);
  if room < Low then heating := true; elsif room > High then heating := false; end;
end;

rule "warmer" outside < 8
==>
  outside := outside + 0.5;
end;

rule "colder" outside > 3
==>
  outside := outside - 0.5;
end;

invariant "comfortable" room > 16.5 & room < 23.5;
