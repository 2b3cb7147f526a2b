//! Deep and long inputs: no text overflows a small stack, and long flat ones are fine.

use super::dump;
use crate::murphi::parse;
use crate::source::Source;

/// Parses on a stack of 2 MiB, the default of Rust's threads, and drops the tree there too.
fn errors(text: String) -> Vec<String> {
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let handle = thread.spawn(move || {
        let source = Source::new("t.m", text);
        let (model, diagnostics) = parse(&source);
        dump::model(&model);
        diagnostics.iter().map(|diagnostic| diagnostic.message.clone()).collect()
    });
    handle.expect("a thread starts").join().expect("reading does not panic")
}

#[test]
fn deep_nesting_is_refused() {
    let n = 100_000;
    let deep = [
        format!("invariant {}", "(".repeat(n)),
        format!("invariant {}a", "!".repeat(n)),
        format!("invariant {}a", "- ".repeat(n)),
        format!("invariant {}", "a[".repeat(n)),
        format!("invariant {}", "f(".repeat(n)),
        format!("invariant {}", "a ? ".repeat(n)),
        format!("invariant {}a", "a ? b : ".repeat(n)),
        format!("invariant {}", "forall i : t do ".repeat(n)),
        format!("invariant {}", "forall i : ".repeat(n)),
        format!("invariant {}", "ismember(a, ".repeat(n)),
        format!("invariant a{}", " - a".repeat(n)),
        format!("invariant a{}", " + a - a".repeat(n)),
        format!("invariant a{}", ".b".repeat(n)),
        format!("invariant a{}", "[1]".repeat(n)),
        format!("invariant {}a{}", "(".repeat(150), " - a)".repeat(150)),
        format!("invariant {}a{}", "(".repeat(150), " - a - a - a)".repeat(150)),
        format!("invariant {}a{}", "forall i : 0 .. ".repeat(90), " do a end - a - a - a".repeat(90)),
        format!("type t: {}", "record a: ".repeat(n)),
        format!("type t: {}", "array [t] of ".repeat(n)),
        format!("type t: {}", "union { ".repeat(n)),
        format!("rule {}", "if a then ".repeat(n)),
        format!("rule {}", "if a then else ".repeat(n)),
        format!("rule {}", "switch a case b: ".repeat(n)),
        "ruleset i : t do ".repeat(n),
        "alias a : b do ".repeat(n),
        "choose i : b do ".repeat(n),
    ];
    for text in deep {
        let start = text[..60.min(text.len())].to_string();
        let errors = errors(text);
        // Text that ends early gives other errors first only if it is not too deep.
        assert!(errors.iter().any(|message| message == "nested too deeply"), "{start}: {errors:?}");
    }
}

#[test]
fn long_chains_are_flat() {
    let n = 100_000;
    for operator in ["&", "|", "+", "*", "&&", "||"] {
        assert_eq!(errors(format!("invariant a{}", format!(" {operator} a").repeat(n))), [""; 0]);
    }
    let branches = "elsif a then b := 1; ".repeat(n);
    assert_eq!(errors(format!("rule begin if a then {branches} end; end")), [""; 0]);
}

#[test]
fn moderate_nesting_is_accepted() {
    let n = 150;
    assert_eq!(errors(format!("invariant {}a{}", "(".repeat(n), ")".repeat(n))), [""; 0]);
    assert_eq!(errors(format!("invariant a{}", " - a".repeat(n))), [""; 0]);
    assert_eq!(errors(format!("rule {}{} end", "if a then ".repeat(n), "end ".repeat(n))), [""; 0]);
}

#[test]
fn garbage_ends_after_a_bounded_number_of_errors() {
    let messages = errors("rule ) end; ".repeat(100_000));
    assert!(messages.len() <= 200, "{}", messages.len());
}
