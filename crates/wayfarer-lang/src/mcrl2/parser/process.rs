//! Process expressions.

use super::{Parser, Read, Told};
use crate::diagnostics::Diagnostic;
use crate::mcrl2::ast::*;
use crate::mcrl2::lexer::Kind;
use crate::source::Span;

/// Precedences, from `+` to `|`.
const CHOICE: u8 = 1;
const SUM: u8 = 2;
const PARALLEL: u8 = 3;
const IF: u8 = 5;
const SEQUENCE: u8 = 9;
const MULTI: u8 = 11;

impl Parser<'_> {
    /// A process.
    pub(super) fn process(&mut self) -> Read<Process> {
        self.level(CHOICE)
    }

    /// A process of operators that bind at least as tightly as `least`.
    fn level(&mut self, least: u8) -> Read<Process> {
        self.deeper(|parser| match least {
            CHOICE => parser.chain("+", SUM, ProcessKind::Choice),
            SUM..=PARALLEL => parser.chain("||", IF, ProcessKind::Parallel),
            4..=8 => parser.level(SEQUENCE),
            SEQUENCE..=10 => parser.chain(".", MULTI, ProcessKind::Sequence),
            _ => parser.chain("|", MULTI + 1, ProcessKind::Multi),
        })
    }

    /// Operands between one operator.
    fn chain(&mut self, sign: &str, operands: u8, make: impl FnOnce(Vec<Process>) -> ProcessKind) -> Read<Process> {
        let mut list = vec![self.operand(operands)?];
        loop {
            self.refuse_time()?;
            if !self.eat(sign) {
                break;
            }
            self.check_chain(list.len())?;
            list.push(self.operand(operands)?);
        }
        if list.len() == 1
            && let Some(only) = list.pop()
        {
            return Ok(only);
        }
        let span = list.iter().map(|process| process.span).reduce(Span::to).unwrap_or_default();
        Ok(Process { kind: make(list), span })
    }

    /// An operand. Sums and conditions reach as far to the right as their own precedence lets them, wherever they stand.
    fn operand(&mut self, least: u8) -> Read<Process> {
        if least <= MULTI {
            return self.level(least);
        }
        let start = self.span();
        if self.text() == "sum" {
            self.at += 1;
            let variables = self.variables()?;
            self.expect(".")?;
            let body = self.level(SUM)?;
            let span = start.to(body.span);
            return Ok(Process { kind: ProcessKind::Sum(variables, Box::new(body)), span });
        }
        if self.text() == "dist" {
            return self.refuse("probabilities (`dist`) are not supported");
        }
        if self.is_condition() {
            let condition = self.unit()?;
            self.expect("->")?;
            let then = Box::new(self.level(IF)?);
            let other = if self.eat("<>") { Some(Box::new(self.level(IF)?)) } else { None };
            let span = start.to(self.last_span());
            return Ok(Process { kind: ProcessKind::If(Box::new(condition), then, other), span });
        }
        self.simple_process()
    }

    /// Whether a condition with its arrow begins here.
    fn is_condition(&self) -> bool {
        let mut at = self.at;
        while matches!(self.text_at(at), "!" | "-" | "#") {
            at += 1;
        }
        let Some(token) = self.tokens.get(at) else { return false };
        match token.kind {
            Kind::Word | Kind::Number => at += 1,
            Kind::Sign if self.text_at(at) == "(" => at = token.partner as usize + 1,
            _ => return false,
        }
        while self.text_at(at) == "(" {
            at = self.tokens[at].partner as usize + 1;
        }
        self.text_at(at) == "->"
    }

    /// A condition: an expression in brackets, or one that needs none.
    fn unit(&mut self) -> Read<Expression> {
        self.prefixed_unit()
    }

    fn prefixed_unit(&mut self) -> Read<Expression> {
        let start = self.span();
        if let Some(sign) = ["!", "-", "#"].into_iter().find(|sign| *sign == self.text()) {
            self.at += 1;
            let operand = self.deeper(|parser| parser.prefixed_unit())?;
            let span = start.to(operand.span);
            return Ok(Expression { kind: ExpressionKind::Unary(sign, Box::new(operand)), span });
        }
        let mut expression = if self.eat("(") {
            let inner = self.expression()?;
            self.expect(")")?;
            inner
        } else {
            let kind = if self.token().kind == Kind::Number {
                ExpressionKind::Number(self.text().to_string())
            } else if matches!(self.text(), "true" | "false") || self.is_name() {
                ExpressionKind::Name(self.text().to_string())
            } else {
                return self.expected("a condition");
            };
            self.at += 1;
            Expression { kind, span: start }
        };
        while self.eat("(") {
            let arguments = self.expressions(")")?;
            expression = Expression { kind: ExpressionKind::Apply(Box::new(expression), arguments), span: start.to(self.last_span()) };
        }
        Ok(expression)
    }

    fn simple_process(&mut self) -> Read<Process> {
        let start = self.span();
        let kind = match self.text() {
            "(" => {
                self.at += 1;
                let mut inner = self.process()?;
                self.expect(")")?;
                inner.span = start.to(self.last_span());
                return Ok(inner);
            }
            "delta" => {
                self.at += 1;
                ProcessKind::Delta
            }
            "tau" => {
                self.at += 1;
                ProcessKind::Tau
            }
            operator @ ("block" | "allow" | "hide" | "rename" | "comm") => {
                self.at += 1;
                self.operator(operator)?
            }
            _ if self.is_name() => {
                let name = self.name()?;
                if !self.eat("(") {
                    ProcessKind::Apply(name, Vec::new())
                } else if self.eat(")") {
                    ProcessKind::Assign(name, Vec::new())
                } else if self.is_name() && self.text_at(self.at + 1) == "=" {
                    let assignments = self.assignments()?;
                    self.expect(")")?;
                    ProcessKind::Assign(name, assignments)
                } else {
                    ProcessKind::Apply(name, self.expressions(")")?)
                }
            }
            _ => return self.expected("a process"),
        };
        Ok(Process { kind, span: start.to(self.last_span()) })
    }

    /// `block`, `allow`, `hide`, `rename` or `comm` behind its name.
    fn operator(&mut self, operator: &str) -> Read<ProcessKind> {
        self.expect("(")?;
        self.expect("{")?;
        let (mut names, mut pairs, mut multis, mut communications) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        while !self.eat("}") {
            match operator {
                "block" | "hide" => names.push(self.name()?),
                "rename" => {
                    let from = self.name()?;
                    self.expect("->")?;
                    pairs.push((from, self.name()?));
                }
                "allow" => multis.push(self.multi()?),
                _ => {
                    let from = self.multi()?;
                    self.expect("->")?;
                    let to = if self.text() == "tau" {
                        return self.refuse("a communication must have a name of its own; hide it to make it `tau`");
                    } else {
                        self.name()?
                    };
                    communications.push((from, to));
                }
            }
            if !self.eat(",") && self.text() != "}" {
                return self.expected("`,` or `}`");
            }
        }
        self.expect(",")?;
        let inner = Box::new(self.process()?);
        self.expect(")")?;
        Ok(match operator {
            "block" => ProcessKind::Block(names, inner),
            "hide" => ProcessKind::Hide(names, inner),
            "rename" => ProcessKind::Rename(pairs, inner),
            "allow" => ProcessKind::Allow(multis, inner),
            _ => ProcessKind::Communicate(communications, inner),
        })
    }

    fn multi(&mut self) -> Read<Vec<Name>> {
        let mut names = vec![self.name()?];
        while self.eat("|") {
            names.push(self.name()?);
        }
        Ok(names)
    }

    /// Refuses what needs time, at its place.
    fn refuse_time(&mut self) -> Read<()> {
        match self.text() {
            "@" => self.refuse("time (`@`) is not supported"),
            "<<" => self.refuse("time (`<<`) is not supported"),
            "||_" => self.refuse("the left merge (`||_`) is not supported"),
            _ => Ok(()),
        }
    }

    fn refuse<T>(&mut self, message: &str) -> Read<T> {
        let span = self.span();
        self.diagnostics.push(Diagnostic::error(span, message));
        Err(Told)
    }
}
