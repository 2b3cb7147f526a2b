-- model: Othello on a small board
-- verdict: holds
-- states: 62789
-- rules: 95500
-- why: a game: guards that search the board in eight directions, and no way back, so that a first mistake cannot be mended
--
-- A disk may be laid where it encloses disks of the opponent in a straight
-- line, and turns them. Whoever cannot move passes; when nobody can, the game
-- is over. The default is the board of 4 by 4, which rumur counts alike; 6 by 6
-- (Size = 6) is beyond counting.
--
-- Goals to look for, with the shortest way on 4 by 4:
--
--   over()                                        7
--   over() & disks(Black) = disks(White)         10    a draw
--   over() & disks(White) = 0                    11
--   over() & disks(Black) = 0                    12
--
-- Engels, Groote, van Weerdenburg and Willemse look for a draw on 4 by 4 and
-- find it after 13 steps, one of which announces the outcome.

const
  Size:   4;           -- an even number
  Repeat: 1;           -- 0: the end of a game is a deadlock

type
  Line:   0..Size - 1;
  Way:    -1..1;
  Colour: enum { Black, White };
  Amount: 0..Size * Size;

var
  square: array[Line] of array[Line] of record taken: boolean; colour: Colour; endrecord;
  player: Colour;

function opponent(c: Colour): Colour;
begin
  return (c = Black) ? White : Black;
endfunction;

function inside(x: -1..Size; y: -1..Size): boolean;
begin
  return x >= 0 & x < Size & y >= 0 & y < Size;
endfunction;

-- How many of the opponent's disks a disk of this colour would enclose in one
-- direction.
function enclosed(c: Colour; x: Line; y: Line; dx: Way; dy: Way): 0..Size;
var
  found: 0..Size;
  i: -1..Size;
  j: -1..Size;
begin
  if dx = 0 & dy = 0 then
    return 0;
  endif;
  found := 0;
  i := x + dx;
  j := y + dy;
  while inside(i, j) & square[i][j].taken & square[i][j].colour != c do
    found := found + 1;
    i := i + dx;
    j := j + dy;
  endwhile;
  if inside(i, j) & square[i][j].taken then
    return found;
  endif;
  return 0;
endfunction;

function may_move(c: Colour; x: Line; y: Line): boolean;
begin
  return !square[x][y].taken
    & exists dx: Way do exists dy: Way do enclosed(c, x, y, dx, dy) > 0 endexists endexists;
endfunction;

function can_move(c: Colour): boolean;
begin
  return exists x: Line do exists y: Line do may_move(c, x, y) endexists endexists;
endfunction;

function over(): boolean;
begin
  return !can_move(Black) & !can_move(White);
endfunction;

function disks(c: Colour): Amount;
var
  sum: Amount;
begin
  sum := 0;
  for x: Line do for y: Line do
    if square[x][y].taken & square[x][y].colour = c then
      sum := sum + 1;
    endif;
  endfor; endfor;
  return sum;
endfunction;

procedure lay(c: Colour; x: Line; y: Line);
begin
  square[x][y].taken := true;
  square[x][y].colour := c;
endprocedure;

procedure set_up();
begin
  for x: Line do for y: Line do
    undefine square[x][y];
    square[x][y].taken := false;
  endfor; endfor;
  lay(White, Size / 2 - 1, Size / 2 - 1);
  lay(White, Size / 2, Size / 2);
  lay(Black, Size / 2 - 1, Size / 2);
  lay(Black, Size / 2, Size / 2 - 1);
  player := Black;
endprocedure;

startstate "four disks"
begin
  set_up();
endstartstate;

ruleset x: Line; y: Line do
  rule "moves"
    may_move(player, x, y)
  ==>
  var
    k: 0..Size;
  begin
    for dx: Way do for dy: Way do
      k := enclosed(player, x, y, dx, dy);
      while k > 0 do
        lay(player, x + k * dx, y + k * dy);
        k := k - 1;
      endwhile;
    endfor; endfor;
    lay(player, x, y);
    player := opponent(player);
  endrule;
endruleset;

rule "passes"
  !can_move(player) & can_move(opponent(player))
==>
begin
  player := opponent(player);
endrule;

rule "a new game"
  Repeat = 1 & over()
==>
begin
  set_up();
endrule;

invariant "there are always disks"
  disks(Black) + disks(White) >= 4;

cover "a draw"
  over() & disks(Black) = disks(White);
