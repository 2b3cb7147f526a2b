//! How the memory of a device is divided: a table, an arena where states are wide, and two buffers for the levels.

use crate::machine::{Address, DeviceError, Machine};
use crate::slots::Slots;
use std::cell::RefCell;

/// Memory of a device, given back when it is dropped.
pub(crate) struct Memory<'m> {
    machine: &'m dyn Machine,
    pub(crate) table: Address,
    pub(crate) buckets: u64,
    /// The first table is small, because a small one is soon empty and lies closer together. These are the buckets of the one that follows it, if one does.
    later: u64,
    first: (Address, u64),
    pub(crate) arena: Address,
    pub(crate) arena_room: u64,
    pub(crate) buffers: [Address; 2],
    pub(crate) buffer_words: u64,
    pub(crate) counts: Address,
    pub(crate) counts_bytes: u64,
    pub(crate) notes: Address,
    /// How often each slot's state was visited, if that is counted.
    pub(crate) visits: Address,
    visits_bytes: u64,
    tight: u64,
    taken: RefCell<Vec<Address>>,
}

/// Bytes of a bucket.
const BUCKET: u64 = 64;
/// The first table has one part of so many.
const FIRST: u64 = 16;
/// The least memory that a search is begun with.
const LEAST: u64 = 1 << 15;

impl<'m> Memory<'m> {
    /// Divides so many bytes: an eighth for the levels, the rest for the store. With `profiles`, four bytes more for each slot, and one table that does not grow.
    pub(crate) fn new(
        machine: &'m dyn Machine,
        tight: u64,
        slots: Slots,
        bytes: u64,
        counts: u64,
        notes: u64,
        profiles: bool,
    ) -> Result<Self, DeviceError> {
        let fixed = counts + notes + (1 << 16);
        let (needed, free) = (LEAST + fixed, machine.free());
        if bytes < needed || free < needed {
            return Err(DeviceError::Memory { needed, free: free.min(bytes) });
        }
        let bytes = bytes.min(free) - fixed;
        let buffer_words = (bytes / 16 / 8).max(64 * (tight + 1));
        let store = bytes.saturating_sub(2 * buffer_words * 8);
        // In an arena a state takes its words, and ten bytes and a half of the table.
        let counted = if profiles { slots.per_bucket() * 4 } else { 0 };
        let arena_room = if slots == Slots::Arena { store * 2 / (tight * 16 + 21 + counted / 3) } else { 0 };
        let table = (store - arena_room * tight * 8) / (BUCKET + counted) * BUCKET;
        // A state can be moved to another table if it is still known whole.
        let (buckets, later) = if slots.is_exact() && table / BUCKET >= 64 && !profiles {
            (prime_up_to(table / BUCKET / FIRST), prime_up_to(table / BUCKET * (FIRST - 1) / FIRST))
        } else {
            (prime_up_to((table / BUCKET).max(3)), 0)
        };
        let mut memory = Memory {
            machine,
            table: Address(0),
            buckets,
            later,
            first: (Address(0), buckets),
            arena: Address(0),
            arena_room,
            buffers: [Address(0); 2],
            buffer_words,
            counts: Address(0),
            counts_bytes: counts,
            notes: Address(0),
            visits: Address(0),
            visits_bytes: buckets * counted,
            tight,
            taken: RefCell::new(Vec::new()),
        };
        memory.table = memory.take(buckets * BUCKET)?;
        memory.first.0 = memory.table;
        if arena_room > 0 {
            memory.arena = memory.take(arena_room * tight * 8)?;
        }
        memory.buffers = [memory.take(buffer_words * 8)?, memory.take(buffer_words * 8)?];
        memory.counts = memory.take(counts)?;
        memory.notes = memory.take(notes)?;
        if profiles {
            memory.visits = memory.take(memory.visits_bytes)?;
        }
        Ok(memory)
    }

    fn take(&self, bytes: u64) -> Result<Address, DeviceError> {
        let address = self.machine.allocate(bytes)?;
        self.taken.borrow_mut().push(address);
        Ok(address)
    }

    /// A few words more.
    pub(crate) fn small(&self, words: u64) -> Result<Address, DeviceError> {
        self.take(words * 8)
    }

    /// Whether a larger table can follow.
    pub(crate) fn can_grow(&self) -> bool {
        self.later > 0 && self.table == self.first.0
    }

    /// Exchanges the table for a larger one, which is empty. Gives the old one, and its words.
    pub(crate) fn grow(&mut self) -> Result<(Address, u64), DeviceError> {
        let old = (self.table, self.buckets * BUCKET / 8);
        self.table = self.take(self.later * BUCKET)?;
        self.buckets = self.later;
        self.machine.zero(self.table, self.buckets * BUCKET)?;
        Ok(old)
    }

    /// Empties the store and the counts. The search begins again with the first table.
    pub(crate) fn clear(&mut self) -> Result<(), DeviceError> {
        if self.table != self.first.0 {
            self.taken.borrow_mut().retain(|address| *address != self.table);
            self.machine.release(self.table);
            (self.table, self.buckets) = self.first;
        }
        self.machine.zero(self.table, self.buckets * BUCKET)?;
        if self.visits_bytes > 0 {
            self.machine.zero(self.visits, self.visits_bytes)?;
        }
        self.machine.zero(self.counts, self.counts_bytes)
    }

    pub(crate) fn store_bytes(&self) -> u64 {
        self.buckets * BUCKET + self.arena_room * self.tight * 8
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        self.taken.borrow().iter().for_each(|address| self.machine.release(*address));
    }
}

/// The largest prime up to a number of at least 3, so that every step through the buckets comes to all of them.
fn prime_up_to(number: u64) -> u64 {
    let is_prime = |number: u64| {
        !number.is_multiple_of(2) && (3..).step_by(2).take_while(|divisor| divisor * divisor <= number).all(|divisor| !number.is_multiple_of(divisor))
    };
    (3..=number).rev().find(|number| is_prime(*number)).unwrap_or(3)
}

#[cfg(test)]
mod tests {
    use super::prime_up_to;

    #[test]
    fn primes_are_the_largest() {
        for (number, prime) in [(3, 3), (4, 3), (10, 7), (100, 97), (1 << 20, 1_048_573), (1 << 31, 2_147_483_647)] {
            assert_eq!(prime_up_to(number), prime);
        }
    }
}
