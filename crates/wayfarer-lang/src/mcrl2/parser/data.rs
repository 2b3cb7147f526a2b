//! Data expressions.

use super::{Parser, Read};
use crate::mcrl2::ast::*;
use crate::mcrl2::lexer::Kind;

/// Binary operators with their precedence, and whether they associate to the right.
const BINARY: [(&str, u8, bool); 21] = [
    ("=>", 2, true),
    ("||", 3, true),
    ("&&", 4, true),
    ("==", 5, false),
    ("!=", 5, false),
    ("<", 6, false),
    ("<=", 6, false),
    (">=", 6, false),
    (">", 6, false),
    ("in", 6, false),
    ("|>", 7, true),
    ("<|", 8, false),
    ("++", 9, false),
    ("+", 10, false),
    ("-", 10, false),
    ("/", 11, false),
    ("div", 11, false),
    ("mod", 11, false),
    ("*", 12, false),
    (".", 12, false),
    ("\0", 0, false),
];

impl Parser<'_> {
    /// An expression with everything that may follow it, `whr` included.
    pub(super) fn expression(&mut self) -> Read<Expression> {
        self.deeper(|parser| {
            let mut expression = parser.operation(1)?;
            while parser.eat("whr") {
                let assignments = parser.assignments()?;
                parser.expect("end")?;
                let span = expression.span.to(parser.last_span());
                expression = Expression { kind: ExpressionKind::Where(Box::new(expression), assignments), span };
            }
            Ok(expression)
        })
    }

    pub(super) fn assignments(&mut self) -> Read<Vec<(Name, Expression)>> {
        let mut list = Vec::new();
        loop {
            let name = self.name()?;
            self.expect("=")?;
            list.push((name, self.expression()?));
            if !self.eat(",") {
                return Ok(list);
            }
        }
    }

    pub(super) fn expressions(&mut self, end: &str) -> Read<Vec<Expression>> {
        let mut list = vec![self.expression()?];
        while self.eat(",") {
            list.push(self.expression()?);
        }
        self.expect(end)?;
        Ok(list)
    }

    /// Operators of at least this precedence.
    fn operation(&mut self, least: u8) -> Read<Expression> {
        self.deeper(|parser| {
            let mut left = parser.prefixed()?;
            let mut length = 0;
            // Operators that associate to the right wait here for their right side.
            let mut waiting: Vec<(Expression, &'static str, u8)> = Vec::new();
            loop {
                let text = parser.text();
                let found = BINARY.iter().find(|(sign, ..)| *sign == text).filter(|(_, level, _)| *level >= least);
                let level = found.map_or(0, |(_, level, _)| *level);
                while let Some((_, _, before)) = waiting.last() {
                    if *before <= level {
                        break;
                    }
                    let Some((first, sign, _)) = waiting.pop() else { break };
                    left = binary(sign, first, left);
                }
                let Some((sign, level, right)) = found else { return Ok(left) };
                length += 1;
                parser.check_chain(length)?;
                parser.at += 1;
                if *right {
                    waiting.push((left, *sign, *level));
                    left = parser.operation(level + 1)?;
                } else {
                    let operand = parser.operation(level + 1)?;
                    left = binary(sign, left, operand);
                }
            }
        })
    }

    fn prefixed(&mut self) -> Read<Expression> {
        let start = self.span();
        let binder = match self.text() {
            sign @ ("!" | "-" | "#") => {
                self.at += 1;
                let sign = ["!", "-", "#"].into_iter().find(|known| *known == sign).unwrap_or("!");
                let operand = self.deeper(|parser| parser.prefixed())?;
                let span = start.to(operand.span);
                return Ok(Expression { kind: ExpressionKind::Unary(sign, Box::new(operand)), span });
            }
            "forall" => Binder::Forall,
            "exists" => Binder::Exists,
            "lambda" => Binder::Lambda,
            _ => return self.applied(),
        };
        self.at += 1;
        let variables = self.variables()?;
        self.expect(".")?;
        let body = self.operation(1)?;
        let span = start.to(body.span);
        Ok(Expression { kind: ExpressionKind::Binder(binder, variables, Box::new(body)), span })
    }

    /// A simple expression with arguments and updates behind it.
    fn applied(&mut self) -> Read<Expression> {
        let mut expression = self.simple()?;
        let mut length = 0;
        loop {
            length += 1;
            self.check_chain(length)?;
            if self.eat("(") {
                let arguments = self.expressions(")")?;
                let span = expression.span.to(self.last_span());
                expression = Expression { kind: ExpressionKind::Apply(Box::new(expression), arguments), span };
            } else if self.eat("[") {
                let place = self.expression()?;
                self.expect("->")?;
                let value = self.expression()?;
                self.expect("]")?;
                let span = expression.span.to(self.last_span());
                expression = Expression { kind: ExpressionKind::Update(Box::new(expression), Box::new(place), Box::new(value)), span };
            } else {
                return Ok(expression);
            }
        }
    }

    fn simple(&mut self) -> Read<Expression> {
        let start = self.span();
        let text = self.text();
        let kind = match text {
            "(" => {
                self.at += 1;
                let mut inner = self.expression()?;
                self.expect(")")?;
                inner.span = start.to(self.last_span());
                return Ok(inner);
            }
            "[" => {
                self.at += 1;
                ExpressionKind::List(if self.eat("]") { Vec::new() } else { self.expressions("]")? })
            }
            "{" => self.braces()?,
            "true" | "false" => {
                self.at += 1;
                ExpressionKind::Name(text.to_string())
            }
            _ if self.token().kind == Kind::Number => {
                self.at += 1;
                ExpressionKind::Number(text.to_string())
            }
            _ if self.is_name() => {
                self.at += 1;
                ExpressionKind::Name(text.to_string())
            }
            _ => return self.expected("an expression"),
        };
        Ok(Expression { kind, span: start.to(self.last_span()) })
    }

    /// A set, a bag or a comprehension.
    fn braces(&mut self) -> Read<ExpressionKind> {
        let end = self.token().partner as usize;
        self.at += 1;
        if self.eat("}") {
            return Ok(ExpressionKind::Set(Vec::new()));
        }
        if self.text() == ":" && self.text_at(self.at + 1) == "}" {
            self.at += 2;
            return Ok(ExpressionKind::Bag(Vec::new()));
        }
        if self.is_name() && self.text_at(self.at + 1) == ":" && self.has_bar(self.at + 2, end) {
            let names = vec![self.name()?];
            self.at += 1;
            let sort = self.sort()?;
            self.expect("|")?;
            let body = self.expression()?;
            self.expect("}")?;
            return Ok(ExpressionKind::Comprehension(Box::new(Variables { names, sort }), Box::new(body)));
        }
        let first = self.expression()?;
        if self.eat(":") {
            let mut list = vec![(first, self.expression()?)];
            while self.eat(",") {
                let element = self.expression()?;
                self.expect(":")?;
                list.push((element, self.expression()?));
            }
            self.expect("}")?;
            return Ok(ExpressionKind::Bag(list));
        }
        let mut list = vec![first];
        if self.eat(",") {
            list.extend(self.expressions("}")?);
        } else {
            self.expect("}")?;
        }
        Ok(ExpressionKind::Set(list))
    }

    /// Whether a bar stands between two tokens, outside of brackets and before the next comma.
    fn has_bar(&self, from: usize, end: usize) -> bool {
        let mut at = from;
        while at < end {
            match self.text_at(at) {
                "|" => return true,
                "," => return false,
                _ => at = self.tokens.get(at).map_or(end, |token| (token.partner as usize).max(at) + 1),
            }
        }
        false
    }
}

fn binary(sign: &'static str, left: Expression, right: Expression) -> Expression {
    let span = left.span.to(right.span);
    Expression { kind: ExpressionKind::Binary(sign, Box::new(left), Box::new(right)), span }
}
