//! The results of an experiment as plain data: tables, plots, and a judgement of each of the paper's claims.
//! Terminal, JSON and page are three renderings of it.

use crate::Plot;
use serde::{Deserialize, Serialize};
use wayfarer::Interval;

/// The results of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// The experiment's name on the command line.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The paper, and its table or figure.
    pub source: String,
    /// The question it answers.
    pub question: String,
    /// Whether it ran with the quick settings; absent if it has only one kind of settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quick: Option<bool>,
    /// The first seed.
    pub seed: u64,
    /// Its settings, by name.
    pub settings: Vec<(String, String)>,
    /// The time it took.
    pub seconds: f64,
    /// The judgements of the paper's claims.
    pub claims: Vec<Claim>,
    /// Tables.
    pub tables: Vec<Table>,
    /// Plots.
    pub plots: Vec<Plot>,
    /// Notes that a reader needs to judge the figures.
    pub notes: Vec<String>,
}

/// A claim of a paper and what our figures say about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The paper's claim.
    pub claim: String,
    /// Whether it was confirmed.
    pub judgement: Judgement,
    /// A sentence with figures.
    pub finding: String,
    /// The cases that the judgement rests on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cases: Option<Cases>,
    /// The number of runs that would decide an open claim, if it can be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<u64>,
    /// Explanations of a claim that does not agree, each of them tested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
}

/// The number of cases with each verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cases {
    /// Cases that agree.
    pub agree: usize,
    /// Cases that differ.
    pub differ: usize,
    /// Cases that the intervals leave open.
    pub open: usize,
}

/// A possible explanation, and the test of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// Whether the test bears it out.
    pub holds: bool,
    /// The hypothesis.
    pub hypothesis: String,
    /// The variant that was run and its figures.
    pub test: String,
}

impl Claim {
    /// Whether it neither agrees nor has a reason that was borne out.
    pub fn is_unexplained(&self) -> bool {
        self.judgement != Judgement::Agrees && !self.reasons.iter().any(|reason| reason.holds)
    }

    /// The lines below the finding: the cases, the runs that would decide, the reasons.
    pub fn remarks(&self) -> Vec<String> {
        let mut out = Vec::new();
        if let Some(Cases { agree, differ, open }) = self.cases.filter(|_| self.judgement != Judgement::Agrees) {
            let runs = self.needs.map_or(String::new(), |runs| format!("; about {} runs would decide", crate::grouped(runs as i64)));
            out.push(format!("Cases: {agree} agree, {differ} differ, {open} open{runs}."));
        }
        let reason =
            |reason: &Reason| format!("{}: {} {}", if reason.holds { "Reason, tested" } else { "Ruled out" }, reason.hypothesis, reason.test);
        out.extend(self.reasons.iter().map(reason));
        if self.is_unexplained() && matches!(self.judgement, Judgement::Differs | Judgement::Partly) {
            out.push("Unexplained.".to_string());
        }
        out
    }
}

/// Whether a claim was confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// Our figures say the same.
    Agrees,
    /// They say the same in some cases and not in others.
    Partly,
    /// They say something else.
    Differs,
    /// They cannot decide.
    Open,
}

impl Judgement {
    /// The name of the judgement.
    pub fn word(self) -> &'static str {
        match self {
            Judgement::Agrees => "agrees",
            Judgement::Partly => "partly",
            Judgement::Differs => "differs",
            Judgement::Open => "open",
        }
    }

    /// The judgement if `agreeing` of `cases` cases agree.
    pub fn of(agreeing: usize, cases: usize) -> Judgement {
        match agreeing {
            _ if cases == 0 => Judgement::Open,
            0 => Judgement::Differs,
            _ if agreeing == cases => Judgement::Agrees,
            _ => Judgement::Partly,
        }
    }
}

/// A table with a caption.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// The caption.
    pub caption: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, each with a cell for each column.
    pub rows: Vec<Vec<Cell>>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Its heading.
    pub name: String,
    /// The format of its numbers.
    pub form: Form,
    /// Whether its figures are quoted from the paper.
    pub quoted: bool,
}

/// The format of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// With four significant digits.
    #[default]
    Plain,
    /// Whole, in groups of three digits.
    Count,
    /// As a percentage.
    Percent,
    /// With three digits after the point.
    Fixed,
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// A number.
    Number(f64),
    /// A number with its 95 % interval; the ends are open if there was only one run.
    Between {
        /// The estimate.
        value: f64,
        /// The lower end.
        low: Option<f64>,
        /// The upper end.
        high: Option<f64>,
    },
    /// Text.
    Text(String),
    /// An empty cell.
    Empty,
}

impl Findings {
    /// Adds a claim with its judgement.
    pub fn claim(&mut self, claim: impl Into<String>, judgement: Judgement, finding: impl Into<String>) {
        self.claims.push(Claim { claim: claim.into(), judgement, finding: finding.into(), cases: None, needs: None, reasons: Vec::new() });
    }

    /// Whether a table quotes figures of a paper.
    pub fn quotes(&self) -> bool {
        self.tables.iter().any(|table| table.columns.iter().any(|column| column.quoted))
    }

    /// Adds a note.
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }
}

impl Table {
    /// An empty table.
    pub fn new(caption: impl Into<String>, columns: Vec<Column>) -> Table {
        Table { caption: caption.into(), columns, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let mut cells: Vec<Cell> = cells.into_iter().collect();
        cells.resize(self.columns.len(), Cell::Empty);
        self.rows.push(cells);
    }
}

impl Column {
    /// A column of text, or of our own figures.
    pub fn new(name: impl Into<String>) -> Column {
        Column { name: name.into(), form: Form::Plain, quoted: false }
    }

    /// A column of the paper's figures.
    pub fn paper(name: impl Into<String>) -> Column {
        Column { quoted: true, ..Column::new(name) }
    }

    /// The same column with another number format.
    pub fn form(self, form: Form) -> Column {
        Column { form, ..self }
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Cell {
        if value.is_finite() {
            Cell::Number(value)
        } else if value.is_nan() {
            Cell::Empty
        } else {
            Cell::Text("∞".to_string())
        }
    }
}

impl From<u64> for Cell {
    fn from(value: u64) -> Cell {
        Cell::Number(value as f64)
    }
}

impl From<u32> for Cell {
    fn from(value: u32) -> Cell {
        Cell::Number(f64::from(value))
    }
}

impl From<usize> for Cell {
    fn from(value: usize) -> Cell {
        Cell::Number(value as f64)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_string())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl From<Interval> for Cell {
    fn from(interval: Interval) -> Cell {
        let end = |value: f64| value.is_finite().then_some(value);
        match interval.value.is_finite() {
            true => Cell::Between { value: interval.value, low: end(interval.low), high: end(interval.high) },
            false => Cell::from(interval.value),
        }
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::Empty, Into::into)
    }
}
