//! States up to exchanges of scalarset elements.
//!
//! Two states that differ only in which element of a scalarset plays which role are members of one *orbit*; what can happen in one can happen in the
//! other with other names. [`Symmetry::canonicalise`] leads from every state to one member of its orbit, the same for all of them, and [`Orbits`] makes of
//! a space one whose states are these members: exact orbits, no heuristic.
//!
//! Elements are coloured by how they occur in the state, and colours are refined by those of the elements next to them until nothing more is told apart
//! (McKay, *Practical graph isomorphism*, 1981). Where elements of one colour are left, they are either twins, whose exchange leaves the state as it
//! is, or each in turn is told apart from the others and refining goes on; the least of the states so reached is the representative. A choice that
//! leads to a state seen before under another choice at the same place is given up. Colours are hashes: a collision costs time, never the answer.
//! Departure: automorphisms are used where they are met, and not kept as a group.

#[cfg(feature = "generate")]
pub mod brute;
mod colours;
mod orbits;
mod permute;
mod places;
mod search;
mod survey;

pub use orbits::Orbits;
pub use search::Scratch;

use crate::program::Program;
use places::{Cell, Fixed, Row, Slots, Unit};
use std::fmt;
use wayfarer_space::Word;

/// Where elements of scalarsets lie in the states of a program.
#[derive(Clone, Debug, Default)]
pub struct Symmetry {
    sets: Vec<Set>,
    /// How many vertices are elements; they come first.
    elements: usize,
    /// The index of each vertex in its set or bag.
    index: Vec<u16>,
    /// The bits that no permutation changes or moves.
    still: Vec<Word>,
    rows: Vec<Row>,
    fixed: Vec<Fixed>,
    units: Vec<Unit>,
    cells: Vec<Cell>,
    /// The vertices around all cells.
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
    /// Its first vertex.
    first: u16,
    count: u16,
    /// Whether elements of it are corners of cells.
    crossed: bool,
}

/// A program's scalarsets, or what is indexed by them, are too large to be permuted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

impl fmt::Display for TooLarge {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "the model's scalarsets are too large to be permuted")
    }
}

impl std::error::Error for TooLarge {}

impl Symmetry {
    /// The symmetry of a verified program; none where no scalarset of two elements or more occurs in its states. Whether the program's rules
    /// respect it is another question, which [`Program::asymmetries`] answers.
    pub fn of(program: &Program) -> Result<Option<Symmetry>, TooLarge> {
        survey::Surveyor::survey(program)
    }
}
