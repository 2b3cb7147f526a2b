//! Any bytes can be lexed and parsed, and every diagnostic rendered.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wayfarer_lang::murphi;
use wayfarer_lang::source::Source;

fuzz_target!(|bytes: &[u8]| {
    let source = Source::from_bytes("fuzz.m", bytes);
    let (_, diagnostics) = murphi::parse(&source);
    let length = source.text().len() as u32;
    for diagnostic in &diagnostics {
        assert!(diagnostic.span.start <= diagnostic.span.end && diagnostic.span.end <= length, "{diagnostic:?}");
    }
    diagnostics.render(&source, true);
    diagnostics.render(&source, false);
});
