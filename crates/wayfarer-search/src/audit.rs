//! The audit: independent walks that estimate how much the search has not visited.
//!
//! A [`Sampler`] is a probability law of walks that does not depend on the search: the length of a walk, its start and
//! its draws come from a stream of its own. Each walk keeps one state. When the search is over, the kept states are
//! judged against the visited ones. Given the visited states, the number of missing ones is exactly binomial, whichever
//! way the search went, so exact bounds on the missing share of the sampler's mass follow. The audit never feeds the
//! search, and no rule that ends a run reads it.
//!
//! An exact store judges by itself. Over a store that errs or forgets, the [`Record`] judges: states whose second hash
//! lies above the record's largest value are not judged and do not count. If that leaves few, a *sieved* walk goes on
//! from its kept step to the first state that the record can judge. Sieved walks, and walks that begin in stored
//! states, depend on the visited states. They are made only after the search and are shown beside the others.
//!
//! The priority walk is a relative of probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte
//! 2010). Departures: there are two priorities and not an order of all rules, and a change draws all of them anew.
//! Among the enabled rules of the higher priority the draw is uniform. [`Sampler::mass`] can compute this law exactly,
//! so that the bounds can be checked.

mod mass;
mod walks;

pub use mass::Mass;

use crate::crew::{Crew, Ended, together};
use crate::strategies::walking::Law;
use crate::{Candidates, Control, Fidelity, Job, NoStore, Outcome, Progress, Record, Seat, Settings, Stop, Store, Violation, Visit};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use walks::{Origin, Walks};
use wayfarer_space::{Firing, Hash, Rng, Space, States, Steps, Word, has_many_starts, hash};

/// A law of walks, each of which keeps one state. A walk that can go no further keeps its last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampler {
    /// Uniform over the enabled firings; the kept step is log-uniform up to the cap.
    Walk {
        /// The last step that may be kept.
        cap: u32,
    },
    /// Uniform over the set of successors; the kept step is uniform up to the cap.
    Shallow {
        /// The last step that may be kept.
        cap: u32,
    },
    /// Rules have one of two priorities, drawn for the walk and drawn anew with probability 1/[`CHANGE`] before each
    /// step. A step is uniform over the enabled firings of the higher priority that lead to another state, or over
    /// those of the lower if there are none. The kept step is log-uniform up to the cap.
    Priority {
        /// The last step that may be kept.
        cap: u32,
    },
    /// As [`Walk`](Sampler::Walk), but the walk goes on to the first state of which the record can tell; one that meets none keeps nothing.
    Sieved {
        /// The last step from which the walk may look for such a state.
        cap: u32,
        /// How many more steps it may take.
        reach: u32,
    },
    /// As [`Walk`](Sampler::Walk), but begun in a stored state, all equally likely.
    Restart {
        /// The last step that may be kept.
        cap: u32,
    },
}

/// Walks that are judged together.
const CHUNK: u64 = 128;

/// A priority walk draws its priorities anew once in this many steps, on average.
pub const CHANGE: u64 = 32;

impl Sampler {
    /// The samplers that do not depend on the visited states, with the caps they always have.
    pub const FIXED: [Sampler; 3] = [Sampler::Walk { cap: 4096 }, Sampler::Shallow { cap: 64 }, Sampler::Priority { cap: 1024 }];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Sampler::Walk { .. } => "walk",
            Sampler::Shallow { .. } => "shallow walk",
            Sampler::Priority { .. } => "priority walk",
            Sampler::Sieved { .. } => "sieved walk",
            Sampler::Restart { .. } => "restarted walk",
        }
    }

    /// Whether its law does not depend on the visited states.
    pub fn is_fixed(self) -> bool {
        !matches!(self, Sampler::Sieved { .. } | Sampler::Restart { .. })
    }

    /// The last step that may be kept, further steps of a sieved walk not included.
    pub fn cap(self) -> u32 {
        let (Sampler::Walk { cap } | Sampler::Shallow { cap } | Sampler::Priority { cap } | Sampler::Sieved { cap, .. } | Sampler::Restart { cap }) =
            self;
        cap.max(1)
    }

    /// The mean number of steps of a walk that nothing stops, without the further steps of a sieved walk.
    pub fn mean_steps(self) -> f64 {
        let cap = f64::from(self.cap());
        if matches!(self, Sampler::Shallow { .. }) { (cap + 1.0) / 2.0 } else { cap / (cap + 1.0).ln() }
    }

    /// How it draws a step.
    fn law(self) -> Law {
        match self {
            Sampler::Shallow { .. } => Law::States,
            Sampler::Priority { .. } => Law::Priorities,
            Sampler::Walk { .. } | Sampler::Sieved { .. } | Sampler::Restart { .. } => Law::Firings,
        }
    }

    /// The step that a walk keeps.
    fn kept_step(self, rng: &mut Rng) -> u32 {
        let cap = self.cap();
        if matches!(self, Sampler::Shallow { .. }) {
            return 1 + rng.below(u64::from(cap)) as u32;
        }
        ((f64::from(cap) + 1.0).powf(rng.unit()) as u32).clamp(1, cap)
    }

    /// The probability that this step is kept.
    fn keeps(self, step: u32) -> f64 {
        let (cap, step) = (f64::from(self.cap()), f64::from(step));
        if matches!(self, Sampler::Shallow { .. }) { cap.recip() } else { step.recip().ln_1p() / (cap + 1.0).ln() }
    }

    /// For whoever walks elsewhere: the key of the stream from which the walks' streams are split.
    pub fn key(self, seed: u64) -> u64 {
        self.stream(seed).parts().0
    }

    /// For whoever walks elsewhere: the step that a walk keeps, and where its stream stands when that is drawn. The start and the priorities follow.
    pub fn begins(self, seed: u64, walk: u64) -> (u32, u64) {
        let mut rng = self.stream(seed).split(walk);
        let keeps = self.kept_step(&mut rng);
        (keeps, rng.parts().1)
    }

    /// Its own stream of a seed.
    fn stream(self, seed: u64) -> Rng {
        let number = match self {
            Sampler::Walk { .. } => 0,
            Sampler::Shallow { .. } => 1,
            Sampler::Priority { .. } => 2,
            Sampler::Sieved { .. } => 3,
            Sampler::Restart { .. } => 4,
        };
        Rng::new(seed, "audit").split(number)
    }
}

/// Turns a state into the one that a search would have visited in its place.
pub type Representative<'a> = &'a (dyn Fn(&mut Vec<Word>) + Sync);

/// The result of a search, and the space in which to walk.
#[derive(Clone, Copy)]
pub struct Audit<'a> {
    /// The space to walk in, without symmetry even if the search used it.
    pub space: &'a dyn Space,
    /// The representative under which the search visits a state, if it uses symmetry.
    pub representative: Option<Representative<'a>>,
    /// The store when the search had ended.
    pub store: &'a dyn Store,
    /// The record, if there is one.
    pub record: Option<&'a Record>,
    /// The search's settings, which say what counts as a violation.
    pub settings: &'a Settings,
    /// The seed of the walks.
    pub seed: u64,
    /// How many threads make them; what comes of them does not depend on it.
    pub workers: usize,
}

/// The results of the walks of one sampler.
#[derive(Clone, Debug, PartialEq)]
pub struct Tally {
    /// Which.
    pub sampler: Sampler,
    /// Walks that were asked for.
    pub walks: u64,
    /// Walks that did not come to their end; they count as missing.
    pub unfinished: u64,
    /// Kept states that could be judged, and unfinished walks.
    pub judged: u64,
    /// The number of these that were not visited, or did not come to their end.
    pub missing: u64,
    /// Steps that all walks took together.
    pub steps: u64,
}

impl Tally {
    fn add(&mut self, more: &Tally) {
        self.walks += more.walks;
        self.unfinished += more.unfinished;
        self.judged += more.judged;
        self.missing += more.missing;
        self.steps += more.steps;
    }
}

impl Audit<'_> {
    /// Whether the store is the judge, and not the record.
    pub fn is_judged_by_store(&self) -> bool {
        self.store.fidelity() == Fidelity::Exact && !self.store.is_empty()
    }

    /// Makes `walks` walks and judges the states they kept. Also returns the first violations that they met. `control` may end them.
    pub fn draw(&self, sampler: Sampler, walks: u64, control: &mut dyn Control) -> (Tally, Vec<Violation>) {
        // Some at a time, so that few kept states wait to be judged, and several workers can share them.
        let (next, ended) = (AtomicU64::new(0), AtomicBool::new(false));
        let crew = Crew::new(self.workers.min(walks.div_ceil(CHUNK) as usize).max(1), usize::MAX);
        let run = |_: usize, control: &mut dyn Control| {
            let (mut tally, mut met) = (Tally { sampler, walks: 0, unfinished: 0, judged: 0, missing: 0, steps: 0 }, None);
            let mut ends_all = None;
            while !ended.load(Ordering::Relaxed) {
                let from = next.fetch_add(CHUNK, Ordering::Relaxed);
                if from >= walks {
                    break;
                }
                let outcome = self.chunk(sampler, from..walks.min(from + CHUNK), &mut tally, control);
                ends_all = Some(outcome.stop).filter(|stop| matches!(stop, Stop::Time | Stop::Memory | Stop::Interrupted));
                // Those before it were begun before it, so the first with a violation is found however many workers there are.
                if !outcome.violations.is_empty() {
                    met = Some((from, outcome.violations));
                }
                if met.is_some() || ends_all.is_some() {
                    ended.store(true, Ordering::Relaxed);
                }
            }
            Ended { done: (tally, met), ends_all, progress: Progress::default() }
        };
        let add = |(mut tally, met): (Tally, _), (more, also): (Tally, _)| {
            tally.add(&more);
            (tally, [met, also].into_iter().flatten().min_by_key(|(from, _): &(u64, _)| *from))
        };
        let none = Tally { sampler, walks: 0, unfinished: 0, judged: 0, missing: 0, steps: 0 };
        let (mut tally, mut met) = together(&crew, control, run).into_iter().fold((none, None), add);
        // Those that were never begun are unfinished, too.
        let never = walks - tally.walks;
        tally.add(&Tally { sampler, walks: never, unfinished: never, judged: never, missing: never, steps: 0 });
        (tally, met.take().map_or_else(Vec::new, |(_, violations)| violations))
    }

    /// Some walks, counted.
    fn chunk(&self, sampler: Sampler, walks: Range<u64>, tally: &mut Tally, control: &mut dyn Control) -> Outcome {
        let origin = match (sampler, self.record) {
            (Sampler::Restart { .. }, _) => Origin::Stored(self.store),
            (Sampler::Sieved { reach, .. }, Some(record)) => Origin::Sieve { record, representative: self.representative, reach },
            _ => Origin::Start,
        };
        let many = self.space.starts().filter(|_| has_many_starts(self.space)).map(|starts| (self.space, starts));
        let settings = Settings { limits: crate::Limits::default(), record: 0, record_always: false, profile: false, ..self.settings.clone() };
        let number = walks.end - walks.start;
        let mut strategy = Walks::new(sampler, walks, self.seed, origin, self.space.width()).making_starts(many);
        let outcome = Job::new(self.space, &NoStore, &mut strategy, &settings).bringing_starts(many.is_none()).run(control);
        let unfinished = number - strategy.finished();
        let mut more = Tally { sampler, walks: number, unfinished, judged: unfinished, missing: unfinished, steps: strategy.all_steps() };
        for visited in self.judge(strategy.into_kept()).into_iter().flatten() {
            more.judged += 1;
            more.missing += u64::from(!visited);
        }
        tally.add(&more);
        outcome
    }

    /// For each state, whether it was visited; none if that is not known.
    pub fn judge(&self, mut states: States) -> Vec<Option<bool>> {
        if let Some(representative) = self.representative {
            let mut folded = States::new(states.width());
            let mut one = Vec::new();
            for state in states.iter() {
                one.clear();
                one.extend_from_slice(state);
                representative(&mut one);
                folded.push(&one);
            }
            states = folded;
        }
        if self.is_judged_by_store()
            && let Some(mut seat) = self.store.seat()
        {
            return self.probe(&mut seat, &states);
        }
        states.iter().map(|state| self.record.and_then(|record| record.contains(hash(state), state))).collect()
    }

    fn probe(&self, seat: &mut Seat, states: &States) -> Vec<Option<bool>> {
        let mut steps = Steps::new(states.width());
        let mut visits = Vec::new();
        let mut judged = Vec::with_capacity(states.len());
        for from in (0..states.len()).step_by(256) {
            steps.clear();
            for index in from..states.len().min(from + 256) {
                steps.push(0, Firing::of(0), states.get(index), states.get(index));
            }
            self.store.probe(seat, Candidates { steps: &steps, sources: &[] }, &mut visits);
            judged.extend(visits.iter().map(|visit| Some(matches!(visit, Visit::Seen(_)))));
        }
        judged
    }
}

/// Which rules of a walk have the higher priority: bits of a hash.
pub(crate) fn is_preferred(priorities: u64, rule: u32) -> bool {
    let mixed: Hash = hash(&[priorities, Word::from(rule)]);
    mixed.address() & 1 == 1
}
