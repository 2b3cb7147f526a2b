//! The observer's samples: for some states the probability that every trial so far has lost them.

use wayfarer_space::{Hash, Rng};

/// The sample table Y.
#[derive(Clone, Debug)]
pub(super) struct Samples {
    most: usize,
    /// Keys and their places in `omitted`, sorted by key.
    keys: Vec<(u64, u32)>,
    omitted: Vec<f64>,
}

impl Samples {
    pub(super) fn new(most: usize) -> Self {
        Samples { most, keys: Vec::new(), omitted: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// A state is up for insertion with the given probability; `late` visits take new samples.
    pub(super) fn trial(&mut self, hash: Hash, inserted: f64, late: bool, rng: &mut Rng) {
        let key = hash.second();
        match self.keys.binary_search_by_key(&key, |found| found.0) {
            Ok(at) => self.omitted[self.keys[at].1 as usize] *= 1.0 - inserted,
            // A state that cannot be lost says nothing.
            Err(at) if inserted < 1.0 && late && self.keys.len() < self.most && rng.below(2) == 1 => {
                self.keys.insert(at, (key, self.omitted.len() as u32));
                self.omitted.push(1.0 - inserted);
            }
            Err(_) => {}
        }
    }

    /// The greatest omission probability among the samples; 0 if there are none.
    pub(super) fn greatest(&self) -> f64 {
        self.omitted.iter().copied().fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use wayfarer_space::hash;

    /// A sample's value is the product over the full log from the trial that sampled it on.
    #[test]
    fn a_sample_is_the_product_from_its_first_trial_on() {
        let mut rng = Rng::new(5, "samples");
        let mut samples = Samples::new(50);
        let mut log: Vec<(u64, f64)> = Vec::new();
        let mut sampled: BTreeMap<u64, usize> = BTreeMap::new();
        for _ in 0..5_000 {
            let (state, inserted) = (rng.below(200), if rng.below(3) == 0 { 1.0 } else { rng.unit() });
            let before = samples.len();
            samples.trial(hash(&[state]), inserted, rng.below(2) == 0, &mut rng);
            if samples.len() > before {
                sampled.insert(state, log.len());
            }
            log.push((state, inserted));
        }
        assert_eq!(samples.len(), 50);
        for (state, first) in &sampled {
            let product: f64 = log[*first..].iter().filter(|trial| trial.0 == *state).map(|trial| 1.0 - trial.1).product();
            let key = hash(&[*state]).second();
            let at = samples.keys.binary_search_by_key(&key, |found| found.0).unwrap();
            assert_eq!(samples.omitted[samples.keys[at].1 as usize], product);
            // The whole log's product, the paper's Pom1, is no greater.
            let whole: f64 = log.iter().filter(|trial| trial.0 == *state).map(|trial| 1.0 - trial.1).product();
            assert!(whole <= product);
        }
    }
}
