//! The tree store: every state, as a tree of parts that are shared between states.
//!
//! Tree compression after Laarman, van de Pol and Weber ("Parallel recursive state compression for free", 2011), with a
//! compact root table after Laarman ("Optimal compression of combinatorial state vectors", 2019). A state's bits are
//! cut into parts. Each part and each combination of parts is kept once and has a number, and a state is the pair of
//! numbers under its root. A step changes few words, so most of its source's numbers stay the same, and only the path
//! from the changed words to the root is looked up.
//!
//! Departures:
//! - The tree has three levels (see `shape`), so that many candidates are looked up level by level while their cache lines are fetched.
//! - Its shape is learnt from the first states and is not the balanced one. Learning rebuilds the store up to three
//!   times, at 4096 states and at eight and sixty-four times as many, and again if a part has more values than its
//!   field can number. Other workers wait meanwhile.
//! - The root table is a set of pairs without handles (see `pairs`). A sequence beside it has the pairs by handle (see
//!   `sequence`). So [`Visit::Seen`] of this store carries no handle.
//! - States of up to 64 bits need no tree: their halves are the pair.

mod nodes;
mod numbering;
mod pairs;
mod sequence;
mod shape;

use crate::memory::recent::Recent;
use crate::rows::{WHOLE, any, as_given, by_segments};
use crate::{Abilities, Account, Candidates, Fidelity, Forget, Handle, Recall, Remember, Seat, StoreRow, Visit, spec};
use nodes::Nodes;
use numbering::{Crowded, Job, Reading, Tree, TreePlaces, joined, place_of};
use pairs::{Pairs, Put};
use sequence::{Entry, NO_PARENT, Place, RUN, Sequence, Unpacked};
use shape::Shape;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{RwLock, RwLockReadGuard};
use wayfarer_space::{Packing, States, Steps, Word};

/// The row of `tree`. The root set knows that a state is there, but not under which number.
pub(crate) static ROW: StoreRow = StoreRow {
    entry: spec::Entry { name: "tree", help: "every state, by parts that states share; pays if states are wide", parameters: &[] },
    abilities: Abilities { locates: false, varying: false, ..WHOLE },
    agree: any,
    least: |_, most| TreeStore::least(most),
    settle: as_given,
    takes: by_segments,
    build: |_, room| Some(Box::new(TreeStore::new(room.packing.clone(), room.account, room.most)?)),
};

/// Candidates whose cache lines are fetched together.
const GROUP: usize = 96;
/// At how many states the shape is learnt first, how much later again, and after how many not any more.
const LEARN: (u64, u64, u64) = (1 << 12, 8, 1 << 18);
/// Work that learning may do: pairs of slices times states of the sample.
const SAMPLING: usize = 1 << 24;
/// Spare bits of fields, at first and if that was too little. If the second is too little too, the shape is the balanced one.
const SPARE: [u32; 2] = [4, 10];
/// The most bytes of recently found states.
const MET: usize = 1 << 17;
/// In place of the handle of a state that was seen.
const NO_HANDLE: Handle = Handle(u32::MAX);

/// Remembers every state by parts that states share.
pub struct TreeStore<'a> {
    packing: Packing,
    account: &'a dyn Account,
    /// The bytes it may hold at most.
    most: usize,
    /// The bytes that recently found states may take for each worker.
    met: usize,
    stage: RwLock<Stage>,
    len: AtomicU64,
    /// At how many states the shape is learnt next.
    learn_at: AtomicU64,
}

/// The parts that are replaced when the shape changes.
struct Stage {
    tree: Tree,
    sequence: Sequence,
    /// Counts the shapes.
    generation: u64,
    /// How often a part had more values than its field can number.
    outgrown: usize,
}

/// A worker's place at the tree store.
struct TreeSeat {
    generation: u64,
    inner: TreePlaces,
    place: Place,
    jobs: Vec<Job>,
    /// The run that was unpacked last and how many records it had.
    run: Box<(usize, usize, Unpacked)>,
    /// States that were found recently and are in the tree.
    met: Option<Recent>,
    full: bool,
}

impl<'a> TreeStore<'a> {
    /// An empty store for states of the given packing. It asks `account` before it grows and never holds more than
    /// about `most` bytes. None if the account has no room to begin, or states vary in width.
    pub fn new(packing: Packing, account: &'a dyn Account, most: usize) -> Option<Self> {
        if packing.is_varying() {
            return None;
        }
        let shape = (packing.bits() > 64).then(|| Shape::balanced(packing.masks()));
        let learn_at = AtomicU64::new(if shape.is_some() { LEARN.0 } else { u64::MAX });
        let tree = Tree::new(shape, &packing, most, account)?;
        let stage = RwLock::new(Stage { tree, sequence: Sequence::new(most), generation: 1, outgrown: 0 });
        Some(TreeStore { packing, account, most, met: (most / 128).min(MET), stage, len: AtomicU64::new(0), learn_at })
    }

    /// The parent of every state, by handle; `NO_PARENT` for start states and for handles without a state.
    pub fn parents(&self) -> Vec<u32> {
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

    /// The bytes of parts and sides, of the set of pairs, and of the sequence.
    pub fn parts(&self) -> [usize; 3] {
        self.stage.read().map_or([0; 3], |stage| {
            let pairs = stage.tree.pairs.bytes();
            [stage.tree.bytes() - pairs, pairs, stage.sequence.bytes()]
        })
    }

    /// The least that a store must be allowed, for a budget of `most` bytes; states of more than 256 words need a little more.
    pub fn least(most: usize) -> usize {
        6 * Nodes::LEAST + 2 * Pairs::least(most) + Sequence::least(most)
    }

    /// Finds the numbers of the candidates of a group. If `insert`, gives numbers to values that have none.
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
                jobs.push(Job::met());
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

    /// Inserts one candidate whose numbers are known. None if the set of pairs must grow first and there is no room for that.
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
        let mut put = stage.tree.pairs.put(left, right);
        while put == Put::Crowded && stage.tree.pairs.grow(left, right, self.account) {
            put = stage.tree.pairs.put(left, right);
        }
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

    /// Gives the tree room for another group; false if there is none.
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

    /// Lets the set of pairs grow, because a pair found no place and there was no room for a larger table: there may be when the tables are freed that
    /// others were copied from. False if there is none.
    #[cold]
    fn grow(&self, left: u32, right: u32, generation: u64) -> bool {
        let Ok(mut stage) = self.stage.write() else { return false };
        stage.generation != generation || (stage.tree.pairs.tidy() && stage.tree.pairs.grow(left, right, self.account))
    }

    /// Frees the tables that others were copied from.
    #[cold]
    fn tidy(&self) {
        if let Ok(mut stage) = self.stage.write()
            && stage.tree.pairs.is_littered()
        {
            stage.tree.pairs.tidy();
        }
    }

    /// Learns the shape from the stored states, if it is time to.
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

    /// Rebuilds the store in a shape that is learnt from the stored states or, if that was not enough, in one that can
    /// number all possible values. False, with nothing changed, if that shape is the old one or there is no room.
    fn reshape(&self, stage: &mut Stage) -> bool {
        let Stage { tree, sequence, generation, outgrown } = stage;
        let shape = match SPARE.get(*outgrown) {
            Some(spare) => Shape::learnt(self.packing.masks(), &self.sample(tree, sequence), *spare),
            None => Shape::balanced(self.packing.masks()),
        };
        if tree.shape.as_ref() == Some(&shape) {
            return false;
        }
        let Some(mut other) = Tree::new(Some(shape), &self.packing, self.most, self.account) else { return false };
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

    /// Takes the lock anew after the tree was changed; none if it cannot be taken any more.
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

impl TreeSeat {
    /// Clears the recently found states, because some of them may not have found room.
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

impl Remember for TreeStore<'_> {
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
                        // A later candidate of the group may be the same state.
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
        let littered = stage.tree.pairs.is_littered();
        drop(stage);
        if littered {
            self.tidy();
        }
        if len >= self.learn_at.load(Ordering::Relaxed) && !seat.full {
            self.learn();
        }
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

impl Recall for TreeStore<'_> {
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
}

impl Forget for TreeStore<'_> {}
