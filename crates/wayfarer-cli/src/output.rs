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

/// Text broken at words so that it fits the terminal; lines after the first are indented. Other programs get whole lines.
pub(crate) fn wrapped(text: &str, indent: usize) -> String {
    let width =
        terminal_size::terminal_size().filter(|_| io::stdout().is_terminal()).map_or(usize::MAX, |(width, _)| usize::from(width.0).clamp(40, 120));
    // A number stays with its sign.
    let kept = text.replace(" %", "\u{1}%");
    wayfarer_lab::text::wrapped(&kept, width, indent).trim_start().replace('\u{1}', " ")
}

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Colour {
    /// If the output is a terminal and neither NO_COLOR nor TERM=dumb forbids it
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

static COLOUR: std::sync::OnceLock<Colour> = std::sync::OnceLock::new();

/// Says once, at the start, when to colour.
pub(crate) fn set_colour(colour: Colour) {
    let _ = COLOUR.set(colour);
}

fn coloured(terminal: bool) -> bool {
    match COLOUR.get().copied().unwrap_or_default() {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => terminal && wanted(),
    }
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
        Paint { colour: coloured(io::stdout().is_terminal()) }
    }

    /// The same for standard error.
    pub(crate) fn stderr() -> Paint {
        Paint { colour: coloured(io::stderr().is_terminal()) }
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
