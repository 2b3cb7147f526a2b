//! The parser on small texts: trees of valid ones, messages for invalid ones.

mod errors;
mod nesting;
mod trees;

use super::dump;
use crate::diagnostics::Severity;
use crate::murphi::parse;
use crate::source::Source;
use expect_test::Expect;

/// The tree of a valid model.
fn check(text: &str, expected: Expect) {
    let source = Source::new("t.m", text);
    let (model, diagnostics) = parse(&source);
    assert!(diagnostics.is_empty(), "{}", diagnostics.render(&source, false));
    expected.assert_eq(&dump::model(&model));
}

/// The trees of valid expressions, one per line.
fn check_expressions(texts: &[&str], expected: Expect) {
    let mut out = String::new();
    for text in texts {
        let source = Source::new("t.m", format!("invariant {text}"));
        let (model, diagnostics) = parse(&source);
        assert!(diagnostics.is_empty(), "{}", diagnostics.render(&source, false));
        let tree = dump::model(&model);
        out.push_str(tree.trim_start_matches("(Invariant ").trim_end_matches(")\n"));
        out.push('\n');
    }
    expected.assert_eq(&out);
}

/// The messages about an invalid model, without source lines.
fn check_errors(text: &str, expected: Expect) {
    let source = Source::new("t.m", text);
    let (_, diagnostics) = parse(&source);
    assert!(diagnostics.has_errors());
    let mut out = String::new();
    for diagnostic in &diagnostics {
        let at = source.position(diagnostic.span.start);
        let warning = if diagnostic.severity == Severity::Warning { "warning: " } else { "" };
        out.push_str(&format!("{}:{}: {warning}{}\n", at.line, at.column, diagnostic.message));
        for (span, remark) in &diagnostic.labels {
            let at = source.position(span.start);
            out.push_str(&format!("    {}:{}: {remark}\n", at.line, at.column));
        }
        if let Some(help) = &diagnostic.help {
            out.push_str(&format!("    help: {help}\n"));
        }
    }
    expected.assert_eq(&out);
}
