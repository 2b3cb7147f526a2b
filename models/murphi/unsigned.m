-- model: A counter over all numbers of 64 bits without sign
-- verdict: holds
-- states: 66
-- rules: 67
-- why: numbers beyond 2^63 - 1: literals, ranges, arithmetic, comparison with numbers that have a sign, and witnesses that show them
--
-- The counter doubles until it would leave its range, steps back by a signed
-- amount, and starts again.

const
  Top: 18446744073709551614;

type
  Word: 0 .. Top;

var
  word: Word;
  step: -1 .. 1;

startstate "one"
  word := 1;
  step := 0;
end;

rule "double" word <= Top / 2 & step = 0
==>
  word := word * 2;
end;

rule "back" word > 9223372036854775807
==>
  step := step = 1 ? -1 : step + 1;
end;

rule "restart" word > 9223372036854775807 & step = -1
==>
  word := word + step - (Top - 9223372036854775808);
  word := word < 3 ? 1 : word;
  step := 0;
end;

invariant "powers of two" word >= 1 & (word & (word - 1)) = 0 | step > -2;
invariant "within" word != 0xffffffffffffffff & word > step;
