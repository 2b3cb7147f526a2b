//! Findings for a terminal.

use crate::{Cell, Findings, Judgement, Table};
use std::fmt::Write as _;

/// The emphasis of words; each function returns the text to print.
#[derive(Clone, Copy)]
pub struct Style {
    /// Text that a reader looks for.
    pub strong: fn(&str) -> String,
    /// Text that a reader may skip.
    pub faint: fn(&str) -> String,
    /// The name of a judgement.
    pub judged: fn(Judgement, &str) -> String,
}

/// No colours.
pub const PLAIN: Style = Style { strong: str::to_string, faint: str::to_string, judged: |_, word| word.to_string() };

impl Findings {
    /// The findings as lines of at most about `width` columns; tables may be wider.
    pub fn text(&self, width: usize, style: Style) -> String {
        let mut out = format!("{}  {}\n", (style.strong)(&self.name), self.title);
        let settings: Vec<String> = self.settings.iter().map(|(name, value)| format!("{name} {value}")).collect();
        for line in [self.source.clone(), settings.join(" · ")].iter().filter(|line| !line.is_empty()) {
            let _ = writeln!(out, "{}", (style.faint)(&wrapped(line, width, 2)));
        }
        for claim in &self.claims {
            let word = format!("{:<8}", claim.judgement.word());
            let _ = writeln!(out, "\n  {} {}", (style.judged)(claim.judgement, &word), wrapped(&claim.claim, width, 11).trim_start());
            let _ = writeln!(out, "{}", wrapped(&claim.finding, width, 11));
            claim.remarks().iter().for_each(|remark| {
                let _ = writeln!(out, "{}", (style.faint)(&wrapped(remark, width, 11)));
            });
        }
        for table in &self.tables {
            let _ = write!(out, "\n{}", table.text(style));
        }
        for plot in &self.plots {
            let _ = writeln!(out, "\n  {}", (style.faint)(&format!("plot (on the page): {}", plot.title)));
        }
        for note in &self.notes {
            let _ = writeln!(out, "\n{}", (style.faint)(&wrapped(note, width, 2)));
        }
        out
    }
}

impl Table {
    fn text(&self, style: Style) -> String {
        let shown = |cell: &Cell, column: usize| {
            let (value, beside) = cell.parts(self.columns[column].form);
            if beside.is_empty() { value } else { format!("{value} {beside}") }
        };
        let rows: Vec<Vec<String>> =
            self.rows.iter().map(|row| row.iter().take(self.columns.len()).enumerate().map(|(column, cell)| shown(cell, column)).collect()).collect();
        let width = |column: usize| {
            let cells = rows.iter().filter_map(|row: &Vec<String>| row.get(column)).map(|cell| cell.chars().count());
            cells.chain([self.columns[column].name.chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let line = |cells: &mut dyn Iterator<Item = &String>| {
            let mut line = String::from(" ");
            for (index, (cell, width)) in cells.zip(&widths).enumerate() {
                let room = width - cell.chars().count().min(*width);
                let pad = " ".repeat(room);
                // Names to the left, figures to the right.
                line.push_str(&if index == 0 { format!(" {cell}{pad}") } else { format!("  {pad}{cell}") });
            }
            format!("{}\n", line.trim_end())
        };
        let names: Vec<String> = self.columns.iter().map(|column| column.name.clone()).collect();
        let mut out = format!("  {}\n{}", self.caption, (style.faint)(&line(&mut names.iter())));
        rows.iter().for_each(|row| out.push_str(&line(&mut row.iter())));
        out
    }
}

/// Words wrapped into lines, all indented by `indent` columns.
pub fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let mut out = " ".repeat(indent);
    let mut column = indent;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > indent && column + 1 + length > width {
            let _ = write!(out, "\n{}", " ".repeat(indent));
            column = indent;
        }
        if column > indent {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out
}
