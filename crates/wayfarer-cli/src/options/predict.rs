//! The options of `predict` and of `graph`.

use super::ModelOptions;
use crate::sizes::{parse_count, parse_depth, parse_duration, parse_seed, parse_size};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;
use wayfarer::theory::Algorithm;

pub(super) const PREDICT_EXAMPLES: &str = "\
Examples:
  wayfarer predict tree --height 3 --degree 3
      Mean steps of urs and sdrs to 60, 70, 80, 90 and 100 % of the nodes.
  wayfarer predict tree --height 3 --degree 3 --steps 500 --capacity 10 --plot curve.svg
      What 500 steps cover when only ten nodes fit into memory, and a plot of the way there.
  wayfarer predict grid --length 9 --dimensions 2 --strategy sdrs --json
  wayfarer graph model.m -o model.aut && wayfarer predict graph model.aut
      The same for a model of your own.
  wayfarer predict storage --branching 1.5 --height 40 --distance 1,5,20 --ratio 0.1
      What storing differences saves and costs.

A figure is exact if --memory and --time (or else three minutes) suffice, otherwise simulated and shown with a 95 % interval; the output says which.

Exit codes:
  0  the figures are there
  2  the graph or the command line is wrong
  3  they could not be computed
  130, 143  Ctrl-C or SIGTERM came first";

pub(super) const GRAPH_EXAMPLES: &str = "\
Examples:
  wayfarer graph peterson.m -o peterson.aut      for CADP, mCRL2 and `wayfarer predict graph`
  wayfarer graph peterson.m -o peterson.dot && dot -Tsvg -O peterson.dot
  wayfarer graph peterson.m -o - | wayfarer predict graph -

Every reachable state is a node; symmetry is not used. Firings that end in a fault lead nowhere and are left out, with a warning. An Aldebaran file has one
first state: where the model has several start states, a node 0 before them is added, and its transitions are labelled with the start states' names.

Exit codes:
  0  the graph was written
  2  the model or the command line is wrong
  3  the model has more states than --states allows, or the file cannot be written";

/// The subject of a prediction.
#[derive(Debug, Subcommand)]
pub(crate) enum Predict {
    /// A complete tree T(height, degree), started at its root
    Tree {
        /// Steps from the root to a leaf, from 1 on
        #[arg(long, value_name = "H", value_parser = parse_depth)]
        height: u32,
        /// Successors of each node above the leaves, from 1 on; the tree may have 16,777,216 nodes
        #[arg(long, value_name = "M", value_parser = parse_depth)]
        degree: u32,
        #[command(flatten)]
        question: Question,
    },
    /// A grid G(length, dimensions), started at the origin: a step adds one to one coordinate
    Grid {
        /// Steps along a side, from 1 on
        #[arg(long, value_name = "L", value_parser = parse_depth)]
        length: u32,
        /// How many coordinates, from 1 on; the grid may have 16,777,216 nodes
        #[arg(long, value_name = "D", value_parser = parse_depth)]
        dimensions: u32,
        #[command(flatten)]
        question: Question,
    },
    /// A graph from an Aldebaran file
    Graph {
        /// The file, as `wayfarer graph` writes it; `-` reads the standard input
        #[arg(value_name = "FILE.aut", value_hint = clap::ValueHint::FilePath)]
        file: String,
        #[command(flatten)]
        question: Question,
    },
    /// The savings (Δ) and costs (π) of storing states as differences
    Storage(StorageOptions),
}

/// The question about a graph.
#[derive(Args, Clone, Debug)]
pub(crate) struct Question {
    /// The algorithms: urs, sdrs or both
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "urs,sdrs", value_parser = str::parse::<Algorithm>, help_heading = "Question")]
    pub(crate) strategy: Vec<Algorithm>,

    /// Also show the coverage after this many steps, 1 to 1,000,000 [default with --capacity: ten for each node]
    #[arg(long, value_name = "N", value_parser = parse_steps, help_heading = "Question")]
    pub(crate) steps: Option<u32>,

    /// Restart from the start states whenever this many nodes are stored (rurs, rsdrs), from 2 on
    ///
    /// Cover times are those of a memory that holds everything; the capacity affects only the coverage after --steps.
    #[arg(long, value_name = "N", value_parser = parse_capacity, help_heading = "Question")]
    pub(crate) capacity: Option<u32>,

    /// Whether to compute exactly or to simulate
    #[arg(long, value_enum, value_name = "WAY", default_value_t = Method::Auto, help_heading = "Method")]
    pub(crate) method: Method,

    /// Memory that an exact computation may take
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = parse_size, help_heading = "Method")]
    pub(crate) memory: usize,

    /// Time for all figures, such as 30s or 10m
    ///
    /// A figure that cannot be exact in half of its share is simulated; a simulation makes as many runs as fit into the
    /// rest, but at least two.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Method")]
    pub(crate) time: Option<Duration>,

    /// How often a simulation is repeated, from 2 on
    #[arg(long, value_name = "K", default_value = "1000", value_parser = parse_runs, help_heading = "Method")]
    pub(crate) runs: u32,

    /// The seed of simulations
    #[arg(long, value_name = "N", default_value = "1", value_parser = parse_seed, help_heading = "Method")]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) output: PredictOutput,

    /// Show no progress
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,
}

/// The method that gives the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Method {
    /// Exact if memory and some minutes suffice, otherwise simulated
    Auto,
    /// Exact, however long it takes, or not at all
    Exact,
    /// Simulated
    Simulate,
}

/// The output of predictions.
#[derive(Args, Clone, Debug)]
pub(crate) struct PredictOutput {
    /// Print one JSON object instead of a table
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    /// Draw a line plot into this file
    #[arg(long, value_name = "FILE.svg", help_heading = "Output", value_hint = clap::ValueHint::FilePath)]
    pub(crate) plot: Option<PathBuf>,
}

/// The options of `predict storage`.
#[derive(Args, Clone, Debug)]
pub(crate) struct StorageOptions {
    /// k: the mean number of new states that a state leads to, above 0
    #[arg(long, value_name = "K", value_parser = parse_positive)]
    pub(crate) branching: f64,

    /// n: the depth of the graph, 1 to 1,000,000
    #[arg(long, value_name = "N", value_parser = parse_steps)]
    pub(crate) height: u32,

    /// δ: the number of steps between states that are stored whole, from 1 on; several may be given
    #[arg(long, value_name = "D", value_delimiter = ',', default_value = "1,2,5,10,20,50", value_parser = parse_depth)]
    pub(crate) distance: Vec<u32>,

    /// x: the size of a difference as a share of a whole state, 0 to 1
    #[arg(long, value_name = "X", value_parser = parse_share)]
    pub(crate) ratio: f64,

    /// y: the time of going back one step, in units of comparing two whole states; above 0
    #[arg(long, value_name = "Y", default_value = "1", value_parser = parse_positive)]
    pub(crate) step_back: f64,

    #[command(flatten)]
    pub(crate) output: PredictOutput,
}

/// The options of `graph`.
#[derive(Args, Clone, Debug)]
pub(crate) struct GraphOptions {
    #[command(flatten)]
    pub(crate) model: ModelOptions,

    #[command(flatten)]
    pub(crate) loops: super::LoopOption,

    /// The file of the graph, ending in .aut or .dot, or - for Aldebaran on the standard output
    #[arg(long, short, value_name = "FILE", help_heading = "Output", value_hint = clap::ValueHint::FilePath)]
    pub(crate) output: String,

    /// The most states to write
    #[arg(long, value_name = "N", default_value = "100000", value_parser = parse_count, help_heading = "Budget")]
    pub(crate) states: u64,
}

/// The most steps: each takes memory, and a curve of more points would look the same.
pub(crate) const MOST_STEPS: u32 = 1_000_000;

fn parse_steps(text: &str) -> Result<u32, String> {
    match parse_depth(text)? {
        steps @ ..=MOST_STEPS => Ok(steps),
        _ => Err(format!("`{text}` is too large; the most is 1,000,000")),
    }
}

fn parse_capacity(text: &str) -> Result<u32, String> {
    match parse_depth(text)? {
        1 => Err("a memory of one node is full before the first step; it must hold at least 2".to_string()),
        capacity => Ok(capacity),
    }
}

fn parse_runs(text: &str) -> Result<u32, String> {
    match parse_depth(text)? {
        1 => Err("an interval needs at least 2 runs".to_string()),
        runs => Ok(runs),
    }
}

fn parse_positive(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|number: &f64| *number > 0.0 && number.is_finite()).ok_or_else(|| format!("`{text}` is not a number above 0"))
}

fn parse_share(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| format!("`{text}` is not a share; write a number from 0 to 1"))
}
