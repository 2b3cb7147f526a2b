//! A witness for a person: the start state with its variables, one line for each step, and below it what changed. Simulations and walks by hand
//! speak the same way.

use crate::output::Paint;
use crate::sizes;
use wayfarer::ir::show::ABSENT;
use wayfarer::space::Word;
use wayfarer::{Subject, WitnessReport};

/// How much of each state is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// What each step changed.
    #[default]
    Changes,
    /// The whole state after each step.
    Full,
    /// Nothing.
    None,
}

/// A whole witness.
pub(crate) fn witness(subject: &dyn Subject, witness: &WitnessReport, form: Form, paint: Paint) -> String {
    let mut out = paint.strong(&format!("witness of {}", sizes::counted(witness.length as u64, "step")));
    if witness.raw_length > witness.length {
        out.push_str(&paint.faint(&format!(" (found with {})", sizes::count(witness.raw_length as u64))));
    }
    out.push('\n');
    out.push_str(&format!("  {} {}\n", paint.faint("start"), paint.strong(&witness.start)));
    if let Some(first) = witness.raw.states.first() {
        out.push_str(&state(subject, first, form, paint));
    }
    let digits = witness.steps.len().to_string().len().max(4);
    for (index, step) in witness.steps.iter().enumerate() {
        out.push_str(&step_line(index as u64 + 1, digits, &step.rule, &step.at, paint));
        match (&step.fault, form, witness.raw.states.get(index + 1)) {
            (Some(fault), ..) => out.push_str(&format!("        {}\n", paint.bad(&format!("fails: {fault}")))),
            (None, Form::Full, Some(after)) => out.push_str(&state(subject, after, form, paint)),
            _ => {
                for change in &step.changes {
                    out.push_str(&change_line(&change.path, &change.from, &change.to, paint));
                }
                if step.changes.is_empty() {
                    out.push_str(&format!("        {}\n", paint.faint("nothing changes")));
                }
            }
        }
    }
    out
}

/// The heading of a step: its number, the rule with its parameters, and where the rule was written.
pub(crate) fn step_line(number: u64, digits: usize, rule: &str, at: &str, paint: Paint) -> String {
    format!("  {} {}  {}\n", paint.faint(&format!("{number:>digits$}.")), paint.strong(rule), paint.faint(at))
}

/// What a step changed.
pub(crate) fn changes(subject: &dyn Subject, before: &[Word], after: &[Word], paint: Paint) -> String {
    let differences = subject.words().changes(before, after);
    if differences.is_empty() {
        return format!("        {}\n", paint.faint("nothing changes"));
    }
    differences.iter().map(|change| change_line(&change.path, &change.from, &change.to, paint)).collect()
}

fn change_line(path: &str, from: &str, to: &str, paint: Paint) -> String {
    // An element of a bag comes or goes: it has no old and new value.
    let bag = path.trim_end_matches("{}");
    match (from, to) {
        (ABSENT, element) if bag != path => format!("        {bag} + {}\n", paint.strong(element)),
        (element, ABSENT) if bag != path => format!("        {bag} - {element}\n"),
        _ => format!("        {path}: {from} → {}\n", paint.strong(to)),
    }
}

/// A whole state. Undefined values are left out and counted, unless the full form is wanted.
pub(crate) fn state(subject: &dyn Subject, state: &[Word], form: Form, paint: Paint) -> String {
    let mut out = String::new();
    let mut undefined = 0;
    for part in subject.words().values(state) {
        if form != Form::Full && !part.defined {
            undefined += 1;
        } else {
            out.push_str(&format!("        {}: {}\n", part.path, part.value));
        }
    }
    if undefined > 0 {
        let all = out.is_empty();
        let text = if all { "every value is undefined".to_string() } else { format!("{} undefined", sizes::counted(undefined, "other value")) };
        out.push_str(&format!("        {}\n", paint.faint(&text)));
    }
    out
}
