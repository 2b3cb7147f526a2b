//! A net as it was written: sorts, variables, places, transitions and arcs, all names resolved and all terms checked against their sorts.

use super::terms::{Bag, Condition};
use crate::source::Span;
use wayfarer_ir::At;

/// A net.
#[derive(Clone, Debug, Default)]
pub struct Net {
    /// Its identifier.
    pub name: String,
    /// Whether tokens have colours.
    pub coloured: bool,
    /// The sorts of colours. The first is the sort of plain tokens, which has one value.
    pub sorts: Vec<Sort>,
    /// The variables of arcs and guards.
    pub variables: Vec<Variable>,
    /// The places, in the order of the text.
    pub places: Vec<Place>,
    /// The transitions, in the order of the text.
    pub transitions: Vec<Transition>,
    /// The claims of a NUPN tool section that calls the net safe: sets of places of which at most one has a token, and that only one.
    pub units: Vec<Vec<usize>>,
}

/// A sort in [`Net::sorts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SortId(pub u32);

/// A set of colours. Colours are numbered from 0.
#[derive(Clone, Debug)]
pub struct Sort {
    /// Its name.
    pub name: String,
    /// Which colours it has.
    pub kind: SortKind,
    /// How many there are.
    pub count: u32,
    /// The basic sorts that a value consists of: itself, unless it is a product.
    pub parts: Vec<SortId>,
}

/// Kinds of sorts.
#[derive(Clone, Debug, PartialEq)]
pub enum SortKind {
    /// The one colour of plain tokens.
    Dot,
    /// Named values in their order.
    Enumeration(Vec<String>),
    /// The integers from this one on.
    Range(i64),
    /// Tuples; the last component varies fastest.
    Product(Vec<SortId>),
}

/// A variable of a coloured net.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its sort.
    pub sort: SortId,
}

/// A place.
#[derive(Clone, Debug)]
pub struct Place {
    /// Its identifier, by which formulas of the contest name it.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The sort of its tokens.
    pub sort: SortId,
    /// Its tokens in the beginning.
    pub initial: Bag,
    /// Its position in the file.
    pub at: At,
    /// The same, for messages.
    pub span: Span,
}

/// A transition.
#[derive(Clone, Debug)]
pub struct Transition {
    /// Its identifier, by which formulas of the contest name it.
    pub id: String,
    /// Its name.
    pub name: String,
    /// When it may fire, beyond its tokens being there.
    pub guard: Condition,
    /// The tokens it takes: places and how many of each colour. A place occurs once for each arc.
    pub inputs: Vec<(usize, Bag)>,
    /// The tokens it puts.
    pub outputs: Vec<(usize, Bag)>,
    /// The variables of its arcs and guard, in the order in which they were declared.
    pub variables: Vec<usize>,
    /// Its position in the file.
    pub at: At,
    /// The same, for messages.
    pub span: Span,
}

impl Net {
    /// How a colour is written: `3`, `A`, `(1, A)`.
    pub fn colour(&self, sort: SortId, parts: &[u32]) -> String {
        let shown: Vec<String> = self.sorts[sort.0 as usize].parts.iter().zip(parts).map(|(part, value)| self.basic(*part, *value)).collect();
        match &shown[..] {
            [one] => one.clone(),
            many => format!("({})", many.join(", ")),
        }
    }

    /// How a value of a basic sort is written.
    pub fn basic(&self, sort: SortId, value: u32) -> String {
        match &self.sorts[sort.0 as usize].kind {
            SortKind::Dot => "dot".to_string(),
            SortKind::Enumeration(names) => names.get(value as usize).cloned().unwrap_or_else(|| value.to_string()),
            SortKind::Range(low) => (low + i64::from(value)).to_string(),
            SortKind::Product(_) => value.to_string(),
        }
    }

    /// The basic sorts of a sort.
    pub fn parts(&self, sort: SortId) -> &[SortId] {
        &self.sorts[sort.0 as usize].parts
    }

    /// How many values a sort has.
    pub fn count(&self, sort: SortId) -> u32 {
        self.sorts[sort.0 as usize].count
    }
}
