//! Copies the entries of a table into those that replace it.

use super::table::{Growth, Slot, Table};
use super::{LARGEST, Means};
use wayfarer_space::Hash;

/// The number of buckets for which states are prefetched if their hashes are needed.
const AHEAD: usize = 4;

/// The hashes of entries that left their home bucket, or of all if they are to have wider slots, by the numbers of their slots. They are computed from the
/// states, a cache miss each, so this is done before others have to wait for the table.
pub(super) fn hashes_wanted(table: Table, widened: bool, means: &Means) -> Vec<(usize, Hash)> {
    let mut hashes = Vec::new();
    for bucket in 0..table.buckets() {
        let ahead = (bucket + AHEAD) & table.bucket_mask();
        if widened || table.has_displaced(ahead) {
            table.handles(ahead, !widened).for_each(|(_, handle)| (means.fetch)(handle));
        }
        if widened || table.has_displaced(bucket) {
            hashes.extend(table.handles(bucket, !widened).map(|(slot, handle)| (bucket * table.slots() + slot, (means.hash_of)(handle))));
        }
    }
    hashes
}

/// Copies the entries of a table into a larger one, or into the two halves that it is split into. With `NARROW`, all of them have narrow slots. The hashes
/// that are wanted are given, except for those of entries that came in late.
pub(super) fn copy<const SPLIT: bool, const NARROW: bool>(table: Table, grown: [Table; 2], how: Growth, hashes: &[(usize, Hash)], means: &Means) {
    let how = if SPLIT { Growth::Split } else { how };
    // So that nothing is decided for each entry that is the same for all.
    let known = |table: Table| Table { wide: !NARROW && table.wide, ..table };
    let (table, [first, second]) = (known(table), grown.map(known));
    let widened = first.wide && !table.wide;
    let (mut first_filled, mut second_filled) = (Filled::of(first), Filled::of(second));
    let mut hashes = hashes.iter().peekable();
    for bucket in 0..table.buckets() {
        for slot in 0..table.slots() {
            let Slot::Entry { handle, displaced, print } = table.slot(bucket, slot) else { continue };
            let (half, home, print) = if displaced || widened {
                let given = hashes.next_if(|(of, _)| *of == bucket * table.slots() + slot);
                let hash = given.map_or_else(|| (means.hash_of)(handle), |(_, hash)| *hash);
                // Both halves have the same form.
                (hash.address() >> table.skip & 1 == 1, first.home(hash), first.print(hash))
            } else {
                table.grown_entry(&first, how, bucket, print)
            };
            if SPLIT && half {
                second_filled.put(second, home, handle, print);
            } else {
                first_filled.put(first, home, handle, print);
            }
        }
    }
}

/// The entries in each bucket of a table that no other worker sees yet, while it is filled: they lie one after another.
struct Filled([u8; 2 << LARGEST]);

impl Filled {
    fn of(table: Table) -> Self {
        debug_assert!(table.buckets() <= 2 << LARGEST);
        Filled([0; 2 << LARGEST])
    }

    /// Puts an entry into the first free slot from its home bucket on. There must be one.
    #[inline(always)]
    fn put(&mut self, table: Table, home: usize, handle: u32, print: u64) {
        let filled = &mut self.0[home];
        if usize::from(*filled) < table.slots() {
            table.fill(home, usize::from(*filled), table.entry(handle, false, print));
            *filled += 1;
        } else {
            self.put_behind(table, home, handle, print);
        }
    }

    /// Puts an entry behind a home bucket that is full.
    #[inline(never)]
    fn put_behind(&mut self, table: Table, home: usize, handle: u32, print: u64) {
        let mut bucket = home;
        loop {
            bucket = (bucket + 1) & table.bucket_mask();
            let filled = &mut self.0[bucket];
            if usize::from(*filled) < table.slots() {
                table.fill(bucket, usize::from(*filled), table.entry(handle, true, print));
                *filled += 1;
                return;
            }
        }
    }
}
