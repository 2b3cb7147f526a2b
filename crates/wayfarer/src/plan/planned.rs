//! A plan together with its subject, built up option by option.

use crate::memory::Budget;
use crate::plan::DeviceChoice;
use crate::subject::Subject;
use crate::{Amount, Modelled, Outlet, Plan, PlanOption, Repeated, Report, RunError, StoreSpec, StrategySpec, SymmetryChoice, itf, machine, sizes};
use std::sync::Arc;
use std::time::{Duration, Instant};
use wayfarer_model::{BySerde, Coded, Model, Tight};
use wayfarer_search::{Control, Deadlock, Progress, Stop};

/// A plan and its subject. Every option of a run has the name, the default and the meaning of the command line's;
/// text is parsed in the same way, so `memory("256M")` and `memory(256 << 20)` are the same. The options for reading
/// a file are in `LoadOptions`, `--runs` is [`run_repeatedly`](Planned::run_repeatedly), and for a curve you watch
/// the run ([`run_watched`](Planned::run_watched)). Under `cargo test` a run takes one thread and 256 MiB by default.
#[derive(Clone)]
pub struct Planned {
    subject: Arc<dyn Subject>,
    plan: Plan,
    /// The given options, as they are written in Rust.
    given: Vec<(&'static str, String)>,
    /// The Rust expression that makes the plan.
    beginning: String,
    progress: bool,
    witness: Option<String>,
    /// An error in an option, reported when the run begins.
    wrong: Option<RunError>,
}

/// The default memory of a run under `cargo test`: several tests run in parallel.
const TEST_MEMORY: usize = 256 << 20;

/// A run that takes longer than this reports its progress.
const QUIET: Duration = Duration::from_secs(5);

impl Plan {
    /// The plan to check a model written in Rust. Its states are encoded by `serde` or, if they derive
    /// [`Packed`](crate::Packed), packed. If both are possible, use [`Plan::packed`] or [`Plan::by_serde`].
    ///
    /// ```
    /// use wayfarer::prelude::*;
    ///
    /// struct Counter;
    ///
    /// impl Model for Counter {
    ///     type State = u32;
    ///     type Action = &'static str;
    ///
    ///     fn initial(&self) -> Vec<u32> {
    ///         vec![0]
    ///     }
    ///
    ///     fn actions(&self, _: &u32, actions: &mut Vec<&'static str>) {
    ///         actions.extend(["one more", "start again"]);
    ///     }
    ///
    ///     fn next(&self, state: &u32, action: &&'static str) -> Option<u32> {
    ///         Some(if *action == "one more" { (state + 1) % 10 } else { 0 })
    ///     }
    ///
    ///     fn properties(&self, properties: &mut Properties<Self>) {
    ///         properties.always("below ten", |_, state| *state < 10).sometimes("nine", |_, state| *state == 9);
    ///     }
    /// }
    ///
    /// let report = Plan::packed(Counter).run()?;
    /// report.assert_holds();
    /// assert_eq!(report.states, 10);
    /// # Ok::<(), RunError>(())
    /// ```
    #[allow(clippy::new_ret_no_self)] // A plan by itself has no subject: `Plan::default` makes one.
    pub fn new<M: Model + 'static, UsePlanPackedOrPlanBySerde: 'static>(model: M) -> Planned
    where
        M::State: Coded<UsePlanPackedOrPlanBySerde>,
    {
        Planned::about(Arc::new(Modelled::<M, UsePlanPackedOrPlanBySerde>::new(model)), "Plan::new")
    }

    /// The plan to check a model whose states are packed into a fixed number of bits, whether or not `serde` could
    /// write them.
    pub fn packed<M: Model + 'static>(model: M) -> Planned
    where
        M::State: Coded<Tight>,
    {
        Planned::about(Arc::new(Modelled::<M, Tight>::new(model)), "Plan::packed")
    }

    /// The plan to check a model whose states are encoded by `serde`, whether or not they could be packed.
    pub fn by_serde<M: Model + 'static>(model: M) -> Planned
    where
        M::State: Coded<BySerde>,
    {
        Planned::about(Arc::new(Modelled::<M, BySerde>::new(model)), "Plan::by_serde")
    }

    /// The plan to check any other [`Subject`].
    pub fn about(subject: Arc<dyn Subject>) -> Planned {
        Planned::about(subject, "Plan::about")
    }

    /// The plan to check the model in a file (feature `murphi`): a Murphi model, or a graph if its name ends in
    /// `.aut`.
    #[cfg(feature = "murphi")]
    pub fn from_file(path: &str) -> Result<Planned, crate::LoadError> {
        let planned = Plan::from_file_with(path, &crate::LoadOptions::default())?;
        Ok(planned.written(format!("Plan::from_file({path:?})?")))
    }

    /// The same, read with other values for the model's constants, an expression to search for (then to be named in
    /// [`find`](Planned::find)), or strictly.
    #[cfg(feature = "murphi")]
    pub fn from_file_with(path: &str, options: &crate::LoadOptions) -> Result<Planned, crate::LoadError> {
        let subject = crate::open(path, options)?.subject;
        Ok(Planned { beginning: format!("Plan::from_file_with({path:?}, &{options:?})?"), ..Planned::about(subject, "") })
    }
}

impl Planned {
    fn about(subject: Arc<dyn Subject>, beginning: &str) -> Planned {
        let beginning = format!("{beginning}({})", subject.source());
        let plan = Plan::default();
        Planned { subject, plan, given: Vec::new(), beginning, progress: true, witness: None, wrong: None }
    }

    /// The same plan with the Rust expression that makes it, for the line that repeats a run. For code that builds
    /// plans in its own way.
    pub fn written(self, beginning: impl Into<String>) -> Self {
        Planned { beginning: beginning.into(), ..self }
    }

    /// The same plan, which fails with this error when it is run.
    pub fn refused(self, why: RunError) -> Self {
        Planned { wrong: self.wrong.or(Some(why)), ..self }
    }

    /// Sets an option of the table: `text` is its value in Rust, `word` the text that the table parses.
    fn set(mut self, option: &'static str, text: String, word: &str) -> Self {
        self.given.push((option, text));
        if let Some(row) = PlanOption::named(option)
            && let Err(message) = (row.set)(&mut self.plan, word)
        {
            self.wrong = self.wrong.or(Some(RunError::Wrong { option, message }));
        }
        self
    }

    fn option<T>(self, option: &'static str, amount: impl Amount<T>) -> Self {
        self.set(option, amount.text(), &amount.word())
    }

    fn switch(self, option: &'static str, on: bool) -> Self {
        self.set(option, on.to_string(), if on { "on" } else { "off" })
    }

    fn name(self, option: &'static str, name: &str) -> Self {
        self.set(option, format!("{name:?}"), name)
    }

    /// The memory of the run: `"512M"`, or bytes. The default is three quarters of the free memory.
    ///
    /// This counts stores, the frontier and the record. If [`memory::Counting`](crate::memory::Counting) is the
    /// global allocator, it counts every byte that the process allocates from the beginning of the run.
    pub fn memory(self, size: impl Amount<usize>) -> Self {
        self.option("memory", size)
    }

    /// The time of the run: `"30s"`, or a [`Duration`].
    pub fn time(self, time: impl Amount<Duration>) -> Self {
        self.option("time", time)
    }

    /// Stops after this many distinct states.
    pub fn states(self, count: impl Amount<u64>) -> Self {
        self.option("states", count)
    }

    /// Stops after this many steps: fired rules, or random choices of a strategy that makes them.
    pub fn steps(self, count: impl Amount<u64>) -> Self {
        self.option("steps", count)
    }

    /// Does not expand states at this depth.
    pub fn depth(self, depth: impl Amount<u32>) -> Self {
        self.option("depth", depth)
    }

    /// The device of the search: `"auto"`, `"cpu"`, `"gpu"`, or `"gpu:1"` for the second GPU (feature `gpu`).
    pub fn device(self, device: impl Amount<DeviceChoice>) -> Self {
        self.option("device", device)
    }

    /// Memory of the GPU that the run may take: `"16G"`, or bytes.
    pub fn device_memory(self, size: impl Amount<usize>) -> Self {
        self.option("device_memory", size)
    }

    /// The number of workers; by default one for each processor.
    pub fn threads(self, threads: u32) -> Self {
        self.option("threads", threads)
    }

    /// The seed of everything random; 1 by default.
    pub fn seed(self, seed: u64) -> Self {
        self.option("seed", seed)
    }

    /// The search strategy: `"bfs"`, or `"rdfs"`, `"rbfs:maxpom=0.01"` and so on, as `--strategy` lists them.
    pub fn strategy(self, strategy: impl Amount<StrategySpec>) -> Self {
        self.option("strategy", strategy)
    }

    /// The store: `"exact"`, `"compact:bits=40"` and so on, as `--store` lists them; by default one that suits the
    /// strategy.
    pub fn store(self, store: impl Amount<StoreSpec>) -> Self {
        self.option("store", store)
    }

    /// Whether symmetric states are treated as one: `"auto"`, `"on"` or `"off"`.
    pub fn symmetry(self, choice: impl Amount<SymmetryChoice>) -> Self {
        self.option("symmetry", choice)
    }

    /// The definition of a deadlock: `"stuttering"` if no action leads to another state, `"stuck"` if none is
    /// possible, or `"off"`.
    pub fn deadlock(self, rule: impl Amount<Deadlock>) -> Self {
        self.option("deadlock", rule)
    }

    /// The confidence that the default strategy needs that no state was omitted before it ends, if memory is too
    /// small for every state; 0.99 by default.
    pub fn confidence(self, probability: impl Amount<f64>) -> Self {
        self.option("confidence", probability)
    }

    /// Checks only this property and others named in the same way.
    pub fn property(self, name: &str) -> Self {
        self.name("property", name)
    }

    /// Searches for a state in which this `sometimes` property holds, instead of violations.
    pub fn find(self, name: &str) -> Self {
        self.name("find", name)
    }

    /// Searches for a firing of this rule, instead of violations. In a Rust model, a rule is a variant of the action
    /// type, or one action as reports write it. Actions are known only when they happen, so a name that no action has
    /// is never reached.
    pub fn find_rule(self, name: &str) -> Self {
        self.name("find_rule", name)
    }

    /// The number of random walks of each sampler that audit a run that found nothing; `"off"` for none; by default a
    /// number that suits the search.
    pub fn audit(self, walks: impl Amount<u64>) -> Self {
        self.option("audit", walks)
    }

    /// The number of reachable states, if it is known: coverage and cover times are then reported.
    pub fn size(self, count: impl Amount<u64>) -> Self {
        self.option("size", count)
    }

    /// Counts the visits of each state.
    pub fn profile(self, on: bool) -> Self {
        self.switch("profile", on)
    }

    /// Stops after this many violations.
    pub fn max_errors(self, count: impl Amount<u64>) -> Self {
        self.option("max_errors", count)
    }

    /// Continues until everything was visited, and reports each violated property once.
    pub fn all_violations(self, on: bool) -> Self {
        self.switch("all_violations", on)
    }

    /// Whether unproved checks fail in JUnit and SARIF files.
    pub fn exhaustive(self, on: bool) -> Self {
        self.switch("exhaustive", on)
    }

    /// Whether to shorten a witness that may not be a shortest one.
    pub fn shorten(self, on: bool) -> Self {
        self.switch("shorten", on)
    }

    /// The number of loop rounds and calls that one firing of a Murphi model may take.
    pub fn loop_limit(self, count: impl Amount<u64>) -> Self {
        self.option("loop_limit", count)
    }

    /// Interprets a Murphi model instead of compiling it.
    pub fn interpret(self, on: bool) -> Self {
        self.switch("interpret", on)
    }

    /// Keeps machine code in the user's cache folder for later runs.
    pub fn keep_code(self, on: bool) -> Self {
        self.switch("keep_code", on)
    }

    /// Writes the witness of a violation to this file, in the Informal Trace Format.
    pub fn witness(mut self, file: &str) -> Self {
        self.given.push(("witness", format!("{file:?}")));
        self.witness = Some(file.to_string());
        self
    }

    /// Whether a long run prints its progress to the standard error.
    pub fn progress(mut self, on: bool) -> Self {
        self.progress = on;
        self
    }

    /// The current plan, with its defaults filled in.
    pub fn plan(&self) -> Plan {
        let testing = is_test();
        let memory = self.plan.memory.unwrap_or_else(|| if testing { TEST_MEMORY } else { machine::Free::read().default_budget() });
        let given = self.given.iter().any(|(option, _)| *option == "threads");
        let threads = if given { self.plan.threads } else { usize::from(testing) };
        Plan { memory: Some(memory), threads, ..self.plan.clone() }
    }

    /// Runs the plan.
    pub fn run(&self) -> Result<Report, RunError> {
        self.run_watched(&mut Talking::new(self.progress, self.subject.source()))
    }

    /// Runs the plan. `control` is asked after every round and may end it.
    pub fn run_watched(&self, control: &mut dyn Control) -> Result<Report, RunError> {
        if let Some(wrong) = &self.wrong {
            return Err(wrong.clone());
        }
        let outlet = self.witness.as_deref().map(Outlet::new).transpose().map_err(|error| self.unwritten(&error))?;
        let plan = self.plan();
        let budget = Budget::of_run(plan.memory.unwrap_or(usize::MAX));
        let mut subject = self.subject.clone();
        let mut report = plan.check_widening(&mut subject, &budget, control)?;
        report.again = Some(self.again(&report));
        if let Some(outlet) = outlet
            && let Some((violation, witness)) = report.violations.iter().find_map(|violation| Some((violation, violation.witness.as_ref()?)))
        {
            let object = itf::write(&*subject, witness, &format!("{}: {}", violation.kind, violation.name));
            outlet.write(&format!("{object:#}\n")).map_err(|error| self.unwritten(&error))?;
        }
        Ok(report)
    }

    /// Runs the plan several times, each with the next seed.
    pub fn run_repeatedly(&self, runs: u32) -> Result<Repeated, RunError> {
        let run = |number: u32| {
            let mut planned = self.clone();
            planned.plan.seed = self.plan.seed.wrapping_add(u64::from(number));
            planned.run()
        };
        Ok(Repeated { runs: (0..runs).map(run).collect::<Result<_, _>>()? })
    }

    fn unwritten(&self, error: &std::io::Error) -> RunError {
        RunError::Write { file: self.witness.clone().unwrap_or_default(), message: error.to_string() }
    }

    /// The line that repeats the run.
    fn again(&self, report: &Report) -> String {
        let mut given = self.given.clone();
        if given.iter().all(|(option, _)| *option != "seed") {
            given.push(("seed", report.seed.to_string()));
        }
        // Time limits do not repeat exactly; the number of steps does.
        if matches!(report.stop, Stop::Time | Stop::Interrupted) && report.threads == 1 {
            given.retain(|(option, _)| !matches!(*option, "time" | "steps"));
            given.push(("steps", report.steps.to_string()));
        }
        let options: String = given.iter().map(|(option, value)| format!(".{option}({value})")).collect();
        format!("{}{options}.run()", self.beginning)
    }
}

/// Whether this process is a test: `cargo test` builds them into a folder of their own.
fn is_test() -> bool {
    if std::env::var_os("NEXTEST").is_some() {
        return true;
    }
    let Ok(program) = std::env::current_exe() else { return false };
    let folder = program.parent().and_then(|folder| folder.file_name()).map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    folder == "deps" || folder.starts_with("rustdoctest") || program.file_stem().is_some_and(|name| name == "rust_out")
}

/// Prints the progress of a long run from time to time.
struct Talking<'a> {
    name: Option<&'a str>,
    started: Instant,
    next: Duration,
    asked: u32,
}

impl<'a> Talking<'a> {
    fn new(on: bool, name: &'a str) -> Self {
        Talking { name: on.then_some(name), started: Instant::now(), next: QUIET, asked: 0 }
    }
}

impl Control for Talking<'_> {
    fn ask(&mut self, progress: &Progress) -> Option<Stop> {
        self.asked = self.asked.wrapping_add(1);
        let name = self.name?;
        if self.asked.is_multiple_of(64) && self.started.elapsed() >= self.next {
            let passed = self.started.elapsed();
            let (states, frontier) = (sizes::count(progress.states), sizes::count(progress.frontier));
            eprintln!(
                "wayfarer: {name}: {states} states, {frontier} waiting, depth {} after {}",
                progress.depth,
                sizes::seconds(passed.as_secs_f64())
            );
            self.next = passed + QUIET.max(passed / 2);
        }
        None
    }
}
