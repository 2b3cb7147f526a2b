//! Breadth-first search on a device, a part of a level at a time. Kernels do the work; here is only where states lie: the level that is expanded and the one
//! that is found in two buffers of the device, and what finds no room there in the host's memory ([`crate::spill`]).

use crate::machine::{Address, DeviceError, Kernel, Machine, Params};
use crate::memory::Memory;
use crate::notes::{KNOWN, Note, Reached, notes};
use crate::running::{SPAN, limit};
use crate::slots::Slots;
use crate::source::Source;
use crate::spill::{Grant, Piece, Spill};
use std::time::Instant;
use wayfarer_space::Word;

/// Places in the counts, as `machine.h` has them.
pub(crate) mod count {
    pub(crate) const NEXT: usize = 0;
    pub(crate) const FOUND: usize = 1;
    pub(crate) const NO_ROOM: usize = 2;
    pub(crate) const SPILLED: usize = 3;
    pub(crate) const NOTED: usize = 4;
    pub(crate) const LIMITED: usize = 5;
    pub(crate) const ARENA: usize = 6;
    pub(crate) const SKIPPED: usize = 7;
    pub(crate) const STEPS: usize = 8;
    pub(crate) const ENDED: usize = 9;
    pub(crate) const STUCK: usize = 10;
    pub(crate) const LONGEST: usize = 11;
    pub(crate) const GOAL_AT: usize = 12;
    pub(crate) const ACTIVE: usize = 13;
    pub(crate) const INSERTED: usize = 14;
    pub(crate) const LEVELS_DONE: usize = ACTIVE;
    pub(crate) const FOUND_BEFORE: usize = INSERTED;
    pub(crate) const REACHED: usize = 16;
}

/// Notes that find room between two rounds.
pub(crate) const NOTES: u64 = 4096;
/// Sources of the first kernel.
const FIRST_PART: u64 = 1 << 17;
/// The most states of a level that one block of lanes expands by itself, one level after the other: starting a kernel for each would take longer.
const NARROW: u64 = 1024;
/// The most levels that it expands.
const MOST_LEVELS: u64 = 2048;

/// The goals of a search.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Properties whose failure is noted, as bits.
    pub judged: Vec<u64>,
    /// Properties whose reaching is noted, as bits.
    pub sought: Vec<u64>,
    /// When a state is a deadlock: 0 never, 1 where no rule is enabled, 2 where none leads to another state.
    pub deadlock: u64,
    /// Whether faults are noted.
    pub faults: bool,
    /// Rules whose firing is noted, as bits; none if it is empty.
    pub rules: Vec<u64>,
    /// Whether each thing is noted only when it is met for the first time.
    pub once: bool,
    /// Whether a search by levels counts how often it visits each state. Its kernels must be made for that.
    pub profile: bool,
}

impl Asked {
    /// The bits that kernels are given, and whether rules are among them.
    pub(crate) fn words(&self, properties: usize, rules: usize) -> (Vec<u64>, u64) {
        let mut words = self.judged.clone();
        words.resize(properties, 0);
        words.extend(&self.sought);
        words.resize(2 * properties, 0);
        words.extend(&self.rules);
        words.resize(2 * properties + rules.div_ceil(64).max(1), 0);
        (words, u64::from(!self.rules.is_empty()))
    }
}

/// The results of a round.
#[derive(Clone, Debug, Default)]
pub struct Round {
    /// States that were new.
    pub fresh: u64,
    /// Sources that were expanded.
    pub expanded: u64,
    /// The notes; fewer than [`Round::noted`] if there was no room for all.
    pub notes: Vec<Note>,
    /// How many notes there were.
    pub noted: u64,
    /// Whether the level is done and the next one begins.
    pub ends_level: bool,
    /// Levels that were done before the one that the rest is about.
    pub levels_before: u32,
}

/// The totals of all rounds.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// States that were new.
    pub states: u64,
    /// How often each rule fired.
    pub firings: Vec<u64>,
    /// Firings that an assumption discarded.
    pub discarded: u64,
    /// States that found no room in the store.
    pub lost: u64,
    /// States that found no room in the frontier.
    pub spilled: u64,
    /// A rule and a fault that is a limit of representation.
    pub limit: Option<(u32, u32)>,
    /// Properties that were reached, as bits.
    pub reached: Reached,
    /// Bytes of states that lie in the host's memory.
    pub waiting_bytes: u64,
}

/// Breadth-first search on a device.
pub struct Levels<'m> {
    pub(crate) machine: &'m dyn Machine,
    pub(crate) memory: Memory<'m>,
    pub(crate) params: Params,
    pub(crate) tight: usize,
    /// Words that a level has of each state: the state itself, or its place in the arena.
    pub(crate) entry: usize,
    slots: Slots,
    /// Counts and firings as they were read last.
    pub(crate) counts: Vec<u64>,
    firings_at: usize,
    /// The level's part on the device: how many states, how many of them are expanded, and how many of the level lie before them.
    input: u64,
    cursor: u64,
    before: u64,
    /// The part of the level, and of the next one, that lies in the host's memory.
    pub(crate) spill: Spill<'m>,
    waiting: Vec<Piece>,
    next_waiting: Vec<Piece>,
    /// States that found no room there, either.
    unplaced: u64,
    found: u64,
    found_in_host: u64,
    states: u64,
    part: u64,
    /// New states that a source led to in the last round.
    yields: f64,
    /// How many states there were when bits of fingerprints were given up.
    halved_at: Option<u64>,
    /// The most states of a level that one block expands by itself: none if each takes long, as representatives do.
    narrow: u64,
}

impl<'m> Levels<'m> {
    /// A search with an empty store in so many bytes of the device's memory.
    pub fn new(machine: &'m dyn Machine, source: &Source, slots: Slots, bytes: u64, asked: &Asked) -> Result<Self, DeviceError> {
        let (tight, rules, words) = (source.tight, source.rules as usize, (source.properties as usize).div_ceil(64).max(1));
        let firings_at = count::REACHED + words;
        let (counts, notes) = (((firings_at + rules) * 8) as u64, NOTES * (tight as u64 + 2) * 8);
        let memory = Memory::new(machine, tight as u64, slots, bytes, counts, notes, asked.profile)?;
        let entry = if slots == Slots::Arena { 1 } else { tight };
        let (judged, seeks) = asked.words(words, rules);
        let small = memory.small(judged.len() as u64 + tight as u64)?;
        machine.write(small, &judged)?;
        let known = if asked.once { memory.small(KNOWN)? } else { Address(0) };
        let spill = Spill::new(machine, memory.buffer_words);
        let params = Params {
            output_stride: entry as u64,
            input_stride: entry as u64,
            table: memory.table,
            buckets: memory.buckets,
            arena: memory.arena,
            arena_room: memory.arena_room,
            counts: memory.counts,
            firings: memory.counts.plus(firings_at as u64),
            notes: memory.notes,
            notes_room: NOTES,
            judged: small,
            goal: small.plus(judged.len() as u64),
            deadlock: asked.deadlock,
            faults: u64::from(asked.faults),
            seeks,
            known,
            visits: memory.visits,
            ..Params::default()
        };
        Ok(Levels {
            machine,
            memory,
            params,
            tight,
            entry,
            slots,
            counts: vec![0; firings_at + rules],
            firings_at,
            input: 0,
            cursor: 0,
            before: 0,
            spill,
            waiting: Vec::new(),
            next_waiting: Vec::new(),
            unplaced: 0,
            found: 0,
            found_in_host: 0,
            states: 0,
            part: FIRST_PART,
            yields: 4.0,
            halved_at: None,
            narrow: if source.symmetric { 0 } else { NARROW },
        })
    }

    /// Asks before memory of the host is taken for states that find no room on the device.
    pub fn asking(mut self, grant: Grant<'m>) -> Self {
        self.spill.asks(grant);
        self
    }

    /// Bytes of the host's memory that were taken.
    pub fn host_bytes(&self) -> u64 {
        self.spill.bytes()
    }

    /// Forgets everything and brings in tight states, which are the first level.
    pub fn start(&mut self, states: &[Word]) -> Result<Round, DeviceError> {
        self.memory.clear()?;
        (self.params.table, self.params.buckets) = (self.memory.table, self.memory.buckets);
        self.counts.fill(0);
        if self.params.known != Address(0) {
            self.machine.zero(self.params.known, KNOWN * 8)?;
        }
        let waited = std::mem::take(&mut self.waiting).into_iter().chain(std::mem::take(&mut self.next_waiting));
        waited.for_each(|piece| self.spill.give_back(piece));
        self.unplaced = 0;
        (self.input, self.cursor, self.before, self.found, self.found_in_host, self.states) = (0, 0, 0, 0, 0, 0);
        (self.params.input_stride, self.params.output_stride) = (self.entry as u64, self.entry as u64);
        let mut round = Round { ends_level: true, ..Round::default() };
        // The buffer that takes them in is the one that is expanded later.
        let most = (self.memory.buffer_words / self.tight as u64).max(1) as usize * self.tight;
        for some in states.chunks(most) {
            self.spill_if_full((some.len() / self.tight) as u64)?;
            self.grow_for((some.len() / self.tight) as u64)?;
            self.machine.write(self.memory.buffers[0], some)?;
            let (input, end) = (self.memory.buffers[0], (some.len() / self.tight) as u64);
            let input_stride = self.tight as u64;
            let params = Params { input, input_stride, end, output: self.memory.buffers[1], room: self.room(), ..self.params };
            self.machine.run(Kernel::Start, &params, end)?;
            let more = self.after(end)?;
            round.fresh += more.fresh;
            round.notes.extend(more.notes);
            round.noted += more.noted;
        }
        self.next_level();
        Ok(round)
    }

    /// How many states of the level wait to be expanded.
    pub fn frontier(&self) -> u64 {
        self.input - self.cursor + self.waiting.iter().map(|piece| piece.states).sum::<u64>() + self.found + self.found_in_host
    }

    /// Expands a part of the level. A level that is done is exchanged for the next one.
    pub fn round(&mut self) -> Result<Round, DeviceError> {
        if self.cursor == self.input
            && let Some(piece) = self.waiting.pop()
        {
            self.before += self.input;
            (self.input, self.cursor) = (piece.states, 0);
            self.spill.fetch(&piece, self.memory.buffers[0], self.params.input_stride)?;
            self.spill.give_back(piece);
        }
        let from = self.cursor;
        let end = self.input.min(from + self.part);
        self.grow_for(end - from)?;
        let begun = Instant::now();
        if end > from {
            let (room, reserve) = (self.room(), self.reserve());
            let (input, output, origin) = (self.memory.buffers[0], self.memory.buffers[1], self.before);
            let params = Params { input, output, end, room, reserve, origin, ..self.params };
            self.machine.write(self.params.counts.plus(count::NEXT as u64), &[from])?;
            self.machine.run(Kernel::Expand, &params, end - from)?;
        }
        let mut round = self.after(end)?;
        round.expanded = self.cursor - from;
        if round.expanded > 0 {
            self.yields = round.fresh as f64 / round.expanded as f64;
        }
        let took = begun.elapsed();
        if took < SPAN / 2 && end - from == self.part {
            self.part = (self.part * 2).min(1 << 32);
        } else if took > SPAN * 2 {
            self.part = (self.part / 2).max(4096);
        }
        let left = self.cursor < self.input || !self.waiting.is_empty();
        self.spill_if_full(if left { self.reserve() } else { 0 })?;
        if !left {
            self.next_level();
            round.ends_level = true;
        }
        Ok(round)
    }

    /// The same. Levels that are narrow are expanded one after the other in one round, up to so many, up to one that is not narrow, or in which something shows.
    pub fn leap(&mut self, most: u64) -> Result<Round, DeviceError> {
        let narrow = self.input - self.cursor <= self.narrow && self.cursor == 0 && self.waiting.is_empty() && self.found == 0;
        let narrow_room = NARROW * self.reserve_of_one() <= self.room();
        if !narrow || !narrow_room || self.input == 0 || most < 2 {
            return self.round();
        }
        self.grow_for(NARROW * MOST_LEVELS)?;
        let (input, output) = (self.memory.buffers[0], self.memory.buffers[1]);
        let (end, room) = (self.input, self.room());
        let params = Params { input, output, end, room, reserve: 0, levels: MOST_LEVELS.min(most).max(2), narrow: NARROW, ..self.params };
        self.machine.write(self.params.counts.plus(count::NEXT as u64), &[0])?;
        self.machine.write(self.params.counts.plus(count::LEVELS_DONE as u64), &[0, 0])?;
        // As many items as one block has lanes.
        self.machine.run(Kernel::Expand, &params, 1)?;
        let mut round = self.after(end)?;
        let (done, before) = (self.counts[count::LEVELS_DONE].max(1), self.counts[count::FOUND_BEFORE]);
        self.states += before;
        round.fresh += before;
        round.levels_before = (done - 1) as u32;
        round.ends_level = true;
        if done.is_multiple_of(2) {
            // The states found last lie where the first sources lay.
            self.memory.buffers.swap(0, 1);
        }
        self.cursor = self.input;
        self.next_level();
        Ok(round)
    }

    /// The most states that the expansion of one state can find.
    fn reserve_of_one(&self) -> u64 {
        (self.counts.len() - self.firings_at).max(1) as u64
    }

    /// The totals of all rounds.
    pub fn totals(&self) -> Totals {
        let bytes = |pieces: &[Piece], stride: u64| pieces.iter().map(|piece| piece.states * stride * 8).sum::<u64>();
        Totals {
            states: self.states,
            firings: self.counts[self.firings_at..].to_vec(),
            discarded: self.counts[count::SKIPPED],
            lost: self.counts[count::NO_ROOM],
            spilled: self.counts[count::SPILLED] + self.unplaced,
            limit: limit(self.counts[count::LIMITED]),
            reached: Reached(self.counts[count::REACHED..self.firings_at].to_vec()),
            waiting_bytes: bytes(&self.waiting, self.params.input_stride) + bytes(&self.next_waiting, self.params.output_stride),
        }
    }

    /// Moves the states to a larger table before the one they lie in is too full for what so many sources may lead to.
    fn grow_for(&mut self, sources: u64) -> Result<(), DeviceError> {
        let slots = (self.memory.buckets * self.slots.per_bucket()) as f64;
        let expected = sources as f64 * self.yields.max(0.5) * 2.0;
        if !self.memory.can_grow() || self.states as f64 + expected < 0.75 * slots {
            return Ok(());
        }
        let (input, end) = self.memory.grow()?;
        (self.params.table, self.params.buckets) = (self.memory.table, self.memory.buckets);
        self.machine.run(Kernel::Grow, &Params { input, end, ..self.params }, end / 8)
    }

    /// Whether the store has so little room left that it is no longer worth going on.
    pub fn is_full(&self) -> bool {
        match self.slots {
            Slots::Word | Slots::Pair if self.memory.can_grow() => false,
            Slots::Bits => false,
            Slots::Arena => self.counts[count::ARENA] >= self.params.arena_room,
            _ => self.load() > 0.97,
        }
    }

    /// The share of the store's slots that are taken; for a Bloom filter, states for each of its bits.
    pub fn load(&self) -> f64 {
        self.states as f64 / (self.memory.buckets * self.slots.per_bucket()) as f64
    }

    /// How many states are expected to have been taken for others.
    pub fn expected_omissions(&self) -> f64 {
        let expected = |slots: Slots, states| slots.expected_omissions(states, self.memory.buckets);
        // Until bits were given up, fingerprints had all of them.
        self.halved_at.map_or_else(
            || expected(self.slots, self.states),
            |at| expected(Slots::Fingerprint, at) + (expected(self.slots, self.states) - expected(self.slots, at)).max(0.0),
        )
    }

    /// Whether giving up bits of fingerprints would make room.
    pub fn can_halve(&self) -> bool {
        self.slots == Slots::Fingerprint
    }

    /// Gives up half of the bits of all fingerprints, and goes on with kernels that compare the other half.
    pub fn halve(&mut self, machine: &'m dyn Machine) -> Result<(), DeviceError> {
        self.machine = machine;
        self.slots = Slots::HalfFingerprint;
        self.halved_at = Some(self.states);
        self.machine.run(Kernel::Halve, &self.params, self.memory.buckets)
    }

    /// Bytes of the device's memory that the store has.
    pub fn store_bytes(&self) -> u64 {
        self.memory.store_bytes()
    }

    /// States that find room in a buffer.
    fn room(&self) -> u64 {
        self.memory.buffer_words / self.params.output_stride
    }

    /// The room kept for states that all lanes may find. If less is left, they take no more sources.
    fn reserve(&self) -> u64 {
        let rules = (self.counts.len() - self.firings_at).clamp(1, 64) as u64;
        (self.machine.lanes() * rules).min(self.room() / 2)
    }

    /// Reads what a kernel counted and noted.
    fn after(&mut self, end: u64) -> Result<Round, DeviceError> {
        let before = self.counts[count::FOUND];
        self.machine.read(self.params.counts, &mut self.counts)?;
        self.cursor = self.counts[count::NEXT].min(end);
        self.found = self.counts[count::FOUND].min(self.room());
        let fresh = self.counts[count::FOUND] - before;
        self.states += fresh;
        let noted = self.counts[count::NOTED];
        let mut list = Vec::new();
        if noted > 0 {
            let mut words = vec![0; noted.min(NOTES) as usize * (self.tight + 2)];
            self.machine.read(self.params.notes, &mut words)?;
            self.machine.write(self.params.counts.plus(count::NOTED as u64), &[0])?;
            list = notes(&words, self.tight);
        }
        Ok(Round { fresh, notes: list, noted, ..Round::default() })
    }

    /// Moves what was found to the host where fewer than `wanted` would find room.
    fn spill_if_full(&mut self, wanted: u64) -> Result<(), DeviceError> {
        let room = self.room();
        if self.found == 0 || self.found + wanted <= room {
            return Ok(());
        }
        let unplaced = self.spill.put(self.memory.buffers[1], self.found, self.params.output_stride, &mut self.next_waiting)?;
        self.found_in_host += self.found - unplaced;
        self.unplaced += unplaced;
        (self.found, self.counts[count::FOUND]) = (0, 0);
        self.machine.write(self.params.counts.plus(count::FOUND as u64), &[0])
    }

    /// Exchanges the level for the next one.
    fn next_level(&mut self) {
        self.memory.buffers.swap(0, 1);
        self.params.input_stride = self.params.output_stride;
        (self.input, self.cursor, self.before) = (self.found, 0, 0);
        self.waiting = std::mem::take(&mut self.next_waiting);
        (self.found, self.found_in_host) = (0, 0);
        self.counts[count::FOUND] = 0;
        // A failed write shows in the next round.
        let _ = self.machine.write(self.params.counts.plus(count::FOUND as u64), &[0]);
    }

    /// The address of the level's part on the device, its number of states, and the pieces in the host's memory.
    pub(crate) fn level(&self) -> (Address, u64, &[Piece]) {
        (self.memory.buffers[0], self.input, &self.waiting)
    }

    /// The contents of the store's slots.
    pub fn slots(&self) -> Slots {
        self.slots
    }

    /// The parameters of a kernel that looks for states in the store.
    pub(crate) fn judging(&self, params: Params) -> Params {
        let Params { table, buckets, arena, arena_room, salt, .. } = self.params;
        Params { table, buckets, arena, arena_room, salt, ..params }
    }

    /// For each i, the number of states that were visited at least 2^i and fewer than 2^(i+1) times.
    pub fn profile(&self) -> Result<Vec<u64>, DeviceError> {
        if self.params.visits == Address(0) {
            return Ok(Vec::new());
        }
        let (mut bins, slots) = (vec![0; 32], self.memory.buckets * self.slots.per_bucket());
        let output = self.memory.small(32)?;
        self.machine.write(output, &bins)?;
        self.machine.run(Kernel::Profile, &Params { end: slots, output, ..self.params }, slots)?;
        self.machine.read(output, &mut bins)?;
        bins.truncate(bins.iter().rposition(|bin| *bin > 0).map_or(0, |last| last + 1));
        Ok(bins)
    }

    /// A tight state from what a level has of it.
    pub(crate) fn state_of(&self, entry: &[Word]) -> Result<Vec<Word>, DeviceError> {
        if self.slots != Slots::Arena {
            return Ok(entry.to_vec());
        }
        let mut state = vec![0; self.tight];
        self.machine.read(self.params.arena.plus(entry[0] * self.tight as u64), &mut state)?;
        Ok(state)
    }
}
