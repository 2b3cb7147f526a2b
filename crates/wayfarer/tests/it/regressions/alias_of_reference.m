-- model: a procedure that writes through an alias of an element passed to it
-- verdict: holds
-- states: 2
-- rules: 2
-- why: the folder of kept failures is never empty; references to elements pass through calls and aliases
var a: array [0 .. 2] of record on: boolean; end;
procedure turn(var cell: boolean);
begin
  alias other: cell do
    other := !other;
  end;
end;
startstate begin clear a; end;
rule begin turn(a[1].on); end;
