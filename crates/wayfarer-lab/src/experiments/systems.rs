//! The four systems of the Abed papers' experiments, and their known figures.

use crate::desk::{Desk, LabError};
use crate::models::{self, Model};
use wayfarer::search::Deadlock;
use wayfarer::{Loaded, Plan, StrategySpec, SymmetryChoice};

/// One of the systems.
pub(super) struct System {
    pub(super) name: &'static str,
    model: Model,
    /// Constants that bring the model near the paper's size and density factor.
    constants: &'static [(&'static str, i64)],
    /// Smaller constants, for a quick look.
    quick: &'static [(&'static str, i64)],
    /// The paper's Table 1: states, longest acyclic path, density factor.
    pub(super) paper: (u32, u32, f64),
    /// The paper's Table 2: seconds of URS and of SDRS to 60, 70, 80, 90 and 100 %.
    pub(super) seconds: [[f64; 5]; 2],
}

/// Models that terminate in the cases in which the paper's probably do (SDRS jumps only in states without
/// successors).
pub(super) const SYSTEMS: [System; 4] = [
    System {
        name: "Quicksort",
        model: models::QUICKSORT,
        constants: &[("Repeat", 0)],
        quick: &[("Repeat", 0)],
        paper: (6_032, 19, 0.083),
        seconds: [[0.389, 0.609, 0.882, 1.703, 7.723], [0.641, 0.871, 1.411, 4.202, 12.459]],
    },
    System {
        name: "Token",
        model: models::TOKEN_RING_LAN,
        constants: &[("StationCount", 3), ("MessageCount", 4), ("Rest", 1)],
        quick: &[("StationCount", 3), ("MessageCount", 3), ("Rest", 1)],
        paper: (20_953, 72, 0.016),
        seconds: [[3.283, 4.301, 5.744, 8.047, 21.247], [0.752, 1.084, 1.584, 2.480, 25.221]],
    },
    System {
        name: "Fischer",
        model: models::FISCHER,
        constants: &[("ProcessCount", 6), ("WriteWithin", 1), ("WaitFor", 2)],
        quick: &[("ProcessCount", 5), ("WriteWithin", 1), ("WaitFor", 2)],
        paper: (34_606, 14, 0.150),
        seconds: [[1.841, 2.765, 3.809, 5.955, 46.097], [4.070, 5.726, 8.173, 13.327, 125.091]],
    },
    System {
        name: "Server",
        model: models::CLIENT_SERVER,
        constants: &[("ClientCount", 4), ("WorkerCount", 1), ("OutstandingMax", 3), ("QuestionCount", 1)],
        quick: &[("ClientCount", 3), ("WorkerCount", 1), ("OutstandingMax", 3), ("QuestionCount", 1)],
        paper: (35_182, 28, 0.052),
        seconds: [[4.490, 5.507, 6.821, 9.974, 41.452], [7.441, 8.893, 11.966, 19.158, 99.460]],
    },
];

/// A system, parsed and fully explored.
pub(super) struct Counted {
    pub(super) loaded: Loaded,
    pub(super) states: u64,
    pub(super) depth: u32,
    pub(super) density: f64,
    /// Whether some state has no successors.
    pub(super) ends: bool,
}

impl System {
    fn chosen(&self, quick: bool) -> &'static [(&'static str, i64)] {
        if quick { self.quick } else { self.constants }
    }

    /// The model with its constants, as a user would write it on the command line.
    pub(super) fn words(&self, quick: bool) -> String {
        let constants: Vec<String> = self.chosen(quick).iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{} {}", self.model.file, constants.join(" "))
    }

    /// Parses the model and visits all its states.
    pub(super) fn count(&self, desk: &Desk) -> Result<Counted, LabError> {
        let loaded = desk.load(self.model, self.chosen(desk.quick))?;
        let report = desk.run(&loaded, &plan(StrategySpec::default()))?;
        let stuck = desk.run(&loaded, &Plan { deadlock: Some(Deadlock::Stuttering), ..plan(StrategySpec::default()) })?;
        let (depth, density) = (report.depth.unwrap_or(0), report.density_factor.unwrap_or(f64::NAN));
        Ok(Counted { loaded, states: report.states, depth, density, ends: stuck.is_violated() })
    }
}

/// A run that only explores.
pub(super) fn plan(strategy: StrategySpec) -> Plan {
    // Distinct states are counted and not estimated: the record holds them all.
    Plan {
        strategy,
        symmetry: SymmetryChoice::Off,
        deadlock: Some(Deadlock::Off),
        record: Some(1 << 21),
        audit: Some(0),
        shorten: false,
        ..Plan::default()
    }
}
