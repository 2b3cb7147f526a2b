//! The rule by which claims are judged, and all its thresholds.
//!
//! A claim is divided into cases. A case compares a measured figure with another or with a line: it *agrees* if the
//! 95 % interval of the measured difference lies on the claimed side, *differs* if it lies on the other side, and is
//! *open* if it lies on both. An open case says how many runs would decide it if the figures stayed as they are.
//!
//! A claim agrees if all its cases agree and differs if all differ. It is *partly* true as soon as one case agrees and
//! another differs. Everything else is open. The thresholds were fixed before the runs that they judge.
//!
//! Four principles decide what is compared, and how:
//!
//! - *A printed figure is a measurement, too*, and papers print it without its interval. So two printed figures are in an
//!   order only if they are not about the same ([`printed_order`]). A sentence that sums up a table is judged in every
//!   cell in which the table has an order, and the order of the table must come back, exceptions included.
//! - *An interval must hold what it promises.* Student's interval is for values that are nearly normal. The states that a
//!   search needs to its find are nearly exponential, and an interval of few runs misses their mean too often. Such
//!   means are judged from [`ENOUGH`] runs on ([`Figure::skewed`]); with fewer they are only shown.
//! - *Equal is an answer.* If one figure is claimed to be more than another and both are about the same for certain, the
//!   claim is wrong, and no number of runs would show more ([`Figure::outdoes`]). This closes open cases against the
//!   claim, and never in its favour.
//! - *Times are compared in pairs and by the median.* What else the computer does makes a run slower and never faster, so
//!   that a few disturbed runs move a mean and not a median ([`Figure::median`]).

use crate::{Cases, Findings, Judgement, Reason};
use std::cmp::Ordering;
use wayfarer::Interval;

/// A figure is *about* another if neither is more than this many times the other.
pub(crate) const ABOUT: f64 = 1.25;

/// *Never* and *hardly ever* are less than this share of the runs; *always* is all but this share.
pub(crate) const RARE: f64 = 0.05;

/// *Most* is more than this share.
pub(crate) const MOST: f64 = 0.5;

/// A straight line *fits* if it explains more than this share of the variance.
pub(crate) const FITS: f64 = 0.9;

/// The fewest runs from which the mean of nearly exponential values is judged. Student's interval of 95 % then covers the
/// mean of such values in 93 % of the cases, and with four runs in 88 %.
pub(crate) const ENOUGH: usize = 30;

/// The order of two figures that a paper prints; `None` if they are about the same.
pub(crate) fn printed_order(one: f64, other: f64) -> Option<Ordering> {
    if one > ABOUT * other {
        Some(Ordering::Greater)
    } else if other > ABOUT * one {
        Some(Ordering::Less)
    } else {
        None
    }
}

/// The verdict of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// As claimed.
    Agrees,
    /// Not as claimed.
    Differs,
    /// The interval lies on both sides; the number of runs that would decide, if that can be said.
    Open(Option<u64>),
}

/// A measured figure with the number of runs behind it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figure {
    pub(crate) interval: Interval,
    pub(crate) runs: u64,
}

impl Figure {
    /// A figure that is computed and not measured.
    pub(crate) fn exact(value: f64) -> Figure {
        Figure { interval: Interval { value, low: value, high: value }, runs: 1 }
    }

    /// A figure from an interval of this many runs.
    pub(crate) fn of(interval: Interval, runs: usize) -> Figure {
        Figure { interval, runs: runs as u64 }
    }

    /// The mean of some values; without values nothing is known.
    pub(crate) fn mean(values: &[f64]) -> Figure {
        let unknown = Interval { value: 0.0, low: f64::NEG_INFINITY, high: f64::INFINITY };
        Figure::of(Interval::of_mean(values).unwrap_or(unknown), values.len())
    }

    /// The mean of nearly exponential values, given its interval; `None` if there are fewer runs than it needs.
    pub(crate) fn skewed(interval: Interval, runs: usize) -> Option<Figure> {
        (runs >= ENOUGH).then(|| Figure::of(interval, runs))
    }

    /// The median of some values, with an interval of order statistics. Fewer than six values have none.
    pub(crate) fn median(values: &[f64]) -> Figure {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        let n = values.len();
        if n < 6 {
            let value = if n == 0 { 0.0 } else { (values[(n - 1) / 2] + values[n / 2]) / 2.0 };
            return Figure::of(Interval { value, low: f64::NEG_INFINITY, high: f64::INFINITY }, n);
        }
        // The number of values below the median is binomial: as many lie outside at each end as keep 95 % between them.
        let mut outside = 0;
        let (mut term, mut below) = (0.5f64.powi(n as i32), 0.0);
        while below + term <= 0.025 {
            below += term;
            outside += 1;
            term *= (n - outside + 1) as f64 / outside as f64;
        }
        let at = outside.max(1) - 1;
        Figure::of(Interval { value: (values[(n - 1) / 2] + values[n / 2]) / 2.0, low: values[at], high: values[n - 1 - at] }, n)
    }

    /// A share of some runs.
    pub(crate) fn share(found: usize, all: usize) -> Figure {
        if all == 0 { Figure::mean(&[]) } else { Figure::of(Interval::of_share(found, all), all) }
    }

    /// The figure times a factor.
    pub(crate) fn times(&self, factor: f64) -> Figure {
        let Interval { value, low, high } = self.interval;
        Figure { interval: Interval { value: value * factor, low: low * factor, high: high * factor }, runs: self.runs }
    }

    fn value(&self) -> f64 {
        self.interval.value
    }

    /// The difference of two figures that were measured apart from each other.
    fn less(&self, other: &Figure) -> Figure {
        let (one, another) = (self.interval, other.interval);
        let value = one.value - another.value;
        let apart = |near: f64, far: f64| if near == 0.0 && far == 0.0 { 0.0 } else { near.hypot(far) };
        let low = value - apart(one.value - one.low, another.high - another.value);
        let high = value + apart(one.high - one.value, another.value - another.low);
        Figure { interval: Interval { value, low, high }, runs: self.runs.max(other.runs) }
    }

    /// Whether the figure is above zero.
    fn is_positive(&self) -> Verdict {
        let Interval { value, low, high } = self.interval;
        if low > 0.0 {
            Verdict::Agrees
        } else if high < 0.0 || low == 0.0 && high == 0.0 {
            Verdict::Differs
        } else {
            // The interval shrinks with the root of the number of runs.
            let half = if value > 0.0 { value - low } else { high - value };
            let factor = (half / value).powi(2);
            let runs = (factor.is_finite() && factor < 1e6).then(|| (self.runs as f64 * factor).ceil() as u64 + 1);
            Verdict::Open(runs)
        }
    }

    /// The figure is more than another.
    pub(crate) fn more_than(&self, other: &Figure) -> Verdict {
        self.less(other).is_positive()
    }

    /// The figure is more than another. The case also differs if the two are about the same for certain.
    pub(crate) fn outdoes(&self, other: &Figure) -> Verdict {
        match self.more_than(other) {
            Verdict::Open(_) if self.is_about(other) == Verdict::Agrees => Verdict::Differs,
            verdict => verdict,
        }
    }

    /// The figure is not less than another: it differs only if it is less for certain.
    pub(crate) fn at_least(&self, other: &Figure) -> Verdict {
        match other.more_than(self) {
            Verdict::Agrees => Verdict::Differs,
            _ if self.interval.low >= other.interval.high || self.value() >= other.value() => Verdict::Agrees,
            Verdict::Differs => Verdict::Agrees,
            open => open,
        }
    }

    /// The figure is above a line.
    pub(crate) fn above(&self, line: f64) -> Verdict {
        self.more_than(&Figure::exact(line))
    }

    /// The figure is below a line.
    pub(crate) fn below(&self, line: f64) -> Verdict {
        Figure::exact(line).more_than(self)
    }

    /// The figure is about another, which is quoted.
    pub(crate) fn about(&self, quoted: f64) -> Verdict {
        both(self.above(quoted / ABOUT), self.below(quoted * ABOUT))
    }

    /// The figure is about another one that was measured: open unless it is so or not so for certain.
    pub(crate) fn is_about(&self, other: &Figure) -> Verdict {
        both(self.times(ABOUT).more_than(other), other.times(ABOUT).more_than(self))
    }

    /// A share that is nearly none of the runs.
    pub(crate) fn is_rare(&self) -> Verdict {
        self.below(RARE)
    }

    /// A share that is nearly all of the runs.
    pub(crate) fn is_usual(&self) -> Verdict {
        self.above(1.0 - RARE)
    }
}

/// Two conditions that must both hold.
pub(crate) fn both(one: Verdict, other: Verdict) -> Verdict {
    match (one, other) {
        (Verdict::Differs, _) | (_, Verdict::Differs) => Verdict::Differs,
        (Verdict::Open(one), Verdict::Open(other)) => Verdict::Open(one.max(other)),
        (Verdict::Open(runs), _) | (_, Verdict::Open(runs)) => Verdict::Open(runs),
        _ => Verdict::Agrees,
    }
}

/// A verdict on the end of a run that may have been too short: if it still grew by more than a share of [`RARE`] in the
/// second half of its steps, it cannot differ, only be open.
pub(crate) fn unless_growing(verdict: Verdict, growth: &Figure) -> Verdict {
    match verdict {
        Verdict::Differs if growth.below(RARE) != Verdict::Agrees => Verdict::Open(None),
        verdict => verdict,
    }
}

/// A condition on figures without chance.
pub(crate) fn exactly(holds: bool) -> Verdict {
    if holds { Verdict::Agrees } else { Verdict::Differs }
}

/// A condition that every one of some runs meets: open if there are fewer runs than a share of [`RARE`] needs.
pub(crate) fn never(seen: usize, runs: usize) -> Verdict {
    match Figure::share(seen, runs).is_rare() {
        // Without a case the interval shrinks with the number of runs itself, and not with its root.
        Verdict::Open(_) if seen == 0 => Verdict::Open(Some((3.8415 * (1.0 - RARE) / RARE).ceil() as u64 + 1)),
        verdict => verdict,
    }
}

/// The judgement of a claim from its cases.
pub(crate) fn judged(verdicts: &[Verdict]) -> (Judgement, Cases, Option<u64>) {
    let count = |of: fn(&Verdict) -> bool| verdicts.iter().filter(|verdict| of(verdict)).count();
    let cases = Cases {
        agree: count(|verdict| *verdict == Verdict::Agrees),
        differ: count(|verdict| *verdict == Verdict::Differs),
        open: count(|verdict| matches!(verdict, Verdict::Open(_))),
    };
    let judgement = match (cases.agree, cases.differ, cases.open) {
        (1.., 1.., _) => Judgement::Partly,
        (1.., 0, 0) => Judgement::Agrees,
        (0, 1.., 0) => Judgement::Differs,
        _ => Judgement::Open,
    };
    let needs = verdicts.iter().filter_map(|verdict| if let Verdict::Open(runs) = verdict { *runs } else { None }).max();
    (judgement, cases, needs.filter(|_| judgement == Judgement::Open))
}

impl Findings {
    /// Adds a claim, judged by its cases.
    pub(crate) fn judge(&mut self, claim: impl Into<String>, verdicts: &[Verdict], finding: impl Into<String>) {
        let (judgement, cases, needs) = judged(verdicts);
        self.claim(claim, judgement, finding);
        if let Some(last) = self.claims.last_mut() {
            (last.cases, last.needs) = (Some(cases), needs);
        }
    }

    /// Adds a tested reason to the last claim, unless it agrees.
    pub(crate) fn because(&mut self, holds: bool, hypothesis: impl Into<String>, test: impl Into<String>) {
        if let Some(last) = self.claims.last_mut().filter(|last| last.judgement != Judgement::Agrees) {
            last.reasons.push(Reason { holds, hypothesis: hypothesis.into(), test: test.into() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(value: f64, half: f64, runs: u64) -> Figure {
        Figure { interval: Interval { value, low: value - half, high: value + half }, runs }
    }

    #[test]
    fn a_case_is_decided_only_if_the_interval_lies_on_one_side() {
        assert_eq!(figure(2.0, 1.0, 10).above(0.0), Verdict::Agrees);
        assert_eq!(figure(-2.0, 1.0, 10).above(0.0), Verdict::Differs);
        // Half as far from the line as the interval is wide: four times the runs.
        assert_eq!(figure(1.0, 2.0, 10).above(0.0), Verdict::Open(Some(41)));
        assert_eq!(Figure::mean(&[5.0]).above(0.0), Verdict::Open(None));
        assert_eq!(Figure::mean(&[]).above(0.0), Verdict::Open(None));
        assert_eq!(figure(5.0, 1.0, 9).more_than(&figure(3.0, 1.0, 9)), Verdict::Agrees);
        assert_eq!(figure(5.0, 1.5, 9).more_than(&figure(3.0, 1.5, 9)), Verdict::Open(Some(12)));
        assert_eq!((Figure::exact(1.0).above(1.0), Figure::exact(1.0).at_least(&Figure::exact(1.0))), (Verdict::Differs, Verdict::Agrees));
    }

    #[test]
    fn about_never_and_always_have_their_lines_here() {
        assert_eq!((figure(1.9, 0.1, 5).about(2.0), figure(3.0, 0.1, 5).about(2.0)), (Verdict::Agrees, Verdict::Differs));
        assert!(matches!(figure(2.4, 0.2, 5).about(2.0), Verdict::Open(_)));
        // Eighty runs without a case show that there are fewer than one in twenty; ten do not.
        assert_eq!((never(0, 80), never(40, 80)), (Verdict::Agrees, Verdict::Differs));
        assert!(matches!(never(0, 10), Verdict::Open(Some(70..90))), "{:?}", never(0, 10));
        assert_eq!(Figure::share(200, 200).is_usual(), Verdict::Agrees);
    }

    #[test]
    fn printed_figures_are_in_an_order_only_if_they_are_not_about_the_same() {
        assert_eq!((printed_order(10.0, 7.0), printed_order(7.0, 10.0)), (Some(Ordering::Greater), Some(Ordering::Less)));
        assert_eq!((printed_order(10.0, 9.0), printed_order(9.0, 10.0)), (None, None));
    }

    #[test]
    fn two_figures_that_are_about_the_same_for_certain_do_not_outdo_each_other() {
        let (one, other) = (figure(100.0, 5.0, 50), figure(103.0, 5.0, 50));
        assert!(matches!(other.more_than(&one), Verdict::Open(_)));
        assert_eq!((one.outdoes(&other), other.outdoes(&one)), (Verdict::Differs, Verdict::Differs));
        assert_eq!((one.is_about(&other), figure(150.0, 5.0, 50).is_about(&one)), (Verdict::Agrees, Verdict::Differs));
        // More for certain stays more, however little; wide intervals stay open.
        assert_eq!(figure(120.0, 5.0, 50).outdoes(&one), Verdict::Agrees);
        assert!(matches!(figure(103.0, 40.0, 50).outdoes(&one), Verdict::Open(_)));
    }

    #[test]
    fn the_interval_of_a_median_is_made_of_order_statistics() {
        let values: Vec<f64> = (1..=20).rev().map(f64::from).collect();
        let Interval { value, low, high } = Figure::median(&values).interval;
        // The sixth and the fifteenth of twenty enclose the median with 95.9 %, as tables have it.
        assert_eq!((value, low, high), (10.5, 6.0, 15.0));
        let disturbed: Vec<f64> = values.iter().map(|value| if *value == 20.0 { 1e9 } else { *value }).collect();
        assert_eq!(Figure::median(&disturbed).interval, Figure::median(&values).interval);
        assert_eq!((Figure::median(&values[..5]).above(0.0), Figure::median(&[]).above(0.0)), (Verdict::Open(None), Verdict::Open(None)));
    }

    #[test]
    fn from_enough_runs_on_the_interval_of_an_exponential_mean_holds() {
        // The share of 4,000 intervals that cover the mean: the seed is fixed, and another would change it by less than 0.015 in all
        // but one of a thousand cases.
        let covers = |runs: usize| {
            let mut rng = wayfarer::space::Rng::new(1, "exponential");
            let holds = |_: &usize| {
                let values: Vec<f64> = (0..runs).map(|_| -(1.0 - rng.unit()).ln()).collect();
                let interval = Figure::mean(&values).interval;
                interval.low <= 1.0 && 1.0 <= interval.high
            };
            (0..4_000).filter(holds).count() as f64 / 4_000.0
        };
        let (enough, few) = (covers(ENOUGH), covers(4));
        assert!(enough > 0.91 && few < 0.9, "{enough} and {few}");
    }

    #[test]
    fn a_run_that_is_too_short_never_differs() {
        let (grows, rests) = (figure(0.2, 0.01, 5), figure(0.01, 0.005, 5));
        assert_eq!(unless_growing(Verdict::Differs, &grows), Verdict::Open(None));
        assert_eq!((unless_growing(Verdict::Differs, &rests), unless_growing(Verdict::Agrees, &grows)), (Verdict::Differs, Verdict::Agrees));
    }

    #[test]
    fn a_claim_is_open_unless_its_cases_decide_it() {
        use Verdict::*;
        let word = |verdicts: &[Verdict]| judged(verdicts).0.word();
        assert_eq!(word(&[Agrees, Agrees]), "agrees");
        assert_eq!(word(&[Differs]), "differs");
        assert_eq!(word(&[Agrees, Differs, Open(None)]), "partly");
        assert_eq!((word(&[Agrees, Open(Some(7))]), word(&[Differs, Open(None)]), word(&[])), ("open", "open", "open"));
        assert_eq!(judged(&[Open(Some(7)), Open(Some(9))]).2, Some(9));
    }
}
