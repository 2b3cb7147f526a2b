-- model: the coffee can of Gries
-- verdict: holds
-- states: 580
-- why: a multiset of plain values rather than records: several start states in a ruleset, a parity invariant over multisetcount, and a bag that is emptied by multisetremovepred
--
-- Draw two beans. If they have the same colour, throw both away and put a
-- black one back; otherwise throw the black one away and put the white one
-- back. The colour of the last bean is decided by the first count of the white
-- ones, since their number stays odd or stays even.

const
  BeanMax: 12;           -- of each colour at the start

type
  Amount: 0..BeanMax;
  Total:  0..2 * BeanMax;
  Colour: enum { Black, White };
  Hand:   enum { EmptyHand, HoldsBlack, HoldsWhite };

var
  can:  multiset[2 * BeanMax] of Colour;
  hand: Hand;
  odd:  boolean;         -- whether the white beans were odd in number at first

-- The bean in the hand still counts: it is between the can and the can.
function whites(): Total;
begin
  return multisetcount(i: can, can[i] = White) + ((hand = HoldsWhite) ? 1 : 0);
endfunction;

procedure fill(colour: Colour; amount: Amount);
var
  bean: Colour;
begin
  bean := colour;
  for i := 1 to BeanMax do
    if i <= amount then
      multisetadd(bean, can);
    endif;
  endfor;
endprocedure;

ruleset black_ones: Amount; white_ones: 1..BeanMax do
  startstate "a filled can"
  begin
    clear can;
    fill(Black, black_ones);
    fill(White, white_ones);
    hand := EmptyHand;
    odd := (white_ones % 2 = 1);
  endstartstate;
endruleset;

choose i: can do

  rule "draws the first bean"
    hand = EmptyHand & multisetcount(j: can, true) > 1
  ==>
  begin
    hand := (can[i] = Black) ? HoldsBlack : HoldsWhite;
    multisetremove(i, can);
  endrule;

  rule "draws the second bean"
    hand != EmptyHand
  ==>
  var
    bean: Colour;
  begin
    if (can[i] = Black) = (hand = HoldsBlack) then
      bean := Black;     -- the same colour
    else
      bean := White;
    endif;
    multisetremove(i, can);
    multisetadd(bean, can);
    hand := EmptyHand;
  endrule;

endchoose;

-- One bean is left. The can is emptied and filled once more, the other way
-- round in parity.
rule "fills the can again"
  hand = EmptyHand & multisetcount(j: can, true) = 1
==>
begin
  multisetremovepred(j: can, can[j] = Black | can[j] = White);
  fill(Black, BeanMax);
  fill(White, odd ? BeanMax - BeanMax % 2 : BeanMax - 1 + BeanMax % 2);
  odd := !odd;
endrule;

invariant "the parity of the white beans is kept"
  (whites() % 2 = 1) = odd;

invariant "the last bean is white exactly when the whites were odd"
  (hand = EmptyHand & multisetcount(i: can, true) = 1)
    -> ((multisetcount(i: can, can[i] = White) = 1) = odd);
