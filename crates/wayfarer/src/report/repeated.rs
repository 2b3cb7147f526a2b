//! A summary of several runs with different seeds.

use crate::Report;
use serde_json::{Value, json};

/// A value with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The value.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Several runs of one plan with different seeds.
#[derive(Clone, Debug, Default)]
pub struct Repeated {
    /// The reports, in the order of the seeds.
    pub runs: Vec<Report>,
}

impl Interval {
    /// The share `found` / `all`, with Wilson's interval.
    pub fn of_share(found: usize, all: usize) -> Interval {
        let (n, found) = (all as f64, found as f64);
        let share = found / n;
        let middle = (share + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
        let half = Z / (1.0 + Z * Z / n) * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
        Interval { value: share, low: (middle - half).max(0.0), high: (middle + half).min(1.0) }
    }

    /// The mean of some values, with an interval of Student's t; the interval is open if there is only one value.
    /// `None` if there is no value.
    pub fn of_mean(values: &[f64]) -> Option<Interval> {
        let n = values.len() as f64;
        if values.is_empty() {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n;
        if values.len() == 1 {
            return Some(Interval { value: mean, low: f64::NEG_INFINITY, high: f64::INFINITY });
        }
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let half = student(values.len() - 1) * (variance / n).sqrt();
        Some(Interval { value: mean, low: mean - half, high: mean + half })
    }
}

/// Two-sided 95 % of a normal distribution.
const Z: f64 = 1.959_963_984_540_054;

impl Repeated {
    /// Runs that found something.
    pub fn successes(&self) -> impl Iterator<Item = &Report> {
        self.runs.iter().filter(|report| report.is_violated())
    }

    /// The share of runs that found something, with Wilson's interval.
    pub fn success_rate(&self) -> Interval {
        Interval::of_share(self.successes().count(), self.runs.len())
    }

    /// The mean of a figure over the runs that found something, with an interval of Student's t; `None` if there are
    /// none.
    pub fn mean(&self, figure: impl Fn(&Report) -> f64) -> Option<Interval> {
        Interval::of_mean(&self.successes().map(figure).collect::<Vec<f64>>())
    }

    /// The median of a figure over the runs that found something; its interval is made of order statistics.
    pub fn median(&self, figure: impl Fn(&Report) -> f64) -> Option<Interval> {
        let mut values: Vec<f64> = self.successes().map(figure).collect();
        values.sort_by(f64::total_cmp);
        let n = values.len();
        if n == 0 {
            return None;
        }
        let middle = (values[(n - 1) / 2] + values[n / 2]) / 2.0;
        let reach = (Z * (n as f64).sqrt() / 2.0).ceil() as usize;
        let (low, high) = ((n / 2).saturating_sub(reach), (n / 2 + reach).min(n - 1));
        Some(Interval { value: middle, low: values[low], high: values[high] })
    }

    /// The summary as one JSON object.
    pub fn to_json(&self) -> Value {
        let summary = |figure: fn(&Report) -> f64| json!({ "mean": self.mean(figure).map(to_json), "median": self.median(figure).map(to_json) });
        json!({
            "schema": 1,
            "runs": self.runs.len(),
            "found": self.successes().count(),
            "success_rate": to_json(self.success_rate()),
            "states": summary(states),
            "steps": summary(steps),
            "witness_length": summary(length),
            "witness_length_raw": summary(raw_length),
            "each": self.runs.iter().map(Report::to_json).collect::<Vec<_>>(),
        })
    }
}

fn to_json(interval: Interval) -> Value {
    let finite = |value: f64| value.is_finite().then_some(value);
    json!({ "value": interval.value, "low": finite(interval.low), "high": finite(interval.high) })
}

/// The number of states when the violation was found.
pub fn states(report: &Report) -> f64 {
    report.states as f64
}

/// The number of steps when the violation was found.
pub fn steps(report: &Report) -> f64 {
    report.steps as f64
}

/// The witness's length, without loops.
pub fn length(report: &Report) -> f64 {
    first_witness(report).map_or(0.0, |witness| witness.length as f64)
}

/// The witness's length as found.
pub fn raw_length(report: &Report) -> f64 {
    first_witness(report).map_or(0.0, |witness| witness.raw_length as f64)
}

fn first_witness(report: &Report) -> Option<&crate::WitnessReport> {
    report.violations.first()?.witness.as_ref()
}

/// The two-sided 95 % point of Student's t (Cornish-Fisher expansion; the first eight from tables).
fn student(degrees: usize) -> f64 {
    if let Some(value) = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306].get(degrees - 1) {
        return *value;
    }
    let n = degrees as f64;
    Z + (Z.powi(3) + Z) / (4.0 * n) + (5.0 * Z.powi(5) + 16.0 * Z.powi(3) + 3.0 * Z) / (96.0 * n * n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_points_are_those_of_the_tables() {
        for (degrees, value) in [(1, 12.706), (5, 2.571), (10, 2.228), (30, 2.042), (100, 1.984)] {
            assert!((student(degrees) - value).abs() < 0.003, "{degrees}: {}", student(degrees));
        }
    }
}
