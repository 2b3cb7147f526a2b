//! Any bytes can be read as an Aldebaran file, and every diagnostic rendered.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wayfarer_lang::aut;
use wayfarer_lang::source::Source;

fuzz_target!(|bytes: &[u8]| {
    let source = Source::from_bytes("fuzz.aut", bytes);
    match aut::read(&source) {
        Ok(read) => {
            assert_eq!(read.labelled.len(), read.graph.nodes() as usize);
            for (node, labels) in (0..).zip(&read.labelled) {
                assert_eq!(labels.len(), read.graph.successors(node).len());
            }
        }
        Err(diagnostics) => {
            diagnostics.render(&source, true);
        }
    }
});
