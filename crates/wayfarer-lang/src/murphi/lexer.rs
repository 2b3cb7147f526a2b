//! Splits Murphi text into tokens. It accepts what CMurphi 5.4.9 and rumur accept; if the two read the same text
//! differently (`010`, escapes in strings), it follows rumur and warns.
//!
//! Departures: a string ends on the line where it begins (rumur lets it run on, which turns one forgotten quote into
//! errors far away), and names may begin with an underscore.

use super::token::{Sign, Token, TokenKind, Word};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::{Source, Span};

/// Splits a text into tokens, the last of which is [`TokenKind::EndOfFile`]. Text that cannot be a token is reported
/// and left out.
pub(super) fn lex(source: &Source, diagnostics: &mut Diagnostics) -> Vec<Token> {
    let mut text = source.text();
    if u32::try_from(text.len()).is_err() {
        diagnostics.push(Diagnostic::error(Span::default(), "the file is too large: texts of 4 GiB and more are not read"));
        text = "";
    }
    let mut lexer = Lexer { text, at: 0, tokens: Vec::new(), told_of_comments: false, diagnostics };
    lexer.run();
    lexer.tokens
}

/// The text between the quotes of a string token, escapes resolved. Unknown escapes stay as written.
pub(super) fn unquote(token: &str) -> String {
    let inner = token.strip_prefix(['"', '“']).unwrap_or(token);
    let inner = inner.strip_suffix(['"', '”']).unwrap_or(inner);
    let mut out = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some(same @ ('\\' | '"' | '\'' | '“' | '”')) => out.push(same),
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
    }
    out
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    tokens: Vec<Token>,
    /// Whether `//` was reported: an author who writes it once writes it everywhere.
    told_of_comments: bool,
    diagnostics: &'a mut Diagnostics,
}

impl Lexer<'_> {
    fn run(&mut self) {
        loop {
            // Most of a text is this kind of white space.
            let blank = self.rest().bytes().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count();
            self.at += blank;
            let Some(character) = self.rest().chars().next() else { break };
            let start = self.at;
            match character {
                '\u{feff}' => self.at += character.len_utf8(),
                _ if character.is_whitespace() => self.at += character.len_utf8(),
                '-' if self.rest().starts_with("--") => self.skip_line(),
                '/' if self.rest().starts_with("/*") => self.block_comment(),
                '/' if self.rest().starts_with("//") => self.foreign_comment(),
                '"' | '“' => self.string(),
                '0'..='9' => self.number(),
                '.' if self.digit_at(1) => {
                    self.at += 1;
                    self.skip_while(|character| character.is_ascii_digit());
                    self.push(start, TokenKind::Real);
                }
                'a'..='z' | 'A'..='Z' | '_' => {
                    self.skip_while(|character| character.is_ascii_alphanumeric() || character == '_');
                    let kind = Word::find(&self.text[start..self.at]).map_or(TokenKind::Name, TokenKind::Word);
                    self.push(start, kind);
                }
                '<' | '=' | '>' if self.at_conflict_marker() => self.conflict_marker(),
                '∀' | '∃' => {
                    self.at += character.len_utf8();
                    let word = if character == '∀' { Word::Forall } else { Word::Exists };
                    self.push(start, word.into());
                }
                _ => self.sign(),
            }
        }
        self.push(self.at, TokenKind::EndOfFile);
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn digit_at(&self, offset: usize) -> bool {
        self.rest().as_bytes().get(offset).is_some_and(u8::is_ascii_digit)
    }

    fn skip_while(&mut self, wanted: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|character| !wanted(character)).unwrap_or(rest.len());
    }

    fn skip_line(&mut self) {
        let rest = self.rest();
        self.at += rest.find('\n').unwrap_or(rest.len());
    }

    // Offsets fit because `lex` refuses longer texts.
    fn span(&self, start: usize) -> Span {
        Span::new(start as u32, self.at as u32)
    }

    fn push(&mut self, start: usize, kind: TokenKind) {
        let span = self.span(start);
        self.tokens.push(Token { kind, span });
    }

    fn block_comment(&mut self) {
        let start = self.at;
        match self.rest()[2..].find("*/") {
            Some(length) => self.at += length + 4,
            None => {
                let opening = Span::new(start as u32, start as u32 + 2);
                self.at = self.text.len();
                self.diagnostics.push(Diagnostic::error(opening, "this comment is never closed").with_help("close it with `*/`"));
            }
        }
    }

    fn foreign_comment(&mut self) {
        let opening = Span::new(self.at as u32, self.at as u32 + 2);
        self.skip_line();
        if std::mem::replace(&mut self.told_of_comments, true) {
            return;
        }
        self.diagnostics.push(
            Diagnostic::error(opening, "`//` does not begin a comment in Murphi")
                .with_help("comments are `-- to the end of the line` or `/* between these */`"),
        );
    }

    /// Whether a conflict marker of version control starts here: seven identical characters at the beginning of a line.
    fn at_conflict_marker(&self) -> bool {
        let starts_line = self.at == 0 || self.text.as_bytes()[self.at - 1] == b'\n';
        starts_line && ["<<<<<<<", "=======", ">>>>>>>"].iter().any(|marker| self.rest().starts_with(marker))
    }

    fn conflict_marker(&mut self) {
        let start = self.at;
        self.skip_line();
        self.diagnostics.push(
            Diagnostic::error(self.span(start), "unresolved merge conflict")
                .with_help("keep one of the two versions and delete the three marker lines"),
        );
    }

    fn string(&mut self) {
        let start = self.at;
        let smart = self.rest().starts_with('“');
        let mut escaped = false;
        let end = self.rest().char_indices().skip(1).find_map(|(offset, character)| {
            let closes = !escaped && (character == '"' || smart && character == '”');
            escaped = !escaped && character == '\\';
            (closes || character == '\n').then_some((offset, character))
        });
        match end {
            Some((offset, quote)) if quote != '\n' => {
                self.at += offset + quote.len_utf8();
                self.push(start, TokenKind::Text);
            }
            _ => {
                self.at = end.map_or(self.text.len(), |(offset, _)| start + offset);
                self.diagnostics.push(unclosed_string(self.span(start), self.text[start..self.at].trim_end()));
                self.push(start, TokenKind::Text);
            }
        }
    }

    fn number(&mut self) {
        let start = self.at;
        let hexadecimal = self.rest().as_bytes();
        if let [b'0', b'x' | b'X', digit, ..] = hexadecimal
            && digit.is_ascii_hexdigit()
        {
            self.at += 2;
            self.skip_while(|character| character.is_ascii_hexdigit());
            return self.whole(start, 2, 16);
        }
        self.skip_while(|character| character.is_ascii_digit());
        let fraction = self.rest().starts_with('.') && self.digit_at(1);
        if fraction {
            self.at += 1;
            self.skip_while(|character| character.is_ascii_digit());
        }
        let exponent = match self.rest().as_bytes() {
            [b'e' | b'E', b'+' | b'-', b'0'..=b'9', ..] => 2,
            [b'e' | b'E', b'0'..=b'9', ..] => 1,
            _ => 0,
        };
        if fraction || exponent > 0 {
            self.at += exponent;
            if exponent > 0 {
                self.skip_while(|character| character.is_ascii_digit());
            }
            return self.push(start, TokenKind::Real);
        }
        if self.at - start > 1 && self.text[start..].starts_with('0') {
            return self.octal(start);
        }
        self.whole(start, 0, 10);
    }

    /// Leading zeros: rumur reads octal, CMurphi decimal. Numbers on which they differ deserve a warning.
    fn octal(&mut self, start: usize) {
        let digits = &self.text[start..self.at];
        if digits.contains(['8', '9']) {
            self.diagnostics.push(
                Diagnostic::error(self.span(start), format!("`{digits}` is not an octal number"))
                    .with_help("a number with leading zeros is octal; leave the zeros out for a decimal number"),
            );
            return self.push(start, TokenKind::Number(0));
        }
        let octal = u64::from_str_radix(digits, 8);
        if let Ok(octal) = octal
            && octal > 7
        {
            self.diagnostics.push(
                Diagnostic::warning(self.span(start), format!("`{digits}` is read as octal, that is {octal}"))
                    .with_help("rumur reads it so, CMurphi reads it as decimal; leave the leading zeros out"),
            );
        }
        self.whole(start, 0, 8);
    }

    fn whole(&mut self, start: usize, prefix: usize, radix: u32) {
        let kind = match u64::from_str_radix(&self.text[start + prefix..self.at], radix) {
            Ok(value) => i64::try_from(value).map_or(TokenKind::HugeNumber(value), TokenKind::Number),
            Err(_) => {
                self.diagnostics.push(Diagnostic::error(self.span(start), "this number does not fit 64 bits"));
                TokenKind::Number(0)
            }
        };
        self.push(start, kind);
    }

    fn sign(&mut self) {
        let start = self.at;
        let rest = self.rest();
        let first = rest.as_bytes().first();
        let found = Sign::SPELLINGS.iter().find(|(spelling, _)| spelling.as_bytes().first() == first && rest.starts_with(spelling));
        let Some(&(spelling, sign)) = found else {
            return self.strange_characters();
        };
        self.at += spelling.len();
        if spelling == "<>" {
            self.diagnostics.push(Diagnostic::error(self.span(start), "`<>` is not an operator").with_help("`not equal` is written `!=`"));
        }
        self.push(start, sign.into());
    }

    /// A run of characters that begin no token gives one message, not one each.
    fn strange_characters(&mut self) {
        let start = self.at;
        self.skip_while(|character| {
            !character.is_ascii_alphanumeric()
                && !character.is_whitespace()
                && !matches!(character, '_' | '"' | '“' | '∀' | '∃')
                && !Sign::SPELLINGS.iter().any(|(spelling, _)| spelling.starts_with(character))
        });
        let strange = &self.text[start..self.at];
        let plural = if strange.chars().count() > 1 { "characters" } else { "character" };
        let diagnostic = Diagnostic::error(self.span(start), format!("unexpected {plural} `{strange}`"));
        let diagnostic = match strange.chars().next() {
            Some('\'' | '`' | '‘' | '’' | '”') => diagnostic.with_help("strings are written \"between double quotes\""),
            Some('#') => diagnostic.with_help("comments are `-- to the end of the line` or `/* between these */`"),
            Some('：' | '；') => diagnostic.with_help("this is a full-width character; Murphi's are `:` and `;`"),
            _ => diagnostic,
        };
        self.diagnostics.push(diagnostic);
        match strange {
            "：" => self.push(start, Sign::Colon.into()),
            "；" => self.push(start, Sign::Semicolon.into()),
            _ => {}
        }
    }
}

fn unclosed_string(span: Span, text: &str) -> Diagnostic {
    let help = if text.contains("\\\"") {
        "`\\\"` is a quote inside the string; write `\\\\\"` to end it with a backslash"
    } else {
        "a string ends with `\"` on the line where it begins"
    };
    Diagnostic::error(span, "this string is never closed").with_help(help)
}

#[cfg(test)]
mod tests;
