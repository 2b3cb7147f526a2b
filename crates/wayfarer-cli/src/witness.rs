//! A witness as text: the start state with its variables, one line for each step, and below it the changes.
//! Simulations and interactive walks use the same form.

use crate::columns;
use crate::output::{Paint, width};
use crate::render::View;
use crate::sizes;
use wayfarer::ir::show::ABSENT;
use wayfarer::space::Word;
use wayfarer::{Subject, WitnessReport};

/// The amount of each state that is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// Columns if there are several processes and their columns fit, otherwise changes.
    #[default]
    Automatic,
    /// The changes of each step.
    Changes,
    /// The changes of each step, in one column for each process.
    Columns,
    /// The whole state after each step.
    Full,
    /// Nothing.
    None,
}

/// The number of values of the last state that are shown; the rest are only counted.
const END_SHOWN: usize = 100;

/// A whole witness, its last state in full.
pub(crate) fn witness(subject: &dyn Subject, witness: &WitnessReport, view: &View) -> String {
    let View { paint, form, only, .. } = *view;
    let mut out = paint.strong(&format!("witness of {}", sizes::counted(witness.length as u64, "step")));
    let shortest = if witness.shortest { "no shorter one exists" } else { "not known to be shortest" };
    let before = match witness.raw_length > witness.length {
        true => format!("; {} before shortening", sizes::count(witness.raw_length as u64)),
        false => String::new(),
    };
    out.push_str(&format!("{}\n", paint.faint(&format!(" ({shortest}{before})"))));
    if form == Form::None {
        return out;
    }
    out.push_str(&format!("  {} {}\n", paint.faint("start"), paint.strong(&witness.start)));
    if let Some(first) = witness.raw.states.first() {
        out.push_str(&shown(subject, first, form, only, paint));
    }
    let is_wide = matches!(form, Form::Columns | Form::Automatic);
    let table =
        is_wide.then(|| columns::table(subject, witness, &|path| is_wanted(path, only), crate::lab::width(), form == Form::Columns, paint)).flatten();
    match &table {
        Some(table) => out.push_str(table),
        None if form == Form::Columns => {
            let why = "the state has no array of processes, or the columns do not fit here: changes are shown one by one";
            out.push_str(&format!("  {}\n", paint.faint(why)));
        }
        None => {}
    }
    let digits = witness.steps.len().to_string().len().max(4);
    for (index, step) in witness.steps.iter().enumerate().filter(|_| table.is_none()) {
        out.push_str(&step_line(index as u64 + 1, digits, &step.rule, &step.at, paint));
        for line in step.printed.concat().lines() {
            out.push_str(&format!("      | {line}\n"));
        }
        match (&step.fault, form, witness.raw.states.get(index + 1)) {
            (Some(fault), ..) => out.push_str(&format!("        {}\n", paint.bad(&format!("fails: {fault}")))),
            (None, Form::Full, Some(after)) => out.push_str(&shown(subject, after, form, only, paint)),
            _ => {
                let changes = step.changes.iter().filter(|change| is_wanted(&change.path, only));
                changes.for_each(|change| out.push_str(&change_line(&change.path, &change.from, &change.to, paint)));
                if step.changes.is_empty() {
                    out.push_str(&format!("        {}\n", paint.faint("nothing changes")));
                }
            }
        }
    }
    if let (Form::Automatic | Form::Changes | Form::Columns, Some(last), false) = (form, witness.raw.states.last(), witness.steps.is_empty()) {
        let text = shown(subject, last, form, only, paint);
        let lines = text.lines().count();
        out.push_str(&format!("  {}\n", paint.faint("state at the end")));
        text.lines().take(END_SHOWN).for_each(|line| out.push_str(&format!("{line}\n")));
        if lines > END_SHOWN {
            out.push_str(&format!("        {} (--witness full shows all)\n", sizes::counted((lines - END_SHOWN) as u64, "other value")));
        }
    }
    out
}

/// Whether the user wants to see a part of a state.
fn is_wanted(path: &str, only: &[String]) -> bool {
    only.is_empty() || only.iter().any(|name| path.contains(name.as_str()))
}

/// The heading of a step: its number, the rule with its parameters, and the rule's source location.
pub(crate) fn step_line(number: u64, digits: usize, rule: &str, at: &str, paint: Paint) -> String {
    let place = fitting(at, digits + rule.chars().count() + 6, width());
    format!("  {} {}{}\n", paint.faint(&format!("{number:>digits$}.")), paint.strong(rule), paint.faint(&place))
}

/// A source location behind `used` columns of text: whole if it fits, else without the folders, else on a line of its own.
pub(crate) fn fitting(at: &str, used: usize, width: usize) -> String {
    let short = at.rsplit_once('/').map_or(at, |(_, file)| file);
    let fits = |place: &str| used + place.chars().count() <= width;
    match () {
        () if at.is_empty() => String::new(),
        () if fits(at) => format!("  {at}"),
        () if fits(short) => format!("  {short}"),
        () => format!("\n        {short}"),
    }
}

/// The changes of a step.
pub(crate) fn changes(subject: &dyn Subject, before: &[Word], after: &[Word], paint: Paint) -> String {
    let differences = subject.words().changes(before, after);
    if differences.is_empty() {
        return format!("        {}\n", paint.faint("nothing changes"));
    }
    differences.iter().map(|change| change_line(&change.path, &change.from, &change.to, paint)).collect()
}

fn change_line(path: &str, from: &str, to: &str, paint: Paint) -> String {
    // An element of a bag is added or removed: it has no old and new value.
    let bag = path.trim_end_matches("{}");
    match (from, to) {
        (ABSENT, element) if bag != path => format!("        {bag} + {}\n", paint.strong(element)),
        (element, ABSENT) if bag != path => format!("        {bag} - {element}\n"),
        _ => format!("        {path}: {from} → {}\n", paint.strong(to)),
    }
}

/// A whole state. Undefined values are left out and counted, unless the full form is requested.
pub(crate) fn state(subject: &dyn Subject, state: &[Word], form: Form, paint: Paint) -> String {
    shown(subject, state, form, &[], paint)
}

fn shown(subject: &dyn Subject, state: &[Word], form: Form, only: &[String], paint: Paint) -> String {
    let mut out = String::new();
    let mut undefined = 0;
    for part in subject.words().values(state).into_iter().filter(|part| is_wanted(&part.path, only)) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_fits_into_a_narrow_terminal() {
        assert_eq!(fitting("models/murphi/german.m:10:3", 30, 80), "  models/murphi/german.m:10:3");
        assert_eq!(fitting("models/murphi/german.m:10:3", 30, 50), "  german.m:10:3");
        assert_eq!(fitting("models/murphi/german.m:10:3", 50, 60), "\n        german.m:10:3");
        assert_eq!(fitting("", 50, 60), "");
    }
}
