//! Sorts: what their names mean, which fits where another is expected, and how they are written.

use super::{Typed, Typing, UNKNOWN};
use crate::diagnostics::Diagnostic;
use crate::mcrl2::ast::{self, SortKind};
use wayfarer_algebra::{Sort, SortId, show_sort};

impl Typing {
    /// The sort that an expression means.
    pub(super) fn resolve(&mut self, sort: &ast::Sort) -> Typed<SortId> {
        match &sort.kind {
            SortKind::Named(name) => match name.as_str() {
                "Bool" => Ok(self.sort_id(Sort::Boolean)),
                "Pos" => Ok(self.sort_id(Sort::Positive)),
                "Nat" => Ok(self.sort_id(Sort::Natural)),
                "Int" => Ok(self.sort_id(Sort::Integer)),
                "Real" => Ok(self.sort_id(Sort::Real)),
                _ => match self.sort_names.get(name) {
                    Some(known) => Ok(*known),
                    None => self.report(Diagnostic::error(sort.span, format!("unknown sort `{name}`")).with_help("declare it with `sort`")),
                },
            },
            SortKind::Container(kind, element) => {
                let element = self.resolve(element)?;
                Ok(self.sort_id(match kind.as_str() {
                    "List" => Sort::List(element),
                    "Set" | "FSet" => Sort::Set(element),
                    _ => Sort::Bag(element),
                }))
            }
            SortKind::Function(domain, codomain) => {
                let domain = domain.iter().map(|sort| self.resolve(sort)).collect::<Typed<Vec<_>>>()?;
                let codomain = self.resolve(codomain)?;
                Ok(self.sort_id(Sort::Function(domain, codomain)))
            }
            SortKind::Struct(constructors) => self.structured(None, constructors),
        }
    }

    /// How many conversions of numbers it takes to use a value of one sort as one of another; none if it cannot be used so.
    pub(super) fn fits(&self, from: SortId, to: SortId) -> Option<u32> {
        if from == to || from == UNKNOWN || to == UNKNOWN {
            return Some(0);
        }
        match (self.sort_of(from)?, self.sort_of(to)?) {
            (Sort::List(from), Sort::List(to)) | (Sort::Set(from), Sort::Set(to)) | (Sort::Bag(from), Sort::Bag(to)) => self.fits(*from, *to),
            (Sort::Function(from, result), Sort::Function(to, wanted)) if from.len() == to.len() => {
                let mut cost = self.fits(*result, *wanted)?;
                for (from, to) in from.iter().zip(to) {
                    cost += self.fits(*to, *from).or_else(|| self.fits(*from, *to))?;
                }
                Some(cost)
            }
            (from, to) => {
                let (from, to) = (rank(from)?, rank(to)?);
                (from <= to).then(|| to - from)
            }
        }
    }

    /// The least sort that values of two sorts can be used as.
    pub(super) fn join(&mut self, one: SortId, other: SortId) -> Option<SortId> {
        if one == other || other == UNKNOWN {
            return Some(one);
        }
        if one == UNKNOWN {
            return Some(other);
        }
        let (first, second) = (self.sort_of(one)?.clone(), self.sort_of(other)?.clone());
        match (first, second) {
            (Sort::List(one), Sort::List(other)) => self.join(one, other).map(|element| self.sort_id(Sort::List(element))),
            (Sort::Set(one), Sort::Set(other)) => self.join(one, other).map(|element| self.sort_id(Sort::Set(element))),
            (Sort::Bag(one), Sort::Bag(other)) => self.join(one, other).map(|element| self.sort_id(Sort::Bag(element))),
            (Sort::Function(..), Sort::Function(..)) => {
                if self.fits(one, other).is_some() {
                    Some(other)
                } else {
                    self.fits(other, one).map(|_| one)
                }
            }
            (first, second) => Some(if rank(&first)? >= rank(&second)? { one } else { other }),
        }
    }

    /// The place of a sort of numbers among these: 0 for `Pos` up to 3 for `Real`.
    pub(super) fn number_rank(&self, sort: SortId) -> Option<u32> {
        rank(self.sort_of(sort)?)
    }

    /// The sort of numbers of a rank.
    pub(super) fn number_sort(&mut self, rank: u32) -> SortId {
        self.sort_id(match rank {
            0 => Sort::Positive,
            1 => Sort::Natural,
            2 => Sort::Integer,
            _ => Sort::Real,
        })
    }

    pub(super) fn boolean(&mut self) -> SortId {
        self.sort_id(Sort::Boolean)
    }

    /// A sort as it is written.
    pub(super) fn show(&self, sort: SortId) -> String {
        show_sort(sort, &|sort| self.sort_of(sort))
    }
}

fn rank(sort: &Sort) -> Option<u32> {
    match sort {
        Sort::Positive => Some(0),
        Sort::Natural => Some(1),
        Sort::Integer => Some(2),
        Sort::Real => Some(3),
        _ => None,
    }
}
