//! Functions that every specification has.

use super::expressions::candidate;
use super::{Candidate, Typing};
use wayfarer_algebra::{Operation, Sort, SortId, Term};

const NAMES: [&str; 37] = [
    "if",
    "min",
    "max",
    "abs",
    "succ",
    "pred",
    "exp",
    "floor",
    "ceil",
    "round",
    "sqrt",
    "head",
    "tail",
    "rhead",
    "rtail",
    "count",
    "Set2Bag",
    "Bag2Set",
    "Pos2Nat",
    "Pos2Int",
    "Pos2Real",
    "Nat2Pos",
    "Nat2Int",
    "Nat2Real",
    "Int2Pos",
    "Int2Nat",
    "Int2Real",
    "Real2Pos",
    "Real2Nat",
    "Real2Int",
    "div",
    "mod",
    "union",
    "intersect",
    "fset2set",
    "#",
    "in",
];

impl Typing {
    pub(super) fn is_builtin(&self, name: &str) -> bool {
        NAMES.contains(&name)
    }

    /// The application of a built-in function, if there is one of this name for such arguments.
    pub(super) fn builtin(&mut self, name: &str, arguments: &[Vec<Candidate>]) -> Option<Candidate> {
        if !self.is_builtin(name) {
            return None;
        }
        let mut best: Option<Candidate> = None;
        for choice in choices(arguments) {
            let sorts: Vec<SortId> = choice.iter().map(|found| found.sort).collect();
            let Some((sort, conversions, operation)) = self.function_of(name, &sorts) else { continue };
            let cost = conversions + choice.iter().map(|found| found.cost).sum::<u32>();
            if best.as_ref().is_none_or(|best| cost < best.cost) {
                let terms = choice.iter().map(|found| found.term.clone()).collect();
                let mut found = candidate(sort, cost, Term::Operation(operation, terms));
                found.ambiguous = choice.iter().any(|found| found.ambiguous);
                best = Some(found);
            } else if let Some(best) = &mut best
                && cost == best.cost
                && sort != best.sort
            {
                best.ambiguous = true;
            }
        }
        best
    }

    fn function_of(&mut self, name: &str, sorts: &[SortId]) -> Option<(SortId, u32, Operation)> {
        let ranks: Option<Vec<u32>> = sorts.iter().map(|sort| self.number_rank(*sort)).collect();
        let first = sorts.first().and_then(|sort| self.sort_of(*sort)).cloned();
        let number = |typing: &mut Typing, rank: u32, operation| Some((typing.number_sort(rank), 0, operation));
        match (name, sorts) {
            ("if", [condition, one, other]) => {
                (*condition == self.boolean()).then_some(())?;
                let joined = self.join(*one, *other)?;
                let cost = self.fits(*one, joined).unwrap_or(0) + self.fits(*other, joined).unwrap_or(0);
                Some((joined, cost, Operation::If))
            }
            ("min", [_, _]) => {
                let ranks = ranks?;
                number(self, ranks[0].max(ranks[1]), Operation::Minimum)
            }
            ("max", [_, _]) => {
                let ranks = ranks?;
                let rank = match (ranks[0].min(ranks[1]), ranks[0].max(ranks[1])) {
                    // The larger one of two is positive if one of them is.
                    (low, high) if high < 3 => low,
                    (_, high) => high,
                };
                number(self, rank, Operation::Maximum)
            }
            ("abs", [_]) => {
                let rank = ranks?[0];
                number(self, if rank == 2 { 1 } else { rank }, Operation::Absolute)
            }
            ("succ", [_]) => {
                let rank = ranks?[0];
                number(self, if rank < 2 { 0 } else { rank }, Operation::Successor)
            }
            ("pred", [_]) => {
                let rank = ranks?[0];
                number(self, if rank < 2 { rank + 1 } else { rank }, Operation::Predecessor)
            }
            ("exp", [_, _]) => {
                let ranks = ranks?;
                (ranks[1] < 2 || ranks[0] == 3 || ranks[1] == 2).then_some(())?;
                number(self, if ranks[1] >= 2 { 3 } else { ranks[0] }, Operation::Power)
            }
            ("floor", [_]) => ranks.and_then(|_| number(self, 2, Operation::Floor)),
            ("ceil", [_]) => ranks.and_then(|_| number(self, 2, Operation::Ceiling)),
            ("round", [_]) => ranks.and_then(|_| number(self, 2, Operation::Round)),
            ("sqrt", [_]) => ranks.and_then(|_| number(self, 1, Operation::SquareRoot)),
            ("div", [_, _]) => ranks.and_then(|ranks| number(self, ranks[0].clamp(1, 2), Operation::Quotient)),
            ("mod", [_, _]) => ranks.and_then(|_| number(self, 1, Operation::Remainder)),
            ("head" | "rhead", [_]) => {
                let Sort::List(element) = first? else { return None };
                Some((element, 0, if name == "head" { Operation::Head } else { Operation::LastElement }))
            }
            ("tail" | "rtail", [list]) => {
                let Sort::List(_) = first? else { return None };
                Some((*list, 0, if name == "tail" { Operation::Tail } else { Operation::AllButLast }))
            }
            ("count", [element, bag]) => {
                let Some(Sort::Bag(of)) = self.sort_of(*bag).cloned() else { return None };
                self.join(*element, of)?;
                number(self, 1, Operation::Count)
            }
            ("Set2Bag", [_]) => match first? {
                Sort::Set(element) => Some((self.sort_id(Sort::Bag(element)), 0, Operation::SetToBag)),
                _ => None,
            },
            ("Bag2Set", [_]) => match first? {
                Sort::Bag(element) => Some((self.sort_id(Sort::Set(element)), 0, Operation::BagToSet)),
                _ => None,
            },
            (_, [_]) => {
                let (from, to) = name.split_once('2')?;
                let rank = |word: &str| ["Pos", "Nat", "Int", "Real"].iter().position(|known| *known == word).map(|rank| rank as u32);
                let (from, to, found) = (rank(from)?, rank(to)?, ranks?[0]);
                (found <= from).then_some(())?;
                let operation = match to {
                    0 => Operation::ToPositive,
                    1 => Operation::ToNatural,
                    2 => Operation::ToInteger,
                    _ => Operation::ToReal,
                };
                Some((self.number_sort(to), from - found, operation))
            }
            _ => None,
        }
    }
}

/// All ways to take one candidate of each argument.
fn choices(arguments: &[Vec<Candidate>]) -> Vec<Vec<&Candidate>> {
    let mut list: Vec<Vec<&Candidate>> = vec![Vec::new()];
    for candidates in arguments {
        let mut longer = Vec::new();
        for choice in &list {
            for found in candidates.iter().take(256) {
                let mut choice = choice.clone();
                choice.push(found);
                longer.push(choice);
            }
        }
        longer.truncate(256);
        list = longer;
    }
    list
}
