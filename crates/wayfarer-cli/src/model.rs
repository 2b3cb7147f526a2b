//! Reads the model that a command works on, and judges single states for the commands that walk.

use crate::Failure;
use crate::options::ModelOptions;
use crate::output::{Paint, complain};
use wayfarer::Loaded;
use wayfarer::ir::{Interpreter, Program, PropertyKind};
use wayfarer::search::Deadlock;
use wayfarer::space::{Fault, Firing, PropertyBits, Space, States, Steps, Word};

/// Reads the model and shows its warnings.
pub(crate) fn load(options: &ModelOptions) -> Result<Loaded, Failure> {
    load_finding(options, None)
}

/// The same, with a predicate that is looked for.
pub(crate) fn load_finding(options: &ModelOptions, find: Option<&str>) -> Result<Loaded, Failure> {
    let settings = wayfarer::LoadOptions { find: find.map(str::to_string), ..options.load_options(Paint::stderr().colour) };
    let loaded = wayfarer::load(&options.model, &settings).map_err(Failure::unread)?;
    complain(&loaded.warnings);
    Ok(loaded)
}

/// `file:line:column` of a place in the model.
pub(crate) fn place(program: &Program, at: wayfarer::ir::At) -> String {
    if at.line == 0 { program.source.clone() } else { format!("{}:{}:{}", program.source, at.line, at.column) }
}

/// A fault's message with its place.
pub(crate) fn fault(program: &Program, fault: Fault) -> String {
    match program.faults.get(fault.0 as usize) {
        Some(site) => format!("{} ({})", site.message, place(program, site.at)),
        None => "unknown fault".to_string(),
    }
}

/// What is wrong in a state, as sentences: properties that fail, and a deadlock.
pub(crate) fn wrong_in(space: &Interpreter, state: &[Word], deadlock: Deadlock) -> Vec<String> {
    let program = space.program();
    let mut bits = PropertyBits::default();
    let mut found = Vec::new();
    if let Err((number, failed)) = space.check(state, &mut bits) {
        found.push(format!("judging `{}` failed: {}", program.properties[number as usize].name, fault(program, failed)));
    }
    for number in bits.iter().filter(|number| !space.asks_to_reach(*number)) {
        let property = &program.properties[number as usize];
        found.push(format!("invariant `{}` does not hold ({})", property.name, place(program, property.at)));
    }
    if is_deadlock(space, state, deadlock) {
        let why = if deadlock == Deadlock::Stuck { "no rule is enabled" } else { "no rule leads to another state" };
        found.push(format!("deadlock: {why}"));
    }
    found
}

/// The rules that are enabled in a state, in order, those included that fail.
pub(crate) fn enabled(space: &Interpreter, state: &[Word]) -> Vec<Firing> {
    let steps = expand(space, state);
    let mut firings: Vec<Firing> = steps.firings.iter().copied().chain(steps.faults.iter().map(|step| step.firing)).collect();
    firings.sort();
    firings
}

/// The start states that exist, by number.
pub(crate) fn starts(space: &Interpreter) -> Vec<u32> {
    let mut steps = Steps::new(space.width());
    space.initial(&mut steps);
    let mut starts: Vec<u32> = steps.firings.iter().map(|firing| firing.rule).chain(steps.faults.iter().map(|step| step.firing.rule)).collect();
    starts.sort_unstable();
    starts
}

fn is_deadlock(space: &Interpreter, state: &[Word], deadlock: Deadlock) -> bool {
    match deadlock {
        Deadlock::Off => false,
        Deadlock::Stuck => expand(space, state).enabled[0] == 0,
        Deadlock::Stuttering => {
            let steps = expand(space, state);
            steps.faults.is_empty() && steps.changed.iter().all(|changed| *changed == 0)
        }
    }
}

fn expand(space: &Interpreter, state: &[Word]) -> Steps {
    let mut batch = States::new(space.width());
    batch.push(state);
    let mut steps = Steps::new(space.width());
    space.expand(&batch, Firing::of(0), &mut steps);
    steps
}

/// The word for what a property asks.
pub(crate) fn property_kind(kind: PropertyKind) -> &'static str {
    match kind {
        PropertyKind::Always => "invariant",
        PropertyKind::Assumption => "assumption",
        PropertyKind::Reachable => "cover",
    }
}
