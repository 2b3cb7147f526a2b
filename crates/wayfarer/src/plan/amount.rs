//! Values of options, as their types have them or as text in the way of the command line.

use crate::{StoreSpec, StrategySpec, SymmetryChoice, sizes};
use std::time::Duration;
use wayfarer_search::Deadlock;

/// Something that an option takes: the value itself, or text that the command line would take.
pub trait Amount<T> {
    /// The value; the error says what would be right.
    fn value(&self) -> Result<T, String>;

    /// How it is written in Rust.
    fn text(&self) -> String;
}

macro_rules! amounts {
    ($($type:ty, $read:expr, $write:expr;)*) => { $(
        impl Amount<$type> for $type {
            fn value(&self) -> Result<$type, String> {
                Ok(self.clone())
            }

            fn text(&self) -> String {
                let write: fn(&$type) -> String = $write;
                write(self)
            }
        }

        impl Amount<$type> for &str {
            fn value(&self) -> Result<$type, String> {
                let read: fn(&str) -> Result<$type, String> = $read;
                read(self)
            }

            fn text(&self) -> String {
                format!("{self:?}")
            }
        }

        impl Amount<$type> for String {
            fn value(&self) -> Result<$type, String> {
                Amount::<$type>::value(&self.as_str())
            }

            fn text(&self) -> String {
                format!("{self:?}")
            }
        }
    )* };
}

amounts! {
    usize, sizes::parse_size, ToString::to_string;
    u64, sizes::parse_count, ToString::to_string;
    u32, sizes::parse_depth, ToString::to_string;
    f64, sizes::parse_confidence, ToString::to_string;
    Duration, sizes::parse_duration, |time| format!("\"{}ms\"", time.as_millis());
    StrategySpec, |text| text.parse().map_err(|error: wayfarer_search::SpecError| error.to_string()), |spec| format!("\"{spec}\"");
    StoreSpec, |text| text.parse().map_err(|error: wayfarer_search::SpecError| error.to_string()), |spec| format!("\"{spec}\"");
    SymmetryChoice, str::parse, |choice| format!("\"{choice}\"");
    Deadlock, deadlock, |rule| format!("\"{}\"", match rule {
        Deadlock::Off => "off",
        Deadlock::Stuck => "stuck",
        Deadlock::Stuttering => "stuttering",
    });
}

fn deadlock(text: &str) -> Result<Deadlock, String> {
    match text {
        "off" => Ok(Deadlock::Off),
        "stuck" => Ok(Deadlock::Stuck),
        "stuttering" => Ok(Deadlock::Stuttering),
        _ => Err(format!("`{text}` is not a rule for deadlocks; it is off, stuck or stuttering")),
    }
}
