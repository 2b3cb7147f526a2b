//! The time of each figure of a prediction: an equal share of what `--time` leaves, and the part of it in which an exact
//! answer must be there.

use crate::options::Method;
use crate::sizes;
use std::time::{Duration, Instant};
use wayfarer::theory::{Simulation, TheoryError};

/// The longest exact computation of `--method auto` if no time is given.
const PATIENCE: Duration = Duration::from_secs(180);

/// The time of the figures that are still to come.
pub(super) struct Shares {
    until: Option<Instant>,
    figures: u32,
}

/// The time of one figure.
#[derive(Clone, Copy)]
pub(super) struct Share {
    /// The end of an exact computation.
    pub(super) exact: Option<Instant>,
    /// The end of the figure.
    pub(super) all: Option<Instant>,
    /// The duration of an exact computation.
    lasts: Duration,
}

impl Shares {
    /// Shares of `time` for this many figures.
    pub(super) fn new(time: Option<Duration>, figures: u32) -> Shares {
        Shares { until: time.and_then(|time| Instant::now().checked_add(time)), figures }
    }

    /// The share of the next figure, which begins now. If a simulation can follow, half of it is kept for that.
    pub(super) fn next(&mut self, method: Method) -> Share {
        let now = Instant::now();
        let share = self.until.map(|until| until.saturating_duration_since(now) / self.figures.max(1));
        self.figures = self.figures.saturating_sub(1);
        let lasts = match (share, method) {
            (Some(share), Method::Exact) => Some(share),
            (Some(share), _) => Some(share / 2),
            (None, Method::Exact) => None,
            (None, _) => Some(PATIENCE),
        };
        Share {
            exact: lasts.and_then(|lasts| now.checked_add(lasts)),
            all: share.and_then(|share| now.checked_add(share)),
            lasts: lasts.unwrap_or_default(),
        }
    }
}

impl Share {
    /// The reason why a figure is not exact.
    pub(super) fn too_short(self) -> TheoryError {
        let lasts = sizes::clock(self.lasts.as_secs_f64());
        TheoryError::Parameter(match self.all {
            Some(_) => format!("an exact answer takes longer than the {lasts} that --time leaves it"),
            None => format!("an exact answer takes longer than {lasts} (--method exact waits for it)"),
        })
    }
}

/// Simulates with as many of the runs as fit, but at least two. Their number grows as long as there is time for more;
/// the first runs are the same each time, so that the last estimate contains all others.
pub(super) fn fitting<S>(
    asked: Simulation,
    until: Option<Instant>,
    mut simulate: impl FnMut(Simulation) -> Result<S, TheoryError>,
) -> Result<S, TheoryError> {
    let Some(until) = until else { return simulate(asked) };
    let mut runs = asked.runs.min(2);
    loop {
        let started = Instant::now();
        let estimate = simulate(Simulation { runs, ..asked })?;
        let (took, left) = (started.elapsed().as_secs_f64(), until.saturating_duration_since(Instant::now()).as_secs_f64());
        let more = (left / took.max(1e-9)).min(4.0);
        if runs >= asked.runs || more < 1.5 {
            return Ok(estimate);
        }
        runs = ((f64::from(runs) * more) as u32).clamp(runs + 1, asked.runs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_share_the_time() {
        let mut shares = Shares::new(Some(Duration::from_secs(4000)), 4);
        let now = Instant::now();
        let first = shares.next(Method::Auto);
        let seconds = |at: Option<Instant>| at.unwrap().duration_since(now).as_secs_f64().round();
        // The test may be slow, but not by tens of seconds.
        assert!((490.0..=510.0).contains(&seconds(first.exact)) && (990.0..=1010.0).contains(&seconds(first.all)));
        let second = shares.next(Method::Exact);
        assert!((1300.0..=1370.0).contains(&seconds(second.exact)), "an early figure leaves its time to the others");
        let mut shares = Shares::new(None, 1);
        assert!(shares.next(Method::Exact).exact.is_none() && shares.next(Method::Auto).exact.is_some());
    }
}
