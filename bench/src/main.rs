//! Measures Wayfarer against its rivals on the same models, in the same run, and prints ratios.
//!
//! ```text
//! cargo run --release -p wayfarer-bench -- --corpus FOLDER [--runs N] [PART …]
//! ```
//!
//! The parts are listed in [`PARTS`]; without a name all of them run. If there is a rival, both sides are whole
//! processes on one thread, measured from outside by their CPU time and peak resident set. Runs are interleaved and
//! the best of each side counts, because the machine is shared: noise only ever adds time. Raw figures are saved in
//! `bench/results`.

mod accept;
mod beyond;
mod calibration;
mod cmurphi;
mod device;
mod finds;
mod lola;
mod mcrl2;
mod models;
mod nets;
mod omissions;
mod process;
mod promise;
mod rates;
mod raw;
mod rbfs;
mod results;
mod rumur;
mod rust;
mod speed;
mod spin;
mod start;
mod symmetry;
mod tenth;
mod threads;
mod walk;
mod wide;

use results::Results;
use std::path::PathBuf;
use std::process::ExitCode;

/// The parsed command line.
struct Request {
    corpus: PathBuf,
    wayfarer: PathBuf,
    work: PathBuf,
    runs: usize,
    /// Rows of `crowds` are measured if their name contains this.
    only: String,
    parts: Vec<String>,
}

/// Measures something, prints it and adds it to the raw figures.
type Part = fn(&Request, &mut Results);

const PARTS: [(&str, Part); 28] = [
    ("speed", speed::measure),
    ("start", start::measure),
    ("memory", speed::measure_memory),
    ("promise", promise::measure),
    ("phases", promise::measure_phases),
    ("crowds", promise::measure_threads),
    ("walk", walk::measure),
    ("rates", rates::measure),
    ("rbfs", rbfs::measure),
    ("accept", accept::measure),
    ("beyond", beyond::measure),
    ("tenth", tenth::measure),
    ("slots", tenth::measure_slots),
    ("finds", finds::measure),
    ("witnesses", finds::measure_witnesses),
    ("symmetry", symmetry::measure),
    ("threads", threads::measure),
    ("device", device::measure),
    ("spin", spin::measure),
    ("nets", nets::measure),
    ("lola", lola::measure),
    ("mcrl2", mcrl2::measure),
    ("wide", wide::measure),
    ("cmurphi", cmurphi::measure),
    ("omissions", omissions::measure),
    ("calibration", calibration::measure),
    ("rust", rust::measure),
    ("raw", |_, results| raw::measure_all(results)),
];

/// Parts that need neither the corpus nor the program.
const ALONE: [&str; 4] = ["nets", "raw", "calibration", "rust"];

/// Offers the memory that the rivals of part `raw` allocate as large pages, as our stores do themselves.
#[global_allocator]
static ALLOCATOR: raw::LargePages = raw::LargePages;

fn main() -> ExitCode {
    let request = match parse(std::env::args().skip(1)) {
        Ok(request) => request,
        Err(message) => {
            eprintln!("bench: {message}");
            eprintln!("usage: wayfarer-bench --corpus FOLDER [--runs N] [--only ROW] [{}]", PARTS.map(|(part, _)| part).join("] ["));
            return ExitCode::from(2);
        }
    };
    if let Err(error) = std::fs::create_dir_all(&request.work) {
        eprintln!("bench: cannot make {}: {error}", request.work.display());
        return ExitCode::from(3);
    }
    let mut results = Results::default();
    let wanted = |part: &str| request.parts.is_empty() || request.parts.iter().any(|wanted| wanted == part);
    for (part, measure) in PARTS {
        if wanted(part) {
            measure(&request, &mut results);
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
        only: String::new(),
        parts: Vec::new(),
    };
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--corpus" => request.corpus = PathBuf::from(value()?),
            "--wayfarer" => request.wayfarer = PathBuf::from(value()?),
            "--runs" => request.runs = value()?.parse().map_err(|_| "--runs needs a number".to_string())?,
            "--only" => request.only = value()?,
            part if PARTS.iter().any(|(name, _)| *name == part) => request.parts.push(part.to_string()),
            other => return Err(format!("unknown argument `{other}`")),
        }
    }
    if !request.parts.is_empty() && request.parts.iter().all(|part| ALONE.contains(&part.as_str())) {
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
