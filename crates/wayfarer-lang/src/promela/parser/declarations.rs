//! Items of a model: declarations, types, processes and claims.

use super::{Inline, Parser, Read};
use crate::promela::ast::{ClaimKind, Declaration, Declarator, Initial, Model, Name, Proctype, TypeName, Unit};
use crate::promela::token::{Kind, Mark};
use crate::source::Span;
use std::sync::Arc;

impl Parser<'_> {
    pub(super) fn model(&mut self) -> Model {
        let mut model = Model::default();
        while self.peek().kind != Kind::End && !self.gave_up() {
            let before = self.at;
            if self.take(Mark::Semicolon) || self.take(Mark::Arrow) {
                continue;
            }
            self.depth = 0;
            self.brackets = 0;
            if self.unit(&mut model).is_err() {
                if self.at == before {
                    self.next();
                }
                self.skip_to_unit();
            }
        }
        model
    }

    /// Goes on at the next word that begins an item on a new line.
    fn skip_to_unit(&mut self) {
        loop {
            let token = self.peek();
            let begins = match &token.kind {
                Kind::End => true,
                Kind::Name(word) => {
                    token.on_new_line
                        && matches!(&**word, "active" | "proctype" | "init" | "never" | "ltl" | "inline" | "typedef" | "trace" | "notrace")
                }
                _ => false,
            };
            if begins {
                return;
            }
            self.next();
        }
    }

    fn unit(&mut self, model: &mut Model) -> Read<()> {
        let token = self.peek().clone();
        let Kind::Name(word) = &token.kind else { return Err(self.unexpected("a declaration or a process")) };
        match &**word {
            "active" | "proctype" | "D_proctype" => {
                let proctype = self.proctype()?;
                model.units.push(Unit::Proctype(proctype));
            }
            "init" => {
                self.next();
                self.priority()?;
                let name = Name { text: "init".into(), span: token.span };
                let (body, end) = self.body()?;
                model.units.push(Unit::Proctype(Proctype { name, active: None, is_init: true, parameters: Vec::new(), provided: None, body, end }));
            }
            "never" | "trace" | "notrace" | "ltl" => {
                self.next();
                let kind = match &**word {
                    "never" => ClaimKind::Never,
                    "trace" => ClaimKind::Trace,
                    "notrace" => ClaimKind::Notrace,
                    _ => ClaimKind::Ltl,
                };
                let name = if matches!(self.peek().kind, Kind::Name(_)) { Some(self.name()?) } else { None };
                self.skip_braces()?;
                model.units.push(Unit::Claim { kind, name, span: token.span });
            }
            "inline" => self.inline()?,
            "typedef" => {
                self.next();
                let name = self.name()?;
                self.typedefs.insert(name.text.clone());
                self.expect(Mark::BraceOpen)?;
                let fields = self.declarations(Mark::BraceClose)?;
                self.expect(Mark::BraceClose)?;
                model.units.push(Unit::Typedef { name, fields });
            }
            "c_code" | "c_decl" | "c_expr" | "c_state" | "c_track" => {
                return Err(self.error(token.span, format!("C code is not supported: `{word}`")));
            }
            "mtype" => {
                let mut ahead = 1;
                if *self.peek_at(1) == Kind::Mark(Mark::Colon) {
                    ahead = 3;
                }
                let braces = match self.peek_at(ahead) {
                    Kind::Mark(Mark::Assign) => *self.peek_at(ahead + 1) == Kind::Mark(Mark::BraceOpen),
                    mark => *mark == Kind::Mark(Mark::BraceOpen),
                };
                if !braces {
                    let declaration = self.declaration()?;
                    model.units.push(Unit::Declaration(declaration));
                    return Ok(());
                }
                self.next();
                let kind = if self.take(Mark::Colon) { Some(self.name()?) } else { None };
                self.take(Mark::Assign);
                self.expect(Mark::BraceOpen)?;
                let mut names = Vec::new();
                while !self.is(Mark::BraceClose) {
                    names.push(self.name()?);
                    if !self.take(Mark::Comma) && !matches!(self.peek().kind, Kind::Name(_)) {
                        break;
                    }
                }
                self.expect(Mark::BraceClose)?;
                model.units.push(Unit::Mtype { kind, names });
            }
            _ if self.begins_declaration() => {
                let declaration = self.declaration()?;
                model.units.push(Unit::Declaration(declaration));
            }
            _ => return Err(self.unexpected("a declaration or a process")),
        }
        Ok(())
    }

    /// Passes over a block in braces; what is in it is not judged.
    fn skip_braces(&mut self) -> Read<()> {
        let start = self.expect(Mark::BraceOpen)?;
        let mut depth = 1;
        while depth > 0 {
            match self.peek().kind {
                Kind::Mark(Mark::BraceOpen) => depth += 1,
                Kind::Mark(Mark::BraceClose) => depth -= 1,
                Kind::End => return Err(self.error(start, "this brace is not closed")),
                _ => {}
            }
            self.next();
        }
        Ok(())
    }

    fn proctype(&mut self) -> Read<Proctype> {
        let mut active = None;
        if self.is_word("active") {
            let span = self.next().span;
            active = Some(crate::promela::ast::Expr { kind: Box::new(crate::promela::ast::ExprKind::Number(1)), span });
            if self.take(Mark::BracketOpen) {
                active = Some(self.bracketed(Self::expression)?);
                self.expect(Mark::BracketClose)?;
            }
        }
        if !self.take_word("D_proctype") {
            self.expect_word("proctype")?;
        }
        let name = self.name()?;
        self.expect(Mark::ParenOpen)?;
        let parameters = self.bracketed(|parser| parser.declarations(Mark::ParenClose))?;
        self.expect(Mark::ParenClose)?;
        self.priority()?;
        let mut provided = None;
        if self.take_word("provided") {
            self.expect(Mark::ParenOpen)?;
            provided = Some(self.bracketed(Self::expression)?);
            self.expect(Mark::ParenClose)?;
        }
        let (body, end) = self.body()?;
        Ok(Proctype { name, active, is_init: false, parameters, provided, body, end })
    }

    /// Passes over a priority of 1, which all processes have.
    pub(super) fn priority(&mut self) -> Read<()> {
        if self.is_word("priority") {
            let span = self.next().span;
            match self.next().kind {
                Kind::Number(1) => {}
                Kind::Number(_) => return Err(self.error(span, "priorities of processes are not supported")),
                _ => return Err(self.error(span, "expected a number after `priority`")),
            }
        }
        Ok(())
    }

    fn body(&mut self) -> Read<(Vec<crate::promela::ast::Step>, Span)> {
        let open = self.expect(Mark::BraceOpen)?;
        self.loops = 0;
        let body = self.sequence(|parser| parser.is(Mark::BraceClose) || parser.at_end())?;
        let end = self.close(open)?;
        Ok((body, end))
    }

    /// Declarations with semicolons between them, up to a closing bracket.
    fn declarations(&mut self, close: Mark) -> Read<Vec<Declaration>> {
        let mut all = Vec::new();
        loop {
            while self.take(Mark::Semicolon) {}
            if self.is(close) {
                return Ok(all);
            }
            all.push(self.declaration()?);
            if !self.is(Mark::Semicolon) && !self.is(close) && !self.peek().on_new_line {
                return Err(self.unexpected(&format!("`;` or `{}`", close.text())));
            }
        }
    }

    pub(super) fn begins_declaration(&self) -> bool {
        match &self.peek().kind {
            Kind::Name(word) => {
                matches!(&**word, "hidden" | "show" | "local" | "bit" | "bool" | "byte" | "pid" | "short" | "int" | "unsigned" | "mtype" | "chan")
                    || (self.typedefs.contains(word) && matches!(self.peek_at(1), Kind::Name(_)))
            }
            _ => false,
        }
    }

    pub(super) fn type_name(&mut self) -> Read<TypeName> {
        let token = self.peek().clone();
        let Kind::Name(word) = &token.kind else { return Err(self.unexpected("a type")) };
        let ty = match &**word {
            "bit" => TypeName::Bit,
            "bool" => TypeName::Bool,
            "byte" => TypeName::Byte,
            "pid" => TypeName::Pid,
            "short" => TypeName::Short,
            "int" => TypeName::Int,
            "unsigned" => TypeName::Unsigned,
            "chan" => TypeName::Chan,
            "mtype" => {
                self.next();
                let kind = if self.take(Mark::Colon) { Some(self.name()?) } else { None };
                return Ok(TypeName::Mtype(kind));
            }
            _ if self.typedefs.contains(word) => TypeName::User(Name { text: word.clone(), span: token.span }),
            _ => return Err(self.error(token.span, format!("unknown type `{word}`"))),
        };
        self.next();
        Ok(ty)
    }

    pub(super) fn declaration(&mut self) -> Read<Declaration> {
        let mut hidden = false;
        while let Kind::Name(word) = &self.peek().kind {
            match &**word {
                "hidden" => hidden = true,
                "show" | "local" => {}
                _ => break,
            }
            self.next();
        }
        let ty = self.type_name()?;
        let mut variables = Vec::new();
        loop {
            variables.push(self.declarator()?);
            if !self.take(Mark::Comma) {
                return Ok(Declaration { hidden, ty, variables });
            }
        }
    }

    fn declarator(&mut self) -> Read<Declarator> {
        let name = self.name()?;
        let mut declarator = Declarator { name, width: None, count: None, initial: None };
        if self.take(Mark::Colon) {
            let token = self.next();
            match token.kind {
                Kind::Number(width) => declarator.width = Some((width, token.span)),
                _ => return Err(self.error(token.span, "expected a number of bits")),
            }
        }
        if self.take(Mark::BracketOpen) {
            declarator.count = Some(self.bracketed(Self::expression)?);
            self.expect(Mark::BracketClose)?;
        }
        if self.take(Mark::Assign) {
            declarator.initial = Some(if self.is(Mark::BracketOpen) {
                self.channel()?
            } else if self.take(Mark::BraceOpen) {
                let mut list = vec![self.bracketed(Self::expression)?];
                while self.take(Mark::Comma) {
                    list.push(self.bracketed(Self::expression)?);
                }
                self.expect(Mark::BraceClose)?;
                Initial::List(list)
            } else {
                Initial::Value(self.expression()?)
            });
        }
        Ok(declarator)
    }

    fn channel(&mut self) -> Read<Initial> {
        let start = self.expect(Mark::BracketOpen)?;
        let capacity = self.bracketed(Self::expression)?;
        self.expect(Mark::BracketClose)?;
        self.expect_word("of")?;
        self.expect(Mark::BraceOpen)?;
        let mut fields = vec![self.type_name()?];
        while self.take(Mark::Comma) {
            fields.push(self.type_name()?);
        }
        let end = self.expect(Mark::BraceClose)?;
        Ok(Initial::Channel { capacity, fields, span: start.to(end) })
    }

    fn inline(&mut self) -> Read<()> {
        self.next();
        let name = self.name()?;
        self.expect(Mark::ParenOpen)?;
        let mut parameters: Vec<Arc<str>> = Vec::new();
        while !self.is(Mark::ParenClose) {
            parameters.push(self.name()?.text);
            if !self.take(Mark::Comma) {
                break;
            }
        }
        self.expect(Mark::ParenClose)?;
        let start = self.at;
        self.skip_braces()?;
        let body = self.tokens[start..self.at].to_vec();
        self.inlines.insert(name.text, Arc::new(Inline { parameters, body }));
        Ok(())
    }
}
