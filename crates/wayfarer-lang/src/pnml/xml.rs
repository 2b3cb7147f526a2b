//! XML with places: elements by local name, their text, and spans for messages. Entities of a document's own are not expanded, so that a small file
//! stays small.

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::{Source, Span};
use roxmltree::{Document, Node, ParsingOptions};
use wayfarer_ir::At;

/// The longest text that is read: beyond it a tree of its elements would take gigabytes.
pub(super) const LARGEST_TEXT: usize = 256 << 20;

/// Elements inside each other, at most. Terms and formulas are trees, and whoever walks them may call itself once for each level.
pub(super) const DEEPEST: u32 = 1_000;

/// Findings beyond this many are not made: one wrong line in a generator is wrong in every element.
const MOST_FINDINGS: usize = 200;

/// An element.
pub(super) type Element<'a> = Node<'a, 'a>;

/// Reads a text as XML. None where it is none, with the reason.
pub(super) fn parse<'a>(source: &'a Source, diagnostics: &mut Diagnostics) -> Option<Document<'a>> {
    let text = source.text();
    if text.len() > LARGEST_TEXT {
        let message = format!("the text has {} MiB, and at most {} MiB are read", text.len() >> 20, LARGEST_TEXT >> 20);
        diagnostics.push(Diagnostic::error(Span::default(), message));
        return None;
    }
    if let Some(at) = too_deep(text) {
        diagnostics.push(Diagnostic::error(Span::new(at, at + 1), format!("elements are nested more than {DEEPEST} levels deep")));
        return None;
    }
    match Document::parse_with_options(text, ParsingOptions { allow_dtd: false, ..ParsingOptions::default() }) {
        Ok(document) => Some(document),
        Err(error) => {
            // A text that ends too early is wrong at its end; the library names no place for that.
            let ended = matches!(error, roxmltree::Error::UnexpectedEndOfStream | roxmltree::Error::UnclosedRootNode);
            let at = if ended { text.trim_end().len() as u32 } else { offset(source, error.pos()) };
            // The library's messages name the place, which is shown anyway.
            let message = error.to_string().replace(&format!(" at {}", error.pos()), "");
            diagnostics.push(Diagnostic::error(Span::new(at, at + 1), format!("this is not well-formed XML: {message}")));
            None
        }
    }
}

/// The place where elements are nested too deep, if there is one. Counted before anything is built; comments and texts in which tags are quoted are passed over.
fn too_deep(text: &str) -> Option<u32> {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0u32, 0);
    while let Some(found) = find(bytes, at, b"<") {
        let rest = &bytes[found..];
        at = if rest.starts_with(b"<!--") {
            find(bytes, found + 4, b"-->")?
        } else if rest.starts_with(b"<![CDATA[") {
            find(bytes, found + 9, b"]]>")?
        } else if rest.starts_with(b"<?") || rest.starts_with(b"<!") {
            find(bytes, found, b">")?
        } else {
            let end = find(bytes, found, b">")?;
            if rest.starts_with(b"</") {
                depth = depth.saturating_sub(1);
            } else if bytes[end - 1] != b'/' {
                depth += 1;
                if depth > DEEPEST {
                    return Some(found as u32);
                }
            }
            end
        };
    }
    None
}

fn find(bytes: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    let mut from = from;
    loop {
        let next = from + bytes.get(from..)?.iter().position(|byte| *byte == what[0])?;
        if bytes[next..].starts_with(what) {
            return Some(next);
        }
        from = next + 1;
    }
}

/// The offset of a row and column that the library counts.
fn offset(source: &Source, at: roxmltree::TextPos) -> u32 {
    let mut start = 0;
    for (number, line) in source.text().split_inclusive('\n').enumerate() {
        if number + 1 == at.row as usize {
            let inside: usize = line.chars().take(at.col.saturating_sub(1) as usize).map(char::len_utf8).sum();
            return (start + inside) as u32;
        }
        start += line.len();
    }
    source.text().len().saturating_sub(1) as u32
}

/// The span of an element's opening tag.
pub(super) fn span(element: Element) -> Span {
    let range = element.range();
    let text = &element.document().input_text()[range.clone()];
    let length = text.find('>').map_or(text.len(), |end| end + 1);
    Span::new(range.start as u32, (range.start + length) as u32)
}

/// The span of an attribute's value, or of the element where it has none.
pub(super) fn value_span(element: Element, attribute: &str) -> Span {
    match element.attributes().find(|candidate| candidate.name() == attribute) {
        Some(found) => Span::new(found.range_value().start as u32, found.range_value().end as u32),
        None => span(element),
    }
}

/// An element's name without its prefix.
pub(super) fn name<'a>(element: Element<'a>) -> &'a str {
    element.tag_name().name()
}

/// The elements inside one.
pub(super) fn children<'a>(element: Element<'a>) -> impl Iterator<Item = Element<'a>> {
    element.children().filter(Node::is_element)
}

/// The first element of a name inside one.
pub(super) fn child<'a>(element: Element<'a>, wanted: &str) -> Option<Element<'a>> {
    children(element).find(|inner| name(*inner) == wanted)
}

/// The text directly inside an element, trimmed, with the place where it stands.
pub(super) fn text(element: Element) -> (String, Span) {
    let mut all = String::new();
    let mut place: Option<Span> = None;
    for piece in element.children().filter(Node::is_text) {
        let written = piece.text().unwrap_or("");
        if !written.trim().is_empty() {
            let start = piece.range().start + (written.len() - written.trim_start().len()).min(piece.range().len());
            let here = Span::new(start as u32, (start + written.trim().len()).min(piece.range().end) as u32);
            place = Some(place.map_or(here, |before| before.to(here)));
        }
        all.push_str(written);
    }
    (all.trim().to_string(), place.unwrap_or_else(|| span(element)))
}

/// The text of the `text` element inside a label such as `name` or `inscription`.
pub(super) fn label(element: Element) -> Option<(String, Span)> {
    child(element, "text").map(text)
}

/// Findings up to a number, and lines and columns of many elements.
pub(super) struct Findings<'a> {
    source: &'a Source,
    pub(super) diagnostics: Diagnostics,
    /// The last place that was asked for: offset, line, column.
    last: (usize, u32, u32),
}

impl<'a> Findings<'a> {
    pub(super) fn new(source: &'a Source, diagnostics: Diagnostics) -> Self {
        Findings { source, diagnostics, last: (0, 1, 1) }
    }

    /// Notes an error.
    pub(super) fn error(&mut self, span: Span, message: impl Into<String>) {
        self.push(Diagnostic::error(span, message));
    }

    /// Notes a finding.
    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < MOST_FINDINGS {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Line and column of a place. Asked in the order of the text, all places together cost one walk over it, also where it is a single line.
    pub(super) fn at(&mut self, span: Span) -> At {
        let offset = (span.start as usize).min(self.source.text().len());
        if offset < self.last.0 {
            self.last = (0, 1, 1);
        }
        let (from, mut line, mut column) = self.last;
        for character in self.source.text().get(from..offset).unwrap_or("").chars() {
            if character == '\n' {
                (line, column) = (line + 1, 1);
            } else {
                column += 1;
            }
        }
        self.last = (offset, line, column);
        At { line, column }
    }
}
