//! A witness as a table with one column for each process.
//!
//! Processes are found by the arrays of the state: the arrays with the same two to eight indices that occur most often. Changes of a step to such an array stand
//! in the column of its index, everything else in a last column.

use crate::output::Paint;
use std::collections::BTreeMap;
use wayfarer::{StepReport, Subject, WitnessReport};

/// The most processes that get a column.
const MOST: usize = 8;
/// The narrowest column, and the space before the first one if the rules stand on lines of their own.
const NARROWEST: usize = 8;
const INDENT: usize = 7;

/// The steps of a witness as a table of at most so many characters a line; `None` if the state has no arrays of processes, or if the table does not fit.
/// Unless it is `asked` for, the columns must also pay: at least two processes change, and every rule stands beside its changes.
pub(crate) fn table(
    subject: &dyn Subject,
    witness: &WitnessReport,
    wanted: &dyn Fn(&str) -> bool,
    width: usize,
    asked: bool,
    paint: Paint,
) -> Option<String> {
    let first = witness.raw.states.first()?;
    let paths: Vec<String> = subject.words().values(first).into_iter().map(|value| value.path).collect();
    let processes = processes(&paths)?;
    let rows: Vec<Row> = witness.steps.iter().enumerate().map(|(number, step)| row(number, step, &processes, wanted)).collect();
    let mut widths: Vec<usize> = processes.iter().map(|name| name.chars().count()).collect();
    widths.push("shared".len());
    for row in &rows {
        for (width, lines) in widths.iter_mut().zip(&row.cells) {
            *width = lines.iter().map(|line| line.chars().count()).fold((*width).max(NARROWEST), usize::max);
        }
    }
    if rows.iter().all(|row| row.cells[processes.len()].is_empty()) {
        widths.pop();
    }
    let columns: usize = widths.iter().map(|width| width + 3).sum();
    let longest = rows.iter().map(|row| row.head.chars().count()).max()?;
    // If the rules do not fit beside the columns, each stands on a line of its own.
    let beside = longest + columns <= width;
    let head = if beside { longest } else { INDENT };
    let changing = (0..processes.len()).filter(|process| rows.iter().any(|row| !row.cells[*process].is_empty())).count();
    if head + columns > width || !asked && (changing < 2 || !beside) {
        return None;
    }
    let mut out = format!("{:head$}", "");
    for (name, width) in processes.iter().map(String::as_str).chain(["shared"]).zip(&widths) {
        out.push_str(&format!(" {} {}", paint.faint("│"), paint.strong(&format!("{name:<width$}"))));
    }
    out = format!("{}\n", out.trim_end());
    for row in &rows {
        let lines = row.cells.iter().map(Vec::len).max().unwrap_or(0).max(1);
        if !beside {
            out.push_str(&format!("{}\n", row.head));
        }
        for line in 0..lines {
            let head_text = if beside && line == 0 { row.head.as_str() } else { "" };
            let mut text = format!("{head_text:<head$}");
            for (cell, width) in row.cells.iter().zip(&widths) {
                text.push_str(&format!(" {} {:<width$}", paint.faint("│"), cell.get(line).map_or("", String::as_str)));
            }
            out.push_str(&format!("{}\n", text.trim_end()));
        }
        for line in row.printed.lines() {
            out.push_str(&format!("      | {line}\n"));
        }
        if let Some(fault) = &row.fault {
            out.push_str(&format!("        {}\n", paint.bad(&format!("fails: {fault}"))));
        }
    }
    Some(out)
}

/// A step: its number and rule, and the changes in each column.
struct Row {
    head: String,
    cells: Vec<Vec<String>>,
    fault: Option<String>,
    printed: String,
}

fn row(number: usize, step: &StepReport, processes: &[String], wanted: &dyn Fn(&str) -> bool) -> Row {
    let mut cells = vec![Vec::new(); processes.len() + 1];
    for change in step.changes.iter().filter(|change| wanted(&change.path)) {
        let part = part(&change.path).filter(|(_, index, _)| processes.iter().any(|process| process == index));
        let (column, name) = match part {
            Some((array, index, rest)) => (processes.iter().position(|process| process == index).unwrap_or(0), format!("{array}{rest}")),
            None => (processes.len(), change.path.clone()),
        };
        cells[column].push(format!("{name}: {}", change.to));
    }
    Row { head: format!("{:>6}. {}", number + 1, step.rule), cells, fault: step.fault.clone(), printed: step.printed.concat() }
}

/// The array, the index and the rest of a path such as `node[2].phase`.
fn part(path: &str) -> Option<(&str, &str, &str)> {
    let (array, rest) = path.split_once('[')?;
    let (index, rest) = rest.split_once(']')?;
    Some((array, index, rest))
}

/// The indices that most arrays have in common.
fn processes(paths: &[String]) -> Option<Vec<String>> {
    let mut arrays: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (array, index, _) in paths.iter().filter_map(|path| part(path)) {
        let indices = arrays.entry(array).or_default();
        if !indices.contains(&index) {
            indices.push(index);
        }
    }
    let mut counts: Vec<(usize, Vec<&str>)> = Vec::new();
    for indices in arrays.into_values().filter(|indices| (2..=MOST).contains(&indices.len())) {
        match counts.iter_mut().find(|(_, known)| *known == indices) {
            Some((count, _)) => *count += 1,
            None => counts.push((1, indices)),
        }
    }
    let most = counts.iter().map(|(count, _)| *count).max()?;
    let (_, indices) = counts.into_iter().find(|(count, _)| *count == most)?;
    Some(indices.into_iter().map(str::to_string).collect())
}
