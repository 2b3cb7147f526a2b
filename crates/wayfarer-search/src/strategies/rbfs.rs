//! Randomised breadth-first search: visits of bounded depth over a cache T and a queue Q of fixed size, until an
//! observer is sure enough that nothing was missed (Tronci, Della Penna, Intrigila, Venturini Zilli 2001).
//!
//! A visit takes a random old state out of Q, looks which of its successors T does not know, and inserts as many of
//! them, drawn at random, as Q has room for. With b unknown successors and e free places each has the probability
//! min(1, e/b) to be inserted. The observer multiplies the probabilities of *not* being inserted for a sample of
//! states, which gives their one-step omission probability. The greatest of them is Pom1s; at or below `maxpom` the run
//! is accepted. T, the samples and the rest of Q persist from visit to visit. A visit has between N and 3N levels, with
//! N the bits of a state.
//!
//! Departures, because the printed pseudo-code is ambiguous or wrong in places:
//! - |Q| = g·|T| entries; the states themselves lie in Q, outside the paper's accounting and inside ours.
//! - Q never holds more than its size; successors are a set; a source without unknown successors is no trial.
//! - Nothing is sampled while everything is inserted. A run without samples is accepted only if no trial could have
//!   lost a state and no state is left in Q.
//! - The paper's first visits at small memory are about forty levels shorter than the bits of its states would make
//!   them: its experiments ran with hash compaction, and N was most likely the 40 bits of a signature. `levels=40`
//!   repeats its rows; by default N is the bits of a state, as the text says.
//! - Overhead is insertions per distinct state, the latter estimated while the run goes on (1.6 % standard error).
//!
//! `own` is our improvement in the same bytes:
//! - A slot has 32 bits, since its address carries the rest of the fingerprint, and Q has a fifth of the places. The
//!   bytes saved hold more slots, 1.8 times as many at g = 0.8. (Replacing the oldest of a bucket instead of a random
//!   one was tried and needs more: on sci.m with memory for half the states, 1.54 insertions for each state against
//!   1.11 with random replacement.)
//! - States for which Q has no room are not lost. Half as many as Q has places are kept in a reservoir, and the next
//!   visit begins with them instead of the start states.

mod places;
mod samples;

use super::{Nature, Need, RANDOM, Row};
use crate::strategies::drawing::distinct;
use crate::{
    Account, Admission, CacheStore, Candidates, Details, Figures, Ground, Handle, Position, Record, Replacement, Selection, Stepping, Stop, Store,
    Strategy, Visit, VisitFigures,
};
use places::Places;
use samples::Samples;
use wayfarer_space::{Packing, Rng, States, Word};
use wayfarer_store::spec::{Accepts, Entry, Given, Parameter};

pub(super) static ROW: Row = Row {
    entry: Entry {
        name: "rbfs",
        help: "randomised breadth-first over a cache; says how likely it is to have missed a state",
        parameters: &[
            Parameter::open("slots", Accepts::Number(1..=1 << 40), "as many as fit", "the fingerprints that the cache holds"),
            Parameter::new("queue", Accepts::Real(0.001, 16.0), "0.8", "places of the queue for each slot of the cache"),
            Parameter::open(
                "levels",
                Accepts::Number(1..=1 << 24),
                "the bits of a state",
                "the least number of levels of a visit; a visit has up to three times as many",
            ),
            Parameter::new("samples", Accepts::Number(1..=1 << 24), "1000", "the most states sampled to estimate the omission probability"),
            Parameter::new("maxpom", Accepts::Real(0.0, 1.0), "0.01", "the omission probability at which a run is accepted"),
            Parameter::new("max-overhead", Accepts::Real(1.0, 1e9), "10", "insertions for each distinct state at which a run ends"),
            Parameter::new("max-collision", Accepts::Real(0.0, 1.0), "0.995", "the share of insertions that overwrite another at which a run ends"),
            Parameter::new(
                "own",
                Accepts::OneOf(&["off", "on"]),
                "off",
                "whether to use our variant: smaller slots, a smaller queue, and a reservoir",
            ),
        ],
    },
    store: |given| {
        let replace = Replacement::Random;
        match given.number("slots") {
            Some(slots) if own(given) => {
                let slots = own_slots(slots, given.real("queue").unwrap_or(0.8));
                let bits = OWN_BITS - 1 + (slots as f64 / f64::from(WAYS)).max(1.0).log2().ceil() as u32;
                CacheStore::spec(Some(slots), WAYS, bits.min(64), replace)
            }
            slots => CacheStore::spec(slots, WAYS, 40, replace),
        }
    },
    nature: |_| Nature { needs: Need::Eviction, draws: false, counts_depth: true, ..RANDOM },
    build: |given, site| {
        let slots = site.store.number("slots").unwrap_or(1 << 20);
        let share = if own(given) { OWN_QUEUE } else { given.real("queue").unwrap_or(0.8) };
        let queue = (slots as f64 * share).ceil().clamp(1.0, f64::from(u32::MAX / 2)) as usize;
        let rules = Rules {
            queue,
            levels: given.number("levels").unwrap_or((site.packing.bits() as u64).max(1)),
            samples: given.number("samples").unwrap_or(1000) as usize,
            maxpom: given.real("maxpom").unwrap_or(0.01),
            max_overhead: given.real("max-overhead").unwrap_or(10.0),
            max_collision: given.real("max-collision").unwrap_or(0.995),
            own: own(given),
        };
        Box::new(Rbfs::new(rules, site.packing.clone(), site.account, site.seed))
    },
};

/// Up to this many visits are reported one by one.
const MOST_VISITS: u64 = 1 << 14;
const WAYS: u32 = 16;
/// Bits of a slot with `own`: together with the address more than 40, from a thousand slots on.
const OWN_BITS: u32 = 32;
/// Places of the queue for each slot in our own way.
const OWN_QUEUE: f64 = 0.14;

/// The slots with `own` in the bytes of `slots` 40-bit slots and their queue of 4-byte entries.
fn own_slots(slots: u64, queue: f64) -> u64 {
    let bits = slots as f64 * (40.0 + 32.0 * queue);
    (bits / (f64::from(OWN_BITS) + 32.0 * OWN_QUEUE)) as u64
}

fn own(given: &Given) -> bool {
    given.is("own", "on")
}

/// The parameters of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// The places of Q.
    pub queue: usize,
    /// N: a visit has between one and three times as many levels.
    pub levels: u64,
    /// The most samples.
    pub samples: usize,
    /// The one-step omission probability at which a run is accepted.
    pub maxpom: f64,
    /// Insertions per distinct state at which a run ends.
    pub max_overhead: f64,
    /// The share of insertions that overwrite another at which a run ends.
    pub max_collision: f64,
    /// Whether to search in our own way.
    pub own: bool,
}

/// Randomised breadth-first search.
pub struct Rbfs<'a> {
    rules: Rules,
    account: &'a dyn Account,
    rng: Rng,
    places: Places,
    starts: Option<States>,
    samples: Samples,
    /// Which distinct states were inserted.
    fresh: Record,
    insertions: u64,
    /// States taken out of Q.
    expanded: u64,
    level: u32,
    levels: u32,
    /// Whether something could have been lost so far.
    doubtful: bool,
    visits: Vec<VisitFigures>,
    /// How many visits are over.
    over: u64,
    deepest: u32,
    held: u64,
    fired: u64,
    /// Whether a state was lost that no trial accounts for: such a run is never accepted.
    lost: bool,
    ended: Option<Stop>,
    scratch: Vec<u32>,
    /// The depth of the state that is being expanded.
    depth: u32,
}

impl<'a> Rbfs<'a> {
    /// A search for states of the given packing that asks `account` before its queue grows.
    pub fn new(rules: Rules, packing: Packing, account: &'a dyn Account, seed: u64) -> Self {
        Rbfs {
            account,
            rng: Rng::new(seed, "rbfs"),
            places: Places::new(packing, rules.queue),
            starts: None,
            samples: Samples::new(rules.samples),
            fresh: Record::new(1 << 12, Packing::new(Vec::new())),
            insertions: 0,
            expanded: 0,
            level: 0,
            levels: 0,
            doubtful: false,
            visits: Vec::new(),
            over: 0,
            deepest: 0,
            held: 0,
            fired: 0,
            lost: false,
            ended: None,
            scratch: Vec::new(),
            depth: 0,
            rules,
        }
    }

    fn begin_visit(&mut self) {
        self.levels = (self.rules.levels + self.rng.below(2 * self.rules.levels + 1)).min(u64::from(u32::MAX)) as u32;
        self.level = 1;
        self.places.relabel();
        let Some(starts) = &self.starts else { return };
        if self.rules.own && self.places.recall() {
            return;
        }
        // Start states take only free places: all of them if they fit, else some.
        let mut order: Vec<u32> = (0..starts.len() as u32).collect();
        for at in 0..order.len().min(self.rules.queue) {
            let drawn = at + self.rng.below((order.len() - at) as u64) as usize;
            order.swap(at, drawn);
            let state = starts.get(order[at] as usize);
            if !self.places.push_old(state, self.account) {
                break;
            }
        }
    }

    /// The greatest one-step omission probability known so far. Without samples it is 0 if nothing could have been lost, and else unknown: what is left in Q
    /// is not lost, but not looked at either.
    fn pom1s(&self) -> Option<f64> {
        let nothing_lost = !self.doubtful && self.places.len() == 0;
        (!self.lost && (nothing_lost || !self.samples.is_empty())).then(|| self.samples.greatest())
    }

    /// The visit is over: judges the run so far.
    fn end_visit(&mut self) {
        let pom1s = self.pom1s();
        let distinct = self.fresh.estimate().value.max(1.0);
        let overhead = self.insertions as f64 / distinct;
        let collision_rate = 1.0 - self.held as f64 / self.insertions.max(1) as f64;
        let samples = self.samples.len() as u64;
        let figures = VisitFigures { worker: 0, pom1s, insertions: self.insertions, samples, collision_rate, levels: self.level, fired: self.fired };
        self.over += 1;
        match self.visits.last_mut() {
            // If there are too many visits, the first ones and the last are reported.
            Some(last) if self.over > MOST_VISITS => *last = figures,
            _ => self.visits.push(figures),
        }
        let sure = pom1s.is_some_and(|greatest| greatest <= self.rules.maxpom);
        self.ended = if sure {
            Some(Stop::Accepted)
        } else if overhead > self.rules.max_overhead {
            Some(Stop::Overhead)
        } else if collision_rate > self.rules.max_collision {
            Some(Stop::Collisions)
        } else {
            None
        };
    }

    /// Long visits are judged at the end of each level, too: the experiments of the paper stop as soon as a limit is crossed.
    fn over_limit(&self) -> bool {
        let distinct = self.fresh.estimate().value.max(1.0);
        self.insertions as f64 / distinct > self.rules.max_overhead
    }
}

impl Strategy for Rbfs<'_> {
    fn select(&mut self, store: &dyn Store, selection: &mut Selection) {
        self.held = store.len();
        let mut begun = false;
        while self.ended.is_none() {
            if self.level == 0 {
                self.begin_visit();
                begun = true;
            }
            if let Some((waypoint, depth)) = self.places.take(&mut self.rng, &mut selection.states) {
                self.expanded += 1;
                self.depth = depth;
                selection.handles.push(Handle(waypoint));
                selection.stepping = Stepping::All;
                return;
            }
            if self.level < self.levels && self.places.fresh() > 0 && !self.over_limit() {
                self.level += 1;
                self.places.relabel();
            } else {
                self.end_visit();
                self.level = 0;
                if begun {
                    // Not even a start state finds room: no visit would do more.
                    self.ended = self.ended.or(Some(Stop::Memory));
                }
            }
        }
    }

    fn admission(&self) -> Admission {
        Admission::Chosen
    }

    fn admit(&mut self, _selection: &Selection, candidates: Candidates, visits: &[Visit], mask: &mut Vec<bool>) {
        let steps = candidates.steps;
        mask.clear();
        if candidates.sources.is_empty() {
            mask.resize(steps.len(), true);
            return;
        }
        mask.resize(steps.len(), false);
        distinct(steps, 0..steps.len(), &mut self.scratch);
        self.scratch.retain(|index| matches!(visits[*index as usize], Visit::New(_)));
        let unknown = self.scratch.len();
        if unknown == 0 {
            return;
        }
        let empty = self.rules.queue.saturating_sub(self.places.len());
        let inserted = (empty as f64 / unknown as f64).min(1.0);
        self.doubtful |= inserted < 1.0;
        let late = u64::from(self.level) * 3 > u64::from(self.levels) * 2;
        for index in &self.scratch {
            self.samples.trial(steps.hashes[*index as usize], inserted, late, &mut self.rng);
        }
        for at in 0..unknown {
            let drawn = at + self.rng.below((unknown - at) as u64) as usize;
            self.scratch.swap(at, drawn);
            let index = self.scratch[at] as usize;
            if at < empty {
                mask[index] = true;
            } else if self.rules.own {
                self.places.remember(steps.states.get(index), candidates.sources[0].0, self.depth + 1, &mut self.rng, self.account);
            }
        }
    }

    fn update(&mut self, selection: &Selection, kept: usize, candidates: Candidates, visits: &[Visit]) {
        let steps = candidates.steps;
        let start = selection.handles.is_empty();
        if start {
            let starts = self.starts.get_or_insert_with(|| States::new(steps.states.width()));
            // With room for a copy while they grow, and for the other workers, which ask at the same time.
            if self.account.allows(2 * size_of_val(starts.words()) + 8 * size_of_val(steps.states.words())) {
                steps.states.iter().for_each(|state| starts.push(state));
            } else {
                // They are in T, but no visit begins with them.
                self.lost = true;
            }
        } else if kept > 0 {
            self.fired += steps.len() as u64 + steps.faults.len() as u64;
        }
        for index in (0..visits.len()).filter(|index| matches!(visits[*index], Visit::New(_))) {
            self.insertions += 1;
            self.fresh.observe(steps.hashes[index], &[]);
            if !start {
                let before = selection.handles[0].0;
                if !self.places.push_new(steps.states.get(index), before, self.depth + 1, self.account) {
                    // Memory ran out before Q was full. Q keeps its present size, and states that are in T but not in Q
                    // can only be met again by chance.
                    self.rules.queue = self.places.len().max(1);
                    self.lost = true;
                }
                self.deepest = self.deepest.max(self.depth + 1);
            }
        }
        if let Some(handle) = selection.handles.first() {
            self.places.release(handle.0);
        }
    }

    fn trail(&self, _ground: Ground, selection: &Selection, source: usize) -> Option<Vec<Vec<Word>>> {
        let mut trail = self.places.chain(selection.handles.get(source)?.0);
        trail.push(selection.states.get(source).to_vec());
        Some(trail)
    }
}

impl Position for Rbfs<'_> {
    fn ended(&self) -> Option<Stop> {
        self.ended
    }

    fn details(&self) -> Details {
        let last = self.visits.last().copied().unwrap_or_default();
        let (insertions, collisions) = (self.insertions as f64, if self.visits.is_empty() { 0.0 } else { last.collision_rate });
        let figures = Figures::default()
            .sum("visits", self.over as f64)
            .most(Details::OMISSION, last.pom1s)
            .sum("samples", self.samples.len() as f64)
            .sum("insertions", insertions)
            .mean("collision rate", collisions, insertions);
        Details { figures, visits: self.visits.clone() }
    }

    fn depth(&self) -> Option<u32> {
        Some(self.deepest)
    }

    fn frontier(&self) -> u64 {
        self.places.len() as u64
    }

    fn exhaustive(&self) -> bool {
        false
    }
}
