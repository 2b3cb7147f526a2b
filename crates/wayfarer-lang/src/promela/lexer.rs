//! Cuts a text into tokens: comments and continued lines are gone, directives keep their line.

use super::token::{Kind, Mark, Token};
use crate::source::Span;

/// The tokens of a text that begins at `base` in the row of all files.
pub(super) fn tokens(text: &str, base: u32) -> Vec<Token> {
    let mut lexer = Lexer { text, at: 0, base, on_new_line: true, after_space: true, in_directive: false, tokens: Vec::new() };
    while lexer.step() {}
    if lexer.in_directive {
        lexer.push(Kind::EndOfDirective, lexer.at);
    }
    lexer.push(Kind::End, lexer.at);
    lexer.tokens
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    base: u32,
    on_new_line: bool,
    after_space: bool,
    in_directive: bool,
    tokens: Vec<Token>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn span(&self, start: usize) -> Span {
        Span::new(self.base + start as u32, self.base + self.at as u32)
    }

    fn push(&mut self, kind: Kind, start: usize) {
        let token = Token { kind, span: self.span(start), on_new_line: self.on_new_line, after_space: self.after_space };
        self.tokens.push(token);
        self.on_new_line = false;
        self.after_space = false;
    }

    /// Notes something unreadable. It is reported only where the text counts: between `#if 0` and `#endif` anything may stand.
    fn error(&mut self, start: usize, message: &str) {
        self.push(Kind::Bad(message.into()), start);
    }

    /// Reads one token or what lies between two; false at the end.
    fn step(&mut self) -> bool {
        let start = self.at;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return false };
        match first {
            '\n' => {
                self.at += 1;
                if self.in_directive {
                    self.in_directive = false;
                    self.push(Kind::EndOfDirective, start);
                }
                self.on_new_line = true;
                self.after_space = true;
            }
            '\\' if rest.starts_with("\\\n") || rest.starts_with("\\\r\n") => {
                self.at += if rest.starts_with("\\\n") { 2 } else { 3 };
                self.after_space = true;
            }
            _ if first.is_whitespace() => {
                self.at += first.len_utf8();
                self.after_space = true;
            }
            '/' if rest.starts_with("//") => {
                // A continued line continues the comment, too.
                loop {
                    self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                    let before = self.text[start..self.at].trim_end_matches('\r');
                    if !before.ends_with('\\') || self.at >= self.text.len() {
                        break;
                    }
                    self.at += 1;
                }
                self.after_space = true;
            }
            '/' if rest.starts_with("/*") => self.comment(start),
            // The end of a comment inside a comment; SPIN passes over it, too.
            '*' if rest.starts_with("*/") => {
                self.at += 2;
                self.after_space = true;
            }
            '"' => self.string(start),
            '\'' => self.character(start),
            '#' if self.on_new_line && !self.in_directive => {
                self.at += 1;
                self.in_directive = true;
                self.push(Kind::Directive, start);
            }
            _ if first.is_ascii_digit() => self.number(start),
            _ if first.is_ascii_alphabetic() || first == '_' => {
                let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                let name = rest[..length].into();
                self.at += length;
                self.push(Kind::Name(name), start);
            }
            _ => match Mark::ALL.iter().find(|(_, text)| rest.starts_with(text)) {
                Some((mark, text)) => {
                    self.at += text.len();
                    self.push(Kind::Mark(*mark), start);
                }
                None => {
                    self.at += first.len_utf8();
                    self.error(start, &format!("unexpected character `{}`", first.escape_debug()));
                }
            },
        }
        true
    }

    fn comment(&mut self, start: usize) {
        let inside = &self.text[start + 2..];
        match inside.find("*/") {
            Some(end) => {
                // Lines inside a comment end no statement and no directive, as if they were one blank.
                self.at = start + 2 + end + 2;
                if inside[..end].contains('\n') && !self.in_directive {
                    self.on_new_line = true;
                }
            }
            None => {
                self.at = start + 2;
                self.error(start, "this comment has no end");
                self.at = self.text.len();
            }
        }
        self.after_space = true;
    }

    fn string(&mut self, start: usize) {
        let mut escaped = false;
        let end = self.text[start + 1..].char_indices().find(|(_, c)| {
            let ends = !escaped && (*c == '"' || *c == '\n');
            escaped = !escaped && *c == '\\';
            ends
        });
        match end {
            Some((end, '"')) => {
                let text = self.text[start + 1..start + 1 + end].into();
                self.at = start + 1 + end + 1;
                self.push(Kind::Text(text), start);
            }
            _ => {
                self.at = start + 1;
                self.error(start, "this string has no end");
                self.at = start + 1 + end.map_or(self.text.len() - start - 1, |(end, _)| end);
            }
        }
    }

    fn character(&mut self, start: usize) {
        let rest = &self.text[start + 1..];
        let mut chars = rest.chars();
        let (value, length) = match (chars.next(), chars.next()) {
            (Some('\\'), Some(escape)) => {
                let value = match escape {
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    'f' => '\u{c}',
                    other => other,
                };
                (value, 1 + escape.len_utf8())
            }
            (Some(plain), _) if plain != '\n' => (plain, plain.len_utf8()),
            _ => ('\0', 0),
        };
        self.at = start + 1 + length;
        if length > 0 && self.rest().starts_with('\'') {
            self.at += 1;
            self.push(Kind::Number(i64::from(u32::from(value))), start);
        } else {
            self.error(start, "this character has no end");
        }
    }

    fn number(&mut self, start: usize) {
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let word = rest[..length].to_string();
        let hexadecimal = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"));
        let digits = if hexadecimal.is_some() { length } else { word.find(|c: char| !c.is_ascii_digit()).unwrap_or(length) };
        self.at += digits;
        let value = match hexadecimal {
            Some(digits) => i64::from_str_radix(digits, 16),
            None => word[..digits].parse::<i64>(),
        };
        match value {
            Ok(value) if value <= i64::from(u32::MAX) => self.push(Kind::Number(value), start),
            _ => {
                self.error(start, "this number does not fit 32 bits");
                self.push(Kind::Number(0), start);
            }
        }
    }
}
