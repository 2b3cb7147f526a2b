//! The stores a user can ask for: one file each, and one row each in [`ROWS`].
//!
//! A row holds a store's name, its capabilities and its builder. All other code reads the row and never compares names.

use crate::spec::{self, Entry, Given, Parameter, SpecError};
use crate::{Account, Store, bitstate, cache, compact, difference, exact, nothing, plain, pool, tree};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use wayfarer_space::Packing;

/// All stores, in the order in which they are listed to users.
static ROWS: [&StoreRow; 9] =
    [&exact::ROW, &tree::ROW, &difference::ROW, &compact::ROW, &bitstate::ROW, &cache::ROW, &pool::ROW, &plain::ROW, &nothing::ROW];

/// The capabilities of a store. Every row answers every question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// It remembers states at all.
    pub remembers: bool,
    /// It never takes a new state for a known one and never forgets one.
    pub exact: bool,
    /// It gives states back by their handles, and knows each state's parent.
    pub recalls: bool,
    /// With one worker, its handles are the order of insertion, from 0 on.
    pub in_order: bool,
    /// It says of a known state under which handle it is kept.
    pub locates: bool,
    /// States can be taken out of it, one by one or all at once.
    pub empties: bool,
    /// It forgets by itself to make room, so that it is never full.
    pub evicts: bool,
    /// It keeps states of varying width.
    pub varying: bool,
    /// Several workers may search over it together.
    pub shared: bool,
    /// The part of a state that a device with many lanes keeps in its place.
    pub device: DeviceKeeps,
}

/// The part of a state that a store on a device keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKeeps {
    /// The store is not there.
    Nothing,
    /// The state.
    State,
    /// A fingerprint.
    Fingerprint,
    /// Bits of a filter.
    Bits,
}

/// For rows: keeps every state whole and gives it back.
pub(crate) const WHOLE: Abilities = Abilities {
    remembers: true,
    exact: true,
    recalls: true,
    in_order: true,
    locates: true,
    empties: false,
    evicts: false,
    varying: true,
    shared: true,
    device: DeviceKeeps::Nothing,
};

/// For rows: keeps nothing, of states of any width.
pub(crate) const NOTHING: Abilities = Abilities {
    remembers: false,
    exact: false,
    recalls: false,
    in_order: false,
    locates: false,
    empties: false,
    evicts: false,
    varying: true,
    shared: false,
    device: DeviceKeeps::Nothing,
};

/// For rows: keeps fingerprints, which may be equal for different states.
pub(crate) const FINGERPRINTS: Abilities = Abilities { remembers: true, shared: true, ..NOTHING };

/// A store that can be chosen by name.
pub(crate) struct StoreRow {
    pub(crate) entry: Entry,
    pub(crate) abilities: Abilities,
    /// Judges the parameters together, each of which is within its own range.
    pub(crate) agree: fn(Given) -> Result<Given, SpecError>,
    /// The bytes it begins with, of those it may take.
    pub(crate) least: fn(&Packing, usize) -> usize,
    /// Fills in from the memory there is what the user left open.
    pub(crate) settle: fn(Given, &Room) -> Given,
    /// The bytes it may take in a run, and how it takes them.
    pub(crate) takes: fn(&Given, &Room) -> (usize, String),
    /// Builds it from settled parameters; none if there is no room for it.
    pub(crate) build: for<'a> fn(&Given, &Room<'a>) -> Option<Box<dyn Store + 'a>>,
}

/// The parts that a store is built from.
#[derive(Clone, Copy)]
pub struct Room<'a> {
    /// The packing of its states.
    pub packing: &'a Packing,
    /// Asked before anything grows.
    pub account: &'a dyn Account,
    /// The bytes that a store which grows may grow to.
    pub most: usize,
    /// The bytes of a store that takes them at once.
    pub fixed: usize,
    /// Whether the store must bound itself, because it is one of several beside a search.
    pub bounded: bool,
    /// The seed of everything random.
    pub seed: u64,
}

/// A store and its parameters, all within their ranges.
#[derive(Clone)]
pub struct StoreSpec {
    row: &'static StoreRow,
    given: Given,
}

impl StoreSpec {
    /// Reads `name` or `name:parameter=value,…`.
    pub fn parse(text: &str) -> Result<StoreSpec, SpecError> {
        let (entry, given) = spec::read("store", ROWS.iter().map(|row| &row.entry), text)?;
        let row = ROWS.iter().find(|row| std::ptr::eq(&row.entry, entry)).unwrap_or(&ROWS[0]);
        Ok(StoreSpec { row, given: (row.agree)(given.in_digits())? })
    }

    /// The store of a row with the given values of some parameters; the others are what they are if none is given.
    pub(crate) fn of(row: &'static StoreRow, values: &[(&str, Option<String>)]) -> StoreSpec {
        let given = values.iter().fold(row.entry.plain(), |given, (name, value)| given.with(name, value.clone()));
        StoreSpec { row, given }
    }

    /// Every store, with the parameters that it has if none is given.
    pub fn all() -> impl Iterator<Item = StoreSpec> {
        ROWS.iter().map(|row| StoreSpec::of(row, &[]))
    }

    /// Every store with its parameters, their ranges and defaults, one line each.
    pub fn list() -> String {
        spec::list(ROWS.iter().map(|row| &row.entry))
    }

    /// Every store with its help, and its parameters with theirs.
    pub fn guide() -> String {
        spec::guide(ROWS.iter().map(|row| &row.entry))
    }

    /// The store that keeps every state, packed.
    pub fn exact() -> StoreSpec {
        StoreSpec::of(&exact::ROW, &[])
    }

    /// The store's name.
    pub fn name(&self) -> &'static str {
        self.row.entry.name
    }

    /// One line that says what it does.
    pub fn help(&self) -> &'static str {
        self.row.entry.help
    }

    /// Its parameters.
    pub fn parameters(&self) -> &'static [Parameter] {
        self.row.entry.parameters
    }

    /// Its capabilities.
    pub fn abilities(&self) -> Abilities {
        self.row.abilities
    }

    /// The value of a parameter as a number; none if it is open, a word, or of another store.
    pub fn number(&self, parameter: &str) -> Option<u64> {
        self.given.number(parameter)
    }

    /// The bytes it begins with, of `most` that it may take.
    pub fn least(&self, packing: &Packing, most: usize) -> usize {
        (self.row.least)(packing, most)
    }

    /// The same with values for the parameters that the user left open.
    pub fn settled(&self, room: &Room) -> StoreSpec {
        StoreSpec { row: self.row, given: (self.row.settle)(self.given.clone(), room) }
    }

    /// The bytes it may take in a run, and how it takes them.
    pub fn takes(&self, room: &Room) -> (usize, String) {
        (self.row.takes)(&self.given, room)
    }

    /// Builds it; none if there is no room for it.
    pub fn build<'a>(&self, room: &Room<'a>) -> Option<Box<dyn Store + 'a>> {
        (self.row.build)(&self.given, room)
    }
}

/// For rows: any parameters within their ranges go together.
pub(crate) fn any(given: Given) -> Result<Given, SpecError> {
    Ok(given)
}

/// For rows: nothing is left open.
pub(crate) fn as_given(given: Given, _room: &Room) -> Given {
    given
}

/// For rows: a store that takes little before it grows.
pub(crate) fn little(_packing: &Packing, _most: usize) -> usize {
    64 << 10
}

/// For rows: a store that grows by segments and is the frontier as well.
pub(crate) fn by_segments(_given: &Given, room: &Room) -> (usize, String) {
    (room.most, "at most: grows by segments, and is the frontier as well".to_string())
}

/// Words of a tight state; if states have each their own number, as many as many have.
pub(crate) fn usual_words(packing: &Packing) -> usize {
    if packing.is_varying() { 4 } else { packing.words() }
}

impl PartialEq for StoreSpec {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.given.means(&other.given)
    }
}

impl Eq for StoreSpec {}

impl Hash for StoreSpec {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.to_string().hash(state);
    }
}

impl fmt::Debug for StoreSpec {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for StoreSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        StoreSpec::parse(text)
    }
}

/// The text that reads as this choice, with every parameter that has a value.
impl fmt::Display for StoreSpec {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}{}", self.name(), self.given.in_full())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CacheStore, Replacement, Unlimited};

    #[test]
    fn names_and_parameters_are_read() {
        let read = |text: &str| StoreSpec::parse(text).unwrap();
        assert_eq!(read("exact"), StoreSpec::exact());
        for (text, meant) in [
            ("exact", "exact"),
            (" tree ", "tree"),
            ("difference", "difference:delta=20"),
            ("difference:delta=auto", "difference:delta=auto"),
            ("compact", "compact:bits=64,floor=24"),
            ("compact:bits=16", "compact:bits=16,floor=16"),
            ("compact:floor=40, bits=48", "compact:bits=48,floor=40"),
            ("bitstate:k=5", "bitstate:k=5"),
            ("cache", "cache:ways=8,bits=40,replace=random"),
            ("cache:slots=5,replace=fifo", "cache:slots=5,ways=8,bits=40,replace=fifo"),
            ("pool", "pool:replace=none"),
            ("pool:slots=1k,replace=lru", "pool:slots=1000,replace=lru"),
            ("nothing", "nothing"),
        ] {
            assert_eq!(read(text).to_string(), meant);
            assert_eq!(read(meant), read(text));
        }
        assert_eq!(read("cache:slots=1000,ways=4,replace=lfu"), CacheStore::spec(Some(1000), 4, 40, Replacement::Lfu));
        assert_eq!((read("pool:slots=1k").number("slots"), read("pool").number("slots"), read("exact").number("slots")), (Some(1000), None, None));
    }

    #[test]
    fn errors_say_what_would_be_right() {
        let error = |text: &str| StoreSpec::parse(text).unwrap_err().to_string();
        assert!(error("exakt").starts_with("no store is called `exakt` (did you mean `exact`?); there are exact, tree, difference, "));
        assert_eq!(error("cache:slots=0"), "`slots` of the store `cache` cannot be `0`; it may be 1 or more");
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

    /// A row's abilities are what the store it builds does.
    #[test]
    fn rows_speak_the_truth_about_their_stores() {
        use crate::{Candidates, Fidelity, Visit};
        use wayfarer_space::{Firing, States, Steps, Width};
        let packing = Packing::new(vec![0xFFFF]);
        let room = Room { packing: &packing, account: &Unlimited, most: 1 << 22, fixed: 1 << 20, bounded: false, seed: 7 };
        for spec in StoreSpec::all() {
            let can = spec.abilities();
            let store = spec.settled(&room).build(&room).unwrap_or_else(|| panic!("{spec} is not built"));
            let mut seat = store.seat().unwrap();
            let mut steps = Steps::new(Width::Fixed(1));
            (1..=20).for_each(|word| steps.push(0, Firing::of(0), &[0], &[word]));
            let mut visits = Vec::new();
            let candidates = Candidates { steps: &steps, sources: &[] };
            store.insert(&mut seat, candidates, None, u64::MAX, &mut visits);
            let handles: Vec<_> = visits.iter().map(|visit| if let Visit::New(at) = visit { *at } else { panic!("{spec}: {visit:?}") }).collect();
            let mut out = States::new(Width::Fixed(1));
            assert_eq!(store.state(handles[3], &mut out), can.recalls, "{spec} recalls");
            assert_eq!(store.fidelity() == Fidelity::Exact, can.exact, "{spec} is exact");
            if can.in_order {
                assert!(handles.iter().enumerate().all(|(at, handle)| handle.0 as usize == at), "{spec} is in order");
            }
            store.probe(&mut seat, candidates, &mut visits);
            assert_eq!(visits.iter().all(|visit| matches!(visit, Visit::Seen(_))), can.remembers, "{spec} remembers");
            let located = visits.iter().zip(&handles).all(|(visit, handle)| *visit == Visit::Seen(*handle)) && can.recalls;
            assert_eq!(located, can.locates, "{spec} locates");
            assert_eq!(store.forget(handles[0]) || store.clear(), can.empties, "{spec} empties");
            let varying = Packing::varying();
            let room = Room { packing: &varying, ..room };
            assert_eq!(spec.settled(&room).build(&room).is_some(), can.varying, "{spec} takes states of varying width");
            assert!(!spec.help().is_empty() && spec.parameters().iter().all(|parameter| !parameter.help().is_empty()), "{spec} has no help");
        }
    }
}
