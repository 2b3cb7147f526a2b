//! The loop over a device's rounds, on a device made of plain sets.

use std::collections::HashSet;
use wayfarer_search::{
    Away, Bfs, Cause, Control, Deadlock, Device, ExactStore, Fidelity, Finding, Job, Limits, Lost, Settings, Standing, Stop, Unbounded, Unlimited,
    Verdict, Witness, explore_on_device,
};
use wayfarer_space::{Firing, Graph, PropertyBits, Space, States, Steps, Word};

/// Breadth-first search, one level in a round.
struct Sets<'a> {
    space: &'a dyn Space,
    known: HashSet<Vec<Word>>,
    level: Vec<Vec<Word>>,
    depth: u32,
    firings: Vec<u64>,
    /// States beyond this number find no room.
    room: usize,
    full: bool,
    /// Whether it can find the way to its findings.
    remembers: bool,
    lost: bool,
}

impl<'a> Sets<'a> {
    fn new(space: &'a dyn Space) -> Self {
        let firings = vec![0; space.rules() as usize];
        Sets { space, known: HashSet::new(), level: Vec::new(), depth: 0, firings, room: usize::MAX, full: false, remembers: true, lost: false }
    }

    fn take(&mut self, states: &States, depth: u32, next: &mut Vec<Vec<Word>>, findings: &mut Vec<Finding>) {
        for state in states.iter() {
            if self.known.contains(state) {
                continue;
            }
            if self.known.len() >= self.room {
                self.full = true;
                continue;
            }
            self.known.insert(state.to_vec());
            next.push(state.to_vec());
            let mut bits = PropertyBits::default();
            assert!(self.space.check(state, &mut bits).is_ok());
            let finding = |property| Finding { cause: Cause::Property(property), state: state.to_vec(), length: Some(depth), key: [0; 3] };
            findings.extend(bits.iter().map(finding));
        }
    }
}

impl Device for Sets<'_> {
    fn start(&mut self, starts: &States, findings: &mut Vec<Finding>) -> Result<(), Lost> {
        let mut next = Vec::new();
        self.take(starts, 0, &mut next, findings);
        self.level = next;
        Ok(())
    }

    fn round(&mut self, _most: u64, findings: &mut Vec<Finding>) -> Result<(), Lost> {
        if self.lost {
            return Err(Lost("it is gone".to_string()));
        }
        let (mut steps, mut next) = (Steps::new(self.space.width()), Vec::new());
        for source in std::mem::take(&mut self.level) {
            let mut batch = States::new(self.space.width());
            batch.push(&source);
            self.space.expand(&batch, Firing::of(0), &mut steps);
            steps.firings.iter().for_each(|firing| self.firings[firing.rule as usize] += 1);
            if steps.changed.iter().all(|changed| *changed == 0) {
                findings.push(Finding { cause: Cause::Deadlock, state: source, length: Some(self.depth), key: [0; 3] });
            }
            let states = steps.states.clone();
            self.take(&states, self.depth + 1, &mut next, findings);
        }
        self.depth += u32::from(!next.is_empty());
        self.level = next;
        Ok(())
    }

    fn standing(&self) -> Standing {
        Standing {
            states: self.known.len() as u64,
            frontier: self.level.len() as u64,
            depth: Some(self.depth),
            firings: self.firings.clone(),
            full: self.full,
            at_border: true,
            done: self.level.is_empty(),
            away: Away { states: self.known.len() as u64, bytes: 0, fidelity: Fidelity::Exact },
            ..Standing::default()
        }
    }

    fn way(&mut self, finding: &Finding, _control: &mut dyn Control) -> Result<Option<Vec<Vec<Word>>>, Lost> {
        Ok(self.remembers.then(|| vec![finding.state.clone()]))
    }

    fn is_exhaustive(&self) -> bool {
        true
    }
}

/// A ladder of 40 rungs with ways back, and one bad node.
fn ladder(bad: Vec<u32>) -> Graph {
    let edges = (0..80u32).map(|node| vec![(node + 2) % 80, node ^ 1, node / 2]).collect();
    Graph::new(edges, vec![0]).avoiding(bad)
}

fn settings() -> Settings {
    Settings { deadlock: Deadlock::Stuttering, ..Settings::default() }
}

#[test]
fn a_device_gives_the_outcome_of_breadth_first_search() {
    for bad in [vec![], vec![77]] {
        let graph = ladder(bad);
        let store = ExactStore::new(graph.packing().clone(), &Unlimited, 1 << 24).expect("room");
        let expected = Job::new(&graph, &store, &mut Bfs::new(&Limits::default()), &settings()).run(&mut Unbounded);
        for remembers in [true, false] {
            let mut device = Sets { remembers, ..Sets::new(&graph) };
            let outcome = explore_on_device(&graph, &mut device, &settings(), &mut Unbounded).expect("a device");
            assert_eq!(outcome.verdict(), expected.verdict());
            assert_eq!((outcome.stop, outcome.depth, outcome.is_complete()), (expected.stop, expected.depth, expected.is_complete()));
            if outcome.is_complete() {
                assert_eq!((outcome.states, outcome.fired, &outcome.firings), (expected.states, expected.fired, &expected.firings));
            }
            for (violation, other) in outcome.violations.iter().zip(&expected.violations) {
                // The way is found, from the trail or from the start states, and is as short.
                let away = device.standing().away;
                let witness = Witness::trace(&graph, &away, violation, &Unlimited, 1).expect("a witness");
                let shortest = Witness::trace(&graph, &store, other, &Unlimited, 1).expect("a witness");
                assert_eq!(witness.len(), shortest.len());
                assert!(witness.replay(&graph, true, 1).is_ok());
            }
        }
    }
}

#[test]
fn a_device_that_is_full_claims_nothing() {
    let graph = ladder(vec![]);
    let mut device = Sets { room: 20, ..Sets::new(&graph) };
    let outcome = explore_on_device(&graph, &mut device, &settings(), &mut Unbounded).expect("a device");
    assert_eq!((outcome.verdict(), outcome.stop), (Verdict::NotFound, Stop::Memory));
}

#[test]
fn limits_end_a_run_on_a_device() {
    let graph = ladder(vec![]);
    for (limits, stop) in [
        (Limits { depth: 3, ..Limits::default() }, Stop::Depth),
        (Limits { states: 10, ..Limits::default() }, Stop::States),
        (Limits { steps: 10, ..Limits::default() }, Stop::Steps),
    ] {
        let settings = Settings { limits, ..settings() };
        let outcome = explore_on_device(&graph, &mut Sets::new(&graph), &settings, &mut Unbounded).expect("a device");
        assert_eq!((outcome.verdict(), outcome.stop), (Verdict::NotFound, stop));
    }
}

#[test]
fn a_device_that_is_lost_says_so() {
    let graph = ladder(vec![]);
    let mut device = Sets { lost: true, ..Sets::new(&graph) };
    assert!(explore_on_device(&graph, &mut device, &settings(), &mut Unbounded).is_err());
}
