//! The rule by which claims are judged, and all its thresholds.
//!
//! A claim is divided into cases. A case compares a measured figure with another or with a line: it *agrees* if the
//! 95 % interval of the measured difference lies on the claimed side, *differs* if it lies on the other side, and is
//! *open* if it lies on both. An open case says how many runs would decide it if the figures stayed as they are.
//!
//! A claim agrees if all its cases agree and differs if all differ. It is *partly* true as soon as one case agrees and
//! another differs. Everything else is open. The thresholds were fixed before the runs that they judge.

use crate::{Cases, Findings, Judgement, Reason};
use wayfarer::Interval;

/// A figure is *about* another if neither is more than this many times the other.
pub(crate) const ABOUT: f64 = 1.25;

/// *Never* and *hardly ever* are less than this share of the runs; *always* is all but this share.
pub(crate) const RARE: f64 = 0.05;

/// *Most* is more than this share.
pub(crate) const MOST: f64 = 0.5;

/// A straight line *fits* if it explains more than this share of the variance.
pub(crate) const FITS: f64 = 0.9;

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
