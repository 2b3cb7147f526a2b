//! Prints the CUDA C of a Murphi model with the kernels of a search: `cargo run -p wayfarer-gpu --example source -- FILE [SEARCH] [symmetric] [NAME=VALUE …]`.
//! `seed:NUMBER` instead of a file takes the generated program of that number. The searches are bfs, compact, walk, urs, urs-states, sdrs, sdrs-states, random, highway, highway-ideal, rdfs, audit and audit-compact.

use std::error::Error;
use wayfarer_gpu::{Own, Search, Slots, Source};
use wayfarer_ir::Limits;
use wayfarer_lang::{murphi, source};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, rest @ ..] = &arguments[..] else { return Err("which model?".into()) };
    let (mut name, mut symmetric, mut options) = ("bfs", false, murphi::Options::default());
    for argument in rest {
        match argument.split_once('=') {
            Some((constant, value)) => options.constants.push((constant.to_string(), murphi::ConstantValue::Number(value.parse()?))),
            None if argument == "symmetric" => symmetric = true,
            None => name = argument,
        }
    }
    let program = if let Some(seed) = path.strip_prefix("seed:") {
        wayfarer_ir::generate::generate(seed.parse()?)
    } else {
        let (program, diagnostics) = murphi::load(&source::Source::from_bytes(path.clone(), &std::fs::read(path)?), &options);
        program.ok_or_else(|| format!("{diagnostics:?}"))?
    };
    let source = if symmetric { Source::symmetric(&program, Limits::default()) } else { Source::new(&program, Limits::default()) }?;
    let exact = Slots::exact(source.bits, true);
    let search = match name {
        "bfs" => Search::Levels(exact),
        "compact" => Search::Levels(Slots::Fingerprint),
        "walk" => Search::Walks,
        "urs" => Search::Own(Own::Uniform { by_states: false }),
        "urs-states" => Search::Own(Own::Uniform { by_states: true }),
        "sdrs" => Search::Own(Own::Deep { by_states: false }),
        "sdrs-states" => Search::Own(Own::Deep { by_states: true }),
        "random" => Search::Own(Own::Random),
        "highway" => Search::Own(Own::Highway { ideal: false }),
        "highway-ideal" => Search::Own(Own::Highway { ideal: true }),
        "rdfs" => Search::Own(Own::DepthFirst),
        "audit" => Search::Audit(exact),
        "audit-compact" => Search::Audit(Slots::Fingerprint),
        other => return Err(format!("there is no search `{other}`").into()),
    };
    println!("{}", source.with_kernels(search));
    Ok(())
}
