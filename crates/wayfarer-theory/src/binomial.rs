//! Exact bounds on a binomial proportion: the shares that are compatible with the number of hits in a sample.
//!
//! Clopper and Pearson 1934: the upper bound is the share at which a sample would show that few hits or fewer
//! with the probability of error, and the lower bound is defined likewise. Both are quantiles of beta
//! distributions, found by bisection of the regularised incomplete beta function (its continued fraction,
//! evaluated by Lentz's method). They hold at least as often as they say, for every share.

use crate::TheoryError;

/// The largest share that is still compatible with `hits` among `draws` independent draws: the true share
/// lies above it with probability at most `error`. Returns 1 if nothing was drawn.
///
/// ```
/// // None among 3,000: at most a thousandth, by the rule of three.
/// let bound = wayfarer_theory::share_at_most(0, 3_000, 0.05).unwrap();
/// assert!((bound - 3.0 / 3_000.0).abs() < 2e-5);
/// ```
pub fn share_at_most(hits: u64, draws: u64, error: f64) -> Result<f64, TheoryError> {
    check(hits, draws, error)?;
    if hits == draws {
        return Ok(1.0);
    }
    if hits == 0 {
        return Ok(-(error.ln() / draws as f64).exp_m1());
    }
    Ok(quantile(1.0 - error, (hits + 1) as f64, (draws - hits) as f64))
}

/// The smallest share that is still compatible with `hits` among `draws` independent draws: the true share lies below it with probability at most `error`.
pub fn share_at_least(hits: u64, draws: u64, error: f64) -> Result<f64, TheoryError> {
    Ok(1.0 - share_at_most(draws.saturating_sub(hits), draws, error).and_then(|bound| check(hits, draws, error).map(|()| bound))?)
}

/// Both bounds: the true share lies outside with probability at most `error`.
pub fn share_between(hits: u64, draws: u64, error: f64) -> Result<(f64, f64), TheoryError> {
    Ok((share_at_least(hits, draws, error / 2.0)?, share_at_most(hits, draws, error / 2.0)?))
}

/// The rule of three: if none of n draws was a hit, the share is at most about 3/n, with 95 % confidence.
pub fn rule_of_three(draws: u64) -> f64 {
    if draws == 0 { 1.0 } else { (3.0 / draws as f64).min(1.0) }
}

fn check(hits: u64, draws: u64, error: f64) -> Result<(), TheoryError> {
    if !(error > 0.0 && error < 1.0) {
        return Err(TheoryError::Parameter(format!("the error must lie between 0 and 1, not {error}")));
    }
    if hits > draws {
        return Err(TheoryError::Parameter(format!("{hits} hits are more than {draws} draws")));
    }
    Ok(())
}

/// The point up to which a beta distribution has the given share of its mass.
fn quantile(share: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while high - low > 1e-15 * high {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if incomplete_beta(middle, a, b) < share { low = middle } else { high = middle }
    }
    high
}

/// The share of a beta distribution's mass that lies below `x`: I_x(a, b).
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let front = (a * x.ln() + b * (-x).ln_1p() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b)).exp();
    // The fraction converges fast below the mean; above it the other tail is taken.
    if x < (a + 1.0) / (a + b + 2.0) { front * fraction(x, a, b) / a } else { 1.0 - front * fraction(1.0 - x, b, a) / b }
}

/// The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8).
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut top = 1.0;
    let mut bottom = away(1.0 - (a + b) * x / (a + 1.0)).recip();
    let mut result = bottom;
    for turn in 1..100_000 {
        let m = f64::from(turn);
        for term in [m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)), -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))] {
            bottom = away(1.0 + term * bottom).recip();
            top = away(1.0 + term / top);
            result *= top * bottom;
        }
        if (top * bottom - 1.0).abs() < 1e-15 {
            break;
        }
    }
    result
}

/// ln Γ(x) for x > 0: Stirling's series, after moving x up to where it is exact to the last bits.
fn ln_gamma(x: f64) -> f64 {
    let mut shift = 0.0;
    let mut x = x;
    while x < 15.0 {
        shift += x.ln();
        x += 1.0;
    }
    let square = (x * x).recip();
    let series = (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square * (1.0 / 1680.0 - square / 1188.0)))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(X ≤ hits) for a binomial X, summed term by term.
    fn at_most(hits: u64, draws: u64, share: f64) -> f64 {
        // By logarithms, because the first terms can be too small for a number.
        let mut term = draws as f64 * (-share).ln_1p();
        let mut sum = term.exp();
        for hit in 0..hits {
            term += ((draws - hit) as f64 / (hit + 1) as f64 * share / (1.0 - share)).ln();
            sum += term.exp();
        }
        sum
    }

    #[test]
    fn bounds_are_where_the_binomial_sums_say() {
        for draws in [1, 2, 3, 7, 20, 100, 500] {
            for hits in 0..draws {
                for error in [0.2, 0.05, 0.01] {
                    let bound = share_at_most(hits, draws, error).unwrap();
                    let sum = at_most(hits, draws, bound);
                    assert!((sum - error).abs() < 1e-9, "{hits} of {draws} at {error}: {bound} gives {sum}");
                }
            }
            assert_eq!(share_at_most(draws, draws, 0.05).unwrap(), 1.0);
        }
    }

    #[test]
    fn bounds_match_another_computation() {
        // From mpmath with 40 digits, by bisection on the binomial sums.
        for (hits, draws, error, upper, lower) in KNOWN {
            let (found_upper, found_lower) = (share_at_most(hits, draws, error).unwrap(), share_at_least(hits, draws, error).unwrap());
            assert!((found_upper / upper - 1.0).abs() < 1e-9, "{hits} of {draws}: {found_upper} and not {upper}");
            assert!((found_lower - lower).abs() < 1e-9, "{hits} of {draws}: {found_lower} and not {lower}");
        }
    }

    const KNOWN: [(u64, u64, f64, f64, f64); 8] = [
        (0, 3000, 0.05, 0.000998079011996587, 0.0),
        (1, 3000, 0.05, 0.001580301827458731, 1.709761862990271e-5),
        (7, 3000, 0.05, 0.004378214437280744, 0.001095601166706351),
        (299, 3000, 0.05, 0.1091208248074937, 0.09079594721000674),
        (2990, 3000, 0.01, 0.9986221479817781, 0.9932964560497983),
        (5, 10, 0.025, 0.8129139715526015, 0.1870860284473985),
        (1234, 1000000, 0.05, 0.001293328882115472, 0.001176826186696049),
        (3, 65536, 0.001, 0.0001992986762570228, 2.907348754257606e-6),
    ];

    #[test]
    fn intervals_are_the_two_bounds_at_half_the_error() {
        let (low, high) = share_between(10, 100, 0.05).unwrap();
        assert_eq!((low, high), (share_at_least(10, 100, 0.025).unwrap(), share_at_most(10, 100, 0.025).unwrap()));
        assert_eq!(share_between(0, 0, 0.05).unwrap(), (0.0, 1.0));
        assert!((rule_of_three(3000) - 0.001).abs() < 1e-15 && rule_of_three(0) == 1.0 && rule_of_three(2) == 1.0);
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(share_at_most(3, 2, 0.05).is_err() && share_at_least(3, 2, 0.05).is_err());
        assert!(share_at_most(0, 2, 0.0).is_err() && share_at_most(0, 2, f64::NAN).is_err());
    }
}
