//! The tree store: every state, as a tree of parts that are shared between states.
//!
//! Tree compression after Laarman, van de Pol and Weber ("Parallel recursive state compression for free", 2011), with a compact root table after Laarman
//! ("Optimal compression of combinatorial state vectors", 2019): a state's bits are cut into leaves, a leaf and every pair of parts is kept once and has a
//! number, and a state is the pair of numbers under its root. A step changes few words, so that most of its source's numbers are the result's too: only the
//! way from what changed up to the root is looked up.
//!
//! Departures:
//! - the shape of the tree is learnt from the first states (see `shape`) and not the balanced one; learning anew rebuilds the store up to three times, at
//!   4096 states and at eight and sixty-four times as many, during which other workers wait
//! - the root table is a set of pairs that knows no handles (see `pairs`); a sequence beside it has the pairs by handle (see `sequence`). So
//!   [`Visit::Seen`] of this store carries no handle
//! - a leaf is up to 64 of the bits that carry information; states of up to 64 bits need no tree, and their halves are the pair
//! - inner nodes use the exact store's index, and each worker remembers the nodes it asked for last.

mod nodes;
mod pairs;
mod sequence;
mod shape;

use crate::{Account, Candidates, Fidelity, Handle, Seat, Store, Visit};
use nodes::{NodeSeat, Nodes};
use pairs::{PairSeat, Pairs, Put};
use sequence::{Entry, NO_PARENT, Place, RUN, Sequence, Unpacked};
use shape::{Kind, Leaf, Shape};
use std::ops::Range;
use std::sync::RwLock;
use std::sync::atomic::{AtomicU64, Ordering};
use wayfarer_space::{Packing, States, Word};

/// Candidates whose cache lines are fetched together.
const GROUP: usize = 96;
/// At how many states the shape is learnt first, how much later again, and after how many not any more.
const LEARN: (u64, u64, u64) = (1 << 12, 8, 1 << 18);
/// Work that learning may do: pairs of slices times states of the sample.
const SAMPLING: usize = 1 << 24;
/// In place of the handle of a state that was seen.
const NO_HANDLE: Handle = Handle(u32::MAX);

/// Remembers every state by parts that states share.
pub struct TreeStore<'a> {
    packing: Packing,
    account: &'a dyn Account,
    most: usize,
    stage: RwLock<Stage>,
    len: AtomicU64,
    /// At how many states the shape is learnt next.
    learn_at: AtomicU64,
}

/// What is replaced when the shape changes.
struct Stage {
    tree: Tree,
    sequence: Sequence,
    /// Counts the shapes.
    generation: u64,
}

struct Tree {
    shape: Option<Shape>,
    /// Nodes directly under the root have numbers of their own, so that these stay small.
    tops: [Nodes; 2],
    rest: Nodes,
    pairs: Pairs,
    /// All of a state where there is no shape, and its bits.
    all: Leaf,
    bits: u32,
}

/// A worker's place at the tree store.
struct TreeSeat {
    generation: u64,
    inner: Option<TreePlaces>,
    place: Place,
    pairs: Vec<Option<(u32, u32)>>,
    /// The run that was unpacked last and how many records it had.
    run: Box<(usize, usize, Unpacked)>,
    full: bool,
}

/// A worker's places at the parts of one tree.
struct TreePlaces {
    tops: [NodeSeat; 2],
    rest: NodeSeat,
    pairs: PairSeat,
}

impl<'a> TreeStore<'a> {
    /// An empty store for states of the given packing that asks `account` before it grows, and that never holds more than about `most` bytes. None where
    /// the account has no room to begin.
    pub fn new(packing: Packing, account: &'a dyn Account, most: usize) -> Option<Self> {
        let shape = (packing.bits() > 64).then(|| Shape::balanced(packing.masks()));
        let learn_at = AtomicU64::new(if shape.is_some() { LEARN.0 } else { u64::MAX });
        let tree = Tree::new(shape, &packing, most, account)?;
        let stage = RwLock::new(Stage { tree, sequence: Sequence::new(most), generation: 1 });
        Some(TreeStore { packing, account, most, stage, len: AtomicU64::new(0), learn_at })
    }

    /// Where the bytes are: in nodes, in the set of pairs, and in the sequence.
    pub fn parts(&self) -> [usize; 3] {
        self.stage.read().map_or([0; 3], |stage| {
            let pairs = stage.tree.pairs.bytes();
            [stage.tree.bytes() - pairs, pairs, stage.sequence.bytes()]
        })
    }

    /// The least that a store must be allowed, for a budget of `most` bytes.
    pub fn least(most: usize) -> usize {
        3 * Nodes::least(most) + 2 * Pairs::LEAST + Sequence::least(most)
    }

    /// Finds the numbers of the candidates of a group; where `insert`, gives numbers to parts that have none.
    fn number(&self, stage: &Stage, seat: &mut TreeSeat, candidates: Candidates, group: Range<usize>, mask: Option<&[bool]>, insert: bool) {
        let Some(places) = &mut seat.inner else { return };
        seat.pairs.clear();
        let mut source = (u32::MAX, None);
        for index in group {
            if mask.is_some_and(|mask| !mask[index]) {
                seat.pairs.push(None);
                continue;
            }
            let state = candidates.steps.states.get(index);
            let parent = candidates.parent(index).filter(|_| stage.tree.shape.is_some());
            if let Some(parent) = parent
                && source.0 != parent.0
            {
                source = (parent.0, known_entry(&stage.sequence, &mut seat.run, parent.0));
            }
            let old = parent.and(source.1).map(|entry: Entry| (entry.left, entry.right));
            let pair = stage.tree.pair_of(places, old, candidates.steps.changed[index], state, insert, self.account);
            if let Some((left, right)) = pair {
                stage.tree.pairs.prefetch(left, right);
            }
            seat.pairs.push(pair);
        }
    }

    /// Inserts one candidate whose numbers are known.
    #[inline]
    fn visit(&self, stage: &Stage, seat: &mut TreeSeat, pair: Option<(u32, u32)>, parent: Option<Handle>, room: bool) -> Visit {
        let next = if room && !seat.full { stage.sequence.next(&mut seat.place, self.account) } else { None };
        let (Some(places), Some((left, right))) = (&seat.inner, pair) else {
            seat.full |= room;
            return Visit::Full;
        };
        let put = match next {
            Some(_) => stage.tree.pairs.put(&places.pairs, left, right, self.account),
            None if stage.tree.pairs.contains(left, right) => Put::Present,
            None => Put::Full,
        };
        match (put, next) {
            (Put::Present, _) => Visit::Seen(NO_HANDLE),
            (Put::Inserted, Some(handle)) => {
                stage.sequence.append(&mut seat.place, Entry { left, right, parent: parent.map_or(NO_PARENT, |parent| parent.0) });
                Visit::New(Handle(handle))
            }
            _ => {
                seat.full |= room;
                Visit::Full
            }
        }
    }

    /// Learns the shape from what is stored, and rebuilds the store where another is better.
    #[cold]
    fn learn(&self) {
        let Ok(mut stage) = self.stage.write() else { return };
        let len = self.len.load(Ordering::Relaxed);
        if len < self.learn_at.load(Ordering::Relaxed) {
            return;
        }
        self.learn_at.store(if len >= LEARN.2 { u64::MAX } else { (len * LEARN.1).min(LEARN.2).max(len + 1) }, Ordering::Relaxed);
        let Stage { tree, sequence, generation } = &mut *stage;
        let slices = self.packing.masks().iter().map(|mask| mask.count_ones().div_ceil(32) as usize).sum::<usize>().clamp(2, 96);
        let wanted = (SAMPLING / (slices * slices)).clamp(256, 4096);
        let width = self.packing.masks().len();
        let mut sample = Vec::new();
        let mut reading = Reading::new(tree, width);
        let mut entries = [Entry::default(); RUN];
        let runs = sequence.runs();
        let each = wanted.div_ceil(runs).min(RUN);
        for run in (0..runs).step_by((runs * each).div_ceil(wanted).max(1)) {
            let filled = sequence.unpack(run, &mut entries);
            for entry in entries[..filled].iter().step_by(RUN / each) {
                sample.extend_from_slice(reading.read(tree, *entry));
            }
        }
        let shape = Shape::learnt(self.packing.masks(), &sample);
        if tree.shape.as_ref() == Some(&shape) {
            return;
        }
        let Some(other) = Tree::new(Some(shape), &self.packing, self.most, self.account) else { return };
        let Some(mut places) = other.places() else { return };
        other.enter(&places);
        let mut reading = Reading::new(tree, width);
        let rewritten = sequence.rewrite(self.account, |entry| {
            let state = reading.read(tree, *entry);
            let Some((left, right)) = other.pair_of(&mut places, None, 0, state, true, self.account) else { return false };
            (entry.left, entry.right) = (left, right);
            other.pairs.put(&places.pairs, left, right, self.account) == Put::Inserted
        });
        other.leave(&places);
        if rewritten {
            *tree = other;
            *generation += 1;
        }
    }
}

/// The record of a handle, by way of the run that was unpacked last.
fn known_entry(sequence: &Sequence, known: &mut (usize, usize, Unpacked), handle: u32) -> Option<Entry> {
    let (run, at) = (handle as usize / RUN, handle as usize % RUN);
    if known.0 != run || known.1 <= at {
        known.0 = run;
        known.1 = sequence.unpack(run, &mut known.2);
    }
    (at < known.1).then(|| known.2[at])
}

impl Tree {
    fn new(shape: Option<Shape>, packing: &Packing, most: usize, account: &dyn Account) -> Option<Self> {
        let nodes = || Nodes::new(most, account);
        let all = Leaf::of_all(packing.masks());
        Some(Tree { shape, tops: [nodes()?, nodes()?], rest: nodes()?, pairs: Pairs::new(account)?, all, bits: packing.bits() as u32 })
    }

    fn places(&self) -> Option<TreePlaces> {
        Some(TreePlaces { tops: [self.tops[0].seat()?, self.tops[1].seat()?], rest: self.rest.seat()?, pairs: self.pairs.seat()? })
    }

    fn enter(&self, places: &TreePlaces) {
        self.tops[0].enter(&places.tops[0]);
        self.tops[1].enter(&places.tops[1]);
        self.rest.enter(&places.rest);
        self.pairs.enter(&places.pairs);
    }

    fn leave(&self, places: &TreePlaces) {
        self.tops[0].leave(&places.tops[0]);
        self.tops[1].leave(&places.tops[1]);
        self.rest.leave(&places.rest);
        self.pairs.leave(&places.pairs);
    }

    fn bytes(&self) -> usize {
        self.tops[0].bytes() + self.tops[1].bytes() + self.rest.bytes() + self.pairs.bytes()
    }

    /// The pair of numbers of a state that differs from the one of `old` in the words `changed`. None where a part has no number, and, where `insert`,
    /// there is no room for one.
    #[inline]
    fn pair_of(
        &self,
        places: &mut TreePlaces,
        old: Option<(u32, u32)>,
        changed: u64,
        state: &[Word],
        insert: bool,
        account: &dyn Account,
    ) -> Option<(u32, u32)> {
        let Some(shape) = &self.shape else {
            let (low, high) = halves(self.bits);
            let value = self.all.read(state);
            return Some(((value >> low) as u32 & ones(high), scramble(value as u32 & ones(low), low)));
        };
        let mut walk = Walk { tree: self, shape, rest: &mut places.rest, changed, state, insert, account };
        let left = walk.top(0, &mut places.tops[0], old.map(|(left, _)| left))?;
        let right = walk.top(1, &mut places.tops[1], old.map(|(_, right)| right))?;
        Some((left, right))
    }
}

/// Looks up the numbers of one state's parts.
struct Walk<'a> {
    tree: &'a Tree,
    shape: &'a Shape,
    rest: &'a mut NodeSeat,
    changed: u64,
    state: &'a [Word],
    insert: bool,
    account: &'a dyn Account,
}

impl Walk<'_> {
    /// The number of a part under the root.
    #[inline]
    fn top(&mut self, side: usize, seat: &mut NodeSeat, old: Option<u32>) -> Option<u32> {
        let (at, nodes) = (self.shape.top[side], &self.tree.tops[side]);
        if let Some(old) = old
            && self.changed & self.shape.positions[at].words == 0
        {
            return Some(old);
        }
        let before = old.map(|old| nodes.value(old));
        let value = self.value(at, before)?;
        if before == Some(value) { old } else { nodes.number(seat, value, self.insert, self.account) }
    }

    /// The value of a part: a leaf's bits, or the numbers of its two parts.
    fn value(&mut self, at: usize, before: Option<u64>) -> Option<u64> {
        match &self.shape.positions[at].kind {
            Kind::Leaf(leaf) => Some(leaf.read(self.state)),
            Kind::Pair(left, right) => {
                let first = self.part(*left, before.map(|pair| (pair >> 32) as u32))?;
                let second = self.part(*right, before.map(|pair| pair as u32))?;
                Some(u64::from(first) << 32 | u64::from(second))
            }
        }
    }

    /// The number of a part further down.
    fn part(&mut self, at: usize, old: Option<u32>) -> Option<u32> {
        if let Some(old) = old
            && self.changed & self.shape.positions[at].words == 0
        {
            return Some(old);
        }
        let before = old.map(|old| self.tree.rest.value(old));
        let value = self.value(at, before)?;
        if before == Some(value) { old } else { self.tree.rest.number(self.rest, value, self.insert, self.account) }
    }
}

/// Puts states together, each from the one before: what they share is already in place.
struct Reading {
    state: Vec<Word>,
    /// The value that each position had last.
    last: Vec<Option<u64>>,
}

impl Reading {
    fn new(tree: &Tree, width: usize) -> Self {
        Reading { state: vec![0; width], last: vec![None; tree.shape.as_ref().map_or(0, |shape| shape.positions.len())] }
    }

    /// The state of a record.
    fn read(&mut self, tree: &Tree, entry: Entry) -> &[Word] {
        match &tree.shape {
            None => {
                let low = halves(tree.bits).0;
                tree.all.write(u64::from(unscramble(entry.right, low)) | u64::from(entry.left) << low, &mut self.state);
            }
            Some(shape) => {
                self.place(tree, shape, shape.top[0], tree.tops[0].value(entry.left));
                self.place(tree, shape, shape.top[1], tree.tops[1].value(entry.right));
            }
        }
        &self.state
    }

    fn place(&mut self, tree: &Tree, shape: &Shape, at: usize, value: u64) {
        if self.last[at] == Some(value) {
            return;
        }
        self.last[at] = Some(value);
        match &shape.positions[at].kind {
            Kind::Leaf(leaf) => leaf.write(value, &mut self.state),
            Kind::Pair(left, right) => {
                self.place(tree, shape, *left, tree.rest.value((value >> 32) as u32));
                self.place(tree, shape, *right, tree.rest.value(value as u32));
            }
        }
    }
}

/// Bits of the low and the high half of a state that needs no tree.
fn halves(bits: u32) -> (u32, u32) {
    (bits.min(32), bits.saturating_sub(32))
}

fn ones(bits: u32) -> u32 {
    ((1u64 << bits) - 1) as u32
}

/// Spreads numbers of so many bits over all of them, one to one: multiply, fold, multiply.
fn scramble(value: u32, bits: u32) -> u32 {
    let half = bits.div_ceil(2);
    let product = value.wrapping_mul(0x9E37_79B1) & ones(bits);
    (product ^ product >> half).wrapping_mul(0x85EB_CA77) & ones(bits)
}

/// The inverse of [`scramble`].
fn unscramble(value: u32, bits: u32) -> u32 {
    let half = bits.div_ceil(2);
    let folded = value.wrapping_mul(inverse(0x85EB_CA77)) & ones(bits);
    // Folding by half of the bits or more undoes itself.
    (folded ^ folded >> half).wrapping_mul(inverse(0x9E37_79B1)) & ones(bits)
}

/// The odd number that undoes multiplying by this one, by Newton's rule: each round doubles the bits that are right.
const fn inverse(odd: u32) -> u32 {
    let mut found = odd;
    let mut round = 0;
    while round < 5 {
        found = found.wrapping_mul(2u32.wrapping_sub(odd.wrapping_mul(found)));
        round += 1;
    }
    found
}

impl TreeSeat {
    /// Takes places at the tree of this stage; false where it has no more.
    fn sit(&mut self, stage: &Stage) -> bool {
        if self.generation != stage.generation {
            self.inner = stage.tree.places();
            self.run.0 = usize::MAX;
            self.place.renumbered();
            self.generation = stage.generation;
        }
        self.inner.is_some()
    }
}

impl Store for TreeStore<'_> {
    fn seat(&self) -> Option<Seat> {
        let stage = self.stage.read().ok()?;
        let mut seat = TreeSeat {
            generation: 0,
            inner: None,
            place: Place::default(),
            pairs: Vec::with_capacity(GROUP),
            run: Box::new((usize::MAX, 0, [Entry::default(); RUN])),
            full: false,
        };
        seat.sit(&stage).then(|| Seat::new(seat))
    }

    fn probe(&self, seat: &mut Seat, candidates: Candidates, visits: &mut Vec<Visit>) {
        visits.clear();
        let (Some(seat), Ok(stage)) = (seat.of::<TreeSeat>(), self.stage.read()) else { return };
        if !seat.sit(&stage) {
            return;
        }
        if let Some(places) = &seat.inner {
            stage.tree.enter(places);
        }
        for from in (0..candidates.steps.len()).step_by(GROUP) {
            let until = candidates.steps.len().min(from + GROUP);
            self.number(&stage, seat, candidates, from..until, None, false);
            visits.extend(seat.pairs.iter().map(|pair| match pair {
                Some((left, right)) if stage.tree.pairs.contains(*left, *right) => Visit::Seen(NO_HANDLE),
                _ => Visit::New(NO_HANDLE),
            }));
        }
        if let Some(places) = &seat.inner {
            stage.tree.leave(places);
        }
    }

    fn insert(&self, seat: &mut Seat, candidates: Candidates, mask: Option<&[bool]>, mut room: u64, visits: &mut Vec<Visit>) {
        visits.clear();
        let (Some(seat), Ok(stage)) = (seat.of::<TreeSeat>(), self.stage.read()) else { return };
        if !seat.sit(&stage) {
            visits.resize(candidates.steps.len(), Visit::Full);
            return;
        }
        let mut new = 0;
        if let Some(places) = &seat.inner {
            stage.tree.enter(places);
        }
        for from in (0..candidates.steps.len()).step_by(GROUP) {
            let until = candidates.steps.len().min(from + GROUP);
            let insert = room > 0 && !seat.full;
            self.number(&stage, seat, candidates, from..until, mask, insert);
            for index in from..until {
                if mask.is_some_and(|mask| !mask[index]) {
                    visits.push(Visit::Skipped);
                    continue;
                }
                let pair = seat.pairs[index - from];
                let visit = self.visit(&stage, seat, pair, candidates.parent(index), room > 0);
                match visit {
                    Visit::New(_) => {
                        room -= 1;
                        new += 1;
                    }
                    Visit::Full => room = 0,
                    _ => {}
                }
                visits.push(visit);
            }
        }
        if let Some(places) = &seat.inner {
            stage.tree.leave(places);
        }
        let len = self.len.fetch_add(new, Ordering::Relaxed) + new;
        drop(stage);
        if len >= self.learn_at.load(Ordering::Relaxed) && !seat.full {
            self.learn();
        }
    }

    fn state(&self, at: Handle, out: &mut States) -> bool {
        self.states(&[at], out)
    }

    fn states(&self, handles: &[Handle], out: &mut States) -> bool {
        let Ok(stage) = self.stage.read() else { return false };
        let mut reading = Reading::new(&stage.tree, self.packing.masks().len());
        let mut known = (usize::MAX, 0, [Entry::default(); RUN]);
        for handle in handles {
            let entry = if handles.len() == 1 { stage.sequence.entry(handle.0) } else { known_entry(&stage.sequence, &mut known, handle.0) };
            let Some(entry) = entry else { return false };
            out.push(reading.read(&stage.tree, entry));
        }
        true
    }

    fn parent(&self, at: Handle) -> Option<Handle> {
        let entry = self.stage.read().ok()?.sequence.entry(at.0)?;
        (entry.parent != NO_PARENT).then_some(Handle(entry.parent))
    }

    fn len(&self) -> u64 {
        self.len.load(Ordering::Relaxed)
    }

    fn fidelity(&self) -> Fidelity {
        Fidelity::Exact
    }

    fn bytes(&self) -> usize {
        self.stage.read().map_or(0, |stage| stage.tree.bytes() + stage.sequence.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scrambling_is_one_to_one() {
        for bits in [0, 1, 2, 7, 16, 31, 32] {
            for number in 0..70_000u32 {
                let value = number.wrapping_mul(0x0101_6B55) & ones(bits);
                assert_eq!(unscramble(scramble(value, bits), bits), value);
                assert!(scramble(value, bits) <= ones(bits));
            }
        }
    }
}
