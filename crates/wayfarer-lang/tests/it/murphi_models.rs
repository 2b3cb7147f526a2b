//! Models that others wrote must have the results of the tools they were written for: the same verdict and the same
//! numbers of states and firings. A naive explorer runs them: breadth first, a hash set of whole states, nothing
//! shared with the searches of this project. The corpus is not part of the project: without `WAYFARER_CORPUS` these
//! tests say that they did not run. `WAYFARER_STATES` limits the states of a model (20,000 by default),
//! `WAYFARER_ONLY` selects files by a part of their names.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use wayfarer_ir::{FaultKind, Interpreter, Limits, PropertyKind};
use wayfarer_lang::murphi::{self, Options, Undefined};
use wayfarer_lang::source::Source;
use wayfarer_space::{Firing, PropertyBits, Space, States, Steps};

/// The result of an exploration.
#[derive(Clone, Debug, PartialEq, Eq)]
enum End {
    Rejected(String),
    /// Firings discarded by a statement's or the model's assumption are counted separately: rumur counts only the
    /// latter.
    Holds {
        states: u64,
        fired: u64,
        discarded: u64,
    },
    Violated {
        kind: &'static str,
        detail: String,
        states: u64,
    },
    Unfinished,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Deadlock {
    Off,
    Stuck,
    Stuttering,
}

struct Explorer {
    space: Interpreter,
    seen: HashSet<Box<[u64]>>,
    reached: PropertyBits,
    fired: u64,
    discarded: u64,
    deadlock: Deadlock,
    most: usize,
}

impl Explorer {
    fn run(&mut self) -> End {
        let mut frontier = States::new(self.space.width());
        let mut steps = Steps::new(self.space.width());
        self.space.initial(&mut steps);
        if let Some(end) = self.admit(&steps, &mut frontier) {
            return end;
        }
        self.fired = 0;
        while !frontier.is_empty() {
            let level = std::mem::replace(&mut frontier, States::new(self.space.width()));
            for state in level.iter() {
                let mut batch = States::new(self.space.width());
                batch.push(state);
                self.space.expand(&batch, Firing::of(0), &mut steps);
                self.fired += u64::from(steps.enabled[0]) - steps.discarded;
                self.discarded += steps.discarded;
                let stuck = match self.deadlock {
                    Deadlock::Off => false,
                    Deadlock::Stuck => steps.enabled[0] == 0,
                    Deadlock::Stuttering => steps.faults.is_empty() && steps.changed.iter().all(|changed| *changed == 0),
                };
                if let Some(end) = self.admit(&steps, &mut frontier) {
                    return end;
                }
                if stuck {
                    return self.violated("deadlock", String::new());
                }
                if self.seen.len() > self.most {
                    return End::Unfinished;
                }
            }
        }
        self.finish()
    }

    /// Adds the targets of steps, unless there is a violation.
    fn admit(&mut self, steps: &Steps, frontier: &mut States) -> Option<End> {
        if let Some(fault) = steps.faults.first() {
            return Some(self.fault(fault.fault.0));
        }
        self.reached.union(&steps.reached);
        for state in steps.states.iter() {
            if !self.seen.insert(state.into()) {
                continue;
            }
            let mut bits = PropertyBits::default();
            if let Err((_, fault)) = self.space.check(state, &mut bits) {
                return Some(self.fault(fault.0));
            }
            for property in bits.iter() {
                if self.space.asks_to_reach(property) {
                    self.reached.insert(property);
                } else {
                    let detail = self.space.program().properties[property as usize].name.clone();
                    return Some(self.violated("invariant", detail));
                }
            }
            frontier.push(state);
        }
        None
    }

    fn fault(&self, number: u32) -> End {
        let fault = &self.space.program().faults[number as usize];
        let kind = match fault.kind {
            FaultKind::Undefined => "undefined-read",
            FaultKind::Assertion => "assertion",
            _ => "error",
        };
        self.violated(kind, format!("{}:{}: {}", fault.at.line, fault.at.column, fault.message))
    }

    fn violated(&self, kind: &'static str, detail: String) -> End {
        End::Violated { kind, detail, states: self.seen.len() as u64 }
    }

    fn finish(&self) -> End {
        for (number, property) in self.space.program().properties.iter().enumerate() {
            if property.kind == PropertyKind::Reachable && !self.reached.contains(number as u32) {
                return self.violated("cover", property.name.clone());
            }
        }
        End::Holds { states: self.seen.len() as u64, fired: self.fired, discarded: self.discarded }
    }
}

fn explore(path: &Path, deadlock: Deadlock, most: usize, options: &Options) -> End {
    let bytes = std::fs::read(path).expect("the listed file is there");
    let source = Source::from_bytes(path.file_name().unwrap_or_default().to_string_lossy(), &bytes);
    let (program, diagnostics) = murphi::load(&source, options);
    let Some(program) = program else { return End::Rejected(diagnostics.render(&source, false)) };
    let text = wayfarer_ir::text::print(&program);
    let errors = wayfarer_ir::verify(&program);
    assert!(errors.is_empty(), "{}: {}\n{text}", path.display(), errors[0]);
    let space = Interpreter::new(program, Limits::default());
    Explorer { space, seen: HashSet::new(), reached: PropertyBits::default(), fired: 0, discarded: 0, deadlock, most }.run()
}

fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("WAYFARER_CORPUS").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("not run: WAYFARER_CORPUS does not point at a corpus");
    }
    folder
}

/// Runs all entries of a reference file on all processors and returns the differences in order.
fn run(folder: &Path, reference: &str, judge: impl Fn(&serde_json::Value, &Path, usize) -> Option<String> + Sync) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join(reference)).expect("the corpus has its reference file");
    let entries: Vec<serde_json::Value> = serde_json::from_str(&text).expect("the reference file is a list");
    let most = std::env::var("WAYFARER_STATES").ok().and_then(|most| most.parse().ok()).unwrap_or(20_000);
    let only = std::env::var("WAYFARER_ONLY").unwrap_or_default();
    let entries: Vec<_> = entries.into_iter().filter(|entry| entry["file"].as_str().is_some_and(|file| file.contains(&only))).collect();
    let queue = Mutex::new(entries.into_iter().enumerate());
    let complaints = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(4, |count| count.get()) {
            scope.spawn(|| {
                loop {
                    let Some((number, entry)) = queue.lock().expect("no panic").next() else { return };
                    let file = entry["file"].as_str().expect("an entry names its file");
                    if let Some(complaint) = judge(&entry, &folder.join(file), most) {
                        complaints.lock().expect("no panic").push((number, format!("{file}: {complaint}")));
                    }
                }
            });
        }
    });
    let mut complaints = complaints.into_inner().expect("no panic");
    complaints.sort();
    complaints.into_iter().map(|(_, complaint)| complaint).collect()
}

/// The deliberate differences from rumur's own expectations: liveness is not judged yet, a bound on the depth is not the
/// model's, and a range may have all numbers of 64 bits. WARTS.md says why.
const LANGUAGE_EXCEPTIONS: [&str; 8] = [
    "apartment.m",
    "bound-basic.m",
    "liveness-in-ruleset.m",
    "liveness-miss1.m",
    "liveness-miss2.m",
    "liveness-miss3.m",
    "no-cex-bug2.m",
    "uint64-model2.m",
];

#[test]
fn the_language_tests_of_rumur_agree() {
    let Some(folder) = corpus() else { return };
    let options = Options { undefined: Undefined::Strict, ..Options::default() };
    let complaints = run(&folder.join("murphi-language"), "expectations.json", |entry, path, _| {
        let file = entry["file"].as_str().unwrap_or_default();
        if LANGUAGE_EXCEPTIONS.contains(&file) {
            return None;
        }
        let flags: Vec<&str> = entry["directives"]["rumur_flags"].as_array().into_iter().flatten().filter_map(|flag| flag.as_str()).collect();
        let deadlock = match flags.iter().position(|flag| *flag == "--deadlock-detection").map(|at| flags[at + 1]) {
            Some("off") => Deadlock::Off,
            Some("stuck") => Deadlock::Stuck,
            _ => Deadlock::Stuttering,
        };
        let end = explore(path, deadlock, 100_000, &options);
        let expected = (entry["expect_accept"].as_bool(), entry["expect_verdict"].as_str());
        match (&end, expected) {
            (End::Rejected(text), (Some(false), _)) => {
                if std::env::var_os("WAYFARER_SHOW").is_some() {
                    eprintln!("{text}");
                }
                None
            }
            (End::Violated { kind, detail, .. }, (Some(true), Some("violated"))) => {
                if std::env::var_os("WAYFARER_SHOW").is_some() {
                    eprintln!("{file}: {kind} {detail} (rumur: {})", entry["why"]);
                }
                None
            }
            (End::Holds { states, fired, discarded }, (Some(true), Some("holds"))) => {
                let same = entry["states"].as_u64().is_none_or(|expected| expected == *states)
                    && entry["rules"].as_u64().is_none_or(|expected| (*fired..=fired + discarded).contains(&expected));
                (!same).then(|| format!("{states} states, {fired} fired; expected {} and {}", entry["states"], entry["rules"]))
            }
            _ => Some(format!("{end:?}; expected {expected:?}: {}", entry["why"])),
        }
    });
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn the_models_of_others_agree() {
    let Some(folder) = corpus() else { return };
    let options = Options::default();
    let complaints = run(&folder.join("murphi"), "reference.json", |entry, path, most| {
        let bags = entry["features"].as_array().into_iter().flatten().any(|feature| feature.as_str() == Some("multiset"));
        let key = |name: &str| if bags { format!("{name}_nosym_multiset") } else { format!("{name}_nosym") };
        let mut outcome = entry[key("outcome")].as_str().or(entry["outcome_nosym"].as_str());
        let mut end = explore(path, Deadlock::Stuttering, most, &options);
        if std::env::var_os("WAYFARER_SHOW").is_some() {
            eprintln!("{}: {end:?} (reference: {outcome:?})", path.display());
        }
        let mut suffix = "";
        if outcome == Some("deadlock") && matches!(end, End::Violated { kind: "deadlock", .. }) {
            suffix = "_ndl";
            outcome = entry[format!("{}_ndl", key("outcome"))].as_str();
            end = explore(path, Deadlock::Off, most, &options);
        }
        let complain = || Some(format!("{end:?}; expected {outcome:?} {}", entry["note"]));
        match (&end, outcome) {
            (End::Unfinished, _) | (_, None) => None,
            (End::Rejected(_), Some("rejected")) => None,
            (End::Violated { kind, .. }, Some(expected)) if *kind == expected || (*kind == "assertion" && expected == "error") => None,
            (End::Holds { states, fired, .. }, Some("holds")) => {
                let (expected, rules) = (entry[key("states") + suffix].as_u64(), entry[key("rules") + suffix].as_u64());
                let same = expected.is_none_or(|expected| expected == *states) && (bags || rules.is_none_or(|rules| rules == *fired));
                (!same).then(|| format!("{states} states, {fired} fired; expected {expected:?} and {rules:?}"))
            }
            // A run that the tools did not finish only says that there is no violation in the first states.
            (End::Violated { states, .. }, Some("unfinished")) => {
                let least = entry[key("states_at_least").replace("_nosym", "")].as_u64().unwrap_or(0);
                if *states < least { complain() } else { None }
            }
            (End::Holds { .. }, Some("unfinished")) => None,
            _ => complain(),
        }
    });
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
