//! Prints the CUDA C of a Murphi model with its kernels: `cargo run -p wayfarer-gpu --example source -- FILE`.

use wayfarer_gpu::{Search, Slots, Source};
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
        Ok(source) => println!("{}", source.with_kernels(Search::Levels(Slots::exact(source.bits, true)))),
        Err(error) => eprintln!("{error}"),
    }
}
