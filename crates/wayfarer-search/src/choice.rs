//! Which store a user asked for: `name` or `name:parameter=value,…`, read and checked in one place.
//!
//! One table, [`STORES`], says what exists, what each parameter may be and what it is when it is not given; errors quote it.

use crate::{BitstateStore, CacheStore, CompactStore, Replacement};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// How often the difference store keeps a state whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Delta {
    /// Every so many states along a path; 1 keeps all whole.
    Every(u32),
    /// As the budget suggests.
    Auto,
}

/// A store and its parameters, all within their ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoreSpec {
    /// Every state, packed.
    Exact,
    /// Every state, by shared pairs of words.
    Tree,
    /// Every state, as the change from its predecessor.
    Difference {
        /// How often whole.
        delta: Delta,
    },
    /// A fingerprint per state.
    Compact {
        /// Its bits.
        bits: u32,
        /// The fewest bits it may fall to; at most `bits`.
        floor: u32,
    },
    /// A few bits per state.
    Bitstate {
        /// How many.
        k: u32,
    },
    /// Fingerprints of some states.
    Cache {
        /// How many; as many as the budget holds where not given.
        slots: Option<u64>,
        /// Slots in a bucket.
        ways: u32,
        /// Bits of a fingerprint.
        bits: u32,
        /// Which goes when a bucket is full.
        replace: Replacement,
    },
}

/// Why the text names no store. Always the fault of who wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecError {
    /// There is no such store.
    UnknownStore {
        /// What was written.
        name: String,
    },
    /// The store has no such parameter.
    UnknownParameter {
        /// The store.
        store: &'static str,
        /// What was written.
        parameter: String,
    },
    /// A parameter is given twice.
    RepeatedParameter {
        /// The store.
        store: &'static str,
        /// The parameter.
        parameter: &'static str,
    },
    /// Something between commas is not `parameter=value`.
    NotAParameter {
        /// The store.
        store: &'static str,
        /// What was written.
        text: String,
    },
    /// A value that the parameter cannot have.
    BadValue {
        /// The store.
        store: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// What was written.
        value: String,
        /// What it may be.
        accepted: String,
    },
}

/// What a parameter may be.
enum Accepts {
    Number(RangeInclusive<u64>),
    /// A number, or the word.
    NumberOr(RangeInclusive<u64>, &'static str),
    OneOf(&'static [&'static str]),
}

struct Parameter {
    name: &'static str,
    accepts: Accepts,
    /// What it is when not given; empty where that depends on the budget.
    default: &'static str,
}

struct Entry {
    name: &'static str,
    parameters: &'static [Parameter],
}

const fn widened(range: &RangeInclusive<u32>) -> RangeInclusive<u64> {
    *range.start() as u64..=*range.end() as u64
}

const REPLACEMENTS: [(&str, Replacement); 4] =
    [("random", Replacement::Random), ("fifo", Replacement::Fifo), ("lru", Replacement::Lru), ("lfu", Replacement::Lfu)];

/// All stores, in the order in which they are listed to users.
const STORES: [Entry; 6] = [
    Entry { name: "exact", parameters: &[] },
    Entry { name: "tree", parameters: &[] },
    Entry { name: "difference", parameters: &[Parameter { name: "delta", accepts: Accepts::NumberOr(1..=65_535, "auto"), default: "20" }] },
    Entry {
        name: "compact",
        parameters: &[
            Parameter { name: "bits", accepts: Accepts::Number(widened(&CompactStore::BITS)), default: "64" },
            Parameter { name: "floor", accepts: Accepts::Number(widened(&CompactStore::BITS)), default: "24" },
        ],
    },
    Entry { name: "bitstate", parameters: &[Parameter { name: "k", accepts: Accepts::Number(widened(&BitstateStore::K)), default: "3" }] },
    Entry {
        name: "cache",
        parameters: &[
            Parameter { name: "slots", accepts: Accepts::Number(1..=1 << 40), default: "" },
            Parameter { name: "ways", accepts: Accepts::Number(widened(&CacheStore::WAYS)), default: "8" },
            Parameter { name: "bits", accepts: Accepts::Number(widened(&CacheStore::BITS)), default: "40" },
            Parameter { name: "replace", accepts: Accepts::OneOf(&["random", "fifo", "lru", "lfu"]), default: "random" },
        ],
    },
];

impl StoreSpec {
    /// Reads `name` or `name:parameter=value,…`.
    pub fn parse(text: &str) -> Result<StoreSpec, SpecError> {
        let (name, parameters) = text.trim().split_once(':').unwrap_or((text.trim(), ""));
        let entry = STORES.iter().find(|entry| entry.name == name.trim()).ok_or_else(|| SpecError::UnknownStore { name: name.trim().to_owned() })?;
        let given = entry.read(parameters)?;
        let number = |at: usize| given[at].as_deref().and_then(|value| value.parse::<u64>().ok());
        let short = |at: usize| number(at).unwrap_or(0) as u32;
        Ok(match entry.name {
            "exact" => StoreSpec::Exact,
            "tree" => StoreSpec::Tree,
            "difference" => StoreSpec::Difference { delta: if number(0).is_some() { Delta::Every(short(0)) } else { Delta::Auto } },
            "compact" => {
                let (bits, floor) = (short(0), short(1));
                let stated = parameters.contains("floor");
                if floor > bits && stated {
                    let accepted = format!("at most bits, here {} to {bits}", CompactStore::BITS.start());
                    return Err(SpecError::BadValue { store: "compact", parameter: "floor", value: floor.to_string(), accepted });
                }
                StoreSpec::Compact { bits, floor: floor.min(bits) }
            }
            "bitstate" => StoreSpec::Bitstate { k: short(0) },
            _ => {
                let replace = REPLACEMENTS.iter().find(|(name, _)| given[3].as_deref() == Some(name)).map_or(Replacement::Random, |found| found.1);
                StoreSpec::Cache { slots: number(0), ways: short(1), bits: short(2), replace }
            }
        })
    }

    /// What exists: every store with its parameters, their ranges and what they are when not given.
    pub fn list() -> String {
        STORES.iter().map(Entry::describe).collect::<Vec<_>>().join("\n")
    }
}

impl Entry {
    /// The values of all parameters, given or not; none where that depends on the budget.
    fn read(&self, text: &str) -> Result<Vec<Option<String>>, SpecError> {
        let mut given: Vec<Option<String>> = vec![None; self.parameters.len()];
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let Some((name, value)) = part.split_once('=') else {
                return Err(SpecError::NotAParameter { store: self.name, text: part.to_owned() });
            };
            let (name, value) = (name.trim(), value.trim());
            let Some(at) = self.parameters.iter().position(|parameter| parameter.name == name) else {
                return Err(SpecError::UnknownParameter { store: self.name, parameter: name.to_owned() });
            };
            let parameter = &self.parameters[at];
            if given[at].is_some() {
                return Err(SpecError::RepeatedParameter { store: self.name, parameter: parameter.name });
            }
            if !parameter.accepts.takes(value) {
                let accepted = parameter.accepts.to_string();
                return Err(SpecError::BadValue { store: self.name, parameter: parameter.name, value: value.to_owned(), accepted });
            }
            given[at] = Some(value.to_owned());
        }
        for (value, parameter) in given.iter_mut().zip(self.parameters) {
            if value.is_none() && !parameter.default.is_empty() {
                *value = Some(parameter.default.to_owned());
            }
        }
        Ok(given)
    }

    fn describe(&self) -> String {
        let parameters: Vec<String> = self
            .parameters
            .iter()
            .map(|parameter| {
                let default = if parameter.default.is_empty() { "as many as fit".to_owned() } else { parameter.default.to_owned() };
                format!("{} {} (else {default})", parameter.name, parameter.accepts)
            })
            .collect();
        if parameters.is_empty() { self.name.to_owned() } else { format!("{}: {}", self.name, parameters.join(", ")) }
    }
}

impl Accepts {
    fn takes(&self, value: &str) -> bool {
        let number = |range: &RangeInclusive<u64>| value.parse().is_ok_and(|number| range.contains(&number));
        match self {
            Accepts::Number(range) => number(range),
            Accepts::NumberOr(range, word) => value == *word || number(range),
            Accepts::OneOf(words) => words.contains(&value),
        }
    }
}

impl fmt::Display for Accepts {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Accepts::Number(range) => write!(f, "{} to {}", range.start(), range.end()),
            Accepts::NumberOr(range, word) => write!(f, "{} to {}, or {word}", range.start(), range.end()),
            Accepts::OneOf(words) => write!(f, "one of {}", words.join(", ")),
        }
    }
}

impl FromStr for StoreSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        StoreSpec::parse(text)
    }
}

/// The text that reads as this choice.
impl fmt::Display for StoreSpec {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            StoreSpec::Exact => write!(f, "exact"),
            StoreSpec::Tree => write!(f, "tree"),
            StoreSpec::Difference { delta: Delta::Auto } => write!(f, "difference:delta=auto"),
            StoreSpec::Difference { delta: Delta::Every(delta) } => write!(f, "difference:delta={delta}"),
            StoreSpec::Compact { bits, floor } => write!(f, "compact:bits={bits},floor={floor}"),
            StoreSpec::Bitstate { k } => write!(f, "bitstate:k={k}"),
            StoreSpec::Cache { slots, ways, bits, replace } => {
                write!(f, "cache:")?;
                if let Some(slots) = slots {
                    write!(f, "slots={slots},")?;
                }
                let name = REPLACEMENTS.iter().find(|found| found.1 == *replace).map_or("random", |found| found.0);
                write!(f, "ways={ways},bits={bits},replace={name}")
            }
        }
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            SpecError::UnknownStore { name } => {
                write!(f, "no store is called `{name}`{}; there are\n{}", suggestion(name, STORES.iter().map(|entry| entry.name)), StoreSpec::list())
            }
            SpecError::UnknownParameter { store, parameter } => {
                let names = || STORES.iter().filter(|entry| entry.name == *store).flat_map(|entry| entry.parameters).map(|known| known.name);
                write!(f, "the store `{store}` has no parameter `{parameter}`{}", suggestion(parameter, names()))?;
                match STORES.iter().find(|entry| entry.name == *store && !entry.parameters.is_empty()) {
                    Some(entry) => write!(f, "; {}", entry.describe()),
                    None => write!(f, "; it has none"),
                }
            }
            SpecError::RepeatedParameter { store, parameter } => write!(f, "`{parameter}` of the store `{store}` is given twice"),
            SpecError::NotAParameter { store, text } => write!(f, "`{text}` after the store `{store}` is not of the form parameter=value"),
            SpecError::BadValue { store, parameter, value, accepted } => {
                write!(f, "`{parameter}` of the store `{store}` cannot be `{value}`; it may be {accepted}")
            }
        }
    }
}

impl std::error::Error for SpecError {}

/// A sentence about the nearest name, where one is near.
fn suggestion<'a>(written: &str, names: impl Iterator<Item = &'a str>) -> String {
    let written = written.to_lowercase();
    let nearest = names.map(|name| (distance(&written, name), name)).min();
    match nearest {
        Some((distance, name)) if distance <= 1 + name.len() / 4 => format!(" (did you mean `{name}`?)"),
        _ => String::new(),
    }
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
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_parameters_are_read() {
        let read = |text: &str| StoreSpec::parse(text).unwrap();
        assert_eq!(read("exact"), StoreSpec::Exact);
        assert_eq!(read(" tree "), StoreSpec::Tree);
        assert_eq!(read("difference"), StoreSpec::Difference { delta: Delta::Every(20) });
        assert_eq!(read("difference:delta=auto"), StoreSpec::Difference { delta: Delta::Auto });
        assert_eq!(read("compact"), StoreSpec::Compact { bits: 64, floor: 24 });
        assert_eq!(read("compact:bits=16"), StoreSpec::Compact { bits: 16, floor: 16 });
        assert_eq!(read("compact:floor=40, bits=48"), StoreSpec::Compact { bits: 48, floor: 40 });
        assert_eq!(read("bitstate:k=5"), StoreSpec::Bitstate { k: 5 });
        let cache = StoreSpec::Cache { slots: Some(1000), ways: 4, bits: 40, replace: Replacement::Lfu };
        assert_eq!(read("cache:slots=1000,ways=4,replace=lfu"), cache);
        for text in ["exact", "tree", "difference:delta=7", "compact", "bitstate", "cache", "cache:slots=5,replace=fifo"] {
            assert_eq!(read(&read(text).to_string()), read(text));
        }
    }

    #[test]
    fn errors_say_what_would_be_right() {
        let error = |text: &str| StoreSpec::parse(text).unwrap_err().to_string();
        assert!(
            error("exakt")
                .starts_with("no store is called `exakt` (did you mean `exact`?); there are\nexact\ntree\ndifference: delta 1 to 65535, or auto")
        );
        assert!(!error("swap").contains("did you mean"));
        assert_eq!(error("difference:delta=0"), "`delta` of the store `difference` cannot be `0`; it may be 1 to 65535, or auto");
        assert_eq!(error("compact:bits=7"), "`bits` of the store `compact` cannot be `7`; it may be 16 to 64");
        assert_eq!(error("compact:bits=32,floor=40"), "`floor` of the store `compact` cannot be `40`; it may be at most bits, here 16 to 32");
        assert_eq!(error("bitstate:k=0"), "`k` of the store `bitstate` cannot be `0`; it may be 1 to 16");
        assert_eq!(error("bitstate:n=1"), "the store `bitstate` has no parameter `n` (did you mean `k`?); bitstate: k 1 to 16 (else 3)");
        assert_eq!(error("exact:bits=1"), "the store `exact` has no parameter `bits`; it has none");
        assert_eq!(error("cache:replace=mru"), "`replace` of the store `cache` cannot be `mru`; it may be one of random, fifo, lru, lfu");
        assert_eq!(error("cache:ways=4,ways=5"), "`ways` of the store `cache` is given twice");
        assert_eq!(error("cache:ways"), "`ways` after the store `cache` is not of the form parameter=value");
        assert!(error("").starts_with("no store is called ``"));
    }
}
