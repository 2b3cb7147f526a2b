//! The compact store: a fingerprint per state, and fewer bits of it when room runs out.
//!
//! Sources and departures:
//! - Hash compaction (Stern, Dill 1995, *Improved probabilistic verification by hash compaction*): a state is known by
//!   b bits of its hash. A new state whose fingerprint is already there is omitted. Expected omissions are computed
//!   from the states found new, not from a bound on the states to come.
//! - Quotienting (Cleary 1984, *Compact hash tables using bidirectional linear probing*): the address carries part of
//!   the fingerprint. Cleary uses runs with three bits per slot. Here an entry lies in one of two cache lines, and one
//!   bit says in which (a bucketed cuckoo table). Lookups touch one line until a bucket has spilled and two after that,
//!   and 99 % of the slots are filled before a state finds no place.
//! - Elastic storage (Dillinger, Manolios 2009, *Fast, all-purpose state storage*): when the table is full, slots
//!   become narrower in place. Theirs works on the cells of a Cleary table. Here each line is repacked by itself, with
//!   a quarter more slots at a time, or an eighth if few bits are left, so that precision falls in small steps. The
//!   same in reverse lets a table start with few buckets and grow inside the memory that was reserved for it, touching
//!   pages only as it needs them.
//!
//! All memory is taken from the account at the start. An [elastic](CompactStore::elastic) store takes it as the table
//! grows; when fingerprints would become too short it turns into a [`filter`] instead of being full. Growing and
//! narrowing stop the workers at the edge of a group of candidates (a read-write lock, held by workers for a group at a
//! time) for one pass over the table. Everything else runs in parallel (see [`table`]).

mod filter;
mod precision;
mod scan;
mod shape;
mod table;

use crate::memory::lines::Lines;
use crate::memory::own_line::OwnLine;
use crate::memory::sweep::hands;
use crate::rows::{FINGERPRINTS, as_given};
use crate::spec::{Accepts, Entry, Parameter, SpecError, widened};
use crate::{Abilities, Account, Candidates, DeviceKeeps, ExactStore, Fidelity, Figures, Forget, Handle, Recall, Remember, Seat, StoreRow, Visit};
pub use precision::Precision;
use precision::omissions_between;
use shape::{FEWEST, FIRST, Place, STEER, Shape};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};
use table::{Put, Table};
use wayfarer_space::Hash;

/// The row of `compact`.
pub(crate) static ROW: StoreRow = StoreRow {
    entry: Entry {
        name: "compact",
        help: "a fingerprint of each state, which gives up bits when memory is full",
        parameters: &[
            Parameter::new("bits", Accepts::Number(widened(&CompactStore::BITS)), "64", "the bits of a fingerprint at first"),
            Parameter::new("floor", Accepts::Number(widened(&CompactStore::BITS)), "24", "the fewest bits that it may fall to"),
        ],
    },
    abilities: Abilities { device: DeviceKeeps::Fingerprint, ..FINGERPRINTS },
    agree: |given| {
        let (bits, floor) = (given.number("bits").unwrap_or(0), given.number("floor").unwrap_or(0));
        if floor > bits && given.stated("floor") {
            let accepted = format!("at most bits, here {} to {bits}", CompactStore::BITS.start());
            return Err(SpecError::BadValue { part: "store `compact`".to_owned(), parameter: "floor", value: floor.to_string(), accepted });
        }
        Ok(given.with("floor", Some(floor.min(bits).to_string())))
    },
    least: |_, most| ExactStore::least(most),
    settle: as_given,
    takes: |given, room| {
        let (bits, floor) = (given.number("bits").unwrap_or(0), given.number("floor").unwrap_or(0));
        (room.fixed, format!("gives up bits, down to {floor}, before it is full at {bits}; touched as it is used"))
    },
    build: |given, room| {
        let bits = |name: &str| given.number(name).unwrap_or(0) as u32;
        Some(Box::new(CompactStore::new(bits("bits"), bits("floor"), room.fixed, room.account)?))
    },
};

/// The handle of states that cannot be given back.
const NOWHERE: Handle = Handle(u32::MAX);
/// The part of the slots that is taken when a table gives up bits, if it has several workers.
const CROWDED: (u64, u64) = (31, 32);
/// The most candidates that a worker visits before others may grow or narrow the table.
const GROUP: usize = 1024;
/// How many states ahead of a visit its first cache line is asked for; the second is at half of that.
const AHEAD: usize = 32;
const LINE: usize = 64;
/// Bits in a slot of an elastic store below which a filter soon errs less.
const LEAST_KEPT: u32 = 20;

/// Remembers a fingerprint of each state.
pub struct CompactStore<'a> {
    table: Table,
    /// For a store that takes its memory as it grows.
    account: Option<&'a dyn Account>,
    /// Changes the hash, so that stores with different salts err about different states. 0 leaves it as it is.
    salt: u64,
    regime: OwnLine<RwLock<Regime>>,
    /// States found new, and fingerprints in the table.
    len: OwnLine<AtomicU64>,
    entries: OwnLine<AtomicU64>,
    /// How often the filter knew a state. It cannot have omitted more.
    known: OwnLine<AtomicU64>,
}

/// The parts that change only while no worker is inside.
#[derive(Clone, Copy, Debug)]
struct Regime {
    shape: Shape,
    /// The fewest bits that a slot may keep.
    floor: u32,
    seats: usize,
    lowered: u32,
    full_at: Option<u64>,
    /// No more can be done for room.
    full: bool,
    /// Omissions expected until precision was lowered last, and the entries that were left then.
    omissions: f64,
    counted: u64,
    /// Whether it turns into a filter before it is full, and the filter once it has.
    turns: bool,
    filter: Option<filter::Sums>,
}

/// A worker's place at a compact store.
struct CompactSeat;

impl<'a> CompactStore<'a> {
    /// The fewest and the most bits of a fingerprint.
    pub const BITS: std::ops::RangeInclusive<u32> = 16..=64;

    /// The least number of bytes a store needs.
    pub const LEAST: usize = (FEWEST as usize + 1) * LINE;

    /// An empty store in at most `bytes` bytes. It keeps at least `bits` bits of fingerprint per state and, when it is
    /// full, fewer, down to `floor`. Bits outside [`BITS`](CompactStore::BITS) count as the nearest; if `floor` is at
    /// least `bits`, the store never gives up bits. It takes less memory than it may if its fingerprints could not fill
    /// it. None if the account refuses or `bytes` is below [`LEAST`](CompactStore::LEAST).
    pub fn new(bits: u32, floor: u32, bytes: usize, account: &dyn Account) -> Option<Self> {
        let bits = bits.clamp(*Self::BITS.start(), *Self::BITS.end());
        let lines = Self::lines_in(bits, bytes)?;
        let left = (lines / FIRST).checked_ilog2().unwrap_or(0);
        let lines = Lines::take((lines >> left << left) as usize, account)?;
        Some(Self::of(lines, left, (bits, floor.clamp(*Self::BITS.start(), bits)), None, 0))
    }

    /// An empty store in at most `bytes` bytes that takes them from the account only as its table grows. It gives up
    /// bits if it cannot grow, and turns into a filter if too few bits would be left, so it is never full. Stores with
    /// different salts err about different states. It takes fewer bytes if the system refuses as many, and is None if
    /// `bytes` is below [`LEAST`](CompactStore::LEAST) or the system refuses any.
    pub fn elastic(bytes: usize, salt: u64, account: &'a dyn Account) -> Option<Self> {
        // The store that this one follows may still hold most of a limited address space.
        let sizes = std::iter::successors(Some(bytes), |bytes| Some(bytes / 4 * 3));
        let (lines, left) = sizes.map_while(|bytes| Self::lines_in(64, bytes)).find_map(|lines| {
            let left = (lines / FIRST).checked_ilog2().unwrap_or(0).max((lines / FEWEST).ilog2().min(4));
            Some((Lines::reserve((lines >> left << left) as usize)?, left))
        })?;
        let first = (lines.len() as u64) >> left;
        account.charge(first as usize * LINE);
        let floor = ((first as f64).log2() as u32 + LEAST_KEPT).max(*Self::BITS.start());
        Some(Self::of(lines, left, (64, floor + left), Some(account), salt))
    }

    /// The number of lines that a store of fingerprints of `bits` bits has in `bytes` bytes.
    fn lines_in(bits: u32, bytes: usize) -> Option<u64> {
        let lines = (bytes.checked_sub(LINE)? / LINE) as u64;
        // A slot always keeps seven bits, so more buckets would only make fingerprints longer than asked for.
        Some(lines.min(1 << (bits - STEER).min(40))).filter(|lines| *lines >= FEWEST)
    }

    fn of(lines: Lines, left: u32, (bits, floor): (u32, u32), account: Option<&'a dyn Account>, salt: u64) -> Self {
        let buckets = lines.len() as u64;
        let fewest = buckets >> left;
        let kept = |bits: u32| ((f64::from(bits) - (buckets as f64).log2()).ceil() as u32).max(STEER);
        let shape = Shape::new(fewest, left, kept(bits));
        lines.offer_large_pages(0..fewest as usize);
        let turns = account.is_some();
        let floor = kept(floor);
        let regime = Regime { shape, floor, seats: 0, lowered: 0, full_at: None, full: false, omissions: 0.0, counted: 0, turns, filter: None };
        let regime = OwnLine(RwLock::new(regime));
        CompactStore {
            table: Table::new(lines),
            account,
            salt,
            regime,
            len: OwnLine::default(),
            entries: OwnLine::default(),
            known: OwnLine::default(),
        }
    }

    /// Expected omissions and the present size of fingerprints.
    pub fn precision(&self) -> Precision {
        let regime = self.enter();
        let shape = regime.shape;
        let entries = self.entries.load(Ordering::Relaxed);
        let fingerprints = shape.fingerprints();
        let kept_at_floor = regime.floor + shape.rest().saturating_sub(regime.rest_at_full_size());
        Precision {
            bits: fingerprints.log2(),
            floor: ((shape.buckets() as f64).log2() + f64::from(kept_at_floor)).min(64.0),
            lowered: regime.lowered,
            full_at: regime.full_at,
            states: self.len.load(Ordering::Relaxed),
            load: entries as f64 / shape.capacity() as f64,
            expected_omissions: match regime.filter {
                Some(sums) => regime.omissions + sums.omissions.min(self.known.load(Ordering::Relaxed) as f64),
                None => regime.omissions + omissions_between(regime.counted as f64, entries as f64, fingerprints),
            },
        }
    }

    /// Whether fingerprints have given way to a filter, and then the odds that the next new state is taken for known.
    pub fn filtering(&self) -> Option<f64> {
        let regime = self.enter();
        regime.filter.map(|sums| sums.odds(&regime.shape))
    }

    /// Takes in a state by its hash alone, as those do that move states from one store to another.
    pub fn learn(&self, hashes: &[Hash]) {
        let mut visits = Vec::with_capacity(hashes.len());
        let mut room = u64::MAX;
        self.visit_all(hashes, None, &mut room, &mut visits);
    }

    /// The bytes its table has in use now.
    fn in_use(&self, shape: &Shape) -> usize {
        shape.buckets() as usize * LINE
    }

    fn enter(&self) -> RwLockReadGuard<'_, Regime> {
        self.regime.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes room after a worker that saw the shape `seen` found little or none, unless another worker has done so:
    /// more buckets or, if room is `needed`, fewer bits.
    #[cold]
    fn make_room(&self, seen: Shape, needed: bool) {
        let mut regime = self.regime.write().unwrap_or_else(PoisonError::into_inner);
        if regime.shape != seen || regime.full || regime.filter.is_some() {
            return;
        }
        if let Some(grown) = self.grown(&seen) {
            self.table.grow(&seen, &grown, hands(regime.seats));
            regime.shape = grown;
            return;
        }
        if !needed {
            return;
        }
        let entries = self.entries.load(Ordering::Relaxed);
        regime.full_at.get_or_insert(self.len.load(Ordering::Relaxed));
        let omissions = omissions_between(regime.counted as f64, entries as f64, seen.fingerprints());
        match seen.narrowed(regime.floor) {
            Some(narrow) => {
                regime.omissions += omissions;
                regime.counted = self.table.narrow(&seen, &narrow, hands(regime.seats));
                self.entries.store(regime.counted, Ordering::Relaxed);
                regime.shape = narrow;
                regime.lowered += 1;
            }
            None if regime.turns => {
                regime.omissions += omissions;
                regime.filter = Some(filter::convert(self.table.lines(), &seen));
            }
            None => regime.full = true,
        }
    }

    /// A larger shape that the account has room for.
    fn grown(&self, seen: &Shape) -> Option<Shape> {
        let Some(account) = self.account else { return seen.grown(2) };
        let more = |grown: &Shape| self.in_use(grown) - self.in_use(seen);
        let grown = [2, 1].into_iter().filter_map(|most| seen.grown(most)).find(|grown| account.allows(more(grown)))?;
        account.charge(more(&grown));
        Some(grown)
    }

    /// Visits states while the lines of later states are fetched into the cache: first the home line, then the other
    /// one if entries of the home line lie there or `both` is set. Ends early if `visit` says so. Additional hints some
    /// hundred states ahead made visits slower by a third.
    #[inline]
    fn pipeline(&self, shape: &Shape, hashes: &[Hash], both: bool, mut visit: impl FnMut(Place) -> bool) {
        let mut places = [Place::default(); AHEAD];
        for at in 0..hashes.len() + AHEAD {
            // This state's place overwrites that of the state `AHEAD` before it, which is visited now.
            if at >= AHEAD && !visit(places[at % AHEAD]) {
                return;
            }
            if at >= AHEAD / 2 && at - AHEAD / 2 < hashes.len() {
                self.table.prefetch_other(places[(at - AHEAD / 2) % AHEAD], both);
            }
            if let Some(hash) = hashes.get(at) {
                let place = shape.place(self.address(*hash));
                self.table.prefetch_home(place);
                places[at % AHEAD] = place;
            }
        }
    }

    #[inline]
    fn address(&self, hash: Hash) -> u64 {
        if self.salt == 0 {
            return hash.address();
        }
        // States that agree in one half of their hashes are told apart by the other.
        let mixed = (hash.address() ^ self.salt).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        (mixed ^ (mixed >> 32) ^ hash.second()).wrapping_mul(0xA076_1D64_78BD_642F)
    }

    /// Visits a group. If room runs out in the middle, returns the shape at that moment and whether there is no more room at all.
    fn visit_group(&self, hashes: &[Hash], mask: Option<&[bool]>, room: &mut u64, visits: &mut Vec<Visit>) -> Option<(Shape, bool)> {
        let regime = self.enter();
        if regime.filter.is_some() {
            drop(regime);
            self.filter_group(hashes, mask, room, visits);
            return None;
        }
        let (shape, alone) = (regime.shape, regime.seats <= 1);
        let (mut new, mut trouble, mut at) = (0, None, 0);
        self.pipeline(&shape, hashes, false, |place| {
            let masked = mask.is_some_and(|mask| !mask[at]);
            at += 1;
            let visit = if masked {
                Visit::Skipped
            } else if *room == 0 || regime.full {
                let seen = self.table.holds(&shape, place, alone);
                if seen { Visit::Seen(NOWHERE) } else { Visit::Full }
            } else {
                match self.table.put(&shape, place, alone) {
                    Put::Present => Visit::Seen(NOWHERE),
                    Put::Added => {
                        *room -= 1;
                        new += 1;
                        Visit::New(NOWHERE)
                    }
                    Put::NoRoom => {
                        trouble = Some((shape, true));
                        return false;
                    }
                }
            };
            visits.push(visit);
            true
        });
        if new > 0 {
            self.len.fetch_add(new, Ordering::Relaxed);
            let entries = self.entries.fetch_add(new, Ordering::Relaxed) + new;
            // Nearly full tables are slow, so the table grows early while there is memory left. Among several workers it also gives up bits early: only one at a
            // time looks for the last free slots, and the others wait for it.
            if trouble.is_none() && !alone && entries > shape.capacity() / CROWDED.1 * CROWDED.0 && regime.can_give_up_bits() {
                trouble = Some((shape, true));
            } else if trouble.is_none() && shape.may_grow() && entries > shape.capacity() / 4 * 3 {
                trouble = Some((shape, false));
            }
        }
        trouble
    }

    /// Visits a group in the filter.
    #[inline(never)]
    fn filter_group(&self, hashes: &[Hash], mask: Option<&[bool]>, room: &mut u64, visits: &mut Vec<Visit>) {
        // Nothing but the filter's sums changes from here on.
        let shape = self.enter().shape;
        let lines = self.table.lines();
        let (mut new, mut added, mut at, mut known) = (0, (0, 0.0), 0, 0);
        self.pipeline(&shape, hashes, true, |place| {
            let masked = mask.is_some_and(|mask| !mask[at]);
            at += 1;
            visits.push(if masked {
                Visit::Skipped
            } else if *room == 0 {
                if filter::holds(lines, place) { Visit::Seen(NOWHERE) } else { Visit::Full }
            } else if let Some((set, power)) = filter::put(lines, place) {
                (*room, new, added) = (*room - 1, new + 1, (added.0 + u64::from(set), added.1 + power));
                Visit::New(NOWHERE)
            } else {
                known += 1;
                Visit::Seen(NOWHERE)
            });
            true
        });
        self.known.fetch_add(known, Ordering::Relaxed);
        if new > 0 {
            self.len.fetch_add(new, Ordering::Relaxed);
            let mut regime = self.regime.write().unwrap_or_else(PoisonError::into_inner);
            if let Some(sums) = &mut regime.filter {
                sums.settle(&shape, new, added);
            }
        }
    }

    fn visit_all(&self, hashes: &[Hash], mask: Option<&[bool]>, room: &mut u64, visits: &mut Vec<Visit>) {
        while visits.len() < hashes.len() {
            let from = visits.len();
            let until = hashes.len().min(from + GROUP);
            let trouble = self.visit_group(&hashes[from..until], mask.map(|mask| &mask[from..until]), room, visits);
            if let Some((shape, needed)) = trouble {
                self.make_room(shape, needed);
            }
        }
    }
}

impl Drop for CompactStore<'_> {
    fn drop(&mut self) {
        if let Some(account) = self.account {
            account.refund(self.in_use(&self.enter().shape));
        }
    }
}

impl Regime {
    /// Whether a table without room would still take states.
    fn can_give_up_bits(&self) -> bool {
        !self.full && (self.turns || self.shape.narrowed(self.floor).is_some())
    }

    /// Bits that a slot would keep now if the table had its full size.
    fn rest_at_full_size(&self) -> u32 {
        let mut shape = self.shape;
        while let Some(grown) = shape.grown(2) {
            shape = grown;
        }
        shape.rest()
    }
}

impl Remember for CompactStore<'_> {
    fn seat(&self) -> Option<Seat> {
        self.regime.write().unwrap_or_else(PoisonError::into_inner).seats += 1;
        Some(Seat::new(CompactSeat))
    }

    fn probe(&self, _seat: &mut Seat, candidates: Candidates, visits: &mut Vec<Visit>) {
        visits.clear();
        for hashes in candidates.steps.hashes.chunks(GROUP) {
            let regime = self.enter();
            let (shape, alone, filters) = (regime.shape, regime.seats <= 1, regime.filter.is_some());
            let mut known = 0;
            self.pipeline(&shape, hashes, filters, |place| {
                let seen = if filters { filter::holds(self.table.lines(), place) } else { self.table.holds(&shape, place, alone) };
                known += u64::from(seen && filters);
                visits.push(if seen { Visit::Seen(NOWHERE) } else { Visit::New(NOWHERE) });
                true
            });
            self.known.fetch_add(known, Ordering::Relaxed);
        }
    }

    fn insert(&self, _seat: &mut Seat, candidates: Candidates, mask: Option<&[bool]>, mut room: u64, visits: &mut Vec<Visit>) {
        visits.clear();
        self.visit_all(&candidates.steps.hashes, mask, &mut room, visits);
    }

    fn len(&self) -> u64 {
        self.len.load(Ordering::Relaxed)
    }

    fn fidelity(&self) -> Fidelity {
        Fidelity::Lossy(self.precision().expected_omissions)
    }

    fn bytes(&self) -> usize {
        if self.account.is_some() { self.in_use(&self.enter().shape) } else { self.table.lines().bytes() }
    }

    fn figures(&self) -> Figures {
        let (precision, bytes) = (self.precision(), self.bytes() as f64);
        let figures = match self.filtering() {
            Some(odds) => Figures::default().most("odds that a new state is omitted", Some(odds)),
            None => Figures::default().mean("fingerprint bits", precision.bits, bytes),
        };
        let figures = figures.sum("times bits were given up", f64::from(precision.lowered));
        figures.most("probability that any state was omitted", Some(precision.any_omission()))
    }
}

impl Recall for CompactStore<'_> {}

impl Forget for CompactStore<'_> {}
