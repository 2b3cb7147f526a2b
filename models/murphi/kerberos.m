-- model: a login by tickets after Kerberos, with an intruder who is also a user
-- verdict: holds
-- states: 5250
-- rules: 15722
-- with: ClientCount=1 ServerCount=2 TicketCount=4 states=108482 rules=328249
-- with: TicketCount=4 states=122078 rules=392446
-- with: Named=0 verdict=violated witness=8
-- why: an intruder who carries all messages, without a bag of messages: the messages she can deliver follow from those given out and shown
--
--     1.  client -> login office     client, nonce
--     2.  login office -> client     { key, client } for the ticket office,
--                                    { key, nonce } for the client
--     3.  client -> ticket office    the first part of 2, { client } by key, server, nonce
--     4.  ticket office -> client    { key', client } for the server,
--                                    { key', nonce, server } by key
--     5.  client -> server           the first part of 4, { client, time } by key'
--     6.  server -> client           { time } by key'
--
-- Mallory carries the messages and delivers any of them, any number of times,
-- with what is not encrypted changed; she has a login and a server of her own. So
-- an office may answer the same request again. Requests in a client's name that
-- carry another nonce than its own are left out: nobody would take the answer.
--
-- With Named = 0 message 4 does not say for which server the key is, and a client
-- can be served by Mallory instead: 8 steps.
--
-- Sizes; rumur counts the same where a line ends with r:
--
--   ClientCount  ServerCount  GrantCount  TicketCount      states      fired  depth
--        2            1            2           2            5,250     15,722     17  r
--        1            2            2           4          108,482    328,249     14  r
--        2            1            2           4          122,078    392,446     19  r
--        2            2            3           3        1,594,698  5,557,726     20
--
-- Tronci, Della Penna, Intrigila and Venturini Zilli report 109,282 states,
-- 172,111 rules fired and a diameter of 19 for their model of Kerberos. 1, 2, 2, 4
-- has 0.7 % fewer states; 2, 1, 2, 4 has 12 % more, and their diameter. With
-- Repeat = 0 they fire 237,295 and 297,086 rules: 2.2 and 2.4 for each state where
-- theirs fires 1.6.
--
-- `forall c: Client do client[c].stage = Served endforall` is a goal to look for:
-- 16 steps by default, 8 steps for 1, 2, 2, 4.

const
  ClientCount:  2;
  ServerCount:  1;
  GrantCount:   2;       -- keys that the login office has
  TicketCount:  2;       -- keys that the ticket office has
  SessionCount: 1;       -- tickets that a server accepts
  Repeat:       1;       -- 0: when all keys are given out, that is the end
  Named:        1;       -- 0: the ticket office does not say for which server a key is

type
  Agent:   0..ClientCount;       -- 0 is Mallory
  Client:  1..ClientCount;
  Place:   0..ServerCount;       -- 0 is Mallory's
  Server:  1..ServerCount;
  Grant:   1..GrantCount;
  Ticket:  1..TicketCount;
  Session: 1..SessionCount;
  Stage:   enum { Idle, AskedToLogIn, LoggedIn, AskedForTicket, HasTicket, CalledServer, Served };

var
  client: array[Client] of record
    stage:  Stage;
    server: Place;               -- whom it wants to be served by
    grant:  Grant;
    ticket: Ticket;
  endrecord;

  -- What the login office has given out: keys for a client and the ticket
  -- office. Whether the client has shown that it has the key is public.
  granted: 0..GrantCount;
  grant:   array[Grant] of record owner: Agent; shown: boolean; endrecord;

  -- What the ticket office has given out: keys for a client and a server.
  ticketed: 0..TicketCount;
  ticket:   array[Ticket] of record grant: Grant; server: Place; shown: boolean; endrecord;

  -- The tickets that a server has accepted, each once.
  accepted: array[Server] of 0..SessionCount;
  session:  array[Server] of array[Session] of Ticket;

-- Her own keys, and those that are for her own server.
function mallory_reads(t: Ticket): boolean;
begin
  return t <= ticketed & (ticket[t].server = 0 | grant[ticket[t].grant].owner = 0);
endfunction;

function has_accepted(s: Server; t: Ticket): boolean;
begin
  return exists i: Session do i <= accepted[s] & session[s][i] = t endexists;
endfunction;

function owner_of(t: Ticket): Agent;
begin
  return grant[ticket[t].grant].owner;
endfunction;

procedure start_afresh();
begin
  for c: Client do
    undefine client[c];
    client[c].stage := Idle;
  endfor;
  granted := 0;
  undefine grant;
  ticketed := 0;
  undefine ticket;
  for s: Server do
    accepted[s] := 0;
    undefine session[s];
  endfor;
endprocedure;

startstate "nobody has logged in"
begin
  start_afresh();
endstartstate;

ruleset c: Client; s: Place do
  rule "client asks to log in"
    client[c].stage = Idle
  ==>
  begin
    client[c].stage := AskedToLogIn;
    client[c].server := s;
  endrule;
endruleset;

ruleset a: Agent do
  rule "login office grants a key"
    granted < GrantCount & (a = 0 | client[a].stage != Idle)
  ==>
  begin
    granted := granted + 1;
    grant[granted].owner := a;
    grant[granted].shown := (a = 0);
  endrule;
endruleset;

ruleset c: Client; g: Grant do
  rule "client is logged in"
    client[c].stage = AskedToLogIn & g <= granted & grant[g].owner = c
  ==>
  begin
    client[c].stage := LoggedIn;
    client[c].grant := g;
  endrule;
endruleset;

ruleset c: Client do
  rule "client asks for a ticket"
    client[c].stage = LoggedIn
  ==>
  begin
    client[c].stage := AskedForTicket;
    grant[client[c].grant].shown := true;
  endrule;
endruleset;

ruleset g: Grant; s: Place do
  rule "ticket office gives a ticket"
    ticketed < TicketCount & g <= granted & grant[g].shown
  ==>
  begin
    ticketed := ticketed + 1;
    ticket[ticketed].grant := g;
    ticket[ticketed].server := s;
    ticket[ticketed].shown := false;
  endrule;
endruleset;

ruleset c: Client; t: Ticket do
  rule "client receives its ticket"
    client[c].stage = AskedForTicket & t <= ticketed & ticket[t].grant = client[c].grant
    & (Named = 0 | ticket[t].server = client[c].server)
  ==>
  begin
    client[c].stage := HasTicket;
    client[c].ticket := t;
  endrule;
endruleset;

ruleset c: Client do
  rule "client calls the server"
    client[c].stage = HasTicket
  ==>
  begin
    client[c].stage := CalledServer;
    ticket[client[c].ticket].shown := true;
  endrule;
endruleset;

ruleset s: Server; t: Ticket do
  rule "server accepts a ticket"
    accepted[s] < SessionCount & t <= ticketed & ticket[t].server = s
    & (ticket[t].shown | mallory_reads(t)) & !has_accepted(s, t)
  ==>
  begin
    accepted[s] := accepted[s] + 1;
    session[s][accepted[s]] := t;
  endrule;
endruleset;

ruleset c: Client do
  rule "client is served"
    client[c].stage = CalledServer
    & (mallory_reads(client[c].ticket) | exists s: Server do has_accepted(s, client[c].ticket) endexists)
  ==>
  begin
    client[c].stage := Served;
  endrule;
endruleset;

rule "a new day"
  Repeat = 1 & granted = GrantCount & ticketed = TicketCount
==>
begin
  start_afresh();
endrule;

invariant "who is served is served by whom it asked"
  forall c: Client do
    client[c].stage = Served & client[c].server != 0 -> has_accepted(client[c].server, client[c].ticket)
  endforall;

invariant "whom a server serves has asked for it"
  forall s: Server do forall i: Session do
    i <= accepted[s] & owner_of(session[s][i]) != 0 ->
      (client[owner_of(session[s][i])].stage = CalledServer | client[owner_of(session[s][i])].stage = Served)
      & client[owner_of(session[s][i])].server = s & client[owner_of(session[s][i])].ticket = session[s][i]
  endforall endforall;

invariant "keys between the honest are secret"
  forall s: Server do forall i: Session do
    i <= accepted[s] & owner_of(session[s][i]) != 0 -> !mallory_reads(session[s][i])
  endforall endforall;

cover "everybody is served"
  forall c: Client do client[c].stage = Served endforall;
