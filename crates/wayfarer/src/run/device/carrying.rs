//! Carries out a search on a GPU over one store, and audits it there.

use super::repeating::doubt;
use super::{Refused, refused};
use crate::Plan;
use crate::auditing::{self, Reserve};
use crate::device::{Audited, Auditing, LANES, LevelsOnDevice, MOST_LANES, OwnOnDevice, WalksOnDevice, asked};
use crate::memory::Budget;
use crate::report::Course;
use crate::subject::Running;
use crate::watch::{Cover, Watch};
use std::cell::OnceCell;
use std::time::{Duration, Instant};
use wayfarer_gpu::{Device, Levels, LoadError, Machine, Order, Own, Search, Slots, Source};
use wayfarer_search::{
    Account, Away, Control, Device as Rounds, DeviceKeeps, Lost, OnDevice, Outcome, Progress, Settings, Stop, StoreSpec, StrategySpec, Verdict,
    explore_on_device,
};
use wayfarer_space::{Rng, Space, Steps, Word};

/// The most time that a search with a time budget leaves to its audit.
const RESERVE: Duration = Duration::from_secs(1);
/// The time after which the audit of a search is compiled beside it.
const PREPARING: Duration = Duration::from_secs(1);

impl Plan {
    /// Runs the search over one store.
    #[allow(clippy::too_many_arguments)] // The parts of a run.
    pub(super) fn carry_out(
        &self,
        device: &Device,
        source: &Source,
        space: &dyn Space,
        settings: &Settings,
        store: StoreSpec,
        started: Instant,
        budget: &Budget,
        control: &mut dyn Control,
    ) -> Result<Carried, Refused> {
        let search = self.search(&store, source, device)?;
        let until = self.time.and_then(|time| started.checked_add(time));
        let depth = self.code_limits().call_depth;
        let mut goes_on = || {
            let progress = Progress { phase: "compiling for the GPU", ..Progress::default() };
            control.ask(&progress).is_none() && until.is_none_or(|until| Instant::now() < until)
        };
        let audits = self.is_audited(search, source);
        let mut prepare = audits.map(|search| (device.number(), source.clone(), search));
        // A search that is audited in any case, or soon, has the kernels for that compiled while its own are.
        if store.abilities().device != DeviceKeeps::State || self.time.is_some() {
            compile_beside(&mut prepare);
        }
        let loaded = device.load(source, search, depth, &mut goes_on).map_err(|error: LoadError| refused(error))?;
        let asked = asked(settings, source.properties, source.rules);
        let later = OnceCell::new();
        let halving = || {
            if later.get().is_none() {
                let half = Search::Levels(Slots::HalfFingerprint);
                let _ = later.set(device.load(source, half, depth, &mut || true).map_err(|error| Lost(error.to_string()))?);
            }
            later.get().map(|loaded| loaded as &dyn Machine).ok_or_else(|| Lost("there are no kernels".to_string()))
        };
        // Memory of the host that states wait in is part of the budget, though no allocator counts it.
        let grant = |bytes: u64| {
            let granted = budget.allows(bytes as usize);
            if granted {
                budget.charge(bytes as usize);
            }
            granted
        };
        let (mut levels, mut walking, mut own) = (None, None, None);
        let rounds: &mut dyn Rounds = match search {
            Search::Levels(slots) | Search::Profile(slots) => {
                let made = Levels::new(&loaded, source, slots, self.bytes(device), &asked).map_err(refused)?.asking(&grant);
                // A store with a floor of more bits does not give up as many.
                let gives_up = store.number("floor").is_none_or(|floor| floor <= 32);
                levels.insert(LevelsOnDevice::new(made, source, slots, settings.limits.depth, gives_up.then_some(&halving)))
            }
            Search::Walks => {
                let lanes = self.strategy.number("lanes").unwrap_or(0).max(LANES);
                let restart = self.strategy.number("restart").unwrap_or(u64::MAX);
                let restart = restart.min(self.strategy.number("depth").unwrap_or(u64::MAX)).min(u64::from(self.depth.unwrap_or(u32::MAX)));
                walking.insert(WalksOnDevice::new(&loaded, source, space, asked.clone(), (lanes, restart, self.seed)))
            }
            Search::Own(kind) => own.insert(OwnOnDevice::new(&loaded, source, space, asked.clone(), self.order(kind, self.bytes(device)))),
            Search::Audit(_) => return Err(refused("an audit is no search")),
        };
        let quiet = Plan { audit: Some(0), ..self.clone() };
        let (reserve, cover, course, running) = (Reserve::new(&quiet, started), Cover::new(self.size), Course::default(), Interpreted(space));
        let mut watch = Watch {
            inner: control,
            budget,
            running: &running,
            refuted: &|| false,
            held: None,
            until: None,
            reserve,
            asked: 0,
            looked: 0,
            cover,
            course,
        };
        let begun = Instant::now();
        let reserve = self.time.filter(|_| audits.is_some()).map_or(Duration::ZERO, |time| (time / 20).min(RESERVE));
        let mut punctual = Punctual { until: until.and_then(|until| until.checked_sub(reserve)), inner: &mut watch, begun, prepare };
        let outcome = explore_on_device(space, rounds, settings, &mut punctual).map_err(|error| refused(error.0))?;
        let away = rounds.standing().away;
        let away = Away { states: outcome.states, ..away };
        let (course, cover) = (std::mem::take(&mut watch.course), std::mem::take(&mut watch.cover));
        let searched = begun.elapsed();
        let store_is_full = levels.as_ref().is_some_and(LevelsOnDevice::store_is_full);
        let mut audited = Audited::default();
        let mut remark = None;
        let wanted =
            outcome.verdict() == Verdict::NotFound && outcome.stop != Stop::Interrupted && !self.goes_on_over_fingerprints(&outcome, store_is_full);
        if let (Some(search), Some(levels)) = (audits.filter(|_| wanted), &levels) {
            let (mut steps, progress) = (Steps::new(space.width()), crate::run::progress(&outcome));
            space.initial(&mut steps);
            let starts: Vec<Word> = steps.states.iter().flatten().copied().collect();
            // Bits of fingerprints may have been given up since.
            let search = if let Search::Audit(_) = search { Search::Audit(levels.search().slots()) } else { search };
            let mut goes_on = || control.ask(&progress).is_none() && until.is_none_or(|until| Instant::now() < until);
            let loaded = device.load(source, search, depth, &mut goes_on);
            let done = loaded.map_err(|error| error.to_string()).and_then(|machine| {
                let walks = auditing::walks_on_device(self, &outcome);
                let auditing = Auditing { machine: &machine, source, starts: &starts, asked: asked.clone(), seed: self.seed, walks, until };
                auditing.of(levels.search(), control, &progress).map_err(|error| error.to_string())
            });
            match done {
                // A finding of a walk is shown only if the interpreter meets it on the same path; if it does not, no walk is to be trusted.
                Ok(done) => match done.violation.as_ref().and_then(|met| doubt(space, met, settings.deadlock)) {
                    Some(why) => remark = Some(format!("there is no audit: what its walks met on the GPU could not be repeated: {why}")),
                    None => audited = done,
                },
                Err(why) => remark = Some(format!("there is no audit: {why}")),
            }
        }
        let audit = begun.elapsed().saturating_sub(searched);
        let held = levels.as_ref().map_or(0, |levels| levels.search().host_bytes());
        drop(levels);
        budget.refund(held as usize);
        Ok(Carried { outcome, away, store, course, cover, searched, store_is_full, audited, audit, remark })
    }

    /// The kernels of the audit of a search, if it is audited: random searches on a GPU have no store that could judge, a Bloom filter takes too many states for
    /// known ones, and walks do not pass through `atomic` sequences.
    fn is_audited(&self, search: Search, source: &Source) -> Option<Search> {
        match search {
            Search::Levels(slots) | Search::Profile(slots) if self.audit != Some(0) && slots != Slots::Bits && !source.passes => {
                Some(Search::Audit(slots))
            }
            _ => None,
        }
    }

    /// Whether `auto` begins again over fingerprints, as it does on the CPU.
    pub(super) fn goes_on_over_fingerprints(&self, outcome: &Outcome, store_is_full: bool) -> bool {
        let ended = outcome.stop == Stop::Memory && outcome.violations.is_empty() && store_is_full;
        ended && self.store.is_none() && self.strategy == StrategySpec::default() && outcome.states > 0
    }

    /// Bytes of the GPU's memory that a search takes.
    fn bytes(&self, device: &Device) -> u64 {
        self.device_memory.map_or_else(|| device.free() / 20 * 19, |bytes| bytes as u64)
    }

    /// The kernels that carry out the strategy over a store.
    fn search(&self, store: &StoreSpec, source: &Source, device: &Device) -> Result<Search, Refused> {
        Ok(match self.strategy.nature().device {
            OnDevice::No(why) => return Err(refused(why)),
            OnDevice::Walks => Search::Walks,
            OnDevice::Uniform { by_states, .. } => Search::Own(Own::Uniform { by_states }),
            OnDevice::Deep { by_states, .. } => Search::Own(Own::Deep { by_states }),
            OnDevice::Random => Search::Own(Own::Random),
            OnDevice::Highways { ideal } => Search::Own(Own::Highway { ideal }),
            OnDevice::Swarm => Search::Own(Own::DepthFirst),
            OnDevice::Levels => {
                let why = || refused(format!("the store `{}` is not there", store.name()));
                let slots = slots(store, source, device.has_wide_swap()).ok_or_else(why)?;
                if self.profile { Search::Profile(slots) } else { Search::Levels(slots) }
            }
        })
    }

    /// The parameters of lanes that search for themselves.
    fn order(&self, own: Own, bytes: u64) -> Order {
        let number = |name: &str| self.strategy.number(name);
        let depth = u64::from(self.depth.unwrap_or(u32::MAX));
        let searches = number("restarts").unwrap_or(0) + 1;
        let (renews, lanes) = match self.strategy.nature().device {
            OnDevice::Uniform { renews, .. } | OnDevice::Deep { renews, .. } => (renews, MOST_LANES),
            // If nothing else ends the run, each lane makes one search.
            OnDevice::Swarm => (self.time.is_some() || self.steps.is_some() || self.states.is_some(), MOST_LANES),
            _ => (false, searches.min(MOST_LANES)),
        };
        Order {
            own,
            lanes,
            bytes,
            capacity: number("capacity"),
            width: number("width").unwrap_or(0),
            renews,
            searches,
            longest: number("length").unwrap_or(u64::MAX).min(depth),
            key: Rng::new(self.seed, self.strategy.name()).parts().0,
        }
    }
}

/// The result of a search on a GPU.
pub(super) struct Carried {
    pub(super) outcome: Outcome,
    pub(super) away: Away,
    pub(super) store: StoreSpec,
    pub(super) course: Course,
    pub(super) cover: Cover,
    /// The time that the search itself took.
    pub(super) searched: Duration,
    /// Whether the store has no room left; it can also be the frontier that has none.
    pub(super) store_is_full: bool,
    /// The results of the audit, and the time it took.
    pub(super) audited: Audited,
    pub(super) audit: Duration,
    pub(super) remark: Option<String>,
}

/// The contents of a store's slots on a GPU, if it exists there.
pub(super) fn slots(store: &StoreSpec, source: &Source, has_wide_swap: bool) -> Option<Slots> {
    match store.abilities().device {
        DeviceKeeps::State => Some(Slots::exact(source.bits, has_wide_swap)),
        DeviceKeeps::Fingerprint if store.number("bits").is_some_and(|bits| bits <= 32) => Some(Slots::HalfFingerprint),
        DeviceKeeps::Fingerprint => Some(Slots::Fingerprint),
        DeviceKeeps::Bits => Some(Slots::Bits),
        DeviceKeeps::Nothing => None,
    }
}

/// A space that compiles no machine code.
struct Interpreted<'a>(&'a dyn Space);

impl Running for Interpreted<'_> {
    fn space(&self) -> &dyn Space {
        self.0
    }
}

/// Reads the clock in every round: rounds on a GPU are long. Has the kernels of the audit compiled beside a search that goes on.
struct Punctual<'a> {
    until: Option<Instant>,
    inner: &'a mut dyn Control,
    begun: Instant,
    prepare: Option<Prepare>,
}

/// The GPU, the source and the audit.
type Prepare = (u32, Source, Search);

/// Compiles the kernels of an audit in a thread of their own, once. They are found in the cache; if that fails, they are compiled when they are needed.
fn compile_beside(prepare: &mut Option<Prepare>) {
    if let Some((number, source, audit)) = prepare.take() {
        std::thread::spawn(move || Device::open(number).and_then(|device| device.prepare(&source, audit)));
    }
}

impl Control for Punctual<'_> {
    fn ask(&mut self, progress: &Progress) -> Option<Stop> {
        let told = self.inner.ask(progress);
        if self.begun.elapsed() > PREPARING {
            compile_beside(&mut self.prepare);
        }
        if told.is_none() && self.until.is_some_and(|until| Instant::now() >= until) { Some(Stop::Time) } else { told }
    }
}
