//! Measures Wayfarer against its rivals on the same models, in the same run, and prints ratios.
//!
//!     cargo run --release -p wayfarer-bench -- --corpus FOLDER [--runs N] [PART ...]
//!
//! Both sides are whole processes on one thread, measured from outside by their CPU time and peak resident set. Runs are interleaved and the best of
//! each side counts, because the machine is shared: noise only ever adds. Raw figures are kept in `bench/results`.

mod models;
mod process;
mod promise;
mod raw;
mod rbfs;
mod results;
mod rumur;
mod speed;
mod spin;
mod start;
mod symmetry;
mod threads;
mod walk;

use results::Results;
use std::path::PathBuf;
use std::process::ExitCode;

/// What the command line asks for.
struct Request {
    corpus: PathBuf,
    wayfarer: PathBuf,
    work: PathBuf,
    runs: usize,
    parts: Vec<String>,
}

const PARTS: [&str; 10] = ["speed", "start", "memory", "promise", "walk", "rbfs", "symmetry", "threads", "spin", "raw"];

/// What the rivals of part `raw` allocate is offered as large pages, as our stores do themselves.
#[global_allocator]
static ALLOCATOR: raw::LargePages = raw::LargePages;

fn main() -> ExitCode {
    let request = match parse(std::env::args().skip(1)) {
        Ok(request) => request,
        Err(message) => {
            eprintln!("bench: {message}");
            eprintln!("usage: wayfarer-bench --corpus FOLDER [--runs N] [{}]", PARTS.join("] ["));
            return ExitCode::from(2);
        }
    };
    if let Err(error) = std::fs::create_dir_all(&request.work) {
        eprintln!("bench: cannot make {}: {error}", request.work.display());
        return ExitCode::from(3);
    }
    let mut results = Results::default();
    let wanted = |part: &str| request.parts.is_empty() || request.parts.iter().any(|wanted| wanted == part);
    for part in PARTS {
        if !wanted(part) {
            continue;
        }
        match part {
            "speed" => speed::measure(&request, &mut results),
            "start" => start::measure(&request, &mut results),
            "memory" => speed::measure_memory(&request, &mut results),
            "promise" => promise::measure(&request, &mut results),
            "rbfs" => rbfs::measure(&request, &mut results),
            "symmetry" => symmetry::measure(&request, &mut results),
            "threads" => threads::measure(&request, &mut results),
            "spin" => spin::measure(&request, &mut results),
            "walk" => walk::measure(&request, &mut results),
            _ => raw::measure_all(&mut results),
        }
    }
    match results.keep() {
        Ok(path) => println!("\nraw figures: {}", path.display()),
        Err(error) => eprintln!("bench: the raw figures could not be kept: {error}"),
    }
    ExitCode::SUCCESS
}

fn parse(arguments: impl Iterator<Item = String>) -> Result<Request, String> {
    let here = std::env::current_exe().map_err(|error| error.to_string())?;
    let target = here.parent().map(PathBuf::from).unwrap_or_default();
    let mut request = Request {
        corpus: std::env::var_os("WAYFARER_CORPUS").map(PathBuf::from).unwrap_or_default(),
        wayfarer: target.join("wayfarer"),
        work: target.join("bench-work"),
        runs: 5,
        parts: Vec::new(),
    };
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--corpus" => request.corpus = PathBuf::from(value()?),
            "--wayfarer" => request.wayfarer = PathBuf::from(value()?),
            "--runs" => request.runs = value()?.parse().map_err(|_| "--runs needs a number".to_string())?,
            part if PARTS.contains(&part) => request.parts.push(part.to_string()),
            other => return Err(format!("what is `{other}`?")),
        }
    }
    if request.parts == ["raw"] {
        // It needs neither models nor the program.
        return Ok(request);
    }
    if !request.corpus.join("murphi").is_dir() {
        return Err("--corpus (or WAYFARER_CORPUS) must name a folder with a folder `murphi` of models in it".to_string());
    }
    if !request.wayfarer.is_file() {
        return Err(format!("{} is not built: cargo build --release first", request.wayfarer.display()));
    }
    Ok(request)
}
