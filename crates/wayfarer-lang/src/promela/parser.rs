//! Reads tokens into the tree of [`ast`](super::ast). Inlines are expanded here, because they are text: a call is read as the block that its body
//! becomes with the arguments put in.

mod declarations;
mod expressions;
mod inlines;
mod statements;

use super::ast::{Model, Name};
use super::token::{Kind, Mark, Token};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::Span;
use inlines::Inline;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Statements and expressions inside each other.
const DEEPEST: usize = 120;
/// Errors after which reading stops.
const MOST_ERRORS: usize = 50;

/// Something that could not be read; its message is noted already.
pub(super) struct Failed;
pub(super) type Read<T> = Result<T, Failed>;

/// Reads a model.
pub(super) fn parse(tokens: Vec<Token>, diagnostics: &mut Diagnostics) -> Model {
    let mut parser = Parser::new(tokens, diagnostics);
    parser.model()
}

/// Reads a condition, as `--find` has it; `types` are the names of process types.
pub(super) fn parse_expression(tokens: Vec<Token>, types: &[&str], diagnostics: &mut Diagnostics) -> Option<super::ast::Expr> {
    let mut parser = Parser::new(tokens, diagnostics);
    parser.proctypes = types.iter().map(|name| (*name).into()).collect();
    parser.brackets = 1;
    let value = parser.expression().ok()?;
    if parser.peek().kind != Kind::End {
        let message = format!("expected the end of the condition, not {}", parser.peek().describe());
        parser.error(parser.peek().span, message);
        return None;
    }
    Some(value)
}

struct Parser<'a> {
    tokens: Vec<Token>,
    at: usize,
    diagnostics: &'a mut Diagnostics,
    inlines: HashMap<Arc<str>, Arc<Inline>>,
    /// Inlines whose expansion is being read.
    expanding: Vec<Arc<str>>,
    expansion: u32,
    expansions: u32,
    /// Tokens that inlines became so far.
    made: usize,
    typedefs: HashSet<Arc<str>>,
    proctypes: HashSet<Arc<str>>,
    depth: usize,
    /// Open brackets: inside them a new line ends nothing.
    brackets: usize,
    loops: usize,
    errors: usize,
}

impl<'a> Parser<'a> {
    fn new(tokens: Vec<Token>, diagnostics: &'a mut Diagnostics) -> Self {
        // Process types may be named before they are declared.
        let proctypes = tokens
            .windows(2)
            .filter_map(|pair| match (&pair[0].kind, &pair[1].kind) {
                (Kind::Name(word), Kind::Name(name)) if matches!(&**word, "proctype" | "D_proctype") => Some(name.clone()),
                _ => None,
            })
            .collect();
        Parser {
            tokens,
            at: 0,
            diagnostics,
            inlines: HashMap::new(),
            expanding: Vec::new(),
            expansion: 0,
            expansions: 0,
            made: 0,
            typedefs: HashSet::new(),
            proctypes,
            depth: 0,
            brackets: 0,
            loops: 0,
            errors: 0,
        }
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn peek_at(&self, ahead: usize) -> &Kind {
        self.tokens.get(self.at + ahead).map_or(&Kind::End, |token| &token.kind)
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        if self.at < self.tokens.len() - 1 {
            self.at += 1;
        }
        token
    }

    /// The last token that was taken.
    fn last(&self) -> Option<&Token> {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at))
    }

    fn last_span(&self) -> Span {
        self.last().map_or(Span::default(), |token| token.span)
    }

    fn is(&self, mark: Mark) -> bool {
        self.peek().kind == Kind::Mark(mark)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(&self.peek().kind, Kind::Name(name) if &**name == word)
    }

    fn take(&mut self, mark: Mark) -> bool {
        let is = self.is(mark);
        if is {
            self.next();
        }
        is
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is = self.is_word(word);
        if is {
            self.next();
        }
        is
    }

    fn error(&mut self, span: Span, message: impl Into<String>) -> Failed {
        self.errors += 1;
        if self.errors <= MOST_ERRORS {
            self.diagnostics.push(Diagnostic::error(span, message));
        }
        Failed
    }

    fn unexpected(&mut self, expected: &str) -> Failed {
        let token = self.peek().clone();
        self.error(token.span, format!("expected {expected}, not {}", token.describe()))
    }

    fn expect(&mut self, mark: Mark) -> Read<Span> {
        if self.is(mark) {
            return Ok(self.next().span);
        }
        Err(self.unexpected(&format!("`{}`", mark.text())))
    }

    fn expect_word(&mut self, word: &str) -> Read<Span> {
        if self.is_word(word) {
            return Ok(self.next().span);
        }
        Err(self.unexpected(&format!("`{word}`")))
    }

    fn name(&mut self) -> Read<Name> {
        match &self.peek().kind {
            Kind::Name(text) if !is_keyword(text) => {
                let text = text.clone();
                Ok(Name { text, span: self.next().span })
            }
            _ => Err(self.unexpected("a name")),
        }
    }

    /// Reads inside brackets, where new lines end nothing.
    fn bracketed<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.brackets += 1;
        let result = read(self);
        self.brackets -= 1;
        result
    }

    /// Reads one level deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= DEEPEST {
            let span = self.peek().span;
            return Err(self.error(span, "nested too deeply"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Whether the next token stands on a line of its own where that ends a statement.
    fn line_ended(&self) -> bool {
        self.brackets == 0 && self.peek().on_new_line
    }

    fn gave_up(&self) -> bool {
        self.errors > MOST_ERRORS
    }
}

/// Words that name nothing.
pub(super) fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "active"
            | "assert"
            | "atomic"
            | "bit"
            | "bool"
            | "break"
            | "byte"
            | "c_code"
            | "c_decl"
            | "c_expr"
            | "c_state"
            | "c_track"
            | "D_proctype"
            | "do"
            | "chan"
            | "else"
            | "empty"
            | "enabled"
            | "eval"
            | "false"
            | "fi"
            | "for"
            | "full"
            | "get_priority"
            | "goto"
            | "hidden"
            | "if"
            | "init"
            | "inline"
            | "int"
            | "len"
            | "local"
            | "ltl"
            | "mtype"
            | "nempty"
            | "never"
            | "nfull"
            | "notrace"
            | "np_"
            | "od"
            | "of"
            | "pc_value"
            | "pid"
            | "printf"
            | "printm"
            | "priority"
            | "proctype"
            | "provided"
            | "return"
            | "run"
            | "d_step"
            | "select"
            | "set_priority"
            | "short"
            | "skip"
            | "timeout"
            | "trace"
            | "true"
            | "show"
            | "typedef"
            | "unless"
            | "unsigned"
            | "xr"
            | "xs"
    )
}
