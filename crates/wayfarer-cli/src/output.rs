//! Where text goes: standard output with a reader that may go away, standard error, and colours for terminals only.

use std::io::{self, IsTerminal, Write};

/// Writes to standard output. A reader that went away (`wayfarer … | head`) is no error: the rest is dropped.
pub(crate) fn print(text: &str) -> Result<(), String> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(format!("cannot write to the standard output: {error}")),
        _ => Ok(()),
    }
}

/// Writes to standard error as far as that is possible; there is nowhere to complain.
pub(crate) fn complain(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Writes an error message.
pub(crate) fn error(message: &str) {
    let paint = Paint::stderr();
    complain(&format!("{} {message}\n", paint.bad("error:")));
}

/// Writes a warning.
pub(crate) fn warning(message: &str) {
    let paint = Paint::stderr();
    complain(&format!("{} {message}\n", paint.doubt("warning:")));
}

/// Colours, or none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    /// Whether to colour.
    pub(crate) colour: bool,
}

impl Paint {
    /// Colours where standard output is a terminal and the user did not forbid them (`NO_COLOR`).
    pub(crate) fn stdout() -> Paint {
        Paint { colour: io::stdout().is_terminal() && wanted() }
    }

    /// The same for standard error.
    pub(crate) fn stderr() -> Paint {
        Paint { colour: io::stderr().is_terminal() && wanted() }
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }

    /// What went well.
    pub(crate) fn good(self, text: &str) -> String {
        self.wrap("1;32", text)
    }

    /// What is wrong.
    pub(crate) fn bad(self, text: &str) -> String {
        self.wrap("1;31", text)
    }

    /// What is open.
    pub(crate) fn doubt(self, text: &str) -> String {
        self.wrap("1;33", text)
    }

    /// What a reader looks for.
    pub(crate) fn strong(self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// What a reader may pass over.
    pub(crate) fn faint(self, text: &str) -> String {
        self.wrap("2", text)
    }
}

/// <https://no-color.org>: any value that is not empty forbids colours.
fn wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
