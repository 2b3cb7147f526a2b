//! Expressions and references.

use super::{Parser, Read};
use crate::promela::ast::{Binary, Expr, ExprKind, Pattern, PollPattern, Probe, Reference, Unary};
use crate::promela::token::{Kind, Mark};
use crate::source::Span;

fn expr(kind: ExprKind, span: Span) -> Expr {
    Expr { kind: Box::new(kind), span }
}

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Read<Expr> {
        self.deeper(|parser| parser.binary(0))
    }

    fn binary(&mut self, least: u8) -> Read<Expr> {
        let mut left = self.unary()?;
        loop {
            let Kind::Mark(mark) = self.peek().kind else { return Ok(left) };
            if self.line_ended() {
                return Ok(left);
            }
            let Some((op, power)) = operator(mark).filter(|(_, power)| *power >= least) else { return Ok(left) };
            self.next();
            let right = self.deeper(|parser| parser.binary(power + 1))?;
            let span = left.span.to(right.span);
            left = expr(ExprKind::Binary(op, left, right), span);
        }
    }

    fn unary(&mut self) -> Read<Expr> {
        let token = self.peek().clone();
        let op = match token.kind {
            Kind::Mark(Mark::Not) => Unary::Not,
            Kind::Mark(Mark::Minus) => Unary::Minus,
            Kind::Mark(Mark::Tilde) => Unary::Complement,
            _ => return self.primary(),
        };
        self.next();
        let operand = self.deeper(Self::unary)?;
        let span = token.span.to(operand.span);
        if let (Unary::Minus, ExprKind::Number(number)) = (op, &*operand.kind) {
            return Ok(expr(ExprKind::Number(number.wrapping_neg()), span));
        }
        Ok(expr(ExprKind::Unary(op, operand), span))
    }

    fn primary(&mut self) -> Read<Expr> {
        let token = self.peek().clone();
        match &token.kind {
            Kind::Number(number) => {
                self.next();
                Ok(expr(ExprKind::Number(*number), token.span))
            }
            Kind::Mark(Mark::ParenOpen) => {
                self.next();
                let inner = self.bracketed(|parser| {
                    let condition = parser.expression()?;
                    if !parser.take(Mark::Arrow) {
                        return Ok(condition);
                    }
                    let one = parser.expression()?;
                    parser.expect(Mark::Colon)?;
                    let other = parser.expression()?;
                    let span = condition.span.to(other.span);
                    Ok(expr(ExprKind::Conditional(condition, one, other), span))
                })?;
                let end = self.expect(Mark::ParenClose)?;
                Ok(Expr { span: token.span.to(end), ..inner })
            }
            Kind::Name(word) => self.word(&word.clone(), token.span),
            _ => Err(self.unexpected("an expression")),
        }
    }

    fn word(&mut self, word: &str, span: Span) -> Read<Expr> {
        let constant = match word {
            "true" | "skip" => Some(ExprKind::Number(1)),
            "false" => Some(ExprKind::Number(0)),
            "timeout" => Some(ExprKind::Timeout),
            "np_" => Some(ExprKind::Nonprogress),
            _ => None,
        };
        if let Some(constant) = constant {
            self.next();
            return Ok(expr(constant, span));
        }
        let probe = match word {
            "full" => Some(Probe::Full),
            "nfull" => Some(Probe::NotFull),
            "empty" => Some(Probe::Empty),
            "nempty" => Some(Probe::NotEmpty),
            _ => None,
        };
        if probe.is_some() || word == "len" {
            self.next();
            self.expect(Mark::ParenOpen)?;
            let channel = self.bracketed(Self::reference)?;
            let end = self.expect(Mark::ParenClose)?;
            let kind = match probe {
                Some(probe) => ExprKind::Probe(probe, channel),
                None => ExprKind::Len(channel),
            };
            return Ok(expr(kind, span.to(end)));
        }
        match word {
            "run" => {
                self.next();
                let name = self.name()?;
                self.expect(Mark::ParenOpen)?;
                let arguments = self.bracketed(|parser| parser.list(Mark::ParenClose))?;
                let end = self.expect(Mark::ParenClose)?;
                self.priority()?;
                Ok(expr(ExprKind::Run { name, arguments }, span.to(end)))
            }
            "enabled" | "get_priority" | "pc_value" => {
                self.next();
                self.expect(Mark::ParenOpen)?;
                let inner = self.bracketed(Self::expression)?;
                let end = self.expect(Mark::ParenClose)?;
                let kind = if word == "enabled" { ExprKind::Enabled(inner) } else { ExprKind::Priority(inner) };
                Ok(expr(kind, span.to(end)))
            }
            "c_expr" => Err(self.error(span, "C code is not supported: `c_expr`")),
            _ if super::is_keyword(word) => Err(self.unexpected("an expression")),
            _ if self.proctypes.contains(word) && self.is_remote() => self.remote(),
            _ => {
                let reference = self.reference()?;
                self.after_reference(reference)
            }
        }
    }

    /// Whether the name that comes next begins a remote reference.
    fn is_remote(&self) -> bool {
        matches!(self.peek_at(1), Kind::Mark(Mark::BracketOpen | Mark::At | Mark::Colon))
    }

    fn remote(&mut self) -> Read<Expr> {
        let name = self.name()?;
        let mut process = None;
        if self.take(Mark::BracketOpen) {
            process = Some(self.bracketed(Self::expression)?);
            self.expect(Mark::BracketClose)?;
        }
        if self.take(Mark::At) {
            let label = self.name()?;
            let span = name.span.to(label.span);
            return Ok(expr(ExprKind::RemoteLabel { name, process, label }, span));
        }
        self.expect(Mark::Colon)?;
        let variable = self.reference()?;
        let span = name.span.to(variable.span);
        Ok(expr(ExprKind::RemoteVariable { name, process, variable }, span))
    }

    /// A variable, or a poll of the channel that it is.
    fn after_reference(&mut self, reference: Reference) -> Read<Expr> {
        let random = self.is(Mark::RandomReceive);
        let polls = (random || self.is(Mark::Question)) && *self.peek_at(1) == Kind::Mark(Mark::BracketOpen) && !self.line_ended();
        if !polls {
            let span = reference.span;
            return Ok(expr(ExprKind::Reference(reference), span));
        }
        self.next();
        self.next();
        let patterns = self.bracketed(|parser| parser.patterns())?;
        let end = self.expect(Mark::BracketClose)?;
        let span = reference.span.to(end);
        let arguments = patterns.into_iter().map(|pattern| match pattern {
            Pattern::Variable(reference) => PollPattern::Variable(reference),
            Pattern::Constant(value, _) => PollPattern::Constant(value),
            Pattern::Eval(value) => PollPattern::Eval(value),
            Pattern::Any(_) => PollPattern::Any,
        });
        Ok(expr(ExprKind::Poll { channel: reference, random, arguments: arguments.collect() }, span))
    }

    /// Expressions with commas between them, up to a closing bracket.
    pub(super) fn list(&mut self, close: Mark) -> Read<Vec<Expr>> {
        let mut all = Vec::new();
        if self.is(close) {
            return Ok(all);
        }
        loop {
            all.push(self.expression()?);
            if !self.take(Mark::Comma) {
                return Ok(all);
            }
        }
    }

    pub(super) fn reference(&mut self) -> Read<Reference> {
        let start = self.peek().span;
        let mut parts = Vec::new();
        loop {
            let name = self.name()?;
            let mut index = None;
            if self.is(Mark::BracketOpen) && !self.line_ended() {
                self.next();
                index = Some(self.bracketed(Self::expression)?);
                self.expect(Mark::BracketClose)?;
            }
            parts.push((name, index));
            if self.is(Mark::Dot) {
                self.next();
                continue;
            }
            return Ok(Reference { parts, span: start.to(self.last_span()) });
        }
    }

    /// The fields of a message that is received: `a, b, c` or `a(b, c)`.
    pub(super) fn patterns(&mut self) -> Read<Vec<Pattern>> {
        let mut all = vec![self.pattern()?];
        loop {
            if self.take(Mark::Comma) {
                all.push(self.pattern()?);
            } else if self.is(Mark::ParenOpen) && !self.line_ended() {
                self.next();
                let inner = self.bracketed(|parser| parser.deeper(Self::patterns))?;
                all.extend(inner);
                self.expect(Mark::ParenClose)?;
                return Ok(all);
            } else {
                return Ok(all);
            }
        }
    }

    fn pattern(&mut self) -> Read<Pattern> {
        let token = self.peek().clone();
        match &token.kind {
            Kind::Number(number) => {
                self.next();
                Ok(Pattern::Constant(*number, token.span))
            }
            Kind::Mark(Mark::Minus) => {
                self.next();
                match self.next().kind {
                    Kind::Number(number) => Ok(Pattern::Constant(-number, token.span.to(self.last_span()))),
                    _ => Err(self.error(token.span, "expected a number after `-`")),
                }
            }
            Kind::Name(word) if matches!(&**word, "true" | "false" | "skip") => {
                self.next();
                Ok(Pattern::Constant(i64::from(&**word != "false"), token.span))
            }
            Kind::Name(word) if &**word == "_" => {
                self.next();
                Ok(Pattern::Any(token.span))
            }
            Kind::Name(word) if &**word == "eval" => {
                self.next();
                self.expect(Mark::ParenOpen)?;
                let inner = self.bracketed(Self::expression)?;
                self.expect(Mark::ParenClose)?;
                Ok(Pattern::Eval(inner))
            }
            _ => Ok(Pattern::Variable(self.reference()?)),
        }
    }
}

/// An operator and how strongly it binds.
fn operator(mark: Mark) -> Option<(Binary, u8)> {
    Some(match mark {
        Mark::Or => (Binary::Or, 1),
        Mark::And => (Binary::And, 2),
        Mark::Bar => (Binary::BitOr, 3),
        Mark::Caret => (Binary::BitXor, 4),
        Mark::Ampersand => (Binary::BitAnd, 5),
        Mark::Equal => (Binary::Equal, 6),
        Mark::NotEqual => (Binary::NotEqual, 6),
        Mark::Less => (Binary::Less, 7),
        Mark::LessOrEqual => (Binary::LessOrEqual, 7),
        Mark::Greater => (Binary::Greater, 7),
        Mark::GreaterOrEqual => (Binary::GreaterOrEqual, 7),
        Mark::ShiftLeft => (Binary::ShiftLeft, 8),
        Mark::ShiftRight => (Binary::ShiftRight, 8),
        Mark::Plus => (Binary::Add, 9),
        Mark::Minus => (Binary::Subtract, 9),
        Mark::Star => (Binary::Multiply, 10),
        Mark::Slash => (Binary::Divide, 10),
        Mark::Percent => (Binary::Remainder, 10),
        _ => return None,
    })
}
