//! Runs a plan on a GPU: if the user requests it, or if the search turns out to be long and there is one.
//!
//! `--device auto` begins on the CPU. Most searches end there before a GPU would have started. A longer one starts
//! again on the GPU, which makes up for the lost time within a fraction of a second; if there is no GPU, or it cannot
//! run the model, the search continues on the CPU.

use super::{expected_omissions, is_empty};
use crate::auditing::Reserve;
use crate::device::{LANES, LevelsOnDevice, WalksOnDevice, asked};
use crate::memory::Budget;
use crate::report::{Course, Report, Times};
use crate::subject::{Running, Subject};
use crate::watch::{Cover, Deadline, Watch};
use crate::writer::Writer;
use crate::{Confidence, DeviceChoice, Plan, RunError, SymmetryChoice};
use std::sync::Arc;
use std::time::{Duration, Instant};
use wayfarer_gpu::{Device, Levels, Search, Slots, Source};
use wayfarer_ir::Program;
use wayfarer_search::{Away, Control, Device as Rounds, Outcome, Progress, Settings, Stop, StoreSpec, StrategySpec, Verdict, explore_on_device};
use wayfarer_space::Space;

/// The time that a search of `--device auto` stays on the CPU.
const PATIENCE: Duration = Duration::from_secs(3);

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
            DeviceChoice::Gpu(number) => self.on_device(subject, number, end_at_limit, budget, control).map(Some),
            DeviceChoice::Auto => self.moving(subject, end_at_limit, budget, control),
        }
    }

    /// Begins on the CPU, and moves if the search takes long.
    fn moving(&self, subject: &dyn Subject, end_at_limit: bool, budget: &Budget, control: &mut dyn Control) -> Result<Option<Report>, RunError> {
        let Some(program) = subject.for_device().filter(|_| self.store.is_none() && self.refusal(subject).is_none()) else { return Ok(None) };
        let walks = !self.strategy.nature().by_levels;
        if walks || self.states.is_some() || self.steps.is_some() || subject.symmetry(self)?.0.is_some() {
            return Ok(None);
        }
        let started = Instant::now();
        let here = Plan { device: DeviceChoice::Cpu, ..self.clone() };
        let mut watch = Moving { inner: control, program, plan: self, started, asked: 0, tried: false, moves: false };
        let report = here.attempt(subject, end_at_limit, budget, &mut watch)?;
        if !watch.moves || report.verdict != Verdict::NotFound {
            return Ok(Some(report));
        }
        let rest = |started: Instant| self.time.map(|time| time.saturating_sub(started.elapsed()).max(Duration::from_millis(1)));
        let there = Plan { time: rest(started), ..self.clone() };
        match there.on_device(subject, 0, end_at_limit, budget, control) {
            Ok(mut report) => {
                // What the CPU did first is part of what the run took.
                let before = started.elapsed().as_secs_f64() - report.seconds;
                report.seconds += before;
                report.times.exploring += before;
                Ok(Some(report))
            }
            Err(RunError::Device { message }) => {
                let mut report = Plan { time: rest(started), ..here }.attempt(subject, end_at_limit, budget, control)?;
                report.remarks.push(format!("the search began again on the CPU: {message}"));
                Ok(Some(report))
            }
            Err(other) => Err(other),
        }
    }

    /// The reason why a run on a GPU is not possible, apart from the model.
    fn refusal(&self, subject: &dyn Subject) -> Option<String> {
        let wrong = [
            (subject.for_device().is_none(), "only models that become programs run there, and this one does not".to_string()),
            (
                !["auto", "bfs", "walk"].contains(&self.strategy.name()),
                format!("the strategy `{}` is not there: use bfs or walk", self.strategy.name()),
            ),
            (
                self.strategy.is("from", "visited") || self.strategy.is("choice", "states"),
                "walks there start in start states and draw firings".to_string(),
            ),
            (self.all_violations, "the option `all-violations` is not there".to_string()),
            (self.profile, "the option `profile` is not there".to_string()),
            (!self.find_rules.is_empty(), "the option `find-rule` is not there".to_string()),
        ];
        wrong.into_iter().find_map(|(is, why)| is.then_some(why))
    }

    /// Runs the plan on the GPU of this number.
    fn on_device(
        &self,
        subject: &dyn Subject,
        number: u32,
        end_at_limit: bool,
        budget: &Budget,
        control: &mut dyn Control,
    ) -> Result<Report, RunError> {
        let started = Instant::now();
        let refused = |message: String| RunError::Device { message };
        if let Some(why) = self.refusal(subject) {
            return Err(refused(why));
        }
        let Some(program) = subject.for_device() else { return Err(refused("there is no program".to_string())) };
        let symmetric = subject.symmetry(self)?.0.is_some();
        if symmetric && self.symmetry == SymmetryChoice::On {
            return Err(refused("symmetry is not there; with the option `symmetry` off, all states are searched".to_string()));
        }
        let replayed = subject.replaying(self);
        let replaying = replayed.space();
        let properties = subject.properties();
        let settings = Settings { end_at_limit, ..self.settings(subject, &properties, replaying, budget)? };
        let source = Source::new(program, self.code_limits()).map_err(|error| refused(error.to_string()))?;
        let device = Device::open(number).map_err(|error| refused(error.to_string()))?;
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
        let Carried { outcome, away, store, course, cover } = carried;
        let explored = started.elapsed();
        if is_empty(&outcome) && !subject.may_be_empty() {
            return Err(RunError::NoStartState);
        }
        let confidence = (outcome.verdict() == Verdict::NotFound).then(|| {
            let discovery = course.discovery(outcome.steps, outcome.covered.value as u64);
            Confidence::of(&outcome, expected_omissions(&outcome, &away), discovery, self.draws(), self.size)
        });
        let mut violations = Vec::new();
        if !outcome.violations.is_empty() {
            // Paths between the states of a trail are searched by compiled code.
            let running = subject.running(self, budget.limit());
            let space = running.space();
            let shortest = outcome.shortest;
            let writer = Writer {
                plan: self,
                subject,
                properties: &properties,
                replaying: &*replayed,
                shortest,
                space,
                inner: space,
                orbits: None,
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
        let walks = !self.strategy.nature().by_levels;
        report.device = Some(device.name().to_string());
        let witnesses = (started.elapsed() - explored).as_secs_f64();
        report.times = Times { exploring: explored.as_secs_f64(), audit: 0.0, witnesses };
        report.cover_times = cover.until(report.states, report.steps);
        report.coverage = self.size.map(|size| (report.states as f64 / size.max(1) as f64).min(1.0));
        report.repeatable = report.holds() || walks && !matches!(report.stop, Stop::Time | Stop::Interrupted);
        if symmetric {
            remarks.push("symmetry is not used on a GPU".to_string());
        }
        if walks {
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
    ) -> Result<Carried, RunError> {
        let refused = |message: String| RunError::Device { message };
        let walks = !self.strategy.nature().by_levels;
        let slots = slots(&store, source, device);
        let search = match slots {
            _ if walks => Search::Walks,
            Some(slots) => Search::Levels(slots),
            None => return Err(refused(format!("the store `{}` is not there: use exact, compact or bitstate", store.name()))),
        };
        let depth = self.code_limits().call_depth;
        let loaded = device.load(source, search, depth).map_err(|error| refused(error.to_string()))?;
        let asked = asked(settings, source.properties);
        let mut levels;
        let mut walking;
        let rounds: &mut dyn Rounds = match search {
            Search::Levels(slots) => {
                let bytes = self.device_memory.map_or_else(|| device.free() / 20 * 19, |bytes| bytes as u64);
                let made = Levels::new(&loaded, source, slots, bytes, &asked).map_err(|error| refused(error.to_string()))?;
                levels = LevelsOnDevice::new(made, source, slots);
                &mut levels
            }
            Search::Walks => {
                let lanes = self.strategy.number("lanes").unwrap_or(0).max(LANES);
                let restart = self.strategy.number("restart").unwrap_or(u64::MAX);
                let restart = restart.min(self.strategy.number("depth").unwrap_or(u64::MAX)).min(u64::from(self.depth.unwrap_or(u32::MAX)));
                walking = WalksOnDevice::new(&loaded, source, space, asked, (lanes, restart, self.seed));
                &mut walking
            }
        };
        let until = self.time.and_then(|time| started.checked_add(time));
        let quiet = Plan { audit: Some(0), ..self.clone() };
        let (reserve, cover, course, running) = (Reserve::new(&quiet, started), Cover::new(self.size), Course::default(), Interpreted(space));
        let mut watch =
            Watch { inner: control, budget, running: &running, refuted: &|| false, held: None, until: None, reserve, asked: 0, cover, course };
        let outcome = explore_on_device(space, rounds, settings, &mut Punctual { until, inner: &mut watch }).map_err(|error| refused(error.0))?;
        let away = rounds.standing().away;
        let away = Away { states: outcome.states, ..away };
        Ok(Carried { outcome, away, store, course: std::mem::take(&mut watch.course), cover: std::mem::take(&mut watch.cover) })
    }
}

/// The result of a search on a GPU.
struct Carried {
    outcome: Outcome,
    away: Away,
    store: StoreSpec,
    course: Course,
    cover: Cover,
}

/// The contents of a store's slots on a GPU, if it exists there.
fn slots(store: &StoreSpec, source: &Source, device: &Device) -> Option<Slots> {
    match store.name() {
        "exact" => Some(Slots::exact(source.bits, device.has_wide_swap())),
        "compact" if store.number("bits").is_some_and(|bits| bits <= 32) => Some(Slots::HalfFingerprint),
        "compact" => Some(Slots::Fingerprint),
        "bitstate" => Some(Slots::Bits),
        _ => None,
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

/// Ends a search on the CPU when it has taken long enough and a GPU can take it over.
struct Moving<'a> {
    inner: &'a mut dyn Control,
    program: &'a Arc<Program>,
    plan: &'a Plan,
    started: Instant,
    asked: u32,
    tried: bool,
    moves: bool,
}

impl Control for Moving<'_> {
    fn ask(&mut self, progress: &Progress) -> Option<Stop> {
        if let Some(stop) = self.inner.ask(progress) {
            return Some(stop);
        }
        self.asked = self.asked.wrapping_add(1);
        if !self.tried && self.asked.is_multiple_of(64) && self.started.elapsed() > PATIENCE {
            self.tried = true;
            self.moves = Source::new(self.program, self.plan.code_limits()).is_ok() && Device::open(0).is_ok_and(|device| device.free() > 0);
        }
        self.moves.then_some(Stop::Interrupted)
    }
}
