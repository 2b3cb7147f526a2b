//! Which store a user asked for: `name` or `name:parameter=value,…`, read and checked in one place.
//!
//! One table, [`STORES`], says what exists, what each parameter may be and what it is when it is not given; errors quote it.

use crate::spec::{self, Accepts, Entry, Parameter, SpecError};
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
    /// Some states, whole, which can be taken out again: for strategies that own what they remember.
    Pool {
        /// How many; as many as the budget holds where not given.
        slots: Option<u64>,
        /// Which goes when there is no room; none where the pool is then full.
        replace: Option<Replacement>,
    },
    /// Nothing: for walks.
    Nothing,
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

const fn widened(range: &RangeInclusive<u32>) -> RangeInclusive<u64> {
    *range.start() as u64..=*range.end() as u64
}

const REPLACEMENTS: [(&str, Replacement); 4] =
    [("random", Replacement::Random), ("fifo", Replacement::Fifo), ("lru", Replacement::Lru), ("lfu", Replacement::Lfu)];

/// All stores, in the order in which they are listed to users.
const STORES: [Entry; 8] = [
    Entry { name: "exact", parameters: &[] },
    Entry { name: "tree", parameters: &[] },
    Entry { name: "difference", parameters: &[Parameter::new("delta", Accepts::NumberOr(1..=65_535, "auto"), "20")] },
    Entry {
        name: "compact",
        parameters: &[
            Parameter::new("bits", Accepts::Number(widened(&CompactStore::BITS)), "64"),
            Parameter::new("floor", Accepts::Number(widened(&CompactStore::BITS)), "24"),
        ],
    },
    Entry { name: "bitstate", parameters: &[Parameter::new("k", Accepts::Number(widened(&BitstateStore::K)), "3")] },
    Entry {
        name: "cache",
        parameters: &[
            Parameter::open("slots", Accepts::Number(1..=1 << 40), "as many as fit"),
            Parameter::new("ways", Accepts::Number(widened(&CacheStore::WAYS)), "8"),
            Parameter::new("bits", Accepts::Number(widened(&CacheStore::BITS)), "40"),
            Parameter::new("replace", Accepts::OneOf(&["random", "fifo", "lru", "lfu"]), "random"),
        ],
    },
    Entry {
        name: "pool",
        parameters: &[
            Parameter::open("slots", Accepts::Number(1..=u32::MAX as u64 - 1), "as many as fit"),
            Parameter::new("replace", Accepts::OneOf(&["none", "random", "fifo", "lru", "lfu"]), "none"),
        ],
    },
    Entry { name: "nothing", parameters: &[] },
];

impl Replacement {
    /// The replacement of this name.
    pub(crate) fn named(name: &str) -> Option<Replacement> {
        REPLACEMENTS.iter().find(|found| found.0 == name).map(|found| found.1)
    }

    fn name(self) -> &'static str {
        REPLACEMENTS.iter().find(|found| found.1 == self).map_or("random", |found| found.0)
    }
}

impl StoreSpec {
    /// Reads `name` or `name:parameter=value,…`.
    pub fn parse(text: &str) -> Result<StoreSpec, SpecError> {
        let (entry, given) = spec::read("store", STORES.iter(), text)?;
        let short = |name: &str| given.number(name).unwrap_or(0) as u32;
        let replace = given.text("replace").and_then(Replacement::named);
        Ok(match entry.name {
            "exact" => StoreSpec::Exact,
            "tree" => StoreSpec::Tree,
            "difference" => StoreSpec::Difference { delta: given.number("delta").map_or(Delta::Auto, |delta| Delta::Every(delta as u32)) },
            "compact" => {
                let (bits, floor) = (short("bits"), short("floor"));
                if floor > bits && given.stated("floor") {
                    let accepted = format!("at most bits, here {} to {bits}", CompactStore::BITS.start());
                    return Err(SpecError::BadValue { part: "store `compact`".to_owned(), parameter: "floor", value: floor.to_string(), accepted });
                }
                StoreSpec::Compact { bits, floor: floor.min(bits) }
            }
            "bitstate" => StoreSpec::Bitstate { k: short("k") },
            "pool" => StoreSpec::Pool { slots: given.number("slots"), replace },
            "nothing" => StoreSpec::Nothing,
            _ => StoreSpec::Cache { slots: given.number("slots"), ways: short("ways"), bits: short("bits"), replace: replace.unwrap_or_default() },
        })
    }

    /// Whether it can give states back by their handles.
    pub fn gives_back(&self) -> bool {
        matches!(self, StoreSpec::Exact | StoreSpec::Tree | StoreSpec::Difference { .. } | StoreSpec::Pool { .. })
    }

    /// What exists: every store with its parameters, their ranges and what they are when not given.
    pub fn list() -> String {
        spec::list(STORES.iter())
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
                write!(f, "ways={ways},bits={bits},replace={}", replace.name())
            }
            StoreSpec::Pool { slots, replace } => {
                write!(f, "pool:")?;
                if let Some(slots) = slots {
                    write!(f, "slots={slots},")?;
                }
                write!(f, "replace={}", replace.map_or("none", Replacement::name))
            }
            StoreSpec::Nothing => write!(f, "nothing"),
        }
    }
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
        for text in [
            "exact",
            "tree",
            "difference:delta=7",
            "compact",
            "bitstate",
            "cache",
            "cache:slots=5,replace=fifo",
            "pool",
            "pool:slots=1k,replace=lru",
            "nothing",
        ] {
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
