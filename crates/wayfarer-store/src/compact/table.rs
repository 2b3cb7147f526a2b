//! The table of fingerprints: finding, adding, making room by moving, growing and narrowing.
//!
//! Looking takes no lock. Adding locks the line of a fingerprint's home for a few writes, and that of its other bucket
//! if it matters, so that two workers cannot add it twice. Only one worker at a time moves entries to their other
//! buckets. It also locks both lines and counts its moves; a worker that looked while something moved looks again under
//! the locks. Growing and narrowing happen while no worker is inside (see [`super`]). A table with a single worker is
//! used without locks.

use super::shape::{self, Bucket, Filling, Place, Shape};
use crate::memory::lines::sync::{AtomicU64, Mutex, fence};
use crate::memory::lines::{Line, Lines};
use crate::memory::sweep::{PART, sweep};
use std::ops::Range;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

/// Buckets whose entries are tried before a table counts as full. Each has at least eight.
const SEARCHED: usize = 64;
/// Buckets that are looked through for locked ones at once.
const PIECE: u64 = 64 * PART;

/// Fingerprints in lines.
pub(super) struct Table {
    lines: Lines,
    /// Odd while an entry is on the move.
    moves: AtomicU64,
    moving: Mutex<()>,
}

/// The result of adding a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Put {
    Present,
    Added,
    /// Both its buckets are full and no entry could be moved away.
    NoRoom,
}

impl Table {
    pub(super) fn new(lines: Lines) -> Self {
        Table { lines, moves: AtomicU64::new(0), moving: Mutex::new(()) }
    }

    pub(super) fn lines(&self) -> &Lines {
        &self.lines
    }

    #[inline]
    fn line(&self, bucket: u64) -> &Line {
        self.lines.line(bucket as usize)
    }

    #[inline]
    pub(super) fn prefetch_home(&self, place: Place) {
        self.lines.prefetch(place.home as usize);
    }

    /// Fetches the other bucket into the cache if a lookup needs it.
    #[inline]
    pub(super) fn prefetch_other(&self, place: Place, always: bool) {
        if always || shape::spilled(self.line(place.home)) {
            self.lines.prefetch(place.other as usize);
        }
    }

    /// Whether a fingerprint is there. `alone` says that no other worker is inside.
    #[inline]
    pub(super) fn holds(&self, shape: &Shape, place: Place, alone: bool) -> bool {
        if alone {
            return self.look(shape, place);
        }
        let before = self.moves.load(Ordering::Acquire);
        let found = self.look(shape, place);
        fence(Ordering::Acquire);
        if before & 1 == 0 && self.moves.load(Ordering::Relaxed) == before {
            return found;
        }
        self.lock(place);
        let found = self.look(shape, place);
        self.unlock(place);
        found
    }

    #[inline]
    fn look(&self, shape: &Shape, place: Place) -> bool {
        let home = shape::look(self.line(place.home), shape, place.value);
        home.found || (home.spilled() && shape::look(self.line(place.other), shape, place.value | 1).found)
    }

    /// Adds a fingerprint that is not there.
    #[inline]
    pub(super) fn put(&self, shape: &Shape, place: Place, alone: bool) -> Put {
        if alone {
            let home = self.line(place.home);
            let looked = shape::look(home, shape, place.value);
            if looked.found || (looked.spilled() && shape::look(self.line(place.other), shape, place.value | 1).found) {
                return Put::Present;
            }
            if looked.free(shape) {
                shape::push(home, shape, place.value);
                return Put::Added;
            }
        } else if let Some(put) = self.put_at_home(shape, place) {
            return put;
        }
        self.put_anywhere(shape, place, alone)
    }

    /// The common case among several workers: the fingerprint is there, or there is room at home and no entry from home
    /// lies elsewhere. A worker that adds a fingerprint locks its home, and in this case nothing else. If nothing was
    /// added or moved between looking and locking, one look is enough.
    #[inline]
    fn put_at_home(&self, shape: &Shape, place: Place) -> Option<Put> {
        let home = self.line(place.home);
        let before = self.moves.load(Ordering::Acquire);
        if before & 1 == 1 {
            return None;
        }
        let looked = shape::look(home, shape, place.value);
        if looked.found || looked.spilled() {
            let found = looked.found || shape::look(self.line(place.other), shape, place.value | 1).found;
            fence(Ordering::Acquire);
            return (found && self.moves.load(Ordering::Relaxed) == before).then_some(Put::Present);
        }
        if !looked.free(shape) || !shape::lock_unchanged(home, looked) {
            return None;
        }
        // Who moves an entry counts first and then waits for the lock that is held here.
        if self.moves.load(Ordering::Acquire) != before {
            shape::unlock(home);
            return None;
        }
        // That unlocks it.
        shape::push(home, shape, place.value);
        Some(Put::Added)
    }

    /// Adds a fingerprint to either of its buckets, both locked, and makes room if there is none.
    fn put_anywhere(&self, shape: &Shape, place: Place, alone: bool) -> Put {
        // A moved entry may leave a slot that another worker takes, and a way may cross itself, so a few tries are fair.
        for _ in 0..8 {
            if !alone {
                self.lock(place);
                if self.look(shape, place) {
                    self.unlock(place);
                    return Put::Present;
                }
            }
            let (home, other) = (self.line(place.home), self.line(place.other));
            if shape::count(home, shape) < shape.slots() {
                shape::push(home, shape, place.value);
                shape::unlock(other);
                return Put::Added;
            }
            if shape::count(other, shape) < shape.slots() {
                // The mark first: who sees no mark does not look there.
                shape::mark_spilled(home);
                shape::push(other, shape, place.value | 1);
                return Put::Added;
            }
            if !alone {
                self.unlock(place);
            }
            if !self.make_room(shape, place, alone) {
                break;
            }
        }
        Put::NoRoom
    }

    fn lock(&self, place: Place) {
        // Always in the order of the lines, so that no two workers wait for each other. The two buckets of a place differ.
        shape::lock(self.line(place.home.min(place.other)));
        shape::lock(self.line(place.home.max(place.other)));
    }

    fn unlock(&self, place: Place) {
        shape::unlock(self.line(place.home));
        shape::unlock(self.line(place.other));
    }

    /// Frees a slot in one of the two buckets by moving entries to their other buckets, the fewest that do; false if no way was found.
    #[cold]
    fn make_room(&self, shape: &Shape, place: Place, alone: bool) -> bool {
        let _moving = self.moving.lock().unwrap_or_else(PoisonError::into_inner);
        // Full buckets in the order in which they were met: each with the one before it, and the entry there that could move here.
        let mut met: Vec<(u64, usize, u64)> = vec![(place.home, usize::MAX, 0), (place.other, usize::MAX, 0)];
        let mut at = 0;
        while at < met.len().min(SEARCHED) {
            let bucket = met[at].0;
            let entries = Bucket::read(self.line(bucket));
            if entries.count(shape) < shape.slots() {
                // Someone else made room meanwhile.
                self.move_along(shape, &met, at, alone);
                return true;
            }
            for value in entries.entries(shape) {
                self.lines.prefetch(shape.across(bucket, value) as usize);
            }
            for value in entries.entries(shape) {
                let across = shape.across(bucket, value);
                met.push((across, at, value));
                if shape::count(self.line(across), shape) < shape.slots() {
                    self.move_along(shape, &met, met.len() - 1, alone);
                    return true;
                }
            }
            at += 1;
        }
        false
    }

    /// Moves entries along the way that led to bucket `end` of those met, the last first. It ends early if another
    /// worker took the room meanwhile or the way crosses itself. The entries have moved by then, so it is worth looking
    /// for another way.
    fn move_along(&self, shape: &Shape, met: &[(u64, usize, u64)], mut end: usize, alone: bool) {
        let moves = self.moves.load(Ordering::Relaxed);
        self.moves.store(moves + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        while let (to, before, value) = met[end]
            && before != usize::MAX
            && self.move_entry(shape, met[before].0, to, value, alone)
        {
            end = before;
        }
        self.moves.store(moves + 2, Ordering::Release);
    }

    fn move_entry(&self, shape: &Shape, from: u64, to: u64, value: u64, alone: bool) -> bool {
        let both = Place { home: from, other: to, value };
        if !alone {
            self.lock(both);
        }
        let (mut source, mut target) = (Bucket::read(self.line(from)), Bucket::read(self.line(to)));
        let slot = source.entries(shape).position(|entry| entry == value);
        let moved = match slot {
            Some(slot) if target.count(shape) < shape.slots() => {
                target.push(shape, value ^ 1);
                source.remove(shape, slot as u32);
                if value & 1 == 0 {
                    source.set_spilled();
                }
                true
            }
            _ => false,
        };
        if moved {
            // Writing a line unlocks it.
            target.write(self.line(to));
            source.write(self.line(from));
        } else if !alone {
            self.unlock(both);
        }
        moved
    }

    /// Spreads the entries over more buckets, at most four for each, in place, on so many threads. No other worker may be inside.
    pub(super) fn grow(&self, shape: &Shape, grown: &Shape, hands: usize) {
        self.lines.offer_large_pages(shape.buckets() as usize..grown.buckets() as usize);
        let parts = grown.buckets() / shape.buckets();
        let mut until = shape.buckets();
        while until > 0 {
            // Bucket n goes to 2n and 2n + 1, or to 4n and the three after it. The upper buckets go past all that were
            // not read yet, so they can be spread in any order. The rest is spread from the last bucket down.
            let from = if hands > 1 && until > PART { until.div_ceil(parts) } else { 0 };
            sweep(from..until, if from > 0 { hands } else { 1 }, |buckets| self.spread(shape, grown, buckets));
            until = from;
        }
        self.return_home(grown, hands);
    }

    /// Spreads the entries of some buckets, from the last one down.
    fn spread(&self, shape: &Shape, grown: &Shape, buckets: Range<u64>) {
        let parts = (grown.buckets() / shape.buckets()) as usize;
        for bucket in buckets.rev() {
            let entries = Bucket::read(self.line(bucket));
            let mut filled = [Filling::default(); 4];
            for value in entries.entries(shape) {
                let (to, value) = shape.grown_entry(grown, bucket, value);
                filled[to as usize & (parts - 1)].push(grown, value);
            }
            for (part, to) in filled[..parts].iter().zip(parts as u64 * bucket..) {
                part.write(grown, self.line(to));
            }
        }
    }

    /// Brings the entries of locked lines back to their home buckets, and marks those that have no room for them. No other worker may be inside, and no bucket
    /// is marked as spilled.
    fn return_home(&self, shape: &Shape, hands: usize) {
        let locked = |buckets: Range<u64>| buckets.filter(|bucket| shape::is_locked(self.line(*bucket))).collect::<Vec<_>>();
        // Few are locked. They are found on all threads, piece by piece so that the lists stay short, and moved by one.
        for from in (0..shape.buckets()).step_by(PIECE as usize) {
            let piece = from..shape.buckets().min(from + PIECE);
            sweep(piece, hands, locked).into_iter().flatten().for_each(|bucket| self.return_from(shape, bucket));
        }
    }

    /// The same for one locked line.
    fn return_from(&self, shape: &Shape, bucket: u64) {
        let line = self.line(bucket);
        let mut entries = Bucket::read(line);
        for slot in (0..entries.count(shape)).rev() {
            let value = entries.get(shape, slot);
            if value & 1 == 0 {
                continue;
            }
            let home = self.line(shape.across(bucket, value));
            let (locked, room) = (shape::is_locked(home), shape::count(home, shape) < shape.slots());
            if room {
                shape::push(home, shape, value ^ 1);
                entries.remove(shape, slot);
            } else {
                shape::mark_spilled(home);
            }
            if locked {
                shape::lock(home);
            }
        }
        entries.write(line);
    }

    /// Drops bits of every entry, in place, bucket by bucket, on so many threads; gives the number of entries that are left. No other worker may be inside.
    pub(super) fn narrow(&self, shape: &Shape, narrow: &Shape, hands: usize) -> u64 {
        sweep(0..shape.buckets(), hands, |buckets| self.narrow_some(shape, narrow, buckets)).into_iter().sum()
    }

    fn narrow_some(&self, shape: &Shape, narrow: &Shape, buckets: Range<u64>) -> u64 {
        let mut left = 0;
        let mut kept = Vec::with_capacity(shape.slots() as usize);
        for bucket in buckets {
            let entries = Bucket::read(self.line(bucket));
            kept.clear();
            kept.extend(entries.entries(shape).map(|value| shape.narrowed_entry(narrow, value)));
            if !narrow.keeps_many() {
                // Entries that cannot be told apart any more share a slot.
                kept.sort_unstable();
                kept.dedup();
            }
            let mut packed = Filling::default();
            kept.iter().for_each(|value| packed.push(narrow, *value));
            packed.write_spilled(entries.spilled(), narrow, self.line(bucket));
            left += kept.len() as u64;
        }
        left
    }
}

/// Tries all interleavings of two workers with up to two preemptions, one if entries move (loom):
///
///     RUSTFLAGS="--cfg loom" cargo test --release -p wayfarer-store --lib loom
#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::Unlimited;
    use wayfarer_space::hash;

    /// A table in which most slots are filled, and the addresses of what is in it.
    fn filled(buckets: u64, shape: &Shape, part: u64) -> (Table, Vec<u64>) {
        let table = Table::new(Lines::take(buckets as usize, &Unlimited).unwrap());
        let addresses = (0..).map(|key| hash(&[key]).address());
        let wanted = (shape.capacity() * part / 100) as usize;
        let added = addresses.filter(|address| matches!(table.put(shape, shape.place(*address), true), Put::Added)).take(wanted).collect();
        (table, added)
    }

    /// Checks that everything is found, that nothing else is there, and that the lines are unlocked and marked rightly. Gives the number of guests: entries in their other bucket.
    fn check(table: &Table, shape: &Shape, addresses: &[u64]) -> usize {
        assert!(addresses.iter().all(|address| table.holds(shape, shape.place(*address), true)));
        let (mut entries, mut guests) = (0, 0);
        for at in 0..shape.buckets() {
            assert!(!shape::is_locked(table.line(at)), "line {at}");
            for value in Bucket::read(table.line(at)).entries(shape) {
                entries += 1;
                if value & 1 == 1 {
                    guests += 1;
                    assert!(shape::spilled(table.line(shape.across(at, value))), "the home of a guest in line {at}");
                }
            }
        }
        assert_eq!(entries, addresses.len());
        guests
    }

    #[test]
    fn a_table_that_grows_brings_its_guests_home() {
        for hands in [1, 3, 8] {
            for doublings in [1, 2] {
                let shape = Shape::new(5 * PART, doublings, 40);
                let grown = shape.grown(doublings).unwrap();
                let (table, addresses) = filled(grown.buckets(), &shape, 95);
                let before = check(&table, &shape, &addresses);
                table.grow(&shape, &grown, hands);
                let after = check(&table, &grown, &addresses);
                // A few homes are still full after one doubling.
                assert!(before > addresses.len() / 50 && 20 * after < before, "{hands} threads: {before} and then {after} guests");
            }
        }
    }

    #[test]
    fn guests_stay_where_their_homes_are_full() {
        for hands in [1, 3, 8] {
            let shape = Shape::new(5 * PART, 0, 40);
            let (table, addresses) = filled(shape.buckets(), &shape, 97);
            let before = check(&table, &shape, &addresses);
            // As a table that has just grown: lines with guests are locked, and none is marked.
            for at in 0..shape.buckets() {
                let mut filling = Filling::default();
                Bucket::read(table.line(at)).entries(&shape).for_each(|value| filling.push(&shape, value));
                filling.write(&shape, table.line(at));
            }
            table.return_home(&shape, hands);
            let after = check(&table, &shape, &addresses);
            assert!(0 < after && after <= before, "{before} and then {after} guests");
        }
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::Unlimited;
    use loom::sync::Arc;
    use wayfarer_space::hash;

    /// Four buckets of eight slots.
    fn shape() -> Shape {
        Shape::new(4, 0, 56)
    }

    /// Places of different fingerprints that are at home in `home` and whose other bucket is `other`.
    fn places(home: u64, other: u64) -> impl Iterator<Item = Place> {
        (0..).map(|key| shape().place(hash(&[key]).address())).filter(move |place| (place.home, place.other) == (home, other))
    }

    /// Puts `filling` into a table alone, then runs both closures at once with at most `turns` preemptions.
    fn meet(turns: usize, filling: Vec<Place>, first: fn(&Table) -> Put, second: fn(&Table) -> Put, check: fn(&Table, Put, Put)) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(turns);
        model.max_branches = 100_000;
        model.check(move || {
            let table = Arc::new(Table::new(Lines::take(4, &Unlimited).unwrap()));
            for place in &filling {
                assert_eq!(table.put(&shape(), *place, true), Put::Added);
            }
            let other = {
                let table = Arc::clone(&table);
                loom::thread::spawn(move || second(&table))
            };
            let mine = first(&table);
            check(&table, mine, other.join().unwrap());
        });
    }

    fn put(table: &Table, place: Place) -> Put {
        table.put(&shape(), place, false)
    }

    fn once(_: &Table, first: Put, second: Put) {
        assert!(matches!((first, second), (Put::Added, Put::Present) | (Put::Present, Put::Added)), "{first:?}, {second:?}");
    }

    #[test]
    fn loom_a_fingerprint_is_added_once_at_home() {
        let same = |table: &Table| put(table, places(1, 2).next().unwrap());
        meet(2, Vec::new(), same, same, once);
    }

    #[test]
    fn loom_a_fingerprint_is_added_once_elsewhere() {
        let same = |table: &Table| put(table, places(1, 2).nth(8).unwrap());
        meet(2, places(1, 2).take(8).collect(), same, same, once);
    }

    #[test]
    fn loom_two_fingerprints_are_both_kept() {
        let (first, second) = (|table: &Table| put(table, places(1, 2).nth(0).unwrap()), |table: &Table| put(table, places(1, 3).nth(0).unwrap()));
        meet(2, Vec::new(), first, second, |table, first, second| {
            assert_eq!((first, second), (Put::Added, Put::Added));
            assert!(table.holds(&shape(), places(1, 2).next().unwrap(), true) && table.holds(&shape(), places(1, 3).next().unwrap(), true));
        });
    }

    /// Both buckets of one more fingerprint are full, so that an entry has to move away.
    fn crowded() -> Vec<Place> {
        places(1, 2).take(8).chain(places(2, 3).take(8)).collect()
    }

    #[test]
    fn loom_an_entry_on_the_move_is_still_found() {
        // Whichever entry moves, the one that is looked for may be it.
        let add = |table: &Table| put(table, places(1, 2).nth(8).unwrap());
        let look = |table: &Table| if table.holds(&shape(), places(2, 3).next().unwrap(), false) { Put::Present } else { Put::NoRoom };
        meet(1, crowded(), add, look, |_, added, found| assert_eq!((added, found), (Put::Added, Put::Present)));
    }

    #[test]
    fn loom_an_entry_on_the_move_is_not_added_again() {
        let add = |table: &Table| put(table, places(1, 2).nth(8).unwrap());
        let again = |table: &Table| put(table, places(2, 3).next().unwrap());
        meet(1, crowded(), add, again, |_, added, found| assert_eq!((added, found), (Put::Added, Put::Present)));
    }
}
