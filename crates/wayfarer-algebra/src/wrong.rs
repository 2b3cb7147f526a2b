//! Errors: constructs that cannot be explored, and their positions.

use crate::specification::Place;

/// A place in the text and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Its position in the text.
    pub place: Place,
    /// The description of the error.
    pub message: String,
    /// The suggested correction.
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
