//! Types and lists of names.

use super::Parser;
use super::blocks::BlockKind;
use crate::diagnostics::Diagnostic;
use crate::murphi::ast::{ExprKind, Field, Name, TypeExpr, TypeKind};
use crate::murphi::token::{Sign, TokenKind, Word};

impl Parser<'_> {
    /// A type as it stands after `:`, `of` or inside brackets.
    pub(super) fn type_expression(&mut self) -> TypeExpr {
        let start = self.token().span;
        let kind = if self.enter() {
            let kind = self.type_kind();
            self.leave();
            kind
        } else {
            TypeKind::Named(String::new())
        };
        TypeExpr { kind, span: self.since(start) }
    }

    fn type_kind(&mut self) -> TypeKind {
        match self.peek() {
            TokenKind::Word(Word::Boolean) => {
                self.bump();
                TypeKind::Named("boolean".to_string())
            }
            TokenKind::Word(Word::Enum) => self.enumeration(),
            TokenKind::Word(Word::Record) => self.record(),
            TokenKind::Word(Word::Array) => {
                self.bump();
                self.skip_interleaved();
                self.expect(Sign::OpenSquare);
                let index = self.type_expression();
                self.expect(Sign::CloseSquare);
                self.expect(Word::Of);
                TypeKind::Array(Box::new(index), Box::new(self.type_expression()))
            }
            TokenKind::Word(Word::Scalarset) => {
                self.bump();
                self.expect(Sign::OpenRound);
                let size = self.expression();
                self.expect(Sign::CloseRound);
                TypeKind::Scalarset(Box::new(size))
            }
            TokenKind::Word(Word::Union) => self.union(),
            TokenKind::Name if self.at_multiset() => {
                self.bump();
                self.skip_interleaved();
                self.expect(Sign::OpenSquare);
                let size = self.expression();
                self.expect(Sign::CloseSquare);
                self.expect(Word::Of);
                TypeKind::Multiset(Box::new(size), Box::new(self.type_expression()))
            }
            TokenKind::Name if self.at_name("real") && self.nth(1).kind == Sign::OpenRound.into() => self.real(),
            _ if self.at_expression() => self.range_or_name(),
            _ => {
                self.expected("a type");
                TypeKind::Named(String::new())
            }
        }
    }

    fn at_multiset(&self) -> bool {
        let next = self.nth(1);
        let interleaved = next.kind == TokenKind::Name && self.text_of(next).eq_ignore_ascii_case("interleaved");
        self.at_name("multiset") && (next.kind == Sign::OpenSquare.into() || interleaved)
    }

    /// CMurphi reads `interleaved` in types and gives it no meaning.
    fn skip_interleaved(&mut self) {
        let followed = matches!(self.nth(1).kind, TokenKind::Name | TokenKind::Sign(Sign::OpenSquare));
        if self.at_name("interleaved") && followed {
            self.bump();
        }
    }

    fn enumeration(&mut self) -> TypeKind {
        self.bump();
        self.expect(Sign::OpenCurly);
        let mut members = Vec::new();
        while !self.at(Sign::CloseCurly) && !self.failed() {
            members.push(self.name());
            if !self.eat(Sign::Comma) {
                break;
            }
        }
        if self.at(TokenKind::Name) && !self.failed() {
            self.expected("`,` or `}`");
            while self.at(TokenKind::Name) || self.at(Sign::Comma) {
                self.bump();
            }
        }
        self.expect(Sign::CloseCurly);
        TypeKind::Enum(members)
    }

    fn union(&mut self) -> TypeKind {
        self.bump();
        self.expect(Sign::OpenCurly);
        let mut members = Vec::new();
        while !self.at(Sign::CloseCurly) && !self.failed() {
            members.push(self.type_expression());
            if !self.eat(Sign::Comma) {
                break;
            }
        }
        self.expect(Sign::CloseCurly);
        TypeKind::Union(members)
    }

    fn record(&mut self) -> TypeKind {
        let start = self.bump().span;
        self.open(BlockKind::Record, start);
        self.skip_interleaved();
        let mut fields = Vec::new();
        self.eat_semicolons();
        while self.at(TokenKind::Name) || self.at_reserved_declaration() {
            let names = self.declared_names();
            self.expect_colon();
            fields.push(Field { names, ty: self.type_expression() });
            self.end_of_declaration();
        }
        self.close();
        TypeKind::Record(fields)
    }

    fn real(&mut self) -> TypeKind {
        self.bump();
        self.expect(Sign::OpenRound);
        let digits = self.bare_expression();
        self.expect(Sign::Comma);
        let exponent = self.bare_expression();
        self.expect(Sign::CloseRound);
        TypeKind::Real(Box::new(digits), Box::new(exponent))
    }

    fn range_or_name(&mut self) -> TypeKind {
        let low = self.bare_expression();
        if self.eat(Sign::DotDot) {
            let high = self.bare_expression();
            return TypeKind::Range(Box::new(low), Box::new(high));
        }
        if let ExprKind::Name(name) = low.kind {
            return TypeKind::Named(name);
        }
        let diagnostic = Diagnostic::error(low.span, "expected a type, found an expression");
        self.report(diagnostic.with_help("a range of numbers is written `low .. high`"));
        TypeKind::Named(String::new())
    }

    /// One or more names before a `:`; a comma may follow the last. Reserved words among them are reported as such.
    pub(super) fn declared_names(&mut self) -> Vec<Name> {
        let mut names = Vec::new();
        loop {
            if self.at_reserved_declaration() {
                let message = format!("{} is a reserved word and cannot be declared", self.found());
                self.report(Diagnostic::error(self.token().span, message));
                self.bump();
            } else {
                names.push(self.name());
            }
            if !self.eat(Sign::Comma) || self.at(Sign::Colon) {
                return names;
            }
        }
    }

    /// A reserved word where a declared name would be, as in `type boolean: 0 .. 1`.
    pub(super) fn at_reserved_declaration(&self) -> bool {
        matches!(self.peek(), TokenKind::Word(word) if !word.is_end() && word != Word::Else) && self.nth(1).kind == Sign::Colon.into()
    }

    /// The `:` of a declaration. `=` and `:=` in its place are reported and taken for it.
    pub(super) fn expect_colon(&mut self) {
        if !self.expect(Sign::Colon) && (self.at(Sign::Equal) || self.at(Sign::Assign)) {
            self.bump();
        }
    }
}
