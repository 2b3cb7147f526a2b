-- model: leader election of Raft
-- verdict: holds
-- states: 160153
-- rules: 1229848
-- orbits: 26814
-- why: terms that only grow up to a bound, votes counted in a for loop, requests and answers as matrices of flags
--
-- Logs are left out: every candidate is as up to date as any other. A server
-- votes once per term and steps down whenever it hears of a later term.

const
  ServerCount: 3;
  LastTerm:    3;

type
  Server: scalarset(ServerCount);
  Term:   0..LastTerm;
  Role:   enum { Follower, Candidate, Leader };
  Amount: 0..ServerCount;

var
  role:  array[Server] of Role;
  term:  array[Server] of Term;
  voted: array[Server] of Server;                      -- in this term, if any
  votes: array[Server] of array[Server] of boolean;    -- granted to, granted by

  -- On their way: requests and answers, by sender and receiver. The term of
  -- either is remembered, since both may arrive in a later one; 0 means none.
  asking:   array[Server] of array[Server] of Term;
  granting: array[Server] of array[Server] of Term;

procedure enter_term(s: Server; t: Term);
begin
  term[s] := t;
  role[s] := Follower;
  undefine voted[s];
  for other: Server do
    votes[s][other] := false;
  endfor;
endprocedure;

procedure boot();
begin
  for s: Server do
    enter_term(s, 0);
    for other: Server do
      asking[s][other] := 0;
      granting[s][other] := 0;
    endfor;
  endfor;
endprocedure;

function votes_for(s: Server): Amount;
var
  sum: Amount;
begin
  sum := 0;
  for other: Server do
    if votes[s][other] then
      sum := sum + 1;
    endif;
  endfor;
  return sum;
endfunction;

startstate "all are followers"
begin
  boot();
endstartstate;

ruleset s: Server do

  rule "times out and stands for election"
    role[s] != Leader & term[s] < LastTerm
  ==>
  begin
    enter_term(s, term[s] + 1);
    role[s] := Candidate;
    voted[s] := s;
    votes[s][s] := true;
    for other: Server do
      if other != s then
        asking[s][other] := term[s];     -- replaces a request of an older term
      endif;
    endfor;
  endrule;

  rule "wins"
    role[s] = Candidate & 2 * votes_for(s) > ServerCount
  ==>
  begin
    role[s] := Leader;
  endrule;

  ruleset t: Server do

    rule "answers a request"
      asking[s][t] > 0 & granting[t][s] = 0
    ==>
    begin
      if asking[s][t] > term[t] then
        enter_term(t, asking[s][t]);
      endif;
      if asking[s][t] = term[t] & (isundefined(voted[t]) | voted[t] = s) then
        voted[t] := s;
        granting[t][s] := term[t];
      endif;
      asking[s][t] := 0;
    endrule;

    rule "counts a vote"
      granting[s][t] > 0
    ==>
    begin
      if role[t] = Candidate & granting[s][t] = term[t] then
        votes[t][s] := true;
      endif;
      granting[s][t] := 0;
    endrule;

    rule "a message is lost"
      asking[s][t] > 0 | granting[s][t] > 0
    ==>
    begin
      asking[s][t] := 0;
      granting[s][t] := 0;
    endrule;

    -- A heartbeat carries the leader's term.
    rule "hears the leader"
      role[s] = Leader & s != t & term[t] <= term[s]
      & !(term[t] = term[s] & role[t] = Follower)
    ==>
    begin
      if term[t] < term[s] then
        enter_term(t, term[s]);
      else
        assert role[t] != Leader "two leaders meet in one term";
        role[t] := Follower;
      endif;
    endrule;

  endruleset;

endruleset;

-- The terms are used up: a new cluster takes over.
rule "reboots"
  exists s: Server do term[s] = LastTerm endexists
  & forall s: Server do forall t: Server do
      asking[s][t] = 0 & granting[s][t] = 0
    endforall endforall
==>
begin
  boot();
endrule;

invariant "one leader per term"
  forall s: Server do forall t: Server do
    (s != t & role[s] = Leader & role[t] = Leader) -> term[s] != term[t]
  endforall endforall;

invariant "votes are counted for those who were elected"
  forall s: Server do
    role[s] = Leader -> 2 * votes_for(s) > ServerCount
  endforall;
