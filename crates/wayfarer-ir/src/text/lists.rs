//! Parenthesised lists of words and strings, with their positions in the text. Other modules give the lists their
//! meaning.

use std::fmt;

/// The reason why a text is not a program. Lines and columns count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
    /// The message.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ReadError {}

/// A position in the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mark {
    line: u32,
    column: u32,
}

impl Mark {
    pub(super) fn error(self, message: impl Into<String>) -> ReadError {
        ReadError { line: self.line, column: self.column, message: message.into() }
    }
}

/// A piece of text.
#[derive(Debug)]
pub(super) struct Node<'t> {
    pub(super) mark: Mark,
    pub(super) kind: Kind<'t>,
}

/// The kind of a piece of text.
#[derive(Debug)]
pub(super) enum Kind<'t> {
    Word(&'t str),
    Text(String),
    List(Vec<Node<'t>>),
}

/// The deepest nesting of lists; a verified program's trees need less.
const MAX_NESTING: usize = 1000;

/// Parses a text that is one list.
pub(super) fn parse(text: &str) -> Result<Node<'_>, ReadError> {
    let mut scanner = Scanner { text, at: 0, mark: Mark { line: 1, column: 1 } };
    let mut open: Vec<Node> = Vec::new();
    loop {
        scanner.skip_blank();
        let mark = scanner.mark;
        let done = match scanner.peek() {
            None => return Err(mark.error(if open.is_empty() { "expected `(`" } else { "a list is not closed" })),
            Some('(') => {
                scanner.bump();
                if open.len() == MAX_NESTING {
                    return Err(mark.error("lists nest too deep"));
                }
                open.push(Node { mark, kind: Kind::List(Vec::new()) });
                continue;
            }
            Some(')') => {
                scanner.bump();
                open.pop().ok_or_else(|| mark.error("nothing is open here"))?
            }
            Some('"') => Node { mark, kind: Kind::Text(scanner.string()?) },
            Some(_) => Node { mark, kind: Kind::Word(scanner.word()) },
        };
        match open.last_mut() {
            Some(Node { kind: Kind::List(items), .. }) => items.push(done),
            _ => {
                scanner.skip_blank();
                return if scanner.peek().is_none() { Ok(done) } else { Err(scanner.mark.error("expected the end of the text")) };
            }
        }
    }
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    mark: Mark,
}

impl<'t> Scanner<'t> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let char = self.peek()?;
        self.at += char.len_utf8();
        if char == '\n' {
            self.mark = Mark { line: self.mark.line.saturating_add(1), column: 1 };
        } else {
            self.mark.column = self.mark.column.saturating_add(1);
        }
        Some(char)
    }

    fn skip_blank(&mut self) {
        while let Some(char) = self.peek() {
            if char == ';' {
                while self.peek().is_some_and(|char| char != '\n') {
                    self.bump();
                }
            } else if char.is_whitespace() {
                self.bump();
            } else {
                return;
            }
        }
    }

    fn word(&mut self) -> &'t str {
        let start = self.at;
        while self.peek().is_some_and(|char| !char.is_whitespace() && !matches!(char, '(' | ')' | '"' | ';')) {
            self.bump();
        }
        &self.text[start..self.at]
    }

    fn string(&mut self) -> Result<String, ReadError> {
        let start = self.mark;
        self.bump();
        let mut string = String::new();
        loop {
            let mark = self.mark;
            match self.bump() {
                None => return Err(start.error("a string is not closed")),
                Some('"') => return Ok(string),
                Some('\\') => string.push(self.escaped().ok_or_else(|| mark.error("no such escape"))?),
                Some(char) => string.push(char),
            }
        }
    }

    fn escaped(&mut self) -> Option<char> {
        Some(match self.bump()? {
            'n' => '\n',
            char @ ('"' | '\\') => char,
            'u' => {
                if self.bump()? != '{' {
                    return None;
                }
                let mut code = 0u32;
                loop {
                    match self.bump()? {
                        '}' => return char::from_u32(code),
                        digit => code = code.checked_mul(16)?.checked_add(digit.to_digit(16)?)?,
                    }
                }
            }
            _ => return None,
        })
    }
}

/// A string in its quoted form.
pub(super) fn quote(string: &str) -> String {
    let mut quoted = String::from("\"");
    for char in string.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            '\n' => quoted.push_str("\\n"),
            char if char.is_control() => quoted.push_str(&format!("\\u{{{:x}}}", char as u32)),
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}
