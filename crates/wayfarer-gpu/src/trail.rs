//! The way to a state that was found: searched again, with a mark on each state that says which state of the middle level it comes from, and so on in
//! both halves. The gap between two states of the trail is a few levels, for whoever makes the witness.

use crate::levels::{Levels, count};
use crate::machine::{Address, DeviceError, Kernel, Params};
use wayfarer_space::Word;

/// Levels between two states of a trail, at most.
const STRIDE: u32 = 6;

impl Levels<'_> {
    /// Tight states on a way of `depth` steps from one of `starts` to a state, which comes last; the first comes at most a few steps after a start. The search
    /// itself is forgotten. None where the state was not met again, or `goes_on` said no.
    pub fn trail(
        &mut self,
        starts: &[Word],
        state: &[Word],
        depth: u32,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Vec<Vec<Word>>>, DeviceError> {
        let mut trail = Vec::new();
        if !self.between(starts, state, depth, &mut trail, goes_on)? {
            return Ok(None);
        }
        trail.push(state.to_vec());
        Ok(Some(trail))
    }

    /// Adds what lies between.
    fn between(
        &mut self,
        from: &[Word],
        to: &[Word],
        depth: u32,
        trail: &mut Vec<Vec<Word>>,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<bool, DeviceError> {
        if depth <= STRIDE {
            return Ok(true);
        }
        let half = depth / 2;
        self.start(from)?;
        let mut middle = Vec::new();
        for level in 0..depth {
            if level == half {
                middle = self.copy_level()?;
                self.params.output_stride = self.entry as u64 + 1;
            }
            loop {
                if !goes_on() {
                    return Ok(false);
                }
                if self.round()?.ends_level {
                    break;
                }
            }
        }
        let Some(tag) = self.tag_of(to)? else { return Ok(false) };
        let at = tag as usize * self.entry;
        let Some(entry) = middle.get(at..at + self.entry) else { return Ok(false) };
        let state = self.state_of(entry)?;
        drop(middle);
        if !self.between(from, &state, half, trail, goes_on)? {
            return Ok(false);
        }
        trail.push(state.clone());
        self.between(&state, to, depth - half, trail, goes_on)
    }

    /// The level's entries for all its states, in the order of their numbers: the device's first, then the waiting pieces, the last first.
    fn copy_level(&self) -> Result<Vec<Word>, DeviceError> {
        let (at, states, waiting) = self.level();
        let mut words = vec![0; states as usize * self.entry];
        self.machine.read(at, &mut words)?;
        for piece in waiting.iter().rev() {
            let mut more = vec![0; piece.states as usize * self.entry];
            self.machine.read(piece.at, &mut more)?;
            words.append(&mut more);
        }
        Ok(words)
    }

    /// The mark of a state of the level.
    fn tag_of(&mut self, state: &[Word]) -> Result<Option<u64>, DeviceError> {
        let (input, end, waiting) = self.level();
        self.machine.write(self.params.goal, state)?;
        if let Some(tag) = self.look(input, end)? {
            return Ok(Some(tag));
        }
        for piece in waiting {
            // Nothing was found for the next level yet, so its buffer is free.
            let buffer = self.memory.buffers[1];
            self.spill.fetch(piece, buffer, self.params.input_stride)?;
            if let Some(tag) = self.look(buffer, piece.states)? {
                return Ok(Some(tag));
            }
        }
        Ok(None)
    }

    /// Looks for the goal among states on the device.
    fn look(&self, input: Address, end: u64) -> Result<Option<u64>, DeviceError> {
        self.machine.write(self.params.counts.plus(count::GOAL_AT as u64), &[0])?;
        self.machine.run(Kernel::Find, &Params { input, end, ..self.params }, end)?;
        let mut found = [0];
        self.machine.read(self.params.counts.plus(count::GOAL_AT as u64), &mut found)?;
        Ok(found[0].checked_sub(1))
    }
}
