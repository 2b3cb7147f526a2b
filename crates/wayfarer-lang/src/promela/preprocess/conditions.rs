//! Conditions of `#if` and its kin.

use super::Preprocessor;
use crate::promela::token::{Kind, Mark, Token};
use crate::source::Span;

/// Brackets inside brackets.
const DEEPEST: usize = 100;

impl Preprocessor<'_> {
    /// Whether the condition of a directive holds.
    pub(super) fn condition(&mut self, word: &str, span: Span, rest: &[Token]) -> bool {
        if word != "if" {
            let Some(Token { kind: Kind::Name(name), .. }) = rest.first() else {
                self.error(span, format!("expected a name after `#{word}`"));
                return false;
            };
            let known = self.macros.get(name);
            if let Some(known) = known {
                known.used.set(true);
            }
            return known.is_some() == (word == "ifdef");
        }
        let mut tokens = Vec::new();
        let mut index = 0;
        while index < rest.len() {
            // `defined X` is answered before macros are expanded.
            if matches!(&rest[index].kind, Kind::Name(name) if &**name == "defined") {
                let bracket = rest.get(index + 1).is_some_and(|token| token.kind == Kind::Mark(Mark::ParenOpen));
                let at = index + 1 + usize::from(bracket);
                if let Some(Token { kind: Kind::Name(name), .. }) = rest.get(at) {
                    if let Some(known) = self.macros.get(name) {
                        known.used.set(true);
                    }
                    let value = i64::from(self.macros.contains_key(name));
                    tokens.push(Token { kind: Kind::Number(value), ..rest[index].clone() });
                    index = at + 1 + usize::from(bracket);
                    continue;
                }
            }
            tokens.push(rest[index].clone());
            index += 1;
        }
        let tokens = self.expand(tokens, &mut Vec::new());
        let mut reader = Reader { tokens: &tokens, at: 0, depth: 0 };
        match reader.binary(0) {
            Some(value) if reader.at == tokens.len() => value != 0,
            _ => {
                self.error(span, "this condition cannot be evaluated");
                false
            }
        }
    }
}

struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn binary(&mut self, least: u8) -> Option<i64> {
        let mut left = self.unary()?;
        while let Some(Kind::Mark(mark)) = self.tokens.get(self.at).map(|token| &token.kind) {
            let Some(power) = power(*mark).filter(|power| *power >= least) else { break };
            let mark = *mark;
            self.at += 1;
            let right = self.binary(power + 1)?;
            left = match mark {
                Mark::Or => i64::from(left != 0 || right != 0),
                Mark::And => i64::from(left != 0 && right != 0),
                Mark::Bar => left | right,
                Mark::Caret => left ^ right,
                Mark::Ampersand => left & right,
                Mark::Equal => i64::from(left == right),
                Mark::NotEqual => i64::from(left != right),
                Mark::Less => i64::from(left < right),
                Mark::Greater => i64::from(left > right),
                Mark::LessOrEqual => i64::from(left <= right),
                Mark::GreaterOrEqual => i64::from(left >= right),
                Mark::ShiftLeft => left.wrapping_shl(right as u32),
                Mark::ShiftRight => left.wrapping_shr(right as u32),
                Mark::Plus => left.wrapping_add(right),
                Mark::Minus => left.wrapping_sub(right),
                Mark::Star => left.wrapping_mul(right),
                Mark::Slash => left.checked_div(right)?,
                _ => left.checked_rem(right)?,
            };
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        let value = match &token.kind {
            Kind::Number(number) => Some(*number),
            // A name that is no macro is zero, as in C.
            Kind::Name(_) => Some(0),
            Kind::Mark(Mark::Not) => self.unary().map(|value| i64::from(value == 0)),
            Kind::Mark(Mark::Minus) => self.unary().map(i64::wrapping_neg),
            Kind::Mark(Mark::Plus) => self.unary(),
            Kind::Mark(Mark::Tilde) => self.unary().map(|value| !value),
            Kind::Mark(Mark::ParenOpen) => {
                let value = self.binary(0)?;
                let closes = self.tokens.get(self.at).is_some_and(|token| token.kind == Kind::Mark(Mark::ParenClose));
                self.at += 1;
                closes.then_some(value)
            }
            _ => None,
        };
        self.depth -= 1;
        value
    }
}

/// How strongly an operator binds.
fn power(mark: Mark) -> Option<u8> {
    Some(match mark {
        Mark::Or => 1,
        Mark::And => 2,
        Mark::Bar => 3,
        Mark::Caret => 4,
        Mark::Ampersand => 5,
        Mark::Equal | Mark::NotEqual => 6,
        Mark::Less | Mark::Greater | Mark::LessOrEqual | Mark::GreaterOrEqual => 7,
        Mark::ShiftLeft | Mark::ShiftRight => 8,
        Mark::Plus | Mark::Minus => 9,
        Mark::Star | Mark::Slash | Mark::Percent => 10,
        _ => return None,
    })
}
