//! Searches on a GPU that every lane makes for itself.

use super::{MOST, cause, judge_starts, limit, lost, reached};
use wayfarer_gpu::{Asked, Lanes, Machine, Order, Own, Source};
use wayfarer_search::{Away, Control, Details, Device, Estimate, Fidelity, Figures, Finding, Lost, Standing, Stop};
use wayfarer_space::{Space, States, Word};

/// The number of lanes, if there is memory for them. It is part of what a seed means.
pub(crate) const MOST_LANES: u64 = 1 << 17;

/// Searches on a GPU that every lane makes for itself.
pub(crate) struct OwnOnDevice<'m> {
    machine: &'m dyn Machine,
    source: &'m Source,
    space: &'m dyn Space,
    asked: Asked,
    order: Order,
    lanes: Option<Lanes<'m>>,
    ways: Vec<Vec<Vec<Word>>>,
}

impl<'m> OwnOnDevice<'m> {
    pub(crate) fn new(machine: &'m dyn Machine, source: &'m Source, space: &'m dyn Space, asked: Asked, order: Order) -> Self {
        OwnOnDevice { machine, source, space, asked, order, lanes: None, ways: Vec::new() }
    }

    fn working(&self, tight: &[Word]) -> Vec<Word> {
        let mut state = vec![0; self.source.words];
        self.source.packing.unpack(tight, &mut state);
        state
    }
}

impl Device for OwnOnDevice<'_> {
    fn start(&mut self, starts: &States, findings: &mut Vec<Finding>) -> Result<(), Lost> {
        judge_starts(self.space, starts, findings);
        if !starts.is_empty() {
            let words: Vec<Word> = starts.iter().flatten().copied().collect();
            self.lanes = Some(Lanes::new(self.machine, self.source, &words, &self.order, &self.asked).map_err(lost)?);
        }
        Ok(())
    }

    fn round(&mut self, most: u64, findings: &mut Vec<Finding>) -> Result<(), Lost> {
        let Some(lanes) = &mut self.lanes else { return Ok(()) };
        let shown = lanes.round(most).map_err(lost)?;
        for shown in shown.iter().take(MOST) {
            let Some(way) = self.lanes.as_ref().map_or(Ok(None), |lanes| lanes.way(shown)).map_err(lost)? else { continue };
            let way: Vec<Vec<Word>> = way.iter().map(|state| self.working(state)).collect();
            let Some(state) = way.last().cloned() else { continue };
            findings.push(Finding { cause: cause(shown.what), state, length: None, key: [self.ways.len() as u64, 0, 0] });
            self.ways.push(way);
        }
        Ok(())
    }

    fn standing(&self) -> Standing {
        let did = self.lanes.as_ref().map(Lanes::did).unwrap_or_default();
        let (count, bytes) = self.lanes.as_ref().map_or((0, 0), |lanes| (lanes.size().0, lanes.bytes()));
        let began = (did.ended + count) as f64;
        let figures = Figures::default();
        // The names are those that the strategies give on the CPU.
        let (figures, counts_steps, counts_depth, ended) = match self.order.own {
            Own::Uniform { .. } => (figures.sum("restarts", did.ended as f64), true, false, Stop::States),
            Own::Deep { .. } => (figures.sum("jumps", did.stuck as f64).sum("restarts", did.ended as f64), true, false, Stop::States),
            Own::Random => (figures.sum("walks", began).sum("walks that ended in a deadlock", did.stuck as f64), true, true, Stop::Restarts),
            Own::Highway { .. } => (figures.sum("highways", began).last("width", self.order.width as f64), false, true, Stop::Restarts),
            Own::DepthFirst => (figures.sum("searches", began).sum("states beyond the stack", did.stuck as f64), false, true, Stop::Restarts),
        };
        let (value, error) = did.distinct;
        Standing {
            states: did.inserted,
            frontier: 0,
            depth: counts_depth.then_some(did.longest as u32),
            steps: counts_steps.then_some(did.steps),
            discarded: did.discarded,
            reached: reached(&did.reached),
            limit: limit(did.limit),
            full: false,
            at_border: true,
            done: self.lanes.is_none() || did.done,
            ended: Some(ended),
            covered: Some(Estimate { value, error }),
            details: Details { figures, ..Details::default() },
            away: Away { states: did.inserted, bytes, fidelity: Fidelity::Amnesic },
            firings: did.firings,
        }
    }

    fn way(&mut self, finding: &Finding, _control: &mut dyn Control) -> Result<Option<Vec<Vec<Word>>>, Lost> {
        Ok(self.ways.get(finding.key[0] as usize).cloned())
    }

    fn is_exhaustive(&self) -> bool {
        false
    }
}
