//! Values of options: of their own types, or as text in the form of the command line.

use crate::plan::DeviceChoice;
use crate::{StoreSpec, StrategySpec, SymmetryChoice};
use std::time::Duration;
use wayfarer_search::Deadlock;

/// A value of an option: the value itself, or text that the command line would accept.
pub trait Amount<T> {
    /// The text that the command line would accept.
    fn word(&self) -> String;

    /// The Rust expression for it.
    fn text(&self) -> String;
}

macro_rules! amounts {
    ($($type:ty, $word:expr, $text:expr;)*) => { $(
        impl Amount<$type> for $type {
            fn word(&self) -> String {
                let word: fn(&$type) -> String = $word;
                word(self)
            }

            fn text(&self) -> String {
                let text: fn(&$type) -> String = $text;
                text(self)
            }
        }

        impl Amount<$type> for &str {
            fn word(&self) -> String {
                (*self).to_string()
            }

            fn text(&self) -> String {
                format!("{self:?}")
            }
        }

        impl Amount<$type> for String {
            fn word(&self) -> String {
                self.clone()
            }

            fn text(&self) -> String {
                format!("{self:?}")
            }
        }
    )* };
}

amounts! {
    usize, ToString::to_string, ToString::to_string;
    u64, ToString::to_string, ToString::to_string;
    u32, ToString::to_string, ToString::to_string;
    f64, ToString::to_string, ToString::to_string;
    Duration, |time| format!("{}ms", time.as_secs_f64() * 1e3), |time| format!("\"{}ms\"", time.as_secs_f64() * 1e3);
    StrategySpec, ToString::to_string, |spec| format!("\"{spec}\"");
    StoreSpec, ToString::to_string, |spec| format!("\"{spec}\"");
    SymmetryChoice, ToString::to_string, |choice| format!("\"{choice}\"");
    DeviceChoice, ToString::to_string, |choice| format!("\"{choice}\"");
    Deadlock, ToString::to_string, |rule| format!("\"{rule}\"");
}
