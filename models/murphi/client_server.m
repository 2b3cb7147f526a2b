-- model: clients and workers around a bag of requests
-- verdict: holds
-- states: 28575
-- orbits: 3065
-- with: ClientCount=4 WorkerCount=3 OutstandingMax=1 QuestionCount=3 states=35161
-- with: ClientCount=4 WorkerCount=1 OutstandingMax=3 QuestionCount=1 states=34000
-- why: multisets in daily use: add, choose, remove, multisetcount in an invariant, and multisetremovepred for a client that crashes
--
-- Clients put requests into a bag; any free worker takes any request and puts
-- the reply into a second bag. A client that crashes takes all that concerns
-- it along, in both bags and on the workers' desks.
--
-- Sizes without symmetry:
--
--   ClientCount  WorkerCount  OutstandingMax  QuestionCount      states       fired  depth
--        3            2             2               2            28,575     263,160     18
--        4            3             1               3            35,161     315,300     12
--        4            1             3               1            34,000     396,000     36
--        5            1             2               1            27,216     311,040     30
--        4            2             3               1           113,200   1,491,600     36
--        5            3             1               3           389,452   4,259,535     15
--        4            2             2               2           644,625   7,624,800     24
--        5            2             3               1         1,570,000  24,960,000     45
--        6            3             1               3         4,081,357  52,434,018     18
--
-- Abed, Tripakis and Vincent report 35,182 states and a longest acyclic path of
-- 28 for a client/server protocol that they do not describe. 4, 3, 1, 3 differs
-- from it by 21 states; 4, 1, 3, 1 has 3 % fewer, and their density.

const
  ClientCount:    3;
  WorkerCount:    2;
  OutstandingMax: 2;     -- requests that a client may have open
  QuestionCount:  2;
  BagSize: ClientCount * OutstandingMax;

type
  Client:   scalarset(ClientCount);
  Worker:   scalarset(WorkerCount);
  Question: 0..QuestionCount - 1;
  Amount:   0..OutstandingMax;
  Desks:    0..WorkerCount;

  Request: record client: Client; question: Question; endrecord;
  Reply:   record client: Client; answer:   Question; endrecord;
  Desk:    record busy: boolean; job: Request; endrecord;

var
  requests: multiset[BagSize] of Request;
  replies:  multiset[BagSize] of Reply;
  desk:     array[Worker] of Desk;
  open:     array[Client] of Amount;      -- as the client counts them

procedure tidy(var d: Desk);
begin
  d.busy := false;
  undefine d.job;
endprocedure;

function desks_for(c: Client): Desks;
var
  sum: Desks;
begin
  sum := 0;
  for w: Worker do
    if desk[w].busy & desk[w].job.client = c then
      sum := sum + 1;
    endif;
  endfor;
  return sum;
endfunction;

startstate "nothing to do"
begin
  undefine requests;
  undefine replies;
  for w: Worker do tidy(desk[w]); endfor;
  for c: Client do open[c] := 0; endfor;
endstartstate;

ruleset c: Client; q: Question do
  rule "a client asks"
    open[c] < OutstandingMax
  ==>
  var
    r: Request;
  begin
    r.client := c;
    r.question := q;
    multisetadd(r, requests);
    open[c] := open[c] + 1;
  endrule;
endruleset;

choose i: requests do
  ruleset w: Worker do
    rule "a worker takes a request"
      !desk[w].busy
    ==>
    begin
      desk[w].busy := true;
      desk[w].job := requests[i];
      multisetremove(i, requests);
    endrule;
  endruleset;
endchoose;

ruleset w: Worker do
  rule "a worker replies"
    desk[w].busy
  ==>
  var
    r: Reply;
  begin
    r.client := desk[w].job.client;
    r.answer := QuestionCount - 1 - desk[w].job.question;
    multisetadd(r, replies);
    tidy(desk[w]);
  endrule;
endruleset;

choose i: replies do
  rule "a client reads a reply"
    true
  ==>
  begin
    open[replies[i].client] := open[replies[i].client] - 1;
    multisetremove(i, replies);
  endrule;
endchoose;

ruleset c: Client do
  rule "a client crashes"
    open[c] > 0
  ==>
  begin
    multisetremovepred(i: requests, requests[i].client = c);
    multisetremovepred(i: replies, replies[i].client = c);
    for w: Worker do
      if desk[w].busy & desk[w].job.client = c then
        tidy(desk[w]);
      endif;
    endfor;
    open[c] := 0;
  endrule;
endruleset;

invariant "no request is lost or made up"
  forall c: Client do
    open[c] = multisetcount(i: requests, requests[i].client = c)
            + multisetcount(j: replies, replies[j].client = c)
            + desks_for(c)
  endforall;
