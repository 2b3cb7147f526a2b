//! Prints the CUDA C of a Murphi model with the kernels of a search:
//! `cargo run -p wayfarer-gpu --example source -- FILE [bfs|walk|urs|urs-states|sdrs|sdrs-states|random|highway|highway-ideal|rdfs]`.

use wayfarer_gpu::{Own, Search, Slots, Source};
use wayfarer_ir::Limits;
use wayfarer_lang::{murphi, source};

fn main() {
    let Some(path) = std::env::args().nth(1) else { return eprintln!("which model?") };
    let text = match std::fs::read(&path) {
        Ok(text) => text,
        Err(error) => return eprintln!("{path}: {error}"),
    };
    let (program, diagnostics) = murphi::load(&source::Source::from_bytes(path, &text), &murphi::Options::default());
    let Some(program) = program else { return eprintln!("{diagnostics:?}") };
    match Source::new(&program, Limits::default()) {
        Ok(source) => {
            let search = match std::env::args().nth(2).as_deref() {
                Some("walk") => Search::Walks,
                Some("urs") => Search::Own(Own::Uniform { by_states: false }),
                Some("urs-states") => Search::Own(Own::Uniform { by_states: true }),
                Some("sdrs") => Search::Own(Own::Deep { by_states: false }),
                Some("sdrs-states") => Search::Own(Own::Deep { by_states: true }),
                Some("random") => Search::Own(Own::Random),
                Some("highway") => Search::Own(Own::Highway { ideal: false }),
                Some("highway-ideal") => Search::Own(Own::Highway { ideal: true }),
                Some("rdfs") => Search::Own(Own::DepthFirst),
                _ => Search::Levels(Slots::exact(source.bits, true)),
            };
            println!("{}", source.with_kernels(search));
        }
        Err(error) => eprintln!("{error}"),
    }
}
