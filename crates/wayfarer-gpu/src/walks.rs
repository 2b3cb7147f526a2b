//! Random walks on a device, hundreds of thousands side by side. Each is a function of the seed and its number: a walk that met something is walked again by
//! whoever makes the witness.

use crate::levels::{Asked, NOTES, count};
use crate::machine::{Address, DeviceError, Kernel, Machine, Params};
use crate::notes::{Reached, What, what};
use crate::source::Source;
use std::time::{Duration, Instant};
use wayfarer_space::Word;

/// How long a kernel should take.
const SPAN: Duration = Duration::from_millis(60);
/// Words of a note.
const NOTE: usize = 6;
/// Words of a lane besides its state.
const LANE: u64 = 4;

/// Something that a walk met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Met {
    /// In which step of its lane.
    pub round: u64,
    /// The number of the lane.
    pub lane: u64,
    /// What it is.
    pub what: What,
    /// The counter of the lane's stream when the walk began.
    pub origin: u64,
    /// Steps from there to the state in which it shows.
    pub length: u64,
}

/// What all walks did together.
#[derive(Clone, Debug, Default)]
pub struct Walked {
    /// Steps.
    pub steps: u64,
    /// Walks that ended.
    pub ended: u64,
    /// Those of them that ended in a deadlock.
    pub stuck: u64,
    /// Steps of the longest walk.
    pub longest: u64,
    /// How often each rule fired.
    pub firings: Vec<u64>,
    /// Firings that an assumption discarded.
    pub discarded: u64,
    /// A rule and a fault that is a limit of representation.
    pub limit: Option<(u32, u32)>,
    /// Properties that were reached.
    pub reached: Reached,
}

/// Random walks on a device.
pub struct Walks<'m> {
    machine: &'m dyn Machine,
    params: Params,
    counts: Vec<u64>,
    firings_at: usize,
    taken: Vec<Address>,
    lanes: u64,
    rounds: u64,
}

impl<'m> Walks<'m> {
    /// So many walks from start states in the working layout, each ended after `restart` steps. `key` is that of the stream from which the lanes' streams are split.
    pub fn new(
        machine: &'m dyn Machine,
        source: &Source,
        starts: &[Word],
        lanes: u64,
        key: u64,
        restart: u64,
        asked: &Asked,
    ) -> Result<Self, DeviceError> {
        let (rules, words) = (source.rules as usize, (source.properties as usize).div_ceil(64).max(1));
        let firings_at = count::REACHED + words;
        let (judged, seeks) = asked.words(words, rules);
        let mut walks =
            Walks { machine, params: Params::default(), counts: vec![0; firings_at + rules], firings_at, taken: Vec::new(), lanes, rounds: 64 };
        let lane_words = lanes * (LANE + source.words as u64);
        let counts = walks.take(walks.counts.len() as u64)?;
        let (at, notes) = (walks.take(lane_words)?, walks.take(NOTES * NOTE as u64)?);
        let (given, from) = (walks.take(judged.len() as u64)?, walks.take(starts.len() as u64)?);
        machine.zero(at, lane_words * 8)?;
        machine.zero(counts, walks.counts.len() as u64 * 8)?;
        machine.write(given, &judged)?;
        machine.write(from, starts)?;
        walks.params = Params {
            counts,
            firings: counts.plus(firings_at as u64),
            notes,
            notes_room: NOTES,
            judged: given,
            deadlock: asked.deadlock,
            faults: u64::from(asked.faults),
            seeks,
            starts: from,
            start_count: (starts.len() / source.words.max(1)) as u64,
            lanes: at,
            lane_count: lanes,
            seed: key,
            restart,
            ..Params::default()
        };
        Ok(walks)
    }

    fn take(&mut self, words: u64) -> Result<Address, DeviceError> {
        let address = self.machine.allocate(words.max(1) * 8)?;
        self.taken.push(address);
        Ok(address)
    }

    /// Goes on, for at most so many steps of all lanes together, rounded up to one of each; gives what was met, the first first.
    pub fn round(&mut self, most: u64) -> Result<Vec<Met>, DeviceError> {
        let begun = Instant::now();
        let rounds = self.rounds.min(most.div_ceil(self.lanes)).max(1);
        self.machine.run(Kernel::Walk, &Params { rounds, ..self.params }, self.lanes)?;
        self.machine.read(self.params.counts, &mut self.counts)?;
        let took = begun.elapsed();
        if took < SPAN / 2 && rounds == self.rounds {
            self.rounds = (self.rounds * 2).min(1 << 20);
        } else if took > SPAN * 2 {
            self.rounds = (self.rounds / 2).max(1);
        }
        let noted = self.counts[count::NOTED].min(NOTES);
        let mut words = vec![0; noted as usize * NOTE];
        if noted > 0 {
            self.machine.read(self.params.notes, &mut words)?;
            self.machine.write(self.params.counts.plus(count::NOTED as u64), &[0])?;
        }
        let met = |note: &[u64]| Met { what: what(note[0], note[1]), round: note[2], lane: note[3], origin: note[4], length: note[5] };
        let mut met: Vec<Met> = words.chunks_exact(NOTE).map(met).collect();
        met.sort_by_key(|met| (met.round, met.lane, met.what));
        Ok(met)
    }

    /// What all walks did together.
    pub fn walked(&self) -> Walked {
        let limit = self.counts[count::LIMITED];
        Walked {
            steps: self.counts[count::STEPS],
            ended: self.counts[count::ENDED],
            stuck: self.counts[count::STUCK],
            longest: self.counts[count::LONGEST],
            firings: self.counts[self.firings_at..].to_vec(),
            discarded: self.counts[count::SKIPPED],
            limit: (limit != 0).then(|| ((limit >> 32) as u32 - 1, limit as u32)),
            reached: Reached(self.counts[count::REACHED..self.firings_at].to_vec()),
        }
    }
}

impl Drop for Walks<'_> {
    fn drop(&mut self) {
        self.taken.iter().for_each(|address| self.machine.release(*address));
    }
}
