//! The tree store: every state, as a tree of parts that are shared between states.
//!
//! Tree compression after Laarman, van de Pol and Weber ("Parallel recursive state compression for free", 2011), with a compact root table after Laarman
//! ("Optimal compression of combinatorial state vectors", 2019): a state's bits are cut into parts, a part and every combination of parts is kept once and has
//! a number, and a state is the pair of numbers under its root. A step changes few words, so that most of its source's numbers are the result's too: only the
//! way from what changed up to the root is looked up.
//!
//! Departures:
//! - the tree has three levels (see `shape`), so that the lookups of many candidates are made level by level and their cache lines are fetched meanwhile
//! - its shape is learnt from the first states and not the balanced one; learning anew rebuilds the store up to three times, at 4096 states and at eight and
//!   sixty-four times as many, and again where a part has more values than its field can number. Meanwhile, and while a table grows, other workers wait
//! - the root table is a set of pairs that knows no handles (see `pairs`); a sequence beside it has the pairs by handle (see `sequence`). So
//!   [`Visit::Seen`] of this store carries no handle
//! - states of up to 64 bits need no tree, and their halves are the pair.

mod nodes;
mod pairs;
mod sequence;
mod shape;

use crate::recent::Recent;
use crate::{Account, Candidates, Fidelity, Handle, Seat, Store, Visit};
use nodes::{NodeSeat, Nodes, Number, mix};
use pairs::{Pairs, Put};
use sequence::{Entry, NO_PARENT, Place, RUN, Sequence, Unpacked};
use shape::{Leaf, Shape};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{RwLock, RwLockReadGuard};
use wayfarer_space::{Packing, States, Steps, Word};

/// Candidates whose cache lines are fetched together.
const GROUP: usize = 96;
/// At how many states the shape is learnt first, how much later again, and after how many not any more.
const LEARN: (u64, u64, u64) = (1 << 12, 8, 1 << 18);
/// Work that learning may do: pairs of slices times states of the sample.
const SAMPLING: usize = 1 << 24;
/// Bits that fields have to spare at first, and where that was too little. Where that was too little too, the shape is the balanced one.
const SPARE: [u32; 2] = [4, 10];
/// How many words of a side, and how many pairs, a worker remembers.
const RECENT: usize = 1 << 11;
const PRESENT: usize = 1 << 13;
/// The most bytes of states that were met lately.
const MET: usize = 1 << 17;
/// In place of the handle of a state that was seen.
const NO_HANDLE: Handle = Handle(u32::MAX);

/// Remembers every state by parts that states share.
pub struct TreeStore<'a> {
    packing: Packing,
    account: &'a dyn Account,
    /// The bytes that states met lately may take for each worker.
    met: usize,
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
    /// How often a part had more values than its field can number.
    outgrown: usize,
}

struct Tree {
    shape: Option<Shape>,
    /// The numbers of each part's values; those of parts that are plain stay empty.
    parts: Vec<Nodes>,
    /// The numbers of the sides' words.
    sides: Vec<Nodes>,
    pairs: Pairs,
    /// All of a state where there is no shape, and its bits.
    all: Leaf,
    bits: u32,
}

/// A worker's place at the tree store.
struct TreeSeat {
    generation: u64,
    inner: TreePlaces,
    place: Place,
    jobs: Vec<Job>,
    /// The run that was unpacked last and how many records it had.
    run: Box<(usize, usize, Unpacked)>,
    /// States that were met lately and are in the tree.
    met: Option<Recent>,
    full: bool,
}

/// A worker's places at the parts of one tree, and room for a part's value.
#[derive(Default)]
struct TreePlaces {
    parts: Vec<NodeSeat>,
    sides: [NodeSeat; 2],
    value: Vec<Word>,
    /// Words of sides that were asked for last and their numbers, by hash: what comes again soon needs no lookup.
    recent: [Box<[(u64, u32)]>; 2],
    /// Pairs that were met last and are in the set, by hash.
    present: Box<[u64]>,
}

/// A candidate on its way to its pair.
#[derive(Clone, Copy)]
struct Job {
    /// The words of its sides and their hashes.
    sides: [(u64, u64); 2],
    /// The numbers of its sides as far as they are known.
    numbers: [Option<u32>; 2],
    /// Whether it has numbers at all, as far as is known.
    known: bool,
    /// Whether its pair was met a short while ago.
    present: bool,
}

/// Why numbers could not be given: there is no room.
struct Crowded;

impl<'a> TreeStore<'a> {
    /// An empty store for states of the given packing that asks `account` before it grows, and that never holds more than about `most` bytes. None where
    /// the account has no room to begin, or states have each their own width.
    pub fn new(packing: Packing, account: &'a dyn Account, most: usize) -> Option<Self> {
        if packing.is_varying() {
            return None;
        }
        let shape = (packing.bits() > 64).then(|| Shape::balanced(packing.masks()));
        let learn_at = AtomicU64::new(if shape.is_some() { LEARN.0 } else { u64::MAX });
        let tree = Tree::new(shape, &packing, account)?;
        let stage = RwLock::new(Stage { tree, sequence: Sequence::new(most), generation: 1, outgrown: 0 });
        Some(TreeStore { packing, account, met: (most / 128).min(MET), stage, len: AtomicU64::new(0), learn_at })
    }

    /// From where every state was first reached, by handle; [`NO_PARENT`] for start states and where there is no state.
    pub(crate) fn parents(&self) -> Vec<u32> {
        let Ok(stage) = self.stage.read() else { return Vec::new() };
        let runs = stage.sequence.runs();
        let mut parents = Vec::with_capacity(runs * RUN);
        let mut entries = [Entry::default(); RUN];
        for run in 0..runs {
            let filled = stage.sequence.unpack(run, &mut entries);
            parents.extend(entries[..filled].iter().map(|entry| entry.parent));
            parents.resize((run + 1) * RUN, NO_PARENT);
        }
        parents
    }

    /// Where the bytes are: in parts and sides, in the set of pairs, and in the sequence.
    pub fn parts(&self) -> [usize; 3] {
        self.stage.read().map_or([0; 3], |stage| {
            let pairs = stage.tree.pairs.bytes();
            [stage.tree.bytes() - pairs, pairs, stage.sequence.bytes()]
        })
    }

    /// The least that a store must be allowed, for a budget of `most` bytes; states of more than 256 words need a little more.
    pub fn least(most: usize) -> usize {
        6 * Nodes::LEAST + 2 * Pairs::LEAST + Sequence::least(most)
    }

    /// Finds the numbers of the candidates of a group; where `insert`, gives numbers to what has none.
    fn number(
        &self,
        stage: &Stage,
        seat: &mut TreeSeat,
        candidates: Candidates,
        group: Range<usize>,
        mask: Option<&[bool]>,
        insert: bool,
    ) -> Result<(), Crowded> {
        let TreeSeat { inner, jobs, run, met, .. } = seat;
        let tree = &stage.tree;
        let met = met.get_or_insert_with(|| Recent::new(&self.packing, self.met, self.account));
        jobs.clear();
        let mut source = (u32::MAX, None);
        for index in group {
            if mask.is_some_and(|mask| !mask[index]) {
                jobs.push(Job::none());
                continue;
            }
            let Steps { hashes, states, .. } = candidates.steps;
            if insert && met.repeats(hashes[index], states.get(index)) {
                jobs.push(Job { present: true, ..Job::none() });
                continue;
            }
            let parent = candidates.parent(index).filter(|_| tree.shape.is_some());
            if let Some(parent) = parent
                && source.0 != parent.0
            {
                let entry = known_entry(&stage.sequence, run, parent.0);
                source = (parent.0, entry.map(|Entry { left, right, .. }| tree.known(left, right)));
            }
            jobs.push(tree.begin(inner, parent.and(source.1.as_ref()), candidates.steps, index, insert)?);
        }
        tree.finish(inner, jobs, insert)
    }

    /// Inserts one candidate whose numbers are known. None where the set of pairs must grow first.
    #[inline]
    fn visit(&self, stage: &Stage, seat: &mut TreeSeat, pair: Option<(u32, u32)>, parent: Option<Handle>, room: bool) -> Option<Visit> {
        let next = if room && !seat.full { stage.sequence.next(&mut seat.place, self.account) } else { None };
        let Some((left, right)) = pair else {
            seat.full |= room;
            return Some(Visit::Full);
        };
        let Some(handle) = next else {
            let known = stage.tree.pairs.contains(left, right);
            seat.full |= room && !known;
            return Some(if known { Visit::Seen(NO_HANDLE) } else { Visit::Full });
        };
        let put = stage.tree.pairs.put(left, right);
        if put != Put::Crowded {
            seat.inner.present[place_of(left, right)] = joined(left, right);
        }
        match put {
            Put::Present => Some(Visit::Seen(NO_HANDLE)),
            Put::Inserted => {
                stage.sequence.append(&mut seat.place, Entry { left, right, parent: parent.map_or(NO_PARENT, |parent| parent.0) });
                Some(Visit::New(Handle(handle)))
            }
            Put::Crowded => None,
        }
    }

    /// Gives the tree room for another group; false where there is none.
    #[cold]
    fn make_room(&self) -> bool {
        let Ok(mut stage) = self.stage.write() else { return false };
        if stage.tree.parts.iter().chain(&stage.tree.sides).any(Nodes::exhausted) {
            while stage.outgrown < SPARE.len() {
                stage.outgrown += 1;
                if self.reshape(&mut stage) {
                    return true;
                }
            }
            return false;
        }
        stage.tree.reserve(GROUP, self.account)
    }

    /// Lets the set of pairs grow where this pair found no place, if the shape is still that of `generation`; false where there is no room.
    #[cold]
    fn grow(&self, left: u32, right: u32, generation: u64) -> bool {
        let Ok(mut stage) = self.stage.write() else { return false };
        stage.generation != generation || stage.tree.pairs.grow(left, right, self.account)
    }

    /// Learns the shape from what is stored, where it is time to.
    #[cold]
    fn learn(&self) {
        let Ok(mut stage) = self.stage.write() else { return };
        let len = self.len.load(Ordering::Relaxed);
        if len < self.learn_at.load(Ordering::Relaxed) {
            return;
        }
        self.learn_at.store(if len >= LEARN.2 { u64::MAX } else { (len * LEARN.1).min(LEARN.2).max(len + 1) }, Ordering::Relaxed);
        self.reshape(&mut stage);
    }

    /// Rebuilds the store in a shape that is learnt from what is stored, or in one that can number all there may be where that was not enough; false, and
    /// nothing changed, where that shape is the old one or there is no room.
    fn reshape(&self, stage: &mut Stage) -> bool {
        let Stage { tree, sequence, generation, outgrown } = stage;
        let shape = match SPARE.get(*outgrown) {
            Some(spare) => Shape::learnt(self.packing.masks(), &self.sample(tree, sequence), *spare),
            None => Shape::balanced(self.packing.masks()),
        };
        if tree.shape.as_ref() == Some(&shape) {
            return false;
        }
        let Some(mut other) = Tree::new(Some(shape), &self.packing, self.account) else { return false };
        let mut places = other.places();
        let mut reading = Reading::new(tree, self.packing.masks().len());
        let mut steps = Steps::new(wayfarer_space::Width::Fixed(self.packing.masks().len()));
        let rewritten = sequence.rewrite(self.account, |entry| {
            steps.states.clear();
            steps.states.push(reading.read(tree, *entry));
            loop {
                let job = other.begin(&mut places, None, &steps, 0, true);
                let done = job.and_then(|job| {
                    let mut jobs = [job];
                    other.finish(&mut places, &mut jobs, true)?;
                    Ok(jobs[0].pair())
                });
                match done {
                    Ok(Some((left, right))) => {
                        (entry.left, entry.right) = (left, right);
                        break;
                    }
                    Ok(None) => return false,
                    Err(Crowded) if other.reserve(GROUP, self.account) => {}
                    Err(Crowded) => return false,
                }
            }
            loop {
                match other.pairs.put(entry.left, entry.right) {
                    Put::Inserted => return true,
                    Put::Crowded if other.pairs.grow(entry.left, entry.right, self.account) => {}
                    _ => return false,
                }
            }
        });
        if rewritten {
            *tree = other;
            *generation += 1;
        }
        rewritten
    }

    /// Some of the states, from everywhere.
    fn sample(&self, tree: &Tree, sequence: &Sequence) -> Vec<Word> {
        let slices = self.packing.masks().iter().map(|mask| mask.count_ones().div_ceil(32) as usize).sum::<usize>().clamp(2, 96);
        let wanted = (SAMPLING / (slices * slices)).clamp(256, 4096);
        let mut sample = Vec::new();
        let mut reading = Reading::new(tree, self.packing.masks().len());
        let mut entries = [Entry::default(); RUN];
        let runs = sequence.runs();
        let each = wanted.div_ceil(runs.max(1)).min(RUN);
        for run in (0..runs).step_by((runs * each).div_ceil(wanted).max(1)) {
            let filled = sequence.unpack(run, &mut entries);
            for entry in entries[..filled].iter().step_by(RUN / each) {
                sample.extend_from_slice(reading.read(tree, *entry));
            }
        }
        sample
    }

    /// Takes the lock anew after the tree was changed; none where it cannot be taken any more.
    fn again<'s>(&'s self, seat: &mut TreeSeat) -> Option<RwLockReadGuard<'s, Stage>> {
        let stage = self.stage.read().ok()?;
        seat.sit(&stage);
        Some(stage)
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
    fn new(shape: Option<Shape>, packing: &Packing, account: &dyn Account) -> Option<Self> {
        let (mut parts, mut sides) = (Vec::new(), Vec::new());
        if let Some(shape) = &shape {
            for part in &shape.parts {
                parts.push(Nodes::new(part.leaf.len(), if part.plain { u64::MAX } else { 1 << part.width }, account)?);
            }
            for _ in &shape.sides {
                sides.push(Nodes::new(1, u64::MAX, account)?);
            }
        }
        Some(Tree { shape, parts, sides, pairs: Pairs::new(account)?, all: Leaf::of_all(packing.masks()), bits: packing.bits() as u32 })
    }

    fn places(&self) -> TreePlaces {
        let longest = self.shape.iter().flat_map(|shape| shape.parts.iter().map(|part| part.leaf.len())).max().unwrap_or(1);
        let recent = || vec![(0, u32::MAX); RECENT].into_boxed_slice();
        TreePlaces {
            parts: vec![NodeSeat::default(); self.parts.len()],
            sides: Default::default(),
            value: vec![0; longest],
            recent: [recent(), recent()],
            present: vec![u64::MAX; PRESENT].into_boxed_slice(),
        }
    }

    fn bytes(&self) -> usize {
        self.parts.iter().chain(&self.sides).map(Nodes::bytes).sum::<usize>() + self.pairs.bytes()
    }

    /// Makes room for `more` values of every part and side; false where there is none.
    fn reserve(&mut self, more: usize, account: &dyn Account) -> bool {
        let Some(shape) = &self.shape else { return false };
        let parts = self.parts.iter_mut().zip(&shape.parts).filter(|(_, part)| !part.plain);
        parts.map(|(nodes, _)| nodes).chain(&mut self.sides).all(|nodes| nodes.reserve(more, account))
    }

    /// A source, with the words of its sides.
    #[inline]
    fn known(&self, left: u32, right: u32) -> Job {
        let side = |side: usize, number: u32| (self.sides[side].word(number), 0);
        Job { sides: [side(0, left), side(1, right)], numbers: [Some(left), Some(right)], known: true, present: false }
    }

    /// Finds the words of a candidate's sides, and asks for the places where their numbers are. `source` is what it differs from in the words that the step
    /// says.
    #[inline]
    fn begin(&self, places: &mut TreePlaces, source: Option<&Job>, steps: &Steps, index: usize, insert: bool) -> Result<Job, Crowded> {
        let state = steps.states.get(index);
        let Some(shape) = &self.shape else {
            let mut value = [0];
            self.all.read(state, &mut value);
            let (low, high) = halves(self.bits);
            let numbers = [Some((value[0] >> low) as u32 & ones(high)), Some(scramble(value[0] as u32 & ones(low), low))];
            return Ok(Job { sides: Default::default(), numbers, known: true, present: false });
        };
        let changed = if source.is_some() { steps.changed[index] } else { u64::MAX };
        let mut job = source.copied().unwrap_or(Job { numbers: [None; 2], known: true, present: false, sides: Default::default() });
        for (at, side) in shape.sides.iter().enumerate() {
            if source.is_some() && side.words & changed == 0 {
                continue;
            }
            let old = job.sides[at].0;
            let mut word = old;
            for at in side.parts.clone() {
                let part = &shape.parts[at];
                if part.words & changed == 0 {
                    continue;
                }
                let value = &mut places.value[..part.leaf.len()];
                part.leaf.read(state, value);
                let before = part.field(old);
                let field = if part.plain {
                    value[0]
                } else if source.is_some() && self.parts[at].is(before as u32, value) {
                    before
                } else {
                    match self.parts[at].number(&mut places.parts[at], value, mix(value), insert) {
                        Number::Is(number) => u64::from(number),
                        Number::Crowded => return Err(Crowded),
                        Number::Absent => {
                            job.known = false;
                            return Ok(job);
                        }
                    }
                };
                word ^= (before ^ field) << part.shift;
            }
            if source.is_none() || word != old {
                let hash = mix(&[word]);
                job.sides[at] = (word, hash);
                let (recent, number) = places.recent[at][hash as usize % RECENT];
                job.numbers[at] = (recent == word && number != u32::MAX).then_some(number);
                if job.numbers[at].is_none() {
                    self.sides[at].prefetch_place(hash);
                }
            }
        }
        Ok(job)
    }

    /// Finds the numbers of the jobs' sides and asks for the places of their pairs.
    fn finish(&self, places: &mut TreePlaces, jobs: &mut [Job], insert: bool) -> Result<(), Crowded> {
        for (at, nodes) in self.sides.iter().enumerate() {
            for job in jobs.iter().filter(|job| job.known && job.numbers[at].is_none()) {
                nodes.prefetch_likely(job.sides[at].1);
            }
        }
        for job in jobs.iter_mut().filter(|job| job.known) {
            for (at, nodes) in self.sides.iter().enumerate() {
                if job.numbers[at].is_none() {
                    let (word, hash) = job.sides[at];
                    match nodes.number(&mut places.sides[at], &[word], hash, insert) {
                        Number::Is(number) => {
                            job.numbers[at] = Some(number);
                            places.recent[at][hash as usize % RECENT] = (word, number);
                        }
                        Number::Crowded => return Err(Crowded),
                        Number::Absent => job.known = false,
                    }
                }
            }
            if let Some((left, right)) = job.pair() {
                job.present = places.present[place_of(left, right)] == joined(left, right);
                if !job.present {
                    self.pairs.prefetch(left, right);
                }
            }
        }
        Ok(())
    }
}

impl Job {
    /// Nothing is asked.
    fn none() -> Self {
        Job { sides: Default::default(), numbers: [None; 2], known: false, present: false }
    }

    /// The pair, where both numbers are known.
    #[inline]
    fn pair(&self) -> Option<(u32, u32)> {
        if self.known { self.numbers[0].zip(self.numbers[1]) } else { None }
    }
}

/// A pair as one number. None is all ones: numbers end before.
#[inline]
fn joined(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// Where a pair that was met is remembered.
#[inline]
fn place_of(left: u32, right: u32) -> usize {
    (joined(left, right).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize % PRESENT
}

/// Puts states together, each from the one before: what they share is already in place.
struct Reading {
    state: Vec<Word>,
    /// What each part's field held last.
    last: Vec<Option<u64>>,
}

impl Reading {
    fn new(tree: &Tree, width: usize) -> Self {
        Reading { state: vec![0; width], last: vec![None; tree.parts.len()] }
    }

    /// The state of a record.
    fn read(&mut self, tree: &Tree, entry: Entry) -> &[Word] {
        let Some(shape) = &tree.shape else {
            let low = halves(tree.bits).0;
            tree.all.write(&[u64::from(unscramble(entry.right, low)) | u64::from(entry.left) << low], &mut self.state);
            return &self.state;
        };
        for (at, (side, number)) in shape.sides.iter().zip([entry.left, entry.right]).enumerate() {
            let word = tree.sides[at].word(number);
            for part in side.parts.clone() {
                let field = shape.parts[part].field(word);
                if self.last[part].replace(field) != Some(field) {
                    let leaf = &shape.parts[part].leaf;
                    if shape.parts[part].plain {
                        leaf.write(&[field], &mut self.state);
                    } else {
                        leaf.write(tree.parts[part].value(field as u32), &mut self.state);
                    }
                }
            }
        }
        &self.state
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
    /// What was noted as met may not have found room.
    fn forget(&mut self) {
        self.met.iter_mut().for_each(Recent::clear);
    }

    /// Takes places at the tree of this stage.
    fn sit(&mut self, stage: &Stage) {
        if self.generation != stage.generation {
            self.inner = stage.tree.places();
            self.run.0 = usize::MAX;
            self.place.renumbered();
            self.generation = stage.generation;
        }
    }
}

impl Store for TreeStore<'_> {
    fn seat(&self) -> Option<Seat> {
        let stage = self.stage.read().ok()?;
        let mut seat = TreeSeat {
            generation: 0,
            inner: TreePlaces::default(),
            place: Place::default(),
            jobs: Vec::with_capacity(GROUP),
            run: Box::new((usize::MAX, 0, [Entry::default(); RUN])),
            met: None,
            full: false,
        };
        seat.sit(&stage);
        Some(Seat::new(seat))
    }

    fn probe(&self, seat: &mut Seat, candidates: Candidates, visits: &mut Vec<Visit>) {
        visits.clear();
        let (Some(seat), Ok(stage)) = (seat.of::<TreeSeat>(), self.stage.read()) else { return };
        seat.sit(&stage);
        for from in (0..candidates.steps.len()).step_by(GROUP) {
            let until = candidates.steps.len().min(from + GROUP);
            // Nothing is inserted, so nothing is crowded.
            let _ = self.number(&stage, seat, candidates, from..until, None, false);
            visits.extend(seat.jobs.iter().map(|job| match job.pair() {
                Some((left, right)) if stage.tree.pairs.contains(left, right) => Visit::Seen(NO_HANDLE),
                _ => Visit::New(NO_HANDLE),
            }));
        }
    }

    fn insert(&self, seat: &mut Seat, candidates: Candidates, mask: Option<&[bool]>, mut room: u64, visits: &mut Vec<Visit>) {
        visits.clear();
        let Some(seat) = seat.of::<TreeSeat>() else { return };
        let Some(mut stage) = self.again(seat) else { return };
        let mut new = 0;
        'groups: while visits.len() < candidates.steps.len() {
            let from = visits.len();
            let until = candidates.steps.len().min(from + GROUP);
            let insert = room > 0 && !seat.full;
            if self.number(&stage, seat, candidates, from..until, mask, insert).is_err() {
                drop(stage);
                seat.forget();
                seat.full |= !self.make_room();
                let Some(next) = self.again(seat) else { return };
                stage = next;
                continue;
            }
            for index in from..until {
                if mask.is_some_and(|mask| !mask[index]) {
                    visits.push(Visit::Skipped);
                    continue;
                }
                let pair = seat.jobs[index - from].pair();
                if seat.jobs[index - from].present {
                    visits.push(Visit::Seen(NO_HANDLE));
                    continue;
                }
                let Some(visit) = self.visit(&stage, seat, pair, candidates.parent(index), room > 0) else {
                    // The tree may have another shape when this worker has it again, so the rest of the group is numbered again.
                    drop(stage);
                    seat.forget();
                    let grown = pair.is_some_and(|(left, right)| self.grow(left, right, seat.generation));
                    seat.full |= !grown;
                    let Some(next) = self.again(seat) else { return };
                    stage = next;
                    continue 'groups;
                };
                match visit {
                    Visit::New(_) => {
                        room -= 1;
                        new += 1;
                    }
                    Visit::Full => {
                        // What comes after it in the group may be the same state.
                        room = 0;
                        seat.forget();
                        visits.push(visit);
                        continue 'groups;
                    }
                    _ => {}
                }
                visits.push(visit);
            }
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
