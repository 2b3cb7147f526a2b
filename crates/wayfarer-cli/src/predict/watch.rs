//! Shows the progress of a long computation, and ends it on Ctrl-C or when its time is over.

use crate::output::complain;
use crate::progress::Style;
use crate::signals::Signals;
use crate::sizes;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use wayfarer::theory::Progress;

const TERMINAL_EVERY: Duration = Duration::from_millis(200);
const PLAIN_FIRST: Duration = Duration::from_secs(2);
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// The watch of one computation.
pub(super) struct Watcher<'a> {
    signals: &'a Signals,
    style: Style,
    what: String,
    started: Instant,
    due: Instant,
    until: Option<Instant>,
    drawn: bool,
}

impl<'a> Watcher<'a> {
    pub(super) fn new(signals: &'a Signals, quiet: bool, what: String) -> Self {
        let started = Instant::now();
        let style = Style::fitting(quiet);
        Watcher { signals, style, what, started, due: started + first(style), until: None, drawn: false }
    }

    /// Ends the computation at this instant, if there is one.
    pub(super) fn until(&mut self, until: Option<Instant>) {
        self.until = until;
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
            self.due = now + every(self.style);
            let line = format!("{}: {} · {}", self.what, done(progress), sizes::clock((now - self.started).as_secs_f64()));
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

/// The time until the first line: soon, so that a user sees that something happens.
fn first(style: Style) -> Duration {
    if style == Style::Terminal { TERMINAL_EVERY } else { PLAIN_FIRST }
}

fn every(style: Style) -> Duration {
    if style == Style::Terminal { TERMINAL_EVERY } else { PLAIN_EVERY }
}
