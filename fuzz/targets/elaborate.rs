//! Any text is either accepted as a valid program that can be written and run, or refused with an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wayfarer_fuzz::{must_be_sound, must_survive_writing, run};
use wayfarer_lang::murphi::{self, Options, Undefined};
use wayfarer_lang::source::Source;

fuzz_target!(|bytes: &[u8]| {
    let source = Source::from_bytes("fuzz.m", bytes);
    for undefined in [Undefined::Copy, Undefined::Strict] {
        let (program, diagnostics) = murphi::load(&source, &Options { undefined, ..Options::default() });
        diagnostics.render(&source, false);
        assert_eq!(program.is_none(), diagnostics.has_errors(), "there is a program exactly when there is no error");
        if let Some(program) = program {
            must_be_sound(&program);
            must_survive_writing(&program);
            run(program);
        }
    }
});
