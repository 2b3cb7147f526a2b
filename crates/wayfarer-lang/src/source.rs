//! Source text and positions in it. All languages of this crate report errors through these types.

/// A range of bytes in one source file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span from `start` up to `end`.
    pub fn new(start: u32, end: u32) -> Self {
        Span { start, end }
    }

    /// The same span in a text with `base` more bytes before it.
    pub fn shifted(self, base: u32) -> Span {
        Span { start: self.start + base, end: self.end + base }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A position as line and column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

/// A named text with the index that turns byte offsets into lines and columns.
///
/// Offsets outside the text, or inside a character, are taken as the nearest position before them: a diagnostic must
/// never fail because its span is wrong.
///
/// ```
/// use wayfarer_lang::source::Source;
/// let source = Source::new("example.m", "var\n  x: boolean;\n");
/// let at = source.position(6);
/// assert_eq!((at.line, at.column), (2, 3));
/// ```
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    text: String,
    /// The offset at which each line begins; never empty.
    line_starts: Vec<usize>,
}

impl Source {
    /// A source from its name (as messages show it) and its text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Source { name: name.into(), text, line_starts }
    }

    /// A source from raw bytes. Old models carry comments in encodings other than UTF-8: bytes that are not UTF-8 become
    /// replacement characters, which are harmless in comments and reported anywhere else.
    pub fn from_bytes(name: impl Into<String>, bytes: &[u8]) -> Self {
        Source::new(name, String::from_utf8_lossy(bytes))
    }

    /// The name that messages show.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text under a span; empty if the span lies outside.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Line and column of a byte offset.
    pub fn position(&self, offset: u32) -> Position {
        let offset = self.nearest(offset);
        let line = self.line_starts.partition_point(|&start| start <= offset);
        let start = self.line_starts[line - 1];
        Position { line, column: self.text[start..offset].chars().count() + 1 }
    }

    /// The line of a byte offset, from 1; cheaper than [`Source::position`], which counts characters.
    pub fn line_number(&self, offset: u32) -> usize {
        self.line_starts.partition_point(|&start| start <= offset as usize)
    }

    /// The text of a line, counted from 1, without its line end; empty if there is no such line.
    pub fn line(&self, line: usize) -> &str {
        let Some(&start) = line.checked_sub(1).and_then(|index| self.line_starts.get(index)) else {
            return "";
        };
        let end = self.line_starts.get(line).map_or(self.text.len(), |&next| next - 1);
        self.text[start..end].trim_end_matches('\r')
    }

    /// The last character boundary at or before an offset.
    fn nearest(&self, offset: u32) -> usize {
        let mut offset = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_and_survive_bad_offsets() {
        let source = Source::new("t", "aé→b\r\nlast");
        let places: Vec<_> = [0, 1, 2, 3, 6, 8, 9, 13, 99].iter().map(|&at| source.position(at)).collect();
        let pairs: Vec<_> = places.iter().map(|at| (at.line, at.column)).collect();
        assert_eq!(pairs, [(1, 1), (1, 2), (1, 2), (1, 3), (1, 4), (1, 6), (2, 1), (2, 5), (2, 5)]);
        assert_eq!(source.line(1), "aé→b");
        assert_eq!(source.line(2), "last");
        assert_eq!(source.line(0), "");
        assert_eq!(source.line(3), "");
    }

    #[test]
    fn an_empty_text_has_one_line() {
        let source = Source::new("t", "");
        assert_eq!(source.position(0), Position { line: 1, column: 1 });
        assert_eq!(source.line(1), "");
    }

    #[test]
    fn bytes_that_are_not_text_do_not_stop_reading() {
        assert_eq!(Source::from_bytes("t", b"-- caf\xe9\nvar").line(2), "var");
    }
}
