//! Operators: what sorts they take and give.

use super::expressions::candidate;
use super::{Candidate, Typed, Typing, UNKNOWN};
use crate::source::Span;
use wayfarer_algebra::{Operation, Sort, SortId, Term};

impl Typing {
    pub(super) fn unary(&mut self, sign: &str, operand: &[Candidate], span: Span) -> Typed<Vec<Candidate>> {
        let mut list = Vec::new();
        for found in operand {
            let sort = self.sort_of(found.sort).cloned();
            let (sort, operation) = match (sign, sort) {
                ("!", Some(Sort::Boolean)) => (found.sort, Operation::Not),
                ("!", Some(Sort::Set(element))) => (found.sort, Operation::Complement(element)),
                ("-", _) if self.number_rank(found.sort).is_some() => {
                    let rank = self.number_rank(found.sort).unwrap_or(0).max(2);
                    (self.number_sort(rank), Operation::Negate)
                }
                ("#", Some(Sort::List(_) | Sort::Set(_) | Sort::Bag(_))) => (self.number_sort(1), Operation::Size),
                _ => continue,
            };
            list.push(Candidate { sort, term: Term::Operation(operation, vec![found.term.clone()]), ..found.clone() });
        }
        if list.is_empty() {
            let written = self.sorts_of(operand);
            return self.error(span, format!("`{sign}` cannot be applied to a value of sort {written}"));
        }
        Ok(list)
    }

    pub(super) fn binary(&mut self, sign: &str, left: &[Candidate], right: &[Candidate], span: Span) -> Typed<Vec<Candidate>> {
        let mut list = Vec::new();
        for one in left {
            for other in right {
                let Some((sort, conversions, operation, swapped)) = self.operation(sign, one.sort, other.sort) else { continue };
                let (first, second) = (one.term.clone(), other.term.clone());
                let operands = if swapped { vec![second, first] } else { vec![first, second] };
                let mut found = candidate(sort, one.cost + other.cost + conversions, Term::Operation(operation, operands));
                found.ambiguous = one.ambiguous || other.ambiguous;
                list.push(found);
            }
        }
        if list.is_empty() {
            let (one, other) = (self.sorts_of(left), self.sorts_of(right));
            return self.error(span, format!("`{sign}` cannot be applied to values of sort {one} and {other}"));
        }
        Ok(list)
    }

    /// The sort of the result, the number of conversions, the operation, and whether it takes its operands in the other order.
    fn operation(&mut self, sign: &str, one: SortId, other: SortId) -> Option<(SortId, u32, Operation, bool)> {
        let boolean = self.boolean();
        let ranks = self.number_rank(one).zip(self.number_rank(other));
        let (first, second) = (self.sort_of(one).cloned(), self.sort_of(other).cloned());
        let is_set = matches!((&first, &second), (Some(Sort::Set(_)), Some(Sort::Set(_))));
        let is_bag = matches!((&first, &second), (Some(Sort::Bag(_)), Some(Sort::Bag(_))));
        match sign {
            "&&" | "||" | "=>" => {
                let operation = match sign {
                    "&&" => Operation::And,
                    "||" => Operation::Or,
                    _ => Operation::Implies,
                };
                (one == boolean && other == boolean).then_some((boolean, 0, operation, false))
            }
            "==" | "!=" => {
                let joined = self.join(one, other)?;
                let cost = self.fits(one, joined).unwrap_or(0) + self.fits(other, joined).unwrap_or(0);
                Some((boolean, cost, if sign == "==" { Operation::Equal } else { Operation::Unequal }, false))
            }
            "<" | "<=" | ">" | ">=" => {
                let joined = self.join(one, other)?;
                let cost = self.fits(one, joined).unwrap_or(0) + self.fits(other, joined).unwrap_or(0);
                let (operation, swapped) = match (sign, is_set || is_bag) {
                    ("<", false) => (Operation::Less, false),
                    ("<=", false) => (Operation::LessEqual, false),
                    (">", false) => (Operation::Greater, false),
                    (">=", false) => (Operation::GreaterEqual, false),
                    ("<" | ">", _) => (Operation::ProperSubset, sign == ">"),
                    _ => (Operation::Subset, sign == ">="),
                };
                Some((boolean, cost, operation, swapped))
            }
            "in" => {
                let (Sort::List(element) | Sort::Set(element) | Sort::Bag(element)) = second? else { return None };
                let joined = self.join(one, element)?;
                Some((boolean, self.fits(one, joined).unwrap_or(0), Operation::Member, false))
            }
            "|>" | "<|" => {
                let (element, list) = if sign == "|>" { (one, second?) } else { (other, first?) };
                let Sort::List(of) = list else { return None };
                let joined = self.join(element, of)?;
                let cost = self.fits(element, joined).unwrap_or(0) + self.fits(of, joined).unwrap_or(0);
                Some((self.sort_id(Sort::List(joined)), cost, if sign == "|>" { Operation::Cons } else { Operation::Snoc }, false))
            }
            "++" => {
                let (Sort::List(_), Sort::List(_)) = (first?, second?) else { return None };
                Some((self.join(one, other)?, 0, Operation::Concatenate, false))
            }
            "." => {
                let Sort::List(element) = first? else { return None };
                (element != UNKNOWN).then_some(())?;
                Some((element, self.fits(other, self.sort_numbers.get(&Sort::Natural).copied().unwrap_or(other))?, Operation::At, false))
            }
            "+" | "-" | "*" if is_set || is_bag => {
                let operation = match (sign, is_set) {
                    ("+", true) => Operation::Union,
                    ("-", true) => Operation::Difference,
                    ("*", true) => Operation::Intersection,
                    ("+", false) => Operation::BagUnion,
                    ("-", false) => Operation::BagDifference,
                    _ => Operation::BagIntersection,
                };
                Some((self.join(one, other)?, 0, operation, false))
            }
            "+" | "-" | "*" | "/" | "div" | "mod" => {
                let (one, other) = ranks?;
                let (rank, operation) = match sign {
                    "+" if one.max(other) < 2 => (one.min(other), Operation::Add),
                    "+" => (one.max(other), Operation::Add),
                    "-" => (one.max(other).max(2), Operation::Subtract),
                    "*" => (one.max(other), Operation::Multiply),
                    "/" => (3, Operation::Divide),
                    "div" if one < 3 && other == 0 => (one.max(1), Operation::Quotient),
                    "mod" if one < 3 && other == 0 => (1, Operation::Remainder),
                    _ => return None,
                };
                Some((self.number_sort(rank), one.abs_diff(other), operation, false))
            }
            _ => None,
        }
    }
}
