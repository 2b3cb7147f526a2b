//! The options of `lab`.

use crate::sizes::{parse_depth, parse_seed};
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Args, Subcommand};
use std::path::PathBuf;

pub(super) const LAB_EXAMPLES: &str = "\
Examples:
  wayfarer lab list
      What there is: every experiment of the papers, with its table or figure.
  wayfarer lab run diamond back-loops
      Two experiments, in full.
  wayfarer lab all --quick --html lab.html
      All of them with few repetitions, in about two minutes on two cores, and one page to read.
  wayfarer lab all --out results --html lab.html
      All of them in full. Finished experiments are kept in `results`: interrupted by Ctrl-C, the same command goes on where it was.
  wayfarer lab all --corpus ~/models --out results --html lab.html
      The same with the papers' own models, which are not ours to ship, read from a folder.

Each experiment shows the paper's figures beside ours, with seeds, repetitions and 95 % intervals, and says of each of the paper's claims whether it was found
again: agrees, partly, differs, or open.

Exit codes:
  0  the experiments were carried out, whatever they found
  2  there is no such experiment, or the command line is wrong
  3  they could not be carried out
  130, 143  Ctrl-C or SIGTERM came first";

/// Reads any name, so that the command can suggest a similar one, and offers those that exist to shells.
#[derive(Clone)]
struct Names;

impl TypedValueParser for Names {
    type Value = String;

    fn parse_ref(&self, command: &clap::Command, argument: Option<&clap::Arg>, value: &std::ffi::OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(wayfarer_lab::experiments().iter().map(|experiment| PossibleValue::new(experiment.name).help(experiment.title))))
    }
}

/// The laboratory's commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Lab {
    /// List the experiments
    List {
        /// Print one JSON object instead
        #[arg(long)]
        json: bool,
    },
    /// Run some experiments
    Run {
        /// Their names, as `wayfarer lab list` shows them
        #[arg(value_name = "NAME", required = true, value_parser = Names, hide_possible_values = true)]
        names: Vec<String>,
        #[command(flatten)]
        options: LabOptions,
    },
    /// Run all experiments
    All {
        #[command(flatten)]
        options: LabOptions,
    },
}

/// The options for running experiments.
#[derive(Args, Clone, Debug)]
pub(crate) struct LabOptions {
    /// Few repetitions and small models: a quick look, not a measurement
    #[arg(long, help_heading = "Run")]
    pub(crate) quick: bool,

    /// The first seed; the same seed gives the same figures, except times
    #[arg(long, value_name = "N", default_value = "1", value_parser = parse_seed, help_heading = "Run")]
    pub(crate) seed: u64,

    /// How many runs to make in parallel [default: one for each processor this process may use]
    #[arg(long, value_name = "N", value_parser = parse_depth, help_heading = "Run")]
    pub(crate) threads: Option<u32>,

    /// A folder with models that others wrote: sci.m of CMurphi, specifications of mCRL2, nets of the Model Checking Contest
    ///
    /// The folder is searched for the files that experiments ask for. Without it stand-ins are used, and each
    /// experiment says so.
    #[arg(long, value_name = "FOLDER", help_heading = "Run", value_hint = clap::ValueHint::DirPath)]
    pub(crate) corpus: Option<PathBuf>,

    /// A folder for the findings, one file for each finished experiment [default for `all`: wayfarer-lab]
    ///
    /// An experiment whose findings are already there, from the same version, models, settings and seed, is not run
    /// again.
    #[arg(long, value_name = "FOLDER", help_heading = "Output", value_hint = clap::ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,

    /// Run experiments again even if their findings are in the folder
    #[arg(long, help_heading = "Output")]
    pub(crate) again: bool,

    #[command(flatten)]
    pub(crate) output: FindingsOutput,
}

/// The output of experiments and comparisons.
#[derive(Args, Clone, Debug)]
pub(crate) struct FindingsOutput {
    /// Write one self-contained page, for a browser or for print
    #[arg(long, value_name = "FILE", help_heading = "Output", value_hint = clap::ValueHint::FilePath)]
    pub(crate) html: Option<PathBuf>,

    /// Print one JSON object on the standard output, and nothing else there
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    /// Show no progress
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,
}
