//! Notes of kernels: findings and the states in which they show.

use wayfarer_space::Word;

/// Places of the table of what was noted, as `machine.h` has it.
pub(crate) const KNOWN: u64 = 8192;

/// Something that a kernel noted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    /// The finding.
    pub what: What,
    /// The tight state in which it shows.
    pub state: Vec<Word>,
}

/// A finding that kernels can note. Rules and faults are given by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// Nothing can happen in the state.
    Deadlock,
    /// A property fails.
    Property(u32),
    /// Judging a property meets a fault.
    PropertyFault(u32, u32),
    /// Firing a rule meets a fault.
    Fault(u32, u32),
    /// Firing a rule meets a fault on one of several paths that begin with it, which is numbered.
    PathFault(u32, u32, u32),
    /// A rule that is looked for fires, on the path of this number.
    Rule(u32, u32),
    /// A property that is looked for is reached.
    Found(u32),
}

/// A set of properties, as bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached(pub Vec<u64>);

impl Reached {
    /// The properties in it.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().enumerate().flat_map(|(at, word)| (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at as u32 * 64 + bit))
    }
}

/// Decodes the finding in a note's first two words.
pub(crate) fn what(first: u64, second: u64) -> What {
    let (about, fault) = (first as u32, second as u32);
    match first >> 32 {
        1 => What::Deadlock,
        2 => What::Property(about),
        3 => What::PropertyFault(about, fault),
        4 if second >> 32 > 0 => What::PathFault(about, (second >> 32) as u32, fault),
        4 => What::Fault(about, fault),
        6 => What::Rule(about, (second >> 32) as u32),
        _ => What::Found(about),
    }
}

/// The notes of a search by levels, in order: what comes first does not depend on who noted first.
pub(crate) fn notes(words: &[u64], tight: usize) -> Vec<Note> {
    let mut notes: Vec<Note> = words.chunks_exact(tight + 2).map(|note| Note { what: what(note[0], note[1]), state: note[2..].to_vec() }).collect();
    notes.sort();
    notes
}
