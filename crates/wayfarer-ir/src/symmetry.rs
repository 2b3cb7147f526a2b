//! States up to permutations of scalarset elements.
//!
//! Two states that differ only in the roles of a scalarset's elements are members of one *orbit*; the same can happen
//! in both, with other names. [`Symmetry::canonicalise`] maps every state to one member of its orbit, the same for
//! all of them, and [`Orbits`] turns a space into one whose states are these members: exact orbits, no heuristic.
//!
//! Elements are coloured by their occurrences in the state, and colours are refined by those of neighbouring elements
//! until they no longer change (McKay, *Practical graph isomorphism*, 1981). If elements of one colour remain, they
//! are either twins, whose exchange leaves the state unchanged, or each in turn is distinguished from the others and
//! refinement continues; the smallest of the states so reached is the representative. A choice that leads to a state
//! seen before under another choice at the same point is given up. Colours are hashes: a collision costs time, never
//! correctness. Departure: automorphisms are used when they are found, and not kept as a group.

#[cfg(feature = "generate")]
pub mod brute;
mod colours;
mod doubts;
mod orbits;
mod permute;
mod places;
mod search;
mod survey;

pub use doubts::Doubts;
pub use orbits::Orbits;
pub use search::Scratch;

use crate::program::Program;
use places::{Cell, Fixed, Row, Slots, Unit};
use std::fmt;
use wayfarer_space::Word;

/// The positions of scalarset elements in the states of a program.
#[derive(Clone, Debug, Default)]
pub struct Symmetry {
    sets: Vec<Set>,
    /// The number of vertices that are elements; they come first.
    elements: usize,
    /// The index of each vertex in its set or bag.
    index: Vec<u16>,
    /// The bits that no permutation changes or moves.
    still: Vec<Word>,
    rows: Vec<Row>,
    fixed: Vec<Fixed>,
    units: Vec<Unit>,
    cells: Vec<Cell>,
    /// The corners of all cells.
    corners: Vec<u16>,
    /// From stored values to vertices, for all references.
    tables: Vec<u16>,
    /// Bags, those inside others first.
    bags: Vec<Slots>,
    /// Whether colours depend on other colours.
    refines: bool,
}

/// A scalarset that occurs in the state.
#[derive(Clone, Debug, PartialEq)]
struct Set {
    /// Its number in the program.
    number: u32,
    /// Its first vertex.
    first: u16,
    count: u16,
    /// Whether elements of it are corners of cells.
    crossed: bool,
}

/// A program's scalarsets, or the data indexed by them, are too large to be permuted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

impl fmt::Display for TooLarge {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "the model's scalarsets are too large to be permuted")
    }
}

impl std::error::Error for TooLarge {}

impl Symmetry {
    /// The symmetry of a verified program; `None` if no scalarset of two elements or more occurs in its states.
    /// [`Program::asymmetries`] says whether the program's rules respect it.
    pub fn of(program: &Program) -> Result<Option<Symmetry>, TooLarge> {
        survey::Surveyor::survey(program)
    }
}
