//! The factor by which a symmetry that is not used would reduce the states, measured on states that were visited.

use crate::subject::Subject;
use wayfarer_search::Store;
use wayfarer_space::{States, Width};

/// The number of states whose orbits are measured.
const MEASURED: u64 = 256;

/// The end of a sentence on a symmetry that is not used: by which factor the option would reduce the states. `None` if it cannot be asked for.
pub(super) fn gain(subject: &dyn Subject, store: &dyn Store, width: Width) -> Option<String> {
    let most = subject.most_in_an_orbit()?;
    let beginning = "; the option `symmetry` on uses it all the same and visits";
    Some(match measured(subject, store, width) {
        Some((factor, states)) => format!("{beginning} about {factor:.1} times fewer states, by the orbits of {states} visited ones"),
        None if most < 1e6 => format!("{beginning} at most {most} times fewer states"),
        None => format!("{beginning} at most {most:.1e} times fewer states"),
    })
}

/// The states per orbit, and the number of states from which this is known. An orbit of n states is met n times as often as one of a single state, so each
/// state stands for the n-th part of an orbit.
fn measured(subject: &dyn Subject, store: &dyn Store, width: Width) -> Option<(f64, usize)> {
    let count = store.len().min(MEASURED);
    let mut states = States::new(width);
    let all = (0..count).all(|number| store.state(store.nth(number * store.len() / count), &mut states));
    let sizes = (all && count > 0).then(|| subject.orbit_sizes(&states)).flatten()?;
    let orbits: f64 = sizes.iter().map(|size| 1.0 / *size as f64).sum();
    Some((sizes.len() as f64 / orbits, sizes.len()))
}
