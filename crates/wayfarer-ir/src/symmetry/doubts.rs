//! Symmetry that could not be shown and is checked while states are explored.
//!
//! Some rules contain loops over a scalarset whose rounds may not be interchangeable. A search over representatives is right all the same if those rules do the
//! same in every state of an orbit. So whenever one of them is enabled in a representative, it is also fired in the permutations of that state, and the
//! results must be the same up to permutation. The first difference is remembered: the search is then worth nothing and begins again without symmetry.
//!
//! Only the elements of scalarsets in doubt are permuted. Everything else in the program treats the elements of the other scalarsets alike in every state,
//! so a permutation of both kinds leads to the same results as one of the first kind, followed by one of the second.

use super::{Scratch, Symmetry};
use crate::program::Program;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use wayfarer_space::{Fault, Fired, Firing, Space, States, Steps, Word};

/// The most permutations that are tried in a state.
const MOST_PERMUTATIONS: usize = 24;

/// The rules in doubt, and whether one of them was seen to tell elements apart.
#[derive(Debug)]
pub struct Doubts {
    /// By rule number: the family in doubt, or none.
    rules: Vec<Option<u32>>,
    /// The numbers of the rules in doubt.
    doubtful: Vec<u32>,
    /// All permutations of scalarsets in doubt but the identity, as images of vertices.
    permutations: Vec<Vec<u16>>,
    broken: AtomicBool,
    /// Whether nothing is checked any more.
    resting: AtomicBool,
}

/// The result of a rule in doubt: its family and the state up to symmetry, or the fault.
type Result = (u32, std::result::Result<Vec<Word>, Fault>);

impl Doubts {
    /// The doubts about a program; `None` if there are none, if they are certain or concern more than commands, or if there are too many permutations to try.
    pub fn of(program: &Program, symmetry: &Symmetry) -> Option<Doubts> {
        let mut families = vec![false; program.rules.len()];
        let mut sets = Vec::new();
        let mut all_sets = false;
        for asymmetry in &program.asymmetries {
            let commands = asymmetry.commands.as_ref().filter(|_| !asymmetry.certain)?;
            commands.iter().for_each(|family| families[*family as usize] = true);
            sets.extend(&asymmetry.sets);
            all_sets |= asymmetry.sets.is_empty();
        }
        if !families.contains(&true) {
            return None;
        }
        let permutations = symmetry.permutations(MOST_PERMUTATIONS, |set| all_sets || sets.contains(&set))?;
        let of_family = |(family, rule): (usize, &crate::Rule)| {
            let doubtful = families[family].then_some(family as u32);
            std::iter::repeat_n(doubtful, rule.instances() as usize)
        };
        let rules: Vec<Option<u32>> = program.rules.iter().enumerate().flat_map(of_family).collect();
        let doubtful = (0..).zip(&rules).filter(|(_, family)| family.is_some()).map(|(rule, _)| rule).collect();
        Some(Doubts { rules, doubtful, permutations, broken: AtomicBool::new(false), resting: AtomicBool::new(false) })
    }

    /// Whether a rule was seen to tell elements apart.
    pub fn are_justified(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Ends the checks, for searches whose findings are replayed.
    pub fn rest(&self) {
        self.resting.store(true, Ordering::Relaxed);
    }

    fn is_idle(&self) -> bool {
        self.are_justified() || self.resting.load(Ordering::Relaxed)
    }

    /// Whether a rule is in doubt.
    pub(super) fn are_about(&self, rule: u32) -> bool {
        !self.is_idle() && self.family(rule).is_some()
    }

    fn family(&self, rule: u32) -> Option<u32> {
        self.rules.get(rule as usize).copied().flatten()
    }

    /// Checks the states of a batch, out of which `steps` lead.
    pub(super) fn check(&self, inner: &dyn Space, symmetry: &Symmetry, batch: &States, steps: &Steps, scratch: &mut Scratch) {
        if self.is_idle() {
            return;
        }
        let fired = steps.firings.iter().zip(&steps.sources).map(|(firing, source)| (firing.rule, *source));
        let failed = steps.faults.iter().map(|step| (step.firing.rule, step.source));
        let omitted = steps.omitted.iter().map(|step| (step.rule(), step.source));
        let doubtful = fired.chain(failed).chain(omitted).filter(|(rule, _)| self.family(*rule).is_some());
        let mut sources: Vec<u32> = doubtful.map(|(_, source)| source).collect();
        sources.sort_unstable();
        sources.dedup();
        for source in sources {
            self.check_state(inner, symmetry, batch.get(source as usize), scratch);
        }
    }

    /// Checks one state.
    pub(super) fn check_state(&self, inner: &dyn Space, symmetry: &Symmetry, state: &[Word], scratch: &mut Scratch) {
        let expected = self.results(inner, state);
        let mut tried: Vec<Vec<Word>> = vec![state.to_vec()];
        let mut image = Vec::new();
        for permutation in &self.permutations {
            let mut permuted = Vec::new();
            symmetry.permute(state, permutation, &mut permuted);
            if tried.contains(&permuted) {
                continue;
            }
            let found = self.results(inner, &permuted);
            let mut images = expected.clone();
            for (_, to) in images.iter_mut() {
                if let Ok(to) = to {
                    symmetry.permute(to, permutation, &mut image);
                    to.copy_from_slice(&image);
                }
            }
            images.sort_unstable();
            // A rule may choose another one of several elements that are alike.
            if found != images && canonical(symmetry, found, scratch) != canonical(symmetry, images, scratch) {
                self.broken.store(true, Ordering::Relaxed);
                return;
            }
            tried.push(permuted);
        }
    }

    /// The results of firing the rules in doubt in a state, in a fixed order.
    fn results(&self, inner: &dyn Space, state: &[Word]) -> Vec<Result> {
        let mut to = Vec::new();
        let mut results = Vec::new();
        for rule in &self.doubtful {
            let result = match inner.fire(state, Firing::of(*rule), &mut to) {
                Fired::To => Ok(to.clone()),
                Fired::Fault(fault) => Err(fault),
                Fired::Discarded | Fired::Disabled => continue,
            };
            results.extend(self.family(*rule).map(|family| (family, result)));
        }
        results.sort_unstable();
        results
    }
}

/// Results with states replaced by their representatives.
fn canonical(symmetry: &Symmetry, mut results: Vec<Result>, scratch: &mut Scratch) -> Vec<Result> {
    for (_, to) in results.iter_mut() {
        if let Ok(to) = to {
            symmetry.canonicalise(to, scratch);
        }
    }
    results.sort_unstable();
    results
}

impl Symmetry {
    /// All permutations of some sets but the identity; `None` if there are more than `most` with it.
    fn permutations(&self, most: usize, permuted: impl Fn(u32) -> bool) -> Option<Vec<Vec<u16>>> {
        let mut all = vec![self.index.clone()];
        for set in self.sets.iter().filter(|set| permuted(set.number)) {
            let mut made = Vec::new();
            for order in orders(set.count, most)? {
                for permutation in &all {
                    let mut permutation = permutation.clone();
                    permutation[usize::from(set.first)..][..order.len()].copy_from_slice(&order);
                    made.push(permutation);
                }
            }
            all = made;
            if all.len() > most {
                return None;
            }
        }
        all.retain(|permutation| *permutation != self.index);
        Some(all)
    }

    /// The sizes of the orbits of states, by trying all permutations; `None` if there are more than `most`.
    pub fn orbit_sizes<'s>(&self, states: impl Iterator<Item = &'s [Word]>, most: usize) -> Option<Vec<usize>> {
        let permutations = self.permutations(most, |_| true)?;
        let size = |state: &[Word]| {
            let mut members = HashSet::from([state.to_vec()]);
            for permutation in &permutations {
                let mut member = Vec::new();
                self.permute(state, permutation, &mut member);
                members.insert(member);
            }
            members.len()
        };
        Some(states.map(size).collect())
    }

    /// The number of permutations of all scalarsets: no state has more in its orbit. It is infinite for large sets.
    pub fn most_in_an_orbit(&self) -> f64 {
        self.sets.iter().map(|set| (1..=set.count).map(f64::from).product::<f64>()).product()
    }
}

/// All orders of so many elements, if there are not too many.
fn orders(count: u16, most: usize) -> Option<Vec<Vec<u16>>> {
    let mut all = vec![Vec::new()];
    for value in 0..count {
        all = all.into_iter().flat_map(|order: Vec<u16>| (0..=order.len()).map(move |at| [&order[..at], &[value], &order[at..]].concat())).collect();
        if all.len() > most {
            return None;
        }
    }
    Some(all)
}
