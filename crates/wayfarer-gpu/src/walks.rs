//! Random walks on a device, hundreds of thousands side by side. Each is a function of the seed and its number: a walk that met something is walked again by
//! whoever makes the witness.

use crate::levels::{Asked, count};
use crate::machine::{DeviceError, Kernel, Machine, Params};
use crate::notes::{Reached, What, what};
use crate::running::Running;
use crate::source::Source;
use wayfarer_space::Word;

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
    /// The finding.
    pub what: What,
    /// The counter of the lane's stream when the walk began.
    pub origin: u64,
    /// Steps from there to the state in which it shows.
    pub length: u64,
}

/// The totals of all walks.
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
    running: Running<'m>,
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
        let mut running = Running::new(machine, source, Kernel::Walk, asked, NOTE, 64)?;
        let (at, from) = (running.zeroed(lanes * (LANE + source.words as u64))?, running.given(starts)?);
        running.params = Params {
            starts: from,
            start_count: (starts.len() / source.words.max(1)) as u64,
            lanes: at,
            lane_count: lanes,
            seed: key,
            restart,
            ..running.params
        };
        Ok(Walks { running })
    }

    /// Goes on, for at most so many steps of all lanes together, rounded up to one of each; gives what was met, the first first.
    pub fn round(&mut self, most: u64) -> Result<Vec<Met>, DeviceError> {
        let met = |note: &Vec<u64>| Met { what: what(note[0], note[1]), round: note[2], lane: note[3], origin: note[4], length: note[5] };
        let mut met: Vec<Met> = self.running.round(most)?.iter().map(met).collect();
        met.sort_by_key(|met| (met.round, met.lane, met.what));
        Ok(met)
    }

    /// The totals of all walks.
    pub fn walked(&self) -> Walked {
        let running = &self.running;
        Walked {
            steps: running.count(count::STEPS),
            ended: running.count(count::ENDED),
            stuck: running.count(count::STUCK),
            longest: running.count(count::LONGEST),
            firings: running.firings(),
            discarded: running.count(count::SKIPPED),
            limit: running.limit(),
            reached: running.reached(),
        }
    }
}
