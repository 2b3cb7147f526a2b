//! Draws one diagnostic: the place, the source line, carets under the span, remarks and help.
//!
//! Hand-written rather than taken from a crate because the form is fixed by what editors and scripts parse
//! (`file:line:col: error: message`) and because spans may be wrong without any harm.

use super::{Diagnostic, Severity};
use crate::source::{Source, Span};

/// How many columns of a source line are shown; a longer line is cut to a window around the carets.
const WINDOW: usize = 100;
/// How many columns of a cut line are kept before the carets.
const BEFORE: usize = 30;
/// The text that replaces a tab: terminals disagree about the width of the character itself.
const TAB: &str = "    ";

const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[1;31m";
const YELLOW: &str = "\x1b[1;33m";
const BLUE: &str = "\x1b[1;34m";
const CYAN: &str = "\x1b[1;36m";
const RESET: &str = "\x1b[0m";

/// Writes a diagnostic with its labels and help, followed by an empty line.
pub(super) fn diagnostic(out: &mut String, source: &Source, diagnostic: &Diagnostic, colour: bool) {
    let (word, word_colour) = match diagnostic.severity {
        Severity::Error => ("error", RED),
        Severity::Warning => ("warning", YELLOW),
    };
    let paint = Paint { colour };
    let at = source.position(diagnostic.span.start);
    let place = format!("{}:{}:{}:", source.name(), at.line, at.column);
    out.push_str(&format!(
        "{} {} {}\n",
        paint.with(BOLD, &place),
        paint.with(word_colour, &format!("{word}:")),
        paint.with(BOLD, &visible(&diagnostic.message))
    ));
    let lines = diagnostic.labels.iter().map(|(span, _)| source.position(span.start).line);
    let margin = lines.chain([at.line]).max().unwrap_or(1).to_string().len();
    snippet(out, source, diagnostic.span, '^', "", margin, word_colour, paint);
    for (span, remark) in &diagnostic.labels {
        snippet(out, source, *span, '-', remark, margin, BLUE, paint);
    }
    if let Some(help) = &diagnostic.help {
        out.push_str(&format!("{:margin$} {} {}\n", "", paint.with(CYAN, "= help:"), visible(help)));
    }
    out.push('\n');
}

/// Chooses between plain and coloured text once, so that the drawing code does not branch.
#[derive(Clone, Copy)]
struct Paint {
    colour: bool,
}

impl Paint {
    fn with(self, code: &str, text: &str) -> String {
        if self.colour { format!("{code}{text}{RESET}") } else { text.to_string() }
    }
}

/// Writes the first line of a span with marks under it and a remark beside the marks.
#[expect(clippy::too_many_arguments, reason = "one drawing, called twice; a struct of its arguments would say nothing more")]
fn snippet(out: &mut String, source: &Source, span: Span, mark: char, remark: &str, margin: usize, colour: &str, paint: Paint) {
    let at = source.position(span.start);
    let line = source.line(at.line);
    let end = source.position(span.end.max(span.start));
    let characters = line.chars().count();
    // Spans over several lines are marked to the end of the first; empty ones, and those at the end of the file, by one mark.
    let first = (at.column - 1).min(characters);
    let last = if end.line == at.line { end.column - 1 } else { characters }.max(first);

    let mut cells = Vec::new();
    let mut first_cell = 0;
    let mut last_cell = 0;
    for (index, character) in line.chars().enumerate() {
        if index == first {
            first_cell = cells.len();
        }
        if index == last {
            last_cell = cells.len();
        }
        if character == '\t' { cells.extend(TAB.chars()) } else { cells.push(visible_character(character)) }
    }
    if first == characters {
        first_cell = cells.len();
    }
    if last == characters {
        last_cell = cells.len();
    }

    let from = if cells.len() <= WINDOW { 0 } else { first_cell.saturating_sub(BEFORE) };
    let to = cells.len().min(from + WINDOW);
    let lead = if from > 0 { "… " } else { "" };
    let tail = if to < cells.len() { " …" } else { "" };
    let text: String = cells[from..to].iter().collect();
    let indent = lead.chars().count() + first_cell - from;
    let marks: String = std::iter::repeat_n(mark, last_cell.min(to).saturating_sub(first_cell).max(1)).collect();
    let note = if remark.is_empty() { marks } else { format!("{marks} {}", visible(remark)) };
    let number = format!("{:>margin$} |", at.line);
    let blank = format!("{:>margin$} |", "");
    out.push_str(&format!("{} {lead}{}{tail}\n", paint.with(BLUE, &number), text.trim_end()));
    out.push_str(&format!("{} {:indent$}{}\n", paint.with(BLUE, &blank), "", paint.with(colour, &note)));
}

/// Control characters would move the cursor or change the terminal: the text under them is not trusted.
fn visible_character(character: char) -> char {
    if character.is_control() { '\u{fffd}' } else { character }
}

/// A message without control characters; messages quote the text they are about.
fn visible(text: &str) -> String {
    text.chars().map(visible_character).collect()
}

#[cfg(test)]
mod tests {
    use crate::diagnostics::{Diagnostic, Diagnostics};
    use crate::source::{Source, Span};
    use expect_test::{Expect, expect};

    fn check(text: &str, diagnostics: &[Diagnostic], expected: Expect) {
        let mut list = Diagnostics::new();
        for diagnostic in diagnostics {
            list.push(diagnostic.clone());
        }
        expected.assert_eq(&list.render(&Source::new("t.m", text), false));
    }

    #[test]
    fn a_span_a_label_and_help() {
        let finding = Diagnostic::error(Span::new(13, 16), "expected `end`, found `rule`")
            .with_label(Span::new(0, 2), "this `if` is not closed")
            .with_help("close it with `end`");
        check(
            "if x then\ny; rule\n",
            &[finding],
            expect![[r#"
                t.m:2:4: error: expected `end`, found `rule`
                2 | y; rule
                  |    ^^^
                1 | if x then
                  | -- this `if` is not closed
                  = help: close it with `end`

            "#]],
        );
    }

    #[test]
    fn tabs_and_wide_text_keep_the_marks_in_place() {
        check(
            "\té→ x\t:= 1",
            &[Diagnostic::warning(Span::new(7, 8), "odd name")],
            expect![[r#"
                t.m:1:5: warning: odd name
                1 |     é→ x    := 1
                  |        ^

            "#]],
        );
    }

    #[test]
    fn long_lines_are_cut_around_the_marks() {
        let text = format!("{}bad{}", "a ".repeat(200), " b".repeat(200));
        check(
            &text,
            &[Diagnostic::error(Span::new(400, 403), "wrong")],
            expect![[r#"
                t.m:1:401: error: wrong
                1 | … a a a a a a a a a a a a a a a bad b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b …
                  |                                 ^^^

            "#]],
        );
    }

    #[test]
    fn places_outside_the_text_are_drawn_at_its_end() {
        check(
            "var",
            &[Diagnostic::error(Span::new(3, 3), "at the end"), Diagnostic::error(Span::new(70, 90), "beyond")],
            expect![[r#"
                t.m:1:4: error: at the end
                1 | var
                  |    ^

                t.m:1:4: error: beyond
                1 | var
                  |    ^

            "#]],
        );
        check(
            "",
            &[Diagnostic::error(Span::new(5, 1), "backwards")],
            expect![[r#"
                t.m:1:1: error: backwards
                1 | 
                  | ^

            "#]],
        );
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let mut list = Diagnostics::new();
        list.push(Diagnostic::error(Span::new(0, 1), "odd \x1b[2J"));
        assert!(!list.render(&Source::new("t.m", "\x1b[2Jx"), false).contains('\x1b'));
    }

    #[test]
    fn only_the_first_are_shown() {
        let mut list = Diagnostics::new();
        for index in 0..25 {
            list.push(Diagnostic::error(Span::new(0, 1), format!("number {index}")));
        }
        let text = list.render(&Source::new("t.m", "x"), true);
        assert!(text.contains("number 19") && !text.contains("number 20") && text.ends_with("and 5 more\n"));
        assert!(text.contains("\x1b[1;31merror:"));
    }
}
