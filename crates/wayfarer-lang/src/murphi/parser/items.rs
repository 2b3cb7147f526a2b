//! The top level of a model: declarations, functions, and the items that [`rules`](super::rules) parses.

use super::Parser;
use super::blocks::BlockKind;
use crate::diagnostics::Diagnostic;
use crate::murphi::ast::{Decl, Function, Item, Model, Param, Stmt};
use crate::murphi::token::{Sign, TokenKind, Word};

/// Words that begin an item; an error at the top level skips to the next of them.
const ITEM_WORDS: [Word; 9] =
    [Word::Const, Word::Type, Word::Var, Word::Function, Word::Procedure, Word::Rule, Word::Ruleset, Word::Startstate, Word::Invariant];

/// Words that begin something in an unsupported dialect, each with its error message.
const REFUSED: [(&str, &str); 9] = [
    ("pctl", "probabilistic properties (PCTL) are not supported"),
    ("externfun", "external functions are not supported"),
    ("externproc", "external procedures are not supported"),
    ("fair", "fairness of rules is not supported"),
    ("unfair", "fairness of rules is not supported"),
    ("priority", "a priority is written as a number after `rule`"),
    ("axiom", "axioms are not supported"),
    ("traceuntil", "`traceuntil` is reserved and has no meaning"),
    ("program", "`program` is reserved and has no meaning"),
];

impl<'a> Parser<'a> {
    /// The whole text. Sections and rules may come in any order.
    pub(super) fn model(&mut self) -> Model {
        let mut items = Vec::new();
        loop {
            self.eat_semicolons();
            let before = self.at;
            match self.peek() {
                TokenKind::EndOfFile => return Model { items },
                TokenKind::Word(Word::Const | Word::Type | Word::Var) => {
                    items.extend(self.section().into_iter().map(Item::Decl));
                }
                TokenKind::Word(Word::Function | Word::Procedure) => {
                    let function = self.function();
                    items.push(Item::Function(function));
                }
                _ if self.at_rule() => items.extend(self.rule().map(Item::Rule)),
                _ => self.complain_of_item(),
            }
            if self.failed() {
                self.skip_item();
            }
            // A corrected word is still to be parsed; it is corrected only once, so the loop makes progress.
            if self.at == before && self.failed() {
                self.bump();
            }
        }
    }

    /// Reports a token at the top level that begins no item: features of other dialects, superfluous `end`s,
    /// misspellings.
    fn complain_of_item(&mut self) {
        let span = self.token().span;
        if let Some(message) = self.refused() {
            self.report(Diagnostic::error(span, message));
        } else if matches!(self.peek(), TokenKind::Word(word) if word.is_end()) {
            let message = format!("{} closes nothing", self.found());
            self.report(Diagnostic::error(span, message).with_help("every block before it is closed already"));
        } else if self.mend_word(&ITEM_WORDS, "a declaration, function, rule or property") {
            return;
        } else {
            self.expected("a declaration, function, rule or property");
        }
        self.bump();
        self.skip_item();
    }

    /// The error message for a word that begins something of another dialect.
    fn refused(&self) -> Option<&'static str> {
        REFUSED.iter().find(|(word, _)| self.at_name(word)).map(|(_, message)| *message)
    }

    /// Skips to the next word that begins an item, or would in another dialect.
    fn skip_item(&mut self) {
        loop {
            match self.peek() {
                TokenKind::EndOfFile => return,
                TokenKind::Word(word) if ITEM_WORDS.contains(&word) => return,
                TokenKind::Name if self.previous().kind == Sign::Semicolon.into() && (self.at_rule() || self.refused().is_some()) => return,
                _ => self.bump(),
            };
        }
    }

    /// Sections of declarations as long as they follow each other, then the statements of a body. `begin` between them may be
    /// left out.
    pub(super) fn body(&mut self) -> (Vec<Decl>, Vec<Stmt>) {
        let mut decls = Vec::new();
        while let TokenKind::Word(Word::Const | Word::Type | Word::Var) = self.peek() {
            decls.extend(self.section());
            self.eat_semicolons();
        }
        self.eat(Word::Begin);
        (decls, self.statements())
    }

    /// `const`, `type` or `var` with its declarations. A declaration of several constants or types becomes several.
    pub(super) fn section(&mut self) -> Vec<Decl> {
        let section = self.bump().kind;
        let mut decls = Vec::new();
        self.eat_semicolons();
        while self.at_declaration() {
            let before = self.at;
            let names = self.declared_names();
            self.expect_colon();
            if section == Word::Const.into() {
                let value = self.expression();
                decls.extend(names.into_iter().map(|name| Decl::Const { name, value: value.clone() }));
            } else {
                let ty = self.type_expression();
                if section == Word::Var.into() {
                    decls.push(Decl::Var { names, ty });
                } else {
                    decls.extend(names.into_iter().map(|name| Decl::Type { name, ty: ty.clone() }));
                }
            }
            self.end_of_declaration();
            if self.at == before {
                self.bump();
            }
        }
        decls
    }

    /// Whether a section continues. A name that is followed like a statement ends it, and so does a word that begins
    /// a rule in only one of the tools.
    fn at_declaration(&self) -> bool {
        if self.at_reserved_declaration() {
            return true;
        }
        let next = self.nth(1).kind;
        if !self.at(TokenKind::Name) || self.at_rule() {
            return false;
        }
        let named = next == Sign::Colon.into() || next == Sign::Comma.into();
        let statement = [Sign::Assign, Sign::Dot, Sign::OpenSquare, Sign::OpenRound];
        named || self.refused().is_none() && !statement.iter().any(|sign| next == (*sign).into())
    }

    /// Semicolons after a declaration are optional, as in rumur. After an error the rest of the declaration is skipped.
    pub(super) fn end_of_declaration(&mut self) {
        let sound = matches!(self.peek(), TokenKind::Sign(Sign::Semicolon) | TokenKind::Name | TokenKind::EndOfFile)
            || matches!(self.peek(), TokenKind::Word(_));
        if !sound {
            self.expected("`;`");
        }
        if self.failed() {
            while !self.at(Sign::Semicolon) && !self.at_statement_stop() && !self.at(Word::Begin) && !self.at(Word::Invariant) {
                self.bump();
            }
        }
        self.eat_semicolons();
    }

    pub(super) fn function(&mut self) -> Function {
        let procedure = self.at(Word::Procedure);
        let start = self.bump().span;
        self.open(if procedure { BlockKind::Procedure } else { BlockKind::Function }, start);
        if self.at(TokenKind::Name) {
            self.functions.insert(self.text_of(self.token()));
        }
        let name = self.name();
        self.expect(Sign::OpenRound);
        let params = self.parameters();
        self.expect(Sign::CloseRound);
        let result = if self.eat(Sign::Colon) { Some(self.type_expression()) } else { None };
        self.eat_semicolons();
        let (decls, body) = self.body();
        self.close();
        Function { name, params, result, decls, body, span: self.since(start) }
    }

    fn parameters(&mut self) -> Vec<Param> {
        let mut params = Vec::new();
        self.eat_semicolons();
        while self.at(TokenKind::Name) || self.at(Word::Var) || self.at_reserved_declaration() {
            let by_reference = self.eat(Word::Var);
            let names = self.declared_names();
            self.expect(Sign::Colon);
            params.push(Param { names, ty: self.type_expression(), by_reference });
            if self.at(Sign::Comma) {
                let diagnostic = Diagnostic::error(self.token().span, "parameters are separated by `;`");
                self.report(diagnostic.with_help("`,` only joins names of the same type: `a, b: t; c: u`"));
                self.bump();
            }
            self.eat_semicolons();
            if self.failed() {
                break;
            }
        }
        params
    }
}
