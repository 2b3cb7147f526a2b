//! The options of `compare`.

use super::ModelOptions;
use super::lab::FindingsOutput;
use super::plan::{Compared, PlanArgs};
use crate::sizes::parse_depth;
use clap::Args;
use std::str::FromStr;
use wayfarer::StrategySpec;

pub(super) const COMPARE_EXAMPLES: &str = "\
Examples:
  wayfarer compare german.m
      The usual strategies, ten runs each, with a million steps for each run.
  wayfarer compare dining.m --strategies bfs,rdfs,random,highway:width=8 --runs 100 --html dining.html
      Which of them finds the deadlock, how soon, and with how long a witness; one page with the coverage curves.
  wayfarer compare german.m --strategies urs,sdrs --steps 10M --json

All runs have the same limits. Strategies are parted by commas; so are a strategy's own parameters, as in walk:restart=1000,lanes=4,urs: what is no
strategy's name belongs to the strategy before it.

Exit codes:
  0  the strategies were compared, whatever they found
  2  the model or the command line is wrong
  3  the comparison could not be carried out
  130, 143  Ctrl-C or SIGTERM came first";

/// Strategies separated by commas.
#[derive(Clone, Debug)]
pub(crate) struct Strategies(pub(crate) Vec<StrategySpec>);

impl FromStr for Strategies {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts: Vec<String> = Vec::new();
        for piece in text.split(',').map(str::trim).filter(|piece| !piece.is_empty()) {
            let name = piece.split(':').next().unwrap_or(piece);
            match parts.last_mut() {
                // A parameter of the previous strategy, either its first or a further one.
                Some(last) if !StrategySpec::names().any(|known| known == name) && (piece.contains('=') || last.contains(':')) => {
                    last.push(',');
                    last.push_str(piece);
                }
                _ => parts.push(piece.to_string()),
            }
        }
        if parts.is_empty() {
            return Err("name at least one strategy, such as bfs".to_string());
        }
        parts
            .iter()
            .map(|part| part.parse().map_err(|error: wayfarer::search::SpecError| error.to_string()))
            .collect::<Result<_, _>>()
            .map(Strategies)
    }
}

/// The options of `compare`.
#[derive(Args, Clone, Debug)]
pub(crate) struct CompareOptions {
    #[command(flatten)]
    pub(crate) model: ModelOptions,

    /// The strategies to compare, separated by commas; parameters as in highway:width=8
    #[arg(long, value_name = "A,B,…", default_value = "bfs,rdfs,walk,urs,sdrs,highway", value_parser = str::parse::<Strategies>, help_heading = "Search")]
    pub(crate) strategies: Strategies,

    /// How often to run each randomised strategy, each time with the next seed
    #[arg(long, value_name = "K", default_value = "10", value_parser = parse_depth, help_heading = "Search")]
    pub(crate) runs: u32,

    #[command(flatten)]
    pub(crate) run: PlanArgs<Compared>,

    #[command(flatten)]
    pub(crate) output: FindingsOutput,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_belong_to_the_strategy_before_them() {
        let read = |text: &str| text.parse::<Strategies>().map(|all| all.0.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(read("bfs,walk:restart=1000,lanes=4,urs").unwrap(), ["bfs", "walk:restart=1000,lanes=4", "urs"]);
        assert_eq!(read("rbfs:own,slots=10,highway:width=8").unwrap(), ["rbfs:slots=10,own=on", "highway:width=8"]);
        assert!(read("bfs,wolk").unwrap_err().contains("did you mean") && read(" ,").is_err());
    }
}
