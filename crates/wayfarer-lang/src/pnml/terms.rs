//! Terms of coloured nets: colours, multisets of them, and conditions. A colour is a list of basic values, one for each part of its sort, whatever the
//! nesting of tuples it was written with.

use super::net::{Net, SortId, SortKind};
use std::cmp::Ordering;

/// One part of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A part of a variable, moved on by a number of successors within a sort of the given size.
    Variable {
        /// The variable.
        variable: u32,
        /// Which part of its value.
        part: u32,
        /// How far it is moved on.
        shift: u32,
        /// How many values the part has.
        count: u32,
    },
    /// A constant.
    Constant(u32),
    /// Every value of a basic sort with this many values: the term stands for the sum over all of them.
    All(u32),
}

/// A colour, or the sum of several where a part is [`Part::All`].
pub type Colour = Vec<Part>;

/// A multiset of colours.
#[derive(Clone, Debug, Default)]
pub struct Bag {
    /// The tokens added: how many of each.
    pub plus: Vec<(u64, Colour)>,
    /// The tokens taken away from these.
    pub minus: Vec<(u64, Colour)>,
}

/// A condition on the values of variables.
#[derive(Clone, Debug)]
pub enum Condition {
    /// All of them; true where there is none.
    All(Vec<Condition>),
    /// Some of them; false where there is none.
    Any(Vec<Condition>),
    /// Not.
    Not(Box<Condition>),
    /// Two colours are the same, or are not.
    Equal(Colour, Colour, bool),
    /// The order of two basic values: whether the left may be less, equal, greater than the right. The offsets are those of their integer ranges.
    Order {
        /// The left value.
        left: Part,
        /// The right value.
        right: Part,
        /// The number added to the left before comparing.
        offset: i64,
        /// Which orders make it true: less, equal, greater.
        truth: [bool; 3],
    },
}

impl Default for Condition {
    fn default() -> Self {
        Condition::All(Vec::new())
    }
}

impl Part {
    /// Its value where variables have the values that `value` gives; none while its variable has none.
    #[inline]
    pub fn value(self, value: impl Fn(u32, u32) -> Option<u32>) -> Option<u32> {
        match self {
            Part::Constant(constant) => Some(constant),
            Part::Variable { variable, part, shift, count } => value(variable, part).map(|value| moved(value, shift, count)),
            Part::All(_) => None,
        }
    }
}

/// A value moved on by a number of successors.
#[inline]
pub(super) fn moved(value: u32, shift: u32, count: u32) -> u32 {
    ((u64::from(value) + u64::from(shift)) % u64::from(count.max(1))) as u32
}

impl Bag {
    /// The variables that occur in it.
    pub fn variables(&self, found: &mut Vec<u32>) {
        for (_, colour) in self.plus.iter().chain(&self.minus) {
            variables_of(colour, found);
        }
    }
}

impl Condition {
    /// The variables that occur in it.
    pub fn variables(&self, found: &mut Vec<u32>) {
        match self {
            Condition::All(inner) | Condition::Any(inner) => inner.iter().for_each(|condition| condition.variables(found)),
            Condition::Not(inner) => inner.variables(found),
            Condition::Equal(left, right, _) => {
                variables_of(left, found);
                variables_of(right, found);
            }
            Condition::Order { left, right, .. } => variables_of(&[*left, *right], found),
        }
    }

    /// Whether it is true. A part whose variable has no value yet makes a comparison unknown; what is unknown is `None`.
    pub fn holds(&self, value: &impl Fn(u32, u32) -> Option<u32>) -> Option<bool> {
        match self {
            Condition::All(inner) => {
                let mut known = Some(true);
                for condition in inner {
                    match condition.holds(value) {
                        Some(false) => return Some(false),
                        Some(true) => {}
                        None => known = None,
                    }
                }
                known
            }
            Condition::Any(inner) => {
                let mut known = Some(false);
                for condition in inner {
                    match condition.holds(value) {
                        Some(true) => return Some(true),
                        Some(false) => {}
                        None => known = None,
                    }
                }
                known
            }
            Condition::Not(inner) => inner.holds(value).map(|holds| !holds),
            Condition::Equal(left, right, equal) => {
                let mut known = Some(*equal);
                for (left, right) in left.iter().zip(right) {
                    match (left.value(value), right.value(value)) {
                        (Some(left), Some(right)) if left != right => return Some(!*equal),
                        (Some(_), Some(_)) => {}
                        _ => known = None,
                    }
                }
                known
            }
            Condition::Order { left, right, offset, truth } => {
                let (left, right) = (left.value(value)?, right.value(value)?);
                Some(match (i64::from(left) + offset).cmp(&i64::from(right)) {
                    Ordering::Less => truth[0],
                    Ordering::Equal => truth[1],
                    Ordering::Greater => truth[2],
                })
            }
        }
    }

    /// The conditions that must all hold.
    pub fn conjuncts(&self) -> Vec<&Condition> {
        match self {
            Condition::All(inner) => inner.iter().flat_map(Condition::conjuncts).collect(),
            other => vec![other],
        }
    }
}

fn variables_of(parts: &[Part], found: &mut Vec<u32>) {
    for part in parts {
        if let Part::Variable { variable, .. } = part
            && !found.contains(variable)
        {
            found.push(*variable);
        }
    }
}

/// The value that an ordering comparison adds to the left side, so that integers of different ranges compare as integers.
pub(super) fn offset(net: &Net, left: SortId, right: SortId) -> i64 {
    let low = |sort: SortId| match net.sorts[sort.0 as usize].kind {
        SortKind::Range(low) => low,
        _ => 0,
    };
    low(left) - low(right)
}
