//! Rules, start states, properties and the blocks around them.

use super::Parser;
use super::blocks::BlockKind;
use super::expressions::continues_expression;
use crate::diagnostics::Diagnostic;
use crate::murphi::ast::{Expr, Priority, Property, PropertyKind, Rule, SimpleRule, StartState};
use crate::murphi::token::{Sign, TokenKind, Word};

/// Words that begin a rule in one of the tools and are names in the other.
const RULES_BY_NAME: [&str; 4] = ["assume", "cover", "liveness", "choose"];

/// Words that begin a rule in every tool.
const RULE_WORDS: [Word; 5] = [Word::Rule, Word::Ruleset, Word::Startstate, Word::Invariant, Word::Alias];

impl Parser<'_> {
    /// Whether the next token begins something that may occur among rules.
    pub(super) fn at_rule(&self) -> bool {
        match self.peek() {
            TokenKind::Word(word) => word == Word::Assert || RULE_WORDS.contains(&word),
            // Followed by `:` or `,` it is a declared name, the next of its section.
            TokenKind::Name => {
                RULES_BY_NAME.iter().any(|word| self.at_name(word))
                    && !matches!(self.nth(1).kind, TokenKind::Sign(Sign::Colon | Sign::Comma | Sign::Assign))
            }
            _ => false,
        }
    }

    pub(super) fn rule(&mut self) -> Option<Rule> {
        if !self.enter() {
            return None;
        }
        let rule = match self.peek() {
            TokenKind::Word(Word::Rule) => Rule::Simple(self.simple_rule()),
            TokenKind::Word(Word::Startstate) => Rule::Start(self.start_state()),
            TokenKind::Word(Word::Ruleset) => {
                let start = self.bump().span;
                self.open(BlockKind::Ruleset, start);
                let quantifiers = self.quantifiers();
                self.expect_do();
                let rules = self.rules();
                Rule::Ruleset { quantifiers, rules, span: self.since(start) }
            }
            TokenKind::Word(Word::Alias) => {
                let start = self.bump().span;
                self.open(BlockKind::Alias, start);
                let aliases = self.aliases();
                self.expect_do();
                let rules = self.rules();
                Rule::Alias { aliases, rules, span: self.since(start) }
            }
            _ if self.at_name("choose") => {
                let start = self.bump().span;
                self.open(BlockKind::Choose, start);
                let name = self.name();
                self.expect(Sign::Colon);
                let bag = self.designator();
                self.expect_do();
                let rules = self.rules();
                Rule::Choose { name, bag, rules, span: self.since(start) }
            }
            _ => Rule::Property(self.property()),
        };
        self.leave();
        Some(rule)
    }

    /// The rules inside a block, and the word that closes it.
    fn rules(&mut self) -> Vec<Rule> {
        let mut rules = Vec::new();
        loop {
            self.eat_semicolons();
            let before = self.at;
            match self.peek() {
                _ if self.at_rule() => rules.extend(self.rule()),
                TokenKind::Word(Word::Const | Word::Type | Word::Var) => {
                    let message = "declarations cannot stand inside a block of rules";
                    self.report(Diagnostic::error(self.token().span, message).with_help("is an `end` missing before them?"));
                    rules.extend(self.section().into_iter().map(Rule::Decl));
                }
                TokenKind::Word(Word::Function | Word::Procedure) => {
                    let message = "functions cannot stand inside a block of rules";
                    self.report(Diagnostic::error(self.token().span, message).with_help("is an `end` missing before it?"));
                    self.function();
                }
                TokenKind::EndOfFile => break,
                TokenKind::Word(word) if word.is_end() => break,
                _ if self.mend_word(&RULE_WORDS, "a rule or `end`") => continue,
                _ => {
                    self.expected("a rule or `end`");
                    self.bump();
                    self.skip_rule();
                }
            }
            if self.failed() || self.at == before {
                self.skip_rule();
            }
        }
        self.close();
        rules
    }

    /// Skips to the next word that begins or ends something among rules.
    fn skip_rule(&mut self) {
        while !self.at_rule() && !self.at_statement_stop() {
            self.bump();
        }
        if matches!(self.peek(), TokenKind::Word(Word::Else | Word::Elsif | Word::Case)) {
            self.bump();
        }
    }

    fn simple_rule(&mut self) -> SimpleRule {
        let start = self.bump().span;
        self.open(BlockKind::Rule, start);
        let priority = self.priority();
        let name = self.string();
        let guard = self.guard();
        let (decls, body) = self.body();
        self.close();
        SimpleRule { priority, name, guard, decls, body, span: self.since(start) }
    }

    /// A number right after `rule`, unless a guard begins with it.
    fn priority(&mut self) -> Option<Priority> {
        let token = self.token();
        let TokenKind::Number(value) = token.kind else {
            return None;
        };
        if continues_expression(self.nth(1).kind) {
            return None;
        }
        self.bump();
        Some(Priority { value, span: token.span })
    }

    /// The condition before `==>`. A rule without one may continue directly with a statement, which begins like an
    /// expression, so one is tried and taken back.
    fn guard(&mut self) -> Option<Expr> {
        if self.at(Sign::GuardArrow) {
            self.expected("a condition");
            self.bump();
        }
        if !self.at_expression() || self.at_statement_by_tool() {
            return None;
        }
        let (at, failed_at, errors, found) = (self.at, self.failed_at, self.errors, self.diagnostics.len());
        let by_name = self.at(TokenKind::Name);
        let guard = self.bare_expression();
        if self.eat(Sign::GuardArrow) || self.eat(Sign::FatArrow) {
            return Some(guard);
        }
        let statement = self.at(Sign::Assign) || self.at(Sign::Semicolon) || self.at_statement_stop();
        if by_name && statement && !self.stopped {
            (self.at, self.failed_at, self.errors) = (at, failed_at, errors);
            self.diagnostics.truncate(found);
            return None;
        }
        self.expected("`==>`");
        // Skips to the arrow, if one comes before the body, so that an error in the guard does not lose the body.
        let ends = |kind: TokenKind| matches!(kind, TokenKind::Sign(Sign::GuardArrow | Sign::Semicolon | Sign::Assign));
        let words = |kind: TokenKind| matches!(kind, TokenKind::Word(_) | TokenKind::EndOfFile);
        let stop = self.tokens[self.at..].iter().position(|token| ends(token.kind) || words(token.kind)).unwrap_or(0);
        if self.nth(stop).kind == Sign::GuardArrow.into() {
            self.at += stop + 1;
        }
        Some(guard)
    }

    /// `cover x`, `assume "m" x`: a statement of rumur, because no expression has two operands in a row.
    fn at_statement_by_tool(&self) -> bool {
        let word = RULES_BY_NAME[..3].iter().any(|word| self.at_name(word));
        let next = self.nth(1).kind;
        word && !matches!(next, TokenKind::Sign(sign) if sign != Sign::Not && sign != Sign::Complement)
    }

    fn start_state(&mut self) -> StartState {
        let start = self.bump().span;
        self.open(BlockKind::Startstate, start);
        let name = self.string();
        let (decls, body) = self.body();
        self.close();
        StartState { name, decls, body, span: self.since(start) }
    }

    fn property(&mut self) -> Property {
        let token = self.bump();
        let kind = match self.text_of(token).to_ascii_lowercase().as_str() {
            "assume" => PropertyKind::Assume,
            "cover" => PropertyKind::Cover,
            "liveness" => PropertyKind::Liveness,
            _ => PropertyKind::Invariant,
        };
        let (condition, name) = self.condition_and_text();
        Property { kind, name, condition, span: self.since(token.span) }
    }
}
