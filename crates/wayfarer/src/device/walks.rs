//! Random walks on a GPU.

use super::{MOST, cause, judge_starts, limit, lost, reached};
use wayfarer_gpu::{Asked, Machine, Met, Source, Walks};
use wayfarer_search::{Away, Control, Details, Device, Fidelity, Figures, Finding, Lost, Standing, Stop};
use wayfarer_space::{Fired, Rng, Space, States, Word};

/// The number of parallel walks, if no more are requested. It is part of what a seed means.
pub(crate) const LANES: u64 = 1 << 20;

/// Random walks on a GPU.
pub(crate) struct WalksOnDevice<'m> {
    machine: &'m dyn Machine,
    source: &'m Source,
    /// The space in which walks are repeated.
    space: &'m dyn Space,
    asked: Asked,
    lanes: u64,
    restart: u64,
    stream: Rng,
    starts: Vec<Vec<Word>>,
    walks: Option<Walks<'m>>,
    ways: Vec<Vec<Vec<Word>>>,
}

impl<'m> WalksOnDevice<'m> {
    pub(crate) fn new(
        machine: &'m dyn Machine,
        source: &'m Source,
        space: &'m dyn Space,
        asked: Asked,
        (lanes, restart, seed): (u64, u64, u64),
    ) -> Self {
        let stream = Rng::new(seed, "walk");
        WalksOnDevice { machine, source, space, asked, lanes, restart, stream, starts: Vec::new(), walks: None, ways: Vec::new() }
    }

    /// The states of a walk, which is determined by the position of its stream when it began.
    fn again(&self, met: &Met) -> Vec<Vec<Word>> {
        let mut rng = Rng::from_parts(self.stream.split(met.lane).parts().0, met.origin);
        let mut way = vec![self.starts[rng.below(self.starts.len() as u64) as usize].clone()];
        let mut out = Vec::new();
        for _ in 0..met.length {
            if let Some((_, Fired::To)) = self.space.sample(&way[way.len() - 1], &mut rng, &mut out) {
                way.push(out.clone());
            }
        }
        way
    }
}

impl Device for WalksOnDevice<'_> {
    fn start(&mut self, starts: &States, findings: &mut Vec<Finding>) -> Result<(), Lost> {
        self.starts = starts.iter().map(<[Word]>::to_vec).collect();
        // Walks check the states they reach; the start states are checked here.
        judge_starts(self.space, starts, findings);
        if !self.starts.is_empty() {
            let key = self.stream.parts().0;
            let walks = Walks::new(self.machine, self.source, &self.starts.concat(), self.lanes, key, self.restart, &self.asked);
            self.walks = Some(walks.map_err(lost)?);
        }
        Ok(())
    }

    fn round(&mut self, most: u64, findings: &mut Vec<Finding>) -> Result<(), Lost> {
        let Some(walks) = &mut self.walks else { return Ok(()) };
        for met in walks.round(most).map_err(lost)?.iter().take(MOST) {
            let way = self.again(met);
            let state = way[way.len() - 1].clone();
            findings.push(Finding { cause: cause(met.what), state, length: None, key: [self.ways.len() as u64, 0, 0] });
            self.ways.push(way);
        }
        Ok(())
    }

    fn standing(&self) -> Standing {
        let walked = self.walks.as_ref().map(Walks::walked).unwrap_or_default();
        let figures = Figures::default().sum("walks", (walked.ended + self.lanes) as f64).sum("walks that ended in a deadlock", walked.stuck as f64);
        Standing {
            states: self.starts.len() as u64,
            frontier: 0,
            depth: Some(walked.longest as u32),
            steps: Some(walked.steps),
            discarded: walked.discarded,
            reached: reached(&walked.reached),
            limit: limit(walked.limit),
            full: false,
            at_border: true,
            done: self.walks.is_none(),
            ended: Some(Stop::Restarts),
            covered: None,
            details: Details { figures, ..Details::default() },
            away: Away { states: 0, bytes: 0, fidelity: Fidelity::Amnesic },
            firings: walked.firings,
        }
    }

    fn way(&mut self, finding: &Finding, _control: &mut dyn Control) -> Result<Option<Vec<Vec<Word>>>, Lost> {
        Ok(self.ways.get(finding.key[0] as usize).cloned())
    }

    fn is_exhaustive(&self) -> bool {
        false
    }
}
