//! Damaged models: whatever the damage, parsing and rendering end without a panic, and every span lies in the text.

use wayfarer_lang::diagnostics::Diagnostics;
use wayfarer_lang::murphi;
use wayfarer_lang::source::Source;

/// Together these use every form of the language.
const SNIPPETS: [&str; 4] = [
    r#"const N: 3; -- a comment
type proc: scalarset(N); st: enum { idle, busy };
  rec: record a, b: boolean; c: array [proc] of 0 .. N - 1; end;
  mix: union { proc, enum { home } };
var s: array [proc] of st; bag: multiset [2] of rec; m: mix;
function f(var x: rec; y: proc): boolean; var z: boolean; begin z := x.c[y] = 0; return z & !x.a -> x.b; end;
procedure p(); begin clear s; undefine m; end;
"#,
    r#"ruleset i: proc; j := 0 to 3 by 2 do
  rule 3 "go" s[i] = idle & (forall k: proc do k != i -> s[k] = idle end) ==>
  var t: boolean;
  begin
    if t then s[i] := busy; elsif isundefined(t) then error "no"; else put "x\n"; put t; endif;
    switch s[i] case idle, busy: p(); else return; end;
    while t do t := !t; endwhile;
    for k: proc do alias a: s[k] do a := idle; end; endfor;
    assert "why" t ? t : f(r, i);
  endrule;
  startstate "s" begin s[i] := idle; end;
endruleset;
"#,
    r#"choose e: bag do
  rule "take" bag[e].a ==> begin multisetremove(e, bag); multisetremovepred(x: bag, bag[x].b); multisetadd(r, bag); end;
endchoose;
invariant "count" multisetcount(x: bag, bag[x].a) <= 2; cover a = 1 "c"; assume !b = c; liveness exists i: proc do true end;
"#,
    "var x: 0 .. 0xff; startstate x ≔ 010 × 2 ÷ 1 − 3; end rule “q” x ≥ 1 ∧ ¬(x ≠ 2) ⇒ x := ~x ^ 1 << 2 >> 1; /* c */ end",
];

/// Pieces that are inserted or left out, chosen to open blocks, close the wrong ones and begin something that is
/// never finished.
const PIECES: [&str; 32] = [
    "end",
    "endif",
    "endrule",
    "if",
    "else",
    "elsif",
    "then",
    "do",
    "begin",
    "rule",
    "ruleset",
    "var",
    "record",
    "forall",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ":",
    ":=",
    "=",
    "==>",
    "=>",
    "\"",
    "/*",
    "--",
    "-",
    "é",
    "9999999999999999999999",
];

/// SplitMix64: the cases are the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

fn mutate(text: &str, random: &mut Random) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        let end = (at + 1 + random.below(20)).min(bytes.len());
        match random.below(6) {
            0 => bytes[at] = random.next() as u8,
            1 => drop(bytes.drain(at..end)),
            2 => bytes.truncate(at.max(1)),
            3 => {
                let copy = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, copy);
            }
            _ => {
                let piece = format!(" {} ", PIECES[random.below(PIECES.len())]);
                bytes.splice(at..at, piece.into_bytes());
            }
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}

fn check_spans(diagnostics: &Diagnostics, source: &Source) {
    let length = source.text().len() as u32;
    for diagnostic in diagnostics {
        assert!(diagnostic.span.start <= diagnostic.span.end && diagnostic.span.end <= length, "{diagnostic:?}");
    }
}

#[test]
fn the_snippets_are_sound() {
    for snippet in SNIPPETS {
        let source = Source::new("snippet.m", snippet);
        let (_, diagnostics) = murphi::parse(&source);
        assert!(!diagnostics.has_errors(), "{}", diagnostics.render(&source, false));
    }
}

#[test]
fn damaged_models_do_not_panic() {
    let mut random = Random(2024);
    let mut with_errors = 0;
    for case in 0..4000 {
        let bytes = mutate(SNIPPETS[case % SNIPPETS.len()], &mut random);
        let source = Source::from_bytes("damaged.m", &bytes);
        let (_, diagnostics) = murphi::parse(&source);
        check_spans(&diagnostics, &source);
        diagnostics.render(&source, case % 2 == 0);
        with_errors += usize::from(diagnostics.has_errors());
    }
    assert!(with_errors > 2000, "the mutations hardly damage anything: {with_errors} of 4000");
}

#[test]
fn every_beginning_of_a_model_is_read() {
    for snippet in SNIPPETS {
        for end in (0..snippet.len()).filter(|&end| snippet.is_char_boundary(end)) {
            let source = Source::new("cut.m", &snippet[..end]);
            let (_, diagnostics) = murphi::parse(&source);
            diagnostics.render(&source, false);
        }
    }
}
