//! Signals: Ctrl-C and SIGTERM ask a run to end with the verdict so far, another one later ends the program at once, SIGUSR1 asks for a line.

use crate::Exit;
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals as Arriving;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Signals that come together count as one: `timeout` sends SIGTERM to the program and to its group.
const TOGETHER: Duration = Duration::from_millis(500);
/// The stack of the thread that waits for signals.
const STACK: usize = 64 << 10;

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
        let (mut arriving, asked) = (Arriving::new([SIGINT, SIGTERM, SIGUSR1])?, signals.clone());
        let wait = move || {
            let mut first: Option<Instant> = None;
            for signal in arriving.forever() {
                if signal == SIGUSR1 {
                    asked.line.store(true, Ordering::Relaxed);
                    continue;
                }
                let before = *first.get_or_insert_with(Instant::now);
                if before.elapsed() > TOGETHER {
                    std::process::exit(128 + signal);
                }
                // Who sees that the run is to end also sees why.
                asked.term.fetch_or(signal == SIGTERM, Ordering::Relaxed);
                asked.end.store(true, Ordering::Release);
            }
        };
        std::thread::Builder::new().name("signals".to_string()).stack_size(STACK).spawn(wait)?;
        Ok(signals)
    }

    /// Whether the run was asked to end.
    pub(crate) fn end(&self) -> bool {
        self.end.load(Ordering::Acquire)
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
