//! Finds a state's handle by its hash.
//!
//! The table is split into *shares*: 1024, and more in a large budget. Each is a table of cache-line buckets that
//! doubles when it is nine tenths full. The shares' parts of the hash space differ in width by up to a factor of two,
//! spread like the turns of a spiral (Martin's spiral storage), so that they double one after another. There is never a
//! moment in which everything is rebuilt, and the load of the whole stays near two thirds at every size.
//!
//! A slot of 32 bits holds a handle, a mark for entries that had to leave their home bucket, and as many further bits
//! of the hash as fit. Doubling a share turns the lowest of these bits into an address bit and gives its place to the
//! growing handles, so entries move without reading their states. If fewer than four hash bits would be left, the share
//! changes to slots of 64 bits, eight to a bucket, and their hash bits are computed from the states.
//!
//! Workers insert by compare-and-swap and never move an entry. To grow a share, a worker marks its free slots as
//! frozen, which stops insertions there, copies the entries, and publishes the new table. Workers that see a frozen
//! slot wait for that one share and look again. Several shares may grow at the same time. Shares are small enough that
//! most are copied before another worker wants to insert there. A replaced table is freed when every worker has begun
//! another batch since.

mod table;

use crate::Account;
use crate::memory::arena::{Arena, LINE};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
use table::{Matches, Slot, Table};
use wayfarer_space::Hash;

/// Shares of an index, as a power of two: in a small budget, and in budgets from so many bytes on.
const FEWEST_SHARES: u32 = 10;
const MORE_SHARES: [(usize, u32); 2] = [(32 << 30, 14), (2 << 30, 12)];
/// Looks at a share that is being copied before a worker lets others run meanwhile.
const SPINS: u32 = 1 << 10;
/// Says that a worker is not inside a batch.
const IDLE: u64 = u64::MAX;
/// The most workers at one index.
const SEATS: usize = 256;
/// How many entries a worker adds to a large share before it tells others: each is counted, but not each at once.
const FLUSH: u32 = 16;
/// The number of buckets for which states are prefetched if their hashes are needed.
const AHEAD: usize = 4;

/// A growing set of handles, found by hash, for several workers.
pub(crate) struct Index {
    /// A [`Table`] each, in one word.
    shares: Box<[AtomicU64]>,
    /// Takes the upper half of a hash, bent, to its share.
    shift: u32,
    /// Entries in each share, as far as workers have told, and whether someone is growing it.
    used: Box<[AtomicU32]>,
    growing: Box<[AtomicBool]>,
    grounds: Mutex<Grounds>,
    /// Counts replaced tables; workers note it at the start of a batch.
    epoch: AtomicU64,
    noted: Box<[Noted]>,
    seats: AtomicUsize,
}

/// The epoch in which a worker began its batch, in a cache line of its own.
#[repr(align(64))]
struct Noted(AtomicU64);

/// Memory of the tables, and those that were replaced: (epoch, block, bytes).
struct Grounds {
    arena: Arena,
    replaced: Vec<(u64, usize, usize)>,
}

/// A worker's place at the index.
pub(crate) struct Seat {
    number: usize,
    /// Entries it added to each share and did not tell yet.
    fresh: Box<[u16]>,
}

/// The means that growing needs.
pub(crate) struct Means<'a> {
    /// Says whether there is memory.
    pub(crate) account: &'a dyn Account,
    /// The hash of a stored state.
    pub(crate) hash_of: &'a dyn Fn(u32) -> Hash,
    /// Asks for the memory of a stored state whose hash will be wanted.
    pub(crate) fetch: &'a dyn Fn(u32),
}

/// The result of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The state has this handle.
    Present(u32),
    /// The state was not there, and the handle given is now.
    Inserted,
    /// The state is not there (and nothing was to be inserted, or there was no room).
    Absent,
}

impl Index {
    /// An empty index in a budget of `most` bytes. `chunk` is the size in which memory is taken, a power of two.
    pub(crate) fn new(chunk: usize, most: usize, account: &dyn Account) -> Option<Self> {
        let mut arena = Arena::new(chunk);
        let bits = MORE_SHARES.iter().find(|(from, _)| most >= *from).map_or(FEWEST_SHARES, |(_, bits)| *bits);
        let shares: Option<Vec<AtomicU64>> = (0..1 << bits)
            .map(|_| {
                let base = arena.take(LINE, account)?;
                Some(AtomicU64::new(Table { base, bucket_bits: 0, handle_bits: 12, print_bits: 19, wide: false }.to_word()))
            })
            .collect();
        Some(Index {
            shares: shares?.into_boxed_slice(),
            shift: 32 - bits,
            used: (0..1 << bits).map(|_| AtomicU32::new(0)).collect(),
            growing: (0..1 << bits).map(|_| AtomicBool::new(false)).collect(),
            grounds: Mutex::new(Grounds { arena, replaced: Vec::new() }),
            epoch: AtomicU64::new(0),
            noted: (0..SEATS).map(|_| Noted(AtomicU64::new(IDLE))).collect(),
            seats: AtomicUsize::new(0),
        })
    }

    /// A place for one more worker; none if there are too many.
    pub(crate) fn seat(&self) -> Option<Seat> {
        let number = self.seats.fetch_add(1, Ordering::Relaxed);
        (number < SEATS).then(|| Seat { number, fresh: vec![0; self.shares.len()].into_boxed_slice() })
    }

    /// Bytes taken by the tables.
    pub(crate) fn bytes(&self) -> usize {
        self.grounds.lock().map_or(0, |grounds| grounds.arena.bytes())
    }

    /// A worker begins a batch: from here to [`leave`](Index::leave) no table it may see is freed.
    pub(crate) fn enter(&self, seat: &Seat) {
        self.noted[seat.number].0.store(self.epoch.load(Ordering::SeqCst), Ordering::SeqCst);
        // All later reads of the table come after this note.
        fence(Ordering::SeqCst);
    }

    /// A worker ends a batch.
    pub(crate) fn leave(&self, seat: &Seat) {
        self.noted[seat.number].0.store(IDLE, Ordering::Release);
    }

    /// The address of the home bucket, for prefetching.
    #[inline]
    pub(crate) fn address(&self, hash: Hash) -> *const u8 {
        let table = self.table(self.share_of(hash));
        table.bucket(table.home(hash))
    }

    /// A handle in the home bucket whose hash bits agree: most likely the state itself, and worth prefetching.
    #[inline]
    pub(crate) fn likely(&self, hash: Hash) -> Option<u32> {
        let table = self.table(self.share_of(hash));
        let home = table.home(hash);
        let Matches { agree, .. } = table.matches(home, table.print(hash));
        (agree != 0).then(|| table.handle_at(home, agree.trailing_zeros()))
    }

    /// All handles in the home bucket whose hash bits agree: in a large index with narrow slots there may be more than one.
    #[inline]
    pub(crate) fn each_likely(&self, hash: Hash, mut each: impl FnMut(u32)) {
        let table = self.table(self.share_of(hash));
        let home = table.home(hash);
        let Matches { mut agree, .. } = table.matches(home, table.print(hash));
        while agree != 0 {
            each(table.handle_at(home, agree.trailing_zeros()));
            agree &= agree - 1;
        }
    }

    /// Looks for a state; `same` compares the state behind a handle. Only between [`enter`](Index::enter) and [`leave`](Index::leave).
    #[inline]
    pub(crate) fn find(&self, hash: Hash, mut same: impl FnMut(u32) -> bool) -> Found {
        loop {
            let table = self.table(self.share_of(hash));
            match self.look(table, hash, &mut same, None::<(u32, &fn())>) {
                Looked::Found(handle) => return Found::Present(handle),
                Looked::Frozen => self.wait_for(self.share_of(hash), table),
                _ => return Found::Absent,
            }
        }
    }

    /// Looks for a state and, if it is not there, inserts `handle` for it, after `write` made its record.
    /// [`Found::Absent`] says that the account had no room to grow. Only between [`enter`](Index::enter) and
    /// [`leave`](Index::leave).
    #[inline]
    pub(crate) fn find_or_insert(
        &self,
        seat: &mut Seat,
        hash: Hash,
        handle: u32,
        mut same: impl FnMut(u32) -> bool,
        write: impl Fn(),
        means: &Means,
    ) -> Found {
        let share = self.share_of(hash);
        loop {
            let table = self.table(share);
            let too_narrow = !table.wide && u64::from(handle) + 2 >= 1 << table.handle_bits;
            if too_narrow {
                if !self.grow(share, table, false, handle, means) {
                    return Found::Absent;
                }
                continue;
            }
            match self.look(table, hash, &mut same, Some((handle, &write))) {
                Looked::Found(found) => return Found::Present(found),
                Looked::Inserted => {
                    self.count(seat, share, table, handle, means);
                    return Found::Inserted;
                }
                Looked::Frozen => self.wait_for(share, table),
                Looked::Full | Looked::Free => {
                    if !self.grow(share, table, true, handle, means) {
                        return Found::Absent;
                    }
                }
            }
        }
    }

    /// Counts an entry and grows the share if it is nine tenths full. If there is no room to grow, the share fills up to its last slot.
    #[inline]
    fn count(&self, seat: &mut Seat, share: usize, table: Table, handle: u32, means: &Means) {
        let fresh = &mut seat.fresh[share];
        *fresh += 1;
        let slots = (table.slots() << table.bucket_bits) as u32;
        if u32::from(*fresh) >= FLUSH.min(slots / 64).max(1) {
            let used = self.used[share].fetch_add(u32::from(*fresh), Ordering::Relaxed) + u32::from(*fresh);
            *fresh = 0;
            // Whoever grows it already need not be waited for.
            if u64::from(used) * 10 >= u64::from(slots) * 9 && !self.growing[share].load(Ordering::Relaxed) {
                self.grow(share, table, true, handle, means);
            }
        }
    }

    #[inline]
    fn table(&self, share: usize) -> Table {
        Table::from_word(self.shares[share].load(Ordering::Acquire))
    }

    /// Walks from the home bucket on. With a handle, takes the first free slot.
    #[inline]
    fn look(&self, table: Table, hash: Hash, same: &mut impl FnMut(u32) -> bool, insert: Option<(u32, &impl Fn())>) -> Looked {
        let print = table.print(hash);
        let home = table.home(hash);
        let mut bucket = home;
        loop {
            let Matches { mut agree, free } = table.matches(bucket, print);
            while agree != 0 {
                let handle = table.handle_at(bucket, agree.trailing_zeros());
                if same(handle) {
                    return Looked::Found(handle);
                }
                agree &= agree - 1;
            }
            // A slot that is still free may be taken while others are being frozen: it will be copied with the entries.
            if free != 0 {
                let Some((handle, write)) = insert else { return Looked::Free };
                write();
                if table.claim(bucket, free.trailing_zeros() as usize, table.entry(handle, bucket != home, print)) {
                    return Looked::Inserted;
                }
                // Someone was faster: look at the bucket again.
                continue;
            }
            if table.frozen(bucket) != 0 {
                return Looked::Frozen;
            }
            bucket = (bucket + 1) & table.bucket_mask();
            if bucket == home {
                return Looked::Full;
            }
        }
    }

    /// The share of a hash: its upper half as a position t in [0, 1), bent by an approximation of log2(1 + t), so that the shares' widths spread evenly
    /// (by logarithm) over a factor of two.
    #[inline]
    fn share_of(&self, hash: Hash) -> usize {
        let t = hash.address() >> 32;
        let bend = (t * ((1 << 32) - t)) >> 32;
        let position = t + ((bend * 1_473_664_000) >> 32);
        ((position >> self.shift) as usize).min(self.shares.len() - 1)
    }

    /// Waits until a share has another table than the one given, or nobody grows it any more.
    #[cold]
    fn wait_for(&self, share: usize, table: Table) {
        let mut looks = 0;
        while self.table(share) == table && self.growing[share].load(Ordering::Acquire) {
            looks += 1;
            if looks < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
    }

    /// Replaces a share's table by one with room for `handle`, in twice the buckets if `doubled`; false if there is no memory for it.
    #[cold]
    fn grow(&self, share: usize, table: Table, doubled: bool, handle: u32, means: &Means) -> bool {
        if self.growing[share].swap(true, Ordering::Acquire) {
            self.wait_for(share, table);
            return true;
        }
        // Another worker may have grown it before this one had its turn.
        let grown = self.table(share) != table || self.regrow(share, table, doubled, handle, means);
        self.growing[share].store(false, Ordering::Release);
        grown
    }

    /// The same by the one worker that may do so. Memory is taken under a lock; clearing and filling it goes on beside other shares.
    fn regrow(&self, share: usize, table: Table, doubled: bool, handle: u32, means: &Means) -> bool {
        let grown = {
            let Ok(mut grounds) = self.grounds.lock() else { return false };
            self.free_replaced(&mut grounds);
            table.grown(doubled, handle, &mut grounds.arena, means.account)
        };
        let Some(grown) = grown else { return false };
        grown.clear();
        table.freeze();
        let mut used = 0;
        for bucket in 0..table.buckets() {
            let widened = grown.wide && !table.wide;
            if widened {
                // Hash bits are taken anew from the states, a cache miss each.
                table.handles((bucket + AHEAD) & table.bucket_mask()).for_each(means.fetch);
            }
            for slot in 0..table.slots() {
                let Slot::Entry { handle, displaced, print } = table.slot(bucket, slot) else { continue };
                let (home, print) = if displaced || widened {
                    let hash = (means.hash_of)(handle);
                    (grown.home(hash), grown.print(hash))
                } else {
                    let bit = if doubled { print as usize & 1 } else { 0 };
                    (bucket | bit << table.bucket_bits, print >> u32::from(doubled) & ((1 << grown.print_bits) - 1))
                };
                grown.put(home, handle, print);
                used += 1;
            }
        }
        // Workers may still hold entries that they have not told; they are in the table and counted here, and told again later: a little too many.
        self.used[share].store(used, Ordering::Relaxed);
        self.shares[share].store(grown.to_word(), Ordering::Release);
        let epoch = self.epoch.fetch_add(1, Ordering::SeqCst) + 1;
        if let Ok(mut grounds) = self.grounds.lock() {
            grounds.replaced.push((epoch, table.base as usize, table.bytes()));
        }
        true
    }

    /// Frees the tables that no worker can see any more.
    fn free_replaced(&self, grounds: &mut Grounds) {
        let seats = self.seats.load(Ordering::Relaxed).min(SEATS);
        // With a single worker no other can still read a replaced table: this worker is the one that is growing it.
        let oldest = if seats == 1 { IDLE } else { self.noted[..seats].iter().map(|noted| noted.0.load(Ordering::SeqCst)).min().unwrap_or(IDLE) };
        let Grounds { arena, replaced } = grounds;
        replaced.retain(|(epoch, base, bytes)| {
            let seen = *epoch > oldest;
            if !seen {
                arena.give_back(*base as *mut u8, *bytes);
            }
            seen
        });
    }
}

/// How a walk through a table ended.
enum Looked {
    Found(u32),
    Inserted,
    Free,
    Frozen,
    Full,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unlimited;
    use wayfarer_space::hash;

    fn hash_of(handle: u32) -> Hash {
        hash(&[u64::from(handle)])
    }

    fn put(index: &Index, seat: &mut Seat, handle: u32) -> Found {
        index.find_or_insert(
            seat,
            hash_of(handle),
            handle,
            |found| found == handle,
            || (),
            &Means { account: &Unlimited, hash_of: &hash_of, fetch: &|_| () },
        )
    }

    #[test]
    fn finds_what_was_inserted_and_nothing_else() {
        let index = Index::new(1 << 16, 1 << 26, &Unlimited).unwrap();
        let mut seat = index.seat().unwrap();
        let count = 300_000;
        index.enter(&seat);
        for handle in 0..count {
            assert_eq!(put(&index, &mut seat, handle), Found::Inserted);
        }
        for handle in 0..count {
            assert_eq!(put(&index, &mut seat, handle), Found::Present(handle));
        }
        assert_eq!(index.find(hash_of(count), |found| found == count), Found::Absent);
        index.leave(&seat);
    }

    #[test]
    fn the_slots_cost_little_at_every_size() {
        let index = Index::new(1 << 16, 1 << 26, &Unlimited).unwrap();
        let mut seat = index.seat().unwrap();
        let mut worst: f64 = 0.0;
        for handle in 0..1_000_000u32 {
            put(&index, &mut seat, handle);
            if handle >= 100_000 && handle % 1_000 == 0 {
                worst = worst.max(index.bytes() as f64 / f64::from(handle));
            }
        }
        assert!(worst < 7.6, "{worst} bytes per state");
    }

    #[test]
    fn shares_go_over_to_wide_slots_without_losing_entries() {
        let index = Index::new(1 << 16, 1 << 26, &Unlimited).unwrap();
        let mut seat = index.seat().unwrap();
        let handles = || (0..20_000u32).chain((1 << 28)..(1 << 28) + 20_000);
        for handle in handles() {
            assert_eq!(put(&index, &mut seat, handle), Found::Inserted);
        }
        assert!((0..index.shares.len()).any(|share| index.table(share).wide));
        for handle in handles() {
            assert_eq!(index.find(hash_of(handle), |found| found == handle), Found::Present(handle));
        }
    }

    #[test]
    fn several_workers_insert_every_state_once() {
        let index = Index::new(1 << 16, 1 << 26, &Unlimited).unwrap();
        let inserted = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for worker in 0..4u32 {
                let (index, inserted) = (&index, &inserted);
                scope.spawn(move || {
                    let mut seat = index.seat().unwrap();
                    for round in 0..200u32 {
                        index.enter(&seat);
                        for number in 0..500u32 {
                            // Every state is offered by two workers, under handles that hash alike.
                            let state = round * 1_000 + (number * 7 + worker / 2 * 500) % 1_000;
                            if put(index, &mut seat, state) == Found::Inserted {
                                inserted.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                        index.leave(&seat);
                    }
                });
            }
        });
        let present = (0..200_000).filter(|state| index.find(hash_of(*state), |found| found == *state) != Found::Absent).count();
        assert_eq!(inserted.load(Ordering::Relaxed), present);
    }
}
