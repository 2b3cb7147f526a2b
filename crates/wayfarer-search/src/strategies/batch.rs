//! How many states a round expands: enough that its fixed cost does not show, and few if every state has many successors.

/// The steps that a round should have at most, so that the successors of a few rounds stay in the cache, and in the
/// budget if every state has many.
const STEPS: usize = 1024;
/// The least of these.
const FEWEST: u128 = 16;
/// A step to a state of more words counts for several.
const WORDS: usize = 32;

/// A number of states that follows the steps they make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch {
    now: u32,
    most: u32,
    /// The steps that a round should have at most.
    steps: usize,
}

impl Batch {
    /// One state at first, and at most `most`.
    pub(crate) fn new(most: u32) -> Self {
        Batch { now: 1, most: most.max(1), steps: STEPS }
    }

    /// The same for rounds that take so many bytes where full ones would take `full`.
    pub(crate) fn within(self, bytes: usize, full: usize) -> Self {
        Batch { steps: (STEPS as u128 * bytes as u128 / full.max(1) as u128).clamp(FEWEST, STEPS as u128) as usize, ..self }
    }

    /// The states to expand next.
    pub(crate) fn states(self) -> u32 {
        self.now
    }

    /// A round expanded `sources` states and made `steps` steps to states of `words` words.
    pub(crate) fn learn_wide(&mut self, sources: usize, steps: usize, words: usize) {
        self.learn(sources, steps * Batch::weight(words));
    }

    /// The steps that a step to a state of so many words counts for.
    pub(crate) fn weight(words: usize) -> usize {
        (words / WORDS).max(1)
    }

    /// A round expanded `sources` states and made `steps` steps.
    pub(crate) fn learn(&mut self, sources: usize, steps: usize) {
        if steps > self.steps {
            self.now = (self.now / 2).max(1);
        } else if sources as u32 >= self.now && 2 * steps <= self.steps {
            self.now = (self.now * 2).min(self.most);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_grows_with_few_steps_and_shrinks_with_many() {
        let mut batch = Batch::new(64);
        (0..10).for_each(|_| batch.learn(batch.states() as usize, 4 * batch.states() as usize));
        assert_eq!(batch.states(), 64);
        // A round that was cut short says nothing about larger ones.
        batch.learn(3, 10);
        assert_eq!(batch.states(), 64);
        (0..10).for_each(|_| batch.learn(1, 30_000));
        assert_eq!(batch.states(), 1);
        // With half the room, rounds have half the steps.
        let mut batch = Batch::new(256).within(50, 100);
        (0..10).for_each(|_| batch.learn(batch.states() as usize, 8 * batch.states() as usize));
        assert_eq!(batch.states(), 64);
    }

    #[test]
    fn a_batch_of_wide_states_stays_small() {
        let mut batch = Batch::new(64);
        (0..10).for_each(|_| batch.learn_wide(batch.states() as usize, 8 * batch.states() as usize, 300));
        // Each of the 8 steps of a state counts for 9.
        assert_eq!(batch.states(), 8);
        (0..10).for_each(|_| batch.learn_wide(batch.states() as usize, 8 * batch.states() as usize, 10));
        assert_eq!(batch.states(), 64);
    }
}
