//! Breadth-first search on a GPU.

use super::{cause, limit, lost, reached};
use wayfarer_gpu::{Levels, Machine, Round, Slots, Source, What};
use wayfarer_search::{Away, Control, Device, Fidelity, Finding, Lost, Progress, Standing};
use wayfarer_space::{States, Word};

/// Breadth-first search on a GPU.
pub(crate) struct LevelsOnDevice<'m> {
    levels: Levels<'m>,
    source: &'m Source,
    slots: Slots,
    /// The start states, tight.
    starts: Vec<Word>,
    /// The level that is being expanded.
    depth: u32,
    /// States found for the next one.
    found: u64,
    at_border: bool,
    /// The depth at which the search ends.
    limit: u32,
    /// Gives kernels that compare half of the bits of fingerprints, for when the store is full.
    halving: Option<Halving<'m>>,
}

/// Gives kernels that compare half of the bits of fingerprints.
pub(crate) type Halving<'m> = &'m dyn Fn() -> Result<&'m dyn Machine, Lost>;

/// The share of the store's slots above which bits are given up.
const FULL: f64 = 0.9;

impl<'m> LevelsOnDevice<'m> {
    pub(crate) fn new(levels: Levels<'m>, source: &'m Source, slots: Slots, limit: u32, halving: Option<Halving<'m>>) -> Self {
        LevelsOnDevice { levels, source, slots, starts: Vec::new(), depth: 0, found: 0, at_border: false, limit, halving }
    }

    /// Appends the events of a round. New states lie `deeper` levels below the expanded ones.
    fn note(&self, round: &Round, deeper: u32, findings: &mut Vec<Finding>) {
        for note in &round.notes {
            let (at, length) = match note.what {
                What::Deadlock => (self.depth, self.depth),
                What::Fault(..) | What::PathFault(..) | What::Rule(..) => (self.depth, self.depth + 1),
                _ => (self.depth + deeper, self.depth + deeper),
            };
            findings.push(Finding { cause: cause(note.what), state: self.working(&note.state), length: Some(length), key: [u64::from(at), 0, 0] });
        }
    }

    /// The search itself, whose store judges an audit.
    pub(crate) fn search(&self) -> &Levels<'m> {
        &self.levels
    }

    /// Whether the store has no room left.
    pub(crate) fn store_is_full(&self) -> bool {
        self.levels.totals().lost > 0 || self.levels.is_full()
    }

    fn working(&self, tight: &[Word]) -> Vec<Word> {
        let mut state = vec![0; self.source.words];
        self.source.packing.unpack(tight, &mut state);
        state
    }

    fn tight(&self, state: &[Word]) -> Vec<Word> {
        let mut tight = vec![0; self.source.tight];
        self.source.packing.pack(state, &mut tight);
        tight
    }
}

impl Device for LevelsOnDevice<'_> {
    fn start(&mut self, starts: &States, findings: &mut Vec<Finding>) -> Result<(), Lost> {
        self.starts = starts.iter().flat_map(|state| self.tight(state)).collect();
        let round = self.levels.start(&self.starts).map_err(lost)?;
        self.note(&round, 0, findings);
        self.at_border = true;
        Ok(())
    }

    fn round(&mut self, _most: u64, findings: &mut Vec<Finding>) -> Result<(), Lost> {
        let round = self.levels.leap(u64::from(self.limit.saturating_sub(self.depth))).map_err(lost)?;
        self.depth += round.levels_before;
        self.note(&round, 1, findings);
        if self.levels.can_halve()
            && self.levels.load() > FULL
            && let Some(halving) = self.halving
        {
            self.levels.halve(halving()?).map_err(lost)?;
        }
        self.found += round.fresh;
        self.at_border = round.ends_level;
        if round.ends_level {
            // Levels before the last one of a round led on, else it would not be there.
            self.depth += u32::from(self.levels.frontier() > 0);
            self.found = 0;
        }
        Ok(())
    }

    fn standing(&self) -> Standing {
        let (totals, frontier) = (self.levels.totals(), self.levels.frontier());
        let fidelity = if self.slots.is_exact() { Fidelity::Exact } else { Fidelity::Lossy(self.levels.expected_omissions()) };
        Standing {
            states: totals.states,
            frontier,
            depth: Some(self.depth + u32::from(self.found > 0)),
            steps: None,
            discarded: totals.discarded,
            reached: reached(&totals.reached),
            limit: limit(totals.limit),
            full: totals.lost > 0 || totals.spilled > 0 || frontier > 0 && self.levels.is_full(),
            at_border: self.at_border,
            done: self.at_border && frontier == 0,
            ended: None,
            covered: None,
            details: wayfarer_search::Details::default(),
            away: Away { states: totals.states, bytes: self.levels.store_bytes(), fidelity },
            firings: totals.firings,
        }
    }

    fn way(&mut self, finding: &Finding, control: &mut dyn Control) -> Result<Option<Vec<Vec<Word>>>, Lost> {
        let (starts, tight) = (std::mem::take(&mut self.starts), self.tight(&finding.state));
        let progress = Progress { states: self.levels.totals().states, phase: "the way to what was found", ..Progress::default() };
        let mut goes_on = || control.ask(&progress) != Some(wayfarer_search::Stop::Interrupted);
        let trail = self.levels.trail(&starts, &tight, finding.key[0] as u32, &mut goes_on).map_err(lost)?;
        self.starts = starts;
        Ok(trail.map(|trail| trail.iter().map(|state| self.working(state)).collect()))
    }

    fn profile(&mut self) -> Result<Vec<u64>, Lost> {
        self.levels.profile().map_err(lost)
    }

    fn is_exhaustive(&self) -> bool {
        true
    }
}
