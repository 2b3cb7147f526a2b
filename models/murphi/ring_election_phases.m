-- model: leader election on a ring after Dolev, Klawe and Rodeh
-- verdict: holds
-- states: 681
-- rules: 2043
-- why: assertions in the midst of a command; its twin for SPIN in bench/promela has the same states, so a full link holds the sender back as there
--
-- Every node that is still in the race holds a value. In each phase it learns
-- the values of the two racers before it and goes on, with the nearer value,
-- only if that is the greatest of the three; the others just pass messages
-- on. At least half of the racers give up in a phase. Whoever gets its own
-- value back is alone and announces it.
--
-- Dolev, Klawe, Rodeh: An O(n log n) unidirectional distributed algorithm for
-- extrema finding in a circle, Journal of Algorithms 3 (1982).

const
  NodeCount: 6;
  LinkSize:  2;

type
  Node:  0..NodeCount - 1;         -- place in the ring
  Value: 0..NodeCount;             -- 0: none
  Role:  enum { Asleep, Racing, Passing, Leader };
  Kind:  enum { Nothing, Near, Far, Elected };
  Message: record kind: Kind; value: Value; endrecord;
  Link: record
    length: 0..LinkSize;
    slot: array[0..LinkSize - 1] of Message;
  endrecord;

var
  role:   array[Node] of Role;
  value:  array[Node] of Value;    -- what a racer races with
  near:   array[Node] of Value;    -- the value of the racer before it
  chosen: array[Node] of Value;    -- whom this node has heard to be elected
  link:   array[Node] of Link;     -- what is on its way to this node

-- Small and great names alternate.
function name(n: Node): Value;
begin
  return (n % 2 = 0) ? n / 2 + 1 : NodeCount - n / 2;
endfunction;

function next(n: Node): Node;
begin
  return (n + 1) % NodeCount;
endfunction;

procedure send(var l: Link; kind: Kind; what: Value);
begin
  l.slot[l.length].kind := kind;
  l.slot[l.length].value := what;
  l.length := l.length + 1;
endprocedure;

procedure take(var l: Link; var m: Message);
begin
  m := l.slot[0];
  for i := 0 to LinkSize - 2 do
    l.slot[i] := l.slot[i + 1];
  endfor;
  l.slot[LinkSize - 1].kind := Nothing;
  l.slot[LinkSize - 1].value := 0;
  l.length := l.length - 1;
endprocedure;

procedure forget();
begin
  for n: Node do
    role[n] := Asleep;
    value[n] := 0;
    near[n] := 0;
    chosen[n] := 0;
  endfor;
endprocedure;

startstate "nobody races"
begin
  forget();
  for n: Node do
    link[n].length := 0;
    for i := 0 to LinkSize - 1 do
      link[n].slot[i].kind := Nothing;
      link[n].slot[i].value := 0;
    endfor;
  endfor;
endstartstate;

ruleset n: Node do

  rule "wakes up"
    role[n] = Asleep & link[next(n)].length < LinkSize
  ==>
  begin
    role[n] := Racing;
    value[n] := name(n);
    send(link[next(n)], Near, name(n));
  endrule;

  rule "receives"
    role[n] != Asleep & link[n].length > 0 & link[next(n)].length < LinkSize
  ==>
  var
    got: Message;
  begin
    take(link[n], got);
    switch got.kind
      case Near:
        if role[n] = Passing then
          send(link[next(n)], Near, got.value);
        elsif got.value = value[n] then
          assert forall m: Node do role[m] != Leader endforall "at most one leader";
          assert got.value = NodeCount "the greatest name is elected";
          role[n] := Leader;
          chosen[n] := got.value;
          send(link[next(n)], Elected, got.value);
        else
          near[n] := got.value;
          send(link[next(n)], Far, got.value);
        endif;
      case Far:
        if role[n] = Passing then
          send(link[next(n)], Far, got.value);
        elsif near[n] > got.value & near[n] > value[n] then
          value[n] := near[n];
          near[n] := 0;
          send(link[next(n)], Near, value[n]);
        else
          role[n] := Passing;
          value[n] := 0;
          near[n] := 0;
        endif;
      case Elected:
        if role[n] = Leader then
          assert forall m: Node do chosen[m] = got.value endforall "everybody has heard of the leader";
          forget();                    -- the next election may begin
        else
          chosen[n] := got.value;
          send(link[next(n)], Elected, got.value);
        endif;
      else
        error "an empty slot was taken for a message";
    endswitch;
  endrule;

endruleset;
