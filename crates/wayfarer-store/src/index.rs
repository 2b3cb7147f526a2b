//! Finds a state's handle by its hash.
//!
//! The table is split into 1024 *shares*. Each is a table of cache-line buckets that doubles when it is nine tenths full. The shares' parts of the hash space differ in width by up to a factor of two,
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
//! slot wait for that one table and look again. Several shares may grow at the same time. A table of more than 32 KiB is
//! not doubled but split into two *parts*, which a directory finds by the lowest bits of the hash. So no table is large,
//! and most are copied before another worker wants to insert there. A replaced table is freed when every worker has
//! begun another batch since.

mod copying;
mod directory;
mod table;

use crate::Account;
use crate::memory::arena::{Arena, LINE, prefetch_line, prefetch_to_write};
use crate::memory::lines::sync::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Mutex, fence, spin_loop, yield_now};
use crate::memory::own_line::OwnLine;
use copying::{copy, hashes_wanted};
use directory::Directory;
use std::sync::atomic::Ordering;
use table::{Growth, Matches, Table};
use wayfarer_space::Hash;

const SHARES: usize = if cfg!(loom) { 1 } else { 1024 };
/// A table with this many buckets, as a power of two, is split and not doubled.
const LARGEST: u32 = if cfg!(test) { 3 } else { 9 };
/// The tenths of a share that are taken when it grows. Under loom small tables must have free slots at that moment.
const FULL: u64 = if cfg!(loom) { 5 } else { 9 };
/// A worker that waits for a table to be copied lets others run once in so many looks: a look is much cheaper than a call to the system.
const SPINS: u32 = if cfg!(loom) { 1 } else { 1 << 10 };
/// Says that a worker is not inside a batch.
const IDLE: u64 = u64::MAX;
/// The most workers at one index.
const SEATS: usize = if cfg!(loom) { 4 } else { 256 };
/// How many entries a worker adds to a large share, at least, before it tells others: each is counted, but not each at once.
const FLUSH: u16 = 16;
/// If memory is taken in chunks of at least this size, tables begin with four buckets: most searches that find thousands of states find tens of thousands.
const AMPLE: usize = 1 << 20;
/// Replaced tables are freed when they take one in so many bytes of the index: to look whether workers still see them takes as long as many insertions.
const REPLACED: usize = 32;

/// A growing set of handles, found by hash, for several workers.
pub(crate) struct Index {
    /// A [`Table`] or a [`Directory`] each, in one word.
    shares: Box<[AtomicU64]>,
    /// Entries in each share, as far as workers have told, and whether someone is growing it.
    used: Box<[AtomicU32]>,
    growing: Box<[AtomicBool]>,
    grounds: OwnLine<Mutex<Grounds>>,
    /// Counts replaced tables; workers note it at the start of a batch.
    epoch: OwnLine<AtomicU64>,
    /// The epoch in which each worker began its batch.
    noted: Box<[OwnLine<AtomicU64>]>,
    seats: AtomicUsize,
    /// [`LARGEST`], or less in tests.
    largest: u32,
}

/// Memory of the tables, and those that were replaced: (epoch, block, bytes), and their bytes together.
struct Grounds {
    arena: Arena,
    replaced: Vec<(u64, usize, usize)>,
    replaced_bytes: usize,
}

/// A worker's place at the index.
pub(crate) struct Seat {
    number: usize,
    /// Whether no other worker inserts.
    sole: bool,
    /// What it added to each share and did not tell yet.
    fresh: Box<[Fresh]>,
}

/// Entries that a worker added to a share, and after how many it tells the others.
#[derive(Clone, Copy, Debug, Default)]
struct Fresh {
    added: u16,
    until: u16,
}

impl Seat {
    /// Whether no other worker inserts.
    pub(crate) fn is_sole(&self) -> bool {
        self.sole
    }
}

/// Where a hash is looked for. It is found once, and serves as long as its share has the same table there.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spot {
    /// The table, as a word.
    table: u64,
    /// The hash bits at their place in a slot.
    wanted: u32,
    share: u16,
    /// The home bucket.
    bucket: u16,
}

/// The means that growing needs.
pub(crate) struct Means<'a> {
    /// Says whether there is memory.
    pub(crate) account: &'a dyn Account,
    /// The hash of a stored state.
    pub(crate) hash_of: &'a dyn Fn(u32) -> Hash,
    /// Asks for the memory of a stored state whose hash will be wanted.
    pub(crate) fetch: &'a dyn Fn(u32),
    /// Whether no other worker inserts.
    pub(crate) sole: bool,
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

impl Spot {
    /// The address of the home bucket.
    #[inline]
    fn home(self) -> *const u8 {
        Table::from_word(self.table).bucket(usize::from(self.bucket))
    }
}

impl Index {
    /// An empty index. `chunk` is the size in which memory is taken, a power of two.
    pub(crate) fn new(chunk: usize, account: &dyn Account) -> Option<Self> {
        let mut arena = Arena::new(chunk);
        // The handles of all entries fit until the tables double for the first time.
        let (bucket_bits, handle_bits) = if chunk >= AMPLE { (2, 17) } else { (0, 12) };
        let shares: Option<Vec<AtomicU64>> = (0..SHARES)
            .map(|_| {
                let base = arena.take(LINE << bucket_bits, account)?;
                let table = Table { base, bucket_bits, handle_bits, print_bits: 31 - handle_bits, wide: false, skip: 0 };
                table.clear();
                Some(AtomicU64::new(table.to_word()))
            })
            .collect();
        Some(Index {
            shares: shares?.into_boxed_slice(),
            used: (0..SHARES).map(|_| AtomicU32::new(0)).collect(),
            growing: (0..SHARES).map(|_| AtomicBool::new(false)).collect(),
            grounds: OwnLine(Mutex::new(Grounds { arena, replaced: Vec::new(), replaced_bytes: 0 })),
            epoch: OwnLine(AtomicU64::new(0)),
            noted: (0..SEATS).map(|_| OwnLine(AtomicU64::new(IDLE))).collect(),
            seats: AtomicUsize::new(0),
            largest: LARGEST,
        })
    }

    /// A place for one more worker; none if there are too many. A `sole` worker is the only one to insert as long as it sits there.
    pub(crate) fn seat(&self, sole: bool) -> Option<Seat> {
        let number = self.seats.fetch_add(1, Ordering::Relaxed);
        (number < SEATS).then(|| Seat { number, sole, fresh: vec![Fresh::default(); SHARES].into_boxed_slice() })
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

    /// Where a hash is looked for now.
    #[inline]
    pub(crate) fn spot(&self, hash: Hash) -> Spot {
        let share = share_of(hash);
        let word = self.word(share, hash);
        let table = Table::from_word(word);
        let (wanted, _) = table.wanted(table.print(hash));
        const { assert!(SHARES <= 1 << 16 && 2 << LARGEST <= 1 << 16) };
        Spot { table: word, wanted, share: share as u16, bucket: table.home(hash) as u16 }
    }

    /// Whether a hash is still looked for at this spot.
    #[inline]
    fn is_spot(&self, spot: Spot, hash: Hash) -> bool {
        self.word(usize::from(spot.share), hash) == spot.table
    }

    /// Asks for the home bucket.
    #[inline]
    pub(crate) fn prefetch(&self, spot: Spot) {
        prefetch_line(spot.home());
    }

    /// A handle in the home bucket whose hash bits agree: most likely the state itself, and worth prefetching.
    #[inline]
    pub(crate) fn likely(&self, hash: Hash) -> Option<u32> {
        let spot = self.spot(hash);
        let table = Table::from_word(spot.table);
        let agree = table.agreeing(usize::from(spot.bucket), spot.wanted);
        (agree != 0).then(|| table.handle_at(usize::from(spot.bucket), agree.trailing_zeros()))
    }

    /// All handles in the home bucket whose hash bits agree: in a large index with narrow slots there may be more than one. If there is none, the state is new,
    /// and its bucket is asked for to be written. The spot is renewed if it was found too long ago.
    #[inline]
    pub(crate) fn each_likely(&self, spot: &mut Spot, hash: Hash, mut each: impl FnMut(u32)) {
        if !self.is_spot(*spot, hash) {
            *spot = self.spot(hash);
        }
        let table = Table::from_word(spot.table);
        let home = usize::from(spot.bucket);
        let mut agree = table.agreeing(home, spot.wanted);
        if agree == 0 {
            prefetch_to_write(table.bucket(home));
        }
        while agree != 0 {
            each(table.handle_at(home, agree.trailing_zeros()));
            agree &= agree - 1;
        }
    }

    /// Looks for a state; `same` compares the state behind a handle. Only between [`enter`](Index::enter) and [`leave`](Index::leave).
    #[inline]
    pub(crate) fn find(&self, hash: Hash, mut same: impl FnMut(u32) -> bool) -> Found {
        loop {
            let table = self.table(share_of(hash), hash);
            match self.look(table, hash, &mut same, None::<(u32, &fn(), bool)>) {
                Looked::Found(handle) => return Found::Present(handle),
                Looked::Frozen => self.wait_for(share_of(hash), hash, table),
                _ => return Found::Absent,
            }
        }
    }

    /// Looks for a state and, if it is not there, inserts `handle` for it, after `write` made its record. The spot may be an old one.
    /// [`Found::Absent`] says that the account had no room to grow. Only between [`enter`](Index::enter) and
    /// [`leave`](Index::leave).
    #[inline(always)]
    pub(crate) fn find_or_insert(
        &self,
        seat: &mut Seat,
        (spot, hash): (Spot, Hash),
        handle: u32,
        same: impl FnMut(u32) -> bool,
        write: impl Fn(),
        means: &Means,
    ) -> Found {
        let table = Table::from_word(spot.table);
        // Most states that come here are new, and their home bucket has room and nothing that resembles them.
        if self.is_spot(spot, hash)
            && table.takes(handle)
            && let Some(slot) = table.room_beside(usize::from(spot.bucket), spot.wanted)
        {
            write();
            if table.claim(usize::from(spot.bucket), slot, u64::from(spot.wanted) | (u64::from(handle) + 1), means.sole) {
                self.count(seat, (spot, hash), handle, means);
                return Found::Inserted;
            }
        }
        self.find_or_insert_slowly(seat, hash, handle, same, write, means)
    }

    /// The same in all cases.
    #[inline(never)]
    fn find_or_insert_slowly(
        &self,
        seat: &mut Seat,
        hash: Hash,
        handle: u32,
        mut same: impl FnMut(u32) -> bool,
        write: impl Fn(),
        means: &Means,
    ) -> Found {
        let share = share_of(hash);
        loop {
            let table = self.table(share, hash);
            let too_narrow = !table.wide && !table.takes(handle);
            if too_narrow {
                if !self.grow((share, hash), table, false, handle, means) {
                    return Found::Absent;
                }
                continue;
            }
            match self.look(table, hash, &mut same, Some((handle, &write, means.sole))) {
                Looked::Found(found) => return Found::Present(found),
                Looked::Inserted => {
                    let spot = Spot { table: table.to_word(), share: share as u16, ..Spot::default() };
                    self.count(seat, (spot, hash), handle, means);
                    return Found::Inserted;
                }
                Looked::Frozen => self.wait_for(share, hash, table),
                Looked::Full | Looked::Free => {
                    if !self.grow((share, hash), table, true, handle, means) {
                        return Found::Absent;
                    }
                }
            }
        }
    }

    /// Counts an entry. If there is no room to grow, the share fills up to its last slot.
    #[inline(always)]
    fn count(&self, seat: &mut Seat, (spot, hash): (Spot, Hash), handle: u32, means: &Means) {
        let fresh = &mut seat.fresh[usize::from(spot.share)];
        fresh.added += 1;
        if fresh.added >= fresh.until {
            self.tell(fresh, (spot, hash), handle, means);
        }
    }

    /// Adds to the entries of a share, and grows it if it is nine tenths full.
    #[inline(never)]
    fn tell(&self, fresh: &mut Fresh, (spot, hash): (Spot, Hash), handle: u32, means: &Means) {
        let (share, table) = (usize::from(spot.share), Table::from_word(spot.table));
        let added = u32::from(std::mem::take(&mut fresh.added));
        // All parts of a share are about equally full.
        let slots = (table.slots() as u64) << table.share_bits();
        let used = u64::from(self.used[share].fetch_add(added, Ordering::Relaxed) + added);
        let full = (slots * FULL).div_ceil(10);
        // Workers wait for each other when they tell, so they do so seldom while there is room: what all of them have not told fills about half of it. In the
        // end each may hold one in 64 of a share's slots.
        let workers = self.seats.load(Ordering::Relaxed) as u64;
        let few = 1 << table.share_bits().saturating_sub(2).min(FLUSH.ilog2());
        fresh.until = u16::try_from(full.saturating_sub(used) / (2 * workers)).unwrap_or(u16::MAX).max(few);
        // A thread that already grows it need not be waited for.
        if used >= full && !self.growing[share].load(Ordering::Relaxed) {
            self.grow((share, hash), table, true, handle, means);
        }
    }

    /// The table that a hash of this share belongs to.
    #[inline]
    fn table(&self, share: usize, hash: Hash) -> Table {
        Table::from_word(self.word(share, hash))
    }

    /// The word of that table.
    #[inline]
    fn word(&self, share: usize, hash: Hash) -> u64 {
        let word = self.shares[share].load(Ordering::Acquire);
        match Directory::from_word(word) {
            None => word,
            Some(directory) => directory.table_word(directory.place(hash)),
        }
    }

    /// Walks from the home bucket on. With a handle, takes the first free slot.
    #[inline]
    fn look(&self, table: Table, hash: Hash, same: &mut impl FnMut(u32) -> bool, insert: Option<(u32, &impl Fn(), bool)>) -> Looked {
        let print = table.print(hash);
        let (wanted, _) = table.wanted(print);
        let home = table.home(hash);
        let mut bucket = home;
        loop {
            let Matches { mut agree, free } = table.matches(bucket, wanted);
            while agree != 0 {
                let handle = table.handle_at(bucket, agree.trailing_zeros());
                if same(handle) {
                    return Looked::Found(handle);
                }
                agree &= agree - 1;
            }
            // A slot that is still free may be taken while others are being frozen: it will be copied with the entries.
            if free != 0 {
                let Some((handle, write, sole)) = insert else { return Looked::Free };
                write();
                if table.claim(bucket, free.trailing_zeros() as usize, table.entry(handle, bucket != home, print), sole) {
                    return Looked::Inserted;
                }
                // Someone was faster: look at the bucket again.
                continue;
            }
            if table.is_frozen(bucket) {
                return Looked::Frozen;
            }
            bucket = (bucket + 1) & table.bucket_mask();
            if bucket == home {
                return Looked::Full;
            }
        }
    }

    /// Waits until a hash belongs to another table than the one given, or no one grows its share any more.
    #[cold]
    fn wait_for(&self, share: usize, hash: Hash, table: Table) {
        let mut looks = 0u32;
        while self.table(share, hash) == table && self.growing[share].load(Ordering::Acquire) {
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(SPINS) { yield_now() } else { spin_loop() }
        }
    }

    /// Makes room for `handle` in the table of a hash, and for twice the entries if `doubled`; false if there is no memory for it.
    #[cold]
    fn grow(&self, (share, hash): (usize, Hash), table: Table, doubled: bool, handle: u32, means: &Means) -> bool {
        if self.growing[share].swap(true, Ordering::Acquire) {
            self.wait_for(share, hash, table);
            return true;
        }
        // Another worker may have grown it before this one had its turn.
        let grown = self.table(share, hash) != table
            || match doubled {
                true if table.bucket_bits >= self.largest => self.split(share, hash, handle, means),
                true => self.replace(share, hash, table, Growth::Doubled, handle, means),
                false => self.replace(share, hash, table, Growth::Widened, handle, means),
            };
        self.growing[share].store(false, Ordering::Release);
        grown
    }

    /// Splits all parts of a share, one after another, since all are about equally full. False if there was no memory to split the part of this hash.
    fn split(&self, share: usize, hash: Hash, handle: u32, means: &Means) -> bool {
        let word = self.shares[share].load(Ordering::Acquire);
        let old = Directory::from_word(word);
        let before = old.map_or(0, |old| old.bits);
        let table_at = |part: usize| old.map_or(Table::from_word(word), |old| old.table(part));
        let directory = if table_at(old.map_or(0, |old| old.place(hash))).skip == before {
            let taken = self.grounds.lock().ok().and_then(|mut grounds| Directory::take(before + 1, &mut grounds.arena, means.account));
            let Some(directory) = taken else { return false };
            // Both halves lead to the tables that are there, until these are split.
            for part in 0..1 << before {
                let table = table_at(part);
                directory.put(table, part & ((1 << table.skip) - 1));
            }
            self.shares[share].store(directory.to_word(), Ordering::Release);
            if let Some(old) = old {
                self.retire(old.block());
            }
            directory
        } else {
            let Some(old) = old else { return false };
            old
        };
        let mine = directory.place(hash);
        let skip = directory.table(mine).skip;
        for part in 0..1 << directory.bits {
            let table = directory.table(part);
            // Those that were split are met again as their halves.
            if table.skip < directory.bits && !self.replace_part(directory, part, table, Growth::Split, handle, means) {
                break;
            }
        }
        directory.table(mine).skip > skip
    }

    /// Replaces the table of a hash.
    fn replace(&self, share: usize, hash: Hash, table: Table, how: Growth, handle: u32, means: &Means) -> bool {
        match Directory::from_word(self.shares[share].load(Ordering::Acquire)) {
            Some(directory) => self.replace_part(directory, directory.place(hash), table, how, handle, means),
            None => self.regrown(table, how, handle, means).is_some_and(|[grown, _]| {
                self.shares[share].store(grown.to_word(), Ordering::Release);
                self.retire((table.base as usize, table.bytes()));
                true
            }),
        }
    }

    /// Replaces the table at a place of a directory.
    fn replace_part(&self, directory: Directory, place: usize, table: Table, how: Growth, handle: u32, means: &Means) -> bool {
        let Some([grown, other]) = self.regrown(table, how, handle, means) else { return false };
        let part = place & ((1 << table.skip) - 1);
        directory.put(grown, part);
        if how == Growth::Split {
            directory.put(other, part | 1 << table.skip);
        }
        self.retire((table.base as usize, table.bytes()));
        true
    }

    /// Copies a table into a larger one, or into two (else both are the same). None if there is no memory. Memory is taken under a lock; clearing and
    /// filling it goes on beside other shares.
    fn regrown(&self, table: Table, how: Growth, handle: u32, means: &Means) -> Option<[Table; 2]> {
        let grown = {
            let mut grounds = self.grounds.lock().ok()?;
            if grounds.replaced_bytes > grounds.arena.bytes() / REPLACED {
                self.free_replaced(&mut grounds);
            }
            let taken = table.grown_pair(how, handle, &mut grounds.arena, means.account);
            taken.or_else(|| {
                self.free_replaced(&mut grounds);
                table.grown_pair(how, handle, &mut grounds.arena, means.account)
            })?
        };
        grown[0].clear();
        if how == Growth::Split {
            grown[1].clear();
        }
        let hashes = hashes_wanted(table, grown[0].wide && !table.wide, means);
        if !means.sole {
            table.freeze();
        }
        match (how == Growth::Split, grown[0].wide) {
            (true, false) => copy::<true, true>(table, grown, how, &hashes, means),
            (true, true) => copy::<true, false>(table, grown, how, &hashes, means),
            (false, false) => copy::<false, true>(table, grown, how, &hashes, means),
            (false, true) => copy::<false, false>(table, grown, how, &hashes, means),
        }
        Some(grown)
    }

    /// Frees a block when no worker can see it any more. It was replaced before.
    fn retire(&self, (base, bytes): (usize, usize)) {
        let epoch = self.epoch.fetch_add(1, Ordering::SeqCst) + 1;
        if let Ok(mut grounds) = self.grounds.lock() {
            grounds.replaced.push((epoch, base, bytes));
            grounds.replaced_bytes += bytes;
        }
    }

    /// Frees the tables that no worker can see any more.
    fn free_replaced(&self, grounds: &mut Grounds) {
        let seats = self.seats.load(Ordering::Relaxed).min(SEATS);
        // With a single worker no other can still read a replaced table: this worker is the one that is growing it.
        let oldest = if seats == 1 { IDLE } else { self.noted[..seats].iter().map(|noted| noted.0.load(Ordering::SeqCst)).min().unwrap_or(IDLE) };
        let Grounds { arena, replaced, replaced_bytes } = grounds;
        replaced.retain(|(epoch, base, bytes)| {
            let seen = *epoch > oldest;
            if !seen {
                arena.give_back(*base as *mut u8, *bytes);
                *replaced_bytes -= *bytes;
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

/// The share of a hash: its upper half as a position t in [0, 1), bent by an approximation of log2(1 + t), so that the shares' widths spread evenly
/// (by logarithm) over a factor of two.
#[inline]
fn share_of(hash: Hash) -> usize {
    let t = hash.address() >> 32;
    let bend = (t * ((1 << 32) - t)) >> 32;
    let position = t + ((bend * 1_473_664_000) >> 32);
    ((position >> 22) as usize).min(SHARES - 1)
}

#[cfg(all(test, loom))]
mod loom_tests;

#[cfg(all(test, not(loom)))]
mod tests;
