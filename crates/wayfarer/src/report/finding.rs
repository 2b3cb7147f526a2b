//! What is wrong with a model's text, one by one, for files that other programs read.

use std::fmt;

/// One thing that is wrong with a model, or looks wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Whether it stops the model from being used.
    pub error: bool,
    /// What is the matter.
    pub message: String,
    /// What would be right, where that can be guessed.
    pub help: Option<String>,
    /// `file:line:column`; empty where it is not in the file.
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
