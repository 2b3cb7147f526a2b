//! Any bytes can be read as a Petri net: no panic, a net exactly when there is no error, and its program is sound and runs. What follows a zero byte is read as
//! a file of formulas and as a condition.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wayfarer_lang::pnml;
use wayfarer_lang::source::Source;

fuzz_target!(|bytes: &[u8]| {
    let (net, rest) = bytes.split_at(bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len()));
    let source = Source::from_bytes("fuzz.pnml", net);
    let (loaded, diagnostics) = pnml::load(&source);
    assert_eq!(loaded.is_none(), diagnostics.has_errors());
    diagnostics.render(&source, true);
    let Some(mut loaded) = loaded else { return };
    let asked = Source::from_bytes("fuzz.xml", rest.get(1..).unwrap_or_default());
    let (formulas, findings) = pnml::properties(&loaded.flat, &asked);
    findings.render(&asked, true);
    let (formula, _) = pnml::find(&loaded.flat, asked.text());
    loaded = loaded.asking(formulas.unwrap_or_default().into_iter().chain(formula).collect());
    wayfarer_fuzz::must_be_sound(&loaded.lowered.program);
    wayfarer_fuzz::run(loaded.lowered.program.clone());
});
