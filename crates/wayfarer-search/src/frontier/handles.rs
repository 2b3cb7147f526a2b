//! A frontier of handles: the states lie in a store that gives them back, and a level is a list of runs of handles.
//!
//! Over a store that numbers its states in the order of insertion a level is a single run, so that the frontier of one worker costs no memory at all.
//!
//! With several workers a level keeps the order of a single worker, except within [pieces](Pieces): what was found from a piece comes before what was found
//! from the next one.

use super::arrivals::{Arrivals, Noting, Place};
use super::pieces::{FoundRun, Pieces, Run};
use super::{Frontier, Shared, hands};
use crate::strategies::Level;
use crate::{Account, Candidates, Handle, Selection, Store, Visit};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

impl Waiting {
    /// The level of a search that goes on from here.
    pub(crate) fn level_of(&self) -> Level {
        Level { depth: self.depth, deepest: self.depth + u32::from(!self.next.is_empty()), begun: true }
    }
}

fn count(runs: &[Run]) -> u64 {
    runs.iter().map(|(_, states)| u64::from(*states)).sum()
}

/// States that wait in a store: those of the level that is being expanded and those found for the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting {
    pub(crate) level: Vec<Run>,
    pub(crate) next: Vec<Run>,
    pub(crate) depth: u32,
    /// Whether start states wait, too, which found no room.
    pub(crate) starts: bool,
}

/// The level and what was found for the next, for all workers.
pub(crate) struct Board {
    workers: usize,
    inside: Mutex<Inside>,
    /// States of the level that no worker has taken, and states that were found and handed over.
    waiting: AtomicU64,
    /// Whether some rule has failed. From the next level on none is left out then, because the same failure counts in each state.
    fails: AtomicBool,
}

#[derive(Default)]
struct Inside {
    level: Arc<Pieces>,
    found: Vec<FoundRun>,
    /// The arrivals of these states.
    arrivals: Arrivals,
    turned: u64,
    /// States of the level that workers have left behind.
    left: Vec<Run>,
}

impl Board {
    /// A board on which nothing waits, or what waits in a store.
    pub(crate) fn new(workers: usize, from: Option<&Waiting>) -> Arc<Self> {
        let mut inside = Inside::default();
        let mut waiting = 0;
        if let Some(from) = from {
            let runs = |runs: &[Run]| runs.iter().map(|run| FoundRun::of(*run)).collect();
            inside.level = Arc::new(Pieces::new(runs(&from.level), Arrivals::default(), workers));
            inside.found = runs(&from.next);
            waiting = count(&from.level) + count(&from.next);
        }
        Arc::new(Board { workers, inside: Mutex::new(inside), waiting: AtomicU64::new(waiting), fails: AtomicBool::new(false) })
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The states that wait once every worker has left.
    pub(crate) fn left(&self, depth: u32, starts: bool) -> Waiting {
        let mut inside = self.inside();
        let mut level = std::mem::take(&mut inside.left);
        level.extend(inside.level.untaken());
        let next = std::mem::take(&mut inside.found).into_iter().map(|found| found.run).collect();
        Waiting { level, next, depth, starts }
    }
}

impl<'a> Shared<'a> for Arc<Board> {
    fn part(&self, worker: usize) -> Box<dyn Frontier + 'a> {
        let inside = self.inside();
        // The first worker counts the states that were found before.
        let handed = if worker == 0 { inside.found.iter().map(|found| u64::from(found.run.1)).sum() } else { 0 };
        Box::new(Handles {
            board: self.clone(),
            worker,
            level: inside.level.clone(),
            number: 0,
            piece: 0..0,
            run: (0, 0),
            noted: Place::NOWHERE,
            left: 0,
            found: Vec::new(),
            noting: Noting::default(),
            states: 0,
            handed,
            cut: Vec::new(),
        })
    }

    fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed)
    }
}

/// One worker's part.
struct Handles {
    board: Arc<Board>,
    worker: usize,
    level: Arc<Pieces>,
    /// The number of the piece that was taken, its runs that wait, the rest of the run that is being expanded, and the states of all these.
    number: u32,
    piece: Range<usize>,
    run: Run,
    /// Where the arrivals of that rest are noted.
    noted: Place,
    left: u64,
    found: Vec<FoundRun>,
    noting: Noting,
    /// States in `found`, and those that were handed over since the last turn.
    states: u64,
    handed: u64,
    /// States that were selected and could not be dealt with.
    cut: Vec<u32>,
}

impl Handles {
    /// Takes a piece, and says whether there was one.
    fn take_piece(&mut self) -> bool {
        let Some((number, piece)) = self.level.take(self.worker) else { return false };
        self.left = count(&self.level.runs[piece.clone()]);
        (self.number, self.piece) = (number as u32, piece);
        self.board.waiting.fetch_sub(self.left, Ordering::Relaxed);
        true
    }

    /// Hands in what was found.
    fn hand_in(&mut self, inside: &mut Inside) {
        let list = inside.arrivals.add(&mut self.noting);
        inside.found.extend(self.found.drain(..).map(|found| FoundRun { noted: found.noted.in_list(list), ..found }));
    }
}

impl Frontier for Handles {
    fn take(&mut self, store: &dyn Store, most: u32, selection: &mut Selection) {
        if self.left == 0 && !self.take_piece() {
            return;
        }
        let mut room = most;
        while room > 0 && self.left > 0 {
            if self.run.1 == 0 {
                let Some(next) = self.piece.next() else { break };
                self.run = self.level.runs[next];
                self.noted = self.level.noted.get(next).copied().unwrap_or(Place::NOWHERE);
            }
            let (first, taken) = (self.run.0, self.run.1.min(room));
            selection.handles.extend((first..first + taken).map(Handle));
            self.level.arrivals.read(self.noted, taken, &mut selection.arrivals);
            self.noted = self.noted.after(taken);
            self.run = (first + taken, self.run.1 - taken);
            self.left -= u64::from(taken);
            room -= taken;
        }
        store.states(&selection.handles, &mut selection.states);
    }

    fn put(&mut self, selection: &Selection, kept: usize, candidates: Candidates, visits: &[Visit], noting: Option<&dyn Account>) {
        if !candidates.steps.faults.is_empty() {
            self.board.fails.store(true, Ordering::Relaxed);
        }
        // Start states were reached by no rule.
        let noting = noting.filter(|_| !candidates.sources.is_empty());
        for (index, visit) in visits.iter().enumerate() {
            if let Visit::New(Handle(handle)) = visit {
                self.states += 1;
                let noted = noting.map_or(Place::NOWHERE, |account| self.noting.note(candidates.steps.firings[index].rule, account));
                match self.found.last_mut() {
                    Some(FoundRun { piece, run: (first, states), .. }) if *first + *states == *handle && *piece == self.number => *states += 1,
                    _ => self.found.push(FoundRun { piece: self.number, run: (*handle, 1), noted }),
                }
            }
        }
        self.cut.extend(selection.handles.iter().skip(kept).map(|handle| handle.0));
    }

    fn pass_over(&mut self) -> u64 {
        let mut passed = std::mem::take(&mut self.left);
        while self.take_piece() {
            passed += std::mem::take(&mut self.left);
        }
        (self.piece, self.run) = (0..0, (0, 0));
        passed
    }

    fn hand_over(&mut self) {
        self.board.waiting.fetch_add(self.states, Ordering::Relaxed);
        self.hand_in(&mut self.board.clone().inside());
        self.handed += std::mem::take(&mut self.states);
    }

    fn turn(&mut self, turn: u64, _depth: u32, feed: u64) -> u64 {
        let mut inside = self.board.inside();
        if inside.turned < turn {
            inside.turned = turn;
            let (found, arrivals) = (std::mem::take(&mut inside.found), std::mem::take(&mut inside.arrivals));
            let states: u64 = found.iter().map(|found| u64::from(found.run.1)).sum();
            let arrivals = if self.board.fails.load(Ordering::Relaxed) { Arrivals::default() } else { arrivals };
            let hands = hands(states, feed, self.board.workers);
            inside.level = Arc::new(Pieces::new(found, arrivals, hands));
        }
        self.level = inside.level.clone();
        (self.piece, self.run) = (0..0, (0, 0));
        self.handed = 0;
        self.level.states
    }

    fn level_states(&self) -> u64 {
        self.level.states
    }

    fn is_level_done(&self) -> bool {
        self.left == 0 && self.level.untaken().next().is_none()
    }

    fn found(&self) -> u64 {
        self.states + self.handed
    }

    fn own(&self) -> u64 {
        self.left + self.states + self.cut.len() as u64
    }

    fn shared(&self) -> u64 {
        self.board.waiting()
    }

    fn leave(&mut self) {
        let board = self.board.clone();
        let mut inside = board.inside();
        inside.left.extend(self.cut.iter().map(|handle| (*handle, 1)));
        inside.left.extend(Some(self.run).filter(|run| run.1 > 0));
        inside.left.extend_from_slice(&self.level.runs[self.piece.clone()]);
        self.hand_in(&mut inside);
    }
}
