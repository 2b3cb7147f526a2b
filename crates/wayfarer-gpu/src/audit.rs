//! The walks of an audit on a device: each is a function of its stream, keeps one state, and is judged by the store of the search that it audits. Their laws
//! are those of the audit on the CPU.

use crate::levels::{Asked, Levels, count};
use crate::machine::{DeviceError, Kernel, Machine, Params};
use crate::notes::{What, what};
use crate::running::Running;
use crate::source::Source;
use wayfarer_space::Word;

/// Words of a note besides the state.
const NOTE: usize = 6;
/// Words that are kept of a walk besides its state.
const KEPT: u64 = 5;

/// How a step is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// Uniform over the enabled firings.
    Firings,
    /// Uniform over the set of successors.
    States,
    /// Uniform over the firings of the higher of two priorities that lead to another state, or of the lower one if there are none.
    Priorities,
}

/// The parameters of walks.
#[derive(Clone, Copy, Debug)]
pub struct Walking<'a> {
    /// How a step is drawn.
    pub law: Law,
    /// The key of the stream from which the walks' streams are split.
    pub key: u64,
    /// For each walk the step whose state it keeps, and where the counter of its stream stands.
    pub walks: &'a [(u32, u64)],
    /// Start states in the working layout.
    pub starts: &'a [Word],
}

/// Something that a walk met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnWalk {
    /// The number of the walk.
    pub walk: u64,
    /// Steps from its start to the state in which it shows, or to the one before.
    pub steps: u64,
    /// The finding.
    pub what: What,
    /// The tight successor of that state in which it shows, if it is not that state.
    pub successor: Option<Vec<Word>>,
}

/// The outcomes of all walks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// Walks that came to their end.
    pub finished: u64,
    /// Those of them whose state is not in the store.
    pub missing: u64,
    /// Steps of all walks.
    pub steps: u64,
}

/// The walks of an audit.
pub struct Audit<'m> {
    running: Running<'m>,
    walks: Vec<(u32, u64)>,
    words: u64,
    tight: usize,
}

impl<'m> Audit<'m> {
    /// Walks that have not begun. `machine` has the kernels of an audit over the store of `levels`.
    pub fn new(machine: &'m dyn Machine, source: &Source, levels: &Levels, walking: Walking, asked: &Asked) -> Result<Self, DeviceError> {
        let count = walking.walks.len() as u64;
        let words = KEPT + source.words as u64;
        let mut running = Running::new(machine, source, Kernel::Audit, asked, NOTE + source.tight, 16)?;
        let (lanes, starts) = (running.zeroed(count * words)?, running.given(walking.starts)?);
        let law = match walking.law {
            Law::Firings => 0,
            Law::States => 1,
            Law::Priorities => 2,
        };
        let start_count = (walking.starts.len() / source.words.max(1)) as u64;
        let own = Params { starts, start_count, lanes, lane_count: count, seed: walking.key, law, ..running.params };
        running.params = levels.judging(own);
        let audit = Audit { running, walks: walking.walks.to_vec(), words: source.words as u64, tight: source.tight };
        audit.give(&audit.running.params, &audit.walks)?;
        Ok(audit)
    }

    /// Writes what walks begin with.
    fn give(&self, params: &Params, walks: &[(u32, u64)]) -> Result<(), DeviceError> {
        let mut begin: Vec<u64> = walks.iter().map(|(_, counter)| *counter).collect();
        begin.extend(walks.iter().map(|(keeps, _)| u64::from(*keeps)));
        self.running.machine.write(params.lanes, &begin)
    }

    /// Goes on for a moment; gives what was met, by the number of the walk.
    pub fn round(&mut self) -> Result<Vec<OnWalk>, DeviceError> {
        let counts = self.running.params.counts;
        self.running.machine.write(counts.plus(count::ACTIVE as u64), &[0])?;
        let on_walk = |note: &Vec<u64>| OnWalk {
            walk: note[3],
            steps: note[2],
            what: what(note[0], note[1]),
            successor: (note[5] != 0).then(|| note[NOTE..].to_vec()),
        };
        let mut met: Vec<OnWalk> = self.running.round(u64::MAX)?.iter().map(on_walk).collect();
        met.sort_by_key(|met| (met.walk, met.steps, met.what));
        Ok(met)
    }

    /// Whether all walks have come to their end.
    pub fn is_over(&self) -> bool {
        self.running.count(count::ACTIVE) == 0
    }

    /// Looks for the states that were kept. To be called once, when the walks are over or no longer go on.
    pub fn judge(&mut self) -> Result<Judged, DeviceError> {
        let lanes = self.running.params.lane_count;
        self.running.machine.run(Kernel::Judge, &self.running.params, lanes)?;
        self.running.read_counts()?;
        let count = |which| self.running.count(which);
        Ok(Judged { finished: count(count::ENDED), missing: count(count::STUCK), steps: count(count::STEPS) })
    }

    /// The states that walks stand in, in the working layout: when they are over, those that they keep.
    pub fn kept(&self) -> Result<Vec<Vec<Word>>, DeviceError> {
        let walks = self.walks.len();
        let mut words = vec![0; walks * self.words as usize];
        self.running.machine.read(self.running.params.lanes.plus(KEPT * walks as u64), &mut words)?;
        Ok((0..walks).map(|walk| words.iter().skip(walk).step_by(walks).copied().collect()).collect())
    }

    /// The tight states of a walk up to where it met something, by walking again.
    pub fn way(&mut self, met: &OnWalk) -> Result<Vec<Vec<Word>>, DeviceError> {
        let Some(walk) = self.walks.get(met.walk as usize).copied() else { return Ok(Vec::new()) };
        let states = met.steps + 1;
        let (lanes, own) = (self.running.zeroed(KEPT + self.words)?, self.running.take(states * self.tight as u64)?);
        let again = Params { lanes, lane_count: 1, origin: met.walk, own, capacity: states, rounds: met.steps, notes_room: 0, ..self.running.params };
        self.give(&again, &[walk])?;
        self.running.machine.run(Kernel::Audit, &again, 1)?;
        let mut words = vec![0; states as usize * self.tight];
        self.running.machine.read(own, &mut words)?;
        Ok(words.chunks_exact(self.tight).map(<[Word]>::to_vec).chain(met.successor.clone()).collect())
    }
}
