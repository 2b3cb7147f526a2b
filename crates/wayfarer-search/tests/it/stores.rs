//! Every store against a plain set. Seeds are fixed. If chance plays a part, the odds of a false alarm for another seed are given.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use wayfarer_search::{
    Account, BitstateStore, CacheStore, Candidates, CompactStore, Delta, DifferenceStore, ExactStore, Fidelity, Handle, Remember, Replacement, Room,
    Seat, Store, StoreSpec, TreeStore, Unlimited, Visit,
};
use wayfarer_space::{Firing, Packing, Rng, States, Steps, Width, Word, hash};

type Named = (&'static str, Box<dyn Store>);

/// Every store, empty, for states of `words` words, in about `bytes` bytes: large enough a budget that none forgets or omits in these tests.
fn all_stores(words: usize, bytes: usize) -> Vec<Named> {
    let mut all = exact_stores(words, 8 * bytes);
    all.extend(lossy_stores(bytes));
    all
}

/// The stores that answer correctly, always.
fn exact_stores(words: usize, bytes: usize) -> Vec<Named> {
    let packing = Packing::whole(words);
    let room = Room { packing: Box::leak(Box::new(packing.clone())), account: &Unlimited, most: 8 * bytes, fixed: bytes, bounded: false, seed: 1 };
    vec![
        ("plain", StoreSpec::parse("plain").unwrap().build(&room).unwrap()),
        ("exact", Box::new(ExactStore::new(packing.clone(), &Unlimited, bytes).unwrap())),
        ("exact, varying", exact_varying(bytes)),
        ("tree", Box::new(TreeStore::new(packing.clone(), &Unlimited, bytes).unwrap())),
        ("difference", Box::new(DifferenceStore::new(packing, Delta::Every(20), &Unlimited, bytes).unwrap())),
    ]
}

/// An exact store for states that have each their own number of words.
fn exact_varying(bytes: usize) -> Box<dyn Store> {
    Box::new(ExactStore::new(Packing::varying(), &Unlimited, bytes).unwrap())
}

/// The stores that know states by their hashes.
fn lossy_stores(bytes: usize) -> Vec<Named> {
    let mut all: Vec<Named> = vec![
        ("compact", Box::new(CompactStore::new(64, 24, bytes, &Unlimited).unwrap())),
        ("bitstate", Box::new(BitstateStore::new(3, bytes, &Unlimited).unwrap())),
    ];
    for (name, replacement) in [
        ("cache, random", Replacement::Random),
        ("cache, fifo", Replacement::Fifo),
        ("cache, lru", Replacement::Lru),
        ("cache, lfu", Replacement::Lfu),
    ] {
        all.push((name, Box::new(CacheStore::new(bytes as u64 / 16, 8, 64, replacement, 1, &Unlimited).unwrap())));
    }
    all
}

/// Steps to the given states.
fn steps_to(states: &[Vec<Word>]) -> Steps {
    let width = if states.iter().all(|state| state.len() == states[0].len()) { Width::Fixed(states[0].len()) } else { Width::Varying };
    let mut steps = Steps::new(width);
    for state in states {
        steps.push(0, Firing::of(0), state, state);
    }
    steps
}

/// States of `words` words, drawn so that duplicates are common; `spread` bounds how many bits vary.
fn draw(rng: &mut Rng, words: usize, spread: u64) -> Vec<Word> {
    (0..words).map(|word| if word == words / 2 { rng.below(spread) << (words % 7) } else { 0 }).collect()
}

fn insert(store: &dyn Store, steps: &Steps) -> Vec<Visit> {
    insert_at(store, &mut store.seat().unwrap(), steps)
}

fn insert_at(store: &dyn Store, seat: &mut Seat, steps: &Steps) -> Vec<Visit> {
    let mut visits = Vec::new();
    store.insert(seat, Candidates { steps, sources: &[] }, None, u64::MAX, &mut visits);
    visits
}

fn is_new(visit: &Visit) -> bool {
    matches!(visit, Visit::New(_))
}

/// Probes and inserts batches of states, and compares every answer with a set.
fn compare_with_a_set(name: &str, store: &dyn Store, batches: impl Iterator<Item = Vec<Vec<Word>>>) {
    let mut seat = store.seat().unwrap();
    let mut known: HashMap<Vec<Word>, u32> = HashMap::new();
    let mut visits = Vec::new();
    let exact = store.fidelity() == Fidelity::Exact;
    for states in batches {
        let steps = steps_to(&states);
        let candidates = Candidates { steps: &steps, sources: &[] };
        store.probe(&mut seat, candidates, &mut visits);
        assert_eq!(visits.len(), states.len(), "{name}");
        for (state, visit) in states.iter().zip(&visits) {
            assert_eq!(is_new(visit), !known.contains_key(state), "{name}: probe of {state:?}");
        }
        store.insert(&mut seat, candidates, None, u64::MAX, &mut visits);
        assert_eq!(visits.len(), states.len(), "{name}");
        for (state, visit) in states.iter().zip(&visits) {
            let next = known.len() as u32;
            let handle = |handle| if exact { Handle(handle) } else { Handle(u32::MAX) };
            match known.get(state) {
                // The tree finds a known state without learning its number.
                Some(_) if name == "tree" => assert!(matches!(visit, Visit::Seen(_)), "{name}: {state:?}"),
                Some(known) => assert_eq!(*visit, Visit::Seen(handle(*known)), "{name}: {state:?}"),
                None => {
                    assert_eq!(*visit, Visit::New(handle(next)), "{name}: {state:?}");
                    known.insert(state.clone(), next);
                }
            }
        }
    }
    assert_eq!(store.len(), known.len() as u64, "{name}");
    for (state, handle) in &known {
        let mut back = States::new(Width::Fixed(state.len()));
        assert_eq!(store.state(Handle(*handle), &mut back), exact, "{name}");
        if exact {
            assert_eq!(back.get(0), state.as_slice(), "{name}");
        } else {
            assert_eq!(store.parent(Handle(*handle)), None, "{name}");
        }
    }
}

#[test]
fn every_store_answers_like_a_set() {
    // 5,000 states: a filter of 2^25 bits omits one with odds 10^-7, 64 bits of fingerprint with odds 10^-12; a bucket of the caches (2^15 of them)
    // overflows with odds 10^-8.
    for words in [1, 2, 3, 8, 64] {
        for (name, store) in all_stores(words, 1 << 22) {
            let mut rng = Rng::new(words as u64, "stores");
            let batches = (0..60).map(|_| (0..200).map(|_| draw(&mut rng, words, 5_000)).collect());
            compare_with_a_set(name, store.as_ref(), batches);
        }
    }
}

#[test]
fn exact_stores_answer_like_a_set_at_every_width() {
    for words in 1..=64 {
        for (name, store) in exact_stores(words, 1 << 22) {
            let mut rng = Rng::new(words as u64, "widths");
            // All words differ, each in its own few bits.
            let mut drawn = || (0..words).map(|word| rng.below(3) << (word % 62)).collect::<Vec<Word>>();
            let known: Vec<_> = (0..60).map(|_| drawn()).collect();
            let batches = (0..4).map(|round| known.iter().skip(20 * round).cloned().chain((0..30).map(|_| drawn())).collect::<Vec<_>>());
            compare_with_a_set(name, store.as_ref(), batches.collect::<Vec<_>>().into_iter());
        }
    }
}

/// States of 0 to 64 words, and some longer ones. Many are the beginning of others, or others with zeros behind.
fn draw_varying(rng: &mut Rng) -> Vec<Word> {
    let words = if rng.below(50) == 0 { 300 + rng.below(3) } else { rng.below(65) };
    let spread = [1, 3, 300, u64::MAX][rng.below(4) as usize];
    (0..words).map(|word| if word < 3 || spread == 300 { rng.below(spread.min(6)) } else { spread % 7 }).collect()
}

#[test]
fn states_of_varying_width_are_told_apart() {
    let stores = [("exact", exact_varying(1 << 24))].into_iter().chain(lossy_stores(1 << 22));
    for (name, store) in stores {
        let mut rng = Rng::new(7, "stores");
        compare_with_a_set(name, store.as_ref(), (0..60).map(|_| (0..150).map(|_| draw_varying(&mut rng)).collect()));
    }
}

#[test]
fn states_of_varying_width_from_several_workers() {
    let mut rng = Rng::new(8, "stores");
    let states: Vec<_> = (0..6_000).map(|_| draw_varying(&mut rng)).collect();
    let distinct = states.iter().collect::<HashSet<_>>().len() as u64;
    let store = exact_varying(1 << 24);
    let new = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let (store, new, states) = (store.as_ref(), &new, &states);
            scope.spawn(move || {
                let mut seat = store.seat().unwrap();
                let mut visits = Vec::new();
                for at in 0..40 {
                    // Every state is brought by all workers, in different order.
                    let from = (at + 10 * worker) % 40 * 150;
                    let steps = steps_to(&states[from..from + 150]);
                    store.insert(&mut seat, Candidates { steps: &steps, sources: &[] }, None, u64::MAX, &mut visits);
                    for (state, visit) in states[from..].iter().zip(&visits) {
                        let (Visit::New(handle) | Visit::Seen(handle)) = *visit else { panic!("no room") };
                        let mut back = States::new(Width::Varying);
                        assert!(store.state(handle, &mut back) && back.get(0) == state, "{handle:?}");
                        new.fetch_add(u64::from(is_new(visit)), Ordering::Relaxed);
                    }
                }
            });
        }
    });
    assert_eq!((store.len(), new.into_inner()), (distinct, distinct));
}

#[test]
fn empty_batches_and_the_state_of_all_zeros() {
    for words in [1, 64] {
        for (name, store) in all_stores(words, 1 << 20) {
            assert!(insert(store.as_ref(), &Steps::new(Width::Fixed(words))).is_empty(), "{name}");
            compare_with_a_set(name, store.as_ref(), (0..3).map(|_| vec![vec![0; words]; 150]));
        }
    }
}

#[test]
fn states_that_hash_to_one_place() {
    // The upper twelve bits choose a bucket or share, the lower sixteen are the last that fingerprints lose. All 64 bits differ somewhere, so that every
    // store with room in the bucket can tell the states apart; the caches have eight slots there, and the filter's bits come from the second lane.
    let alike =
        |condition: fn(u64) -> bool, count| (0u64..).map(|key| vec![key]).filter(|state| condition(hash(state).address())).take(count).collect();
    let upper: Vec<Vec<Word>> = alike(|address| address >> 52 == 0xABC, 8);
    let lower: Vec<Vec<Word>> = alike(|address| address & 0xFFF == 0xABC, 400);
    for (name, store) in all_stores(1, 1 << 20) {
        compare_with_a_set(name, store.as_ref(), [upper.clone(), lower.clone(), upper.clone()].into_iter());
    }
    let upper: Vec<Vec<Word>> = alike(|address| address >> 52 == 0xABC, 300);
    for (name, store) in all_stores(1, 1 << 20).into_iter().take(5) {
        compare_with_a_set(name, store.as_ref(), upper.chunks(70).map(<[_]>::to_vec));
    }
}

#[test]
fn states_with_equal_hashes() {
    // Few, because exact stores hash stored states anew when they grow, and would find the true hashes then.
    let states: Vec<Vec<Word>> = (0..8).map(|key| vec![key]).collect();
    let mut steps = steps_to(&states);
    steps.hashes = vec![hash(&[0]); states.len()];
    for (name, store) in all_stores(1, 1 << 20) {
        let visits = insert(store.as_ref(), &steps);
        let again = insert(store.as_ref(), &steps);
        assert!(again.iter().all(|visit| matches!(visit, Visit::Seen(_))), "{name}");
        let new = visits.iter().filter(|visit| is_new(visit)).count();
        // Eight states with the same hash are one state to the lossy stores, and eight to the exact ones.
        assert_eq!(new, if store.fidelity() == Fidelity::Exact { 8 } else { 1 }, "{name}");
    }
}

#[test]
fn a_mask_and_a_room_are_kept_to() {
    for (name, store) in all_stores(1, 1 << 20) {
        let mut seat = store.seat().unwrap();
        let states: Vec<_> = [0, 1, 2, 3, 4, 0, 5].map(|number| vec![number]).to_vec();
        let steps = steps_to(&states);
        let candidates = Candidates { steps: &steps, sources: &[] };
        let mut visits = Vec::new();
        store.insert(&mut seat, candidates, Some(&[true, false, true, true, true, true, true]), 3, &mut visits);
        let numbered = |number| Handle(if store.fidelity() == Fidelity::Exact { number } else { u32::MAX });
        let (a, b, c) = (numbered(0), numbered(1), numbered(2));
        let known = if name == "tree" { Handle(u32::MAX) } else { a };
        let expected = [Visit::New(a), Visit::Skipped, Visit::New(b), Visit::New(c), Visit::Full, Visit::Seen(known), Visit::Full];
        assert_eq!(visits, expected, "{name}");
        assert_eq!(store.len(), 3, "{name}");
    }
}

/// Inserts random states until the store is full or `most` were new; gives the new ones.
fn fill(store: &dyn Store, seed: u64, most: usize) -> (Vec<Vec<Word>>, bool) {
    let mut rng = Rng::new(seed, "fill");
    let mut seat = store.seat().unwrap();
    let mut new = Vec::new();
    while new.len() < most {
        let states: Vec<_> = (0..500).map(|_| vec![rng.next_word()]).collect();
        let visits = insert_at(store, &mut seat, &steps_to(&states));
        let full = visits.iter().position(|visit| *visit == Visit::Full);
        new.extend(states.iter().zip(&visits).filter(|(_, visit)| is_new(visit)).map(|(state, _)| state.clone()));
        if let Some(full) = full {
            assert!(!visits[full..].iter().any(is_new), "new after full");
            return (new, true);
        }
    }
    (new, false)
}

#[test]
fn filling_to_the_last_slot() {
    let compact = CompactStore::new(40, 40, 1 << 18, &Unlimited).unwrap();
    let exact = exact_stores(1, 1 << 18);
    let stores = exact.iter().map(|(name, store)| (*name, store.as_ref()));
    for (name, store) in stores.chain([("compact", &compact as &dyn Store)]) {
        let (held, full) = fill(store, 3, usize::MAX);
        assert!(full, "{name}");
        assert_eq!(store.len(), held.len() as u64, "{name}");
        assert!(insert(store, &steps_to(&held)).iter().all(|visit| matches!(visit, Visit::Seen(_))), "{name} forgot");
        let others: Vec<_> = (0..100).map(|key| vec![key]).collect();
        // One of a hundred is taken for known with odds 10^-6.
        assert!(insert(store, &steps_to(&others)).iter().all(|visit| *visit == Visit::Full), "{name} found room");
    }
    let precision = compact.precision();
    assert!(precision.load > 0.97 && precision.full_at == Some(precision.states), "{precision}");
}

#[test]
fn several_workers_insert_every_state_once() {
    for (name, store) in all_stores(2, 1 << 22) {
        let new = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for worker in 0..4u64 {
                let (store, new) = (store.as_ref(), &new);
                scope.spawn(move || {
                    let mut seat = store.seat().unwrap();
                    let mut visits = Vec::new();
                    for round in 0..100u64 {
                        // Every state is brought by all workers, in different order.
                        let states: Vec<_> = (0..200).map(|number| vec![round, (number * 7 + worker * 50) % 200]).collect();
                        let steps = steps_to(&states);
                        store.insert(&mut seat, Candidates { steps: &steps, sources: &[] }, None, u64::MAX, &mut visits);
                        new.fetch_add(visits.iter().filter(|visit| is_new(visit)).count() as u64, Ordering::Relaxed);
                        store.probe(&mut seat, Candidates { steps: &steps, sources: &[] }, &mut visits);
                        assert!(!visits.iter().any(is_new), "{name}: a state still held is new");
                    }
                });
            }
        });
        let new = new.into_inner();
        assert_eq!(store.len(), new, "{name}");
        // The filter may tell two workers at once that a state is new; the others have odds of 10^-5 to omit or forget one.
        assert!(if name == "bitstate" { (19_999..=80_000).contains(&new) } else { new == 20_000 }, "{name}: {new}");
        let states: Vec<_> = (0..100).flat_map(|round| (0..200).map(move |number| vec![round, number])).collect();
        assert!(insert(store.as_ref(), &steps_to(&states)).iter().all(|visit| matches!(visit, Visit::Seen(_))), "{name}");
    }
}

#[test]
fn compact_moves_doubles_and_narrows_under_several_workers() {
    // 64 KiB hold 9,000 states of 48 bits; 24,000 are inserted by four workers, each state by two of them. At the end 36 bits are kept, so two thirds of
    // an omission are expected while bits fall; more than eight have odds of 10^-5.
    let store = CompactStore::new(48, 24, 1 << 16, &Unlimited).unwrap();
    let new = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for worker in 0..4u64 {
            let (store, new) = (&store, &new);
            scope.spawn(move || {
                let mut seat = store.seat().unwrap();
                let mut visits = Vec::new();
                for round in 0..120u64 {
                    let states: Vec<_> = (0..100).map(|number| vec![round * 200 + (number * 7 + worker / 2 * 100) % 200]).collect();
                    let steps = steps_to(&states);
                    let candidates = Candidates { steps: &steps, sources: &[] };
                    store.insert(&mut seat, candidates, None, u64::MAX, &mut visits);
                    new.fetch_add(visits.iter().filter(|visit| is_new(visit)).count() as u64, Ordering::Relaxed);
                    store.probe(&mut seat, candidates, &mut visits);
                    assert!(visits.iter().all(|visit| matches!(visit, Visit::Seen(_))), "a state still held is new");
                }
            });
        }
    });
    let states: Vec<_> = (0..24_000).map(|key| vec![key]).collect();
    assert!(insert(&store, &steps_to(&states)).iter().all(|visit| matches!(visit, Visit::Seen(_))));
    let precision = store.precision();
    assert!(precision.lowered > 0 && precision.full_at.is_some(), "{precision}");
    let new = new.into_inner();
    let (_, most) = precision.band(0.999_99);
    assert!(new <= 24_000 && new + most >= 24_000, "{new} new: {precision}");
}

/// Counts the questions put to it.
#[derive(Default)]
struct Asked(AtomicU64);

impl Account for Asked {
    fn allows(&self, _bytes: usize) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed);
        true
    }

    fn used(&self) -> usize {
        0
    }
}

#[test]
fn an_elastic_store_takes_four_times_its_capacity() {
    let account = Asked::default();
    let store = CompactStore::new(58, 20, 1 << 20, &account).unwrap();
    let bytes = store.bytes();
    assert!(bytes <= 1 << 20);
    let mut rng = Rng::new(5, "elastic");
    let mut held: Vec<Vec<Word>> = Vec::new();
    let mut drawn = 0u64;
    while store.precision().full_at.is_none_or(|full| store.len() < 4 * full) {
        let states: Vec<_> = (0..1_000).map(|_| vec![rng.next_word()]).collect();
        let visits = insert(&store, &steps_to(&states));
        assert!(!visits.contains(&Visit::Full));
        drawn += states.len() as u64;
        held.extend(states.into_iter().zip(&visits).filter(|(_, visit)| is_new(visit)).map(|(state, _)| state));
        if held.len() % 20_000 < 1_000 {
            assert!(insert(&store, &steps_to(&held)).iter().all(|visit| matches!(visit, Visit::Seen(_))), "forgot at {}", held.len());
        }
    }
    assert!(insert(&store, &steps_to(&held)).iter().all(|visit| matches!(visit, Visit::Seen(_))));
    let precision = store.precision();
    assert!(precision.lowered >= 5, "{precision}");
    assert_eq!((account.0.into_inner(), store.bytes()), (1, bytes), "memory was asked for on the way");
    // With slots of 45 bits, as 64 bits have at a million buckets.
    let full = precision.full_at.unwrap();
    assert!(bytes as f64 / full as f64 <= 6.5, "{} bytes per state", bytes as f64 / full as f64);
    // The band is of 99.99 %.
    let omitted = drawn - store.len();
    let (least, most) = precision.band(0.9999);
    assert!((least..=most).contains(&omitted), "{omitted} omitted of {drawn}: {precision}");
}

#[test]
fn a_filter_far_too_small_expects_no_more_omissions_than_it_knew_states() {
    let stores: [Named; 2] = [
        ("elastic", Box::new(CompactStore::elastic(1 << 16, 0, &Unlimited).unwrap())),
        ("bitstate", Box::new(BitstateStore::new(3, 1 << 14, &Unlimited).unwrap())),
    ];
    for (name, store) in stores {
        // No state is drawn twice, so each that was known was omitted.
        let mut rng = Rng::new(6, "filter");
        let omitted: usize = (0..200)
            .map(|_| {
                let states: Vec<_> = (0..5_000).map(|_| vec![rng.next_word()]).collect();
                insert(store.as_ref(), &steps_to(&states)).iter().filter(|visit| !is_new(visit)).count()
            })
            .sum();
        let Fidelity::Lossy(expected) = store.fidelity() else { panic!("{name} omits states") };
        // Before it is a filter, the elastic store expects a fraction of one.
        assert!(omitted > 800_000 && expected < omitted as f64 + 1.0 && expected > 0.4 * omitted as f64, "{name}: {expected} of {omitted}");
    }
}

/// Resident bytes of this process.
#[cfg(target_os = "linux")]
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// Run in a process of its own, because other tests take memory meanwhile.
#[cfg(target_os = "linux")]
#[test]
fn narrowing_keeps_the_resident_set_flat() {
    const ALONE: &str = "WAYFARER_TEST_ALONE";
    if std::env::var_os(ALONE).is_none() {
        let name = "stores::narrowing_keeps_the_resident_set_flat";
        let status = std::process::Command::new(std::env::current_exe().unwrap()).args(["--exact", name]).env(ALONE, "1").status();
        assert!(status.unwrap().success());
        return;
    }
    let store = CompactStore::new(50, 24, 8 << 20, &Unlimited).unwrap();
    let mut rng = Rng::new(5, "resident");
    let mut batch = || steps_to(&(0..1_000).map(|_| vec![rng.next_word()]).collect::<Vec<_>>());
    while store.precision().full_at.is_none() {
        insert(&store, &batch());
    }
    let before = resident();
    let mut most = before;
    while store.precision().lowered < 8 {
        insert(&store, &batch());
        most = most.max(resident());
    }
    assert!(most - before < 512 << 10, "{before} bytes, then {most}");
}

#[test]
fn compact_omits_as_many_as_predicted() {
    // 100 seeds at each width. Outside a band of 99 % lie at most 1 of 100 on average; five or more have odds of 0.4 % for each width.
    for (bits, states) in [(24, 20_000), (28, 40_000), (32, 40_000), (36, 40_000), (40, 40_000)] {
        let mut outside = 0;
        let (mut omitted, mut expected) = (0, 0.0);
        for seed in 0..100 {
            let store = CompactStore::new(bits, bits, 1 << 18, &Unlimited).unwrap();
            let mut rng = Rng::new(seed, "omissions");
            let mut steps = Steps::new(Width::Fixed(1));
            for _ in 0..states {
                let state = [rng.next_word()];
                steps.push(0, Firing::of(0), &state, &state);
            }
            let new = insert(&store, &steps).iter().filter(|visit| is_new(visit)).count();
            let precision = store.precision();
            let (least, most) = precision.band(0.99);
            outside += u64::from(!(least..=most).contains(&(states - new as u64)));
            omitted += states - new as u64;
            expected += precision.expected_omissions;
        }
        println!("{bits} bits: {omitted} omitted in 100 runs, {expected:.1} expected, {outside} runs outside the band");
        assert!(outside <= 4, "{bits} bits: {outside} of 100 outside");
    }
}

#[test]
fn bitstate_omits_as_many_as_predicted() {
    // Ten seeds for each k, with 17 bits of filter per state. The variance is near that of a Poisson variable; four standard deviations of the sum of ten
    // have odds below 10^-4.
    for k in [1, 2, 3, 5, 8, 16] {
        let (mut omitted, mut expected) = (0, 0.0);
        for seed in 0..10 {
            let store = BitstateStore::new(k, 1 << 16, &Unlimited).unwrap();
            let mut rng = Rng::new(seed, "omissions");
            let states: Vec<_> = (0..30_000).map(|_| vec![rng.next_word()]).collect();
            let new = insert(&store, &steps_to(&states)).iter().filter(|visit| is_new(visit)).count();
            assert!(insert(&store, &steps_to(&states)).iter().all(|visit| matches!(visit, Visit::Seen(_))), "forgot");
            omitted += 30_000 - new as u64;
            expected += store.filling().expected_omissions;
        }
        println!("k = {k}: {omitted} omitted in 10 runs, {expected:.1} expected");
        assert!((omitted as f64 - expected).abs() < 4.0 * expected.sqrt() + 2.0, "k = {k}: {omitted} omitted, {expected} expected");
    }
}

#[test]
fn bitstate_says_how_full_it_is() {
    let store = BitstateStore::new(3, 1 << 16, &Unlimited).unwrap();
    let states: Vec<_> = (0..10_000).map(|key| vec![key]).collect();
    insert(&store, &steps_to(&states));
    let filling = store.filling();
    let bits = ((1 << 16) - 64) as f64 * 8.0;
    // Each bit is set by none of 30,000 with odds exp(-30,000/524,000).
    assert!((filling.fill / (1.0 - (-30_000.0 / bits).exp()) - 1.0).abs() < 0.02, "{filling:?}");
    assert!((filling.hash_factor / (bits / store.len() as f64) - 1.0).abs() < 1e-9, "{filling:?}");
    assert!(filling.next_omitted > filling.fill.powi(3), "blocks are filled unevenly: {filling:?}");
}

#[test]
fn a_cache_fills_free_slots_first_and_collides_as_often_as_published() {
    // Published runs have 1.7 insertions for each slot and more. Chance moves the rate by about 0.0005 at 1.7, and less later.
    for replacement in [Replacement::Random, Replacement::Fifo, Replacement::Lru, Replacement::Lfu] {
        let store = CacheStore::new(11_739, 8, 40, replacement, 9, &Unlimited).unwrap();
        assert_eq!(store.slots(), 11_744);
        let mut rng = Rng::new(9, "cache");
        for (share, tolerance) in [(1.7, 0.007), (2.0, 0.003), (4.0, 0.0005), (10.0, 0.0005)] {
            while (store.insertions() as f64) < share * store.slots() as f64 {
                let states: Vec<_> = (0..500).map(|_| vec![rng.next_word()]).collect();
                let visits = insert(&store, &steps_to(&states));
                assert!(!visits.contains(&Visit::Full), "a cache is never full");
            }
            let published = 1.0 - store.slots() as f64 / store.insertions() as f64;
            assert!((store.collision_rate() - published).abs() < tolerance, "{replacement:?}: {} and {published}", store.collision_rate());
            assert_eq!(store.len() + store.evictions(), store.insertions());
        }
        assert!(store.len() > store.slots() - 3, "{} of {} filled", store.len(), store.slots());
        assert_eq!(store.fidelity(), Fidelity::Amnesic);
    }
}

#[test]
fn a_cache_knows_what_it_holds() {
    // One bucket, so that a list can say what is held; 64 bits, so that no two of a few thousand states are taken for each other.
    for (replacement, ways) in [(Replacement::Fifo, 8), (Replacement::Lru, 8), (Replacement::Lru, 16), (Replacement::Lru, 1), (Replacement::Fifo, 3)]
    {
        let store = CacheStore::new(u64::from(ways), ways, 64, replacement, 3, &Unlimited).unwrap();
        let mut rng = Rng::new(3, "held");
        // From the next to go to the last to go.
        let mut held: Vec<Word> = Vec::new();
        for _ in 0..5_000 {
            let key = rng.below(u64::from(ways) * 3);
            let visit = insert(&store, &steps_to(&[vec![key]]))[0];
            let at = held.iter().position(|known| *known == key);
            assert_eq!(is_new(&visit), at.is_none(), "{replacement:?}");
            match at {
                Some(at) if replacement == Replacement::Lru => {
                    held.remove(at);
                    held.push(key);
                }
                Some(_) => {}
                None => {
                    if held.len() == ways as usize {
                        held.remove(0);
                    }
                    held.push(key);
                }
            }
        }
    }
}

#[test]
fn a_cache_that_counts_keeps_what_is_asked_for() {
    let store = CacheStore::new(8, 8, 64, Replacement::Lfu, 3, &Unlimited).unwrap();
    let favourites: Vec<_> = (0..4).map(|key| vec![key]).collect();
    insert(&store, &steps_to(&favourites));
    let mut rng = Rng::new(4, "lfu");
    for round in 0..1_000 {
        let visits = insert(&store, &steps_to(&favourites));
        assert!(!visits.iter().any(is_new), "round {round}");
        insert(&store, &steps_to(&[vec![rng.next_word()]]));
    }
}

#[test]
fn stores_refuse_what_is_too_little() {
    struct Empty;
    impl Account for Empty {
        fn allows(&self, _bytes: usize) -> bool {
            false
        }
        fn used(&self) -> usize {
            0
        }
    }
    assert!(CompactStore::new(64, 24, CompactStore::LEAST - 1, &Unlimited).is_none());
    assert!(CompactStore::new(64, 24, CompactStore::LEAST, &Unlimited).is_some());
    assert!(BitstateStore::new(3, BitstateStore::LEAST - 1, &Unlimited).is_none());
    assert!(BitstateStore::new(3, BitstateStore::LEAST, &Unlimited).is_some());
    assert!(CompactStore::new(64, 24, 1 << 20, &Empty).is_none());
    assert!(BitstateStore::new(3, 1 << 20, &Empty).is_none());
    assert!(CacheStore::new(1_000, 8, 40, Replacement::Random, 0, &Empty).is_none());
    let distinct: HashSet<usize> = [16, 24, 40, 64].map(|bits| CacheStore::bytes_for(10_000, 8, bits, Replacement::Random)).into();
    assert_eq!(distinct.len(), 4);
}
