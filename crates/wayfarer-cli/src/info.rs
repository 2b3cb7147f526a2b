//! `wayfarer info`: the parts of a model.

use crate::model;
use crate::options::InfoOptions;
use crate::output::{Paint, print};
use crate::{Exit, Failure};
use serde_json::{Value, json};
use wayfarer::subject::Table;

/// Runs `wayfarer info`.
pub(crate) fn info(options: &InfoOptions) -> Result<Exit, Failure> {
    let subject = model::open(&options.model)?.subject;
    let facts = subject.facts();
    let text = if options.json {
        let mut object = json!({ "schema": 1, "model": subject.source() });
        object.as_object_mut().into_iter().for_each(|object| object.extend(facts.json.clone()));
        format!("{}\n", Value::to_string(&object))
    } else {
        let paint = Paint::stdout();
        let mut out = format!("{}: {}\n", paint.strong(subject.source()), facts.summary);
        facts.tables.iter().for_each(|table| show(&mut out, paint, table));
        out
    };
    print(&text).map_err(Failure::failed)?;
    Ok(Exit::Well)
}

/// A heading and rows in columns as wide as they need to be; the last column is not padded.
fn show(out: &mut String, paint: Paint, table: &Table) {
    let Table { heading, columns, rows } = table;
    out.push_str(&format!("\n{}\n", paint.strong(heading)));
    if rows.is_empty() {
        out.push_str("  none\n");
        return;
    }
    let last = columns.len() - 1;
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).chain([columns[column].len()]).max().unwrap_or(0).min(60);
    let widths: Vec<usize> = (0..last).map(width).collect();
    let line = |cells: &[&str]| {
        let mut text = String::from(" ");
        for (cell, width) in cells.iter().zip(&widths) {
            text.push_str(&format!(" {cell:<width$} "));
        }
        text.push_str(&format!(" {}", cells[last]));
        text
    };
    out.push_str(&format!("{}\n", paint.faint(&line(columns))));
    for row in rows {
        let cells: Vec<&str> = row.iter().map(String::as_str).collect();
        out.push_str(&format!("{}\n", line(&cells)));
    }
}
