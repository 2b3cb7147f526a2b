//! A share's table: buckets of sixteen narrow slots or eight wide ones, a cache line each, read and written through atomics.
#![allow(unsafe_code)] // Buckets are atomics in raw blocks of the arena.

use crate::Account;
use crate::memory::arena::{Arena, LINE};
use crate::memory::lines::sync::{AtomicU32, AtomicU64};
use std::sync::atomic::Ordering;
use wayfarer_space::Hash;

/// Slots of a bucket, narrow and wide. Under loom a table is full after two entries.
const NARROW: usize = if cfg!(loom) { 2 } else { 16 };
const WIDE: usize = 8;
/// The fewest hash bits a narrow slot may keep.
const LEAST_PRINT: u32 = 4;
const WIDE_HANDLE: u32 = 33;
const WIDE_PRINT: u32 = 30;

/// A share's table: the address of its buckets and the layout of its slots. All of it fits one word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Table {
    /// The first bucket.
    pub(super) base: *mut u8,
    /// The number of buckets is a power of two.
    pub(super) bucket_bits: u32,
    /// Width of a handle plus one; 0 marks a free slot.
    pub(super) handle_bits: u32,
    /// Width of the hash bits.
    pub(super) print_bits: u32,
    pub(super) wide: bool,
    /// The lowest bits of the hash, which all its entries agree in.
    pub(super) skip: u32,
}

/// How a table makes room.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Growth {
    /// Handles get more bits.
    Widened,
    /// It is replaced by one with twice the buckets.
    Doubled,
    /// It is replaced by two, each for one half of its hashes.
    Split,
}

/// A slot as a lookup sees it.
pub(super) enum Slot {
    Free,
    Frozen,
    Entry { handle: u32, displaced: bool, print: u64 },
}

/// The slots of a bucket, a bit each.
pub(super) struct Matches {
    /// Their hash bits agree.
    pub(super) agree: u32,
    pub(super) free: u32,
}

impl Table {
    const ADDRESS: u32 = 42;

    /// Addresses are below 2⁴⁸ and begin at a line, which leaves 22 bits: four numbers below 32, and one bit for each of
    /// `wide` and what is no table.
    pub(super) fn to_word(self) -> u64 {
        let handle_bits = if self.wide { 0 } else { self.handle_bits };
        (self.base as u64 >> 6)
            | u64::from(self.bucket_bits) << Self::ADDRESS
            | u64::from(handle_bits) << (Self::ADDRESS + 5)
            | u64::from(self.print_bits) << (Self::ADDRESS + 10)
            | u64::from(self.skip) << (Self::ADDRESS + 15)
            | u64::from(self.wide) << (Self::ADDRESS + 20)
    }

    #[inline]
    pub(super) fn from_word(word: u64) -> Self {
        let field = |at: u32| (word >> (Self::ADDRESS + at) & 31) as u32;
        let wide = word >> (Self::ADDRESS + 20) & 1 == 1;
        Table {
            base: ((word & ((1 << Self::ADDRESS) - 1)) << 6) as *mut u8,
            bucket_bits: field(0),
            handle_bits: if wide { WIDE_HANDLE } else { field(5) },
            print_bits: field(10),
            wide,
            skip: field(15),
        }
    }

    #[inline]
    pub(super) fn buckets(&self) -> usize {
        1 << self.bucket_bits
    }

    #[inline]
    pub(super) fn bucket_mask(&self) -> usize {
        self.buckets() - 1
    }

    pub(super) fn bytes(&self) -> usize {
        LINE << self.bucket_bits
    }

    /// Slots of a bucket.
    #[inline]
    pub(super) fn slots(&self) -> usize {
        if self.wide { WIDE } else { NARROW }
    }

    #[inline]
    fn handle_mask(&self) -> u32 {
        (1u32 << self.handle_bits) - 1
    }

    #[inline]
    pub(super) fn home(&self, hash: Hash) -> usize {
        (hash.address() >> self.skip) as usize & self.bucket_mask()
    }

    /// The hash bits kept in a slot: those after the address, so that doubling finds its next address bit there.
    #[inline]
    pub(super) fn print(&self, hash: Hash) -> u64 {
        hash.address() >> (self.skip + self.bucket_bits) & ((1 << self.print_bits) - 1)
    }

    /// The contents of a slot for a handle.
    #[inline]
    pub(super) fn entry(&self, handle: u32, displaced: bool, print: u64) -> u64 {
        print << (self.handle_bits + 1) | u64::from(displaced) << self.handle_bits | (u64::from(handle) + 1)
    }

    #[inline]
    pub(super) fn bucket(&self, bucket: usize) -> *mut u8 {
        self.base.wrapping_add(bucket * LINE)
    }

    #[inline]
    fn narrow(&self, bucket: usize, slot: usize) -> &AtomicU32 {
        debug_assert!(!self.wide && bucket < self.buckets() && slot < NARROW);
        // SAFETY: the block has `buckets` lines of 16 aligned slots, is only ever read and written through atomics while it is a table, and outlives the
        // batch in which it was found (see `enter`).
        unsafe { &*self.bucket(bucket).cast::<AtomicU32>().add(slot) }
    }

    #[inline]
    fn wide_slot(&self, bucket: usize, slot: usize) -> &AtomicU64 {
        debug_assert!(self.wide && bucket < self.buckets() && slot < WIDE);
        // SAFETY: as for `narrow`, with eight slots to a line.
        unsafe { &*self.bucket(bucket).cast::<AtomicU64>().add(slot) }
    }

    /// The buckets of all tables of its share together, as a power of two, if all are as large as this one.
    #[inline]
    pub(super) fn share_bits(&self) -> u32 {
        self.bucket_bits + self.skip
    }

    /// Whether its slots are narrow and have room for a handle.
    #[inline]
    pub(super) fn takes(&self, handle: u32) -> bool {
        !self.wide && u64::from(handle) + 2 < 1 << self.handle_bits
    }

    /// A free slot of a bucket of narrow slots, if no slot has these hash bits, which are at their place.
    #[inline]
    pub(super) fn room_beside(&self, bucket: usize, wanted: u32) -> Option<usize> {
        let (_, mask) = self.wanted(0);
        let Matches { agree, free } = self.compare(bucket, wanted, mask);
        (agree == 0 && free != 0).then(|| free.trailing_zeros() as usize)
    }

    /// The hash bits at their place in a slot, or in its upper half if it is wide, and the mask of that place.
    #[inline]
    pub(super) fn wanted(&self, print: u64) -> (u32, u32) {
        if self.wide {
            ((print << (WIDE_HANDLE + 1 - 32)) as u32, !3)
        } else {
            ((print << (self.handle_bits + 1)) as u32, !(self.handle_mask() << 1 | 1))
        }
    }

    /// Sorts a bucket's slots by their meaning for a lookup of hash bits, which are at their place.
    #[inline]
    pub(super) fn matches(&self, bucket: usize, wanted: u32) -> Matches {
        let (_, mask) = self.wanted(0);
        let mut matches = if self.wide { self.compare_wide(bucket, wanted) } else { self.compare(bucket, wanted, mask) };
        matches.agree &= !matches.free;
        // A frozen slot has only ones.
        if wanted == mask && matches.agree != 0 {
            matches.agree &= !self.frozen(bucket);
        }
        matches
    }

    /// The slots of a bucket whose hash bits agree.
    #[inline]
    pub(super) fn agreeing(&self, bucket: usize, wanted: u32) -> u32 {
        let (_, mask) = self.wanted(0);
        // Free slots have only zeros, frozen ones only ones.
        if self.wide || wanted == 0 || wanted == mask { self.matches(bucket, wanted).agree } else { self.equal(bucket, wanted, mask) }
    }

    /// Whether a bucket without free slots has frozen ones.
    #[inline]
    pub(super) fn is_frozen(&self, bucket: usize) -> bool {
        if self.wide { self.frozen(bucket) != 0 } else { self.equal(bucket, u32::MAX, u32::MAX) != 0 }
    }

    /// The frozen slots of a bucket, a bit each.
    #[cold]
    pub(super) fn frozen(&self, bucket: usize) -> u32 {
        (0..self.slots()).fold(0, |bits, slot| bits | u32::from(matches!(self.slot(bucket, slot), Slot::Frozen)) << slot)
    }

    #[cfg(all(target_arch = "x86_64", not(miri), not(loom)))]
    #[inline]
    fn compare(&self, bucket: usize, wanted: u32, mask: u32) -> Matches {
        let slots = self.line(bucket);
        Matches { agree: lanes::equal(slots, wanted, mask), free: lanes::equal(slots, 0, u32::MAX) }
    }

    /// The narrow slots that have a value under a mask.
    #[cfg(all(target_arch = "x86_64", not(miri), not(loom)))]
    #[inline]
    fn equal(&self, bucket: usize, wanted: u32, mask: u32) -> u32 {
        lanes::equal(self.line(bucket), wanted, mask)
    }

    /// The sixteen narrow slots of a bucket.
    #[cfg(all(target_arch = "x86_64", not(miri), not(loom)))]
    #[inline]
    fn line(&self, bucket: usize) -> lanes::Line {
        // SAFETY: the line is aligned and inside the table's block. Each aligned load reads every slot in it whole, as an acquire load on this machine
        // does; slots only go from free to an entry or to frozen, so an older value is as good as one read a moment earlier.
        let line = unsafe { lanes::load(self.bucket(bucket)) };
        std::sync::atomic::fence(Ordering::Acquire);
        line
    }

    #[cfg(not(all(target_arch = "x86_64", not(miri), not(loom))))]
    fn equal(&self, bucket: usize, wanted: u32, mask: u32) -> u32 {
        (0..NARROW).fold(0, |bits, slot| bits | u32::from(self.narrow(bucket, slot).load(Ordering::Acquire) & mask == wanted) << slot)
    }

    #[cfg(not(all(target_arch = "x86_64", not(miri), not(loom))))]
    fn compare(&self, bucket: usize, wanted: u32, mask: u32) -> Matches {
        let mut matches = Matches { agree: 0, free: 0 };
        for slot in 0..NARROW {
            let value = self.narrow(bucket, slot).load(Ordering::Acquire);
            matches.agree |= u32::from(value & mask == wanted) << slot;
            matches.free |= u32::from(value == 0) << slot;
        }
        matches
    }

    /// As `compare`. The upper half of a wide slot has the hash bits. The lower half is zero only if the slot is free, since there is no last handle.
    #[cfg(all(target_arch = "x86_64", not(miri), not(loom)))]
    #[inline]
    fn compare_wide(&self, bucket: usize, wanted: u32) -> Matches {
        use std::arch::x86_64::*;
        let line = self.bucket(bucket).cast::<__m128>();
        let mut matches = Matches { agree: 0, free: 0 };
        // SAFETY: as for `compare`; an aligned load reads both its slots whole.
        unsafe {
            let (wanted, mask) = (_mm_set1_epi32(wanted as i32), _mm_set1_epi32(!3));
            for half in 0..2 {
                let (first, second) = (_mm_load_ps(line.add(2 * half).cast()), _mm_load_ps(line.add(2 * half + 1).cast()));
                let upper = _mm_castps_si128(_mm_shuffle_ps::<0b11_01_11_01>(first, second));
                let lower = _mm_castps_si128(_mm_shuffle_ps::<0b10_00_10_00>(first, second));
                let bits = |equal: __m128i| (_mm_movemask_ps(_mm_castsi128_ps(equal)) as u32) << (4 * half);
                matches.agree |= bits(_mm_cmpeq_epi32(_mm_and_si128(upper, mask), wanted));
                matches.free |= bits(_mm_cmpeq_epi32(lower, _mm_setzero_si128()));
            }
        }
        std::sync::atomic::fence(Ordering::Acquire);
        matches
    }

    #[cfg(not(all(target_arch = "x86_64", not(miri), not(loom))))]
    fn compare_wide(&self, bucket: usize, wanted: u32) -> Matches {
        let mut matches = Matches { agree: 0, free: 0 };
        for slot in 0..WIDE {
            let value = self.wide_slot(bucket, slot).load(Ordering::Acquire);
            matches.agree |= u32::from((value >> 32) as u32 & !3 == wanted) << slot;
            matches.free |= u32::from(value == 0) << slot;
        }
        matches
    }

    /// The handle in a slot that held an entry when it was looked at.
    #[inline]
    pub(super) fn handle_at(&self, bucket: usize, slot: u32) -> u32 {
        if self.wide {
            return (self.wide_slot(bucket, slot as usize).load(Ordering::Acquire) as u32).wrapping_sub(1);
        }
        (self.narrow(bucket, slot as usize).load(Ordering::Acquire) & self.handle_mask()).wrapping_sub(1)
    }

    /// Puts an entry into a slot that was free; false if another worker was faster, which cannot be if this one is the `sole` one to insert. Alone it need
    /// not wait until what it wrote before is visible to all.
    #[inline]
    pub(super) fn claim(&self, bucket: usize, slot: usize, entry: u64, sole: bool) -> bool {
        if sole {
            match self.wide {
                true => self.wide_slot(bucket, slot).store(entry, Ordering::Release),
                false => self.narrow(bucket, slot).store(entry as u32, Ordering::Release),
            }
            return true;
        }
        if self.wide {
            return self.wide_slot(bucket, slot).compare_exchange(0, entry, Ordering::Release, Ordering::Relaxed).is_ok();
        }
        self.narrow(bucket, slot).compare_exchange(0, entry as u32, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// The slots and handles of a bucket's entries, or only of those that left their home.
    #[inline]
    pub(super) fn handles(&self, bucket: usize, displaced_only: bool) -> impl Iterator<Item = (usize, u32)> {
        (0..self.slots()).filter_map(move |slot| match self.slot(bucket, slot) {
            Slot::Entry { handle, displaced, .. } if displaced || !displaced_only => Some((slot, handle)),
            _ => None,
        })
    }

    /// Whether a bucket has entries that left their home; if slots are wide, it may have.
    #[inline]
    pub(super) fn has_displaced(&self, bucket: usize) -> bool {
        let mark = || 1 << self.handle_bits;
        // Frozen slots have only ones, the mark as well.
        self.wide || self.equal(bucket, mark(), mark()) & !self.equal(bucket, u32::MAX, u32::MAX) != 0
    }

    pub(super) fn slot(&self, bucket: usize, slot: usize) -> Slot {
        let (value, frozen) = if self.wide {
            let value = self.wide_slot(bucket, slot).load(Ordering::Acquire);
            (value, value == u64::MAX)
        } else {
            let value = self.narrow(bucket, slot).load(Ordering::Acquire);
            (u64::from(value), value == u32::MAX)
        };
        match value {
            0 => Slot::Free,
            _ if frozen => Slot::Frozen,
            _ => Slot::Entry {
                handle: ((value & ((1 << self.handle_bits) - 1)) - 1) as u32,
                displaced: value >> self.handle_bits & 1 == 1,
                print: value >> (self.handle_bits + 1),
            },
        }
    }

    /// Stops all insertions: every free slot becomes frozen.
    pub(super) fn freeze(&self) {
        for bucket in 0..self.buckets() {
            let mut free = self.matches(bucket, 0).free;
            while free != 0 {
                let slot = free.trailing_zeros() as usize;
                free &= free - 1;
                // If the exchange fails, an entry came in before, and it is copied with the others.
                if self.wide {
                    let _ = self.wide_slot(bucket, slot).compare_exchange(0, u64::MAX, Ordering::AcqRel, Ordering::Acquire);
                } else {
                    let _ = self.narrow(bucket, slot).compare_exchange(0, u32::MAX, Ordering::AcqRel, Ordering::Acquire);
                }
            }
        }
    }

    /// Empties a table that no other worker sees yet.
    pub(super) fn clear(&self) {
        // SAFETY: the block has this many bytes and belongs to the worker that took it.
        unsafe { self.base.write_bytes(0, self.bytes()) };
        #[cfg(loom)]
        // The checker's words are not plain zeros.
        for (bucket, slot) in (0..self.buckets()).flat_map(|bucket| (0..NARROW).map(move |slot| (bucket, slot))) {
            const { assert!(NARROW * size_of::<AtomicU32>() <= LINE) };
            // SAFETY: a line has room for loom's larger words.
            unsafe { self.bucket(bucket).cast::<AtomicU32>().add(slot).write(AtomicU32::new(0)) };
        }
    }

    /// A table with room for `handle`, to be [cleared](Table::clear): in twice the buckets if it is to be doubled, or for
    /// one half of its hashes.
    fn grown(&self, how: Growth, handle: u32, arena: &mut Arena, account: &dyn Account) -> Option<Table> {
        let used = u32::from(how != Growth::Widened);
        // Until this share doubles again the whole store grows by a factor of about two, so leave room for that and a
        // little more. Other workers' handles may be larger than this one, but those in the table fit its width.
        let handle_bits = (64 - (u64::from(handle) * 9 / 4 + 64).leading_zeros()).max(self.handle_bits).min(WIDE_HANDLE);
        let print_bits = self.print_bits.saturating_sub(used).min(31u32.saturating_sub(handle_bits));
        let wide = self.wide || print_bits < LEAST_PRINT;
        let (handle_bits, print_bits) = match (wide, self.wide) {
            (true, true) => (WIDE_HANDLE, self.print_bits.saturating_sub(used)),
            (true, false) => (WIDE_HANDLE, WIDE_PRINT),
            _ => (handle_bits, print_bits),
        };
        // A bucket has half as many wide slots.
        let bucket_bits = self.bucket_bits + u32::from(how == Growth::Doubled) + u32::from(wide && !self.wide);
        let skip = self.skip + u32::from(how == Growth::Split);
        let mut grown = Table { base: std::ptr::null_mut(), bucket_bits, handle_bits, print_bits, wide, skip };
        grown.base = arena.take(grown.bytes(), account)?;
        Some(grown)
    }

    /// The two halves of a table that is split, or twice the table that replaces it.
    pub(super) fn grown_pair(&self, how: Growth, handle: u32, arena: &mut Arena, account: &dyn Account) -> Option<[Table; 2]> {
        let first = self.grown(how, handle, arena, account)?;
        if how != Growth::Split {
            return Some([first; 2]);
        }
        let second = self.grown(how, handle, arena, account);
        if second.is_none() {
            arena.give_back(first.base, first.bytes());
        }
        second.map(|second| [first, second])
    }

    /// The new place of an entry that lies at home in `bucket`: which half if the table is split, which bucket, and
    /// which hash bits.
    #[inline]
    pub(super) fn grown_entry(&self, grown: &Table, how: Growth, bucket: usize, print: u64) -> (bool, usize, u64) {
        let bit = print as usize & 1;
        let kept = (1 << grown.print_bits) - 1;
        match how {
            Growth::Widened => (false, bucket, print & kept),
            Growth::Doubled => (false, bucket | bit << self.bucket_bits, print >> 1 & kept),
            Growth::Split => (bucket & 1 == 1, (bucket | bit << self.bucket_bits) >> 1, print >> 1 & kept),
        }
    }

    /// Writes an entry into a slot of a table that no one else sees yet.
    #[inline]
    pub(super) fn fill(&self, bucket: usize, slot: usize, entry: u64) {
        if self.wide {
            self.wide_slot(bucket, slot).store(entry, Ordering::Relaxed);
        } else {
            self.narrow(bucket, slot).store(entry as u32, Ordering::Relaxed);
        }
    }
}

/// Comparisons of sixteen slots at once.
#[cfg(all(target_arch = "x86_64", not(miri), not(loom)))]
mod lanes {
    use std::arch::x86_64::*;

    /// The slots of a line.
    pub(super) type Line = [__m128i; 4];

    /// Reads a line.
    ///
    /// # Safety
    /// The address must be that of a readable, aligned cache line.
    #[inline]
    pub(super) unsafe fn load(line: *const u8) -> Line {
        let line = line.cast::<__m128i>();
        // SAFETY: guaranteed by the caller.
        unsafe { [_mm_load_si128(line), _mm_load_si128(line.add(1)), _mm_load_si128(line.add(2)), _mm_load_si128(line.add(3))] }
    }

    /// The slots that have a value under a mask, a bit each.
    #[inline]
    pub(super) fn equal(line: Line, wanted: u32, mask: u32) -> u32 {
        // SAFETY: all machines of this kind have these instructions.
        unsafe {
            let (wanted, mask) = (_mm_set1_epi32(wanted as i32), _mm_set1_epi32(mask as i32));
            let equal = line.map(|slots| _mm_cmpeq_epi32(_mm_and_si128(slots, mask), wanted));
            // Sixteen answers of all or no bits shrink to a byte each.
            let bytes = _mm_packs_epi16(_mm_packs_epi32(equal[0], equal[1]), _mm_packs_epi32(equal[2], equal[3]));
            _mm_movemask_epi8(bytes) as u32
        }
    }
}
