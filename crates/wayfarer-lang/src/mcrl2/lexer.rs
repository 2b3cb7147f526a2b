//! Cuts mCRL2 text into tokens, and finds which brackets belong together: with that the parser looks past a bracketed part in one step.

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::{Source, Span};

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or a keyword; the text tells which.
    Word,
    /// A number in decimal digits.
    Number,
    /// An operator or a bracket; the text tells which.
    Sign,
    /// The end of the text.
    End,
}

/// A token with its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) span: Span,
    /// For an opening bracket, the index of the token that closes it; for anything else its own index.
    pub(super) partner: u32,
}

/// Signs, the longer ones first.
const SIGNS: [&str; 43] = [
    "||_", "->", "<>", "||", "|>", "<|", "++", "==", "!=", "<=", ">=", "=>", "&&", "<<", "|", "<", ">", "=", "!", "#", "@", ".", ",", ";", ":", "[",
    "]", "{", "}", "(", ")", "?", "+", "-", "*", "/", "&", "$", "^", "~", "%", "\\", "\"",
];

/// Cuts a text into tokens; the last one is the end of the text.
pub(super) fn lex(source: &Source, diagnostics: &mut Diagnostics) -> Vec<Token> {
    let mut text = source.text();
    if u32::try_from(text.len()).is_err() {
        diagnostics.push(Diagnostic::error(Span::default(), "the file is too large: texts of 4 GiB and more are not read"));
        text = "";
    }
    let bytes = text.as_bytes();
    let (mut at, mut tokens, mut strangers) = (0, Vec::new(), 0);
    while at < bytes.len() {
        let byte = bytes[at];
        let start = at;
        let kind = if byte.is_ascii_whitespace() {
            at += 1;
            continue;
        } else if byte == b'%' {
            at = text[at..].find('\n').map_or(bytes.len(), |length| at + length);
            continue;
        } else if byte.is_ascii_alphabetic() || byte == b'_' {
            while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || matches!(bytes[at], b'_' | b'\'')) {
                at += 1;
            }
            Kind::Word
        } else if byte.is_ascii_digit() {
            while at < bytes.len() && bytes[at].is_ascii_digit() {
                at += 1;
            }
            Kind::Number
        } else if let Some(sign) = SIGNS.iter().find(|sign| text[at..].starts_with(**sign)) {
            at += sign.len();
            Kind::Sign
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
            if !text[start..at].chars().all(char::is_whitespace) && strangers < 20 && !text[start..].starts_with('\u{feff}') {
                strangers += 1;
                let span = Span::new(start as u32, at as u32);
                diagnostics.push(Diagnostic::error(span, format!("`{}` means nothing here", &text[start..at])));
            }
            continue;
        };
        let partner = tokens.len() as u32;
        tokens.push(Token { kind, span: Span::new(start as u32, at as u32), partner });
    }
    let end = bytes.len() as u32;
    tokens.push(Token { kind: Kind::End, span: Span::new(end, end), partner: tokens.len() as u32 });
    pair(source, &mut tokens);
    tokens
}

/// Writes down which bracket closes which. One that is never closed belongs to the end of the text.
fn pair(source: &Source, tokens: &mut [Token]) {
    let mut open: Vec<(usize, &str)> = Vec::new();
    let last = tokens.len() as u32 - 1;
    for index in 0..tokens.len() {
        if tokens[index].kind != Kind::Sign {
            continue;
        }
        match source.slice(tokens[index].span) {
            sign @ ("(" | "[" | "{") => {
                tokens[index].partner = last;
                open.push((index, sign));
            }
            sign @ (")" | "]" | "}") => {
                let opening = match sign {
                    ")" => "(",
                    "]" => "[",
                    _ => "{",
                };
                if open.last().is_some_and(|(_, sign)| *sign == opening)
                    && let Some((start, _)) = open.pop()
                {
                    tokens[start].partner = index as u32;
                }
            }
            _ => {}
        }
    }
}
