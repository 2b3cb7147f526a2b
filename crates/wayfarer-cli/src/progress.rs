//! Shows the progress of a run: a line that is overwritten on a terminal, plain lines elsewhere, one more on SIGUSR1;
//! and ends the run on Ctrl-C.
//!
//! The loop calls this after every round, far more often than anything needs to be shown. A thread that only sleeps
//! raises a flag about fifty times a second, so that a call costs one load of an atomic.

use crate::output::complain;
use crate::signals::Signals;
use crate::sizes;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use wayfarer::memory::Budget;
use wayfarer::search::{Account, Control, Progress, Stop};

const TICK: Duration = Duration::from_millis(20);
const TERMINAL_EVERY: Duration = Duration::from_millis(200);
const PLAIN_FIRST: Duration = Duration::from_secs(2);
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// The style of progress output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Not at all, unless a signal asks for it.
    Quiet,
    /// A new line from time to time.
    Plain,
    /// One line that changes.
    Terminal,
}

impl Style {
    /// The style that suits standard error.
    pub(crate) fn fitting(quiet: bool) -> Style {
        match quiet {
            true => Style::Quiet,
            false if std::io::stderr().is_terminal() => Style::Terminal,
            false => Style::Plain,
        }
    }

    /// The time until the first line: soon, so that a user sees that something happens.
    pub(crate) fn first(self) -> Duration {
        if self == Style::Terminal { TERMINAL_EVERY } else { PLAIN_FIRST }
    }

    /// The time from one line to the next.
    pub(crate) fn every(self) -> Duration {
        if self == Style::Terminal { TERMINAL_EVERY } else { PLAIN_EVERY }
    }
}

/// The control of a run that a person watches.
pub(crate) struct Watcher<'a> {
    signals: &'a Signals,
    budget: &'a Budget,
    style: Style,
    started: Instant,
    until: Option<Instant>,
    due: Instant,
    drawn: bool,
    last: (Instant, Progress),
    tick: Arc<AtomicBool>,
    done: Arc<AtomicBool>,
}

impl<'a> Watcher<'a> {
    /// Starts to watch.
    pub(crate) fn new(signals: &'a Signals, budget: &'a Budget, style: Style, time: Option<Duration>) -> Self {
        let started = Instant::now();
        let tick = Arc::new(AtomicBool::new(false));
        let done = Arc::new(AtomicBool::new(false));
        let (raise, over) = (tick.clone(), done.clone());
        let clock = move || {
            while !over.load(Ordering::Relaxed) {
                std::thread::sleep(TICK);
                raise.store(true, Ordering::Relaxed);
            }
        };
        if std::thread::Builder::new().name("clock".to_string()).stack_size(64 << 10).spawn(clock).is_err() {
            // Without the thread the flag stays raised: slower, but correct.
            done.store(true, Ordering::Relaxed);
        }
        Watcher {
            signals,
            budget,
            style,
            started,
            until: time.and_then(|time| started.checked_add(time)),
            due: started + style.first(),
            drawn: false,
            last: (started, Progress::default()),
            tick,
            done,
        }
    }

    fn look(&mut self, progress: &Progress) -> Option<Stop> {
        if self.signals.end() {
            return Some(Stop::Interrupted);
        }
        let now = Instant::now();
        if self.signals.take_line() {
            self.show(now, progress, true);
        } else if self.style != Style::Quiet && now >= self.due {
            self.show(now, progress, false);
            self.due = now + self.style.every();
        }
        self.until.is_some_and(|until| now >= until).then_some(Stop::Time)
    }

    fn show(&mut self, now: Instant, progress: &Progress, keep: bool) {
        let snapshot = Snapshot {
            elapsed: now - self.started,
            since: now - self.last.0,
            progress: *progress,
            before: self.last.1,
            used: self.budget.used(),
            limit: self.budget.limit(),
        };
        self.last = (now, *progress);
        if self.style != Style::Terminal {
            complain(&format!("{}\n", snapshot.line()));
            return;
        }
        let width = terminal_size::terminal_size_of(std::io::stderr()).map_or(80, |(width, _)| usize::from(width.0));
        // A line that reaches the last column would wrap, and then could not be overwritten.
        let mut line = snapshot.line();
        if !keep && line.chars().count() >= width {
            line = snapshot.short_line().chars().take(width.saturating_sub(1)).collect();
        }
        complain(&format!("\r\x1b[K{line}{}", if keep { "\n" } else { "" }));
        self.drawn = !keep;
    }

    /// Removes the line from the terminal.
    pub(crate) fn finish(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        if std::mem::take(&mut self.drawn) {
            complain("\r\x1b[K");
        }
    }
}

impl Control for Watcher<'_> {
    fn ask(&mut self, progress: &Progress) -> Option<Stop> {
        if !self.tick.load(Ordering::Relaxed) && !self.done.load(Ordering::Relaxed) {
            return None;
        }
        self.tick.store(false, Ordering::Relaxed);
        self.look(progress)
    }
}

impl Drop for Watcher<'_> {
    fn drop(&mut self) {
        self.finish();
    }
}

/// The state of a run. Rates are those since the previous line.
struct Snapshot {
    elapsed: Duration,
    since: Duration,
    progress: Progress,
    before: Progress,
    used: usize,
    limit: usize,
}

impl Snapshot {
    fn rate(&self) -> String {
        sizes::rough(self.progress.states.saturating_sub(self.before.states) as f64 / self.seconds())
    }

    fn growth(&self) -> String {
        let growth = (self.progress.frontier as f64 - self.before.frontier as f64) / self.seconds();
        format!("{}{}", if growth >= 0.0 { "+" } else { "" }, sizes::rough(growth))
    }

    fn has_frontier(&self) -> bool {
        self.progress.frontier > 0 || self.before.frontier > 0
    }

    fn seconds(&self) -> f64 {
        self.since.as_secs_f64().max(1e-3)
    }

    fn line(&self) -> String {
        // Random searches have no frontier.
        let frontier = match self.has_frontier() {
            true => format!(" · frontier {} ({}/s)", sizes::count(self.progress.frontier), self.growth()),
            false => String::new(),
        };
        let mut line = format!(
            "{} states ({}/s){frontier} · depth {} · {} of {} · {}",
            sizes::count(self.progress.states),
            self.rate(),
            sizes::count(u64::from(self.progress.depth)),
            sizes::bytes(self.used),
            sizes::bytes(self.limit),
            sizes::clock(self.elapsed.as_secs_f64()),
        );
        if !self.progress.phase.is_empty() {
            line.push_str(&format!(" · {}", self.progress.phase));
        }
        if self.progress.violations > 0 {
            // A level is finished before the run ends, so several may be met where one is reported.
            line.push_str(" · violation found");
        }
        line
    }

    /// The same for a narrow terminal.
    fn short_line(&self) -> String {
        let frontier = match self.has_frontier() {
            true => format!(", frontier {} {}/s", sizes::rough(self.progress.frontier as f64), self.growth()),
            false => String::new(),
        };
        format!(
            "{} states {}/s{frontier}, depth {}, {}, {}",
            sizes::rough(self.progress.states as f64),
            self.rate(),
            sizes::count(u64::from(self.progress.depth)),
            sizes::bytes(self.used),
            sizes::clock(self.elapsed.as_secs_f64()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_where_a_run_stands() {
        let before = Progress { states: 1000, fired: 1, steps: 1, frontier: 900, depth: 3, ..Progress::default() };
        let progress = Progress { states: 51_000, fired: 1, steps: 1, frontier: 400, depth: 12, ..Progress::default() };
        let snapshot = Snapshot { elapsed: Duration::from_secs(3), since: Duration::from_secs(2), progress, before, used: 3 << 20, limit: 1 << 30 };
        assert_eq!(snapshot.line(), "51,000 states (25.0 k/s) · frontier 400 (-250/s) · depth 12 · 3.0 MiB of 1.0 GiB · 3.0 s");
        assert_eq!(snapshot.short_line(), "51.0 k states 25.0 k/s, frontier 400 -250/s, depth 12, 3.0 MiB, 3.0 s");
    }
}
