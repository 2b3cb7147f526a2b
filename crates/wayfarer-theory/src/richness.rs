//! Estimates of the number of kinds from the frequencies of the kinds that were drawn.

use crate::TheoryError;

/// A lower bound on a total, with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Richness {
    /// The estimate; its expectation is at most the true total.
    pub total: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval; not a bound on the total.
    pub high: f64,
}

/// Chao's lower bound on the number of kinds (Chao 1984; variance and interval Chao 1987). Of `distinct`
/// kinds drawn in independent draws, `once` were drawn exactly once and `twice` exactly twice. Rare kinds
/// indicate how many were missed: at least about once²/(2·twice), with equality if all missed kinds are as
/// likely as those. `normal` is the quantile of the interval, 1.96 for 95 %.
pub fn least_total(distinct: u64, once: u64, twice: u64, normal: f64) -> Result<Richness, TheoryError> {
    if once.checked_add(twice).is_none_or(|few| few > distinct) {
        return Err(TheoryError::Parameter(format!("{once} and {twice} kinds met once and twice are more than all {distinct}")));
    }
    let (met, one, two) = (distinct as f64, once as f64, twice as f64);
    let (missed, variance) = if twice > 0 {
        let ratio = one / two;
        (one * one / (2.0 * two), two * (ratio.powi(4) / 4.0 + ratio.powi(3) + ratio.powi(2) / 2.0))
    } else {
        // The form for no pairs: once·(once − 1)/2.
        let missed = one * (one - 1.0) / 2.0;
        let total = met + missed;
        let fourth = if total > 0.0 { one.powi(4) / (4.0 * total) } else { 0.0 };
        (missed, (missed + one * (2.0 * one - 1.0).powi(2) / 4.0 - fourth).max(0.0))
    };
    if missed <= 0.0 {
        return Ok(Richness { total: met, low: met, high: met });
    }
    // The number of missed kinds is assumed to be log-normal, so that the interval does not fall below the
    // number drawn.
    let factor = (normal * (variance / (missed * missed)).ln_1p().sqrt()).exp();
    Ok(Richness { total: met + missed, low: met + missed / factor, high: met + missed * factor })
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayfarer_space::Rng;

    #[test]
    fn a_known_table() {
        // 25 kinds, 10 drawn once, 5 twice: 25 + 100/10, variance 5·(4 + 8 + 2).
        let found = least_total(25, 10, 5, 1.96).unwrap();
        assert_eq!(found.total, 35.0);
        let factor = (1.96 * (70f64 / 100.0).ln_1p().sqrt()).exp();
        assert!((found.low - 25.0 - 10.0 / factor).abs() < 1e-12 && (found.high - 25.0 - 10.0 * factor).abs() < 1e-12);
        assert_eq!(least_total(25, 0, 5, 1.96).unwrap(), Richness { total: 25.0, low: 25.0, high: 25.0 });
        assert_eq!(least_total(25, 4, 0, 1.96).unwrap().total, 31.0);
        assert!(least_total(5, 4, 2, 1.96).is_err());
    }

    #[test]
    fn equally_likely_kinds_are_counted_and_unequal_ones_bounded_below() {
        // 200 repetitions of 1,500 draws from 1,000 kinds. Equally likely, the interval of 95 % misses more than 30 of 200 with odds below 10⁻⁶; unequally,
        // the bound's lower end exceeds the truth more than 30 times with smaller odds still. The seed is fixed.
        for unequal in [false, true] {
            let mut rng = Rng::new(5, "kinds");
            let mut missed = 0;
            for _ in 0..200 {
                let mut met = vec![0u32; 1000];
                for _ in 0..1500 {
                    let mut kind = rng.below(1000);
                    if unequal {
                        kind = kind * kind / 1000;
                    }
                    met[kind as usize] += 1;
                }
                let times = |wanted: u32| met.iter().filter(|times| **times == wanted).count() as u64;
                let found = least_total(1000 - times(0), times(1), times(2), 1.96).unwrap();
                missed += u32::from(found.low > 1000.0 || (!unequal && found.high < 1000.0));
            }
            assert!(missed <= 30, "{missed} of 200 miss");
        }
    }
}
