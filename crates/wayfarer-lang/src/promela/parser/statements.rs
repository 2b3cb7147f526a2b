//! Statements and sequences of them.

use super::{Parser, Read};
use crate::promela::ast::{Binary, Expr, ExprKind, Label, Sequence, Statement, Step};
use crate::promela::token::{Kind, Mark};
use crate::source::Span;

impl Parser<'_> {
    /// Steps up to a token at which the sequence ends, which is not taken.
    pub(super) fn sequence(&mut self, ends: impl Fn(&Self) -> bool + Copy) -> Read<Sequence> {
        let mut steps = Vec::new();
        loop {
            while self.is(Mark::Semicolon) || self.is(Mark::Arrow) {
                self.next();
            }
            if ends(self) {
                if steps.is_empty() {
                    return Err(self.unexpected("a statement"));
                }
                return Ok(steps);
            }
            if self.peek().kind == Kind::End || self.gave_up() {
                return Err(self.unexpected("a statement"));
            }
            let step = self.step()?;
            let is_else = matches!(step.statement, Statement::Else);
            steps.push(step);
            let closed = self.last().is_some_and(|token| token.kind == Kind::Mark(Mark::BraceClose));
            let separated = self.is(Mark::Semicolon) || self.is(Mark::Arrow) || self.line_ended() || is_else || closed || ends(self);
            // After an inline's call the last token is its closing bracket, and a semicolon may be missing as after a brace.
            let called = matches!(steps.last().map(|step| &step.statement), Some(Statement::Block(_)));
            if !separated && !called {
                return Err(self.unexpected("`;` or `->` before the next statement"));
            }
        }
    }

    fn step(&mut self) -> Read<Step> {
        self.deeper(|parser| {
            let step = parser.labelled()?;
            if !parser.is_word("unless") {
                return Ok(step);
            }
            parser.next();
            let escape = parser.labelled()?;
            let span = step.span;
            Ok(Step { labels: Vec::new(), statement: Statement::Unless { body: Box::new(step), escape: Box::new(escape) }, span })
        })
    }

    fn labelled(&mut self) -> Read<Step> {
        let mut labels = Vec::new();
        loop {
            let is_label = matches!(&self.peek().kind, Kind::Name(word) if !super::is_keyword(word))
                && *self.peek_at(1) == Kind::Mark(Mark::Colon)
                && !self.is_remote_variable();
            if !is_label {
                break;
            }
            let name = self.name()?;
            self.next();
            labels.push(Label { name, expansion: self.expansion });
            // A label at the end of a sequence labels a `skip`.
            if self.is(Mark::BraceClose) || self.is(Mark::Colons) || self.is_word("fi") || self.is_word("od") || self.is(Mark::Semicolon) {
                let span = self.last_span();
                let skip = Expr { kind: Box::new(ExprKind::Number(1)), span };
                return Ok(Step { labels, statement: Statement::Expression(skip), span });
            }
        }
        let start = self.peek().span;
        let statement = self.statement()?;
        if !labels.is_empty() && matches!(statement, Statement::Declaration(_) | Statement::Exclusive(_)) {
            return Err(self.error(start, "a declaration cannot have a label"));
        }
        Ok(Step { labels, statement, span: start.to(self.last_span()) })
    }

    /// `P:x` of a process type is a remote reference, not a label, where it is part of an expression.
    fn is_remote_variable(&self) -> bool {
        let Kind::Name(word) = &self.peek().kind else { return false };
        self.proctypes.contains(word)
    }

    fn statement(&mut self) -> Read<Statement> {
        let token = self.peek().clone();
        match &token.kind {
            Kind::Mark(Mark::BraceOpen) => Ok(Statement::Block(self.block()?)),
            Kind::Name(word) => {
                if self.begins_declaration() {
                    return Ok(Statement::Declaration(self.declaration()?));
                }
                if let Some(inline) = self.inlines.get(word).cloned()
                    && *self.peek_at(1) == Kind::Mark(Mark::ParenOpen)
                {
                    return self.call(&inline);
                }
                self.keyword_statement(&word.clone(), token.span)
            }
            _ => Ok(Statement::Expression(self.expression()?)),
        }
    }

    fn block(&mut self) -> Read<Sequence> {
        let open = self.expect(Mark::BraceOpen)?;
        let outer = std::mem::take(&mut self.brackets);
        let steps = self.sequence(|parser| parser.is(Mark::BraceClose) || parser.at_end())?;
        self.brackets = outer;
        self.close(open)?;
        Ok(steps)
    }

    /// Takes the brace that ends a block; without one the error stands where the block begins.
    pub(super) fn close(&mut self, open: Span) -> Read<Span> {
        if self.at_end() {
            return Err(self.error(open, "this `{` is not closed"));
        }
        self.expect(Mark::BraceClose)
    }

    pub(super) fn at_end(&self) -> bool {
        self.peek().kind == Kind::End
    }

    fn keyword_statement(&mut self, word: &str, span: Span) -> Read<Statement> {
        match word {
            "if" | "do" => {
                self.next();
                let (end, is_loop) = if word == "if" { ("fi", false) } else { ("od", true) };
                self.loops += usize::from(is_loop);
                let options = self.options(end, span);
                self.loops -= usize::from(is_loop);
                let options = options?;
                Ok(if is_loop { Statement::Do(options) } else { Statement::If(options) })
            }
            "atomic" => {
                self.next();
                Ok(Statement::Atomic(self.block()?))
            }
            "d_step" => {
                self.next();
                Ok(Statement::Dstep(self.block()?))
            }
            "for" => self.for_loop(),
            "select" => {
                self.next();
                self.expect(Mark::ParenOpen)?;
                let statement = self.bracketed(|parser| {
                    let variable = parser.reference()?;
                    parser.expect(Mark::Colon)?;
                    let from = parser.expression()?;
                    parser.expect(Mark::DotDot)?;
                    let to = parser.expression()?;
                    Ok(Statement::Select { variable, from, to })
                })?;
                self.expect(Mark::ParenClose)?;
                Ok(statement)
            }
            "else" => {
                self.next();
                Ok(Statement::Else)
            }
            "break" => {
                self.next();
                if self.loops == 0 {
                    return Err(self.error(span, "`break` outside of a loop"));
                }
                Ok(Statement::Break)
            }
            "goto" => {
                self.next();
                let name = self.name()?;
                Ok(Statement::Goto(Label { name, expansion: self.expansion }))
            }
            "assert" => {
                self.next();
                Ok(Statement::Assert(self.expression()?))
            }
            "printf" | "printm" => self.print(word),
            "xr" | "xs" => {
                self.next();
                let mut all = vec![self.reference()?];
                while self.take(Mark::Comma) {
                    all.push(self.reference()?);
                }
                Ok(Statement::Exclusive(all))
            }
            "c_code" | "c_expr" | "c_decl" => Err(self.error(span, format!("C code is not supported: `{word}`"))),
            "set_priority" => Err(self.error(span, "priorities of processes are not supported")),
            "return" => Err(self.error(span, "`return` from an inline is not supported")),
            _ if super::is_keyword(word) || self.is_remote_variable() => Ok(Statement::Expression(self.expression()?)),
            _ => self.reference_statement(),
        }
    }

    fn options(&mut self, end: &str, start: Span) -> Read<Vec<Sequence>> {
        let outer = std::mem::take(&mut self.brackets);
        let mut options = Vec::new();
        while self.take(Mark::Colons) {
            // A brace or the end of the text shows that the end of the selection is missing.
            let stops: fn(&Self) -> bool =
                |parser| parser.is(Mark::Colons) || parser.is_word("fi") || parser.is_word("od") || parser.is(Mark::BraceClose) || parser.at_end();
            options.push(self.sequence(stops)?);
        }
        self.brackets = outer;
        if options.is_empty() {
            return Err(self.unexpected("`::`"));
        }
        if !self.is_word(end) {
            let found = self.peek().describe();
            let word = if end == "fi" { "if" } else { "do" };
            return Err(self.error(start, format!("this `{word}` is not closed: expected `{end}`, not {found}")));
        }
        self.next();
        Ok(options)
    }

    fn for_loop(&mut self) -> Read<Statement> {
        self.next();
        self.expect(Mark::ParenOpen)?;
        self.brackets += 1;
        let head = self.for_head();
        self.brackets -= 1;
        let head = head?;
        self.expect(Mark::ParenClose)?;
        self.take(Mark::Semicolon);
        self.loops += 1;
        let body = self.block();
        self.loops -= 1;
        let body = body?;
        Ok(match head {
            (variable, Err(within)) => Statement::ForIn { variable, within, body },
            (variable, Ok((from, to))) => Statement::For { variable, from, to, body },
        })
    }

    #[allow(clippy::type_complexity)]
    fn for_head(&mut self) -> Read<(crate::promela::ast::Reference, Result<(Expr, Expr), crate::promela::ast::Reference>)> {
        let variable = self.reference()?;
        if self.take_word("in") {
            let within = self.reference()?;
            return Ok((variable, Err(within)));
        }
        self.expect(Mark::Colon)?;
        let from = self.expression()?;
        self.expect(Mark::DotDot)?;
        let to = self.expression()?;
        Ok((variable, Ok((from, to))))
    }

    fn print(&mut self, word: &str) -> Read<Statement> {
        self.next();
        self.expect(Mark::ParenOpen)?;
        let statement = self.bracketed(|parser| {
            if word == "printm" {
                return Ok(Statement::PrintName(parser.expression()?));
            }
            let token = parser.next();
            let Kind::Text(format) = token.kind else { return Err(parser.error(token.span, "expected a string")) };
            let arguments = if parser.take(Mark::Comma) { parser.list(Mark::ParenClose)? } else { Vec::new() };
            Ok(Statement::Print { format, arguments })
        })?;
        self.expect(Mark::ParenClose)?;
        Ok(statement)
    }

    /// A statement that begins with a variable: an assignment, a send, a receive or an expression.
    fn reference_statement(&mut self) -> Read<Statement> {
        let start = self.at;
        let reference = self.reference()?;
        let Kind::Mark(mark) = self.peek().kind else { return self.expression_from(start) };
        if self.line_ended() {
            return self.expression_from(start);
        }
        match mark {
            Mark::Assign => {
                self.next();
                if let Kind::Name(word) = &self.peek().kind
                    && self.inlines.contains_key(word)
                    && *self.peek_at(1) == Kind::Mark(Mark::ParenOpen)
                {
                    let span = self.peek().span;
                    return Err(self.error(span, "an inline that gives a value is not supported"));
                }
                let value = self.expression()?;
                Ok(Statement::Assign { to: reference, value })
            }
            Mark::Increment | Mark::Decrement => {
                let span = reference.span.to(self.next().span);
                let op = if mark == Mark::Increment { Binary::Add } else { Binary::Subtract };
                let one = Expr { kind: Box::new(ExprKind::Number(1)), span };
                let old = Expr { kind: Box::new(ExprKind::Reference(reference.clone())), span };
                let value = Expr { kind: Box::new(ExprKind::Binary(op, old, one)), span };
                Ok(Statement::Assign { to: reference, value })
            }
            Mark::Not | Mark::SortedSend => {
                self.next();
                let arguments = self.message()?;
                Ok(Statement::Send { channel: reference, sorted: mark == Mark::SortedSend, arguments })
            }
            Mark::Question | Mark::RandomReceive => {
                let random = mark == Mark::RandomReceive;
                if *self.peek_at(1) == Kind::Mark(Mark::BracketOpen) {
                    return self.expression_from(start);
                }
                self.next();
                let keep = self.take(Mark::Less);
                let arguments = self.patterns()?;
                if keep {
                    self.expect(Mark::Greater)?;
                }
                Ok(Statement::Receive { channel: reference, random, keep, arguments })
            }
            _ => self.expression_from(start),
        }
    }

    fn expression_from(&mut self, start: usize) -> Read<Statement> {
        self.at = start;
        Ok(Statement::Expression(self.expression()?))
    }

    /// The fields of a message that is sent: `a, b, c` or `a(b, c)`.
    fn message(&mut self) -> Read<Vec<Expr>> {
        let mut all = vec![self.expression()?];
        loop {
            if self.is(Mark::ParenOpen) && all.len() == 1 && !self.line_ended() {
                self.next();
                let rest = self.bracketed(|parser| parser.list(Mark::ParenClose))?;
                all.extend(rest);
                self.expect(Mark::ParenClose)?;
                return Ok(all);
            }
            if !self.take(Mark::Comma) {
                return Ok(all);
            }
            all.push(self.expression()?);
        }
    }
}
