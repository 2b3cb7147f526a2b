//! Diagnostics about a text, and their form on a terminal.
//!
//! A [`Diagnostic`] is data; only [`Diagnostics::render`] decides how it looks, so that a web page or an editor can
//! show the same diagnostics in its own way.

mod render;

use crate::source::{Source, Span};

/// The number of diagnostics that [`Diagnostics::render`] shows; the rest are only counted.
pub const SHOWN: usize = 20;

/// Whether a diagnostic stops the model from being used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The text is not a valid model.
    Error,
    /// The model can be used, but may not mean what its author thinks.
    Warning,
}

/// One diagnostic, with its position in the text.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Whether it is an error or a warning.
    pub severity: Severity,
    /// The position.
    pub span: Span,
    /// The message: lower case, no full stop.
    pub message: String,
    /// Other positions that explain it, each with a remark.
    pub labels: Vec<(Span, String)>,
    /// A suggestion of what would be right, if there is one.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at a position.
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Error, span, message: message.into(), labels: Vec::new(), help: None }
    }

    /// A warning at a position.
    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(span, message) }
    }

    /// The same diagnostic with one more position that explains it.
    pub fn with_label(mut self, span: Span, remark: impl Into<String>) -> Self {
        self.labels.push((span, remark.into()));
        self
    }

    /// The same diagnostic with a suggestion.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// All diagnostics about one text, in the order in which they were reported.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// An empty list.
    pub fn new() -> Self {
        Diagnostics::default()
    }

    /// Adds a diagnostic.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    /// Appends the diagnostics of another list.
    pub fn extend(&mut self, other: Diagnostics) {
        self.list.extend(other.list);
    }

    /// Removes all diagnostics after the first `length`, for a parser that tries one alternative before another.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.list.truncate(length);
    }

    /// Whether any diagnostic is an error: then the result must not be used.
    pub fn has_errors(&self) -> bool {
        self.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Whether there are no diagnostics.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The number of diagnostics.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// The diagnostics, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// The diagnostics about a text that comes after `base` bytes of another.
    pub fn moved(self, base: u32) -> Diagnostics {
        let moved = |diagnostic: Diagnostic| Diagnostic {
            span: diagnostic.span.shifted(base),
            labels: diagnostic.labels.into_iter().map(|(span, remark)| (span.shifted(base), remark)).collect(),
            ..diagnostic
        };
        Diagnostics { list: self.list.into_iter().map(moved).collect() }
    }

    /// Splits the diagnostics of two texts, the second of which begins at `base`. The positions of its diagnostics
    /// are those in the second text alone; labels in the other text are left out.
    pub fn split(self, base: u32) -> (Diagnostics, Diagnostics) {
        let (second, first): (Vec<Diagnostic>, Vec<Diagnostic>) = self.list.into_iter().partition(|diagnostic| diagnostic.span.start >= base);
        let back = |span: Span| Span::new(span.start.saturating_sub(base), span.end.saturating_sub(base));
        let moved = |diagnostic: Diagnostic| Diagnostic {
            span: back(diagnostic.span),
            labels: diagnostic.labels.into_iter().filter(|label| label.0.start >= base).map(|(span, remark)| (back(span), remark)).collect(),
            ..diagnostic
        };
        (Diagnostics { list: first }, Diagnostics { list: second.into_iter().map(moved).collect() })
    }

    /// Sorts the diagnostics by position; those at one position keep their order.
    pub fn sort(&mut self) {
        self.list.sort_by_key(|diagnostic| diagnostic.span.start);
    }

    /// The diagnostics as text for a terminal: the first [`SHOWN`] with their source lines, errors before warnings if
    /// not all fit, and the number of the rest. `colour` adds ANSI escapes.
    pub fn render(&self, source: &Source, colour: bool) -> String {
        let mut shown: Vec<&Diagnostic> = self.list.iter().collect();
        if shown.len() > SHOWN {
            shown.sort_by_key(|diagnostic| diagnostic.severity == Severity::Warning);
        }
        let hidden = shown.len().saturating_sub(SHOWN);
        shown.truncate(SHOWN);
        let mut out = String::new();
        for diagnostic in shown {
            render::diagnostic(&mut out, source, diagnostic, colour);
        }
        if hidden > 0 {
            // Parsers give up at some point, so a large number is only a lower bound.
            let least = if hidden + SHOWN >= 200 { "at least " } else { "" };
            out.push_str(&format!("and {least}{hidden} more\n"));
        }
        out
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
