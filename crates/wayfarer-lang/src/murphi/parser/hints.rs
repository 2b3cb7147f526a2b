//! Guesses at what a beginner meant, shown as help below an error.

use super::Parser;
use crate::diagnostics::Diagnostic;
use crate::murphi::token::{Sign, TokenKind, Word};

/// Words of other languages for which Murphi has one of its own.
const FOREIGN: &[(&str, &str)] = &[
    ("elseif", "elsif"),
    ("elif", "elsif"),
    ("iff", "if"),
    ("and", "&"),
    ("or", "|"),
    ("not", "!"),
    ("mod", "%"),
    ("implies", "->"),
    ("bool", "boolean"),
    ("default", "else"),
    ("struct", "record"),
    ("int", "0 .. 10"),
    ("integer", "0 .. 10"),
    ("proc", "procedure"),
    ("func", "function"),
    ("init", "startstate"),
];

impl Parser<'_> {
    /// A guess at what the current token was meant to be, if `what` was expected.
    pub(super) fn hint(&self, what: &str) -> Option<String> {
        let help = match self.peek() {
            TokenKind::Sign(Sign::Assign) => "`:=` assigns and `=` compares; `:` stands between a name and its type or value",
            TokenKind::Sign(Sign::Equal | Sign::EqualEqual) if what == "`:=`" => "an assignment is written `:=`",
            TokenKind::Sign(Sign::Equal | Sign::EqualEqual) if what == "`:`" => "a name and its type or value have `:` between them",
            TokenKind::Word(Word::If) if what == "an expression" => "a choice between values is written `condition ? a : b`",
            TokenKind::Sign(Sign::OpenCurly) => "blocks are closed by `end`; curly braces only enclose `enum` and `union`",
            TokenKind::Text if what == "an expression" => "strings are only names and messages, not values",
            TokenKind::Word(word) if what == "a name" => {
                return Some(format!("`{}` is a reserved word", word.text()));
            }
            _ => return self.misspelt(what),
        };
        Some(help.to_string())
    }

    /// Takes a name for the reserved word among `words` that it resembles. The mistake is reported and parsing
    /// continues as if the word were there, so that a misspelt `while` does not make its `end` close something else.
    pub(super) fn mend_word(&mut self, words: &[Word], expected: &str) -> bool {
        let token = self.token();
        let Some(word) = meant(self.text_of(token), words).filter(|_| token.kind == TokenKind::Name) else {
            return false;
        };
        let message = format!("expected {expected}, found {}", self.found());
        self.report(Diagnostic::error(token.span, message).with_help(format!("did you mean `{}`?", word.text())));
        self.failed_at = None;
        self.tokens[self.at].kind = word.into();
        true
    }

    /// A word near the error that looks like a reserved one: the current token, or the one before it (`iff x then`).
    fn misspelt(&self, what: &str) -> Option<String> {
        let wants_name = matches!(what, "a name" | "an expression");
        [self.token(), self.previous()].into_iter().filter(|token| token.kind == TokenKind::Name).find_map(|token| {
            let text = self.text_of(token).to_ascii_lowercase();
            let foreign = FOREIGN.iter().find(|(word, _)| *word == text).map(|(_, own)| *own);
            let near = || meant(&text, Word::ALL).filter(|_| !wants_name).map(Word::text);
            foreign.or_else(near).map(|own| format!("did you mean `{own}`?"))
        })
    }
}

/// The reserved word among `words` for which a name is probably a misspelling.
pub(super) fn meant(name: &str, words: &[Word]) -> Option<Word> {
    let name = name.to_ascii_lowercase();
    let foreign = FOREIGN.iter().find(|(word, _)| *word == name).map(|(_, own)| *own);
    words.iter().copied().find(|word| foreign == Some(word.text()) || is_near(&name, word.text()))
}

/// Whether two words are so similar that one may be a misspelling of the other: one edit, or two in longer words.
fn is_near(word: &str, reserved: &str) -> bool {
    let allowed = match reserved.len() {
        0..=2 => return false,
        3..=5 => 1,
        _ => 2,
    };
    // The distance is at least the difference of the lengths; names can be very long.
    word.len().abs_diff(reserved.len()) <= allowed && distance(word.as_bytes(), reserved.as_bytes()) <= allowed
}

/// The number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
fn distance(left: &[u8], right: &[u8]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (row, a) in left.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, b) in right.iter().enumerate() {
            let mut best = (last[column] + usize::from(a != b)).min(last[column + 1] + 1).min(next[column] + 1);
            if row > 0 && column > 0 && *a == right[column - 1] && left[row - 1] == *b {
                best = best.min(before[column - 1] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut last, next);
    }
    last[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_swaps_once() {
        assert_eq!(distance(b"esle", b"else"), 1);
        assert_eq!(distance(b"rulset", b"ruleset"), 1);
        assert_eq!(distance(b"", b"end"), 3);
        assert!(is_near("statstate", "startstate"));
        assert!(!is_near("count", "const"));
    }
}
