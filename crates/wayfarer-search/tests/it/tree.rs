//! The tree store against a plain set. The tests of stores that give states back are used for the difference store too.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use wayfarer_search::{
    Account, Bfs, Candidates, ExactStore, Fidelity, Handle, Job, Limits, Recall, Remember, Settings, Store, TreeStore, Unbounded, Unlimited, Visit,
};
use wayfarer_space::{Firing, Packing, Rng, States, Steps, Width, Word};

/// Takes a store and what to compare it with through steps out of known states.
pub(crate) struct Walker<'a> {
    pub(crate) store: &'a dyn Store,
    words: usize,
    masks: Vec<Word>,
    known: HashMap<Vec<Word>, u32>,
    order: Vec<(Vec<Word>, Option<u32>)>,
}

impl<'a> Walker<'a> {
    pub(crate) fn new(store: &'a dyn Store, masks: &[Word]) -> Self {
        Walker { store, words: masks.len(), masks: masks.to_vec(), known: HashMap::new(), order: Vec::new() }
    }

    /// Inserts start states drawn by `draw`, then `rounds` batches of steps that change a word or two of known states.
    pub(crate) fn walk(&mut self, rng: &mut Rng, rounds: usize, batch: usize, mut value: impl FnMut(&mut Rng) -> Word) {
        let mut seat = self.store.seat().unwrap();
        let mut visits = Vec::new();
        for round in 0..rounds {
            let mut steps = Steps::new(Width::Fixed(self.words));
            let mut sources = Vec::new();
            for number in 0..batch {
                let from = if round == 0 { vec![0; self.words] } else { self.pick(rng, &mut sources, number) };
                let mut to = from.clone();
                for _ in 0..1 + rng.below(2) {
                    let word = rng.below(self.words as u64) as usize;
                    to[word] = value(rng) & self.masks[word];
                }
                let source = sources.len().saturating_sub(1) as u32;
                steps.push(source, Firing { rule: number as u32, outcome: 0 }, &from, &to);
            }
            let candidates = Candidates { steps: &steps, sources: &sources };
            self.store.probe(&mut seat, candidates, &mut visits);
            assert_eq!(visits.len(), batch);
            for (state, visit) in steps.states.iter().zip(&visits) {
                assert_eq!(matches!(visit, Visit::New(_)), !self.known.contains_key(state), "probing {state:?}");
            }
            self.store.insert(&mut seat, candidates, None, u64::MAX, &mut visits);
            for (index, (state, visit)) in steps.states.iter().zip(&visits).enumerate() {
                let next = self.known.len() as u32;
                if self.known.contains_key(state) {
                    assert!(matches!(visit, Visit::Seen(_)), "{visit:?} for a state that is known");
                } else {
                    assert_eq!(*visit, Visit::New(Handle(next)));
                    self.known.insert(state.to_vec(), next);
                    self.order.push((state.to_vec(), candidates.parent(index).map(|parent| parent.0)));
                }
            }
        }
        assert_eq!(self.store.len(), self.known.len() as u64);
    }

    /// A known state, several times in a row the same.
    fn pick(&self, rng: &mut Rng, sources: &mut Vec<Handle>, number: usize) -> Vec<Word> {
        if number.is_multiple_of(3) {
            // Mostly what came last, as a search does.
            let back = if rng.below(4) == 0 { rng.below(self.order.len() as u64) } else { rng.below(200.min(self.order.len() as u64)) };
            sources.push(Handle(self.order.len() as u32 - 1 - back as u32));
        }
        self.order[sources[sources.len() - 1].0 as usize].0.clone()
    }

    /// Asks for everything back, in order and out of order, with its links.
    pub(crate) fn compare(&self) {
        let mut back = States::new(Width::Fixed(self.words));
        let handles: Vec<Handle> = (0..self.order.len() as u32).map(Handle).collect();
        assert!(self.store.states(&handles, &mut back));
        for (index, (state, parent)) in self.order.iter().enumerate() {
            assert_eq!(back.get(index), state.as_slice(), "state {index}");
            assert_eq!(self.store.parent(Handle(index as u32)).map(|parent| parent.0), *parent, "link of {index}");
        }
        for index in (0..self.order.len()).step_by(17).rev() {
            back.clear();
            assert!(self.store.state(Handle(index as u32), &mut back));
            assert_eq!(back.get(0), self.order[index].0.as_slice());
        }
    }
}

/// Widths and masks to try: narrow and wide, full and with gaps.
pub(crate) fn packings() -> Vec<Vec<Word>> {
    let mut packings =
        vec![vec![0x7], vec![Word::MAX], vec![0xFFFF_FFFF, 0x1F], vec![Word::MAX; 2], vec![0x00FF_00FF_00FF_00FF; 3], vec![0; 3], vec![Word::MAX; 5]];
    packings.push((0..38).map(|word| if word % 7 == 6 { 0xF_FFFF } else { 0xFF_FFFF_FFFF }).collect());
    packings.push(vec![Word::MAX; 64]);
    packings.push(vec![0xFFFF; 100]);
    packings
}

pub(crate) fn answers_like_a_set(make: impl Fn(Packing) -> Box<dyn Store>) {
    for (number, masks) in packings().iter().enumerate() {
        let mut rng = Rng::new(number as u64, "walks");
        let store = make(Packing::new(masks.clone()));
        let mut walker = Walker::new(&*store, masks);
        walker.walk(&mut rng, 60, 200, |rng| rng.below(30) << (rng.below(8) * 8));
        walker.compare();
        // Any values at all, and adversarial ones: equal low bits, and words that are all the same.
        let store = make(Packing::new(masks.clone()));
        let mut walker = Walker::new(&*store, masks);
        walker.walk(&mut rng, 40, 150, Rng::next_word);
        walker.compare();
        let store = make(Packing::new(masks.clone()));
        let mut walker = Walker::new(&*store, masks);
        walker.walk(&mut rng, 40, 150, |rng| rng.below(1 << 20) << 44);
        walker.compare();
        let store = make(Packing::new(masks.clone()));
        let mut walker = Walker::new(&*store, masks);
        walker.walk(&mut rng, 40, 150, |rng| rng.below(256) * 0x0101_0101_0101_0101);
        walker.compare();
        assert_eq!(store.fidelity(), Fidelity::Exact);
    }
}

/// An account with this many bytes, which counts the bytes it allows.
pub(crate) struct Purse {
    left: Mutex<usize>,
    limit: usize,
}

impl Purse {
    pub(crate) fn new(limit: usize) -> Self {
        Purse { left: Mutex::new(limit), limit }
    }
}

impl Account for Purse {
    fn allows(&self, bytes: usize) -> bool {
        let mut left = self.left.lock().unwrap();
        let allowed = bytes <= *left;
        if allowed {
            *left -= bytes;
        }
        allowed
    }

    fn used(&self) -> usize {
        self.limit - *self.left.lock().unwrap()
    }
}

/// Fills a store until it is full: known states stay, new ones are refused, and a refused state is not half there.
pub(crate) fn fills_up(store: &dyn Store, words: usize) {
    let mut seat = store.seat().unwrap();
    let mut rng = Rng::new(7, "filling");
    let mut visits = Vec::new();
    let mut held = HashSet::new();
    let mut full = 0;
    for round in 0..40_000u64 {
        let mut steps = Steps::new(Width::Fixed(words));
        let mut state = vec![0; words];
        for number in 0..64u64 {
            let before = state.clone();
            state[(number as usize * 5) % words] = (round * 64 + number).wrapping_mul(0x9E37_79B9);
            // Some twice, so that what is refused comes again at once.
            for _ in 0..1 + number % 3 / 2 {
                steps.push(0, Firing::of(0), &before, &state);
            }
        }
        if rng.below(8) == 0 && !held.is_empty() {
            let known: &Vec<Word> = held.iter().next().unwrap();
            steps.push(0, Firing::of(0), known, known);
        }
        store.insert(&mut seat, Candidates { steps: &steps, sources: &[] }, None, u64::MAX, &mut visits);
        assert_eq!(visits.len(), steps.len());
        for (state, visit) in steps.states.iter().zip(&visits) {
            match visit {
                Visit::New(_) => {
                    assert_eq!(full, 0, "new after full");
                    assert!(held.insert(state.to_vec()));
                }
                Visit::Seen(_) => assert!(held.contains(state)),
                Visit::Full => {
                    full += 1;
                    assert!(!held.contains(state), "a held state is refused");
                }
                Visit::Skipped => unreachable!(),
            }
        }
        if full > 500 {
            break;
        }
    }
    assert!(full > 0, "it never filled up");
    assert_eq!(store.len(), held.len() as u64);
    let mut back = States::new(Width::Fixed(words));
    let handles: Vec<Handle> = (0..store.len() as u32).map(Handle).collect();
    assert!(store.states(&handles, &mut back));
    assert!(back.iter().all(|state| held.remove(state)));
}

/// A handle, its state and its link, as a worker was told.
type Told = (u32, Vec<Word>, Option<u32>);

/// Several workers insert overlapping walks. Every state is new once, and the store holds what each worker was told.
pub(crate) fn serves_several_workers(store: &dyn Store, words: usize) {
    let new = AtomicUsize::new(0);
    let handles: Mutex<Vec<Told>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for worker in 0..4u64 {
            let (new, handles) = (&new, &handles);
            scope.spawn(move || {
                let mut rng = Rng::new(worker / 2, "workers");
                let mut seat = store.seat().unwrap();
                let mut visits = Vec::new();
                let mut known: Vec<(u32, Vec<Word>)> = Vec::new();
                for round in 0..120 {
                    let mut steps = Steps::new(Width::Fixed(words));
                    let mut sources = Vec::new();
                    for _ in 0..100 {
                        let (handle, from) = if round == 0 {
                            (None, vec![0; words])
                        } else {
                            let (handle, state) = &known[rng.below(known.len() as u64) as usize];
                            (Some(*handle), state.clone())
                        };
                        let mut to = from.clone();
                        to[rng.below(words as u64) as usize] = rng.below(64) << 8;
                        sources.extend(handle.map(Handle));
                        steps.push(sources.len().saturating_sub(1) as u32, Firing::of(0), &from, &to);
                    }
                    let candidates = Candidates { steps: &steps, sources: &sources };
                    store.insert(&mut seat, candidates, None, u64::MAX, &mut visits);
                    for (index, visit) in visits.iter().enumerate() {
                        match visit {
                            Visit::New(handle) => {
                                new.fetch_add(1, Ordering::Relaxed);
                                let state = steps.states.get(index).to_vec();
                                known.push((handle.0, state.clone()));
                                handles.lock().unwrap().push((handle.0, state, candidates.parent(index).map(|parent| parent.0)));
                            }
                            Visit::Seen(_) => {}
                            other => panic!("{other:?}"),
                        }
                    }
                    if known.is_empty() {
                        // Another worker has inserted everything: begin with its states.
                        let theirs = handles.lock().unwrap();
                        known.extend(theirs.iter().take(50).map(|(handle, state, _)| (*handle, state.clone())));
                    }
                }
            });
        }
    });
    let handles = handles.into_inner().unwrap();
    let states: HashSet<&Vec<Word>> = handles.iter().map(|(_, state, _)| state).collect();
    let numbers: HashSet<u32> = handles.iter().map(|(handle, _, _)| *handle).collect();
    assert_eq!((states.len(), numbers.len()), (handles.len(), handles.len()), "a state or a handle was given twice");
    assert_eq!(store.len(), new.load(Ordering::Relaxed) as u64);
    let mut back = States::new(Width::Fixed(words));
    for (handle, state, parent) in &handles {
        back.clear();
        assert!(store.state(Handle(*handle), &mut back));
        assert_eq!(back.get(0), state.as_slice());
        assert_eq!(store.parent(Handle(*handle)).map(|parent| parent.0), *parent);
    }
}

/// The same search over the exact store and another finds the same states with the same links.
pub(crate) fn searches_like_exact(make: impl Fn(Packing) -> Box<dyn Store>) {
    let space = Ring { cells: 9 };
    let packing = wayfarer_space::Space::packing(&space).clone();
    let exact = ExactStore::new(packing.clone(), &Unlimited, 1 << 28).unwrap();
    let other = make(packing);
    for store in [&exact as &dyn Store, &*other] {
        let outcome =
            Job::new(&space, store, &mut Bfs::new(&Limits::default()), &Settings { deadlock: wayfarer_search::Deadlock::Off, ..Settings::default() })
                .run(&mut Unbounded);
        assert!(outcome.is_complete());
    }
    assert_eq!(exact.len(), 5u64.pow(9) / 25);
    assert_eq!(other.len(), exact.len());
    let (mut one, mut two) = (States::new(Width::Fixed(9)), States::new(Width::Fixed(9)));
    let handles: Vec<Handle> = (0..exact.len() as u32).map(Handle).collect();
    assert!(exact.states(&handles, &mut one) && other.states(&handles, &mut two));
    assert!(one.words() == two.words());
    assert!(handles.iter().all(|handle| exact.parent(*handle) == other.parent(*handle)));
}

/// Cells of five values in a row of words, of which a step turns two neighbours or two second neighbours on, both the same way: sums of both kinds stay.
struct Ring {
    cells: usize,
}

impl wayfarer_space::Space for Ring {
    fn width(&self) -> Width {
        Width::Fixed(self.cells)
    }
    fn packing(&self) -> &Packing {
        static PACKING: std::sync::OnceLock<Packing> = std::sync::OnceLock::new();
        PACKING.get_or_init(|| Packing::new(vec![0x7_0000_0000_0FFF; 9]))
    }
    fn rules(&self) -> u32 {
        self.cells as u32
    }
    fn properties(&self) -> u32 {
        0
    }
    fn initial(&self, steps: &mut Steps) -> wayfarer_space::Completeness {
        steps.clear();
        let state = vec![0; self.cells];
        steps.push(0, Firing::of(0), &state, &state);
        wayfarer_space::Completeness::All
    }
    fn expand(&self, batch: &States, from: Firing, steps: &mut Steps) -> wayfarer_space::Completeness {
        steps.clear();
        for (source, state) in batch.iter().enumerate() {
            for rule in from.first_rule()..self.rules() - 2 {
                let mut to = state.to_vec();
                for cell in [rule as usize, rule as usize + 2] {
                    let value = (to[cell] >> 48) + (to[cell] & 0xFFF) / 0x100;
                    let value = (value + if cell == rule as usize { 1 } else { 4 }) % 5;
                    // A value is kept in two pieces, far apart.
                    to[cell] = if value == 4 { 1 << 48 | 0x300 } else { value * 0x100 };
                }
                steps.push(source as u32, Firing::of(rule), state, &to);
            }
            steps.enabled.push(self.rules() - 2);
        }
        wayfarer_space::Completeness::All
    }
    fn sample(&self, _: &[Word], _: &mut Rng, _: &mut Vec<Word>) -> Option<(Firing, wayfarer_space::Fired)> {
        None
    }
    fn fire(&self, state: &[Word], firing: Firing, out: &mut Vec<Word>) -> wayfarer_space::Fired {
        let mut batch = States::new(Width::Fixed(self.cells));
        batch.push(state);
        let mut steps = Steps::new(Width::Fixed(self.cells));
        self.expand(&batch, firing, &mut steps);
        out.clear();
        out.extend_from_slice(steps.states.get(0));
        wayfarer_space::Fired::To
    }
    fn check(&self, _: &[Word], _: &mut wayfarer_space::PropertyBits) -> Result<(), (u32, wayfarer_space::Fault)> {
        Ok(())
    }
    fn asks_to_reach(&self, _: u32) -> bool {
        false
    }
    fn fault_class(&self, _: wayfarer_space::Fault) -> wayfarer_space::FaultClass {
        wayfarer_space::FaultClass::Violation
    }
}

fn tree(packing: Packing) -> Box<dyn Store> {
    Box::new(TreeStore::new(packing, &Unlimited, 1 << 26).unwrap())
}

#[test]
fn tree_answers_like_a_set() {
    answers_like_a_set(tree);
}

#[test]
fn tree_fills_to_the_last_byte_and_says_so() {
    for words in [1, 2, 5, 40] {
        for limit in [800 << 10, 900_001, 3 << 20] {
            let purse = Purse::new(limit);
            let Some(store) = TreeStore::new(Packing::whole(words), &purse, limit) else { panic!("no room to begin in {limit}") };
            fills_up(&store, words);
            assert!(store.bytes() <= purse.used(), "{} bytes of {}", store.bytes(), purse.used());
        }
    }
}

#[test]
fn tree_refuses_to_begin_without_room() {
    for limit in [0, 1 << 10, 64 << 10, 200 << 10] {
        let purse = Purse::new(limit);
        if let Some(store) = TreeStore::new(Packing::whole(3), &purse, 1 << 20) {
            fills_up(&store, 3);
        }
    }
    let least = TreeStore::least(1 << 20);
    let purse = Purse::new(least);
    let store = TreeStore::new(Packing::whole(3), &purse, 1 << 20).unwrap();
    fills_up(&store, 3);
    assert!(!store.is_empty());
}

#[test]
fn tree_serves_several_workers() {
    for words in [1, 3, 20] {
        serves_several_workers(&TreeStore::new(Packing::whole(words), &Unlimited, 1 << 26).unwrap(), words);
    }
}

#[test]
fn tree_searches_like_exact() {
    searches_like_exact(tree);
}
