//! Models that nobody would write: exchanged words, deep nesting, long texts.

use wayfarer_ir::{Interpreter, Limits};
use wayfarer_lang::murphi::{self, Options};
use wayfarer_lang::source::Source;
use wayfarer_space::{Firing, Space, Steps};

/// Words and numbers of a text, with their positions.
fn words(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, character) in text.char_indices().chain([(text.len(), ' ')]) {
        let inside = character.is_alphanumeric() || character == '_';
        match (inside, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                found.push((from, &text[from..at]));
                start = None;
            }
            _ => {}
        }
    }
    found
}

/// Models in which words were exchanged with others of the same text: most still parse, and then have a strange
/// meaning. In any case, elaboration ends with a program that verifies and runs, or with errors, and never reports an
/// internal error.
#[test]
fn strange_models_do_not_panic() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/murphi");
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("the models are there").filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let mut seed = 7u64;
    let mut random = |bound: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % bound.max(1)
    };
    let (mut parsed, mut accepted) = (0, 0);
    let cases = std::env::var("WAYFARER_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1500);
    for case in 0..cases {
        let text = std::fs::read_to_string(&files[case % files.len()]).expect("a model is text");
        let words = words(&text);
        let mut changed = text.clone();
        // From the back, so that positions stay valid.
        let mut places: Vec<usize> = (0..=random(2)).map(|_| random(words.len())).collect();
        places.sort_unstable();
        places.dedup();
        for place in places.into_iter().rev() {
            let (at, word) = words[place];
            changed.replace_range(at..at + word.len(), words[random(words.len())].1);
        }
        let source = Source::new("strange.m", changed);
        let (_, reading) = murphi::parse(&source);
        parsed += usize::from(!reading.has_errors());
        let (program, diagnostics) = murphi::load(&source, &Options::default());
        assert!(!diagnostics.iter().any(|diagnostic| diagnostic.message.contains("mistake in Wayfarer")), "{}", source.text());
        diagnostics.render(&source, false);
        let Some(program) = program else { continue };
        accepted += 1;
        let space = Interpreter::new(program, Limits { fuel: 10_000, ..Limits::default() });
        let mut steps = Steps::new(space.width());
        space.initial(&mut steps);
        if !steps.is_empty() {
            let state = steps.states.get(0).to_vec();
            let mut next = Vec::new();
            for rule in 0..space.rules().min(1000) {
                space.fire(&state, Firing::of(rule), &mut next);
            }
        }
    }
    assert!(parsed > cases / 3 && accepted > cases / 15, "{parsed} parsed and {accepted} accepted of {cases}: the changes are too wild or too tame");
}

/// Models made to be deep, long or doubling: they are read or refused, in little time and on a small stack.
#[test]
fn nothing_runs_away() {
    let deep = |open: &str, inner: &str, close: &str, times: usize| format!("{}{inner}{}", open.repeat(times), close.repeat(times));
    let array = "var a: array [0 .. 3] of 0 .. 3; b: boolean; x: 0 .. 3; startstate clear a; x := 0; b := true; end;\n";
    let mut models = vec![
        format!("{array} rule x := {}; end;", deep("a[", "x", "]", 150)),
        format!("{array} rule x := {}; end;", deep("1 << (", "x", ")", 90)),
        format!("{array} rule b := {}; end;", deep("!(", "b", ")", 90)),
        format!("{array} rule b := {}; end;", deep("b -> (b | (", "b", "))", 45)),
        format!("{array} rule {} end;", deep("if b then ", "b := b;", " end;", 150)),
        format!("{array} rule {} end;", deep("for i: 0 .. 0 do ", "b := b;", " end;", 150)),
        format!("{array} rule x := {}; end;", deep("b ? (", "x", ") : 1", 90)),
        format!("{array} rule b := {}; end;", vec!["b"; 50_000].join(" & ")),
        format!("{array} rule x := {}; end;", vec!["x"; 50_000].join(" + ")),
        format!("{array} rule {} end;", "x := a[x]; alias y: a[x] do y := x; end; ".repeat(5000)),
        format!("{array} {}", "rule x = 1 ==> x := 0; end; ".repeat(5000)),
        format!("{array} {}", "rule y = z ==> z := y; end; ".repeat(5000)),
        format!("{array} {}", deep("ruleset i: 0 .. 1 do ", "rule b := b; end; ", "end; ", 150)),
    ];
    // Each alias is used twice by the next, each type twice in the next, each function calls the one before.
    let aliases: String = (0..60).map(|i| format!("alias c{}: a[(c{i} + c{i}) % 4] do ", i + 1)).collect();
    models.push(format!("{array} alias c0: x do {aliases} rule c60 = 0 ==> b := c60 = 1; end; {} end;", "end; ".repeat(60)));
    let types: String = (0..70).map(|i| format!("t{}: record p, q: t{i}; end; ", i + 1)).collect();
    models.push(format!("type t0: boolean; {types} var v: t70; startstate clear v; end;"));
    let chain: String = (0..70).map(|i| format!("t{}: record p: t{i}; end; ", i + 1)).collect();
    models.push(format!("type t0: boolean; {chain} var v: t70; startstate clear v; end;"));
    let functions: String =
        (0..3000).map(|i| format!("function f{}(v: 0 .. 3; var w: 0 .. 3): 0 .. 3; begin return f{i}(v, w); end; ", i + 1)).collect();
    models.push(format!("{array} function f0(v: 0 .. 3; var w: 0 .. 3): 0 .. 3; begin return v; end; {functions} rule x := f3000(x, x); end;"));
    for model in models {
        let started = std::time::Instant::now();
        let source = Source::new("m", model);
        let (program, diagnostics) = murphi::load(&source, &Options::default());
        let text = diagnostics.render(&source, false);
        assert!(!text.contains("mistake in Wayfarer"), "{text}");
        if let Some(program) = program {
            let space = Interpreter::new(program, Limits::default());
            space.initial(&mut Steps::new(space.width()));
        }
        let head: String = source.text().chars().skip(array.len()).take(60).collect();
        assert!(started.elapsed().as_secs() < 5, "{head}: {:?}", started.elapsed());
        if std::env::var_os("WAYFARER_SHOW").is_some() {
            eprintln!("{head}… {:?} {}", started.elapsed(), text.lines().next().unwrap_or("accepted"));
        }
    }
}
