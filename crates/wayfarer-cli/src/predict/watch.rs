//! Shows the progress of a long computation, and ends it on Ctrl-C or when its time is over.

use crate::output::complain;
use crate::progress::Style;
use crate::signals::Signals;
use crate::sizes;
use std::ops::ControlFlow;
use std::time::Instant;
use wayfarer::theory::Progress;

/// The watch of one computation.
pub(super) struct Watcher<'a> {
    signals: &'a Signals,
    style: Style,
    what: String,
    /// The number of runs of a simulation that is under way.
    runs: Option<u32>,
    started: Instant,
    due: Instant,
    until: Option<Instant>,
    drawn: bool,
}

impl<'a> Watcher<'a> {
    pub(super) fn new(signals: &'a Signals, quiet: bool, what: String) -> Self {
        let started = Instant::now();
        let style = Style::fitting(quiet);
        Watcher { signals, style, what, runs: None, started, due: started + style.first(), until: None, drawn: false }
    }

    /// Ends the computation at this instant, if there is one.
    pub(super) fn until(&mut self, until: Option<Instant>) {
        self.until = until;
    }

    /// A simulation of so many runs begins. One with more may follow, so the line names their number.
    pub(super) fn simulating(&mut self, runs: u32) {
        self.runs = Some(runs);
    }

    /// Whether the user asked to end.
    pub(super) fn is_interrupted(&self) -> bool {
        self.signals.end()
    }

    pub(super) fn look(&mut self, progress: Progress) -> ControlFlow<()> {
        if self.signals.end() {
            return ControlFlow::Break(());
        }
        let now = Instant::now();
        if self.until.is_some_and(|until| now >= until) {
            return ControlFlow::Break(());
        }
        let asked = self.signals.take_line();
        if asked || self.style != Style::Quiet && now >= self.due {
            self.due = now + self.style.every();
            let runs = self.runs.map_or_else(String::new, |runs| format!(" by {}", sizes::counted(u64::from(runs), "run")));
            let line = format!("{}{runs}: {} · {}", self.what, done(progress), sizes::clock((now - self.started).as_secs_f64()));
            if self.style == Style::Terminal {
                complain(&format!("\r\x1b[K{line}"));
                self.drawn = true;
            } else {
                complain(&format!("{line}\n"));
            }
        }
        ControlFlow::Continue(())
    }

    /// Removes the line from the terminal.
    pub(super) fn finish(&mut self) {
        if std::mem::take(&mut self.drawn) {
            complain("\r\x1b[K");
        }
    }
}

impl Drop for Watcher<'_> {
    fn drop(&mut self) {
        self.finish();
    }
}

fn done(progress: Progress) -> String {
    match progress.total {
        0 => format!("{} so far", sizes::counted(progress.done, "set")),
        total => format!("{} %", 100 * progress.done.min(total) / total),
    }
}
