//! One side of the comparison with Stateright: two-phase commit explored once, in a process of its own.
//!
//! ```text
//! two-phase SIDE MANAGERS [MEMORY]
//! ```
//!
//! States come in two forms: plain values of fixed size, and lists with a set. A side is `packed` or `serde`
//! (breadth-first search over plain values, packed or written by serde), `lists` (the same over lists with a set, by
//! serde), `auto`, `serde-auto` and `lists-auto` (these under the default strategy), `adapter` (Stateright's own
//! model of lists under `Plan::from_stateright`), `compact` (packed states in the compact store), or `bfs` and `dfs`
//! of Stateright over both forms: `bfs-plain`, `dfs-plain`, `bfs-loose`, `dfs-loose`. `floor` and `lists-floor` are
//! not checkers but bare loops over a hash set. Prints the resident set before the first state, in bytes, and the
//! number of states.

mod floor;
mod loose;
mod plain;

use loose::Loose;
use plain::{Manager, Plain};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::process::ExitCode;
use wayfarer::model::{BySerde, Tight};
use wayfarer::prelude::*;
use wayfarer_stateright::FromStateright;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (Some(side), Some(managers)) = (arguments.first(), arguments.get(1).and_then(|text| text.parse().ok())) else {
        eprintln!("usage: two-phase SIDE MANAGERS [MEMORY]");
        return ExitCode::from(2);
    };
    let memory = arguments.get(2).map(String::as_str);
    let before = resident();
    let states = match managers {
        3 => explore::<3>(side, memory),
        5 => explore::<5>(side, memory),
        7 => explore::<7>(side, memory),
        8 => explore::<8>(side, memory),
        _ => Err("there may be 3, 5, 7 or 8 managers".to_string()),
    };
    match states {
        Ok(states) => {
            println!("{before} {states}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("two-phase: {message}");
            ExitCode::from(3)
        }
    }
}

fn explore<const N: usize>(side: &str, memory: Option<&str>) -> Result<u64, String>
where
    [Manager; N]: Serialize + DeserializeOwned,
    [bool; N]: Serialize + DeserializeOwned,
{
    let ours = |planned: Planned| {
        let report = planned.deadlock("off").threads(1).audit("off").progress(false).run().map_err(|error| error.to_string())?;
        Ok(if report.states_error > 0.0 { report.insertions } else { report.states })
    };
    match side {
        "packed" => ours(Plan::new::<_, Tight>(Plain::<N>).strategy("bfs").memory(memory.unwrap_or("64M"))),
        "auto" => ours(Plan::new::<_, Tight>(Plain::<N>).memory(memory.unwrap_or("64M"))),
        "compact" => ours(Plan::new::<_, Tight>(Plain::<N>).store("compact").strategy("dfs").memory(memory.unwrap_or("14M"))),
        "serde" => ours(Plan::new::<_, BySerde>(Plain::<N>).strategy("bfs").memory(memory.unwrap_or("128M"))),
        "serde-auto" => ours(Plan::new::<_, BySerde>(Plain::<N>).memory(memory.unwrap_or("128M"))),
        "lists" => ours(Plan::new(Loose(N)).strategy("bfs").memory(memory.unwrap_or("256M"))),
        "lists-auto" => ours(Plan::new(Loose(N)).memory(memory.unwrap_or("256M"))),
        "adapter" => ours(Plan::from_stateright(Loose(N)).strategy("bfs").memory(memory.unwrap_or("256M"))),
        "floor" => Ok(floor::packed::<N>()),
        "lists-floor" => Ok(floor::by_serde(N)),
        "bfs-plain" => Ok(theirs(stateright::Model::checker(Plain::<N>), true)),
        "dfs-plain" => Ok(theirs(stateright::Model::checker(Plain::<N>), false)),
        "bfs-loose" => Ok(theirs(stateright::Model::checker(Loose(N)), true)),
        "dfs-loose" => Ok(theirs(stateright::Model::checker(Loose(N)), false)),
        _ => Err(format!("unknown side `{side}`")),
    }
}

fn theirs<M>(checker: stateright::CheckerBuilder<M>, breadth: bool) -> u64
where
    M: stateright::Model + Send + Sync + 'static,
    M::State: std::hash::Hash + Send + Sync + Clone + std::fmt::Debug + PartialEq,
    M::Action: Send + Sync + Clone + std::fmt::Debug + PartialEq,
{
    use stateright::Checker;
    if breadth {
        checker.threads(1).spawn_bfs().join().unique_state_count() as u64
    } else {
        checker.threads(1).spawn_dfs().join().unique_state_count() as u64
    }
}

fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}
