//! The table of all options. Parsing, `-h`, `--help`, completions and the man pages are all made from it.

mod compare;
mod formats;
mod lab;
mod plan;
mod predict;

use crate::output::Colour;
use crate::sizes::{parse_count, parse_depth, parse_duration, parse_seed, parse_size};
use clap::{Args, Parser, Subcommand, ValueEnum};
pub(crate) use compare::CompareOptions;
pub(crate) use formats::FormatArgs;
pub(crate) use lab::{Lab, LabOptions};
pub(crate) use plan::{All, PlanArgs};
pub(crate) use predict::{GraphOptions, MOST_STEPS, Method, Predict, PredictOutput, Question, StorageOptions};
use std::path::PathBuf;
use std::time::Duration;
use wayfarer::options::quoted;
use wayfarer::search::Deadlock;

const ABOUT: &str = "Explores the state space of a concurrent system within a budget of memory and time";

const LONG_ABOUT: &str = "\
Explores the state space of a concurrent system within a budget of memory and time.

A model describes what a system can do: variables, start states, and rules that change the variables. Wayfarer fires every rule in every state it \
can reach and looks for states in which an invariant fails, an assertion or error statement is hit, a value leaves its range, or nothing can happen \
any more. Every violation comes with a counterexample, step by step; breadth-first search gives a shortest one. Models are written in Murphi (.m), \
Promela (.pml), mCRL2 (.mcrl2), as Petri nets (.pnml) or as graphs (.aut).";

const EXAMPLES: &str = "\
Examples:
  wayfarer check german.m                      check everything in the model
  wayfarer check german.m --memory 2G --time 10m
                                               stay within 2 GiB and ten minutes
  wayfarer check german.m --const NodeCount=4   the same protocol with four nodes
  wayfarer info german.m                       what the model consists of
  wayfarer simulate german.m --seed 7          watch one random run
  wayfarer step german.m                       choose every rule yourself
  wayfarer compare german.m --html page.html   which strategy suits this model
  wayfarer lab all --quick --html lab.html     the experiments of the papers, rerun

`wayfarer COMMAND --help` explains a command and all its options.";

const CHECK_EXAMPLES: &str = "\
Examples:
  wayfarer check german.m
      Visits every reachable state, or stops at the first violation and shows a counterexample.
  wayfarer check german.m --memory 512M --time 1h30m
      Stays within a budget. If it ends first, the report says what was not explored.
  wayfarer check german.m --property 'a writer is alone' --deadlock off
      Judges one property only.
  wayfarer check german.m --witness full --witness trace.itf.json
      Shows whole states, and writes the witness to a file that `wayfarer replay` and other tools read.
  wayfarer check german.m --json --quiet > report.json
      One JSON object for scripts.
  wayfarer check german.m --time 5m --junit wayfarer.xml --sarif wayfarer.sarif
      Writes what continuous integration shows beside a change.
  generate-model | wayfarer check -
      Reads the model from the standard input.

Signals: Ctrl-C or SIGTERM ends the run with the verdict so far, a second one at once; SIGUSR1 prints a line on where the run stands.

Exit codes:
  0  no violation was found
  1  a violation was found
  2  the model or the command line is wrong
  3  the run could not be carried out
  4  with --exhaustive: the budget ended before everything was visited
  130, 143  Ctrl-C or SIGTERM ended the run before anything was found";

const INFO_EXAMPLES: &str = "\
Examples:
  wayfarer info german.m
  wayfarer info german.m --const NodeCount=8    how much larger a state becomes
  wayfarer info german.m --json | jq .state_bits";

const SIMULATE_EXAMPLES: &str = "\
Examples:
  wayfarer simulate german.m                   twenty random steps
  wayfarer simulate german.m --steps 1k --seed 7

The same seed gives the same run.

Exit codes:
  0  all steps were made, or no rule is enabled where a run may end or with --deadlock off
  1  the run met a violation (it ends there)
  2  the model or the command line is wrong
  3  the run could not be carried out";

const STEP_EXAMPLES: &str = "\
At the prompt: a number fires that rule, r a random one, u takes a step back, s shows the whole state, q ends.
Commands can also be piped in, one on each line:
  printf '1\\n2\\nu\\ns\\n' | wayfarer step german.m";

const REPLAY_EXAMPLES: &str = "\
Examples:
  wayfarer check german.m --witness trace.itf.json     record a violation
  wayfarer replay german.m trace.itf.json              after changing the model: is it still there?

Exit codes:
  0  every step does what was recorded, and what was wrong at the end is still wrong
  1  the model departs from the witness; the step and the difference are named
  2  the model, the witness or the command line is wrong
  3  the replay could not be carried out";

const CORPUS_EXAMPLES: &str = "\
A corpus is a folder of models with a `reference.json` (what other tools found: outcome_nosym, states_nosym, rules_nosym, states_sym_canonical, …; for
Petri nets known.states and known.transitions_fired) or an
`expectations.json` (expect_accept, expect_verdict, states, rules), or whose files begin with lines such as `-- verdict: holds`,
`-- states: 12`, `-- rules: 30`, `-- orbits: 3` or `-- verdict: violated`, `-- violation: deadlock`, `-- witness: 5`. Each model is checked by
`wayfarer check` in a process of its own.

Examples:
  wayfarer corpus shared/corpus/murphi --time-per-model 30s
  wayfarer corpus shared/corpus/murphi-language --only switch
  wayfarer corpus models/murphi

Exit codes:
  0  nothing differs (models that were cut off or could not be compared count as skipped)
  1  something differs
  2  the folder or the command line is wrong";

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "wayfarer", version, about = ABOUT, long_about = LONG_ABOUT, after_help = EXAMPLES, max_term_width = 110)]
#[command(arg_required_else_help = true, subcommand_required = true, infer_subcommands = false)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to colour the output
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t, help_heading = "Output")]
    pub(crate) color: Colour,
}

/// The command to run.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check a model: explore it, give a verdict, show a counterexample
    #[command(after_long_help = CHECK_EXAMPLES)]
    Check(Box<CheckOptions>),
    /// Show the parts of a model: state, layout, rules, properties
    #[command(after_long_help = INFO_EXAMPLES)]
    Info(InfoOptions),
    /// Make one random run and print it step by step
    #[command(after_long_help = SIMULATE_EXAMPLES)]
    Simulate(SimulateOptions),
    /// Walk through a model by hand, choosing each rule at a prompt
    #[command(after_help = STEP_EXAMPLES)]
    Step(StepOptions),
    /// Fire a recorded witness again and name the step where the model departs from it
    #[command(after_long_help = REPLAY_EXAMPLES)]
    Replay(ReplayOptions),
    /// Check a folder of models against recorded results and print each difference
    #[command(after_long_help = CORPUS_EXAMPLES)]
    Corpus(CorpusOptions),
    /// Write the reachable graph of a small model, for other tools or for `predict`
    #[command(after_long_help = predict::GRAPH_EXAMPLES)]
    Graph(GraphOptions),
    /// Compute how soon random searches cover a tree, a grid or a graph, and what difference storage saves
    #[command(after_long_help = predict::PREDICT_EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
    Predict {
        #[command(subcommand)]
        shape: Predict,
    },
    /// Run several strategies on a model and advise on which to use
    #[command(after_long_help = compare::COMPARE_EXAMPLES)]
    Compare(Box<CompareOptions>),
    /// Rerun the experiments of the papers, their figures beside ours
    #[command(after_long_help = lab::LAB_EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
    Lab {
        #[command(subcommand)]
        what: Lab,
    },
    /// Print the completions for a shell
    #[command(after_help = "Example:\n  wayfarer completions bash > ~/.local/share/bash-completion/completions/wayfarer")]
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print a man page
    #[command(after_help = "Examples:\n  wayfarer man | man -l -\n  wayfarer man check > wayfarer-check.1")]
    Man {
        /// The command whose page to print; without it, that of wayfarer itself
        command: Option<String>,
    },
}

/// The model, and how it is read.
#[derive(Args, Clone, Debug)]
pub(crate) struct ModelOptions {
    /// The model; its ending names the language (.m, .pml, .mcrl2, .pnml, .aut), and `-` reads the standard input
    #[arg(value_name = "MODEL")]
    pub(crate) model: String,

    /// Give a constant of the model another value
    ///
    /// The constant must exist in the model. May be given several times.
    #[arg(long = "const", value_name = "NAME=VALUE", value_parser = parse_constant, help_heading = "Model")]
    pub(crate) constants: Vec<(String, String)>,

    /// Whether copying an undefined value is a fault
    #[arg(long, value_enum, value_name = "RULE", default_value_t = Undefined::Copy, help_heading = "Model")]
    pub(crate) undefined: Undefined,

    /// Rewrite steps of mCRL2 that one evaluation may take before it counts as endless
    #[arg(long, value_name = "N", default_value_t = REWRITE_LIMIT, value_parser = parse_count, help_heading = "Model")]
    pub(crate) rewrite_limit: u64,
}

/// The usual limit on rewriting.
const REWRITE_LIMIT: u64 = 20_000_000;

/// Whether copying an undefined value is a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Undefined {
    /// Copying an undefined value is accepted, as CMurphi does; using one in an expression is a fault
    Copy,
    /// Copying is a fault too, as in rumur
    Strict,
}

/// The limit of one firing, for the commands that take single steps.
#[derive(Args, Clone, Debug)]
pub(crate) struct LoopOption {
    /// Loop rounds and calls that one firing may take before it counts as endless
    #[arg(long, value_name = "N", default_value = "1000000", value_parser = parse_count, help_heading = "Model")]
    pub(crate) loop_limit: u64,
}

/// The definition of a deadlock, for the commands that take single steps.
#[derive(Args, Clone, Debug)]
pub(crate) struct DeadlockOption {
    /// When a state counts as a deadlock: off, stuck or stuttering [default: as the model's language has it]
    #[arg(long = "deadlock", value_name = "RULE", value_parser = str::parse::<Deadlock>, help_heading = "What to look for")]
    pub(crate) rule: Option<Deadlock>,
}

impl DeadlockOption {
    /// The rule for a subject: the given one, or that of its language.
    pub(crate) fn of(&self, subject: &dyn wayfarer::Subject) -> Deadlock {
        self.rule.unwrap_or_else(|| subject.deadlock())
    }
}

/// The options of `check`.
#[derive(Args, Clone, Debug)]
pub(crate) struct CheckOptions {
    #[command(flatten)]
    pub(crate) run: PlanArgs<All>,

    #[command(flatten)]
    pub(crate) model: ModelOptions,

    /// Repeat the run with K seeds, from --seed on, and summarise the results
    ///
    /// Gives the share of runs that found something, the states and steps until then and the lengths of the
    /// witnesses, with 95 % intervals.
    #[arg(long, value_name = "K", default_value = "1", value_parser = parse_depth, help_heading = "Search")]
    pub(crate) runs: u32,

    /// Answer all formulas of this file, instead of searching for violations
    ///
    /// The file is one of the Model Checking Contest (ReachabilityCardinality, ReachabilityFireability or
    /// ReachabilityDeadlock) about a Petri net. One run answers all of them: each is true, false, or open if the
    /// budget ended before the answer was known.
    #[arg(long = "properties", value_name = "FILE", help_heading = "What to look for", conflicts_with_all = ["find", "find_rule", "runs"])]
    pub(crate) formulas: Option<String>,

    /// How to show a witness: changes, columns, full, none, or a file to write it to
    ///
    /// `changes` shows what each step changed, `columns` the same with one column for each process (the default if there are several and their columns fit), `full` the whole state after it, `none` nothing. Any other value is the name of a file
    /// that the witness is written to in addition, as JSON in the Informal Trace Format. May be given several times.
    #[arg(long, value_name = "FORM|FILE", help_heading = "Output", value_hint = clap::ValueHint::FilePath)]
    pub(crate) witness: Vec<String>,

    /// Print one JSON object on the standard output, and nothing else there
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    /// Print the answers to --properties as the lines that the Model Checking Contest reads
    #[arg(long, help_heading = "Output", requires = "formulas", conflicts_with = "json")]
    pub(crate) mcc: bool,

    #[command(flatten)]
    pub(crate) formats: FormatArgs,

    /// Write covered states against steps and time to a file, as comma-separated values
    #[arg(long, value_name = "FILE", help_heading = "Output", value_hint = clap::ValueHint::FilePath)]
    pub(crate) curve: Option<PathBuf>,

    /// Print how the budget would be divided, and run nothing
    #[arg(long, help_heading = "Output")]
    pub(crate) plan: bool,

    /// Show only parts of a state whose names contain one of these, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Output")]
    pub(crate) show: Vec<String>,

    /// Show everything: all figures, how often each rule fired, the audit's samplers
    #[arg(long, short, help_heading = "Output")]
    pub(crate) verbose: bool,

    /// Show no progress
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,
}

impl CheckOptions {
    /// The files that the command reads.
    pub(crate) fn inputs(&self) -> Vec<&str> {
        [self.model.model.as_str()].into_iter().chain(self.formulas.as_deref()).collect()
    }
}

/// The options of `info`.
#[derive(Args, Clone, Debug)]
pub(crate) struct InfoOptions {
    #[command(flatten)]
    pub(crate) model: ModelOptions,

    /// Print one JSON object instead
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

/// The options of `simulate`.
#[derive(Args, Clone, Debug)]
pub(crate) struct SimulateOptions {
    #[command(flatten)]
    pub(crate) model: ModelOptions,

    #[command(flatten)]
    pub(crate) loops: LoopOption,

    /// How many steps to make
    #[arg(long, value_name = "N", default_value = "20", value_parser = parse_count, help_heading = "Run")]
    pub(crate) steps: u64,

    /// The seed; the same seed gives the same run
    #[arg(long, value_name = "N", default_value = "1", value_parser = parse_seed, help_heading = "Run")]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) deadlock: DeadlockOption,

    /// Print the whole state after each step, not only the changes
    #[arg(long, help_heading = "Output")]
    pub(crate) full: bool,
}

/// The options of `step`.
#[derive(Args, Clone, Debug)]
pub(crate) struct StepOptions {
    #[command(flatten)]
    pub(crate) model: ModelOptions,

    #[command(flatten)]
    pub(crate) loops: LoopOption,

    /// The seed of the command `r`
    #[arg(long, value_name = "N", default_value = "1", value_parser = parse_seed, help_heading = "Run")]
    pub(crate) seed: u64,
}

/// The options of `replay`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ReplayOptions {
    #[command(flatten)]
    pub(crate) model: ModelOptions,

    #[command(flatten)]
    pub(crate) loops: LoopOption,

    /// The witness, as `wayfarer check --witness FILE` wrote it; `-` reads the standard input
    #[arg(value_name = "WITNESS", value_hint = clap::ValueHint::FilePath)]
    pub(crate) witness: String,

    #[command(flatten)]
    pub(crate) deadlock: DeadlockOption,
}

/// The options of `corpus`.
#[derive(Args, Clone, Debug)]
pub(crate) struct CorpusOptions {
    /// The folder of models, with its reference.json or expectations.json if it has one
    #[arg(value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    pub(crate) folder: PathBuf,

    /// Check only models whose file name contains this; may be given several times
    #[arg(long, value_name = "TEXT", help_heading = "Which models")]
    pub(crate) only: Vec<String>,

    /// A file of known differences, one on each line: file name, then the reason
    #[arg(long, value_name = "FILE", help_heading = "Which models")]
    pub(crate) known: Option<PathBuf>,

    /// Stop each model after this many states
    #[arg(long, value_name = "N", value_parser = parse_count, help_heading = "Budget")]
    pub(crate) limit_states: Option<u64>,

    /// Stop each model after this time
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_duration, help_heading = "Budget")]
    pub(crate) time_per_model: Duration,

    /// Memory that each model may take [default: three quarters of what is free, shared by the jobs]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Budget")]
    pub(crate) memory: Option<usize>,

    /// How many models to check at once [default: as many as there are processors]
    #[arg(long, value_name = "N", value_parser = parse_depth, help_heading = "Budget")]
    pub(crate) jobs: Option<u32>,

    /// Interpret the models instead of compiling them
    #[arg(long, help_heading = "Search")]
    pub(crate) interpret: bool,

    /// Print one JSON object instead of text
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    /// Print differences and the summary only
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,
}

impl ModelOptions {
    /// The same options as words of a command line.
    pub(crate) fn words(&self) -> Vec<String> {
        let constants = self.constants.iter().map(|(name, value)| format!("--const {}", quoted(&format!("{name}={value}"))));
        let undefined = (self.undefined == Undefined::Strict).then(|| "--undefined strict".to_string());
        let rewriting = (self.rewrite_limit != REWRITE_LIMIT).then(|| format!("--rewrite-limit {}", self.rewrite_limit));
        [quoted(&self.model)].into_iter().chain(constants).chain(undefined).chain(rewriting).collect()
    }

    /// The library's options for reading the model.
    pub(crate) fn load_options(&self, colour: bool) -> wayfarer::LoadOptions {
        wayfarer::LoadOptions {
            constants: self.constants.clone(),
            find: None,
            formulas: None,
            strict_undefined: self.undefined == Undefined::Strict,
            rewrite_limit: Some(self.rewrite_limit),
            colour,
        }
    }
}

fn parse_constant(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => Ok((name.trim().to_string(), value.trim().to_string())),
        _ => Err(format!("`{text}` gives no constant a value; write for example NodeCount=4")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_table_is_consistent() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn every_option_is_explained() {
        fn walk(command: &clap::Command) {
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "{} {}", command.get_name(), argument.get_id());
            }
            command.get_subcommands().for_each(walk);
        }
        let mut command = CommandLine::command();
        command.build();
        walk(&command);
    }
}
