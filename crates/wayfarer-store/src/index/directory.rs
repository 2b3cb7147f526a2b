//! The parts of a large share: a table each, found by the lowest bits of the hash (extendible hashing, Fagin and others
//! 1979).
#![allow(unsafe_code)] // The words lie in raw blocks of the arena.

use super::table::Table;
use crate::Account;
use crate::memory::arena::{Arena, LINE};
use crate::memory::lines::sync::AtomicU64;
use std::sync::atomic::Ordering;
use wayfarer_space::Hash;

/// Tells a directory's word from a table's.
const MARK: u64 = 1 << 63;
const ADDRESS: u32 = 42;

/// A directory: its words, one for each value of the lowest `bits` bits of the hash. Several may name the same table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Directory {
    base: *mut u8,
    pub(super) bits: u32,
}

impl Directory {
    /// Room for a directory, to be filled before others see it.
    pub(super) fn take(bits: u32, arena: &mut Arena, account: &dyn Account) -> Option<Self> {
        let directory = Directory { base: arena.take(Self::bytes_for(bits), account)?, bits };
        #[cfg(loom)]
        // The checker's words are not plain words.
        for place in 0..1 << bits {
            // SAFETY: the block has room for this many words, and nobody else has it.
            unsafe { directory.base.cast::<AtomicU64>().add(place).write(AtomicU64::new(0)) };
        }
        Some(directory)
    }

    fn bytes_for(bits: u32) -> usize {
        (size_of::<AtomicU64>() << bits).max(LINE)
    }

    /// Its address and its size in bytes.
    pub(super) fn block(&self) -> (usize, usize) {
        (self.base as usize, Self::bytes_for(self.bits))
    }

    pub(super) fn to_word(self) -> u64 {
        (self.base as u64 >> 6) | u64::from(self.bits) << ADDRESS | MARK
    }

    /// None if the word is a table's.
    #[inline]
    pub(super) fn from_word(word: u64) -> Option<Self> {
        let base = ((word & ((1 << ADDRESS) - 1)) << 6) as *mut u8;
        (word & MARK != 0).then_some(Directory { base, bits: (word >> ADDRESS & 63) as u32 })
    }

    /// The place of a hash.
    #[inline]
    pub(super) fn place(&self, hash: Hash) -> usize {
        hash.address() as usize & ((1 << self.bits) - 1)
    }

    #[inline]
    fn word(&self, place: usize) -> &AtomicU64 {
        debug_assert!(place < 1 << self.bits);
        // SAFETY: the block has a word for every place, is only ever used through atomics while it is a directory, and
        // outlives the batch in which it was found.
        unsafe { &*self.base.cast::<AtomicU64>().add(place) }
    }

    /// The table at a place.
    #[inline]
    pub(super) fn table(&self, place: usize) -> Table {
        Table::from_word(self.table_word(place))
    }

    /// The word of the table at a place.
    #[inline]
    pub(super) fn table_word(&self, place: usize) -> u64 {
        self.word(place).load(Ordering::Acquire)
    }

    /// Publishes a table at every place that it is meant for.
    pub(super) fn put(&self, table: Table, part: usize) {
        (part..1 << self.bits).step_by(1 << table.skip).for_each(|place| self.word(place).store(table.to_word(), Ordering::Release));
    }
}
