//! The expected omissions of a compact store.
//!
//! A new state is taken for known if its fingerprint is already there: with odds n/F if n of F fingerprints are taken.
//! Between two states that the store found new, the expected number of omitted states is therefore (n/F) / (1 − n/F).
//! The sum over all n is the expected total. If precision falls on the way, each stretch counts with its own F.

use std::fmt;

/// The precision that a lossy store reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// The bits of a fingerprint now: the binary logarithm of how many are told apart.
    pub bits: f64,
    /// How many bits it may fall to.
    pub floor: f64,
    /// How often precision was lowered to make room.
    pub lowered: u32,
    /// How many states it held when it was first full, before precision was lowered for the first time or the store refused a state.
    pub full_at: Option<u64>,
    /// States it found new.
    pub states: u64,
    /// The share of its slots that are filled.
    pub load: f64,
    /// How many states it is expected to have omitted, states behind an omitted one not counted.
    pub expected_omissions: f64,
}

impl Precision {
    /// The probability that any state was omitted.
    pub fn any_omission(&self) -> f64 {
        -(-self.expected_omissions).exp_m1()
    }

    /// The least and the most omissions that are not surprising: outside lie at most (1 − `confidence`)/2 on either side.
    pub fn band(&self, confidence: f64) -> (u64, u64) {
        poisson_band(self.expected_omissions, confidence)
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Precision { bits, lowered, states, load, expected_omissions, .. } = self;
        write!(
            f,
            "{states} states as {bits:.1} bits each (lowered {lowered} times, slots {:.0} % filled): {expected_omissions:.3e} omissions expected, any with probability {:.3e}",
            100.0 * load,
            self.any_omission()
        )
    }
}

/// Omissions expected while the taken fingerprints went from `from` to `to` of `all`.
pub(super) fn omissions_between(from: f64, to: f64, all: f64) -> f64 {
    // The sum of x/(1 − x) as an integral: −ln(1 − x) − x.
    let sum = |taken: f64| {
        let share = (taken / all).min(1.0 - 1e-12);
        if share < 1e-3 { share * share * (0.5 + share / 3.0 + share * share / 4.0) } else { -(-share).ln_1p() - share }
    };
    (all * (sum(to) - sum(from))).max(0.0)
}

/// The band of a Poisson variable: the smallest numbers whose lower tails reach (1 − `confidence`)/2 and (1 + `confidence`)/2.
fn poisson_band(mean: f64, confidence: f64) -> (u64, u64) {
    let tail = (1.0 - confidence.clamp(0.0, 1.0 - 1e-12)) / 2.0;
    if mean > 1e5 {
        // The normal approximation, a little generous; the exact sum would begin below the smallest number.
        let reach = (2.0 * (1.0 / tail).ln()).sqrt() * mean.sqrt();
        return ((mean - reach) as u64, (mean + reach).ceil() as u64);
    }
    let (mut below, mut low, mut number) = (0.0, None, 0u64);
    // The probability of `number`, as a logarithm so that it does not vanish for large means.
    let mut log = -mean;
    loop {
        below += log.exp();
        if low.is_none() && below > tail {
            low = Some(number);
        }
        if below >= 1.0 - tail {
            return (low.unwrap_or(number), number);
        }
        number += 1;
        log += mean.ln() - (number as f64).ln();
        if number as f64 > 2.0 * mean + 1e4 {
            return (low.unwrap_or(0), number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_states_are_half_the_square_over_the_fingerprints() {
        let expected = omissions_between(0.0, 1e7, 64f64.exp2());
        assert!((expected / (1e14 / 2.0 / 64f64.exp2()) - 1.0).abs() < 1e-3, "{expected}");
        let parts = omissions_between(0.0, 3e6, 1e8) + omissions_between(3e6, 2e7, 1e8);
        assert!((parts / omissions_between(0.0, 2e7, 1e8) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn bands_are_those_of_the_tables() {
        assert_eq!(poisson_band(0.001, 0.99), (0, 0));
        assert_eq!(poisson_band(1.0, 0.99), (0, 4));
        assert_eq!(poisson_band(10.0, 0.99), (3, 19));
        let (low, high) = poisson_band(1000.0, 0.99);
        assert!((915..925).contains(&low) && (1078..1086).contains(&high), "{low} {high}");
    }
}
