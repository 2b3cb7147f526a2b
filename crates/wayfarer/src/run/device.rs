//! Runs a plan on a GPU: if the user requests it, or if the search turns out to be long and there is one ([`moving`]).

mod beside;
mod carrying;
mod moving;
mod repeating;

use super::{Attempt, expected_omissions, is_empty};
use crate::report::{Report, Times};
use crate::subject::Subject;
use crate::watch::Deadline;
use crate::writer::Writer;
use crate::{Confidence, DeviceChoice, Plan, RunError, SymmetryChoice};
use carrying::{Carried, slots};
use std::time::Instant;
use wayfarer_gpu::{Device, Source, Unsupported};
use wayfarer_ir::Program;
use wayfarer_search::{Cause, Control, DeviceKeeps, OnDevice, Settings, Stop, StoreSpec, Verdict, Violation};
use wayfarer_space::{Firing, Space, States, Steps};

impl Plan {
    /// Runs the plan on a GPU if that is requested and worthwhile.
    pub(super) fn elsewhere(&self, attempt: Attempt, control: &mut dyn Control) -> Result<Option<Report>, RunError> {
        match self.device {
            DeviceChoice::Cpu => Ok(None),
            DeviceChoice::Gpu(number) => match self.on_device_and_cores(number, attempt, control) {
                Err(Refused::Symmetry(why)) => {
                    let here = Plan { device: DeviceChoice::Cpu, ..self.clone() };
                    let mut report = here.attempt(attempt, control)?;
                    report.remarks.push(format!("the search up to symmetry ran on the CPU: {why}"));
                    Ok(Some(report))
                }
                other => Ok(Some(other?)),
            },
            DeviceChoice::Auto => self.moving(attempt, control),
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
            (self.profile && (nature.device != OnDevice::Levels || kept != DeviceKeeps::State))
                .then(|| "the option `profile` is there for breadth-first search over `exact` alone".to_string()),
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
    fn on_device(&self, number: u32, attempt: Attempt, control: &mut dyn Control) -> Result<Report, Refused> {
        let Attempt { subject, end_at_limit, budget } = attempt;
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
        let mut remarks = Vec::new();
        if self.goes_on_over_fingerprints(&carried.outcome, carried.store_is_full) {
            let compact = StoreSpec::parse("compact").unwrap_or_else(|_| StoreSpec::exact());
            remarks.push(format!(
                "the exact store on the GPU was full after {} states; the search began again over fingerprints",
                carried.outcome.states
            ));
            carried = self.carry_out(&device, &source, replaying, &settings, compact, started, budget, control)?;
        }
        let Carried { mut outcome, away, store, course, cover, searched, store_is_full, audited, audit, remark } = carried;
        let explored = started.elapsed();
        if outcome.stop == Stop::Memory && !store_is_full {
            remarks.push("states that wait to be expanded found no room, neither on the GPU nor in the host's budget".to_string());
        }
        remarks.extend(remark);
        if self.all_violations {
            outcome.keep_each_once();
        }
        if is_empty(&outcome) && !subject.may_be_empty() {
            return Err(Refused::Run(RunError::NoStartState));
        }
        let mut confidence = (outcome.verdict() == Verdict::NotFound).then(|| {
            let discovery = course.discovery(outcome.steps, outcome.covered.value as u64);
            let evidence = Confidence::of(&outcome, expected_omissions(&outcome, &store, &away), discovery, self.draws(), self.size);
            Confidence { audit: audited.reports, ..evidence }
        });
        let met_by_audit = audited.violation.is_some();
        if let Some(violation) = audited.violation {
            remarks.push(super::MET_BY_AUDIT.to_string());
            (confidence, outcome.violations, outcome.shortest) = (None, vec![violation], false);
        }
        let mut violations = Vec::new();
        if !outcome.violations.is_empty() {
            // Paths between the states of a trail are searched by compiled code.
            let running = subject.running(self, budget.limit());
            let inner = running.space();
            // Walks of an audit go through states, and not through representatives.
            let orbits = symmetry.as_ref().filter(|_| by_orbits && !met_by_audit).map(|symmetry| symmetry.orbits(inner));
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
                threads: super::crew::threads(self),
                searching: false,
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
        let preparing = explored.saturating_sub(searched).saturating_sub(audit).as_secs_f64();
        report.times = Times { preparing, exploring: searched.as_secs_f64(), audit: audit.as_secs_f64(), witnesses };
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
