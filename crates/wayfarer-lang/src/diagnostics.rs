//! What the readers of this crate have to say about a text, and how it looks on a terminal.
//!
//! A [`Diagnostic`] is data; only [`Diagnostics::render`] decides about its looks, so that a web page or an editor can show
//! the same findings in its own way.

mod render;

use crate::source::{Source, Span};

/// How many diagnostics [`Diagnostics::render`] shows before it only counts the rest.
pub const SHOWN: usize = 20;

/// Whether a finding stops the model from being used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The text cannot be taken as a model.
    Error,
    /// The model can be used, but may not mean what its author thinks.
    Warning,
}

/// One finding, with its place in the text.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Where it is.
    pub span: Span,
    /// What is the matter: lower case, no full stop.
    pub message: String,
    /// Other places that explain it, each with a remark.
    pub labels: Vec<(Span, String)>,
    /// What would be right, where that can be guessed.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Error, span, message: message.into(), labels: Vec::new(), help: None }
    }

    /// A warning at a place.
    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(span, message) }
    }

    /// The same finding with one more place that explains it.
    pub fn with_label(mut self, span: Span, remark: impl Into<String>) -> Self {
        self.labels.push((span, remark.into()));
        self
    }

    /// The same finding with a word on what would be right.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// All findings about one text, in the order in which they were made.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// No findings yet.
    pub fn new() -> Self {
        Diagnostics::default()
    }

    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    /// Adds the findings of another list after these.
    pub fn extend(&mut self, other: Diagnostics) {
        self.list.extend(other.list);
    }

    /// Takes back all findings after the first `length`; a reader that tries one way before another needs it.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.list.truncate(length);
    }

    /// Whether any finding is an error: then what was read must not be used.
    pub fn has_errors(&self) -> bool {
        self.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many findings there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// The findings, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// The findings about a text that stands after `base` bytes of another.
    pub fn moved(self, base: u32) -> Diagnostics {
        let moved = |diagnostic: Diagnostic| Diagnostic {
            span: diagnostic.span.shifted(base),
            labels: diagnostic.labels.into_iter().map(|(span, remark)| (span.shifted(base), remark)).collect(),
            ..diagnostic
        };
        Diagnostics { list: self.list.into_iter().map(moved).collect() }
    }

    /// Parts the findings of two texts, of which the second begins at `base`. Its findings have the places that they have in the second text alone;
    /// explanations in the other text are left out.
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

    /// Puts the findings into the order of the text; those at one place keep their order.
    pub fn sort(&mut self) {
        self.list.sort_by_key(|diagnostic| diagnostic.span.start);
    }

    /// The findings as text for a terminal: the first [`SHOWN`] with their source lines, errors before warnings when not all
    /// fit, and the number of the rest. `colour` adds ANSI escapes.
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
            // Readers stop to look at some point, so a large number is only the least.
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
