//! The options of a run, one row each: name, help, and the functions that read a value into a [`Plan`] and write it
//! back.
//!
//! The command line, its help and completions, the builder [`Planned`](super::Planned) and the line that repeats a
//! run are all made from these rows. A new option is a field of [`Plan`] and a row here.

use super::Plan;
use crate::sizes::{parse_audit, parse_confidence, parse_count, parse_depth, parse_duration, parse_seed, parse_size};
use crate::{StoreSpec, StrategySpec, SymmetryChoice};
use std::fmt::Display;
use std::str::FromStr;
use wayfarer_search::Deadlock;

/// An option of a run.
pub struct PlanOption {
    /// Its name in Rust and in the table; the flag has dashes for underscores.
    pub name: &'static str,
    /// The name of its value in help texts; empty if it is a switch.
    pub value: &'static str,
    /// The group of options it is listed with.
    pub heading: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// More help; empty if one line is enough.
    pub more: &'static str,
    /// A description of its default value; empty if there is none.
    pub default: &'static str,
    /// Whether it may be given several times.
    pub several: bool,
    /// Whether `wayfarer compare` has it too.
    pub compared: bool,
    /// Whether the line that repeats a run names it. It need not if the report does not depend on it.
    pub repeated: bool,
    /// Options that it conflicts with.
    pub conflicts: &'static [&'static str],
    /// A list that ends the help, made from other tables.
    pub guide: fn() -> String,
    /// Common values, for completions.
    pub choices: fn() -> Vec<String>,
    /// Reads a value into a plan; the error says what would be right.
    pub set: fn(&mut Plan, &str) -> Result<(), String>,
    /// The values to give so that the default plan becomes this one.
    pub given: fn(&Plan) -> Vec<String>,
}

impl PlanOption {
    /// The flag without its two dashes.
    pub fn flag(&self) -> String {
        self.name.replace('_', "-")
    }

    /// The option of this name.
    pub fn named(name: &str) -> Option<&'static PlanOption> {
        OPTIONS.iter().find(|option| option.name == name)
    }

    /// Whether it is a switch without a value.
    pub fn is_switch(&self) -> bool {
        self.value.is_empty()
    }
}

/// The options that turn the default plan into this one, as words of a command line.
pub fn words(plan: &Plan) -> Vec<String> {
    let word = |option: &PlanOption, value: String| match option.is_switch() {
        true => format!("--{}", option.flag()),
        false => format!("--{} {}", option.flag(), quoted(&value)),
    };
    OPTIONS
        .iter()
        .filter(|option| option.repeated)
        .flat_map(|option| (option.given)(plan).into_iter().map(move |value| word(option, value)))
        .collect()
}

/// A word as a shell reads it.
pub fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_./=:+,@%".contains(letter);
    if !word.is_empty() && word.chars().all(plain) { word.to_string() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

const BUDGET: &str = "Budget";
const SEARCH: &str = "Search";
const TARGET: &str = "What to look for";
const MODEL: &str = "Model";
const OUTPUT: &str = "Output";

/// The common defaults of the rows.
const USUAL: PlanOption = PlanOption {
    name: "",
    value: "",
    heading: "",
    help: "",
    more: "",
    default: "",
    several: false,
    compared: false,
    repeated: true,
    conflicts: &[],
    guide: String::new,
    choices: Vec::new,
    set: |_, _| Ok(()),
    given: |_| Vec::new(),
};

/// All options of a run, in the order in which they are listed to users.
pub const OPTIONS: &[PlanOption] = &[
    PlanOption {
        name: "memory",
        value: "SIZE",
        heading: BUDGET,
        help: "Memory that the run may take, such as 512M or 2G",
        default: "three quarters of the free memory",
        more: "K, M, G, T and KiB, MiB, GiB, TiB are powers of 1024; kB, MB, GB, TB are powers of 1000. Free memory is the least of what the machine, its \
               control groups and the limit on address space leave. From 64M on, the whole process counts. Below 64M, the needs of the program itself \
               (model, code, stacks) come on top.",
        compared: true,
        set: |plan, text| put(&mut plan.memory, parse_size(text).map(Some)),
        given: |plan| each(plan.memory),
        ..USUAL
    },
    PlanOption {
        name: "time",
        value: "TIME",
        heading: BUDGET,
        help: "Time that the run may take, such as 30s, 10m or 1h30m",
        compared: true,
        set: |plan, text| put(&mut plan.time, parse_duration(text).map(Some)),
        given: |plan| each(plan.time.map(|time| format!("{}ms", time.as_millis()))),
        ..USUAL
    },
    PlanOption {
        name: "states",
        value: "N",
        heading: BUDGET,
        help: "Stop after N distinct states",
        more: "Counts may be written as 1000000, 1_000_000, 500k or 1M.",
        compared: true,
        set: |plan, text| put(&mut plan.states, parse_count(text).map(Some)),
        given: |plan| each(plan.states),
        ..USUAL
    },
    PlanOption {
        name: "steps",
        value: "N",
        heading: BUDGET,
        help: "Stop after N steps: fired rules, or random choices if the strategy makes them",
        more: "Unlike --time this gives the same report every time. A run that the clock ended names the number of steps that repeats it.",
        compared: true,
        set: |plan, text| put(&mut plan.steps, parse_count(text).map(Some)),
        given: |plan| each(plan.steps),
        ..USUAL
    },
    PlanOption {
        name: "depth",
        value: "N",
        heading: BUDGET,
        help: "Do not go on from states at this depth",
        set: |plan, text| put(&mut plan.depth, parse_depth(text).map(Some)),
        given: |plan| each(plan.depth),
        ..USUAL
    },
    PlanOption {
        name: "audit",
        value: "N",
        heading: BUDGET,
        help: "Number of walks with which each sampler audits a run that found nothing, or off",
        default: "for a twentieth of the search's steps, at most 3000",
        more: "The audit makes independent random walks after the search and counts how many end in a state that was not visited. With 95 % confidence, that \
               bounds how much was missed of what such walks reach. Its time is part of --time. A violation that a walk meets is reported like any other. Off \
               with --runs, unless given.",
        set: |plan, text| put(&mut plan.audit, parse_audit(text).map(Some)),
        given: |plan| each(plan.audit.map(|walks| if walks == 0 { "off".to_string() } else { walks.to_string() })),
        ..USUAL
    },
    PlanOption {
        name: "strategy",
        value: "STRATEGY",
        heading: SEARCH,
        help: "Where to look first: a name, with parameters as in walk:restart=1000,lanes=4",
        default: "auto",
        more: STRATEGY_HELP,
        guide: StrategySpec::guide,
        choices: || StrategySpec::all().map(|strategy| strategy.name().to_string()).collect(),
        set: |plan, text| put(&mut plan.strategy, read(text)),
        given: |plan| changed(plan, |plan| plan.strategy.to_string()),
        ..USUAL
    },
    PlanOption {
        name: "confidence",
        value: "P",
        heading: SEARCH,
        help: "How sure `auto` must be that no state was omitted before it ends, if memory is too small for every state",
        default: "0.99",
        more: "A probability such as 0.999. A whole pass counts if it most likely took no new state for a known one. If memory is much too small for that, `auto` \
               ends when further passes find nothing new.",
        set: |plan, text| put(&mut plan.confidence, parse_confidence(text)),
        given: |plan| changed(plan, |plan| plan.confidence.to_string()),
        ..USUAL
    },
    PlanOption {
        name: "store",
        value: "STORE",
        heading: SEARCH,
        help: "How visited states are remembered: a name, with parameters as in compact:bits=40",
        default: "one that suits the strategy",
        more: STORE_HELP,
        guide: StoreSpec::guide,
        choices: || StoreSpec::all().map(|store| store.name().to_string()).collect(),
        set: |plan, text| put(&mut plan.store, read(text).map(Some)),
        given: |plan| each(plan.store.as_ref()),
        ..USUAL
    },
    PlanOption {
        name: "symmetry",
        value: "CHOICE",
        heading: SEARCH,
        help: "Whether states that differ only in which element of a scalarset is which count as one: off, on or auto",
        default: "auto",
        more: "`auto` uses symmetry if the model has scalarsets and is shown to treat their elements alike; a note says if it is not. `on` refuses models that \
               certainly do not, and takes your word if nothing can be shown. Witnesses are runs of the model itself in any case.",
        compared: true,
        choices: || SymmetryChoice::ALL.iter().map(|(_, name)| (*name).to_string()).collect(),
        set: |plan, text| put(&mut plan.symmetry, text.parse()),
        given: |plan| changed(plan, |plan| plan.symmetry.to_string()),
        ..USUAL
    },
    PlanOption {
        name: "seed",
        value: "N",
        heading: SEARCH,
        help: "The seed of everything random; the same seed gives the same report",
        default: "1",
        compared: true,
        set: |plan, text| put(&mut plan.seed, parse_seed(text)),
        given: |plan| each(Some(plan.seed)),
        ..USUAL
    },
    PlanOption {
        name: "threads",
        value: "N",
        heading: SEARCH,
        help: "Number of threads that search",
        default: "one for each processor this process may use",
        more: "Breadth-first search, and auto with it, goes level by level over one store. Over exact, tree and difference, breadth-first search gives the same \
               states, rules fired, verdict and length of the shortest witness for any number of threads; so does auto if it visits every state. Random strategies walk independently. Other searches use one thread, and \
               so do searches over caches and pools and breadth-first search with --states, --steps or --profile.",
        set: |plan, text| put(&mut plan.threads, parse_depth(text).map(|threads| threads as usize)),
        given: |plan| each((plan.threads > 0).then_some(plan.threads)),
        ..USUAL
    },
    PlanOption {
        name: "interpret",
        heading: SEARCH,
        help: "Interpret the model instead of compiling it to machine code",
        set: |plan, text| put(&mut plan.interpret, switch(text)),
        given: |plan| on(plan.interpret),
        ..USUAL
    },
    PlanOption {
        name: "keep_code",
        value: "WHETHER",
        heading: SEARCH,
        help: "Whether machine code is kept for later runs of the same model: on or off",
        default: "on for the command, off in programs that use the library",
        more: "The code is kept in ~/.cache/wayfarer/code (or below $XDG_CACHE_HOME): at most 256 files and 256 MiB. It is used again only by the same \
               version of the program, for the same model and constants, on the same kind of processor. The report does not depend on it, except for times \
               and memory; a run that uses all of its memory may visit other states.",
        compared: true,
        choices: || vec!["on".to_string(), "off".to_string()],
        set: |plan, text| put(&mut plan.keep_code, switch(text)),
        given: |plan| changed(plan, |plan| if plan.keep_code { "on" } else { "off" }.to_string()),
        repeated: false,
        ..USUAL
    },
    PlanOption {
        name: "device",
        value: "WHERE",
        heading: SEARCH,
        help: "Where the search runs: auto, cpu, gpu, or gpu:1 for the second GPU",
        default: "auto",
        more: "`auto` begins on the CPU and moves to a GPU if there is one, the search lasts longer than a few seconds and --memory has room for the GPU's \
               driver (256 MiB); models that a GPU cannot run, and searches that it does not have, stay on the CPU. `gpu` says why it is not possible. On a GPU there are breadth-first search over `exact`, \
               `compact` and `bitstate`, walks, random searches and highways.",
        compared: true,
        choices: || ["auto", "cpu", "gpu"].map(String::from).to_vec(),
        set: |plan, text| put(&mut plan.device, text.parse()),
        given: |plan| changed(plan, |plan| plan.device.to_string()),
        ..USUAL
    },
    PlanOption {
        name: "device_memory",
        value: "SIZE",
        heading: BUDGET,
        help: "Memory of the GPU that the run may take, such as 16G",
        default: "nearly all that is free there",
        compared: true,
        set: |plan, text| put(&mut plan.device_memory, parse_size(text).map(Some)),
        given: |plan| each(plan.device_memory),
        ..USUAL
    },
    PlanOption {
        name: "deadlock",
        value: "RULE",
        heading: TARGET,
        help: "When a state counts as a deadlock: off, stuck or stuttering",
        default: "as the model's language has it; stuttering for Murphi",
        more: "`off`: never. `stuck`: if no rule is enabled. `stuttering`: if every enabled rule leads back to the same state.",
        compared: true,
        choices: || Deadlock::ALL.iter().map(|(_, name)| (*name).to_string()).collect(),
        set: |plan, text| put(&mut plan.deadlock, text.parse().map(Some)),
        given: |plan| each(plan.deadlock),
        ..USUAL
    },
    PlanOption {
        name: "property",
        value: "NAME",
        heading: TARGET,
        help: "Judge this property only",
        more: "May be given several times. Deadlocks and faults of rules are looked for as well. `wayfarer info MODEL` lists the names.",
        several: true,
        compared: true,
        set: |plan, text| push(&mut plan.properties, text),
        given: |plan| plan.properties.clone(),
        ..USUAL
    },
    PlanOption {
        name: "find",
        value: "EXPRESSION",
        heading: TARGET,
        help: "Look for a state that satisfies this expression of the model's language, instead of violations",
        compared: true,
        set: |plan, text| push(&mut plan.find, text),
        given: |plan| plan.find.clone(),
        ..USUAL
    },
    PlanOption {
        name: "find_rule",
        value: "NAME",
        heading: TARGET,
        help: "Look for a firing of this rule, instead of violations",
        more: "A name means every instance of the rule; with its parameters' values, as witnesses show it, one. May be given several times.",
        several: true,
        compared: true,
        set: |plan, text| push(&mut plan.find_rules, text),
        given: |plan| plan.find_rules.clone(),
        ..USUAL
    },
    PlanOption {
        name: "max_errors",
        value: "N",
        heading: TARGET,
        help: "Go on until N violations are found",
        default: "1",
        set: |plan, text| put(&mut plan.max_errors, parse_depth(text).map(|most| most as usize)),
        given: |plan| changed(plan, |plan| plan.max_errors.to_string()),
        ..USUAL
    },
    PlanOption {
        name: "all_violations",
        heading: TARGET,
        help: "Go on until everything was visited, and show each violated property once",
        more: "Of each property, kind of fault and deadlock the first violation is shown with its witness.",
        conflicts: &["max_errors", "find", "find_rule"],
        set: |plan, text| put(&mut plan.all_violations, switch(text)),
        given: |plan| on(plan.all_violations),
        ..USUAL
    },
    PlanOption {
        name: "exhaustive",
        heading: TARGET,
        help: "Exit with code 4 if a budget ended before everything was visited",
        set: |plan, text| put(&mut plan.exhaustive, switch(text)),
        given: |plan| on(plan.exhaustive),
        ..USUAL
    },
    PlanOption {
        name: "loop_limit",
        value: "N",
        heading: MODEL,
        help: "Loop rounds and calls that one firing may take before it counts as endless",
        default: "1000000",
        compared: true,
        set: |plan, text| put(&mut plan.loop_limit, parse_count(text)),
        given: |plan| changed(plan, |plan| plan.loop_limit.to_string()),
        ..USUAL
    },
    PlanOption {
        name: "shorten",
        value: "WHETHER",
        heading: OUTPUT,
        help: "Whether witnesses that may not be shortest are made shorter: on or off",
        default: "on",
        more: "Shortening searches take at most two seconds, or a tenth of the run's time.",
        compared: true,
        choices: || vec!["on".to_string(), "off".to_string()],
        set: |plan, text| put(&mut plan.shorten, switch(text)),
        given: |plan| changed(plan, |plan| if plan.shorten { "on" } else { "off" }.to_string()),
        ..USUAL
    },
    PlanOption {
        name: "size",
        value: "N",
        heading: OUTPUT,
        help: "The number of reachable states, if you know it: coverage and cover times are then shown",
        set: |plan, text| put(&mut plan.size, parse_count(text).map(Some)),
        given: |plan| each(plan.size),
        ..USUAL
    },
    PlanOption {
        name: "profile",
        heading: OUTPUT,
        help: "Count how often states are visited, and show the distribution of visits",
        set: |plan, text| put(&mut plan.profile, switch(text)),
        given: |plan| on(plan.profile),
        ..USUAL
    },
];

const STRATEGY_HELP: &str = "While memory lasts, `auto`, `bfs`, `dfs`, `rdfs` and `novelty` visit everything. Then `auto` goes on over fingerprints of the states until it is sure enough \
     (--confidence) or the time is over. `urs` and `sdrs` end when memory is full; the others never run out of it and prove nothing. All strategies, each with its parameters:";

const STORE_HELP: &str = "`exact`, `tree` and `difference` remember every state; only over these can a verdict be `holds`. Over the others the report says how many states are \
     expected to be missing. All stores, each with its parameters:";

fn put<T>(field: &mut T, value: Result<T, String>) -> Result<(), String> {
    *field = value?;
    Ok(())
}

fn push(field: &mut Vec<String>, text: &str) -> Result<(), String> {
    field.push(text.to_string());
    Ok(())
}

fn read<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

fn switch(text: &str) -> Result<bool, String> {
    match text {
        "on" | "true" => Ok(true),
        "off" | "false" => Ok(false),
        _ => Err("it is `on` or `off`".to_string()),
    }
}

fn each<T: Display>(value: Option<T>) -> Vec<String> {
    value.iter().map(ToString::to_string).collect()
}

fn on(is: bool) -> Vec<String> {
    each(is.then_some("on"))
}

/// The value, unless it is the default.
fn changed(plan: &Plan, value: fn(&Plan) -> String) -> Vec<String> {
    each(Some(value(plan)).filter(|now| *now != value(&Plan::default())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plan that is written as options and read again is the same plan.
    #[test]
    fn every_option_reads_what_it_writes() {
        let samples = [
            ("memory", "1048576"),
            ("device", "cpu"),
            ("device_memory", "1048576"),
            ("time", "1500ms"),
            ("strategy", "rdfs"),
            ("store", "compact:bits=40,floor=24"),
            ("symmetry", "off"),
            ("deadlock", "stuck"),
            ("confidence", "0.5"),
            ("audit", "off"),
            ("shorten", "off"),
            ("keep_code", "on"),
            ("seed", "7"),
            ("device", "gpu:2"),
        ];
        for option in OPTIONS {
            let sample = samples.iter().find(|(name, _)| *name == option.name).map_or("9", |(_, value)| value);
            let sample = if option.is_switch() { "on" } else { sample };
            let mut plan = Plan::default();
            (option.set)(&mut plan, sample).unwrap_or_else(|error| panic!("{}: {error}", option.name));
            assert_eq!((option.given)(&plan), [sample], "{}", option.name);
            assert!(!option.help.is_empty() && !option.heading.is_empty(), "{} needs a line of help", option.name);
            assert!(option.conflicts.iter().all(|name| PlanOption::named(name).is_some()), "{}", option.name);
        }
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("models/german.m"), "models/german.m");
        assert_eq!(quoted("it's x"), r"'it'\''s x'");
    }
}
