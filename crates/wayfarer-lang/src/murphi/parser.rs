//! Parses tokens into the syntax tree, by recursive descent.
//!
//! Every method is total: it reports what is missing and returns something, so that one run finds many errors. Two
//! rules keep the messages few and useful. At one token only the first error is shown ([`Parser::report`]); and lists
//! resynchronise at the next `;`, closing word or section ([`statements`], [`items`]).
//!
//! No input can overflow the stack of the parser or of code that walks its tree: recursion and the height of trees
//! are bounded by [`NESTING_LIMIT`], and exceeding it ends the parsing.

mod blocks;
#[cfg(test)]
mod dump;
mod expressions;
mod hints;
mod items;
mod rules;
mod statements;
mod types;

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use super::ast::{Expr, ExprKind, Model, Name, Text};
use super::lexer;
use super::token::{Sign, Token, TokenKind, Word};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::{Source, Span};
use blocks::Block;

/// The depth to which blocks, types and expressions may nest. Deeper models arise by accident or malice; the bound
/// keeps the stack of a debug build within 2 MiB.
const NESTING_LIMIT: u32 = 200;

/// After this many errors the rest of the text is not read: it is probably not Murphi.
const ERROR_LIMIT: usize = 200;

/// Parses a model. The tree is a best effort: if the diagnostics contain errors, it has gaps (empty names) and must
/// not be elaborated.
///
/// ```
/// use wayfarer_lang::{murphi, source::Source};
/// let source = Source::new("flip.m", "var x: boolean; startstate x := true; end; rule x := !x; end;");
/// let (model, diagnostics) = murphi::parse(&source);
/// assert!(!diagnostics.has_errors());
/// assert_eq!(model.items.len(), 3);
/// ```
pub fn parse(source: &Source) -> (Model, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let tokens = lexer::lex(source, &mut diagnostics);
    let mut parser = Parser::new(source, tokens, diagnostics);
    let model = parser.model();
    (model, parser.sorted())
}

/// Parses a model and then a condition on its states. `source` holds both texts; `first` is the model by itself and
/// `second` the condition by itself, which begins at offset `base` of the whole.
pub(super) fn parse_with_condition(source: &Source, first: &Source, second: &Source, base: u32) -> (Model, Expr, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let tokens = lexer::lex(first, &mut diagnostics);
    let mut found = Diagnostics::new();
    let mut condition = lexer::lex(second, &mut found);
    condition.iter_mut().for_each(|token| token.span = token.span.shifted(base));
    diagnostics.extend(found.moved(base));
    let mut parser = Parser::new(source, tokens, diagnostics);
    let model = parser.model();
    (parser.tokens, parser.at, parser.failed_at) = (condition, 0, None);
    let condition = parser.expression();
    if !parser.at(TokenKind::EndOfFile) {
        parser.expected("the end of the condition");
    }
    (model, condition, parser.sorted())
}

struct Parser<'a> {
    source: &'a Source,
    /// All tokens; the last is the end of the file.
    tokens: Vec<Token>,
    at: usize,
    /// The token at which the last error was reported.
    failed_at: Option<usize>,
    errors: usize,
    /// Set when the rest of the text was skipped; nothing is reported after it.
    stopped: bool,
    depth: u32,
    /// The deepest level that any tree read since the last reset reaches. It measures parts whose height their readers do not
    /// return, such as the types inside expressions.
    extent: u32,
    /// The blocks around the current token, outermost first.
    blocks: Vec<Block>,
    /// The last `else if` on one line, the usual reason for a missing `end`.
    else_if: Option<Span>,
    /// Functions declared so far: words that only one tool reserves may be among them.
    functions: HashSet<&'a str>,
    diagnostics: Diagnostics,
}

/// Looking at tokens and taking them.
impl<'a> Parser<'a> {
    fn new(source: &'a Source, tokens: Vec<Token>, diagnostics: Diagnostics) -> Self {
        Parser {
            source,
            tokens,
            at: 0,
            failed_at: None,
            errors: 0,
            stopped: false,
            depth: 0,
            extent: 0,
            blocks: Vec::new(),
            else_if: None,
            functions: HashSet::new(),
            diagnostics,
        }
    }

    /// All diagnostics, in the order of the text.
    fn sorted(mut self) -> Diagnostics {
        self.diagnostics.sort();
        self.diagnostics
    }

    fn peek(&self) -> TokenKind {
        self.token().kind
    }

    fn token(&self) -> Token {
        self.nth(0)
    }

    /// The token `ahead` positions ahead; the end of the file beyond the last.
    fn nth(&self, ahead: usize) -> Token {
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    fn at(&self, kind: impl Into<TokenKind>) -> bool {
        self.peek() == kind.into()
    }

    fn at_any(&self, kinds: &[TokenKind]) -> bool {
        kinds.contains(&self.peek())
    }

    /// Whether the next token is a name with this spelling, in any case of letters.
    fn at_name(&self, word: &str) -> bool {
        self.at(TokenKind::Name) && self.text_of(self.token()).eq_ignore_ascii_case(word)
    }

    fn text_of(&self, token: Token) -> &'a str {
        self.source.slice(token.span)
    }

    fn bump(&mut self) -> Token {
        let token = self.token();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    fn eat(&mut self, kind: impl Into<TokenKind>) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    fn eat_semicolons(&mut self) {
        while self.eat(Sign::Semicolon) {}
    }

    fn expect(&mut self, kind: impl Into<TokenKind>) -> bool {
        let kind = kind.into();
        let found = self.eat(kind);
        if !found {
            self.expected(&kind.describe());
        }
        found
    }

    /// The token before the current one, or the first.
    fn previous(&self) -> Token {
        self.tokens[self.at.saturating_sub(1)]
    }

    /// From the beginning of `start` to the end of the last token taken.
    fn since(&self, start: Span) -> Span {
        if self.previous().span.end < start.start { start } else { start.to(self.previous().span) }
    }

    /// Takes a name; reports its absence and returns an empty one otherwise.
    fn name(&mut self) -> Name {
        if self.at(TokenKind::Name) {
            let token = self.bump();
            return Name { text: self.spelling(token), span: token.span };
        }
        self.expected("a name");
        Name { text: String::new(), span: self.token().span }
    }

    /// The text of a name. `true`, `false` and `undefined` may be written in any case of letters, so they are brought into one.
    fn spelling(&self, token: Token) -> String {
        let text = self.text_of(token);
        let any_case = ["true", "false", "undefined"].into_iter().find(|word| word.eq_ignore_ascii_case(text));
        any_case.unwrap_or(text).to_string()
    }

    fn string(&mut self) -> Option<Text> {
        if !self.at(TokenKind::Text) {
            return None;
        }
        let token = self.bump();
        Some(Text { text: lexer::unquote(self.text_of(token)), span: token.span })
    }

    /// A placeholder for a missing expression.
    fn missing(&self) -> Expr {
        Expr { kind: ExprKind::Name(String::new()), span: self.token().span }
    }
}

/// Error reporting and recovery.
impl Parser<'_> {
    /// Adds an error unless one was reported at this very token: later errors there mostly follow from the first.
    fn report(&mut self, diagnostic: Diagnostic) {
        if self.stopped || self.failed() {
            return;
        }
        self.failed_at = Some(self.at);
        self.errors += 1;
        self.diagnostics.push(diagnostic);
        if self.errors >= ERROR_LIMIT {
            self.stop();
        }
    }

    /// Whether an error was already reported at the current token.
    fn failed(&self) -> bool {
        self.failed_at == Some(self.at)
    }

    fn expected(&mut self, what: &str) {
        let message = format!("expected {what}, found {}", self.found());
        let diagnostic = Diagnostic::error(self.token().span, message);
        let diagnostic = match self.hint(what) {
            Some(help) => diagnostic.with_help(help),
            None => diagnostic,
        };
        self.report(diagnostic);
    }

    /// The name of the current token in messages.
    fn found(&self) -> String {
        let token = self.token();
        match token.kind {
            TokenKind::EndOfFile => token.kind.describe(),
            TokenKind::Text => "a string".to_string(),
            _ => format!("`{}`", self.text_of(token)),
        }
    }

    /// Skips the rest of the text.
    fn stop(&mut self) {
        self.stopped = true;
        self.at = self.tokens.len() - 1;
    }

    /// Enters one level of nesting. Returns false, and ends the parsing, if that is too deep. Every true is followed
    /// by a [`Parser::leave`].
    fn enter(&mut self) -> bool {
        if self.depth >= NESTING_LIMIT {
            self.too_deep();
            return false;
        }
        self.depth += 1;
        true
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    fn too_deep(&mut self) {
        self.failed_at = None;
        self.report(
            Diagnostic::error(self.token().span, "nested too deeply")
                .with_help(format!("blocks and expressions may nest {NESTING_LIMIT} levels; name the parts of this one")),
        );
        self.stop();
    }

    /// Takes one of the tokens that stand between a head and its body (`then`, `do`); if there is none, skips the
    /// rest of the head up to it.
    fn expect_before_body(&mut self, kinds: &[TokenKind], what: &str) {
        if !self.at_any(kinds) {
            self.expected(what);
            while !self.at_any(kinds) && !self.at(Sign::Semicolon) && !self.at_statement_stop() && !self.at_statement_word() {
                self.bump();
            }
        }
        if self.at_any(kinds) {
            self.bump();
        }
    }

    /// `do`, for which CMurphi also accepts a colon.
    fn expect_do(&mut self) {
        self.expect_before_body(&[Word::Do.into(), Sign::Colon.into()], "`do`");
    }
}
