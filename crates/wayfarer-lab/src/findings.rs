//! What an experiment found, as plain data: tables, plots, and what is to be said of each of a paper's claims. Terminal, JSON and page are three
//! renderings of it.

use crate::Plot;
use serde::{Deserialize, Serialize};
use wayfarer::Interval;

/// What an experiment found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// The experiment's name on the command line.
    pub name: String,
    /// What it is about.
    pub title: String,
    /// The paper, and its table or figure.
    pub source: String,
    /// What is asked.
    pub question: String,
    /// Whether it ran with the quick settings.
    pub quick: bool,
    /// The first seed.
    pub seed: u64,
    /// What was chosen for it, by name.
    pub settings: Vec<(String, String)>,
    /// How long it took.
    pub seconds: f64,
    /// What is to be said of the paper's claims.
    pub claims: Vec<Claim>,
    /// Figures.
    pub tables: Vec<Table>,
    /// Curves.
    pub plots: Vec<Plot>,
    /// What a reader must know to judge the figures.
    pub notes: Vec<String>,
}

/// A claim of a paper and what our figures say of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// What the paper says.
    pub claim: String,
    /// Whether it was found again.
    pub judgement: Judgement,
    /// A sentence with figures.
    pub finding: String,
}

/// Whether a claim was found again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// Our figures say the same.
    Agrees,
    /// In some cases they do, in others they do not.
    Partly,
    /// They say something else.
    Differs,
    /// They cannot decide.
    Open,
}

impl Judgement {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Judgement::Agrees => "agrees",
            Judgement::Partly => "partly",
            Judgement::Differs => "differs",
            Judgement::Open => "open",
        }
    }

    /// The judgement of so many cases that agree of so many.
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
    /// What it shows.
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
    /// How its numbers are written.
    pub form: Form,
    /// Whether its figures are quoted from the paper.
    pub quoted: bool,
}

/// How numbers are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// With four significant digits.
    #[default]
    Plain,
    /// Whole, in groups of three digits.
    Count,
    /// As a share of a hundred.
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
    /// A number with its 95 % interval; ends are open where one run only was made.
    Between {
        /// The estimate.
        value: f64,
        /// The lower end.
        low: Option<f64>,
        /// The upper end.
        high: Option<f64>,
    },
    /// Words.
    Text(String),
    /// Nothing.
    Empty,
}

impl Findings {
    /// Adds what is to be said of a claim.
    pub fn claim(&mut self, claim: impl Into<String>, judgement: Judgement, finding: impl Into<String>) {
        self.claims.push(Claim { claim: claim.into(), judgement, finding: finding.into() });
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
    /// A column of words, or of our own figures.
    pub fn new(name: impl Into<String>) -> Column {
        Column { name: name.into(), form: Form::Plain, quoted: false }
    }

    /// A column of the paper's figures.
    pub fn paper(name: impl Into<String>) -> Column {
        Column { quoted: true, ..Column::new(name) }
    }

    /// The same with numbers written in another form.
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
