//! What cannot be explored, and where it stands.

use crate::specification::Place;

/// A place in the text and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Where it is.
    pub place: Place,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
}

impl Wrong {
    pub(crate) fn new(place: Place, message: impl Into<String>) -> Self {
        Wrong { place, message: message.into(), help: None }
    }

    pub(crate) fn with_help(self, help: impl Into<String>) -> Self {
        Wrong { help: Some(help.into()), ..self }
    }
}
