//! Faults: commands that could not finish.

/// A way in which a command can fail. Its meaning is known to the space that reported it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fault(pub u32);

/// The class of a fault: whether it concerns the model or the checker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultClass {
    /// The model does something it must not do: a violation, with a witness that ends in the rule that failed.
    Violation,
    /// A violation behind which the model goes on. Another firing leads to the state behind it, and this one is not counted.
    Passed,
    /// A representation was too small. This says nothing about the model, and nothing beyond this step is
    /// known.
    Limit,
    /// The model uses a feature that is not supported.
    Unsupported,
}

impl FaultClass {
    /// All classes with their names.
    pub const ALL: [(FaultClass, &'static str); 4] = [
        (FaultClass::Violation, "violation"),
        (FaultClass::Limit, "limit"),
        (FaultClass::Unsupported, "unsupported"),
        (FaultClass::Passed, "passed"),
    ];

    /// Whether such a fault speaks against the model.
    pub fn is_violation(self) -> bool {
        matches!(self, FaultClass::Violation | FaultClass::Passed)
    }

    /// The name of the class.
    pub fn word(self) -> &'static str {
        match self {
            FaultClass::Violation => "violation",
            FaultClass::Passed => "passed",
            FaultClass::Limit => "limit",
            FaultClass::Unsupported => "unsupported",
        }
    }
}
