//! Constructs that tell elements of scalarsets apart, and constructs that do not.

use wayfarer_ir::Program;
use wayfarer_lang::murphi::{self, Options};
use wayfarer_lang::source::Source;

const DECLARATIONS: &str = "type id: scalarset(3); other: enum { home }; node: union { id, other }; msg: record from: node; size: 0 .. 5; end;\n\
    var x: 0 .. 9; b: boolean; i: id; n: node; a, c: array [id] of 0 .. 9; t: array [id] of array [id] of boolean; h: id; m: msg;\n\
    net: array [node] of multiset [2] of msg; sharers: multiset [2] of node; log: array [0 .. 9] of id;\n\
    procedure send(whom: node; from: node); var own: msg; begin own.from := from; own.size := 0; multisetadd(own, net[whom]); end;\n\
    procedure append(who: id); begin log[x] := who; x := x + 1; end;\n\
    function first(): id; begin for p: id do if a[p] = 0 then return p; end; end; end;\n\
    function some(): boolean; begin for p: id do if a[p] = 0 then return true; end; end; return false; end;\n";

fn program(rest: &str) -> Program {
    let source = Source::new("m", format!("{DECLARATIONS}{rest}"));
    let (program, diagnostics) = murphi::load(&source, &Options::default());
    program.unwrap_or_else(|| panic!("{rest}\n{}", diagnostics.render(&source, false)))
}

/// The asymmetries of the body of a rule: whether each is certain, and its message.
fn found(body: &str) -> Vec<(bool, String)> {
    let program = program(&format!("startstate x := 0; end; rule true ==> var l: id; k: msg; begin {body} end;"));
    program.asymmetries.into_iter().map(|asymmetry| (asymmetry.certain, asymmetry.message)).collect()
}

#[test]
fn rounds_that_can_run_in_any_order() {
    for body in [
        "for p: id do a[p] := 0; end;",
        "for p: id do if a[p] = 0 then b := true; end; end;",
        "for p: id do x := x + a[p]; end; for p: id do if a[p] = 1 then x := x - 1; end; end;",
        "for p: id do b := b & (a[p] = 0); end;",
        "for p: id do for q: id do t[p][q] := a[p] = a[q]; end; end;",
        "for p: id; q: id do t[p][q] := a[p] = c[q]; end;",
        "for p: id do if p = h then i := p; x := a[p]; end; end;",
        "for p: id do if a[p] = 0 & p = h then i := p; end; end;",
        "for p: id do l := p; c[l] := 1; end;",
        "for p: id do k.from := p; k.size := a[p]; multisetadd(k, net[home]); end;",
        "for p: id do send(p, h); end; for p: id do send(home, p); end;",
        "for p: node do if ismember(p, id) then send(p, h); end; end;",
        "alias mine: a[h] do for p: id do c[p] := mine; end; end;",
        "for p: id do alias mine: a[p] do mine := mine + 1; end; end;",
        "b := some();",
        "for p: id do assert a[p] < 9; if isundefined(a[p]) then error \"unset\"; end; end;",
        "for p: id do m.size := 0; undefine m.from; end;",
        "for p: id do assert multisetcount(s: net[home], true) < 4; k.from := p; k.size := 0; multisetadd(k, net[home]); end;",
        "for p: id do if p != h & multisetcount(s: sharers, sharers[s] = p) != 0 then send(p, h); multisetremovepred(s: sharers, sharers[s] = p); end; end;",
        "for p: node do if multisetcount(s: sharers, (p = sharers[s])) = 0 then multisetadd(p, sharers); end; end;",
        "for p: id do multisetadd(p, sharers); multisetadd(h, sharers); end;",
        "clear a; clear b; clear x; undefine i; undefine n;",
    ] {
        assert_eq!(found(body), [], "{body}");
    }
}

#[test]
fn what_tells_elements_apart_is_said() {
    let last = |name: &str| format!("the loop over `id` depends on the order of its elements: `{name}` keeps what the last round writes");
    let may_last = |name: &str| last(name).replace("depends", "may depend");
    let reads = |name: &str| format!("the loop over `id` may depend on the order of its elements: a round reads what another writes to `{name}`");
    let cleared = |ty: &str| format!("clearing a value of type `{ty}` makes a part of it the first element of a scalarset");
    for (body, certain, message) in [
        ("for p: id do i := p; end;", true, last("i")),
        ("for p: id do if a[p] = 0 then i := p; end; end;", false, may_last("i")),
        ("for p: id do if a[p] = 0 then x := 1; else x := 2; end; end;", false, may_last("x")),
        ("for p: id do l := p; end; i := l;", true, last("l")),
        ("for p: id do a[p] := x; x := x + 1; end;", false, reads("x")),
        ("for p: id do if !b & a[p] = 0 then b := true; c[p] := 1; end; end;", false, reads("b")),
        ("for p: id do a[p] := a[h]; end;", false, reads("a")),
        ("for p: id; q: id do t[p][q] := t[q][p]; end;", false, reads("t")),
        ("for p: id do append(p); end;", true, last("log")),
        // An assertion may fail in some orders only.
        ("for p: id do if a[p] = 0 then x := x + 1; else assert x = 0; end; end;", false, reads("x")),
        (
            "for p: id do if a[p] = 0 then multisetadd(p, sharers); else assert multisetcount(s: sharers, true) < 4; end; end;",
            false,
            reads("sharers"),
        ),
        (
            "i := first();",
            false,
            "the loop over `id` may depend on the order of its elements: the first round that returns decides the result".into(),
        ),
        ("for p: id do if multisetcount(s: sharers, sharers[s] = h) = 0 then multisetadd(p, sharers); end; end;", false, reads("sharers")),
        ("for p: id do if multisetcount(s: sharers, true) = 0 then multisetadd(p, sharers); end; end;", false, reads("sharers")),
        (
            "for p: id do if multisetcount(s: sharers, sharers[s] = p) = 0 then multisetadd(p, sharers); \
             else multisetremovepred(s: sharers, sharers[s] = p); end; end;",
            false,
            may_last("sharers"),
        ),
        ("clear i;", true, cleared("id")),
        ("clear n;", true, cleared("node")),
        ("clear m;", true, cleared("msg")),
        ("for p := i to h do x := 0; end;", true, "the bounds are of type `id`, whose elements have no order".into()),
    ] {
        let found = found(body);
        assert!(found.contains(&(certain, message.clone())), "{body}: {found:?}\nnot {certain} {message}");
    }
}

#[test]
fn start_states_may_choose() {
    let program = program(
        "procedure begin_somewhere(); begin for p: id do i := p; end; clear h; end; startstate begin_somewhere(); clear n; end; rule true ==> b := some(); end;",
    );
    assert_eq!(program.asymmetries, []);
}

#[test]
fn elements_of_unions_are_marked() {
    let program = program("startstate x := 0; end; rule true ==> b := true; end;");
    let marks = |name: &str| {
        let scalar = program.types.iter().filter_map(|ty| ty.scalar()).find(|scalar| scalar.name.as_deref() == Some(name));
        scalar.map(|scalar| scalar.elements.iter().map(|part| (part.set, part.first, part.count)).collect::<Vec<_>>()).unwrap_or_default()
    };
    assert_eq!(marks("id").len(), 1);
    assert_eq!(marks("id"), marks("node"));
    assert_eq!(marks("other"), []);
}
