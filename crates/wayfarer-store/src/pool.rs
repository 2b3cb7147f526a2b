//! The pool: a bounded set of whole states that can be emptied, and from which single states can be removed. Walk-like
//! strategies use it as their set V.
//!
//! Each state has a slot with its tight form, its hash and a link to the slot from which it was reached. A state that
//! is forgotten while others descend from it stays as a *ghost*. It is no longer in the set and is kept only so that
//! witnesses lead back to a start state; it is freed with the last of its descendants. Ghosts come on top of the
//! capacity. If there are more of them than the capacity, the pool says that it is full, so that a strategy starts
//! anew.
//!
//! One worker owns a pool. The lock inside is there for the trait and is never waited for.

use crate::memory::slab::Slab;
use crate::rows::{NOTHING, any, little, usual_words};
use crate::spec::{Accepts, Entry, Given, Parameter};
use crate::{Abilities, Account, Candidates, Fidelity, Forget, Handle, Recall, Remember, Replacement, Room, Seat, StoreRow, StoreSpec, Visit};
use std::sync::{Mutex, MutexGuard, PoisonError};
use wayfarer_space::{Packing, Rng, States, Word};

/// The row of `pool`. Its slots are used again, so that handles are not in the order of insertion.
pub(crate) static ROW: StoreRow = StoreRow {
    entry: Entry {
        name: "pool",
        help: "some states, whole, which a search can take out again",
        parameters: &[
            Parameter::open("slots", Accepts::Number(1..=u32::MAX as u64 - 1), "as many as fit", "how many states it holds"),
            Parameter::new(
                "replace",
                Accepts::OneOf(&["none", "random", "fifo", "lru", "lfu"]),
                "none",
                "which state goes when it is full; with none, it is full",
            ),
        ],
    },
    abilities: Abilities { remembers: true, recalls: true, locates: true, empties: true, ..NOTHING },
    agree: any,
    least: little,
    settle,
    takes: |given, room| (room.most, given.number("slots").map_or("at most".to_string(), |slots| format!("at most {slots} states"))),
    build: |given, room| {
        let slots = given.number("slots").unwrap_or(u64::MAX);
        Some(Box::new(PoolStore::new(room.packing.clone(), slots, replacement(given), room.seed, room.account)))
    },
};

/// Which state goes when a pool is full; none if it is then full.
fn replacement(given: &Given) -> Option<Replacement> {
    given.text("replace").and_then(Replacement::named)
}

/// A pool that replaces, or must bound itself, has as many slots as there is room for. Ghosts may be as many as states.
fn settle(given: Given, room: &Room) -> Given {
    if given.number("slots").is_some() || !(room.bounded || replacement(&given).is_some()) {
        return given;
    }
    let slots = match room.bounded {
        true => room.fixed / 3 / (room.packing.words() * 8 + 24),
        false => (room.fixed / (2 * (usual_words(room.packing) * 8 + 24) + 24)).max(64),
    };
    given.with("slots", Some(slots.to_string()))
}

const NONE: u32 = u32::MAX;
/// Slots that are taken from the account together.
const BLOCK: usize = 1024;

/// A bounded set of states.
pub struct PoolStore<'a> {
    account: &'a dyn Account,
    most: u64,
    replacement: Option<Replacement>,
    inside: Mutex<Inside>,
}

#[derive(Clone, Copy)]
struct Slot {
    hash: u64,
    parent: u32,
    /// States and ghosts that were reached from here.
    children: u32,
    /// Its place among the states; none for ghosts and free slots.
    place: u32,
    /// When it was inserted or last asked for, or how often, as the replacement needs it.
    history: u32,
}

struct Inside {
    slots: Vec<Slot>,
    slab: Slab,
    free: Vec<u32>,
    /// The slots of the states, in no order.
    states: Vec<u32>,
    ghosts: u64,
    /// Whether a state was forgotten.
    forgot: bool,
    /// Slot numbers at or behind the place of their hash; a power of two of them, at most half in use.
    table: Vec<u32>,
    clock: u32,
    rng: Rng,
}

impl<'a> PoolStore<'a> {
    /// The choice of a pool with these parameters; as many slots as fit if none are given.
    pub fn spec(slots: Option<u64>, replace: Option<Replacement>) -> StoreSpec {
        let replace = replace.map_or("none", Replacement::name).to_owned();
        StoreSpec::of(&ROW, &[("slots", slots.map(|slots| slots.to_string())), ("replace", Some(replace))])
    }

    /// An empty pool for at most `most` states that asks `account` before it grows.
    pub fn new(packing: Packing, most: u64, replacement: Option<Replacement>, seed: u64, account: &'a dyn Account) -> Self {
        let inside = Inside {
            slots: Vec::new(),
            slab: Slab::new(packing),
            free: Vec::new(),
            states: Vec::new(),
            ghosts: 0,
            forgot: false,
            table: vec![NONE; 64],
            clock: 0,
            rng: Rng::new(seed, "pool"),
        };
        PoolStore { account, most: most.clamp(1, u64::from(NONE) / 4), replacement, inside: Mutex::new(inside) }
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many forgotten states are kept for the sake of witnesses.
    pub fn ghosts(&self) -> u64 {
        self.inside().ghosts
    }

    fn put(&self, inside: &mut Inside, candidates: Candidates, index: usize) -> Visit {
        let (hash, state) = (candidates.steps.hashes[index].address(), candidates.steps.states.get(index));
        match inside.find(hash, state) {
            Some(slot) => {
                inside.ask(slot, self.replacement);
                Visit::Seen(Handle(slot))
            }
            None => self.insert_new(inside, hash, state, candidates.parent(index), candidates.sources),
        }
    }

    fn insert_new(&self, inside: &mut Inside, hash: u64, state: &[Word], parent: Option<Handle>, sources: &[Handle]) -> Visit {
        let parent = parent.map_or(NONE, |handle| handle.0);
        if inside.states.len() as u64 >= self.most {
            let Some(replacement) = self.replacement else { return Visit::Full };
            // The sources of the batch must outlive it, because links will lead to them.
            let Some(victim) = inside.victim(replacement, sources) else { return Visit::Full };
            inside.forget(victim);
        }
        if inside.ghosts > self.most + BLOCK as u64 || !inside.make_room(self.account) {
            return Visit::Full;
        }
        let Some(slot) = inside.free.pop() else { return Visit::Full };
        inside.slab.put(slot, state);
        inside.clock = inside.clock.wrapping_add(1);
        let history = if self.replacement == Some(Replacement::Lfu) { 0 } else { inside.clock };
        inside.slots[slot as usize] = Slot { hash, parent, children: 0, place: inside.states.len() as u32, history };
        inside.states.push(slot);
        if parent != NONE {
            inside.slots[parent as usize].children += 1;
        }
        inside.enter(slot);
        Visit::New(Handle(slot))
    }
}

impl Inside {
    fn home(&self, hash: u64) -> usize {
        hash as usize & (self.table.len() - 1)
    }

    fn find(&mut self, hash: u64, state: &[Word]) -> Option<u32> {
        self.slab.prepare(state);
        let mut at = self.home(hash);
        while self.table[at] != NONE {
            let slot = self.table[at];
            if self.slots[slot as usize].hash == hash && self.slab.holds_prepared(slot) {
                return Some(slot);
            }
            at = (at + 1) & (self.table.len() - 1);
        }
        None
    }

    fn enter(&mut self, slot: u32) {
        let mut at = self.home(self.slots[slot as usize].hash);
        while self.table[at] != NONE {
            at = (at + 1) & (self.table.len() - 1);
        }
        self.table[at] = slot;
    }

    /// Takes a slot out of the table and moves those behind it up, so that none is cut off from its home.
    fn leave(&mut self, slot: u32) {
        let mask = self.table.len() - 1;
        let mut hole = self.home(self.slots[slot as usize].hash);
        while self.table[hole] != slot {
            hole = (hole + 1) & mask;
        }
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            if self.table[at] == NONE {
                break;
            }
            let home = self.home(self.slots[self.table[at] as usize].hash);
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(hole) & mask {
                self.table[hole] = self.table[at];
                hole = at;
            }
        }
        self.table[hole] = NONE;
    }

    /// A state was met again.
    fn ask(&mut self, slot: u32, replacement: Option<Replacement>) {
        match replacement {
            Some(Replacement::Lru) => {
                self.clock = self.clock.wrapping_add(1);
                self.slots[slot as usize].history = self.clock;
            }
            Some(Replacement::Lfu) => self.slots[slot as usize].history = self.slots[slot as usize].history.saturating_add(1),
            _ => {}
        }
    }

    /// Which state goes. Order is judged among a few drawn states: keeping all in order would cost more than it is worth.
    fn victim(&mut self, replacement: Replacement, spare: &[Handle]) -> Option<u32> {
        let draws = if replacement == Replacement::Random { 1 } else { 16 };
        let mut best: Option<u32> = None;
        for _ in 0..draws {
            let slot = self.states[self.rng.below(self.states.len() as u64) as usize];
            let age = |slot: u32| match replacement {
                Replacement::Lfu => u64::from(self.slots[slot as usize].history),
                _ => u64::from(u32::MAX - self.clock.wrapping_sub(self.slots[slot as usize].history)),
            };
            if !spare.contains(&Handle(slot)) && best.is_none_or(|best| age(slot) < age(best)) {
                best = Some(slot);
            }
        }
        best.or_else(|| self.states.iter().copied().find(|slot| !spare.contains(&Handle(*slot))))
    }

    /// Takes a state out of the set.
    fn forget(&mut self, slot: u32) {
        self.leave(slot);
        let place = self.slots[slot as usize].place as usize;
        self.states.swap_remove(place);
        if let Some(moved) = self.states.get(place) {
            self.slots[*moved as usize].place = place as u32;
        }
        self.slots[slot as usize].place = NONE;
        self.ghosts += 1;
        self.forgot = true;
        let mut slot = slot;
        // A slot without descendants is freed, and so are its ancestors that stayed only for it.
        while slot != NONE && self.slots[slot as usize].children == 0 && self.slots[slot as usize].place == NONE {
            self.ghosts -= 1;
            self.free.push(slot);
            slot = self.slots[slot as usize].parent;
            if slot != NONE {
                self.slots[slot as usize].children -= 1;
            }
        }
    }

    /// Sees to it that there is a free slot and that the table is at most half full.
    fn make_room(&mut self, account: &dyn Account) -> bool {
        if self.free.is_empty() {
            let more = BLOCK.max(self.slots.len() / 4);
            if !account.allows((self.slots.len() + more) * (size_of::<Slot>() + 8) + self.slab.growth(more)) {
                return false;
            }
            let first = self.slots.len() as u32;
            self.slots.reserve_exact(more);
            self.slots.resize(self.slots.len() + more, Slot { hash: 0, parent: NONE, children: 0, place: NONE, history: 0 });
            self.slab.grow(more);
            self.free.extend((first..self.slots.len() as u32).rev());
        }
        if 2 * (self.states.len() + 1) > self.table.len() {
            if !account.allows(self.table.len() * 2 * size_of::<u32>()) {
                return false;
            }
            self.table = vec![NONE; self.table.len() * 2];
            for at in 0..self.states.len() {
                self.enter(self.states[at]);
            }
        }
        true
    }
}

impl Remember for PoolStore<'_> {
    fn seat(&self) -> Option<Seat> {
        Some(Seat::new(()))
    }

    fn probe(&self, _seat: &mut Seat, candidates: Candidates, visits: &mut Vec<Visit>) {
        visits.clear();
        let mut inside = self.inside();
        for (state, hash) in candidates.steps.states.iter().zip(&candidates.steps.hashes) {
            let found = inside.find(hash.address(), state);
            visits.push(found.map_or(Visit::New(Handle(NONE)), |slot| Visit::Seen(Handle(slot))));
        }
    }

    fn insert(&self, _seat: &mut Seat, candidates: Candidates, mask: Option<&[bool]>, mut room: u64, visits: &mut Vec<Visit>) {
        visits.clear();
        let mut inside = self.inside();
        for index in 0..candidates.steps.len() {
            if mask.is_some_and(|mask| !mask[index]) {
                visits.push(Visit::Skipped);
                continue;
            }
            let visit = if room > 0 { self.put(&mut inside, candidates, index) } else { Visit::Full };
            match visit {
                Visit::New(_) => room -= 1,
                Visit::Full => room = 0,
                _ => {}
            }
            visits.push(visit);
        }
    }

    fn len(&self) -> u64 {
        self.inside().states.len() as u64
    }

    fn fidelity(&self) -> Fidelity {
        Fidelity::Amnesic
    }

    fn so_far(&self) -> Fidelity {
        if self.inside().forgot { Fidelity::Amnesic } else { Fidelity::Lossy(0.0) }
    }

    fn bytes(&self) -> usize {
        let inside = self.inside();
        inside.slots.capacity() * size_of::<Slot>()
            + inside.slab.bytes()
            + (inside.free.capacity() + inside.states.capacity() + inside.table.capacity()) * size_of::<u32>()
    }
}

impl Recall for PoolStore<'_> {
    fn state(&self, at: Handle, out: &mut States) -> bool {
        self.inside().slab.get(at.0, out)
    }

    fn states(&self, handles: &[Handle], out: &mut States) -> bool {
        let inside = self.inside();
        handles.iter().all(|handle| inside.slab.get(handle.0, out))
    }

    fn parent(&self, at: Handle) -> Option<Handle> {
        let parent = self.inside().slots.get(at.0 as usize)?.parent;
        (parent != NONE).then_some(Handle(parent))
    }

    fn nth(&self, n: u64) -> Handle {
        Handle(self.inside().states.get(n as usize).copied().unwrap_or(NONE))
    }
}

impl Forget for PoolStore<'_> {
    fn holds(&self, at: Handle, state: &[Word]) -> bool {
        let mut inside = self.inside();
        inside.slab.prepare(state);
        inside.slots.get(at.0 as usize).is_some_and(|slot| slot.place != NONE) && inside.slab.holds_prepared(at.0)
    }

    fn forget(&self, at: Handle) -> bool {
        let mut inside = self.inside();
        if inside.slots.get(at.0 as usize).is_none_or(|slot| slot.place == NONE) {
            return false;
        }
        inside.forget(at.0);
        true
    }

    fn clear(&self) -> bool {
        let mut inside = self.inside();
        let slots = inside.slots.len() as u32;
        inside.forgot |= !inside.states.is_empty();
        inside.table.fill(NONE);
        inside.states.clear();
        inside.ghosts = 0;
        inside.free.clear();
        inside.free.extend((0..slots).rev());
        inside.slots.iter_mut().for_each(|slot| slot.place = NONE);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unlimited;
    use std::collections::BTreeMap;
    use wayfarer_space::{Firing, Steps, Width};

    fn steps(states: &[u64]) -> Steps {
        let mut steps = Steps::new(Width::Fixed(1));
        states.iter().for_each(|state| steps.push(0, Firing::of(0), &[0], &[*state]));
        steps
    }

    fn put(store: &PoolStore, state: u64, parent: Option<Handle>) -> Visit {
        let (steps, sources) = (steps(&[state]), parent.into_iter().collect::<Vec<_>>());
        let mut visits = Vec::new();
        let mut seat = store.seat().unwrap();
        store.insert(&mut seat, Candidates { steps: &steps, sources: &sources }, None, 1, &mut visits);
        visits[0]
    }

    #[test]
    fn it_is_a_set_under_insertion_and_removal() {
        let store = PoolStore::new(Packing::whole(1), 500, None, 1, &Unlimited);
        let mut rng = Rng::new(2, "pool test");
        let mut model: BTreeMap<u64, Handle> = BTreeMap::new();
        for _ in 0..30_000 {
            let state = rng.below(900);
            match (rng.below(3), model.get(&state).copied()) {
                (0, Some(handle)) => {
                    assert!(store.forget(handle));
                    assert!(!store.forget(handle) || model.is_empty());
                    model.remove(&state);
                }
                (0, None) => {}
                (_, known) => match put(&store, state, None) {
                    Visit::New(handle) => {
                        assert!(known.is_none() && model.len() < 500);
                        model.insert(state, handle);
                    }
                    Visit::Seen(handle) => assert_eq!(known, Some(handle)),
                    Visit::Full => assert!(known.is_none() && model.len() == 500),
                    Visit::Skipped => unreachable!(),
                },
            }
            assert_eq!(store.len(), model.len() as u64);
        }
        let mut held: Vec<u32> = (0..store.len()).map(|n| store.nth(n).0).collect();
        held.sort_unstable();
        let mut expected: Vec<u32> = model.values().map(|handle| handle.0).collect();
        expected.sort_unstable();
        assert_eq!(held, expected);
        assert!(store.clear());
        assert_eq!(store.len(), 0);
    }

    #[test]
    fn forgotten_ancestors_stay_for_witnesses_and_go_with_their_last_descendant() {
        let store = PoolStore::new(Packing::whole(1), 10, None, 1, &Unlimited);
        let handle = |visit: Visit| if let Visit::New(handle) = visit { handle } else { panic!("{visit:?}") };
        let root = handle(put(&store, 1, None));
        let middle = handle(put(&store, 2, Some(root)));
        let leaf = handle(put(&store, 3, Some(middle)));
        assert!(store.forget(root) && store.forget(middle));
        assert_eq!((store.len(), store.ghosts()), (1, 2));
        assert_eq!(store.parent(leaf), Some(middle));
        assert_eq!(store.parent(middle), Some(root));
        assert!(matches!(put(&store, 2, None), Visit::New(_)));
        assert!(store.forget(leaf));
        assert_eq!((store.len(), store.ghosts()), (1, 0));
    }

    #[test]
    fn replacement_keeps_the_size_and_the_parent() {
        for replacement in [Replacement::Random, Replacement::Fifo, Replacement::Lru, Replacement::Lfu] {
            let store = PoolStore::new(Packing::whole(1), 50, Some(replacement), 1, &Unlimited);
            let mut last = None;
            for state in 0..1_000 {
                match put(&store, state, last) {
                    Visit::New(handle) => last = Some(handle),
                    // The ghosts of a path are all needed: at some length it has to end.
                    Visit::Full => {
                        assert!(store.ghosts() > 1_000);
                        store.clear();
                        last = None;
                    }
                    other => panic!("{other:?}"),
                }
                assert!(store.len() <= 50);
            }
        }
    }
}
