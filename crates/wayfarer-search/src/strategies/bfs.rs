//! Breadth-first search: level by level, so that the first violation found has a shortest witness.
//!
//! There is one such search. Its waiting states lie in a [`Frontier`], by handles or as states. Each worker of a
//! [crew](crate::crew) has a part of it, and all meet at the end of a level. A single worker goes on to the next level
//! by itself.

use super::batch::Batch;
use super::{Crewing, Nature, OnDevice, Row, SYSTEMATIC, exact};
use crate::crew::{Crew, Lifted, Load, Met};
use crate::frontier::{Board, Frontier, Pool, Shared, hands};
use crate::{Account, Candidates, Ground, Limits, Meeting, Position, Selection, Stop, Store, Strategy, Visit};
use std::sync::Arc;
use wayfarer_space::{Packing, Word};
use wayfarer_store::spec::Entry;

pub(super) static ROW: Row = Row {
    entry: Entry { name: "bfs", help: "breadth-first: level by level, so that witnesses are shortest", parameters: &[] },
    store: exact,
    nature: |_| Nature { crewing: Crewing::Together, by_levels: true, device: OnDevice::Levels, ..SYSTEMATIC },
    build: |_, site| {
        let can = site.store.abilities();
        match can.recalls && can.in_order {
            true => Box::new(Bfs::new(site.limits).asking(site.account)),
            false => Box::new(Bfs::queued(site.limits, site.packing.clone(), site.account)),
        }
    },
};

/// The most states expanded per round: enough that a round's fixed cost does not show. Fewer if there is not [`ROOM`] for each worker's rounds.
const BATCH: u32 = 256;
const SMALL_BATCH: u32 = 64;
const ROOM: usize = 128 << 20;

/// Selecting does not depend on what the last rounds find. So they lag behind by two: their states' places, then the states themselves, are fetched while
/// the next rounds are expanded.
const LAG: usize = 2;
/// If a state has at least this many successors, rounds take so much memory that they no longer lag behind, and a crew
/// checks that its budget has room for a round of every worker. `STEP` is the bytes of a step without its state,
/// including growth by doubling.
const MANY: usize = 4096;
const STEP: usize = 160;
/// The steps that an ordinary round comes to have room for, as a rule, and the bytes of each without its state.
const ROWS: usize = 4096;
const BESIDES: usize = 64;
/// After so many rounds, a worker's rounds are as large as they will be.
const SETTLED: usize = 1024;
/// The share of a large round's memory that a worker may take in addition while it works.
const GROWS: usize = 4;

/// The work of a level that is worth waking a worker for: words written while its states are expanded, about.
const FEED: u64 = 2048;
/// Words that a step counts for besides those of its state.
const STEP_WORDS: usize = 3;

/// Breadth-first search of one worker, alone or in a crew.
pub struct Bfs<'a> {
    frontier: Box<dyn Frontier + 'a>,
    crew: Option<&'a Crew>,
    /// The memory of large rounds, if someone keeps it within a budget.
    load: Option<&'a Load<'a>>,
    /// What it was promised for this level.
    lifted: Lifted,
    /// The bytes that are promised to it until its ordinary rounds have their size.
    growing: Option<Growing>,
    /// Who allows memory for noting by which rules states are reached, and whether they are noted.
    account: Option<&'a dyn Account>,
    notes: bool,
    worker: usize,
    /// Whether the others of the crew were not called to this level.
    alone: bool,
    /// Whether it also counts the shared part.
    leads: bool,
    level: Level,
    /// States that were selected and not yet dealt with.
    under_way: u64,
    /// States left unexpanded because of the depth limit.
    beyond: u64,
    limit: u32,
    batch: Batch,
    /// Levels that were begun, those included that others expanded while this worker slept.
    turns: u64,
    /// The work that a state makes, about.
    weight: u64,
    /// Whether a state may have many successors: it is not known yet, or the last one had.
    heavy: bool,
    shift: Shift,
}

/// Whether a worker of a crew makes rounds in this level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shift {
    /// That is not decided yet.
    Open,
    Works,
    /// The others do its work.
    Rests,
}

/// The position of a search.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Level {
    /// The depth of the level that is being expanded.
    pub(crate) depth: u32,
    /// The deepest level that had states.
    pub(crate) deepest: u32,
    /// Whether there was a level. Before the first, the states found are start states, at depth 0.
    pub(crate) begun: bool,
}

/// How far the ordinary rounds of a worker have grown: they are used in turn.
#[derive(Clone, Copy, Default)]
struct Growing {
    /// Bytes that are promised and not held yet.
    left: usize,
    /// The bytes of each.
    held: [usize; LAG + 1],
    rounds: usize,
}

impl Growing {
    /// Bytes that are still to be promised after a round that has room for `bytes`.
    fn after(&mut self, bytes: usize) -> usize {
        let held = &mut self.held[self.rounds % (LAG + 1)];
        let more = bytes.saturating_sub(*held);
        *held = bytes;
        self.rounds += 1;
        if self.rounds < SETTLED { self.left.saturating_sub(more) } else { 0 }
    }
}

impl<'a> Bfs<'a> {
    /// The bytes that the ordinary rounds of a worker take, about, if the frontier holds states.
    pub(crate) fn ordinary(packing: &Packing) -> usize {
        let masks = packing.masks();
        (LAG + 1) * (ROWS / Batch::weight(masks.len())).max(1) * (size_of_val(masks) + BESIDES)
    }

    /// A search over a store that gives states back in the order of insertion; it does not expand states at `limits.depth` and beyond.
    pub fn new(limits: &Limits) -> Self {
        Bfs::part(Board::new(1, None).part(0), 0, (None, None), Level::default(), limits)
    }

    /// A search that keeps the waiting states itself, for stores that do not give them back. It asks `account` before its frontier grows.
    pub fn queued(limits: &Limits, packing: Packing, account: &'a dyn Account) -> Self {
        Bfs::part(Arc::new(Pool::new(packing, account, 1)).part(0), 0, (None, None), Level::default(), limits).within(account)
    }

    /// One worker's part of a search, in a crew or alone.
    pub(crate) fn part(
        frontier: Box<dyn Frontier + 'a>,
        worker: usize,
        (crew, load): (Option<&'a Crew>, Option<&'a Load<'a>>),
        level: Level,
        limits: &Limits,
    ) -> Self {
        Bfs {
            frontier,
            crew,
            load,
            lifted: Lifted::default(),
            growing: None,
            account: None,
            notes: false,
            worker,
            alone: crew.is_none(),
            leads: worker == 0,
            level,
            under_way: 0,
            beyond: 0,
            limit: limits.depth,
            batch: Batch::new(SMALL_BATCH),
            turns: 0,
            weight: 1,
            heavy: true,
            shift: Shift::Open,
        }
    }

    /// The same, which may take memory from this account for what it need not remember.
    pub(crate) fn asking(self, account: &'a dyn Account) -> Self {
        Bfs { account: Some(account), ..self.within(account) }
    }

    /// The same with larger rounds, if the account has room for those of all workers.
    fn within(self, account: &dyn Account) -> Self {
        let workers = self.crew.map_or(1, Crew::workers);
        Bfs { batch: Batch::new(if account.allows(workers * ROOM) { BATCH } else { SMALL_BATCH }), ..self }
    }

    /// The same, with so much memory promised for its ordinary rounds until they have grown: others would take it meanwhile. If that is less than they usually
    /// take, they are smaller.
    pub(crate) fn reserving(mut self, bytes: usize, packing: &Packing) -> Self {
        if bytes > 0 {
            self.batch = self.batch.within(bytes, Bfs::ordinary(packing));
        }
        let load = self.load.filter(|_| bytes > 0);
        self.growing = load.map(|load| Growing { left: load.promise(bytes), ..Growing::default() });
        self
    }

    /// A round has room for so many bytes; without one, nothing is promised any more.
    fn grow(&mut self, round: Option<usize>) {
        let (Some(growing), Some(load)) = (&mut self.growing, self.load) else { return };
        let left = round.map_or(0, |bytes| growing.after(bytes));
        load.settle(growing.left - left);
        growing.left = left;
        self.growing = self.growing.filter(|growing| growing.left > 0);
    }

    /// The worker is done: gives its unexpanded states to the others. Returns the level, and the number of states that wait at this worker alone.
    pub(crate) fn leave(mut self) -> (Level, u64) {
        self.rest();
        self.grow(None);
        self.frontier.leave();
        (self.level, self.own())
    }

    fn own(&self) -> u64 {
        self.frontier.own() + self.under_way + self.beyond
    }

    /// The depth of the states that are being found.
    fn next(&self) -> u32 {
        self.level.depth + u32::from(self.level.begun)
    }

    /// Goes on to the level of this number, and says how many states it has.
    fn turn(&mut self, turn: u64) -> u64 {
        // Levels that others expanded alone lie in between.
        let passed = (turn - self.turns - 1) as u32;
        self.turns = turn;
        let depth = self.next() + passed;
        let states = self.frontier.turn(turn, depth, self.feed());
        let deepest = match (states, passed) {
            (1.., _) => depth,
            (0, 1..) => depth - 1,
            (0, 0) => self.level.deepest,
        };
        self.level = Level { depth, deepest, begun: true };
        states
    }

    /// The same after a meeting, if this worker did not do so there.
    fn arrive(&mut self, met: Met) -> u64 {
        self.alone = met.called == 1;
        if met.meetings > self.turns { self.turn(met.meetings) } else { self.frontier.level_states() }
    }

    /// States that are worth waking a worker for.
    fn feed(&self) -> u64 {
        (FEED / self.weight).max(1)
    }

    /// How many workers a level of so many states feeds: everyone if nothing is left to do, which all have to learn.
    fn fed(&self, states: u64, workers: usize) -> usize {
        if states == 0 { workers } else { hands(states, self.feed(), workers) }
    }

    /// Goes on to the next level without the others if there are none or the level does not feed them. Says whether it did.
    fn turn_alone(&mut self) -> bool {
        let found = self.frontier.found();
        if self.under_way > 0 || found == 0 {
            return false;
        }
        let turn = match self.crew {
            None => Some(self.turns + 1),
            Some(crew) if self.alone && self.fed(found, crew.workers()) == 1 => crew.go_on_alone(),
            Some(_) => None,
        };
        let Some(turn) = turn else { return false };
        self.frontier.hand_over();
        self.turn(turn);
        true
    }

    /// Whether this worker makes rounds in this level. The first of a crew always does.
    fn works(&mut self) -> bool {
        if self.shift == Shift::Open {
            let room = self.load.map_or(Some(Lifted::default()), |load| if self.leads { Some(load.lift_anyway()) } else { load.lift() });
            self.lifted = room.unwrap_or_default();
            self.shift = if room.is_some() { Shift::Works } else { Shift::Rests };
        }
        self.shift == Shift::Works
    }

    /// The level is over, and nothing of this worker's rounds is left.
    fn rest(&mut self) {
        let lifted = std::mem::take(&mut self.lifted);
        if let Some(load) = self.load {
            load.lower(lifted);
        }
        self.shift = Shift::Open;
    }

    /// The worker holds what it was promised, or does without, except for the last `left` bytes of it.
    fn keep(&mut self, left: usize) {
        let promised = self.lifted.promised;
        let Some(load) = self.load.filter(|_| promised > left) else { return };
        load.settle(promised - left);
        self.lifted.promised = left;
    }

    fn take(&mut self, store: &dyn Store, selection: &mut Selection) {
        if !self.works() {
            return;
        }
        if self.level.depth >= self.limit {
            self.beyond += self.frontier.pass_over();
        } else {
            self.frontier.take(store, self.batch.states(), selection);
        }
    }
}

impl Strategy for Bfs<'_> {
    fn select(&mut self, store: &dyn Store, selection: &mut Selection) {
        self.take(store, selection);
        if selection.handles.is_empty() && self.turn_alone() {
            self.take(store, selection);
        }
        self.under_way += selection.handles.len() as u64;
    }

    fn note_arrivals(&mut self) {
        self.notes = true;
    }

    fn lag(&self) -> usize {
        LAG
    }

    fn ahead(&self) -> usize {
        if self.heavy { 0 } else { LAG }
    }

    fn update(&mut self, selection: &Selection, kept: usize, candidates: Candidates, visits: &[Visit]) {
        self.frontier.put(selection, kept, candidates, visits, self.account.filter(|_| self.notes));
        self.under_way -= selection.handles.len() as u64;
        let (sources, steps) = (selection.handles.len(), candidates.steps.len());
        let words = if steps > 0 { candidates.steps.states.get(0).len() } else { 0 };
        if sources > 0 {
            self.weight = (steps * (words + STEP_WORDS)).div_ceil(sources).max(1) as u64;
            self.heavy = steps > MANY && sources == 1;
            if let Some(load) = self.load.filter(|_| self.heavy) {
                load.weigh(steps * (size_of_val(candidates.steps.states.get(0)) + STEP));
            }
            if self.growing.is_some() {
                self.grow(Some(candidates.steps.capacity_bytes()));
            }
            // A later round may be larger, and the frontier grows within one.
            self.keep(self.load.map_or(0, Load::weight) / GROWS);
        }
        self.batch.learn_wide(sources, steps, words);
    }

    fn trail(&self, _ground: Ground, selection: &Selection, source: usize) -> Option<Vec<Vec<Word>>> {
        self.frontier.trail(selection, source)
    }

    fn at_border(&self) -> bool {
        self.alone && self.under_way == 0 && self.frontier.is_level_done()
    }

    fn meet(&mut self, found: usize, ask: &mut dyn FnMut() -> Option<Stop>) -> Meeting {
        let Some(crew) = self.crew else { return Meeting::Over };
        self.rest();
        self.frontier.hand_over();
        let met = crew.meet(self.worker, found, ask, &mut |turn| {
            let states = self.turn(turn);
            self.fed(states, crew.workers())
        });
        match met {
            Err(stop) => Meeting::Stop(stop),
            Ok(met) => match self.arrive(met) {
                _ if met.enough => Meeting::Stop(Stop::Violations),
                0 => Meeting::Over,
                _ => Meeting::On,
            },
        }
    }
}

impl Position for Bfs<'_> {
    fn full(&self) -> bool {
        self.frontier.is_full()
    }

    fn level(&self) -> Option<u32> {
        Some(self.level.depth)
    }

    fn depth(&self) -> Option<u32> {
        let found = if self.frontier.found() > 0 { self.next() } else { 0 };
        Some(self.level.deepest.max(found))
    }

    fn frontier(&self) -> u64 {
        let shared = if self.leads { self.frontier.shared() } else { 0 };
        self.own() + shared
    }

    fn beyond_depth(&self) -> u64 {
        self.beyond
    }

    fn exhaustive(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_promised_to_rounds_falls_as_they_grow() {
        let mut growing = Growing { left: 100, ..Growing::default() };
        // Three rounds are used in turn.
        let mut after = |bytes| {
            growing.left = growing.after(bytes);
            growing.left
        };
        assert_eq!([after(10), after(10), after(10), after(10), after(30), after(10)], [90, 80, 70, 70, 50, 50]);
        assert_eq!(after(90), 0, "never less than nothing");
        let mut growing = Growing { left: 100, ..Growing::default() };
        assert_eq!((1..SETTLED).map(|_| growing.after(0)).min(), Some(100));
        assert_eq!(growing.after(0), 0, "rounds that stay small need no more");
    }
}
