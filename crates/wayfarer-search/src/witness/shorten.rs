//! Makes a witness shorter.
//!
//! A breadth-first search from the start states looks for the same thing: if it ends within its bound, the witness is a shortest one. Rules that the violation
//! cannot depend on are left out of it. Then firings are left out of the witness as long as it replays, a search with only the rules that are left looks for a
//! shorter way, and searches near the witness look for short cuts. All take turns with growing bounds, until nothing is left to gain or the work is spent.

use super::dependence::{self, Dependence};
use super::effort::Effort;
use super::eliminate::eliminated;
use super::goal::Goal;
use super::nearby::nearby;
use super::stage::RuleSet;
use super::windows::one_pass;
use super::{Stage, WitnessError, chain, stage_store};
use crate::{Account, Aim, Bfs, Control, Deadlock, Ending, ExactStore, Job, Limits, Outcome, Progress, Settings, Sought, Stop, Witness};
use wayfarer_space::{Space, Word};

/// States that a search from the start, one near the witness and one from each state of it may visit, at first; the bounds grow alike.
const FROM_START: u64 = 1 << 15;
const NEARBY: usize = 1 << 13;
const WINDOW: u64 = 1 << 8;
/// How often the bounds grow, and by what factor.
const TURNS: u32 = 6;
/// Searches of fewer states are made by one thread.
const MANY: u64 = 1 << 16;
const GROWTH: u64 = 4;

/// Representatives of symmetric states, and the states themselves.
pub trait Forms {
    /// The space of the states themselves.
    fn space(&self) -> &dyn Space;

    /// The witness of states that leads through what a witness of representatives stands for.
    fn concrete(&self, witness: Witness) -> Result<Witness, WitnessError>;

    /// Replaces a state by its representative.
    fn represent(&self, state: &mut Vec<Word>);
}

/// How a witness is made shorter.
pub struct Shortening<'a> {
    /// The space in which the witness was found.
    pub space: &'a dyn Space,
    /// Present if that is a space of representatives.
    pub forms: Option<&'a dyn Forms>,
    /// The dependences of rules, if they are known.
    pub dependence: Option<&'a dyn Dependence>,
    /// The definition of a deadlock when the witness was found.
    pub deadlock: Deadlock,
    /// Whether a fault at the same place in the source is the same, whichever rule comes there.
    pub any_rule: bool,
    /// The memory.
    pub account: &'a dyn Account,
    /// The firings and states that it may take.
    pub effort: u64,
    /// The threads that take part. The result does not depend on them.
    pub workers: usize,
    /// Whether they also take part in searches from the start states. The point at which a limit ends these then depends on timing.
    pub searching: bool,
}

/// Ends a search once it has visited this many states.
struct UpTo<'a> {
    states: u64,
    inner: &'a mut dyn Control,
}

impl Control for UpTo<'_> {
    fn ask(&mut self, progress: &Progress) -> Option<Stop> {
        if progress.states >= self.states { Some(Stop::States) } else { self.inner.ask(progress) }
    }
}

/// A witness that was made shorter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortened {
    /// The witness, of states themselves.
    pub witness: Witness,
    /// Whether it is known that there is no shorter one.
    pub shortest: bool,
    /// Whether the outside ended it, so that it may be another one next time.
    pub stopped: bool,
}

impl Shortening<'_> {
    /// A witness to the same thing, at most as long.
    pub fn shortened(&self, witness: Witness, control: &mut dyn Control) -> Result<Shortened, WitnessError> {
        let mut effort = Effort::new(self.effort, control);
        let effort = &mut effort;
        let witness = witness.without_loops();
        let done = |witness, shortest, effort: &Effort| Ok(Shortened { witness, shortest, stopped: effort.is_stopped() });
        if witness.states.is_empty() || witness.firings.is_empty() {
            return done(self.concrete(witness)?, true, effort);
        }
        let ending = witness.ending;
        let (direct, ended) = self.search_from_start(ending, witness.firings.len(), FROM_START, effort);
        if ended {
            return done(self.concrete(direct.unwrap_or(witness))?, true, effort);
        }
        let mut witness = self.concrete(witness)?;
        let cone = self.dependence.and_then(|dependence| dependence::cone(dependence, witness.ending));
        // Another rule may fail at the same place and depend on other rules.
        let proves = !(self.any_rule && matches!(witness.ending, Ending::Fault(..)));
        let goal = Goal { space: self.inner(), ending: witness.ending, deadlock: self.deadlock };
        let (mut eliminated_at, mut searched_at) = (usize::MAX, usize::MAX);
        for turn in 0..TURNS {
            let factor = GROWTH.pow(turn);
            if turn > 0 {
                let (direct, ended) = self.search_from_start(ending, witness.firings.len(), FROM_START * factor, effort);
                if ended {
                    return done(direct.map_or(Ok(witness), |direct| self.concrete(direct))?, true, effort);
                }
            }
            if let Some(cone) = &cone {
                let (states, ended) = self.among(&goal, &witness, cone, FROM_START * factor, effort);
                witness = self.replaced(&goal, witness, states);
                if ended && proves {
                    return done(witness, true, effort);
                }
            }
            loop {
                let before = witness.firings.len();
                if before < eliminated_at {
                    witness = eliminated(&goal, self.dependence, witness, effort);
                    eliminated_at = witness.firings.len();
                }
                let rules: RuleSet = witness.firings.iter().map(|firing| firing.rule).collect();
                if witness.firings.len() < searched_at {
                    let (states, ended) = self.among(&goal, &witness, &rules, FROM_START * factor, effort);
                    witness = self.replaced(&goal, witness, states);
                    searched_at = if ended { witness.firings.len() } else { usize::MAX };
                }
                let most = NEARBY * factor as usize;
                let near = nearby(&goal, &witness.states, Some(&rules), most, self.account, effort);
                witness = self.replaced(&goal, witness, near);
                let near = nearby(&goal, &witness.states, None, most, self.account, effort);
                witness = self.replaced(&goal, witness, near);
                witness = self.by_windows(witness, WINDOW * factor, effort)?;
                if witness.firings.len() == before || effort.left() == 0 {
                    break;
                }
            }
            if effort.left() == 0 || witness.firings.is_empty() {
                break;
            }
        }
        let shortest = witness.firings.is_empty();
        done(witness, shortest, effort)
    }

    /// The space of states themselves.
    fn inner(&self) -> &dyn Space {
        self.forms.map_or(self.space, |forms| forms.space())
    }

    fn concrete(&self, witness: Witness) -> Result<Witness, WitnessError> {
        self.forms.map_or(Ok(witness.clone()), |forms| forms.concrete(witness))
    }

    /// Looks for the same thing from the start states, at most as far away as `depth`. Returns a witness if one was found, and whether everything nearer was looked
    /// at, so that it is a shortest one, or the given one if none was found.
    fn search_from_start(&self, ending: Ending, depth: usize, states: u64, effort: &mut Effort) -> (Option<Witness>, bool) {
        let Some(store) = stage_store(self.space, self.account) else { return (None, false) };
        let sought = match ending {
            Ending::Found(property) => {
                let mut sought = Sought::default();
                sought.properties.insert(property);
                Some(sought)
            }
            Ending::Rule(firing) => {
                let mut sought = Sought::default();
                sought.rules.insert(firing.rule);
                Some(sought)
            }
            _ => None,
        };
        let limits = Limits { states: states.min(effort.left()), depth: depth as u32, ..Limits::default() };
        let aim = Some(Aim { ending, any_rule: self.any_rule });
        let settings = Settings { limits, deadlock: self.deadlock, sought, aim, ..Settings::default() };
        let outcome = self.search(self.space, &store, settings, effort);
        let found = outcome.violations.first().and_then(|violation| Witness::trace(self.space, &store, violation, self.account, self.workers).ok());
        let ended = found.is_some() || outcome.limit.is_none() && matches!(outcome.stop, Stop::Depth | Stop::Exhausted);
        (found.filter(|found| found.firings.len() <= depth), ended)
    }

    /// Looks for a shorter way from the start states with some rules only. Returns its states if there is one, and whether the search ended.
    fn among(&self, goal: &Goal, witness: &Witness, rules: &RuleSet, states: u64, effort: &mut Effort) -> (Option<Vec<Vec<Word>>>, bool) {
        if witness.firings.is_empty() {
            return (None, true);
        }
        let Some(store) = stage_store(goal.space, self.account) else { return (None, false) };
        let is_met = |state: &[Word]| goal.is_met(state);
        let stage = Stage { space: goal.space, from: None, only: Some(rules), goal: &is_met };
        let depth = (witness.firings.len() - 1) as u32;
        let limits = Limits { states: states.min(effort.left()), depth, ..Limits::default() };
        let settings = Settings { limits, deadlock: Deadlock::Off, ..Settings::default() };
        let outcome = self.search(&stage, &store, settings, effort);
        let end = outcome.violations.first().and_then(|violation| violation.state);
        let found = end.and_then(|end| chain(goal.space, &store, end).ok());
        let ended = found.is_some() || outcome.limit.is_none() && matches!(outcome.stop, Stop::Depth | Stop::Exhausted);
        (found, ended)
    }

    /// The witness through other states, if they lead from a start state to the same end.
    fn replaced(&self, goal: &Goal, witness: Witness, states: Option<Vec<Vec<Word>>>) -> Witness {
        let shorter = states.filter(|states| states.len() < witness.states.len());
        let shorter = shorter.and_then(|states| Witness::through(goal.space, states, witness.ending, self.workers).ok());
        shorter.unwrap_or(witness)
    }

    /// Searches breadth-first.
    fn search(&self, space: &dyn Space, store: &ExactStore, mut settings: Settings, effort: &mut Effort) -> Outcome {
        let outcome = if self.searching && self.workers > 1 && settings.limits.states >= MANY {
            // Each worker has a limit of its own, so the limit for all is kept from outside.
            let mut control = UpTo { states: std::mem::replace(&mut settings.limits.states, u64::MAX), inner: effort };
            Job::together(space, store, true, self.account, self.workers, &settings).run(&mut control)
        } else {
            Job::new(space, store, &mut Bfs::new(&settings.limits), &settings).run(effort)
        };
        effort.spend_search(outcome.states, outcome.stop);
        outcome
    }

    /// Takes short cuts along the witness; among representatives, if there are any, which are fewer.
    fn by_windows(&self, witness: Witness, window: u64, effort: &mut Effort) -> Result<Witness, WitnessError> {
        let mut states = witness.states.clone();
        if let Some(forms) = self.forms {
            states.iter_mut().for_each(|state| forms.represent(state));
        }
        let way = one_pass(self.space, &states, window, self.account, self.workers, effort);
        if way.len() >= witness.states.len() {
            return Ok(witness);
        }
        match Witness::through(self.space, way, witness.ending, self.workers).and_then(|shorter| self.concrete(shorter)) {
            Ok(shorter) if shorter.len() < witness.len() => Ok(shorter),
            _ => Ok(witness),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::witness::windows::tests::walk;
    use crate::{Unbounded, Unlimited};
    use wayfarer_space::{Graph, Rng};

    fn distance(graph: &Graph, to: u32) -> usize {
        let mut level = vec![0];
        let mut seen = vec![0];
        let mut steps = 0;
        while !level.contains(&to) {
            level = level.iter().flat_map(|node| graph.successors(*node)).copied().filter(|node| !seen.contains(node)).collect();
            seen.extend(&level);
            steps += 1;
        }
        steps
    }

    #[test]
    fn where_the_search_from_the_start_ends_the_witness_is_a_shortest_one() {
        let mut rng = Rng::new(7, "shorten");
        for target in [3, 50, 99, 118] {
            let edges = (0..120u32).map(|node| vec![(node + 1) % 120, (node + 9) % 120]).collect();
            let graph: Graph = Graph::new(edges, vec![0]).avoiding(vec![target]);
            let mut states = walk(&graph, &mut rng, 4000);
            let Some(first) = states.iter().position(|state| state[0] == Word::from(target)) else { continue };
            states.truncate(first + 1);
            let witness = Witness::through(&graph, states, Ending::Property(0), 1).unwrap();
            let shortening = Shortening {
                space: &graph,
                forms: None,
                dependence: None,
                deadlock: Deadlock::Off,
                any_rule: true,
                account: &Unlimited,
                effort: 1 << 20,
                workers: 3,
                searching: true,
            };
            let shorter = shortening.shortened(witness, &mut Unbounded).unwrap();
            assert!(shorter.shortest && !shorter.stopped);
            let shorter = shorter.witness;
            shorter.replay(&graph, true, 2).unwrap();
            assert_eq!(shorter.len(), distance(&graph, target));
        }
    }
}
