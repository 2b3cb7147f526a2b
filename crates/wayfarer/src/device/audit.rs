//! The audit of a search by levels on a GPU: the walks of the fixed samplers run there, and the search's store judges the states that they keep.

use super::cause;
use crate::report::SamplerReport;
use std::time::Instant;
use wayfarer_gpu::{Asked, Audit, DeviceError, Law, Levels, Machine, Source, Walking};
use wayfarer_search::{Control, Progress, Rank, Sampler, Tally, Violation};
use wayfarer_space::Word;

/// The inputs of an audit on a GPU.
pub(crate) struct Auditing<'a> {
    /// The kernels of an audit.
    pub(crate) machine: &'a dyn Machine,
    pub(crate) source: &'a Source,
    /// Start states in the working layout.
    pub(crate) starts: &'a [Word],
    pub(crate) asked: Asked,
    pub(crate) seed: u64,
    /// Walks of each sampler.
    pub(crate) walks: u64,
    /// When the walks must have ended; those that have not count as missing.
    pub(crate) until: Option<Instant>,
}

/// The results of an audit.
#[derive(Default)]
pub(crate) struct Audited {
    /// The result of each sampler.
    pub(crate) reports: Vec<SamplerReport>,
    /// The first violation that a walk met, with its whole way. No sampler after that one walked.
    pub(crate) violation: Option<Violation>,
}

impl Auditing<'_> {
    /// Walks, and lets the store of a search judge.
    pub(crate) fn of(&self, search: &Levels, control: &mut dyn Control, progress: &Progress) -> Result<Audited, DeviceError> {
        // Fingerprints of states that the store took for others are there.
        let judge = if search.slots().is_exact() { "store" } else { "fingerprints" };
        let mut audited = Audited::default();
        for sampler in Sampler::FIXED {
            let walks: Vec<(u32, u64)> = (0..self.walks).map(|walk| sampler.begins(self.seed, walk)).collect();
            let walking = Walking { law: law(sampler), key: sampler.key(self.seed), walks: &walks, starts: self.starts };
            let mut audit = Audit::new(self.machine, self.source, search, walking, &self.asked)?;
            loop {
                if let Some(met) = audit.round()?.first() {
                    let mut trail = audit.way(met)?.iter().map(|tight| self.working(tight)).collect::<Vec<_>>();
                    // A firing that failed, or led back, left the walk where it was.
                    trail.dedup();
                    audited.violation = Some(Violation { cause: cause(met.what), state: None, trail, rank: Rank::default() });
                    return Ok(audited);
                }
                if audit.is_over() || control.ask(progress).is_some() || self.until.is_some_and(|until| Instant::now() >= until) {
                    break;
                }
            }
            let judged = audit.judge()?;
            let unfinished = self.walks - judged.finished;
            let missing = judged.missing + unfinished;
            audited
                .reports
                .push(SamplerReport::new(Tally { sampler, walks: self.walks, unfinished, judged: self.walks, missing, steps: judged.steps }, judge));
        }
        Ok(audited)
    }

    fn working(&self, tight: &[Word]) -> Vec<Word> {
        let mut state = vec![0; self.source.words];
        self.source.packing.unpack(tight, &mut state);
        state
    }
}

/// How the steps of a sampler's walks are drawn.
fn law(sampler: Sampler) -> Law {
    match sampler {
        Sampler::Shallow { .. } => Law::States,
        Sampler::Priority { .. } => Law::Priorities,
        Sampler::Walk { .. } | Sampler::Sieved { .. } | Sampler::Restart { .. } => Law::Firings,
    }
}
