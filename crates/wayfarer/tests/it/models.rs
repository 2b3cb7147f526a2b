//! Our own models against their headers: verdict, violation, counts and the length of the shortest witness.
//!
//! Models of more than 300,000 states take too long for every day; `WAYFARER_LARGE=1` runs them too, and without it
//! the tests list those left out.

use crate::header::Header;
use std::path::{Path, PathBuf};
use wayfarer::ir::{Interpreter, Limits};
use wayfarer::memory::Budget;
use wayfarer::search::Unbounded;
use wayfarer::{LoadOptions, Loaded, Plan, Report, StoreSpec, SymmetryChoice, itf, load};

/// Models from this size on are large.
const LARGE: u64 = 300_000;
/// Models up to this size are small: they are run in every way there is.
const SMALL: u64 = 20_000;

struct Model {
    file: String,
    header: Header,
    loaded: Loaded,
}

impl Model {
    fn read(path: &Path) -> Model {
        let text = std::fs::read_to_string(path).expect("the model is there");
        Model::load(path, Vec::new(), Header::read(&text))
    }

    fn load(path: &Path, constants: Vec<(String, String)>, header: Header) -> Model {
        let values: String = constants.iter().map(|(name, value)| format!(" {name}={value}")).collect();
        let file = path.file_name().expect("a file").to_string_lossy().into_owned() + &values;
        let options = LoadOptions { constants, ..LoadOptions::default() };
        let loaded = load(path.to_str().expect("a plain path"), &options).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(loaded.warnings, "", "{file} has warnings");
        Model { header, file, loaded }
    }

    fn run(&self, plan: &Plan) -> Report {
        let budget = Budget::new(2 << 30, 0);
        plan.check(&self.loaded.program, &budget, &mut Unbounded).unwrap_or_else(|error| panic!("{}: {error}", self.file))
    }

    /// The differences between the run and the header, each headed by the model and the plan.
    fn differences(&self, plan: &Plan) -> Vec<String> {
        let report = self.run(plan);
        let way = if plan.interpret { "interpreted" } else { "compiled" };
        let differences = self.header.differences(&report, &self.loaded.program, plan.strategy.name() == "bfs");
        differences.into_iter().map(|difference| format!("{}, {}, {way}: {difference}", self.file, plan.strategy.name())).collect()
    }

    fn states(&self) -> u64 {
        self.header.states.unwrap_or(0)
    }
}

fn folder(path: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("readable").path()).filter(|path| path.extension().is_some_and(|ext| ext == "m")).collect();
    paths.sort();
    paths
}

fn models() -> Vec<Model> {
    let models: Vec<Model> = folder("../../models/murphi").iter().map(|path| Model::read(path)).collect();
    assert!(models.len() >= 15, "only {} models were found", models.len());
    models
}

/// A plan that counts states as headers do: without symmetry.
fn plan(strategy: &str, interpret: bool) -> Plan {
    Plan { strategy: strategy.parse().expect("a strategy"), interpret, symmetry: SymmetryChoice::Off, ..Plan::default() }
}

fn assert_none(differences: &[String]) {
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn models_are_as_their_headers_say() {
    let large = std::env::var_os("WAYFARER_LARGE").is_some();
    let mut differences = Vec::new();
    for model in models() {
        if model.states() > LARGE && !large {
            println!("left out: {} with {} states (set WAYFARER_LARGE to run it)", model.file, model.states());
            continue;
        }
        differences.extend(model.differences(&plan("bfs", false)));
    }
    assert_none(&differences);
}

#[test]
fn models_with_other_constants_are_as_their_headers_say() {
    let mut differences = Vec::new();
    let mut seen = 0;
    for path in folder("../../models/murphi") {
        for (constants, header) in Model::read(&path).header.with {
            differences.extend(Model::load(&path, constants, header).differences(&plan("bfs", false)));
            seen += 1;
        }
    }
    assert_none(&differences);
    assert!(seen >= 15, "only {seen} settings were tried");
}

#[test]
fn small_models_are_the_same_in_every_way() {
    let mut differences = Vec::new();
    for model in models().iter().filter(|model| model.states() <= SMALL) {
        for strategy in ["bfs", "dfs"] {
            for store in ["exact", "tree", "difference"].map(|name| name.parse::<StoreSpec>().expect("a store")) {
                for interpret in [true, false] {
                    let mut found = model.differences(&Plan { store: Some(store.clone()), ..plan(strategy, interpret) });
                    // A depth-first search may find any of several violations first.
                    found.retain(|difference| strategy == "bfs" || difference.contains("verdict") || model.header.violation.is_none());
                    differences.extend(found);
                }
            }
        }
    }
    assert_none(&differences);
}

/// The result of breadth-first search does not depend on the number of threads.
#[test]
fn threads_change_nothing() {
    for model in models().iter().filter(|model| model.states() <= SMALL) {
        let of = |threads: usize, store: &str| {
            let report = model.run(&Plan { threads, store: Some(store.parse().expect("a store")), ..plan("bfs", false) });
            let found: Vec<_> = report
                .violations
                .iter()
                .map(|violation| (violation.kind.word(), &violation.name, violation.witness.as_ref().map(|way| way.length)))
                .collect();
            format!(
                "{} {} {} {} {:?} {:?} {found:?}",
                report.verdict.word(),
                report.stop.word(),
                report.states,
                report.rules_fired,
                report.depth,
                report.rules
            )
        };
        for store in ["exact", "tree"] {
            let expected = of(1, store);
            for threads in [2, 5] {
                assert_eq!(of(threads, store), expected, "{}, {store}, {threads} threads", model.file);
            }
        }
    }
}

/// Up to symmetry a model has the same verdict, a witness of the same length, and as many states as its header says.
#[test]
fn orbits_are_as_headers_say() {
    let mut differences = Vec::new();
    let mut seen = 0;
    for model in models() {
        if model.states() > LARGE && model.header.orbits.is_none() {
            continue;
        }
        let mut ways = vec![("bfs", "exact", false)];
        if model.header.orbits.is_some_and(|orbits| orbits <= SMALL / 4) {
            ways.extend([("bfs", "exact", true), ("dfs", "exact", false), ("bfs", "tree", false), ("dfs", "difference", false)]);
        }
        for (strategy, store, interpret) in ways {
            let store = store.parse::<StoreSpec>().expect("a store");
            let plan = Plan { symmetry: SymmetryChoice::Auto, store: Some(store), ..plan(strategy, interpret) };
            let report = model.run(&plan);
            let header = Header { states: if report.symmetry { model.header.orbits } else { model.header.states }, ..model.header.clone() };
            let found = header.differences(&report, &model.loaded.program, strategy == "bfs");
            // Rules fire once for each orbit and not for each of its states; headers do not count them.
            let counts = |difference: &&String| !(report.symmetry && difference.starts_with("rules"));
            differences.extend(found.iter().filter(counts).map(|difference| format!("{}, {strategy}: {difference}", model.file)));
            if report.symmetry != (model.header.orbits.is_some() || report.symmetry && report.verdict.word() == "violated") {
                differences.push(format!("{}: symmetry is {}", model.file, if report.symmetry { "used" } else { "not used" }));
            }
            seen += usize::from(report.symmetry);
        }
    }
    assert_none(&differences);
    assert!(seen >= 15, "only {seen} models have symmetry");
}

/// Failures that were found by generated models and shrunk.
#[test]
fn kept_failures_stay_mended() {
    let mut differences = Vec::new();
    for path in folder("tests/it/regressions") {
        let model = Model::read(&path);
        for strategy in ["bfs", "dfs"] {
            for interpret in [true, false] {
                differences.extend(model.differences(&plan(strategy, interpret)));
            }
        }
    }
    assert_none(&differences);
}

/// The same plan gives the same report, except times and memory.
#[test]
fn runs_repeat_themselves() {
    for model in models().iter().filter(|model| model.states() <= SMALL) {
        for strategy in ["bfs", "dfs"] {
            let once = || timeless(model.run(&Plan { max_errors: 3, ..plan(strategy, false) }));
            assert_eq!(once(), once(), "{}, {}", model.file, strategy);
        }
    }
}

/// Interpreted and compiled runs give the same report: same order, same witness.
#[test]
fn compiled_code_does_what_the_interpreter_does() {
    for model in models().iter().filter(|model| model.states() <= SMALL) {
        for strategy in ["bfs", "dfs"] {
            let run = |interpret| {
                let mut report = timeless(model.run(&plan(strategy, interpret)));
                report.bytes_per_state = None;
                report
            };
            assert_eq!(run(true), run(false), "{}, {}", model.file, strategy);
        }
    }
}

#[test]
fn witnesses_replay_and_can_be_written_down() {
    let mut seen = 0;
    for model in models().iter().filter(|model| model.header.verdict == "violated") {
        let program = &model.loaded.program;
        let interpreter = Interpreter::new(program.clone(), Limits::default());
        for strategy in ["bfs", "dfs"] {
            let report = model.run(&plan(strategy, false));
            let violation = report.violations.first().expect("it is violated");
            let witness = violation.witness.as_ref().expect("it is about a state");
            witness.raw.replay(&interpreter, true, 1).unwrap_or_else(|error| panic!("{}: {error}", model.file));
            assert_eq!(witness.length, witness.steps.len(), "{}", model.file);
            for step in witness.steps.iter().filter(|step| step.fault.is_none()) {
                assert!(!step.changes.is_empty(), "{}: a step of a witness that changes nothing: {}", model.file, step.rule);
            }
            let trace = itf::read(&itf::write(program, witness, violation.kind.word())).unwrap_or_else(|error| panic!("{}: {error}", model.file));
            let rules: Vec<&str> = witness.steps.iter().map(|step| step.rule.as_str()).collect();
            assert_eq!(trace.rules, rules, "{}", model.file);
            assert_eq!(trace.states.len(), witness.raw.states.len(), "{}", model.file);
            seen += 1;
        }
    }
    assert!(seen >= 20, "only {seen} witnesses were looked at");
}

/// A run that was cut short says so, whatever cut it.
#[test]
fn limits_are_kept() {
    let model = Model::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/murphi/ticket_lock.m"));
    for strategy in ["bfs", "dfs"] {
        let usual = plan(strategy, false);
        let report = model.run(&Plan { states: Some(100), ..usual.clone() });
        assert_eq!((report.verdict.word(), report.stop.word(), report.states), ("not-found", "states", 100));
        let report = model.run(&Plan { depth: Some(3), ..usual.clone() });
        assert_eq!((report.verdict.word(), report.stop.word()), ("not-found", "depth"));
        assert!(report.depth <= Some(3) && report.states < 3255, "{report:?}");
        // A depth-first search does not count the states it left at the limit.
        assert!(report.frontier > 0 || strategy == "dfs", "{report:?}");
        let report = model.run(&Plan { steps: Some(500), ..usual });
        assert_eq!((report.verdict.word(), report.stop.word()), ("not-found", "steps"));
        assert!(report.rules_fired >= 500 && report.rules_fired < 6475);
    }
}

/// The report without the figures that differ from run to run.
fn timeless(mut report: Report) -> Report {
    (report.seconds, report.times, report.peak_memory_bytes) = (0.0, wayfarer::Times::default(), 0);
    report
}
