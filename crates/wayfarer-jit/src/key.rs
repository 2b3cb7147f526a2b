//! The name of the file in which the machine code of a program is kept: all that the code depends on, as a number.

use crate::foundry::processor;
use std::hash::{Hash, Hasher};
use wayfarer_ir::{Limits, Program};
use wayfarer_kept::this_program;
use wayfarer_space::{Word, hash};

/// A name for the code of a program, for these limits, by this version of Wayfarer, on this processor. `None` if the
/// version or the processor is not known.
pub(crate) fn key(program: &Program, limits: Limits) -> Option<String> {
    // The name of the source file is only shown.
    let Program { source: _, types, variables, words, functions, starts, rules, properties, faults, asymmetries, levels, passing, ends, unjudged } =
        program;
    let mut digest = Digest::default();
    this_program()?.hash(&mut digest);
    processor()?.hash(&mut digest);
    limits.hash(&mut digest);
    (types, variables, words, functions, starts, rules).hash(&mut digest);
    (properties, faults, asymmetries, levels, passing, ends, unjudged).hash(&mut digest);
    Some(format!("{:016x}{:016x}", digest.0.address(), digest.0.second()))
}

/// A hasher of 128 bits: the one of states, word after word.
struct Digest(wayfarer_space::Hash);

impl Default for Digest {
    fn default() -> Self {
        Digest(hash(&[]))
    }
}

impl Hasher for Digest {
    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let word = part.iter().rev().fold(0, |word, byte| word << 8 | Word::from(*byte));
            self.write_u64(word);
        }
    }

    fn write_u8(&mut self, number: u8) {
        self.write_u64(u64::from(number));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = hash(&[self.0.address(), self.0.second(), number]);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn finish(&self) -> u64 {
        self.0.address()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayfarer_ir::text::read;

    const TEXT: &str = "(program \"a.ir\"
  (words 1)
  (type t0 (scalar (bits 2) (low 1) (count 2)))
  (variable \"x\" t0 (offset 0) (at 1 1))
)";

    /// The key of a text with one change.
    fn key_with(old: &str, new: &str) -> Option<String> {
        assert!(TEXT.contains(old));
        key(&read(&TEXT.replace(old, new)).unwrap(), Limits::default())
    }

    #[test]
    fn a_key_depends_on_the_program_and_not_on_its_file() {
        let usual = key_with("", "");
        assert!(usual.is_some());
        assert_eq!(usual, key_with("a.ir", "b.ir"));
        assert_ne!(usual, key_with("\"x\"", "\"y\""));
        assert_ne!(usual, key_with("(words 1)", "(words 2)"));
        let more = Limits { fuel: 7, ..Limits::default() };
        assert_ne!(usual, key(&read(TEXT).unwrap(), more));
    }
}
