//! Errors and warnings about a model's text, as a list, for files that other programs read.

use std::fmt;

/// One error or warning about a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Whether it stops the model from being used.
    pub error: bool,
    /// The message.
    pub message: String,
    /// A suggestion of what would be right, if there is one.
    pub help: Option<String>,
    /// `file:line:column`; empty if it is not in the file.
    pub at: String,
}

impl Finding {
    /// The message with its help.
    pub fn text(&self) -> String {
        self.help.iter().fold(self.message.clone(), |text, help| format!("{text}\nhelp: {help}"))
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let kind = if self.error { "error" } else { "warning" };
        if !self.at.is_empty() {
            write!(out, "{}: ", self.at)?;
        }
        write!(out, "{kind}: {}", self.text())
    }
}
