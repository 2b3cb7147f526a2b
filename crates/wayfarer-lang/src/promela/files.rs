//! The files of a model in one row of offsets: the model itself first, then what it includes.
//!
//! A span below the model's length is a place in the model. A span beyond it lies in an included file; messages about it
//! are moved to the `#include` that brought the file in, and name the place in their words.

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::{Position, Source, Span};
use wayfarer_ir::At;

/// The model's source and the files it includes.
pub(super) struct Files {
    sources: Vec<(Source, u32, Span)>,
    end: u32,
}

impl Files {
    /// The model alone; none where it is too large.
    pub(super) fn new(source: &Source) -> Option<Self> {
        let end = u32::try_from(source.text().len()).ok()?;
        Some(Files { sources: vec![(source.clone(), 0, Span::default())], end })
    }

    /// Adds an included file.
    pub(super) fn add(&mut self, name: String, text: String, included_at: Span) -> Option<usize> {
        let base = self.end.checked_add(1)?;
        self.end = base.checked_add(u32::try_from(text.len()).ok()?)?;
        self.sources.push((Source::new(name, text), base, included_at));
        Some(self.sources.len() - 1)
    }

    /// The text of a file and where it begins.
    pub(super) fn text(&self, number: usize) -> (String, u32) {
        let (source, base, _) = &self.sources[number];
        (source.text().to_string(), *base)
    }

    /// The end of the model itself.
    pub(super) fn main_end(&self) -> u32 {
        self.sources[0].0.text().len() as u32
    }

    fn find(&self, offset: u32) -> (&Source, u32, Span) {
        let number = self.sources.partition_point(|(_, base, _)| *base <= offset).saturating_sub(1);
        let (source, base, at) = &self.sources[number];
        (source, *base, *at)
    }

    /// Line and column of a span's start, in its own file.
    pub(super) fn at(&self, span: Span) -> At {
        let (source, base, _) = self.find(span.start);
        let Position { line, column } = source.position(span.start - base);
        At { line: line as u32, column: column as u32 }
    }

    /// The text of a span on one line, shortened where it is long.
    pub(super) fn words(&self, span: Span) -> String {
        const LONGEST: usize = 60;
        let (source, base, _) = self.find(span.start);
        let text = source.slice(Span::new(span.start - base, span.end.saturating_sub(base).max(span.start - base)));
        let mut words = String::new();
        let mut rest = text;
        // Comments are no part of a statement.
        while let Some(at) = rest.find("/*") {
            words.push_str(&rest[..at]);
            words.push(' ');
            rest = rest[at..].find("*/").map_or("", |end| &rest[at + end + 2..]);
        }
        words.push_str(rest);
        let words: Vec<&str> = words.lines().flat_map(|line| line.split("//").next().unwrap_or("").split_whitespace()).collect();
        let words = words.join(" ").trim_end_matches([';', ' ']).to_string();
        match words.char_indices().nth(LONGEST) {
            Some((cut, _)) => format!("{}…", &words[..cut]),
            None => words,
        }
    }

    /// Moves findings in included files to the places that included them.
    pub(super) fn settle(&self, diagnostics: Diagnostics) -> Diagnostics {
        let mut settled = Diagnostics::new();
        for diagnostic in &diagnostics {
            settled.push(self.settle_one(diagnostic.clone()));
        }
        settled
    }

    fn settle_one(&self, mut diagnostic: Diagnostic) -> Diagnostic {
        let main = self.main_end();
        diagnostic.labels.retain(|(span, _)| span.start <= main);
        let mut placed = false;
        for _ in 0..=self.sources.len() {
            if diagnostic.span.start <= main {
                break;
            }
            let (source, base, included_at) = self.find(diagnostic.span.start);
            let place = source.position(diagnostic.span.start - base);
            // The innermost place is named; the files around it are known by their `#include`.
            if !std::mem::replace(&mut placed, true) {
                diagnostic.message = format!("{}:{}:{}: {}", source.name(), place.line, place.column, diagnostic.message);
            }
            diagnostic.span = included_at;
        }
        diagnostic
    }
}
