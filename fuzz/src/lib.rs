//! The common part of the fuzz targets: a program that was read must be valid, must survive a round trip through
//! text, and must run.

use wayfarer_ir::{Interpreter, Limits, Program, text, verify};
use wayfarer_space::{Fired, PropertyBits, Rng, Space, Steps};

/// The number of steps that a program is run for.
const STEPS: usize = 200;
/// The most rule instances; more make a step too slow to fuzz.
const MOST_RULES: u32 = 2000;

/// Panics if the verifier rejects a program that a front end produced.
pub fn must_be_sound(program: &Program) {
    let errors = verify(program);
    assert!(errors.is_empty(), "a front end made a program that the verifier refuses: {errors:#?}");
}

/// Panics if a program changes when it is written and read again.
pub fn must_survive_writing(program: &Program) {
    let written = text::print(program);
    match text::read(&written) {
        Ok(again) => assert!(again == *program, "written down and read again, this is another program:\n{written}"),
        Err(error) => panic!("what was written down cannot be read: {error}\n{written}"),
    }
}

/// Runs a valid program for a few steps from its first start state and checks every state.
pub fn run(program: Program) {
    let limits = Limits { fuel: 2000, call_depth: 100, frame_words: 1 << 14 };
    let interpreter = Interpreter::new(program, limits);
    if interpreter.rules() > MOST_RULES {
        return;
    }
    let mut steps = Steps::new(interpreter.width());
    interpreter.initial(&mut steps);
    if steps.is_empty() {
        return;
    }
    let mut state = steps.states.get(0).to_vec();
    let mut next = Vec::new();
    let mut rng = Rng::new(1, "fuzz");
    for _ in 0..STEPS {
        let _ = interpreter.check(&state, &mut PropertyBits::default());
        match interpreter.sample(&state, &mut rng, &mut next) {
            Some((_, Fired::To)) => std::mem::swap(&mut state, &mut next),
            Some(_) => {}
            None => return,
        }
    }
    interpreter.program().listing(&state);
}
