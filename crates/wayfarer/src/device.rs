//! Searches on a GPU in the form that the search loop needs: breadth-first search by levels, and random walks.

mod levels;
mod walks;

pub(crate) use levels::LevelsOnDevice;
pub(crate) use walks::{LANES, WalksOnDevice};

use wayfarer_gpu::{Asked, DeviceError, Reached, What};
use wayfarer_search::{Cause, Deadlock, Lost, Settings};
use wayfarer_space::{Fault, Firing, PropertyBits};

/// The events that a device must report, so that it reports nothing irrelevant.
pub(crate) fn asked(settings: &Settings, properties: u32) -> Asked {
    let words = (properties as usize).div_ceil(64).max(1);
    let mut asked = Asked { judged: vec![0; words], sought: vec![0; words], deadlock: 0, faults: settings.sought.is_none() };
    let bits = |words: &mut Vec<u64>, property: u32| words[property as usize / 64] |= 1 << (property % 64);
    match &settings.sought {
        Some(sought) => {
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

/// The cause that an event stands for.
fn cause(what: What) -> Cause {
    match what {
        What::Deadlock => Cause::Deadlock,
        What::Property(property) => Cause::Property(property),
        What::PropertyFault(property, fault) => Cause::PropertyFault(property, Fault(fault)),
        What::Fault(rule, fault) => Cause::Fault(Firing::of(rule), Fault(fault)),
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
