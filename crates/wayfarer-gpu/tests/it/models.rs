//! The models of this repository, interpreted and compiled as C++.

use crate::agreement::{Seen, agree};
use crate::harness::{Built, compiler};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wayfarer_gpu::Source;
use wayfarer_ir::{Interpreter, Limits, Program};
use wayfarer_lang::{murphi, source};

/// Where the models are.
fn folder() -> PathBuf {
    // A binary of these tests may run elsewhere than where it was built.
    let elsewhere = std::env::var_os("WAYFARER_MODELS").map(PathBuf::from);
    elsewhere.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/murphi"))
}

/// German's protocol with so many nodes.
pub(crate) fn german(nodes: i64) -> Arc<Program> {
    let text = std::fs::read(folder().join("german.m")).expect("the model is there");
    let options = murphi::Options { constants: vec![("NodeCount".to_string(), murphi::ConstantValue::Number(nodes))], ..murphi::Options::default() };
    let (program, _) = murphi::load(&source::Source::from_bytes("german.m".to_string(), &text), &options);
    Arc::new(program.expect("the model is right"))
}

/// All models, with their names.
pub(crate) fn models() -> Vec<(String, Arc<Program>)> {
    let mut paths: Vec<_> = std::fs::read_dir(folder()).expect("the models are there").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let load = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read(path).expect("a model can be read");
        let (program, _) = murphi::load(&source::Source::from_bytes(name.clone(), &text), &murphi::Options::default());
        (name, Arc::new(program.expect("the models are right")))
    };
    paths.iter().map(load).collect()
}

#[test]
fn models_agree_with_the_interpreter() {
    let Some(compiler) = compiler() else { return };
    let limits = Limits::default();
    let mut sources: Vec<Source> = Vec::new();
    let mut models = models();
    // A device takes states of up to 4,096 bits and no real numbers; one model has more bits, one has reals.
    models.retain(|(name, program)| match Source::new(program, limits) {
        Ok(source) => {
            sources.push(source);
            true
        }
        Err(error) => {
            let known = ["a device takes up to 4096", "real numbers"];
            assert!(known.iter().any(|part| error.to_string().contains(part)), "{name}: {error}");
            false
        }
    });
    let built = Built::new(compiler, &sources);
    let mut seen = Seen::default();
    for (number, (name, program)) in models.iter().enumerate() {
        let interpreter = Interpreter::new(program.clone(), limits);
        agree(name, &interpreter, &built, number, &sources[number], 150, &mut seen);
    }
    assert!(seen.states > 3_000 && seen.steps > 5_000 && seen.faults > 100, "{seen:?}");
}
