//! Any text can be read as a program or is refused. A program that was read can be written, and one that the verifier
//! accepts can be run.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wayfarer_fuzz::{must_survive_writing, run};
use wayfarer_ir::{text, verify};

fuzz_target!(|bytes: &[u8]| {
    let Ok(source) = std::str::from_utf8(bytes) else { return };
    let Ok(program) = text::read(source) else { return };
    must_survive_writing(&program);
    if verify(&program).is_empty() {
        run(program);
    }
});
