//! A number with its uncertainty, from independent repetitions.

use crate::sum::Sum;

/// The confidence of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Confidence {
    /// 95 %.
    #[default]
    P95,
    /// 99 %.
    P99,
    /// 99.9 %.
    P999,
}

impl Confidence {
    /// The quantile of the normal distribution for a two-sided interval.
    fn quantile(self) -> f64 {
        match self {
            Confidence::P95 => 1.959_963_984_540_054,
            Confidence::P99 => 2.575_829_303_548_901,
            Confidence::P999 => 3.290_526_731_491_895,
        }
    }

    /// In per cent.
    pub fn percent(self) -> f64 {
        match self {
            Confidence::P95 => 95.0,
            Confidence::P99 => 99.0,
            Confidence::P999 => 99.9,
        }
    }
}

/// A mean over repetitions with an interval for the true mean, by the normal approximation. The interval
/// holds for each number by itself, not for all numbers of a curve at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Estimate {
    /// Whether the interval contains a value.
    pub fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// Collects repetitions of one number.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sample {
    count: u32,
    origin: f64,
    sum: Sum,
    squares: Sum,
}

impl Sample {
    pub(crate) fn add(&mut self, value: f64) {
        if self.count == 0 {
            // Differences from the first value, so that the variance is not lost in the square of the mean.
            self.origin = value;
        }
        self.count += 1;
        self.sum.add(value - self.origin);
        self.squares.add((value - self.origin).powi(2));
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// The interval; `None` from fewer than two values.
    pub(crate) fn estimate(&self, confidence: Confidence) -> Option<Estimate> {
        if self.count < 2 {
            return None;
        }
        let count = f64::from(self.count);
        let shift = self.sum.value() / count;
        let variance = (self.squares.value() - count * shift * shift).max(0.0) / (count - 1.0);
        let (mean, half) = (self.origin + shift, confidence.quantile() * (variance / count).sqrt());
        Some(Estimate { mean, low: mean - half, high: mean + half })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_of_a_known_sample() {
        let mut sample = Sample::default();
        assert_eq!(sample.estimate(Confidence::P95), None);
        [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].iter().for_each(|value| sample.add(*value));
        // Mean 5, sample variance 32/7.
        let estimate = sample.estimate(Confidence::P95).unwrap();
        assert_eq!(estimate.mean, 5.0);
        assert!((estimate.high - 5.0 - 1.959964 * (32f64 / 7.0 / 8.0).sqrt()).abs() < 1e-6);
        assert!(estimate.holds(5.5) && !estimate.holds(7.0));
    }
}
