//! Any Promela text that is accepted becomes a sound program that can be written down and run; any other is refused with an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wayfarer_fuzz::{must_be_sound, must_survive_writing, run};
use wayfarer_lang::promela::learned::Learned;
use wayfarer_lang::promela::{lower, read};
use wayfarer_lang::source::Source;

fuzz_target!(|bytes: &[u8]| {
    let source = Source::from_bytes("fuzz.pml", bytes);
    // A file that includes itself must end as well.
    let (model, diagnostics) = read(&source, &[], &|name| (name == "self").then(|| source.text().to_string()));
    diagnostics.render(&source, false);
    assert_eq!(model.is_none(), diagnostics.has_errors(), "there is a model exactly when there is no error");
    let Some(model) = model else { return };
    let Ok(learned) = Learned::look_ahead(&model) else { return };
    if let Ok(lowered) = lower::lower(&model, &learned) {
        must_be_sound(&lowered.program);
        must_survive_writing(&lowered.program);
        run(lowered.program);
    }
});
