//! Signals: Ctrl-C and SIGTERM ask a run to end with the verdict so far, a second one ends the program at once, SIGUSR1 asks for a line.

use crate::Exit;
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The requests made by signals since they are caught.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signals {
    end: Arc<AtomicBool>,
    /// Whether SIGTERM was among them.
    term: Arc<AtomicBool>,
    line: Arc<AtomicBool>,
}

impl Signals {
    /// Catches the signals from now on. Before, they end the program as usual.
    pub(crate) fn catch() -> std::io::Result<Signals> {
        let signals = Signals::default();
        for (signal, code) in [(SIGINT, 130), (SIGTERM, 143)] {
            // The order matters: the first registration ends the program only if the flag was set by an earlier
            // signal.
            flag::register_conditional_shutdown(signal, code, signals.end.clone())?;
            flag::register(signal, signals.end.clone())?;
        }
        flag::register(SIGTERM, signals.term.clone())?;
        flag::register(SIGUSR1, signals.line.clone())?;
        Ok(signals)
    }

    /// Whether the run was asked to end.
    pub(crate) fn end(&self) -> bool {
        self.end.load(Ordering::Relaxed)
    }

    /// The exit code of a command that was asked to end before it had an answer.
    pub(crate) fn exit(&self) -> Exit {
        if self.term.load(Ordering::Relaxed) { Exit::Terminated } else { Exit::Interrupted }
    }

    /// Whether a line was requested; clears the request.
    pub(crate) fn take_line(&self) -> bool {
        self.line.swap(false, Ordering::Relaxed)
    }
}
