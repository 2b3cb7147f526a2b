//! Output: standard output with a reader that may close the pipe, standard error, and colours for terminals only.

use std::io::{self, IsTerminal, Write};

/// Writes to standard output. A closed pipe (`wayfarer … | head`) is not an error: the rest is dropped.
pub(crate) fn print(text: &str) -> Result<(), String> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(format!("cannot write to the standard output: {error}")),
        _ => Ok(()),
    }
}

/// Writes to standard error if that is possible; errors are ignored, because there is nowhere to report them.
pub(crate) fn complain(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// A message of the library as this command puts it: "the option `symmetry`" is called `--symmetry` here.
pub(crate) fn with_flags(message: &str) -> String {
    let mut parts = message.split("the option `");
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let (name, rest) = part.split_once('`').unwrap_or((part, ""));
        out.push_str(&format!("--{name}{rest}"));
    }
    out
}

/// Writes an error message.
pub(crate) fn error(message: &str) {
    let paint = Paint::stderr();
    complain(&format!("{} {}\n", paint.bad("error:"), with_flags(message)));
}

/// Writes a warning.
pub(crate) fn warning(message: &str) {
    let paint = Paint::stderr();
    complain(&format!("{} {message}\n", paint.doubt("warning:")));
}

/// Text wrapped at words to the width of the terminal; lines after the first are indented. Other programs get whole
/// lines.
pub(crate) fn wrapped(text: &str, indent: usize) -> String {
    // A number stays with its percent sign.
    let kept = text.replace(" %", "\u{1}%");
    wayfarer_lab::text::wrapped(&kept, width(), indent).trim_start().replace('\u{1}', " ")
}

/// The columns that text may take: those of the terminal, and as many as there are for other programs.
pub(crate) fn width() -> usize {
    let terminal = terminal_size::terminal_size().filter(|_| io::stdout().is_terminal());
    terminal.map_or(usize::MAX, |(width, _)| usize::from(width.0).clamp(40, 120))
}

/// The choice of colours.
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

/// Sets once, at the start, when to colour.
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
    /// Colours if standard output is a terminal and the user did not forbid them (`NO_COLOR`).
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

    /// Colours good news.
    pub(crate) fn good(self, text: &str) -> String {
        self.wrap("1;32", text)
    }

    /// Colours bad news.
    pub(crate) fn bad(self, text: &str) -> String {
        self.wrap("1;31", text)
    }

    /// Colours open questions.
    pub(crate) fn doubt(self, text: &str) -> String {
        self.wrap("1;33", text)
    }

    /// Emphasises text that a reader looks for.
    pub(crate) fn strong(self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// Dims text that a reader may skip.
    pub(crate) fn faint(self, text: &str) -> String {
        self.wrap("2", text)
    }
}

/// <https://no-color.org>: any non-empty value forbids colours.
fn wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
