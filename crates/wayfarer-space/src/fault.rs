//! Faults: commands that could not finish.

/// A way in which a command can fail; what it means is known to the space that reported it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fault(pub u32);

/// Whom a fault speaks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultClass {
    /// The model does something it must not do: a violation, with a witness that ends in the rule that failed.
    Violation,
    /// A representation ran out. Nothing is said about the model, and nothing beyond this step is known.
    Limit,
    /// The model uses something that is not supported.
    Unsupported,
}

impl FaultClass {
    /// All classes with the words that name them.
    pub const ALL: [(FaultClass, &'static str); 3] =
        [(FaultClass::Violation, "violation"), (FaultClass::Limit, "limit"), (FaultClass::Unsupported, "unsupported")];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            FaultClass::Violation => "violation",
            FaultClass::Limit => "limit",
            FaultClass::Unsupported => "unsupported",
        }
    }
}
