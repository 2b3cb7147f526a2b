//! Promela piece by piece: counts of tiny models, which SPIN 6.5.2 confirmed, on the machine and on the program; and messages about wrong ones.

use crate::promela_explore::{Counts, by_machine, by_program, findings, model};

/// The counts of a model, the same in both ways.
fn counts(text: &str) -> (usize, u64, u64, u64) {
    let model = model("t.pml", text);
    let Counts { states, steps, faults, deadlocks } = by_machine(&model, 10_000);
    let program = by_program(&model, 10_000);
    assert_eq!((states, steps, faults, deadlocks), (program.states, program.steps, program.faults, program.deadlocks));
    (states, steps, faults, deadlocks)
}

#[test]
fn processes_end_in_reverse_order() {
    let text = "byte x; proctype A() { x++ } init { run A(); run A(); x = x + 10 }";
    assert_eq!(counts(text), (19, 30, 0, 0));
}

#[test]
fn a_created_process_gives_its_number_to_an_assignment() {
    let text = "byte x; proctype P() { x++ } init { int p, q; p = 1 + run P(); q = 2 * (run P()) - p; x = x + q }";
    let (states, steps, _, _) = counts(text);
    assert_eq!((states, steps), (26, 38));
}

/// The value of `eval` is read before anything is stored. SPIN 6.5 counts more states here, another number depth-first (692) than breadth-first (654): when it takes back such
/// a step it puts the new value of the variable back into the channel.
#[test]
fn eval_reads_what_the_same_message_is_stored_to() {
    let text = "chan c = [3] of { byte, byte }; byte l = 1; byte n;
        active proctype S() { do :: n < 5 -> c!1,2; n++ :: n < 5 -> c!2,1; n++ od }
        active proctype R() { do :: c?eval(l),l :: l == 2 -> l = 1 od }";
    let (states, steps, _, _) = counts(text);
    assert_eq!((states, steps), (465, 861));
}

/// While a message is offered only a receiver may move. SPIN 6.5 also executes a `d_step` that begins with `printf`, and counts ten transitions here.
#[test]
fn an_offered_message_lets_no_other_step_happen() {
    let text = "byte x, y; chan c = [0] of { byte };
        active proctype P() { do :: c!0 :: c?_ od }
        active [2] proctype Q() { do :: d_step { printf(\"x\"); y = 1 }; c?eval(y); x = 1-x od }";
    let (states, steps, _, _) = counts(text);
    assert_eq!((states, steps), (4, 4));
}

/// Hidden variables that hold nothing between steps make no states, as in SPIN.
#[test]
fn hidden_variables_of_one_step_make_no_states() {
    let swap = "hidden byte t; byte a = 1, b = 2, n; active [2] proctype P() { do :: n < 3 -> KIND { t = a; a = b; b = t; n++ } od }";
    for kind in ["d_step", "atomic"] {
        let (states, steps, _, _) = counts(&swap.replace("KIND", kind));
        assert_eq!((states, steps), (16, 26), "{kind}");
    }
    let received = "hidden byte t; chan c = [2] of { byte }; byte a, n;
        active proctype S() { do :: n < 4 -> c!n; n++ od } active proctype R() { do :: atomic { c?t; a = (a + t) % 3 } od }";
    let (states, steps, _, _) = counts(received);
    assert_eq!((states, steps), (32, 46));
    let looped = "hidden byte t; byte a, n;
        active [2] proctype P() { do :: n < 3 -> d_step { t = 0; do :: t < n -> t++; a = (a + t) % 5 :: else -> break od; n++ } od }";
    let (states, steps, _, _) = counts(looped);
    assert_eq!((states, steps), (16, 26));
}

/// Those that are read in a later step stay part of the state: what they hold would be no function of it.
#[test]
fn hidden_variables_that_last_are_part_of_the_state() {
    let text = "hidden byte t; byte x; active proctype P() { t = 1; t = 2; x = t } active proctype Q() { do :: x == 2 -> break od }";
    let plain = counts(&text.replace("hidden ", ""));
    assert_eq!(counts(text), plain);
}

#[test]
fn an_atomic_sequence_is_left_where_it_blocks() {
    let text = "byte x; active proctype A() { atomic { x = 1; x == 3; x = 4 } } active proctype B() { x == 1; x = 2; x = 3 }";
    assert_eq!(counts(text), (9, 9, 0, 0));
}

#[test]
fn a_rendezvous_hands_control_to_the_receiver() {
    let text = "chan c = [0] of { byte }; byte y;
        active proctype A() { atomic { c!1; y = 2 } }
        active proctype B() { byte x; atomic { c?x; y = 1; y = 3 } }";
    assert_eq!(counts(text), (6, 6, 0, 0));
}

#[test]
fn timeout_waits_for_all_others() {
    let text = "byte x; active proctype A() { do :: x < 3 -> x++ :: timeout -> break od } active proctype B() { x == 3; x = 0 }";
    assert_eq!(counts(text), (24, 29, 0, 0));
}

#[test]
fn a_failed_assertion_is_a_fault_and_the_search_goes_on_behind_it() {
    assert_eq!(counts("byte x; active proctype A() { x = 1; assert(x == 2); x = 2 }"), (5, 4, 1, 0));
}

#[test]
fn no_statement_left_is_a_deadlock_unless_a_label_allows_it() {
    assert_eq!(counts("byte x; active proctype A() { x == 1 }").3, 1);
    assert_eq!(counts("byte x; active proctype A() { end: x == 1 }").3, 0);
}

#[test]
fn values_wrap_as_their_types_do() {
    assert_eq!(
        counts("byte b = 255; short s = 32767; bit t = 1; active proctype A() { b++; s++; t++; assert(b == 0 && s == -32768 && t == 0) }").2,
        0
    );
}

#[test]
fn random_receiving_and_sorted_sending() {
    let text = "chan c = [4] of { byte, bit };
        active proctype A() { byte x; bit y; c!!3,1; c!!1,0; c!!2,1; c?x,y; assert(x == 1); c??3,y; assert(y == 1 && len(c) == 1) }";
    assert_eq!(counts(text).2, 0);
}

#[test]
fn macros_inlines_and_conditionals() {
    let text = "#define TWICE(x) ((x) + (x))\n#if defined(TWICE) && TWICE(2) == 4\nbyte g = TWICE(3);\n#else\nsyntax error\n#endif
        inline set(v, e) { v = e; v++ }
        active proctype A() { set(g, g * 2); assert(g == 13) }";
    assert_eq!(counts(text).2, 0);
}

#[test]
fn wrong_texts_get_a_message_at_their_place() {
    let cases = [
        ("active proctype A() { x = 1 }", "t.pml:1:23: error: `x` is not declared"),
        ("active proctype A() { skip", "t.pml:1:21: error: this `{` is not closed"),
        ("active proctype A() { skip;", "t.pml:1:21: error: this `{` is not closed"),
        ("active proctype A() { atomic { skip }", "t.pml:1:21: error: this `{` is not closed"),
        ("active proctype A() { if :: skip -> skip }", "t.pml:1:23: error: this `if` is not closed: expected `fi`, not `}`"),
        ("active proctype A() { do :: skip", "t.pml:1:23: error: this `do` is not closed: expected `od`, not the end of the text"),
        ("active proctype A() { out: d_step { skip; goto out } }", "t.pml:1:43: error: `goto out` cannot leave its `d_step`"),
        ("active proctype A() { goto nowhere }", "error: there is no label `nowhere`"),
        ("/* no end\nactive proctype A() { skip }", "t.pml:1:1: error: this comment has no end"),
        ("#define A A B\n#define B A A\nactive proctype P() { A }", "expected `;` or `->`"),
        ("#include \"missing.h\"\nactive proctype P() { skip }", "cannot read the file \"missing.h\""),
        ("byte a[0]; active proctype P() { skip }", "an array cannot have 0 elements"),
        ("active [300] proctype P() { skip }", "more than 255 processes"),
        ("active proctype P() { break }", "`break` outside of a loop"),
        ("active proctype P() { run Q() }", "there is no process type `Q`"),
        ("proctype Q() { skip } active proctype P() { run Q() > 0 }", "`run` can stand by itself and on the right side of an assignment only"),
        ("proctype Q() { skip } active proctype P() { int x; x = run Q() + run Q() }", "an expression can have one `run` only"),
        ("chan c = [1] of { byte }; active proctype P() { c!1,2 }", "a message of this channel has 1 field, not 2"),
        ("active proctype P() { c_code { x; } }", "C code is not supported"),
        ("byte x;", "no process runs"),
        ("active proctype P() priority 5 { skip }", "t.pml:1:21: error: priorities of processes are not supported"),
        ("proctype Q() { skip } init { run Q() priority 2 }", "t.pml:1:38: error: priorities of processes are not supported"),
        ("active proctype P() { do :: skip :: else :: else od }", "more than one `else`"),
    ];
    for (text, message) in cases {
        let found = findings(text);
        assert!(found.contains(message), "{text}\n{found}");
    }
}

#[test]
fn endless_things_come_to_an_end() {
    // Macros, inlines, d_step and atomic loops.
    let doubled: String = (0..40).map(|n| format!("#define M{} M{n} M{n}\n", n + 1)).collect();
    assert!(findings(&format!("#define M0 skip;\n{doubled}active proctype P() {{ M40 }}")).contains("expands to far too much"));
    assert!(findings("inline f() { f() } active proctype P() { f() }").contains("calls itself"));
    assert_eq!(by_program(&model("t.pml", "byte x; active proctype P() { d_step { do :: x = 1 - x od } }"), 10).faults, 1);
    assert_eq!(by_program(&model("t.pml", "byte x; active proctype P() { atomic { do :: x = 1 - x od } }"), 10).faults, 1);
}

#[test]
fn deep_nesting_is_refused_and_does_not_overflow() {
    let deep = |open: &str, close: &str| format!("active proctype P() {{ {}skip{} }}", open.repeat(5_000), close.repeat(5_000));
    for text in [deep("{ ", " }"), deep("if :: ", " fi"), deep("(", ")"), deep("atomic { ", " }"), deep("! ", "")] {
        assert!(findings(&text).contains("nested too deeply"));
    }
}

#[test]
fn cut_texts_never_panic() {
    let text = include_str!("../../../../models/promela/parcels.pml");
    for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)).step_by(3) {
        findings(&text[..end]);
        findings(&text[end..]);
        findings(&format!("{}}}{}", &text[..end], &text[end..]));
    }
}

/// SPIN 6.5 stops at sending with "bad queue", and at receiving too, if some channel of the model is a rendezvous. Otherwise such a channel looks empty to it.
#[test]
fn a_channel_is_gone_with_the_process_that_made_it() {
    let owner = "chan g = [1] of { chan }; byte v; proctype Owner() { chan mine = [1] of { byte }; g!mine }
        proctype Other() { chan his = [1] of { byte }; his!7 }
        active proctype User() { chan c; run Owner(); g?c; _nr_pr == 1; USE }";
    let judged = |text: &str| {
        let (_, _, faults, deadlocks) = counts(text);
        (faults, deadlocks)
    };
    for faulty in ["c!1", "c!!1", "full(c)", "nfull(c)", "d_step { c!1; v = 1 }", "atomic { v = 1; c!1; v = 2 }"] {
        assert_eq!(judged(&owner.replace("USE", faulty)), (1, 0), "{faulty}");
    }
    for blocked in ["c?v", "c?<v>", "c??3", "c?[v]", "nempty(c)"] {
        assert_eq!(judged(&owner.replace("USE", blocked)), (0, 1), "{blocked}");
    }
    for passing in ["len(c) == 0", "empty(c)", "if :: c?v :: else fi"] {
        assert_eq!(judged(&owner.replace("USE", passing)), (0, 0), "{passing}");
    }
    let meeting = format!("{owner} chan r = [0] of {{ byte }}");
    for faulty in ["c?v", "c?<v>", "c??3", "c?[v]"] {
        assert_eq!(judged(&meeting.replace("USE", faulty)), (1, 0), "{faulty}");
    }
    // A process of another type in the same slot makes another channel.
    assert_eq!(judged(&owner.replace("USE", "run Other(); c?v")).0, 0);
    assert_eq!(judged(&owner.replace("USE", "run Other(); c!1")).0, 3);
    let handed = "chan g = [2] of { chan }; byte v; proctype Owner() { chan mine = [0] of { byte }; g!mine; g!mine }
        proctype Taker(chan c) { c?v } active proctype User() { chan c; run Owner(); g?c; g?c; _nr_pr == 1; run Taker(c); c!1 }";
    assert_eq!(judged(handed), (2, 0));
}

/// The look-ahead ends before the variable gets another channel, whose number lies below that of the one it knows.
#[test]
fn a_channel_that_the_look_ahead_did_not_meet_is_none_that_is_missing() {
    let text = "chan a = [1] of { byte }; chan b = [1] of { byte }; chan c; int n;
        active proctype P() { c = b; c!1; do :: n < 7000 -> n++ :: else -> break od; c = a; c!2; a?2 }";
    let found = by_program(&model("t.pml", text), 20_000);
    assert_eq!((found.faults, found.deadlocks), (0, 0));
}

#[test]
fn one_process_too_many_is_a_fault_at_its_run() {
    let text = "proctype P() { do :: false od }\ninit { do :: run P() od }";
    let model = model("t.pml", text);
    let mut learned = wayfarer_lang::promela::learned::Learned::look_ahead(&model).unwrap();
    learned.slots.resize_with(255, || std::collections::BTreeSet::from([0]));
    let program = wayfarer_lang::promela::lower::lower(&model, &learned).unwrap().program;
    let fault = program.faults.iter().find(|fault| fault.message == "`run P` would make a 256th process").unwrap();
    assert_eq!(fault.at.line, 2);
}

/// SPIN 6.5.2 counts as many.
#[test]
fn records_in_polls_and_arrays_of_records_in_loops() {
    let polled = "typedef M { byte a; byte b }; chan c = [2] of { byte, M };
        active proctype S() { M m; m.a = 1; m.b = 2; c!1,m; m.a = 4; c!2,m }
        active proctype R() { M n; byte k; c??[2,n] ; c?<k,n>; assert(k == 1 && n.b == 2); c?? 2,n; assert(n.a == 4); do :: c?_,n -> break od }";
    let (states, steps, faults, _) = counts(polled);
    assert_eq!((states, steps + 1, faults), (14, 14, 0));
    let looped = "typedef In { byte v[3] }; typedef Rec { byte x; In in[4] }; Rec r[2]; byte n;
        active proctype A() { byte i; for (i in r) { r[i].x = 1; n++ }; for (i in r[1].in) { n++ }; for (i in r[1].in[2].v) { n++ }; assert(n == 9) }";
    assert_eq!(counts(looped).2, 0);
}
