//! A kernel that goes on round after round: its parameters, what it counts, what it notes, and how many steps it takes in a round. Walks, searches that lanes
//! make for themselves, and the walks of an audit stand on it.

use crate::levels::{Asked, NOTES, count};
use crate::machine::{Address, DeviceError, Kernel, Machine, Params};
use crate::notes::{KNOWN, Reached};
use crate::source::Source;
use std::time::{Duration, Instant};

/// How long a kernel should take: long enough that its start does not matter, short enough that a run ends within a second.
pub(crate) const SPAN: Duration = Duration::from_millis(60);

/// A kernel that goes on round after round.
pub(crate) struct Running<'m> {
    pub(crate) machine: &'m dyn Machine,
    pub(crate) params: Params,
    kernel: Kernel,
    counts: Vec<u64>,
    firings_at: usize,
    note: usize,
    /// Steps of each lane in the next round.
    rounds: u64,
    taken: Vec<Address>,
}

impl<'m> Running<'m> {
    /// Takes memory for counts and for notes of so many words, and begins with short rounds.
    pub(crate) fn new(
        machine: &'m dyn Machine,
        source: &Source,
        kernel: Kernel,
        asked: &Asked,
        note: usize,
        rounds: u64,
    ) -> Result<Self, DeviceError> {
        let (rules, words) = (source.rules as usize, (source.properties as usize).div_ceil(64).max(1));
        let firings_at = count::REACHED + words;
        let counts = vec![0; firings_at + rules];
        let mut running = Running { machine, params: Params::default(), kernel, counts, firings_at, note, rounds, taken: Vec::new() };
        let (judged, seeks) = asked.words(words, rules);
        let counts = running.zeroed(running.counts.len() as u64)?;
        let known = if asked.once { running.zeroed(KNOWN)? } else { Address(0) };
        let (given, notes) = (running.given(&judged)?, running.take(NOTES * note as u64)?);
        running.params = Params {
            counts,
            firings: counts.plus(firings_at as u64),
            notes,
            notes_room: NOTES,
            judged: given,
            deadlock: asked.deadlock,
            faults: u64::from(asked.faults),
            seeks,
            known,
            ..Params::default()
        };
        Ok(running)
    }

    /// Takes memory for so many words.
    pub(crate) fn take(&mut self, words: u64) -> Result<Address, DeviceError> {
        let address = self.machine.allocate(words.max(1) * 8)?;
        self.taken.push(address);
        Ok(address)
    }

    /// The same, with zeroes in it.
    pub(crate) fn zeroed(&mut self, words: u64) -> Result<Address, DeviceError> {
        let address = self.take(words)?;
        self.machine.zero(address, words.max(1) * 8)?;
        Ok(address)
    }

    /// The same, with these words in it.
    pub(crate) fn given(&mut self, words: &[u64]) -> Result<Address, DeviceError> {
        let address = self.take(words.len() as u64)?;
        self.machine.write(address, words)?;
        Ok(address)
    }

    /// Goes on, for at most so many steps of all lanes together, rounded up to one of each. Gives the words of what was noted, a note a row.
    pub(crate) fn round(&mut self, most: u64) -> Result<Vec<Vec<u64>>, DeviceError> {
        let begun = Instant::now();
        let lanes = self.params.lane_count.max(1);
        let rounds = self.rounds.min(most.div_ceil(lanes)).max(1);
        self.machine.run(self.kernel, &Params { rounds, ..self.params }, lanes)?;
        self.machine.read(self.params.counts, &mut self.counts)?;
        let took = begun.elapsed();
        if took < SPAN / 2 && rounds == self.rounds {
            self.rounds = (self.rounds * 2).min(1 << 20);
        } else if took > SPAN * 2 {
            self.rounds = (self.rounds / 2).max(1);
        }
        let noted = self.counts[count::NOTED].min(NOTES) as usize;
        let mut words = vec![0; noted * self.note];
        if noted > 0 {
            self.machine.read(self.params.notes, &mut words)?;
            self.machine.write(self.params.counts.plus(count::NOTED as u64), &[0])?;
        }
        Ok(words.chunks_exact(self.note).map(<[u64]>::to_vec).collect())
    }

    /// Reads the counts again, after another kernel added to them.
    pub(crate) fn read_counts(&mut self) -> Result<(), DeviceError> {
        self.machine.read(self.params.counts, &mut self.counts)
    }

    /// A count, as it was read last.
    pub(crate) fn count(&self, which: usize) -> u64 {
        self.counts[which]
    }

    /// How often each rule fired.
    pub(crate) fn firings(&self) -> Vec<u64> {
        self.counts[self.firings_at..].to_vec()
    }

    /// A rule and a fault that is a limit of representation, if one was met.
    pub(crate) fn limit(&self) -> Option<(u32, u32)> {
        limit(self.counts[count::LIMITED])
    }

    /// Properties that were reached.
    pub(crate) fn reached(&self) -> Reached {
        Reached(self.counts[count::REACHED..self.firings_at].to_vec())
    }
}

/// The rule and the fault of a limit, as kernels note it.
pub(crate) fn limit(word: u64) -> Option<(u32, u32)> {
    (word != 0).then(|| ((word >> 32) as u32 - 1, word as u32))
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.taken.iter().for_each(|address| self.machine.release(*address));
    }
}
