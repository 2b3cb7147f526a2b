//! A space whose states have each their own number of words, searched over every kind of store.

use wayfarer_search::{
    Bfs, BitstateStore, CacheStore, CompactStore, Deadlock, Delta, Dfs, DifferenceStore, ExactStore, Job, Limits, Replacement, Settings, Store,
    Strategy, TreeStore, Unbounded, Unlimited, Witness,
};
use wayfarer_space::{Checked, Completeness, Fault, FaultClass, Fired, Firing, Packing, PropertyBits, Rng, Space, States, Steps, Width, Word};

/// Stacks of numbers below `kinds`: rule k pushes k, the last rule pops. No stack may reach `longest`.
struct Stacks {
    packing: Packing,
    kinds: u32,
    longest: usize,
}

impl Space for Stacks {
    fn width(&self) -> Width {
        Width::Varying
    }

    fn packing(&self) -> &Packing {
        &self.packing
    }

    fn rules(&self) -> u32 {
        self.kinds + 1
    }

    fn properties(&self) -> u32 {
        1
    }

    fn initial(&self, steps: &mut Steps) -> Completeness {
        steps.clear();
        steps.push(0, Firing::of(0), &[], &[]);
        Completeness::All
    }

    fn expand(&self, batch: &States, from: Firing, steps: &mut Steps) -> Completeness {
        steps.clear();
        let mut out = Vec::new();
        for (source, state) in batch.iter().enumerate() {
            let before = steps.len();
            for rule in from.first_rule()..self.rules() {
                if self.fire(state, Firing::of(rule), &mut out) == Fired::To {
                    steps.push(source as u32, Firing::of(rule), state, &out);
                }
            }
            steps.enabled.push((steps.len() - before) as u32);
        }
        Completeness::All
    }

    fn sample(&self, _state: &[Word], _rng: &mut Rng, _out: &mut Vec<Word>) -> Option<(Firing, Fired)> {
        None
    }

    fn fire(&self, state: &[Word], firing: Firing, out: &mut Vec<Word>) -> Fired {
        out.clear();
        out.extend_from_slice(state);
        if firing.rule < self.kinds && state.len() < self.longest {
            out.push(Word::from(firing.rule));
            Fired::To
        } else if firing.rule == self.kinds && out.pop().is_some() {
            Fired::To
        } else {
            Fired::Disabled
        }
    }

    fn check(&self, state: &[Word], bits: &mut PropertyBits) -> Checked {
        if state.len() == self.longest && state.iter().all(|number| *number + 1 == Word::from(self.kinds)) {
            bits.insert(0);
        }
        Ok(())
    }

    fn asks_to_reach(&self, _property: u32) -> bool {
        false
    }

    fn fault_class(&self, _fault: Fault) -> FaultClass {
        FaultClass::Violation
    }
}

/// A name, a store and a strategy.
type Search<'a> = (&'static str, Box<dyn Store + 'a>, Box<dyn Strategy + 'a>);

#[test]
fn stacks_are_counted_and_the_way_to_the_last_is_found() {
    let space = Stacks { packing: Packing::varying(), kinds: 2, longest: 11 };
    let limits = Limits::default();
    let queued = || Box::new(Bfs::queued(&limits, space.packing().clone(), &Unlimited)) as Box<dyn Strategy>;
    let exact = || Box::new(ExactStore::new(space.packing().clone(), &Unlimited, 1 << 24).unwrap()) as Box<dyn Store>;
    let searches: [Search; 6] = [
        ("exact", exact(), Box::new(Bfs::new(&limits))),
        ("exact, depth first", exact(), Box::new(Dfs::new(&limits))),
        ("exact, queued", exact(), queued()),
        ("compact", Box::new(CompactStore::new(64, 24, 1 << 20, &Unlimited).unwrap()), queued()),
        // 4,095 states: one is omitted or forgotten with odds below 10^-7.
        ("bitstate", Box::new(BitstateStore::new(3, 1 << 23, &Unlimited).unwrap()), queued()),
        ("cache", Box::new(CacheStore::new(1 << 18, 8, 64, Replacement::Lru, 1, &Unlimited).unwrap()), queued()),
    ];
    for (name, store, mut strategy) in searches {
        let settings = Settings { deadlock: Deadlock::Off, max_errors: 2, ..Settings::default() };
        let outcome = Job::new(&space, store.as_ref(), strategy.as_mut(), &settings).run(&mut Unbounded);
        assert_eq!(
            (outcome.states, store.len(), outcome.depth),
            ((1 << 12) - 1, (1 << 12) - 1, if name.contains("depth") { outcome.depth } else { Some(11) })
        );
        let witness = Witness::trace(&space, store.as_ref(), &outcome.violations[0], &Unlimited, 1).unwrap();
        assert_eq!(witness.states.last().unwrap(), &vec![1; 11], "{name}");
        let shortest = witness.firings.len() == 11;
        assert!(shortest || name.contains("depth"), "{name}: {}", witness.firings.len());
    }
}

#[test]
fn stores_that_need_a_fixed_width_refuse_others() {
    assert!(TreeStore::new(Packing::varying(), &Unlimited, 1 << 24).is_none());
    assert!(DifferenceStore::new(Packing::varying(), Delta::Every(20), &Unlimited, 1 << 24).is_none());
}
