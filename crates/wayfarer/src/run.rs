//! Runs a plan: chooses the parts once, starts the search loop, replays its findings and writes the report.

mod crew;
#[cfg(feature = "gpu")]
mod device;
mod gain;

use crate::auditing::{self, AuditWatch, Reserve};
use crate::memory::Budget;
use crate::report::{Course, Report, RuleReport, Times, checks};
use crate::sizes::{bytes, count, counted};
use crate::subject::{FaultFacts, PropertyFacts, RuleFacts, Subject};
use crate::watch::{Cover, Deadline, Held, Watch};
use crate::writer::Writer;
use crate::{Confidence, Plan, RunError, SymmetryChoice, stores};
use crew::Crew;
use std::collections::HashSet;
use std::time::{Duration, Instant};
use wayfarer_search::{
    Audit, Auto, Control, Crewing, Fidelity, Job, Limits, NoStore, Outcome, Phase, Progress, Record, Representative, Settings, Sought, Stop, Store,
    StoreSpec, StrategySpec, Verdict,
};
use wayfarer_space::{PropertyBits, PropertyKind, Rng, Space, Word};

/// The remark on a violation that an audit met.
const MET_BY_AUDIT: &str = "the search itself found nothing; the random walks of the audit after it met this violation";

/// The things that a plan is run on.
#[derive(Clone, Copy)]
pub(crate) struct Attempt<'a> {
    pub(crate) subject: &'a dyn Subject,
    /// Whether the run ends at the first limit of representation, because a wider form of the subject may not have it.
    pub(crate) end_at_limit: bool,
    pub(crate) budget: &'a Budget,
}

impl Plan {
    /// Runs the plan on a subject, such as a program. `control` is asked after every round; this function keeps the
    /// plan's own time budget.
    pub fn check(&self, subject: &dyn Subject, budget: &Budget, control: &mut dyn Control) -> Result<Report, RunError> {
        self.attempt(Attempt { subject, end_at_limit: false, budget }, control)
    }

    /// The same.
    pub(crate) fn attempt(&self, attempt: Attempt, control: &mut dyn Control) -> Result<Report, RunError> {
        let Attempt { subject, end_at_limit, budget } = attempt;
        if self.strategy == StrategySpec::default() && self.store.is_some() || self.deadlock.is_none() {
            let plan = Plan { deadlock: self.deadlock.or(Some(subject.deadlock())), ..self.clone().settled() };
            return plan.attempt(attempt, control);
        }
        if let Some(report) = self.elsewhere(attempt, control)? {
            return Ok(report);
        }
        let started = Instant::now();
        let replayed = subject.replaying(self);
        let replaying = replayed.space();
        let properties = subject.properties();
        let settings = Settings { end_at_limit, ..self.settings(subject, &properties, replaying, budget)? };
        let running = subject.running(self, budget.limit());
        let running = &*running;
        budget.excuse();
        stores::refuse_if_too_small(self, replaying, budget)?;
        let (symmetry, remark) = subject.symmetry(self)?;
        let orbits = symmetry.as_ref().map(|symmetry| symmetry.orbits(running.space()));
        let orbits = orbits.as_deref();
        let space: &dyn Space = orbits.map_or(running.space(), |orbits| orbits.space());
        budget.note_code(running.code_bytes());
        let crew = Crew::of(self);
        let chosen = stores::settled(self, space.packing(), budget, crew.stores());
        stores::refuse_varying(&chosen, space.packing())?;
        let mut strategy = stores::strategy(self, &chosen, &settings.limits, space.packing(), budget)?;
        let no_room = || RunError::TooLittleMemory { least: budget.limit() * 2 };
        let store: Box<dyn Store> = match crew.shares_store() {
            true => stores::store(self, &chosen, space.packing(), budget, 1).ok_or_else(no_room)?,
            false => Box::new(NoStore),
        };
        let until = self.time.and_then(|time| started.checked_add(time));
        let (reserve, cover, course) = (Reserve::new(self, started), Cover::new(self.size), Course::default());
        let held = crew.shares_store().then(|| Held { store: &*store, waiting: waiting(&chosen, space.packing()) });
        let refuted = || symmetry.as_ref().is_some_and(|symmetry| symmetry.is_refuted());
        let mut watch = Watch { inner: control, budget, running, refuted: &refuted, held, until, reserve, asked: 0, looked: 0, cover, course };
        // Phases choose their stores themselves.
        let mut last: Option<Box<dyn Store>> = None;
        let workers = crew.workers();
        let mut outcome = match crew.crewing() {
            Crewing::Alone => Job::new(space, &*store, &mut *strategy, &settings).run(&mut watch),
            Crewing::Together => Job::together(space, &*store, chosen.abilities().recalls, budget, workers, &settings).run(&mut watch),
            Crewing::Phases => {
                let patient = self.time.is_some() || self.steps.is_some() || self.states.is_some();
                let auto = Auto { account: budget, memory: budget.free(), workers, seed: self.seed, confidence: self.confidence, patient };
                let (outcome, store) = Job::in_phases(space, auto, &settings).run_keeping(&mut watch);
                last = store;
                outcome
            }
            Crewing::Apart => {
                let part = |worker: usize| {
                    // The first walker is the one that would walk alone.
                    let seed = if worker == 0 { self.seed } else { Rng::new(self.seed, "workers").split(worker as u64).next_word() };
                    let plan = Plan { seed, ..self.clone() };
                    let store = stores::store(&plan, &chosen, space.packing(), budget, workers)?;
                    let strategy = stores::strategy(&plan, &chosen, &settings.limits, space.packing(), budget).ok()?;
                    Some((store, strategy))
                };
                Job::apart(space, &part, workers, &settings).run(&mut watch)
            }
        };
        let explored = started.elapsed();
        if refuted() {
            let time = self.time.map(|time| time.saturating_sub(explored));
            drop((strategy, last, store));
            let plan = Plan { symmetry: SymmetryChoice::Off, time, ..self.clone() };
            let mut report = plan.attempt(attempt, control)?;
            report.symmetry_note = subject.refuted_symmetry();
            return Ok(report);
        }
        if self.all_violations {
            outcome.keep_each_once();
        }
        if let Some(misuse) = subject.misuse() {
            return Err(misuse);
        }
        if is_empty(&outcome) && !subject.may_be_empty() {
            return Err(RunError::NoStartState);
        }
        // The strategy's memory is no longer needed, and the audit must fit into the budget, too.
        drop(strategy);
        let (inner, store) = (running.space(), last.as_deref().unwrap_or(&*store));
        let (cover, course) = (std::mem::take(&mut watch.cover), std::mem::take(&mut watch.course));
        // Workers that search apart meet the same states, and so do passes: how many were new, and when, is not known.
        let again = outcome.phases.iter().any(Phase::begins_again);
        let followed = crew.crewing() != Crewing::Apart && !again;
        let mut confidence = (outcome.verdict() == Verdict::NotFound).then(|| {
            let discovery = course.discovery(outcome.steps, outcome.covered.value as u64).filter(|_| followed);
            Confidence::of(&outcome, expected_omissions(&outcome, &chosen, store), discovery, self.draws(), self.size)
        });
        // Walks cannot leave a start state that could not be expanded, and add to tables that have no room.
        let tables = space.table_bytes();
        let is_crowded = outcome.stop == Stop::Memory && tables > budget.limit() / 4;
        let is_stuck = outcome.limit.is_some() && outcome.states == outcome.starts;
        let met = confidence.as_mut().filter(|_| !is_crowded && !is_stuck).and_then(|confidence| {
            let representative = orbits.map(|orbits| |state: &mut Vec<Word>| orbits.representative(state));
            let representative = representative.as_ref().map(|representative| representative as Representative);
            let (record, seed, workers) = (outcome.record.as_ref(), self.seed, crew.workers());
            let audit = Audit { space: inner, representative, store, record, settings: &settings, seed, workers };
            let progress = progress(&outcome);
            let mut watch = AuditWatch { until, budget, running, inner: control, progress };
            auditing::audit(self, &audit, space, &outcome, &mut watch, confidence)
        });
        let audit_done = started.elapsed();
        symmetry.iter().for_each(|symmetry| symmetry.rest());
        let mut writer = Writer {
            plan: self,
            subject,
            properties: &properties,
            replaying: &*replayed,
            shortest: outcome.shortest,
            space,
            inner,
            orbits,
            store,
            budget,
            effort: shortening_effort(&outcome),
            proves: !symmetry.as_ref().is_some_and(|symmetry| symmetry.is_doubtful()),
            threads: crew::threads(self),
            searching: crew.shares_space(),
        };
        let mut audited = None;
        if let Some(met) = met {
            audited = Some(MET_BY_AUDIT.to_string());
            confidence = None;
            (outcome.violations, outcome.shortest, writer.shortest) = (met.violations, false, false);
            if !met.among_representatives {
                (writer.space, writer.orbits) = (inner, None);
            }
        }
        let mut deadline = Deadline { until: self.shorten_until(started, &outcome), inner: control, found: progress(&outcome), is_over: false };
        let violations = outcome.violations.iter().map(|violation| writer.violation(violation, &mut deadline)).collect::<Result<_, _>>()?;
        let timed = deadline.is_over;
        let mut report =
            Report { violations, ..self.report((subject, &properties), replaying, &outcome, (&chosen, store), budget, started.elapsed()) };
        let seconds = |time: Duration| time.as_secs_f64();
        let (audit, witnesses) = (seconds(audit_done - explored), seconds(started.elapsed() - audit_done));
        report.times = Times { preparing: 0.0, exploring: seconds(explored), audit, witnesses };
        report.symmetry = symmetry.is_some();
        report.threads = crew.workers();
        report.cover_times = if followed { cover.until(report.states, report.steps) } else { Vec::new() };
        report.coverage = self.size.map(|size| (report.states as f64 / size.max(1) as f64).min(1.0));
        report.repeatable = crew.repeats(&report) && !timed;
        report.symmetry_note = remark.map(|why| match symmetry.is_none() {
            true => format!("{why}{}", gain::gain(subject, store, inner.width()).unwrap_or_default()),
            false => why,
        });
        report
            .remarks
            .extend(is_crowded.then(|| format!("the values and local states of the model's processes take {} of the memory", bytes(tables))));
        report.remarks.extend(audited.into_iter().chain(crew.remark(self)));
        report.confidence = confidence;
        Ok(report)
    }

    /// Runs the plan on a GPU if that is requested and worthwhile.
    #[cfg(not(feature = "gpu"))]
    fn elsewhere(&self, _: Attempt, _: &mut dyn Control) -> Result<Option<Report>, RunError> {
        match self.device {
            crate::DeviceChoice::Gpu(_) => Err(RunError::Device { message: "this program was built without the feature `gpu`".to_string() }),
            _ => Ok(None),
        }
    }

    /// The time until which witnesses are shortened: for a tenth of the time of the search, at least two seconds,
    /// within the remaining time. `None` if they are already shortest, or if the user wants them unchanged. An
    /// audit's witnesses are never already shortest.
    fn shorten_until(&self, started: Instant, outcome: &Outcome) -> Option<Instant> {
        if !self.shorten || outcome.shortest {
            return None;
        }
        let now = Instant::now();
        let until = now + ((now - started) / 10).max(Duration::from_secs(2));
        Some(self.time.and_then(|time| started.checked_add(time)).map_or(until, |end| until.min(end)))
    }

    /// Whether the strategy draws the states it visits, so that visit counts allow an estimate of their number.
    fn draws(&self) -> bool {
        self.strategy.nature().draws
    }

    fn settings(&self, subject: &dyn Subject, known: &[PropertyFacts], space: &dyn Space, budget: &Budget) -> Result<Settings, RunError> {
        let limits = Limits { states: self.states.unwrap_or(u64::MAX), steps: self.steps.unwrap_or(u64::MAX), depth: self.depth.unwrap_or(u32::MAX) };
        let mut properties = None;
        for name in &self.properties {
            let mut found = known.iter().enumerate().filter(|(_, property)| property.name == *name).peekable();
            if found.peek().is_none() {
                let known = known.iter().map(|property| property.name.clone()).collect();
                return Err(RunError::UnknownProperty { name: name.clone(), known });
            }
            // Several properties may have the same name: all are meant.
            found.for_each(|(number, _)| properties.get_or_insert_with(PropertyBits::default).insert(number as u32));
        }
        let record = self.record.unwrap_or_else(|| Record::suiting(budget.limit(), space.packing()));
        let sought = self.sought(subject, known, space)?;
        Ok(Settings {
            limits,
            deadlock: self.deadlock.unwrap_or_default(),
            max_errors: if self.all_violations { usize::MAX } else { self.max_errors.max(1) },
            each_once: self.all_violations,
            properties,
            sought,
            aim: None,
            record,
            record_always: false,
            profile: self.profile,
            end_at_limit: false,
        })
    }

    fn sought(&self, subject: &dyn Subject, known: &[PropertyFacts], space: &dyn Space) -> Result<Option<Sought>, RunError> {
        let mut sought = Sought::default();
        for name in &self.find {
            let meant = |property: &PropertyFacts| property.kind.asks_to_reach() && property.name == *name;
            let mut found = known.iter().enumerate().filter(|(_, property)| meant(property)).peekable();
            if found.peek().is_none() {
                let known = known.iter().filter(|property| property.kind.asks_to_reach()).map(|property| property.name.clone()).collect();
                return Err(RunError::NothingToFind { name: name.clone(), known });
            }
            found.for_each(|(number, _)| sought.properties.insert(number as u32));
        }
        for name in &self.find_rules {
            let mut found = (0..space.rules()).filter(|rule| subject.is_called(*rule, name)).peekable();
            if found.peek().is_none() {
                return Err(RunError::UnknownRule { name: name.clone(), known: subject.rules().into_iter().map(|rule| rule.name).collect() });
            }
            found.for_each(|rule| sought.rules.insert(rule));
        }
        Ok((!self.find.is_empty() || !self.find_rules.is_empty()).then_some(sought))
    }

    fn report(
        &self,
        (subject, properties): (&dyn Subject, &[PropertyFacts]),
        space: &dyn Space,
        outcome: &Outcome,
        parts: (&StoreSpec, &dyn Store),
        budget: &Budget,
        time: Duration,
    ) -> Report {
        let (chosen, store) = parts;
        // Of several passes, the figures of the last one's store are not those of the run.
        let speaks = !outcome.phases.iter().any(Phase::begins_again);
        let mut details = outcome.details.clone();
        if speaks {
            details.figures.append(store.figures());
        }
        let mut remarks = Vec::new();
        if let Some((firing, fault)) = outcome.limit {
            let FaultFacts { message, at, note, .. } = subject.words().fault(fault, self);
            let (rule, _) = subject.words().firing(None, firing);
            let note = note.map_or_else(String::new, |note| format!("; {note}"));
            remarks.push(format!("a limit was met in rule {rule}: {message} ({at}); steps beyond it are missing{note}"));
        }
        if is_empty(outcome) {
            remarks.push("the model has no start state, so there was nothing to explore".to_string());
        }
        remarks.extend(self.size.and_then(|size| wrong_size(size, outcome)));
        Report {
            model: subject.source().to_string(),
            verdict: outcome.verdict(),
            stop: outcome.stop,
            complete: outcome.is_complete(),
            assumed: outcome.discarded > 0 && !subject.is_bounded() || properties.iter().any(|property| property.kind == PropertyKind::Assumption),
            bounded: outcome.discarded > 0 && subject.is_bounded(),
            states: outcome.covered.value.round() as u64,
            states_error: outcome.covered.error,
            insertions: outcome.states,
            steps: outcome.steps,
            redundancy: redundancy(outcome),
            density_factor: if self.strategy.nature().by_levels { density_factor(outcome) } else { None },
            profile: outcome.profile.clone(),
            details,
            rules_fired: outcome.fired,
            depth: outcome.depth,
            frontier: outcome.frontier,
            seconds: time.as_secs_f64(),
            times: Times::default(),
            peak_memory_bytes: budget.peak(),
            bytes_per_state: (speaks && !store.is_empty()).then(|| store.bytes() as f64 / store.len() as f64),
            state_bits: space.packing().bits(),
            seed: self.seed,
            strategy: self.strategy.to_string(),
            store: if outcome.phases.is_empty() { chosen.to_string() } else { store_of(outcome).to_string() },
            phases: outcome.phases.clone(),
            sought: !self.find.is_empty() || !self.find_rules.is_empty(),
            symmetry: false,
            coverage: None,
            cover_times: Vec::new(),
            threads: 1,
            device: None,
            repeatable: true,
            expected_omissions: expected_omissions(outcome, chosen, store),
            rules: rules(subject, outcome),
            violations: Vec::new(),
            checks: checks(self, subject, properties, outcome),
            exhaustive: self.exhaustive,
            again: None,
            confidence: None,
            limit: outcome.limit.map(|(_, fault)| fault),
            restarts: 0,
            symmetry_note: None,
            remarks,
        }
    }
}

/// The figures of a search that has ended.
pub(crate) fn progress(outcome: &Outcome) -> Progress {
    let (states, depth) = (outcome.covered.value as u64, outcome.depth.unwrap_or_default());
    let Outcome { fired, steps, frontier, .. } = *outcome;
    Progress { states, fired, steps, frontier, depth, violations: outcome.violations.len(), ..Progress::default() }
}

/// The firings and states that shortening a witness may take: a tenth of the steps of the search, and in any case enough for a witness of a few hundred steps.
pub(crate) fn shortening_effort(outcome: &Outcome) -> u64 {
    (outcome.steps / 10).max(1 << 22)
}

/// The remark that `--size` is not the number of reachable states, if that is certain.
fn wrong_size(size: u64, outcome: &Outcome) -> Option<String> {
    let states = outcome.covered.value.round() as u64;
    let certain = outcome.covered.error == 0.0 && states != size && (outcome.is_complete() || states > size);
    let least = if outcome.is_complete() { "" } else { "at least " };
    certain.then(|| format!("the option `size` says {}, but this search can reach {least}{}", count(size), counted(states, "state")))
}

/// Whether a search ended at once because there is no start state.
fn is_empty(outcome: &Outcome) -> bool {
    outcome.states == 0 && outcome.violations.is_empty() && outcome.stop == Stop::Exhausted
}

/// The expected number of states that the store took for known ones; `None` if it forgets.
fn expected_omissions(outcome: &Outcome, chosen: &StoreSpec, store: &dyn Store) -> Option<f64> {
    match store.so_far() {
        // Several passes omit fewer than the last one.
        Fidelity::Lossy(_) if !outcome.phases.is_empty() => outcome.omissions.filter(|expected| expected.is_finite()),
        Fidelity::Exact => Some(0.0),
        Fidelity::Lossy(expected) => Some(expected),
        // A later phase that found no room to begin forgot nothing.
        Fidelity::Amnesic if !outcome.phases.is_empty() => Some(outcome.omissions.unwrap_or(0.0)),
        // Workers that search apart keep stores of their own, and this one stands for none of them.
        Fidelity::Amnesic => outcome.omissions.or(chosen.abilities().exact.then_some(0.0)),
    }
}

/// The share of visits that led to a known state: (n − k)/n for k distinct states in n visits.
fn redundancy(outcome: &Outcome) -> Option<f64> {
    let visits = outcome.steps + outcome.starts;
    (visits > 0).then(|| (1.0 - outcome.covered.value / visits as f64).max(0.0))
}

/// m/h for a tree of the same depth h and the same number of nodes, with degree m. The papers' diameter is the
/// longest path without repetition, which cannot be computed in practice; the depth of breadth-first search replaces
/// it.
fn density_factor(outcome: &Outcome) -> Option<f64> {
    let depth = outcome.depth.filter(|depth| outcome.is_complete() && *depth > 0)?;
    Some(wayfarer_theory::density_factor(outcome.states as f64, f64::from(depth)))
}

/// The approximate bytes of a state that waits to be expanded: if the store does not give states back, a packed state
/// with a number, and a part of a waypoint.
fn waiting(store: &StoreSpec, packing: &wayfarer_space::Packing) -> usize {
    match (store.abilities().recalls, packing.is_varying()) {
        (true, _) => 8,
        (false, true) => 48,
        (false, false) => (packing.bits() + 32).div_ceil(64) * 8 + packing.words() * 2 + 3,
    }
}

/// The store of the last of several phases.
fn store_of(outcome: &Outcome) -> &'static str {
    outcome.phases.last().map_or("exact", |phase| phase.name.split(" over ").nth(1).unwrap_or("compact"))
}

fn rules(subject: &dyn Subject, outcome: &Outcome) -> Vec<RuleReport> {
    let mut firings = outcome.firings.iter();
    let mut first = 0;
    let fired = |rule: RuleFacts| {
        let number = first;
        first += rule.instances;
        let fired = firings.by_ref().take(rule.instances as usize).sum();
        (number, RuleReport { fired, rule: rule.name, at: rule.at, elsewhere: false })
    };
    // A rule without a name is a number that the model does not use.
    let mut rules: Vec<(u32, RuleReport)> = subject.rules().into_iter().map(fired).filter(|(_, rule)| !rule.rule.is_empty()).collect();
    let mut executed = HashSet::new();
    for (number, _) in rules.iter().filter(|(number, rule)| rule.fired > 0 || !subject.is_counted(*number)) {
        let (begins, follow) = subject.statements(*number);
        executed.extend(begins.iter().chain(follow).copied());
    }
    rules.retain(|(number, rule)| rule.fired > 0 || subject.is_counted(*number));
    for (number, rule) in rules.iter_mut().filter(|(_, rule)| rule.fired == 0) {
        let (begins, _) = subject.statements(*number);
        rule.elsewhere = !begins.is_empty() && begins.iter().all(|statement| executed.contains(statement));
        // One rule is enough to name a statement.
        executed.extend(begins);
    }
    rules.into_iter().map(|(_, rule)| rule).collect()
}
