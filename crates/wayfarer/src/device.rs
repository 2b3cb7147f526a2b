//! Searches on a GPU in the form that the search loop needs: breadth-first search by levels, random walks, and searches that lanes make for themselves.

mod audit;
mod levels;
mod own;
mod walks;

pub(crate) use audit::{Audited, Auditing};
pub(crate) use levels::LevelsOnDevice;
pub(crate) use own::{MOST_LANES, OwnOnDevice};
pub(crate) use walks::{LANES, WalksOnDevice};

use wayfarer_gpu::{Asked, DeviceError, Reached, What};
use wayfarer_search::{Cause, Deadlock, Finding, Lost, Settings};
use wayfarer_space::{Fault, Firing, PropertyBits, Space, States};

/// The most findings of one round that are examined, for searches that report ways.
const MOST: usize = 64;

/// The events that a device must report, so that it reports nothing irrelevant.
pub(crate) fn asked(settings: &Settings, properties: u32, rules: u32) -> Asked {
    let words = (properties as usize).div_ceil(64).max(1);
    let mut asked = Asked {
        judged: vec![0; words],
        sought: vec![0; words],
        faults: settings.sought.is_none(),
        once: settings.each_once,
        profile: settings.profile,
        ..Asked::default()
    };
    let bits = |words: &mut Vec<u64>, property: u32| words[property as usize / 64] |= 1 << (property % 64);
    match &settings.sought {
        Some(sought) => {
            if !sought.rules.is_empty() {
                asked.rules = vec![0; (rules as usize).div_ceil(64).max(1)];
                (0..rules).filter(|rule| sought.rules.contains(*rule)).for_each(|rule| bits(&mut asked.rules, rule));
            }
            (0..properties).filter(|property| sought.properties.contains(*property)).for_each(|property| bits(&mut asked.sought, property))
        }
        None => {
            let judged = |property: &u32| settings.properties.as_ref().is_none_or(|chosen| chosen.contains(*property));
            (0..properties).filter(judged).for_each(|property| bits(&mut asked.judged, property));
            asked.deadlock = match settings.deadlock {
                Deadlock::Off => 0,
                Deadlock::Stuck => 1,
                Deadlock::Stuttering => 2,
            };
        }
    }
    asked
}

/// Judges the start states, for searches that judge only the states they reach.
fn judge_starts(space: &dyn Space, starts: &States, findings: &mut Vec<Finding>) {
    for state in starts.iter() {
        let mut bits = PropertyBits::default();
        let judged = space.check(state, &mut bits);
        let faults = judged.err().map(|(property, fault)| Cause::PropertyFault(property, fault));
        let causes = bits.iter().filter(|property| !space.asks_to_reach(*property)).map(Cause::Property).chain(faults);
        findings.extend(causes.map(|cause| Finding { cause, state: state.to_vec(), length: None, key: [u64::MAX, 0, 0] }));
    }
}

/// The cause that an event stands for.
fn cause(what: What) -> Cause {
    match what {
        What::Deadlock => Cause::Deadlock,
        What::Property(property) => Cause::Property(property),
        What::PropertyFault(property, fault) => Cause::PropertyFault(property, Fault(fault)),
        What::Fault(rule, fault) => Cause::Fault(Firing::of(rule), Fault(fault)),
        What::PathFault(rule, outcome, fault) => Cause::Fault(Firing { rule, outcome }, Fault(fault)),
        What::Rule(rule, outcome) => Cause::Rule(Firing { rule, outcome }),
        What::Found(property) => Cause::Found(property),
    }
}

fn reached(reached: &Reached) -> PropertyBits {
    let mut bits = PropertyBits::default();
    reached.iter().for_each(|property| bits.insert(property));
    bits
}

fn limit(limit: Option<(u32, u32)>) -> Option<(Firing, Fault)> {
    limit.map(|(rule, fault)| (Firing::of(rule), Fault(fault)))
}

fn lost(error: DeviceError) -> Lost {
    Lost(error.to_string())
}
