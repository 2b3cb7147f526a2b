//! Carries out a plan: chooses the parts once, here at the rim, runs the loop, replays what it found and writes the report.

use crate::memory::Budget;
use crate::report::{Change, CoverTime, Report, RuleReport, StepReport, ViolationReport, WitnessReport};
use crate::{Plan, stores, symmetry};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wayfarer_ir::symmetry::Orbits;
use wayfarer_ir::{At, FaultKind, Interpreter, Program, PropertyKind};
use wayfarer_jit::Compiled;
use wayfarer_search::{
    Account, Cause, Control, Crewing, Deadlock, Details, Ending, Fidelity, Limits, NoStore, Outcome, Progress, Settings, Sought, Stop, Store,
    StoreSpec, Verdict, Violation, Witness, WitnessError, explore, explore_apart, explore_by_levels, shortened,
};
use wayfarer_space::{Fault, Firing, PropertyBits, Rng, Space};

/// Why a run could not be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// A property of this name does not exist.
    UnknownProperty {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// A rule of this name does not exist.
    UnknownRule {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The memory budget is too small to begin.
    TooLittleMemory {
        /// The least that works, in bytes.
        least: usize,
    },
    /// The strategy cannot work over the store.
    Unsuited {
        /// The strategy's name.
        strategy: &'static str,
        /// What it needs instead.
        needs: &'static str,
        /// The store, as it was asked for.
        store: String,
    },
    /// Symmetry was asked for, and the model tells elements of a scalarset apart.
    Asymmetric {
        /// `file:line:column`.
        at: String,
        /// Why.
        message: String,
    },
    /// A witness up to symmetry has no counterpart in the model, which was taken to be symmetric on the user's word.
    BrokenSymmetry,
    /// The model has no start state.
    NoStartState,
    /// A witness did not replay: a defect of this program, never of the model.
    Replay(WitnessError),
}

impl fmt::Display for RunError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            RunError::UnknownProperty { name, known } if known.is_empty() => write!(out, "there is no property `{name}`: the model has none"),
            RunError::UnknownProperty { name, known } => {
                write!(out, "there is no property `{name}`; the model has: {}", known.join(", "))
            }
            RunError::TooLittleMemory { least } => {
                write!(out, "the memory budget is too small to begin: this model needs at least {} KiB", least.div_ceil(1024))
            }
            RunError::Unsuited { strategy, needs, store } => write!(out, "`{strategy}` needs {needs}, and `{store}` is not one"),
            RunError::UnknownRule { name, known } => write!(out, "there is no rule `{name}`; the model has: {}", known.join(", ")),
            RunError::Asymmetric { at, message } => {
                write!(out, "{at}: symmetry cannot be used: {message}\n  --symmetry off checks the model without it")
            }
            RunError::BrokenSymmetry => {
                write!(
                    out,
                    "a violation was found up to symmetry, but no run of the model leads there: it tells elements of scalarsets apart; use --symmetry off"
                )
            }
            RunError::NoStartState => write!(out, "the model has no start state, so there is nothing to explore"),
            RunError::Replay(error) => write!(out, "a violation was found but its witness does not replay ({error}): this is a defect of wayfarer"),
        }
    }
}

impl std::error::Error for RunError {}

impl Plan {
    /// Carries the plan out on a program. `control` is asked at the edge of every round; the plan's own time budget is kept here.
    pub fn check(&self, program: &Arc<Program>, budget: &Budget, control: &mut dyn Control) -> Result<Report, RunError> {
        let started = Instant::now();
        if program.starts.is_empty() {
            return Err(RunError::NoStartState);
        }
        let interpreter = Interpreter::new(program.clone(), self.code_limits());
        let settings = self.settings(program, budget)?;
        stores::refuse_if_too_small(self, &interpreter, budget)?;
        let running = Running::new(program, self, budget.limit());
        let (symmetry, remark) = symmetry::chosen(self, program)?;
        let orbits = symmetry.as_ref().map(|symmetry| Orbits::new(running.space(), symmetry));
        let space: &dyn Space = orbits.as_ref().map_or(running.space(), |orbits| orbits);
        budget.note_code(running.code_bytes());
        let crew = self.crew();
        let chosen = stores::settled(self, space.packing(), budget, crew.stores());
        let mut strategy = stores::strategy(self, chosen, &settings.limits, space.packing(), budget)?;
        let no_room = || RunError::TooLittleMemory { least: budget.limit() * 2 };
        let store: Box<dyn Store> = match crew {
            Crew::Apart(_) => Box::new(NoStore),
            _ => stores::store(self, chosen, space.packing(), budget, 1).ok_or_else(no_room)?,
        };
        let mut watch =
            Watch { inner: control, budget, running: &running, until: self.time.map(|time| started + time), asked: 0, cover: Cover::new(self.size) };
        let outcome = match crew {
            Crew::One => explore(space, &*store, &mut *strategy, &settings, &mut watch),
            Crew::Levels(workers) => explore_by_levels(space, &*store, workers, &settings, &mut watch),
            Crew::Apart(workers) => {
                let part = |worker: usize| {
                    // The first walker is the one that would walk alone.
                    let seed = if worker == 0 { self.seed } else { Rng::new(self.seed, "workers").split(worker as u64).next_word() };
                    let plan = Plan { seed, ..self.clone() };
                    let store = stores::store(&plan, chosen, space.packing(), budget, workers)?;
                    let strategy = stores::strategy(&plan, chosen, &settings.limits, space.packing(), budget).ok()?;
                    Some((store, strategy))
                };
                explore_apart(space, &part, workers, &settings, &mut watch)
            }
        };
        if outcome.states == 0 && outcome.violations.is_empty() && outcome.stop == Stop::Exhausted {
            return Err(RunError::NoStartState);
        }
        let (inner, store) = (running.space(), &*store);
        let (deadlock, loop_limit) = (self.deadlock, self.loop_limit);
        let writer = Writer { program, interpreter: &interpreter, space, inner, orbits: orbits.as_ref(), store, budget, deadlock, loop_limit };
        let cover = std::mem::take(&mut watch.cover);
        let mut deadline = Deadline { until: self.shorten_until(started), inner: control };
        let violations = outcome.violations.iter().map(|violation| writer.violation(violation, &mut deadline)).collect::<Result<_, _>>()?;
        let mut report = Report { violations, ..self.report(program, &interpreter, &outcome, (chosen, store), budget, started.elapsed()) };
        report.symmetry = symmetry.is_some();
        report.threads = crew.workers();
        report.cover_times = cover.until(report.states, report.steps);
        report.coverage = self.size.map(|size| report.states as f64 / size.max(1) as f64);
        report.repeatable = crew.repeats(&report);
        report.remarks.extend(remark);
        Ok(report)
    }

    /// Until when witnesses are made shorter: for a tenth of the time the search took, at least two seconds, within what is left of the time. None where they
    /// are shortest already, or the user wants them as they are.
    fn shorten_until(&self, started: Instant) -> Option<Instant> {
        if !self.shorten || self.strategy.name() == "bfs" {
            return None;
        }
        let now = Instant::now();
        let until = now + ((now - started) / 10).max(Duration::from_secs(2));
        Some(self.time.and_then(|time| started.checked_add(time)).map_or(until, |end| until.min(end)))
    }

    /// Who carries the plan out.
    fn crew(&self) -> Crew {
        let workers = match self.threads {
            0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            threads => threads,
        };
        // Limits of the logical clock end a run at the same place each time; over a shared store only one worker can keep that promise.
        let limited = self.states.is_some() || self.steps.is_some() || self.profile;
        match self.strategy.crew(&self.store()) {
            _ if workers == 1 => Crew::One,
            Crewing::Levels if !limited => Crew::Levels(workers),
            Crewing::Apart if self.states.is_none() => Crew::Apart(workers),
            _ => Crew::One,
        }
    }

    fn code_limits(&self) -> wayfarer_ir::Limits {
        wayfarer_ir::Limits { fuel: self.loop_limit, ..wayfarer_ir::Limits::default() }
    }

    fn settings(&self, program: &Program, budget: &Budget) -> Result<Settings, RunError> {
        let limits = Limits { states: self.states.unwrap_or(u64::MAX), steps: self.steps.unwrap_or(u64::MAX), depth: self.depth.unwrap_or(u32::MAX) };
        let mut properties = None;
        for name in &self.properties {
            let mut found = program.properties.iter().enumerate().filter(|(_, property)| property.name == *name).peekable();
            if found.peek().is_none() {
                let known = program.properties.iter().map(|property| property.name.clone()).collect();
                return Err(RunError::UnknownProperty { name: name.clone(), known });
            }
            // Two properties may have the same name: both are meant.
            found.for_each(|(number, _)| properties.get_or_insert_with(PropertyBits::default).insert(number as u32));
        }
        let record = self.record.unwrap_or_else(|| stores::record(&program.packing(), budget));
        let sought = self.sought(program)?;
        Ok(Settings {
            limits,
            deadlock: self.deadlock,
            max_errors: self.max_errors.max(1),
            properties,
            sought,
            aim: None,
            record,
            record_always: false,
            profile: self.profile,
        })
    }

    fn sought(&self, program: &Program) -> Result<Option<Sought>, RunError> {
        let mut sought = Sought::default();
        for name in &self.find {
            let meant = |property: &wayfarer_ir::Property| property.kind == PropertyKind::Reachable && property.name == *name;
            let mut found = program.properties.iter().enumerate().filter(|(_, property)| meant(property)).peekable();
            if found.peek().is_none() {
                return Err(RunError::UnknownProperty { name: name.clone(), known: Vec::new() });
            }
            found.for_each(|(number, _)| sought.properties.insert(number as u32));
        }
        for name in &self.find_rules {
            let mut first = 0;
            let mut found = false;
            for rule in &program.rules {
                let end = first + rule.instances() as u32;
                // A name alone means every instance; with its parameters' values, as reports write it, one.
                let meant = |number: u32| rule.name == *name || program.describe_rule(number) == *name;
                for number in (first..end).filter(|number| meant(*number)) {
                    sought.rules.insert(number);
                    found = true;
                }
                first = end;
            }
            if !found {
                return Err(RunError::UnknownRule { name: name.clone(), known: program.rules.iter().map(|rule| rule.name.clone()).collect() });
            }
        }
        Ok((!self.find.is_empty() || !self.find_rules.is_empty()).then_some(sought))
    }

    fn report(
        &self,
        program: &Program,
        space: &dyn Space,
        outcome: &Outcome,
        parts: (StoreSpec, &dyn Store),
        budget: &Budget,
        time: Duration,
    ) -> Report {
        let (chosen, store) = parts;
        let mut remarks = Vec::new();
        if let Some((firing, fault)) = outcome.limit {
            let site = &program.faults[fault.0 as usize];
            let rule = program.describe_rule(firing.rule);
            remarks.push(format!("a limit was met in rule {rule}: {} ({}); steps beyond it are missing", site.message, place(program, site.at)));
        }
        Report {
            model: program.source.clone(),
            verdict: match outcome.verdict() {
                Verdict::Holds => "holds",
                Verdict::Violated => "violated",
                Verdict::NotFound => "not-found",
            },
            stop: outcome.stop.word(),
            complete: outcome.is_complete(),
            assumed: outcome.discarded > 0 || program.properties.iter().any(|property| property.kind == PropertyKind::Assumption),
            states: outcome.covered.value.round() as u64,
            states_error: outcome.covered.error,
            insertions: outcome.states,
            steps: outcome.steps,
            redundancy: redundancy(outcome),
            density_factor: if self.strategy.name() == "bfs" { density_factor(outcome) } else { None },
            profile: outcome.profile.clone(),
            details: Details { figures: outcome.details.figures.iter().copied().chain(store.figures()).collect(), ..outcome.details.clone() },
            rules_fired: outcome.fired,
            depth: outcome.depth,
            frontier: outcome.frontier,
            seconds: time.as_secs_f64(),
            peak_memory_bytes: budget.peak(),
            bytes_per_state: (!store.is_empty()).then(|| store.bytes() as f64 / store.len() as f64),
            state_bits: space.packing().bits(),
            seed: self.seed,
            strategy: self.strategy.to_string(),
            store: chosen.to_string(),
            sought: !self.find.is_empty() || !self.find_rules.is_empty(),
            symmetry: false,
            coverage: None,
            cover_times: Vec::new(),
            threads: 1,
            repeatable: true,
            expected_omissions: match store.fidelity() {
                Fidelity::Exact => Some(0.0),
                Fidelity::Lossy(expected) => Some(expected),
                Fidelity::Amnesic => None,
            },
            rules: rules(program, outcome),
            violations: Vec::new(),
            remarks,
        }
    }
}

/// The share of visits that led to a state visited before: (n − k)/n for k distinct states in n visits.
fn redundancy(outcome: &Outcome) -> Option<f64> {
    let visits = outcome.steps + outcome.starts;
    (visits > 0).then(|| (1.0 - outcome.covered.value / visits as f64).max(0.0))
}

/// m/h for a tree of the same depth h and as many nodes, m its degree. The papers' diameter is the longest path without repetition, which nobody can
/// compute; the depth of breadth-first search stands for it.
fn density_factor(outcome: &Outcome) -> Option<f64> {
    let depth = outcome.depth.filter(|depth| outcome.is_complete() && *depth > 0)?;
    Some(wayfarer_theory::density_factor(outcome.states as f64, f64::from(depth)))
}

/// The space of a program as the plan wants it: compiled, or interpreted where that is asked for or compiling is not possible here.
pub fn space_of(program: &Arc<Program>, plan: &Plan) -> Box<dyn Space> {
    match Running::new(program, plan, usize::MAX) {
        Running::Compiled(compiled) => compiled,
        Running::Interpreted(interpreter) => interpreter,
    }
}

/// Who carries a plan out: one worker, several over one store, or several each for itself.
#[derive(Clone, Copy, Debug)]
enum Crew {
    One,
    Levels(usize),
    Apart(usize),
}

impl Crew {
    fn workers(self) -> usize {
        match self {
            Crew::One => 1,
            Crew::Levels(workers) | Crew::Apart(workers) => workers,
        }
    }

    /// How many stores share the budget.
    fn stores(self) -> usize {
        if let Crew::Apart(workers) = self { workers } else { 1 }
    }

    /// Whether the same plan gives the same report again. Where workers share a store, which of several shortest ways a witness takes depends on who came
    /// first, and so does where a budget cuts the run.
    fn repeats(self, report: &Report) -> bool {
        match self {
            Crew::One | Crew::Apart(_) => !matches!(report.stop, "time" | "interrupted" | "memory"),
            Crew::Levels(_) => report.verdict == "holds",
        }
    }
}

/// How a program runs.
enum Running {
    Compiled(Box<Compiled>),
    Interpreted(Box<Interpreter>),
}

/// Budgets below this are for experiments on small models, and compiling would spend much of them.
pub(crate) const LEAST_TO_COMPILE: usize = 8 << 20;

/// The share of the budget that machine code may take before commands are interpreted.
pub(crate) const CODE_SHARE: usize = 8;

impl Running {
    fn new(program: &Arc<Program>, plan: &Plan, memory: usize) -> Self {
        let limits = plan.code_limits();
        if !plan.interpret
            && memory >= LEAST_TO_COMPILE
            && let Ok(compiled) = Compiled::new(program.clone(), limits)
        {
            return Running::Compiled(Box::new(compiled.with_code_limit(memory / CODE_SHARE)));
        }
        Running::Interpreted(Box::new(Interpreter::new(program.clone(), limits)))
    }

    fn space(&self) -> &dyn Space {
        match self {
            Running::Compiled(compiled) => &**compiled,
            Running::Interpreted(interpreter) => &**interpreter,
        }
    }

    /// Bytes of machine code, which no allocator counts.
    fn code_bytes(&self) -> usize {
        match self {
            Running::Compiled(compiled) => compiled.code_bytes(),
            Running::Interpreted(_) => 0,
        }
    }
}

fn rules(program: &Program, outcome: &Outcome) -> Vec<RuleReport> {
    let mut from = 0;
    let mut reports = Vec::new();
    for rule in &program.rules {
        let end = from + rule.instances() as usize;
        reports.push(RuleReport { rule: rule.name.clone(), at: place(program, rule.at), fired: outcome.firings[from..end].iter().sum() });
        from = end;
    }
    reports
}

/// `file:line:column`.
fn place(program: &Program, at: At) -> String {
    if at.line == 0 { program.source.clone() } else { format!("{}:{}:{}", program.source, at.line, at.column) }
}

/// Keeps the time budget, then passes the question on.
struct Watch<'a> {
    inner: &'a mut dyn Control,
    budget: &'a Budget,
    running: &'a Running,
    until: Option<Instant>,
    asked: u32,
    cover: Cover,
}

/// When so much of a space of known size was covered.
#[derive(Clone, Debug, Default)]
struct Cover {
    /// Shares not yet covered, in states, the next one last; and those that were, with the steps until then.
    ahead: Vec<(f64, u64)>,
    behind: Vec<CoverTime>,
}

impl Cover {
    fn new(size: Option<u64>) -> Self {
        let ahead = size.map_or_else(Vec::new, |size| [1.0, 0.9, 0.8, 0.7, 0.6].map(|share| (share, (share * size as f64).ceil() as u64)).to_vec());
        Cover { ahead, behind: Vec::new() }
    }

    /// All that was covered when the run ended.
    fn until(mut self, states: u64, steps: u64) -> Vec<CoverTime> {
        self.see(states, steps);
        self.behind
    }

    fn see(&mut self, states: u64, steps: u64) {
        while let Some((share, wanted)) = self.ahead.last().copied()
            && states >= wanted
        {
            self.ahead.pop();
            self.behind.push(CoverTime { share, steps });
        }
    }
}

impl Control for Watch<'_> {
    fn ask(&mut self, progress: &Progress) -> Option<Stop> {
        self.cover.see(progress.states, progress.steps);
        self.asked = self.asked.wrapping_add(1);
        // Rounds are short: looking at the clock in every sixteenth is often enough.
        if self.asked % 16 == 1 {
            if self.until.is_some_and(|until| Instant::now() >= until) {
                return Some(Stop::Time);
            }
            self.budget.note_code(self.running.code_bytes());
            if !self.budget.allows(0) {
                return Some(Stop::Memory);
            }
        }
        self.inner.ask(progress)
    }
}

/// Ends the shortening of witnesses in time.
struct Deadline<'a> {
    /// None where witnesses stay as they are.
    until: Option<Instant>,
    inner: &'a mut dyn Control,
}

impl Control for Deadline<'_> {
    fn ask(&mut self, progress: &Progress) -> Option<Stop> {
        if self.until.is_some_and(|until| Instant::now() >= until) { Some(Stop::Time) } else { self.inner.ask(progress) }
    }
}

/// Writes down what was found, in the model's words.
struct Writer<'a> {
    program: &'a Program,
    interpreter: &'a Interpreter,
    space: &'a dyn Space,
    /// The space of the program itself, and its orbits where these were explored.
    inner: &'a dyn Space,
    orbits: Option<&'a Orbits<'a>>,
    store: &'a dyn Store,
    budget: &'a Budget,
    deadlock: Deadlock,
    loop_limit: u64,
}

impl Writer<'_> {
    fn violation(&self, violation: &Violation, deadline: &mut Deadline) -> Result<ViolationReport, RunError> {
        let mut raw_length = 0;
        let witness = match Witness::trace(self.space, self.store, violation, self.budget) {
            Ok(witness) => {
                raw_length = witness.len();
                let witness = match deadline.until {
                    Some(_) => shortened(self.space, witness, self.deadlock, self.budget, deadline),
                    None => witness.without_loops(),
                };
                let witness = self.concrete(witness)?;
                witness.replay(self.interpreter, self.deadlock != Deadlock::Stuck).map_err(RunError::Replay)?;
                Some(witness)
            }
            Err(WitnessError::NotAboutAState | WitnessError::NoRoom) => None,
            Err(error) => return Err(RunError::Replay(error)),
        };
        let cause = match witness.as_ref().map(|witness| witness.ending) {
            Some(Ending::Fault(firing, fault)) => Cause::Fault(firing, fault),
            Some(Ending::Rule(firing)) => Cause::Rule(firing),
            _ => violation.cause,
        };
        let (kind, name, at, detail) = self.cause(&cause, witness.as_ref());
        Ok(ViolationReport { kind, name, at, detail, witness: witness.map(|witness| self.witness(witness, raw_length)) })
    }

    /// The witness as one of the program, where it was found among orbits.
    fn concrete(&self, witness: Witness) -> Result<Witness, RunError> {
        let Some(orbits) = self.orbits else { return Ok(witness) };
        symmetry::concrete(self.program, self.inner, orbits, witness).map_err(|error| match self.program.asymmetries.is_empty() {
            true => RunError::Replay(error),
            false => RunError::BrokenSymmetry,
        })
    }

    fn cause(&self, cause: &Cause, witness: Option<&Witness>) -> (&'static str, String, String, Option<String>) {
        let program = self.program;
        match *cause {
            Cause::Property(number) => {
                let property = &program.properties[number as usize];
                let last = witness.and_then(|witness| witness.states.last());
                let failing = last.and_then(|state| self.interpreter.failing_conjunct(number, state));
                let detail = failing
                    .filter(|_| property.conjuncts.len() > 1)
                    .map(|(index, at)| format!("conjunct {} of {} is false, at {}", index + 1, property.conjuncts.len(), place(program, at)));
                ("invariant", property.name.clone(), place(program, property.at), detail)
            }
            Cause::PropertyFault(number, fault) => {
                let (_, message, at) = self.fault(fault);
                ("fault", message, at, Some(format!("while judging `{}`", program.properties[number as usize].name)))
            }
            Cause::Deadlock => {
                let detail = if self.deadlock == Deadlock::Stuck { "no rule is enabled" } else { "no rule leads to another state" };
                ("deadlock", "deadlock".to_string(), String::new(), Some(detail.to_string()))
            }
            Cause::Fault(firing, fault) => {
                let (kind, message, at) = self.fault(fault);
                let mut detail = format!("in rule {}", program.describe_rule(firing.rule));
                if program.faults[fault.0 as usize].kind == FaultKind::Endless {
                    detail.push_str(&format!("; one firing may take {} loop rounds and calls, which --loop-limit changes", self.loop_limit));
                }
                (kind, message, at, Some(detail))
            }
            Cause::Start(start, fault) => {
                let (kind, message, at) = self.fault(fault);
                (kind, message, at, Some(format!("in start state {}", program.describe_start(start))))
            }
            Cause::Found(number) => {
                let property = &program.properties[number as usize];
                ("found", property.name.clone(), place(program, property.at), None)
            }
            Cause::Rule(firing) => {
                let at = program.rule_of(firing.rule).map_or_else(String::new, |(family, _)| place(program, program.rules[family].at));
                ("rule", program.describe_rule(firing.rule), at, None)
            }
            Cause::NotReached(number) => {
                let property = &program.properties[number as usize];
                let detail = "every reachable state was visited, and none satisfies it";
                ("cover", property.name.clone(), place(program, property.at), Some(detail.to_string()))
            }
        }
    }

    fn fault(&self, fault: Fault) -> (&'static str, String, String) {
        let site = &self.program.faults[fault.0 as usize];
        let kind = match site.kind {
            FaultKind::Assertion => "assertion",
            FaultKind::Error => "error",
            _ => "fault",
        };
        (kind, site.message.clone(), place(self.program, site.at))
    }

    fn witness(&self, raw: Witness, raw_length: usize) -> WitnessReport {
        let program = self.program;
        let start_state =
            raw.states.first().map_or_else(Vec::new, |state| program.scalars(state).map(|leaf| (leaf.path.to_string(), leaf.text())).collect());
        let mut steps: Vec<StepReport> = raw
            .firings
            .iter()
            .zip(raw.states.windows(2))
            .map(|(firing, pair)| StepReport { changes: self.changes(&pair[0], &pair[1]), ..self.step(*firing) })
            .collect();
        if let Ending::Rule(firing) = raw.ending {
            let mut after = Vec::new();
            let last = raw.states.last().map_or(&[] as &[u64], Vec::as_slice);
            self.interpreter.fire(last, firing, &mut after);
            steps.push(StepReport { changes: self.changes(last, &after), ..self.step(firing) });
        }
        if let Ending::Fault(firing, fault) = raw.ending {
            let (_, message, at) = self.fault(fault);
            steps.push(StepReport { fault: Some(format!("{message} ({at})")), ..self.step(firing) });
        }
        WitnessReport { length: raw.len(), raw_length, start: program.describe_start(raw.start), start_state, steps, raw }
    }

    fn step(&self, firing: Firing) -> StepReport {
        let at = self.program.rule_of(firing.rule).map_or_else(String::new, |(family, _)| place(self.program, self.program.rules[family].at));
        StepReport { rule: self.program.describe_rule(firing.rule), at, changes: Vec::new(), fault: None }
    }

    fn changes(&self, old: &[u64], new: &[u64]) -> Vec<Change> {
        let differences = self.program.differences(old, new);
        differences.into_iter().map(|difference| Change { path: difference.path, from: difference.old, to: difference.new }).collect()
    }
}
