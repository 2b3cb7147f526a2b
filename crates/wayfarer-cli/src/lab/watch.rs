//! Shows the progress of the experiments and the remaining time, and reacts to Ctrl-C.

use crate::output::complain;
use crate::progress::Style;
use crate::signals::Signals;
use crate::sizes;
use std::sync::Mutex;
use std::time::Instant;
use wayfarer_lab::{Experiment, Watch};

pub(super) struct Watcher<'a> {
    signals: &'a Signals,
    style: Style,
    quick: bool,
    chosen: usize,
    state: Mutex<State>,
}

/// The watch of one experiment.
pub(super) struct Watched<'a> {
    watcher: &'a Watcher<'a>,
    experiment: &'static Experiment,
}

struct State {
    /// The number of experiments that are finished.
    finished: usize,
    /// Those that run, with the share of each that is done.
    running: Vec<(&'static Experiment, f64)>,
    started: Instant,
    due: Instant,
    drawn: bool,
    estimate: Estimate,
}

/// The estimate of the remaining time: the expected time of the rest, scaled by this machine's speed so far.
#[derive(Clone, Copy, Debug, Default)]
struct Estimate {
    /// Expected seconds of the experiments that have not begun.
    ahead: f64,
    /// Expected seconds of the finished ones.
    expected: f64,
}

impl Estimate {
    /// The remaining seconds if `done` expected seconds of the `current` ones that run are over, after `taken` seconds in all.
    fn left(&self, current: f64, done: f64, taken: f64) -> f64 {
        let over = self.expected + done;
        // Before anything is done, only the expected times are known.
        let pace = if over > 1.0 { (taken / over).clamp(0.02, 50.0) } else { 1.0 };
        pace * (self.ahead + current - done)
    }
}

impl<'a> Watcher<'a> {
    pub(super) fn new(signals: &'a Signals, quiet: bool, chosen: &[&Experiment], quick: bool) -> Self {
        let now = Instant::now();
        let estimate = Estimate { ahead: chosen.iter().map(|experiment| experiment.expected_seconds(quick)).sum(), ..Estimate::default() };
        let state = State { finished: 0, running: Vec::new(), started: now, due: now, drawn: false, estimate };
        Watcher { signals, style: Style::fitting(quiet), quick, chosen: chosen.len(), state: Mutex::new(state) }
    }

    /// The watch of an experiment.
    pub(super) fn of(&'a self, experiment: &'static Experiment) -> Watched<'a> {
        Watched { watcher: self, experiment }
    }

    fn with(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap_or_else(|poison| poison.into_inner()));
    }

    /// Removes the line of progress from a terminal.
    pub(super) fn clear(&self) {
        self.with(|state| {
            if std::mem::take(&mut state.drawn) {
                complain("\r\x1b[K");
            }
        });
    }

    /// Skips an experiment whose findings already exist.
    pub(super) fn skip(&self, experiment: &Experiment) {
        self.with(|state| {
            state.finished += 1;
            state.estimate.ahead -= experiment.expected_seconds(self.quick);
        });
        if self.style != Style::Quiet {
            complain(&format!("{}: found in the folder\n", experiment.name));
        }
    }

    pub(super) fn begin(&self, experiment: &'static Experiment) {
        self.with(|state| {
            state.running.push((experiment, 0.0));
            state.estimate.ahead -= experiment.expected_seconds(self.quick);
            if self.style == Style::Plain {
                complain(&format!("{} begins\n", experiment.name));
            }
        });
    }

    pub(super) fn end(&self, experiment: &Experiment) {
        self.with(|state| {
            state.finished += 1;
            state.running.retain(|(running, _)| running.name != experiment.name);
            state.estimate.expected += experiment.expected_seconds(self.quick);
            if self.style == Style::Plain {
                complain(&format!(
                    "[{}/{}] {} is done after {}\n",
                    state.finished,
                    self.chosen,
                    experiment.name,
                    sizes::clock(state.started.elapsed().as_secs_f64())
                ));
            }
        });
    }
}

impl Watch for Watched<'_> {
    fn ended(&self) -> bool {
        self.watcher.signals.end()
    }

    fn progress(&self, share: f64) {
        let watcher = self.watcher;
        let asked = watcher.signals.take_line();
        watcher.with(|state| {
            state.running.iter_mut().filter(|(running, _)| running.name == self.experiment.name).for_each(|(_, done)| *done = share);
            let now = Instant::now();
            if !(asked || watcher.style != Style::Quiet && now >= state.due) {
                return;
            }
            let seconds = (now - state.started).as_secs_f64();
            let expected = |experiment: &Experiment| experiment.expected_seconds(watcher.quick);
            let current: f64 = state.running.iter().map(|(running, _)| expected(running)).sum();
            let done: f64 = state.running.iter().map(|(running, share)| share * expected(running)).sum();
            let names: Vec<String> = state.running.iter().map(|(running, share)| format!("{} {:.0} %", running.name, 100.0 * share)).collect();
            let line = format!(
                "[{}/{}] {} · {} · about {} left",
                state.finished,
                watcher.chosen,
                names.join(", "),
                sizes::clock(seconds),
                sizes::clock(state.estimate.left(current, done, seconds))
            );
            if watcher.style == Style::Terminal {
                // A line that is wider than the terminal could not be drawn over.
                let line: String = line.chars().take(super::width().saturating_sub(1)).collect();
                complain(&format!("\r\x1b[K{line}"));
                state.drawn = true;
            } else {
                complain(&format!("{line}\n"));
            }
            state.due = now + watcher.style.every();
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_follows_the_pace_of_this_machine() {
        let estimate = Estimate { ahead: 100.0, expected: 20.0 };
        // Twice as slow as expected: half of the ten seconds that run are over.
        assert_eq!(estimate.left(10.0, 5.0, 50.0), 2.0 * 105.0);
        assert_eq!(Estimate { ahead: 30.0, expected: 0.0 }.left(10.0, 0.0, 0.0), 40.0);
    }
}
