//! The rival rumur, as packaged by Debian: it generates a C program for a model, gcc compiles it, and that program
//! explores the model.

use crate::Request;
use crate::process::{self, Cost};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The flags of the comparison, which make both do the same work.
const FLAGS: [&str; 4] = ["--threads", "1", "--deadlock-detection", "off"];

/// rumur's version, if it is installed along with a C compiler.
pub(crate) fn version() -> Option<String> {
    let output = Command::new("rumur").arg("--version").output().ok()?;
    Command::new("gcc").arg("--version").output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).lines().next()?.trim().to_string())
}

/// Builds rumur's checker for a model, once; `symmetry` is off, heuristic or exhaustive.
pub(crate) fn checker(request: &Request, model: &Path, symmetry: &str) -> Result<PathBuf, String> {
    let stem = model.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = if symmetry == "off" { stem } else { format!("{stem}.{symmetry}") };
    let (code, program) = (request.work.join(format!("{stem}.c")), request.work.join(format!("{stem}.rumur")));
    if program.is_file() {
        return Ok(program);
    }
    let made = Command::new("rumur")
        .args(FLAGS)
        .args(["--symmetry-reduction", symmetry])
        .arg("--output")
        .arg(&code)
        .arg(model)
        .status()
        .map_err(|error| error.to_string())?;
    let compiled =
        Command::new("gcc").args(["-O3", "-march=native", "-std=c11", "-o"]).arg(&program).arg(&code).args(["-lpthread", "-latomic"]).status();
    match (made.success(), compiled) {
        (true, Ok(status)) if status.success() => Ok(program),
        _ => Err(format!("rumur or gcc did not accept {}", model.display())),
    }
}

/// Runs the checker to completion, or to about `states` states. Returns cost and states.
pub(crate) fn explore(program: &Path, states: Option<u64>) -> Result<(Cost, u64), String> {
    let enough = |line: &str| states.is_some_and(|wanted| states_in(line).is_some_and(|found| found >= wanted));
    let cost = process::until(&mut Command::new(program), enough)?;
    let states = cost.output.lines().rev().find_map(states_in).ok_or("rumur printed no number of states")?;
    Ok((cost, states))
}

/// The number before the word `states` in a line.
fn states_in(line: &str) -> Option<u64> {
    let mut words = line.split_whitespace().peekable();
    while let Some(word) = words.next() {
        if words.peek().is_some_and(|next| next.starts_with("states")) {
            return word.replace(',', "").parse().ok();
        }
    }
    None
}
