-- model: Chang and Roberts's leader election on a ring
-- verdict: holds
-- states: 3417
-- rules: 11985
-- why: several start states (the worst, the best and a mixed order of names), queues kept by procedures with var parameters, an enum by cases
--
-- Whoever starts an election sends its name around. A node passes on names
-- greater than its own and swallows smaller ones; a node that gets its own name
-- back has the greatest of all and announces it.

const
  NodeCount: 6;
  LinkSize:  5;

type
  Node: 0..NodeCount - 1;          -- place in the ring
  Name: 1..NodeCount;
  Role: enum { Asleep, Candidate, Follower, Leader };
  Kind: enum { Nothing, Probe, Elected };
  Message: record kind: Kind; name: Name; endrecord;
  Link: record
    length: 0..LinkSize;
    slot: array[0..LinkSize - 1] of Message;
  endrecord;

var
  name:   array[Node] of Name;
  role:   array[Node] of Role;
  leader: array[Node] of Name;     -- undefined until announced
  link:   array[Node] of Link;     -- what is on its way to this node

function next(n: Node): Node;
begin
  return (n + 1) % NodeCount;
endfunction;

function has_room(n: Node): boolean;
begin
  return link[n].length < LinkSize;
endfunction;

procedure blank(var m: Message);
begin
  m.kind := Nothing;
  undefine m.name;
endprocedure;

procedure send(var l: Link; kind: Kind; who: Name);
begin
  l.slot[l.length].kind := kind;
  l.slot[l.length].name := who;
  l.length := l.length + 1;
endprocedure;

procedure take(var l: Link; var m: Message);
begin
  m := l.slot[0];
  for i := 0 to LinkSize - 2 do
    l.slot[i] := l.slot[i + 1];
  endfor;
  blank(l.slot[LinkSize - 1]);
  l.length := l.length - 1;
endprocedure;

procedure fall_asleep();
begin
  for n: Node do
    role[n] := Asleep;
    undefine leader[n];
    link[n].length := 0;
    for i := 0 to LinkSize - 1 do
      blank(link[n].slot[i]);
    endfor;
  endfor;
endprocedure;

startstate "names ascend: every probe but the greatest dies at once"
begin
  for n: Node do name[n] := n + 1; endfor;
  fall_asleep();
endstartstate;

startstate "names descend: every probe travels as far as it can"
begin
  for n: Node do name[n] := NodeCount - n; endfor;
  fall_asleep();
endstartstate;

startstate "small and great names alternate"
begin
  for n: Node do
    name[n] := (n % 2 = 0) ? n / 2 + 1 : NodeCount - n / 2;
  endfor;
  fall_asleep();
endstartstate;

ruleset n: Node do

  rule "wakes up"
    role[n] = Asleep & has_room(next(n))
  ==>
  begin
    role[n] := Candidate;
    send(link[next(n)], Probe, name[n]);
  endrule;

  rule "receives"
    link[n].length > 0 & has_room(next(n))
  ==>
  var
    got: Message;
  begin
    take(link[n], got);
    switch got.kind
      case Probe:
        if got.name > name[n] then
          role[n] := Follower;
          send(link[next(n)], Probe, got.name);
        elsif got.name = name[n] then
          role[n] := Leader;
          leader[n] := name[n];
          send(link[next(n)], Elected, name[n]);
        elsif role[n] = Asleep then
          role[n] := Candidate;          -- a smaller name woke it
          send(link[next(n)], Probe, name[n]);
        endif;
      case Elected:
        if got.name != name[n] then
          leader[n] := got.name;
          send(link[next(n)], Elected, got.name);
        endif;
      else
        error "an empty slot was taken for a message";
    endswitch;
  endrule;

endruleset;

-- Without a next election the finished one would count as a deadlock.
rule "the leader resigns"
  forall n: Node do !isundefined(leader[n]) & link[n].length = 0 endforall
==>
begin
  fall_asleep();
endrule;

invariant "at most one leader"
  forall m: Node do forall n: Node do
    (role[m] = Leader & role[n] = Leader) -> m = n
  endforall endforall;

invariant "the leader has the greatest name"
  forall n: Node do role[n] = Leader -> name[n] = NodeCount endforall;

invariant "whoever knows a leader knows the right one"
  forall n: Node do isundefined(leader[n]) | leader[n] = NodeCount endforall;
