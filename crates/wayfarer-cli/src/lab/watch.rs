//! Shows the progress of the experiments and the remaining time, and reacts to Ctrl-C.

use crate::output::complain;
use crate::progress::Style;
use crate::signals::Signals;
use crate::sizes;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use wayfarer_lab::{Experiment, Watch};

const TERMINAL_EVERY: Duration = Duration::from_millis(200);
const PLAIN_EVERY: Duration = Duration::from_secs(10);

pub(super) struct Watcher<'a> {
    signals: &'a Signals,
    style: Style,
    quick: bool,
    chosen: usize,
    state: Mutex<State>,
}

struct State {
    /// The number of experiments begun.
    begun: usize,
    name: &'static str,
    started: Instant,
    due: Instant,
    drawn: bool,
    estimate: Estimate,
}

/// The estimate of the remaining time: the expected time of the rest, scaled by this machine's speed so far.
#[derive(Clone, Copy, Debug, Default)]
struct Estimate {
    /// Expected seconds of the experiments after this one, and of this one.
    ahead: f64,
    current: f64,
    /// Expected seconds and actual seconds of the finished ones.
    expected: f64,
    taken: f64,
}

impl Estimate {
    /// The remaining seconds if `share` of the current experiment took `seconds`.
    fn left(&self, share: f64, seconds: f64) -> f64 {
        let (expected, taken) = (self.expected + share * self.current, self.taken + seconds);
        // Before anything is done, only the expected times are known.
        let pace = if expected > 1.0 { (taken / expected).clamp(0.02, 50.0) } else { 1.0 };
        let current = if share > 0.05 { seconds / share * (1.0 - share) } else { pace * self.current };
        current + pace * self.ahead
    }
}

impl<'a> Watcher<'a> {
    pub(super) fn new(signals: &'a Signals, quiet: bool, chosen: &[&Experiment], quick: bool) -> Self {
        let now = Instant::now();
        let estimate = Estimate { ahead: chosen.iter().map(|experiment| experiment.expected_seconds(quick)).sum(), ..Estimate::default() };
        let state = State { begun: 0, name: "", started: now, due: now, drawn: false, estimate };
        Watcher { signals, style: Style::fitting(quiet), quick, chosen: chosen.len(), state: Mutex::new(state) }
    }

    fn with(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap_or_else(|poison| poison.into_inner()));
    }

    /// Skips an experiment whose findings already exist.
    pub(super) fn skip(&self, experiment: &Experiment) {
        self.with(|state| {
            state.begun += 1;
            state.estimate.ahead -= experiment.expected_seconds(self.quick);
        });
        if self.style != Style::Quiet {
            complain(&format!("{}: found in the folder\n", experiment.name));
        }
    }

    pub(super) fn begin(&self, experiment: &'static Experiment) {
        self.with(|state| {
            let now = Instant::now();
            state.begun += 1;
            (state.name, state.started, state.due) = (experiment.name, now, now + TERMINAL_EVERY);
            state.estimate.current = experiment.expected_seconds(self.quick);
            state.estimate.ahead -= state.estimate.current;
            if self.style == Style::Plain {
                state.due = now + PLAIN_EVERY;
                let left = state.estimate.left(0.0, 0.0);
                complain(&format!("[{}/{}] {} · about {} left\n", state.begun, self.chosen, state.name, sizes::clock(left)));
            }
        });
    }

    pub(super) fn end(&self, experiment: &Experiment) {
        self.with(|state| {
            state.estimate.expected += experiment.expected_seconds(self.quick);
            state.estimate.taken += state.started.elapsed().as_secs_f64();
            state.estimate.current = 0.0;
            if std::mem::take(&mut state.drawn) {
                complain("\r\x1b[K");
            }
        });
    }
}

impl Watch for Watcher<'_> {
    fn ended(&self) -> bool {
        self.signals.end()
    }

    fn progress(&self, share: f64) {
        let asked = self.signals.take_line();
        self.with(|state| {
            let now = Instant::now();
            if !(asked || self.style != Style::Quiet && now >= state.due) {
                return;
            }
            let seconds = (now - state.started).as_secs_f64();
            let line = format!(
                "[{}/{}] {} {:.0} % · {} · about {} left",
                state.begun,
                self.chosen,
                state.name,
                100.0 * share,
                sizes::clock(seconds),
                sizes::clock(state.estimate.left(share, seconds))
            );
            if self.style == Style::Terminal {
                complain(&format!("\r\x1b[K{line}"));
                (state.drawn, state.due) = (true, now + TERMINAL_EVERY);
            } else {
                complain(&format!("{line}\n"));
                state.due = now + PLAIN_EVERY;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_follows_the_pace_of_this_machine() {
        let estimate = Estimate { ahead: 100.0, current: 10.0, expected: 20.0, taken: 40.0 };
        // Twice as slow as expected: half of the current one took ten seconds.
        assert_eq!(estimate.left(0.5, 10.0), 10.0 + 200.0);
        assert_eq!(Estimate { ahead: 30.0, current: 10.0, ..Estimate::default() }.left(0.0, 0.0), 40.0);
    }
}
