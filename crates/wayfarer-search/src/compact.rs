//! The compact store: a fingerprint per state, and fewer bits of it when room runs out.
//!
//! Sources and departures:
//! - Hash compaction (Stern, Dill 1995, *Improved probabilistic verification by hash compaction*): states are known by b bits of a hash, and a state whose
//!   fingerprint is taken is omitted. Expected omissions are reckoned from what was found new, not from a bound on the states to come.
//! - Quotienting (Cleary 1984, *Compact hash tables using bidirectional linear probing*): the address carries part of the fingerprint. Instead of
//!   Cleary's runs with three bits per slot, an entry lies in one of two cache lines, and one bit says in which (a bucketed cuckoo table): lookups
//!   touch one line until a bucket has spilled, two after that, and 99 % of the slots are filled before one state finds no place.
//! - Elastic storage (Dillinger, Manolios 2009, *Fast, all-purpose state storage*): when the table is full, slots become narrower in place. Theirs works
//!   on the cells of a Cleary table; here each line is packed anew for itself, an eighth more slots at a time, so that precision falls in small steps.
//!   The same in reverse lets a table start with few buckets and grow inside the memory that was reserved for it, touching pages only as it needs them.
//!
//! All memory is taken from the account at the start. Growing and narrowing stop the workers at the edge of a group of candidates (a read-write lock,
//! held by workers for a group at a time) for one pass over the table; everything else goes on side by side (see [`table`]).

mod precision;
mod scan;
mod shape;
mod table;

use crate::lines::Lines;
use crate::{Account, Candidates, Fidelity, Handle, Seat, Store, Visit};
pub use precision::Precision;
use precision::omissions_between;
use shape::{FEWEST, FIRST, Place, STEER, Shape};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};
use table::{Put, Table};
use wayfarer_space::{Hash, States};

/// The handle of states that cannot be given back.
const NOWHERE: Handle = Handle(u32::MAX);
/// The most candidates that a worker visits before others may grow or narrow the table.
const GROUP: usize = 1024;
/// How many states ahead of a visit its first cache line is asked for; the second is at half of that.
const AHEAD: usize = 32;
const LINE: usize = 64;

/// Remembers a fingerprint of each state.
pub struct CompactStore {
    table: Table,
    regime: RwLock<Regime>,
    /// States found new, and fingerprints in the table.
    len: AtomicU64,
    entries: AtomicU64,
}

/// What changes only while no worker is inside.
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
}

/// A worker's place at a compact store.
struct CompactSeat;

impl CompactStore {
    /// The fewest and the most bits of a fingerprint.
    pub const BITS: std::ops::RangeInclusive<u32> = 16..=64;

    /// The least number of bytes a store needs.
    pub const LEAST: usize = (FEWEST as usize + 1) * LINE;

    /// An empty store in at most `bytes` bytes that keeps at least `bits` bits of fingerprint per state and, when it is full, fewer, down to `floor` (bits
    /// outside [`BITS`](CompactStore::BITS) count as the nearest; `floor` equal to `bits` or above means that it is then full). A store larger than
    /// its fingerprints could fill takes less than it may. None where the account refuses or `bytes` is below [`LEAST`](CompactStore::LEAST).
    pub fn new(bits: u32, floor: u32, bytes: usize, account: &dyn Account) -> Option<Self> {
        let bits = bits.clamp(*Self::BITS.start(), *Self::BITS.end());
        let floor = floor.clamp(*Self::BITS.start(), bits);
        let lines = (bytes.checked_sub(LINE)? / LINE) as u64;
        // Seven bits are kept in the slots whatever happens, so more buckets would only make fingerprints longer than asked for.
        let lines = lines.min(1 << (bits - STEER).min(40));
        if lines < FEWEST {
            return None;
        }
        let left = (lines / FIRST).checked_ilog2().unwrap_or(0);
        let fewest = lines >> left;
        let buckets = fewest << left;
        let kept = |bits: u32| ((f64::from(bits) - (buckets as f64).log2()).ceil() as u32).max(STEER);
        let shape = Shape::new(fewest, left, kept(bits));
        let lines = Lines::take(buckets as usize, account)?;
        lines.offer_large_pages(0..fewest as usize);
        let regime = Regime { shape, floor: kept(floor), seats: 0, lowered: 0, full_at: None, full: false, omissions: 0.0, counted: 0 };
        Some(CompactStore { table: Table::new(lines), regime: RwLock::new(regime), len: AtomicU64::new(0), entries: AtomicU64::new(0) })
    }

    /// What it may have omitted, and how it stands.
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
            expected_omissions: regime.omissions + omissions_between(regime.counted as f64, entries as f64, fingerprints),
        }
    }

    fn enter(&self) -> RwLockReadGuard<'_, Regime> {
        self.regime.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes room after a worker that saw `seen` found none, unless another has done so: more buckets, or fewer bits.
    #[cold]
    fn make_room(&self, seen: Shape) {
        let mut regime = self.regime.write().unwrap_or_else(PoisonError::into_inner);
        if regime.shape != seen || regime.full {
            return;
        }
        if let Some(grown) = seen.grown() {
            self.table.grow(&seen, &grown);
            regime.shape = grown;
            return;
        }
        regime.full_at.get_or_insert(self.len.load(Ordering::Relaxed));
        match seen.narrowed(regime.floor) {
            Some(narrow) => {
                let entries = self.entries.load(Ordering::Relaxed);
                regime.omissions += omissions_between(regime.counted as f64, entries as f64, seen.fingerprints());
                regime.counted = self.table.narrow(&seen, &narrow);
                self.entries.store(regime.counted, Ordering::Relaxed);
                regime.shape = narrow;
                regime.lowered += 1;
            }
            None => regime.full = true,
        }
    }

    /// Goes over states with the lines of those ahead on their way into the cache: first the line at home, then, where entries of it lie elsewhere, the
    /// other one. Ends early where `visit` says so. Hints some hundred states ahead, on top of this, made visits slower by a third.
    #[inline]
    fn pipeline(&self, shape: &Shape, hashes: &[Hash], mut visit: impl FnMut(Place) -> bool) {
        let mut places = [Place::default(); AHEAD];
        for at in 0..hashes.len() + AHEAD {
            // The place of the state that far back lies where this one's will lie.
            if at >= AHEAD && !visit(places[at % AHEAD]) {
                return;
            }
            if at >= AHEAD / 2 && at - AHEAD / 2 < hashes.len() {
                self.table.prefetch_other(places[(at - AHEAD / 2) % AHEAD]);
            }
            if let Some(hash) = hashes.get(at) {
                let place = shape.place(*hash);
                self.table.prefetch_home(place);
                places[at % AHEAD] = place;
            }
        }
    }

    /// Visits a group, or its beginning where room runs out; then the shape in which it did.
    fn visit_group(&self, hashes: &[Hash], mask: Option<&[bool]>, room: &mut u64, visits: &mut Vec<Visit>) -> Option<Shape> {
        let regime = self.enter();
        let (shape, alone) = (regime.shape, regime.seats <= 1);
        let (mut new, mut trouble, mut at) = (0, None, 0);
        self.pipeline(&shape, hashes, |place| {
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
                        trouble = Some(shape);
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
            // Nearly full tables are slow; where there is memory left they need not be.
            if trouble.is_none() && shape.may_grow() && entries > shape.capacity() / 4 * 3 {
                trouble = Some(shape);
            }
        }
        trouble
    }
}

impl Regime {
    /// Bits that a slot would keep now if the table had its full size.
    fn rest_at_full_size(&self) -> u32 {
        let mut shape = self.shape;
        while let Some(grown) = shape.grown() {
            shape = grown;
        }
        shape.rest()
    }
}

impl Store for CompactStore {
    fn seat(&self) -> Option<Seat> {
        self.regime.write().unwrap_or_else(PoisonError::into_inner).seats += 1;
        Some(Seat::new(CompactSeat))
    }

    fn probe(&self, _seat: &mut Seat, candidates: Candidates, visits: &mut Vec<Visit>) {
        visits.clear();
        for hashes in candidates.steps.hashes.chunks(GROUP) {
            let regime = self.enter();
            let (shape, alone) = (regime.shape, regime.seats <= 1);
            self.pipeline(&shape, hashes, |place| {
                visits.push(if self.table.holds(&shape, place, alone) { Visit::Seen(NOWHERE) } else { Visit::New(NOWHERE) });
                true
            });
        }
    }

    fn insert(&self, _seat: &mut Seat, candidates: Candidates, mask: Option<&[bool]>, mut room: u64, visits: &mut Vec<Visit>) {
        visits.clear();
        let hashes = &candidates.steps.hashes;
        while visits.len() < hashes.len() {
            let from = visits.len();
            let until = hashes.len().min(from + GROUP);
            let trouble = self.visit_group(&hashes[from..until], mask.map(|mask| &mask[from..until]), &mut room, visits);
            if let Some(shape) = trouble {
                self.make_room(shape);
            }
        }
    }

    fn state(&self, _at: Handle, _out: &mut States) -> bool {
        false
    }

    fn parent(&self, _at: Handle) -> Option<Handle> {
        None
    }

    fn len(&self) -> u64 {
        self.len.load(Ordering::Relaxed)
    }

    fn fidelity(&self) -> Fidelity {
        Fidelity::Lossy(self.precision().expected_omissions)
    }

    fn bytes(&self) -> usize {
        self.table.lines().bytes()
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        let precision = self.precision();
        vec![
            ("fingerprint bits", precision.bits),
            ("times bits were given up", f64::from(precision.lowered)),
            ("probability that any state was omitted", precision.any_omission()),
        ]
    }
}
