//! Statements and lists of statements.

use super::Parser;
use super::blocks::BlockKind;
use crate::diagnostics::Diagnostic;
use crate::murphi::ast::{Alias, Expr, ExprKind, PutArgument, Stmt, StmtKind, Text};
use crate::murphi::token::{Sign, TokenKind, Word};
use crate::source::Span;

/// Words that can only begin a statement; `alias` and `invariant` begin rules too.
const STATEMENT_WORDS: [Word; 12] = [
    Word::If,
    Word::For,
    Word::While,
    Word::Switch,
    Word::Alias,
    Word::Clear,
    Word::Undefine,
    Word::Put,
    Word::Error,
    Word::Assert,
    Word::Invariant,
    Word::Return,
];

impl Parser<'_> {
    /// Statements up to a word that cannot continue them. Semicolons separate them; superfluous ones are accepted.
    pub(super) fn statements(&mut self) -> Vec<Stmt> {
        let mut statements = Vec::new();
        loop {
            self.eat_semicolons();
            if self.at_statement_stop() {
                return statements;
            }
            let before = self.at;
            statements.extend(self.statement());
            if self.at(Sign::Semicolon) || self.at_statement_stop() {
                continue;
            }
            self.missing_semicolon();
            if self.failed() && !self.at_statement_word() {
                self.skip_statement();
            }
            if self.at == before {
                self.bump();
            }
        }
    }

    /// Whether the next word ends a list of statements: closing words, alternatives, and words that can only occur
    /// outside a body.
    pub(super) fn at_statement_stop(&self) -> bool {
        match self.peek() {
            TokenKind::EndOfFile => true,
            TokenKind::Word(Word::Else | Word::Elsif | Word::Case | Word::Const | Word::Type | Word::Var) => true,
            TokenKind::Word(Word::Rule | Word::Ruleset | Word::Startstate | Word::Function | Word::Procedure) => true,
            TokenKind::Word(word) => word.is_end(),
            _ => self.at_misspelt_elsif(),
        }
    }

    /// Whether a statement certainly begins here.
    pub(super) fn at_statement_word(&self) -> bool {
        matches!(self.peek(), TokenKind::Word(word) if STATEMENT_WORDS.contains(&word))
    }

    /// `elseif` and `elif` inside an `if`, unless they are variables.
    fn at_misspelt_elsif(&self) -> bool {
        (self.at_name("elseif") || self.at_name("elif"))
            && self.inside(&[BlockKind::If])
            && !matches!(self.nth(1).kind, TokenKind::Sign(Sign::Assign | Sign::Dot | Sign::OpenSquare))
    }

    fn skip_statement(&mut self) {
        while !self.at(Sign::Semicolon) && !self.at_statement_stop() && !self.at_statement_word() {
            self.bump();
        }
    }

    /// Reports a missing semicolon at the end of the previous statement if the next one begins on another line.
    fn missing_semicolon(&mut self) {
        let previous = self.previous().span;
        let next = self.token().span;
        if self.source.line_number(previous.end) == self.source.line_number(next.start) {
            return self.expected("`;`");
        }
        let message = "expected `;` after this statement".to_string();
        let diagnostic = Diagnostic::error(Span::new(previous.end, previous.end), message);
        self.report(match self.hint("`;`") {
            Some(help) => diagnostic.with_help(help),
            None => diagnostic,
        });
        // The next statement is probably valid: continue with it instead of skipping it.
        if self.at(TokenKind::Name) {
            self.failed_at = None;
        }
    }

    fn statement(&mut self) -> Option<Stmt> {
        if !self.enter() {
            return None;
        }
        let start = self.token().span;
        let kind = self.statement_kind();
        self.leave();
        kind.map(|kind| Stmt { kind, span: self.since(start) })
    }

    fn statement_kind(&mut self) -> Option<StmtKind> {
        let TokenKind::Word(word) = self.peek() else {
            return self.statement_by_name();
        };
        Some(match word {
            Word::If => self.if_statement(),
            Word::Switch => self.switch_statement(),
            Word::For => {
                let start = self.bump().span;
                self.open(BlockKind::For, start);
                let quantifiers = self.quantifiers();
                self.expect_do();
                let body = self.statements();
                self.close();
                StmtKind::For { quantifiers, body }
            }
            Word::While => {
                let start = self.bump().span;
                self.open(BlockKind::While, start);
                let condition = self.expression();
                self.expect_do();
                let body = self.statements();
                self.close();
                StmtKind::While { condition, body }
            }
            Word::Alias => {
                let start = self.bump().span;
                self.open(BlockKind::Alias, start);
                let aliases = self.aliases();
                self.expect_do();
                let body = self.statements();
                self.close();
                StmtKind::Alias { aliases, body }
            }
            Word::Clear => {
                self.bump();
                StmtKind::Clear(self.designator())
            }
            Word::Undefine => {
                self.bump();
                StmtKind::Undefine(self.designator())
            }
            Word::Return => {
                self.bump();
                StmtKind::Return(self.at_expression().then(|| self.expression()))
            }
            Word::Assert | Word::Invariant => {
                self.bump();
                let (condition, message) = self.condition_and_text();
                StmtKind::Assert { condition, message }
            }
            Word::Error => {
                self.bump();
                StmtKind::Error(self.string())
            }
            Word::Put => {
                self.bump();
                StmtKind::Put(match self.string() {
                    Some(text) => PutArgument::Text(text),
                    None => PutArgument::Value(self.expression()),
                })
            }
            _ => {
                self.expected("a statement");
                return None;
            }
        })
    }

    /// Assignments, calls, and the statements whose words only one of the tools reserves.
    fn statement_by_name(&mut self) -> Option<StmtKind> {
        if !self.at(TokenKind::Name) {
            self.expected("a statement");
            return None;
        }
        if let Some(kind) = self.statement_by_tool() {
            return Some(kind);
        }
        // Two names in a row are never a statement: the first may be a misspelt word.
        if self.nth(1).kind == TokenKind::Name && self.mend_word(&STATEMENT_WORDS, "a statement") {
            return self.statement_kind();
        }
        let to = self.designator();
        if let ExprKind::Call { function, arguments } = to.kind {
            return Some(StmtKind::Call { function, arguments });
        }
        let assigns = self.expect(Sign::Assign);
        if !assigns && !self.eat(Sign::Equal) && !self.eat(Sign::EqualEqual) {
            return None;
        }
        let value = self.expression();
        Some(StmtKind::Assign { to, value })
    }

    /// `assume`, `cover` and `liveness` of rumur, the multiset statements of CMurphi; `None` if the word is a name of
    /// the model.
    fn statement_by_tool(&mut self) -> Option<StmtKind> {
        let token = self.token();
        let word = self.text_of(token).to_ascii_lowercase();
        let next = self.nth(1).kind;
        let place = matches!(next, TokenKind::Sign(Sign::Assign | Sign::Dot | Sign::OpenSquare | Sign::Equal | Sign::EqualEqual));
        if place || self.functions.contains(self.text_of(token)) {
            return None;
        }
        match word.as_str() {
            "assume" | "cover" | "liveness" => {
                self.bump();
                let (condition, message) = self.condition_and_text();
                if word == "liveness" {
                    let diagnostic = Diagnostic::error(token.span, "a liveness property cannot be a statement");
                    self.report(diagnostic.with_help("it belongs among the rules"));
                    return Some(StmtKind::Assert { condition, message });
                }
                Some(match word.as_str() {
                    "assume" => StmtKind::Assume { condition, message },
                    _ => StmtKind::Cover { condition, message },
                })
            }
            "multisetadd" | "multisetremove" | "multisetremovepred" if next == Sign::OpenRound.into() => {
                self.bump();
                self.bump();
                let name = (word == "multisetremovepred").then(|| {
                    let name = self.name();
                    self.expect(Sign::Colon);
                    name
                });
                let first = self.bare_expression();
                self.expect(Sign::Comma);
                let second = self.bare_expression();
                self.expect(Sign::CloseRound);
                Some(match name {
                    Some(name) => StmtKind::BagRemoveIf { name, bag: first, condition: second },
                    None if word == "multisetadd" => StmtKind::BagAdd { element: first, bag: second },
                    None => StmtKind::BagRemove { index: first, bag: second },
                })
            }
            _ => None,
        }
    }

    /// A condition with a name or message before it or after it.
    pub(super) fn condition_and_text(&mut self) -> (Expr, Option<Text>) {
        let before = self.string();
        let condition = self.expression();
        let text = if before.is_some() { before } else { self.string() };
        (condition, text)
    }

    fn if_statement(&mut self) -> StmtKind {
        let start = self.bump().span;
        self.open(BlockKind::If, start);
        let mut branches = vec![self.branch()];
        while self.at(Word::Elsif) || self.at_misspelt_elsif() {
            if !self.at(Word::Elsif) {
                self.expected("`elsif`");
            }
            self.bump();
            branches.push(self.branch());
        }
        let otherwise = self.otherwise();
        if self.at(Word::Elsif) || self.at(Word::Else) {
            let message = format!("{} after the `else` of the same `if`", self.found());
            self.report(Diagnostic::error(self.token().span, message).with_label(start, "this `if`"));
            while self.eat(Word::Elsif) || self.eat(Word::Else) {
                if self.at_expression() {
                    self.branch();
                } else {
                    self.statements();
                }
            }
        }
        self.close();
        StmtKind::If { branches, otherwise }
    }

    fn branch(&mut self) -> (Expr, Vec<Stmt>) {
        let condition = self.expression();
        self.expect_before_body(&[Word::Then.into()], "`then`");
        (condition, self.statements())
    }

    /// The `else` part of an `if` or `switch`.
    fn otherwise(&mut self) -> Option<Vec<Stmt>> {
        if !self.at(Word::Else) {
            return None;
        }
        let word = self.bump().span;
        let next = self.token().span;
        if self.at(Word::If) && self.source.line_number(word.start) == self.source.line_number(next.start) {
            self.else_if = Some(word.to(next));
        }
        Some(self.statements())
    }

    fn switch_statement(&mut self) -> StmtKind {
        let start = self.bump().span;
        self.open(BlockKind::Switch, start);
        let subject = self.expression();
        if !self.at(Word::Case) && !self.at_statement_stop() {
            self.expected("`case`");
            self.statements();
        }
        let mut cases = Vec::new();
        while self.eat(Word::Case) {
            let mut values = vec![self.expression()];
            while self.eat(Sign::Comma) && !self.at(Sign::Colon) {
                values.push(self.expression());
            }
            self.expect_before_body(&[Sign::Colon.into()], "`:`");
            cases.push((values, self.statements()));
        }
        let otherwise = self.otherwise();
        self.close();
        StmtKind::Switch { subject, cases, otherwise }
    }

    /// `a : x; b : y`, up to `do`. Several names may share a target, as in rumur.
    pub(super) fn aliases(&mut self) -> Vec<Alias> {
        let mut aliases = Vec::new();
        self.eat_semicolons();
        while self.at(TokenKind::Name) || self.at_reserved_declaration() {
            let names = self.declared_names();
            self.expect_colon();
            let target = self.expression();
            aliases.extend(names.into_iter().map(|name| Alias { name, target: target.clone() }));
            if self.at(Sign::Comma) {
                let diagnostic = Diagnostic::error(self.token().span, "aliases are separated by `;`");
                self.report(diagnostic.with_help("write `;` instead of `,`"));
                self.bump();
            }
            self.eat_semicolons();
            if self.failed() {
                break;
            }
        }
        aliases
    }
}
