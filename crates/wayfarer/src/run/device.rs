//! Runs a plan on a GPU: if the user requests it, or if the search turns out to be long and there is one ([`moving`]).

mod moving;

use super::{expected_omissions, is_empty};
use crate::auditing::Reserve;
use crate::device::{LANES, LevelsOnDevice, MOST_LANES, OwnOnDevice, WalksOnDevice, asked};
use crate::memory::Budget;
use crate::report::{Course, Report, Times};
use crate::subject::{Running, Subject};
use crate::watch::{Cover, Deadline, Watch};
use crate::writer::Writer;
use crate::{Confidence, DeviceChoice, Plan, RunError, SymmetryChoice};
use std::cell::OnceCell;
use std::time::{Duration, Instant};
use wayfarer_gpu::{Device, Levels, LoadError, Machine, Order, Own, Search, Slots, Source, Unsupported};
use wayfarer_ir::Program;
use wayfarer_search::{
    Away, Cause, Control, Device as Rounds, DeviceKeeps, Lost, OnDevice, Outcome, Progress, Settings, Stop, StoreSpec, StrategySpec, Verdict,
    Violation, explore_on_device,
};
use wayfarer_space::{Firing, Rng, Space, States, Steps};

impl Plan {
    /// Runs the plan on a GPU if that is requested and worthwhile.
    pub(super) fn elsewhere(
        &self,
        subject: &dyn Subject,
        end_at_limit: bool,
        budget: &Budget,
        control: &mut dyn Control,
    ) -> Result<Option<Report>, RunError> {
        match self.device {
            DeviceChoice::Cpu => Ok(None),
            DeviceChoice::Gpu(number) => match self.on_device(subject, number, end_at_limit, budget, control) {
                Err(Refused::Symmetry(why)) => {
                    let here = Plan { device: DeviceChoice::Cpu, ..self.clone() };
                    let mut report = here.attempt(subject, end_at_limit, budget, control)?;
                    report.remarks.push(format!("the search up to symmetry ran on the CPU: {why}"));
                    Ok(Some(report))
                }
                other => Ok(Some(other?)),
            },
            DeviceChoice::Auto => self.moving(subject, end_at_limit, budget, control),
        }
    }

    /// The reason why a run on a GPU is not possible, apart from the model.
    fn refusal(&self, subject: &dyn Subject) -> Option<String> {
        let (strategy, store) = (&self.strategy, self.store());
        let nature = strategy.nature();
        let kept = store.abilities().device;
        let wrong_store = match nature.device {
            OnDevice::Levels if kept == DeviceKeeps::Nothing => Some("use exact, compact or bitstate"),
            OnDevice::Swarm if kept != DeviceKeeps::Bits => Some("lanes that search by themselves use bitstate"),
            OnDevice::Swarm | OnDevice::Levels => None,
            _ => (!nature.needs.is_met_by(store.abilities())).then_some("use none"),
        };
        let refused_strategy = if let OnDevice::No(why) = nature.device { Some(why) } else { None };
        let wrong = [
            subject.for_device().is_none().then(|| "only models that become programs run there, and this one does not".to_string()),
            refused_strategy.map(|why| format!("the strategy `{strategy}` is not there: {why}")),
            wrong_store.map(|why| format!("the store `{}` is not there for `{}`: {why}", store.name(), strategy.name())),
            self.all_violations.then(|| "the option `all-violations` is not there: a GPU notes only the first violations of a level".to_string()),
            self.profile.then(|| "the option `profile` is not there: a GPU does not take the time of rules".to_string()),
        ];
        wrong.into_iter().flatten().next()
    }

    /// The source of a program, and whether its states are taken up to symmetry.
    fn source(&self, subject: &dyn Subject, program: &Program) -> Result<(Source, bool), Refused> {
        // A device does not check what could not be shown.
        let symmetric = subject.symmetry(self)?.0.is_some_and(|symmetry| !symmetry.is_doubtful());
        let by_levels = self.strategy.nature().device == OnDevice::Levels;
        if symmetric && by_levels {
            return match Source::symmetric(program, self.code_limits()) {
                Ok(source) => Ok((source, true)),
                Err(error @ (Unsupported::Scalarset { .. } | Unsupported::Permutations { .. })) => Err(Refused::Symmetry(error.to_string())),
                Err(error) => Err(refused(error)),
            };
        }
        if symmetric && self.symmetry == SymmetryChoice::On {
            return Err(refused("only breadth-first search uses symmetry there; with the option `symmetry` off, all states are searched"));
        }
        Ok((Source::new(program, self.code_limits()).map_err(refused)?, false))
    }

    /// Runs the plan on the GPU of this number.
    fn on_device(
        &self,
        subject: &dyn Subject,
        number: u32,
        end_at_limit: bool,
        budget: &Budget,
        control: &mut dyn Control,
    ) -> Result<Report, Refused> {
        let started = Instant::now();
        if let Some(why) = self.refusal(subject) {
            return Err(refused(why));
        }
        let Some(program) = subject.for_device() else { return Err(refused("there is no program")) };
        let (source, by_orbits) = self.source(subject, program)?;
        let symmetry = subject.symmetry(self)?.0.filter(|symmetry| !symmetry.is_doubtful());
        let replayed = subject.replaying(self);
        let replaying = replayed.space();
        let properties = subject.properties();
        let settings = Settings { end_at_limit, ..self.settings(subject, &properties, replaying, budget)? };
        let device = Device::open(number).map_err(refused)?;
        let mut carried = self.carry_out(&device, &source, replaying, &settings, self.store(), started, budget, control)?;
        let memory_ended = |carried: &Carried| carried.outcome.stop == Stop::Memory && carried.outcome.violations.is_empty();
        let mut remarks = Vec::new();
        if memory_ended(&carried) && self.store.is_none() && self.strategy == StrategySpec::default() {
            // As on the CPU, `auto` continues over fingerprints.
            let compact = StoreSpec::parse("compact").unwrap_or_else(|_| StoreSpec::exact());
            remarks.push(format!(
                "the exact store on the GPU was full after {} states; the search began again over fingerprints",
                carried.outcome.states
            ));
            carried = self.carry_out(&device, &source, replaying, &settings, compact, started, budget, control)?;
        }
        let Carried { mut outcome, away, store, course, cover, searched } = carried;
        let explored = started.elapsed();
        if is_empty(&outcome) && !subject.may_be_empty() {
            return Err(Refused::Run(RunError::NoStartState));
        }
        let confidence = (outcome.verdict() == Verdict::NotFound).then(|| {
            let discovery = course.discovery(outcome.steps, outcome.covered.value as u64);
            Confidence::of(&outcome, expected_omissions(&outcome, &away), discovery, self.draws(), self.size)
        });
        let mut violations = Vec::new();
        if !outcome.violations.is_empty() {
            // Paths between the states of a trail are searched by compiled code.
            let running = subject.running(self, budget.limit());
            let inner = running.space();
            let orbits = symmetry.as_ref().filter(|_| by_orbits).map(|symmetry| symmetry.orbits(inner));
            let orbits = orbits.as_deref();
            let space = orbits.map_or(inner, |orbits| orbits.space());
            if let Some(orbits) = orbits {
                outcome.violations.iter_mut().for_each(|violation| {
                    violation.trail.iter_mut().for_each(|state| orbits.representative(state));
                    rename_firing(subject, space, violation);
                });
            }
            let shortest = outcome.shortest;
            let writer = Writer {
                plan: self,
                subject,
                properties: &properties,
                replaying: &*replayed,
                shortest,
                space,
                inner,
                orbits,
                store: &away,
                budget,
                effort: super::shortening_effort(&outcome),
                proves: true,
            };
            let mut deadline =
                Deadline { until: self.shorten_until(started, &outcome), inner: control, found: super::progress(&outcome), is_over: false };
            violations = outcome.violations.iter().map(|violation| writer.violation(violation, &mut deadline)).collect::<Result<_, _>>()?;
        }
        let mut report =
            Report { violations, ..self.report((subject, &properties), replaying, &outcome, (&store, &away), budget, started.elapsed()) };
        let on_device = self.strategy.nature().device;
        report.device = Some(device.name().to_string());
        report.symmetry = by_orbits;
        let witnesses = (started.elapsed() - explored).as_secs_f64();
        let preparing = explored.saturating_sub(searched).as_secs_f64();
        report.times = Times { preparing, exploring: searched.as_secs_f64(), audit: 0.0, witnesses };
        report.cover_times = cover.until(report.states, report.steps);
        report.coverage = self.size.map(|size| (report.states as f64 / size.max(1) as f64).min(1.0));
        report.repeatable = report.holds() || on_device != OnDevice::Levels && !matches!(report.stop, Stop::Time | Stop::Interrupted);
        if symmetry.is_some() && !by_orbits {
            remarks.push("symmetry is used on a GPU by breadth-first search alone".to_string());
        }
        if on_device == OnDevice::Walks {
            remarks.push("walks on a GPU do not count the distinct states they meet".to_string());
        }
        report.remarks.extend(remarks);
        report.confidence = confidence;
        Ok(report)
    }

    /// Runs the search over one store.
    #[allow(clippy::too_many_arguments)] // The parts of a run.
    fn carry_out(
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
        let (mut levels, mut walking, mut own);
        let rounds: &mut dyn Rounds = match search {
            Search::Levels(slots) => {
                let bytes = self.bytes(device);
                let made = Levels::new(&loaded, source, slots, bytes, &asked).map_err(refused)?;
                // A store with a floor of more bits does not give up as many.
                let gives_up = store.number("floor").is_none_or(|floor| floor <= 32);
                levels = LevelsOnDevice::new(made, source, slots, settings.limits.depth, gives_up.then_some(&halving));
                &mut levels
            }
            Search::Walks => {
                let lanes = self.strategy.number("lanes").unwrap_or(0).max(LANES);
                let restart = self.strategy.number("restart").unwrap_or(u64::MAX);
                let restart = restart.min(self.strategy.number("depth").unwrap_or(u64::MAX)).min(u64::from(self.depth.unwrap_or(u32::MAX)));
                walking = WalksOnDevice::new(&loaded, source, space, asked, (lanes, restart, self.seed));
                &mut walking
            }
            Search::Own(kind) => {
                own = OwnOnDevice::new(&loaded, source, space, asked, self.order(kind, self.bytes(device)));
                &mut own
            }
        };
        let quiet = Plan { audit: Some(0), ..self.clone() };
        let (reserve, cover, course, running) = (Reserve::new(&quiet, started), Cover::new(self.size), Course::default(), Interpreted(space));
        let mut watch =
            Watch { inner: control, budget, running: &running, refuted: &|| false, held: None, until: None, reserve, asked: 0, cover, course };
        let begun = Instant::now();
        let outcome = explore_on_device(space, rounds, settings, &mut Punctual { until, inner: &mut watch }).map_err(|error| refused(error.0))?;
        let away = rounds.standing().away;
        let away = Away { states: outcome.states, ..away };
        let (course, cover) = (std::mem::take(&mut watch.course), std::mem::take(&mut watch.cover));
        Ok(Carried { outcome, away, store, course, cover, searched: begun.elapsed() })
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
                Search::Levels(slots(store, source, device.has_wide_swap()).ok_or_else(why)?)
            }
        })
    }

    /// The task of lanes that search for themselves.
    fn order(&self, own: Own, bytes: u64) -> Order {
        let number = |name: &str| self.strategy.number(name);
        let depth = u64::from(self.depth.unwrap_or(u32::MAX));
        let searches = number("restarts").unwrap_or(0) + 1;
        let (renews, lanes) = match self.strategy.nature().device {
            OnDevice::Uniform { renews, .. } | OnDevice::Deep { renews, .. } => (renews, MOST_LANES),
            // Where nothing else ends the run, each lane makes one search.
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

/// Why a plan is not carried out on a GPU.
enum Refused {
    /// The model has more symmetry than a GPU can use.
    Symmetry(String),
    /// Something else is wrong.
    Run(RunError),
}

impl From<RunError> for Refused {
    fn from(error: RunError) -> Self {
        Refused::Run(error)
    }
}

impl From<Refused> for RunError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Symmetry(message) => RunError::Device { message },
            Refused::Run(error) => error,
        }
    }
}

fn refused(why: impl ToString) -> Refused {
    Refused::Run(RunError::Device { message: why.to_string() })
}

/// The firing of a fault, or of a rule that was looked for, in the representative of the state in which the device met it: the elements have other names there.
fn rename_firing(subject: &dyn Subject, space: &dyn Space, violation: &mut Violation) {
    let (Cause::Fault(firing, _) | Cause::Rule(firing), Some(state)) = (violation.cause, violation.trail.last()) else { return };
    let (mut batch, mut steps) = (States::new(space.width()), Steps::new(space.width()));
    batch.push(state);
    space.expand(&batch, Firing::of(0), &mut steps);
    let same = |other: &Firing| subject.same_rule(*other, firing);
    let renamed = match violation.cause {
        Cause::Fault(_, fault) => {
            steps.faults.iter().find(|step| step.fault == fault && same(&step.firing)).map(|step| Cause::Fault(step.firing, fault))
        }
        _ => steps.firings.iter().copied().find(same).map(Cause::Rule),
    };
    violation.cause = renamed.unwrap_or(violation.cause);
}

/// The result of a search on a GPU.
struct Carried {
    outcome: Outcome,
    away: Away,
    store: StoreSpec,
    course: Course,
    cover: Cover,
    /// The time that the search itself took.
    searched: Duration,
}

/// The contents of a store's slots on a GPU, if it exists there.
fn slots(store: &StoreSpec, source: &Source, has_wide_swap: bool) -> Option<Slots> {
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

/// Reads the clock in every round: rounds on a GPU are long.
struct Punctual<'a> {
    until: Option<Instant>,
    inner: &'a mut dyn Control,
}

impl Control for Punctual<'_> {
    fn ask(&mut self, progress: &Progress) -> Option<Stop> {
        let told = self.inner.ask(progress);
        if told.is_none() && self.until.is_some_and(|until| Instant::now() >= until) { Some(Stop::Time) } else { told }
    }
}
