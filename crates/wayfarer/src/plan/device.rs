//! The device on which a run takes place.

use std::fmt;
use std::str::FromStr;

/// The device on which a run takes place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DeviceChoice {
    /// On the CPU, and on a GPU if there is one and the search turns out to be long.
    #[default]
    Auto,
    /// On the CPU.
    Cpu,
    /// On the GPU of this number.
    Gpu(u32),
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            DeviceChoice::Auto => write!(out, "auto"),
            DeviceChoice::Cpu => write!(out, "cpu"),
            DeviceChoice::Gpu(0) => write!(out, "gpu"),
            DeviceChoice::Gpu(number) => write!(out, "gpu:{number}"),
        }
    }
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "it is `auto`, `cpu`, `gpu`, or `gpu:1` for the second GPU".to_string();
        match text {
            "auto" => Ok(DeviceChoice::Auto),
            "cpu" => Ok(DeviceChoice::Cpu),
            "gpu" => Ok(DeviceChoice::Gpu(0)),
            _ => text.strip_prefix("gpu:").and_then(|number| number.parse().ok()).map(DeviceChoice::Gpu).ok_or_else(wrong),
        }
    }
}
