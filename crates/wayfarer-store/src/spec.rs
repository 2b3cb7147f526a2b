//! How a user names a part and its parameters: `name` or `name:parameter=value,…`.
//!
//! Stores and strategies are tables of rows, and each row has an [`Entry`]. Names, help texts and error messages come from the entries.

use std::fmt;
use std::ops::RangeInclusive;

/// The values that a parameter may have.
#[derive(Debug)]
pub enum Accepts {
    /// A whole number in this range.
    Number(RangeInclusive<u64>),
    /// A number, or the word.
    NumberOr(RangeInclusive<u64>, &'static str),
    /// A real number between the two, ends included.
    Real(f64, f64),
    /// A real number, or the word.
    RealOr(f64, f64, &'static str),
    /// One of these words.
    OneOf(&'static [&'static str]),
}

/// A parameter of a part.
#[derive(Debug)]
pub struct Parameter {
    name: &'static str,
    accepts: Accepts,
    /// The value if none is given; empty if there is no such value.
    default: &'static str,
    /// The behaviour if none is given and there is no default.
    otherwise: &'static str,
    help: &'static str,
}

impl Parameter {
    /// A parameter that always has a value.
    pub const fn new(name: &'static str, accepts: Accepts, default: &'static str, help: &'static str) -> Self {
        Parameter { name, accepts, default, otherwise: "", help }
    }

    /// A parameter that may be left open.
    pub const fn open(name: &'static str, accepts: Accepts, otherwise: &'static str, help: &'static str) -> Self {
        Parameter { name, accepts, default: "", otherwise, help }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// One line that says what it is for.
    pub fn help(&self) -> &'static str {
        self.help
    }

    /// The values it may have, in words.
    pub fn accepts(&self) -> String {
        self.accepts.to_string()
    }

    /// The value it has if none is given, or what happens then.
    pub fn default(&self) -> &'static str {
        if self.default.is_empty() { self.otherwise } else { self.default }
    }
}

/// A part that can be chosen by name.
#[derive(Debug)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// One line that says what it does.
    pub help: &'static str,
    /// Its parameters, in the order in which they are listed.
    pub parameters: &'static [Parameter],
}

/// The parameters of a chosen part, all within their ranges.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Given {
    names: Vec<&'static str>,
    values: Vec<Option<String>>,
    stated: Vec<bool>,
}

/// Why a text names no part. Always the fault of who wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecError {
    /// There is no such part.
    Unknown {
        /// The kind of part: a store or a strategy.
        what: &'static str,
        /// The text as written.
        name: String,
        /// The nearest name, if one is near.
        near: Option<&'static str>,
        /// The names of all there are.
        list: String,
    },
    /// The part has no such parameter.
    UnknownParameter {
        /// Which part.
        part: String,
        /// The text as written.
        parameter: String,
        /// The nearest name, if one is near.
        near: Option<&'static str>,
        /// The parameters it has.
        list: String,
    },
    /// A parameter is given twice.
    RepeatedParameter {
        /// Which part.
        part: String,
        /// The parameter.
        parameter: &'static str,
    },
    /// Something between commas is not `parameter=value`.
    NotAParameter {
        /// Which part.
        part: String,
        /// The text as written.
        text: String,
    },
    /// A value that the parameter cannot have.
    BadValue {
        /// Which part.
        part: String,
        /// The parameter.
        parameter: &'static str,
        /// The text as written.
        value: String,
        /// The accepted values.
        accepted: String,
    },
}

/// Finds the part that `text` names among `entries` and reads its parameters. `what` is the word for such a part.
pub fn read<'e>(what: &'static str, entries: impl Iterator<Item = &'e Entry> + Clone, text: &str) -> Result<(&'e Entry, Given), SpecError> {
    let (name, parameters) = text.trim().split_once(':').unwrap_or((text.trim(), ""));
    let name = name.trim();
    let Some(entry) = entries.clone().find(|entry| entry.name == name) else {
        let near = nearest(name, entries.clone().map(|entry| entry.name));
        return Err(SpecError::Unknown { what, name: name.to_owned(), near, list: entries.map(|entry| entry.name).collect::<Vec<_>>().join(", ") });
    };
    Ok((entry, entry.read(what, parameters)?))
}

/// Every part with its parameters, their ranges and defaults, one line each.
pub fn list<'e>(entries: impl Iterator<Item = &'e Entry>) -> String {
    entries.map(Entry::describe).collect::<Vec<_>>().join("\n")
}

/// Every part with its help, and its parameters with theirs.
pub fn guide<'e>(entries: impl Iterator<Item = &'e Entry>) -> String {
    let mut out = String::new();
    for entry in entries {
        out.push_str(&format!("{}: {}\n", entry.name, entry.help));
        for parameter in entry.parameters {
            let (accepts, default) = (&parameter.accepts, parameter.default());
            out.push_str(&format!("  {}: {} ({accepts}; default: {default})\n", parameter.name, parameter.help));
        }
    }
    out
}

impl Entry {
    /// Its parameters if none is given.
    pub fn plain(&self) -> Given {
        let values = self.parameters.iter().map(|parameter| (!parameter.default.is_empty()).then(|| parameter.default.to_owned())).collect();
        Given { names: self.parameters.iter().map(|parameter| parameter.name).collect(), values, stated: vec![false; self.parameters.len()] }
    }

    fn read(&self, what: &'static str, text: &str) -> Result<Given, SpecError> {
        let part = || format!("{what} `{}`", self.name);
        let mut values: Vec<Option<String>> = vec![None; self.parameters.len()];
        for written in text.split(',').map(str::trim).filter(|written| !written.is_empty()) {
            // A parameter that is on or off may be written as its name alone.
            let (name, value) = match written.split_once('=') {
                Some((name, value)) => (name.trim(), value.trim()),
                None if self.parameters.iter().any(|parameter| parameter.name == written && parameter.accepts.takes("on")) => (written, "on"),
                None => return Err(SpecError::NotAParameter { part: part(), text: written.to_owned() }),
            };
            let Some(at) = self.parameters.iter().position(|parameter| parameter.name == name) else {
                let near = nearest(name, self.parameters.iter().map(|parameter| parameter.name));
                let list = if self.parameters.is_empty() { "it has none".to_owned() } else { self.describe() };
                return Err(SpecError::UnknownParameter { part: part(), parameter: name.to_owned(), near, list });
            };
            let parameter = &self.parameters[at];
            if values[at].is_some() {
                return Err(SpecError::RepeatedParameter { part: part(), parameter: parameter.name });
            }
            if !parameter.accepts.takes(value) {
                let accepted = parameter.accepts.to_string();
                return Err(SpecError::BadValue { part: part(), parameter: parameter.name, value: value.to_owned(), accepted });
            }
            values[at] = Some(value.to_owned());
        }
        let mut given = self.plain();
        for (at, value) in values.into_iter().enumerate().filter(|(_, value)| value.is_some()) {
            given.values[at] = value;
            given.stated[at] = true;
        }
        Ok(given)
    }

    fn describe(&self) -> String {
        let parameters: Vec<String> =
            self.parameters.iter().map(|parameter| format!("{} {} (else {})", parameter.name, parameter.accepts, parameter.default())).collect();
        if parameters.is_empty() { self.name.to_owned() } else { format!("{}: {}", self.name, parameters.join(", ")) }
    }
}

impl Given {
    /// The value of a parameter as it is written; none if it is left open.
    pub fn text(&self, name: &str) -> Option<&str> {
        let at = self.names.iter().position(|known| *known == name)?;
        self.values[at].as_deref()
    }

    /// Whether a parameter has this value.
    pub fn is(&self, name: &str, value: &str) -> bool {
        self.text(name) == Some(value)
    }

    /// The value of a parameter as a number; none if it is open or a word.
    pub fn number(&self, name: &str) -> Option<u64> {
        number(self.text(name)?)
    }

    /// The value of a parameter as a real number; none if it is open or a word.
    pub fn real(&self, name: &str) -> Option<f64> {
        self.text(name)?.parse().ok()
    }

    /// The same with another value of a parameter; unchanged if there is no such parameter.
    pub fn with(mut self, name: &str, value: Option<String>) -> Self {
        if let Some(at) = self.names.iter().position(|known| *known == name) {
            self.values[at] = value;
        }
        self
    }

    /// Every parameter that has a value, stated or not, as `:name=value,…`.
    pub fn in_full(&self) -> String {
        let valued = self.names.iter().zip(&self.values).filter_map(|(name, value)| Some(format!("{name}={}", value.as_deref()?)));
        let written = valued.collect::<Vec<_>>().join(",");
        if written.is_empty() { written } else { format!(":{written}") }
    }

    /// The same with numbers in plain digits: `1k` becomes `1000`.
    pub fn in_digits(mut self) -> Self {
        for value in self.values.iter_mut().flatten() {
            if let Some(number) = number(value) {
                *value = number.to_string();
            }
        }
        self
    }

    /// Whether it means the same as another: the same values, stated or not.
    pub fn means(&self, other: &Given) -> bool {
        self.names == other.names && self.values == other.values
    }

    /// Whether the user wrote it.
    pub fn stated(&self, name: &str) -> bool {
        self.names.iter().position(|known| *known == name).is_some_and(|at| self.stated[at])
    }
}

/// The parameters that were written, as they would be written again.
impl fmt::Display for Given {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let mut separator = ':';
        for ((name, value), _) in self.names.iter().zip(&self.values).zip(&self.stated).filter(|(_, stated)| **stated) {
            write!(out, "{separator}{name}={}", value.as_deref().unwrap_or_default())?;
            separator = ',';
        }
        Ok(())
    }
}

/// The same range in 64 bits, for [`Accepts::Number`].
pub const fn widened(range: &RangeInclusive<u32>) -> RangeInclusive<u64> {
    *range.start() as u64..=*range.end() as u64
}

/// A whole number, with `_` and the endings k, M and G allowed.
fn number(text: &str) -> Option<u64> {
    let plain: String = text.chars().filter(|letter| *letter != '_').collect();
    let (digits, factor) = match plain.char_indices().last()? {
        (at, 'k') => (&plain[..at], 1_000),
        (at, 'M') => (&plain[..at], 1_000_000),
        (at, 'G') => (&plain[..at], 1_000_000_000),
        _ => (plain.as_str(), 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

impl Accepts {
    fn takes(&self, value: &str) -> bool {
        let whole = |range: &RangeInclusive<u64>| number(value).is_some_and(|number| range.contains(&number));
        let share = |low: f64, high: f64| value.parse::<f64>().is_ok_and(|number| number >= low && number <= high);
        match self {
            Accepts::Number(range) => whole(range),
            Accepts::NumberOr(range, word) => value == *word || whole(range),
            Accepts::Real(low, high) => share(*low, *high),
            Accepts::RealOr(low, high, word) => value == *word || share(*low, *high),
            Accepts::OneOf(words) => words.contains(&value),
        }
    }
}

/// A range of numbers in words. An end that only the representation sets is not worth its digits.
fn span(range: &RangeInclusive<u64>) -> String {
    match *range.end() {
        end if end >= u64::from(u32::MAX) - 1 => format!("{} or more", range.start()),
        end => format!("{} to {end}", range.start()),
    }
}

impl fmt::Display for Accepts {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Accepts::Number(range) => write!(f, "{}", span(range)),
            Accepts::NumberOr(range, word) => write!(f, "{}, or {word}", span(range)),
            Accepts::Real(low, high) => write!(f, "{low} to {high}"),
            Accepts::RealOr(low, high, word) => write!(f, "{low} to {high}, or {word}"),
            Accepts::OneOf(words) => write!(f, "one of {}", words.join(", ")),
        }
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let suggestion = |near: &Option<&str>| near.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"));
        match self {
            SpecError::Unknown { what, name, near, list } => write!(f, "no {what} is called `{name}`{}; there are {list}", suggestion(near)),
            SpecError::UnknownParameter { part, parameter, near, list } => {
                write!(f, "the {part} has no parameter `{parameter}`{}; {list}", suggestion(near))
            }
            SpecError::RepeatedParameter { part, parameter } => write!(f, "`{parameter}` of the {part} is given twice"),
            SpecError::NotAParameter { part, text } => write!(f, "`{text}` after the {part} is not of the form parameter=value"),
            SpecError::BadValue { part, parameter, value, accepted } => {
                write!(f, "`{parameter}` of the {part} cannot be `{value}`; it may be {accepted}")
            }
        }
    }
}

impl std::error::Error for SpecError {}

/// The nearest name, if one is near.
fn nearest(written: &str, names: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let written = written.to_lowercase();
    let (distance, name) = names.map(|name| (distance(&written, name), name)).min()?;
    (distance <= 1 + name.len() / 4).then_some(name)
}

/// How many letters must be added, dropped or changed.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().enumerate() {
        let mut corner = row[0];
        row[0] = line + 1;
        for (at, wanted) in other.iter().enumerate() {
            let changed = corner + usize::from(letter != *wanted);
            corner = row[at + 1];
            row[at + 1] = changed.min(corner + 1).min(row[at] + 1);
        }
    }
    // Two letters the wrong way round are one slip.
    let swapped = |from: &str, to: &[char]| {
        let mut letters: Vec<char> = from.chars().collect();
        (1..letters.len()).any(|at| {
            letters.swap(at - 1, at);
            let same = letters == to;
            letters.swap(at - 1, at);
            same
        })
    };
    if row[other.len()] == 2 && swapped(one, &other) { 1 } else { row[other.len()] }
}
