//! Finds a state's handle by its hash.
//!
//! The table is split into 1024 *shares*, each a table of cache-line buckets of its own that doubles when it is nine tenths full. The shares' parts of the
//! hash space differ in width by up to a factor of two, spread like the turns of a spiral (Martin's spiral storage), so that they double one after
//! another: there is no moment in which everything is rebuilt, and the load of the whole stays near two thirds at every size.
//!
//! A slot of 32 bits holds a handle, a mark for entries that had to leave their home bucket, and as many further bits of the hash as fit. Doubling a share
//! turns the lowest of these bits into an address bit and gives its place to the growing handles, so entries move without their states being looked at.
//! Where fewer than four hash bits would be left, the share goes over to slots of 64 bits, whose hash bits are taken anew from the states.

use crate::Account;
use wayfarer_space::Hash;

const SHARES: usize = 1024;
const BUCKET: usize = 16;
/// The fewest hash bits a narrow slot may keep.
const LEAST_PRINT: u32 = 4;

/// A growing set of handles, found by hash.
pub(crate) struct Index {
    shares: Vec<Share>,
    bytes: usize,
}

/// Entries that the same part of the hash space leads to.
struct Share {
    slots: Slots,
    /// The number of buckets is a power of two.
    bucket_bits: u32,
    /// Width of a handle plus one (0 marks a free slot).
    handle_bits: u32,
    /// Width of the hash bits.
    print_bits: u32,
    used: u32,
}

enum Slots {
    Narrow(Box<[Line<u32>]>),
    Wide(Box<[Line<u64>]>),
}

/// A bucket begins at a cache line.
#[repr(align(64))]
#[derive(Clone, Copy)]
struct Line<T>([T; BUCKET]);

/// An entry, taken apart.
#[derive(Clone, Copy)]
struct Entry {
    handle: u32,
    displaced: bool,
    print: u64,
}

/// Where a lookup stands: candidates that agree in all hash bits are compared by the caller.
pub(crate) enum Found {
    /// The state is there.
    Present(u32),
    /// It is not.
    Absent,
}

impl Index {
    pub(crate) fn new() -> Self {
        let shares = (0..SHARES).map(|_| Share::narrow(0, 12, 17)).collect();
        Index { shares, bytes: SHARES * size_of::<Line<u32>>() }
    }

    /// Bytes taken by the slots.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The address of the home bucket, for prefetching.
    #[inline]
    pub(crate) fn address(&self, hash: Hash) -> *const u8 {
        let share = &self.shares[share_of(hash)];
        let bucket = share.home(hash);
        match &share.slots {
            Slots::Narrow(lines) => lines[bucket].0.as_ptr().cast(),
            Slots::Wide(lines) => lines[bucket].0.as_ptr().cast(),
        }
    }

    /// The first handle in the home bucket whose hash bits agree: most likely the state itself, and worth prefetching.
    #[inline]
    pub(crate) fn likely(&self, hash: Hash) -> Option<u32> {
        let share = &self.shares[share_of(hash)];
        let bucket = share.home(hash);
        let print = share.print(hash);
        (0..BUCKET)
            .map(|slot| share.entry(bucket, slot))
            .take_while(Option::is_some)
            .flatten()
            .find(|entry| entry.print == print)
            .map(|entry| entry.handle)
    }

    /// Looks for a state; `same` compares the state behind a handle.
    #[inline]
    pub(crate) fn find(&self, hash: Hash, mut same: impl FnMut(u32) -> bool) -> Found {
        let share = &self.shares[share_of(hash)];
        let print = share.print(hash);
        let mut bucket = share.home(hash);
        loop {
            for slot in 0..BUCKET {
                let Some(entry) = share.entry(bucket, slot) else { return Found::Absent };
                if entry.print == print && same(entry.handle) {
                    return Found::Present(entry.handle);
                }
            }
            bucket = (bucket + 1) & share.bucket_mask();
        }
    }

    /// Inserts a handle that is not there; false where the account has no room to grow. `hash_of` computes the hash of a stored state.
    pub(crate) fn insert(&mut self, hash: Hash, handle: u32, account: &dyn Account, hash_of: impl Fn(u32) -> Hash) -> bool {
        let number = share_of(hash);
        let share = &self.shares[number];
        let full = u64::from(share.used) * 10 >= (share.lines() * BUCKET) as u64 * 9;
        let too_narrow = u64::from(handle) + 1 >= 1 << share.handle_bits;
        if full || too_narrow {
            let Some(grown) = share.rebuilt(full, handle, account, &hash_of) else { return false };
            self.bytes = self.bytes + grown.bytes() - share.bytes();
            self.shares[number] = grown;
        }
        let share = &mut self.shares[number];
        let print = share.print(hash);
        share.put(share.home(hash), handle, print);
        true
    }
}

impl Share {
    fn narrow(bucket_bits: u32, handle_bits: u32, print_bits: u32) -> Self {
        let lines = vec![Line([0u32; BUCKET]); 1 << bucket_bits].into_boxed_slice();
        Share { slots: Slots::Narrow(lines), bucket_bits, handle_bits, print_bits, used: 0 }
    }

    fn wide(bucket_bits: u32) -> Self {
        let lines = vec![Line([0u64; BUCKET]); 1 << bucket_bits].into_boxed_slice();
        Share { slots: Slots::Wide(lines), bucket_bits, handle_bits: 33, print_bits: 30, used: 0 }
    }

    fn lines(&self) -> usize {
        1 << self.bucket_bits
    }

    fn bytes(&self) -> usize {
        match &self.slots {
            Slots::Narrow(lines) => size_of_val(&**lines),
            Slots::Wide(lines) => size_of_val(&**lines),
        }
    }

    #[inline]
    fn bucket_mask(&self) -> usize {
        self.lines() - 1
    }

    #[inline]
    fn home(&self, hash: Hash) -> usize {
        hash.address() as usize & self.bucket_mask()
    }

    /// The hash bits kept in a slot: those after the address in a narrow one, so that doubling finds its next address bit there; others in a wide one.
    #[inline]
    fn print(&self, hash: Hash) -> u64 {
        let bits = match self.slots {
            Slots::Narrow(_) => hash.address() >> self.bucket_bits,
            Slots::Wide(_) => hash.second(),
        };
        bits & ((1 << self.print_bits) - 1)
    }

    #[inline]
    fn entry(&self, bucket: usize, slot: usize) -> Option<Entry> {
        let value = match &self.slots {
            Slots::Narrow(lines) => u64::from(lines[bucket].0[slot]),
            Slots::Wide(lines) => lines[bucket].0[slot],
        };
        if value == 0 {
            return None;
        }
        Some(Entry {
            handle: ((value & ((1 << self.handle_bits) - 1)) - 1) as u32,
            displaced: value >> self.handle_bits & 1 == 1,
            print: value >> (self.handle_bits + 1),
        })
    }

    /// Puts an entry into the first free slot from its home bucket on.
    fn put(&mut self, home: usize, handle: u32, print: u64) {
        let mut bucket = home;
        loop {
            let free = (0..BUCKET).find(|slot| self.entry(bucket, *slot).is_none());
            if let Some(slot) = free {
                let value = print << (self.handle_bits + 1) | u64::from(bucket != home) << self.handle_bits | (u64::from(handle) + 1);
                match &mut self.slots {
                    Slots::Narrow(lines) => lines[bucket].0[slot] = value as u32,
                    Slots::Wide(lines) => lines[bucket].0[slot] = value,
                }
                self.used += 1;
                return;
            }
            bucket = (bucket + 1) & self.bucket_mask();
        }
    }

    /// The same entries with room for `handle`, in twice the buckets where `doubled`; none where the account has no room.
    fn rebuilt(&self, doubled: bool, handle: u32, account: &dyn Account, hash_of: &impl Fn(u32) -> Hash) -> Option<Share> {
        let bucket_bits = self.bucket_bits + u32::from(doubled);
        // Until this share doubles again the whole grows by about two: leave room for that and a little more.
        let handle_bits = (64 - (u64::from(handle) * 9 / 4 + 64).leading_zeros()).min(33);
        let print_bits = self.print_bits.saturating_sub(u32::from(doubled)).min(31u32.saturating_sub(handle_bits));
        let stays_narrow = matches!(self.slots, Slots::Narrow(_)) && print_bits >= LEAST_PRINT;
        let line = if stays_narrow { size_of::<Line<u32>>() } else { size_of::<Line<u64>>() };
        if !account.allows(line << bucket_bits) {
            return None;
        }
        let mut grown = if stays_narrow { Share::narrow(bucket_bits, handle_bits, print_bits) } else { Share::wide(bucket_bits) };
        for bucket in 0..self.lines() {
            for slot in 0..BUCKET {
                let Some(entry) = self.entry(bucket, slot) else { break };
                let (home, print) = if entry.displaced || !stays_narrow {
                    let hash = hash_of(entry.handle);
                    (grown.home(hash), grown.print(hash))
                } else {
                    let next = if doubled { entry.print & 1 } else { 0 };
                    (bucket | (next as usize) << self.bucket_bits, (entry.print >> u32::from(doubled)) & ((1 << print_bits) - 1))
                };
                grown.put(home, entry.handle, print);
            }
        }
        Some(grown)
    }
}

/// The share of a hash: its upper half as a position t in [0, 1), bent by an approximation of log2(1 + t), so that the shares' widths spread evenly
/// (by logarithm) over a factor of two.
#[inline]
fn share_of(hash: Hash) -> usize {
    let t = hash.address() >> 32;
    let bend = (t * ((1 << 32) - t)) >> 32;
    let position = t + ((bend * 1_473_664_000) >> 32);
    ((position >> 22) as usize).min(SHARES - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unlimited;
    use wayfarer_space::hash;

    fn hash_of(handle: u32) -> Hash {
        hash(&[u64::from(handle)])
    }

    #[test]
    fn finds_what_was_inserted_and_nothing_else() {
        let mut index = Index::new();
        let count = 300_000;
        for handle in 0..count {
            assert!(matches!(index.find(hash_of(handle), |found| found == handle), Found::Absent));
            assert!(index.insert(hash_of(handle), handle, &Unlimited, hash_of));
        }
        for handle in 0..count {
            assert!(matches!(index.find(hash_of(handle), |found| found == handle), Found::Present(found) if found == handle));
        }
        assert!(matches!(index.find(hash_of(count), |found| found == count), Found::Absent));
    }

    #[test]
    fn load_stays_near_two_thirds() {
        let mut index = Index::new();
        let mut worst: f64 = 0.0;
        for handle in 0..1_000_000u32 {
            index.insert(hash_of(handle), handle, &Unlimited, hash_of);
            if handle >= 100_000 && handle % 1_000 == 0 {
                worst = worst.max(index.bytes() as f64 / f64::from(handle));
            }
        }
        assert!(worst < 6.8, "{worst} bytes per state");
    }

    #[test]
    fn shares_go_over_to_wide_slots_without_losing_entries() {
        let mut share = Share::narrow(4, 27, 4);
        for handle in 0..200u32 {
            let print = share.print(hash_of(handle));
            share.put(share.home(hash_of(handle)), handle, print);
        }
        let share = share.rebuilt(true, 1 << 27, &Unlimited, &hash_of).unwrap();
        assert!(matches!(share.slots, Slots::Wide(_)));
        let index_of = |handle| {
            let print = share.print(hash_of(handle));
            (0..share.lines())
                .any(|bucket| (0..BUCKET).filter_map(|slot| share.entry(bucket, slot)).any(|entry| entry.handle == handle && entry.print == print))
        };
        assert!((0..200).all(index_of));
    }
}
