//! A frontier of handles: the states lie in a store that gives them back, and a level is a list of runs of handles.
//!
//! Over a store that numbers its states in the order of insertion a level is a single run, so that the frontier of one worker costs no memory at all.

use super::{Frontier, Shared, hands};
use crate::strategies::Level;
use crate::{Candidates, Handle, Selection, Store, Visit};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// States in a piece of a level that several workers share, at most.
const PIECE: u64 = 4096;
/// Pieces for each worker that the rest of a level is cut into at least, if it is large enough.
const PIECES: u64 = 8;

/// Handles that follow each other: the first, and how many.
pub(crate) type Run = (u32, u32);

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
}

#[derive(Default)]
struct Inside {
    level: Arc<Pieces>,
    found: Vec<Run>,
    turned: u64,
    /// States of the level that workers have left behind.
    left: Vec<Run>,
}

/// The states of a level, in pieces.
#[derive(Default)]
struct Pieces {
    states: u64,
    pieces: Vec<Run>,
    next: AtomicUsize,
}

impl Pieces {
    /// Cuts what was found into pieces for so many workers. They become smaller towards the end of the level, so that all workers end at about the same time.
    fn new(mut found: Vec<Run>, hands: usize) -> Self {
        let states = count(&found);
        found.sort_unstable();
        let hands = hands as u64;
        if hands > 1 {
            let (mut pieces, mut left) = (Vec::with_capacity(found.len()), states);
            for (mut first, mut run) in found {
                while run > 0 {
                    let piece = run.min((left / (hands * PIECES)).clamp(1, PIECE) as u32);
                    pieces.push((first, piece));
                    (first, run, left) = (first + piece, run - piece, left - u64::from(piece));
                }
            }
            found = pieces;
        }
        Pieces { states, pieces: found, next: AtomicUsize::new(0) }
    }

    fn untaken(&self) -> &[Run] {
        &self.pieces[self.next.load(Ordering::Relaxed).min(self.pieces.len())..]
    }
}

impl Board {
    /// A board on which nothing waits, or what waits in a store.
    pub(crate) fn new(workers: usize, from: Option<&Waiting>) -> Arc<Self> {
        let mut inside = Inside::default();
        let mut waiting = 0;
        if let Some(from) = from {
            inside.level = Arc::new(Pieces::new(from.level.clone(), workers));
            inside.found.clone_from(&from.next);
            waiting = count(&from.level) + count(&from.next);
        }
        Arc::new(Board { workers, inside: Mutex::new(inside), waiting: AtomicU64::new(waiting) })
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The states that wait once every worker has left.
    pub(crate) fn left(&self, depth: u32, starts: bool) -> Waiting {
        let mut inside = self.inside();
        let mut level = std::mem::take(&mut inside.left);
        level.extend_from_slice(inside.level.untaken());
        Waiting { level, next: std::mem::take(&mut inside.found), depth, starts }
    }
}

impl<'a> Shared<'a> for Arc<Board> {
    fn part(&self, worker: usize) -> Box<dyn Frontier + 'a> {
        let inside = self.inside();
        // The first worker counts the states that were found before.
        let handed = if worker == 0 { count(&inside.found) } else { 0 };
        Box::new(Handles { board: self.clone(), level: inside.level.clone(), piece: (0, 0), found: Vec::new(), states: 0, handed, cut: Vec::new() })
    }

    fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed)
    }
}

/// One worker's part.
struct Handles {
    board: Arc<Board>,
    level: Arc<Pieces>,
    /// The rest of the piece that was taken.
    piece: Run,
    found: Vec<Run>,
    /// States in `found`, and those that were handed over since the last turn.
    states: u64,
    handed: u64,
    /// States that were selected and could not be dealt with.
    cut: Vec<u32>,
}

impl Handles {
    /// Takes a piece, and says whether there was one.
    fn take_piece(&mut self) -> bool {
        let next = self.level.next.fetch_add(1, Ordering::Relaxed);
        let Some(piece) = self.level.pieces.get(next) else { return false };
        self.piece = *piece;
        self.board.waiting.fetch_sub(u64::from(piece.1), Ordering::Relaxed);
        true
    }
}

impl Frontier for Handles {
    fn take(&mut self, store: &dyn Store, most: u32, selection: &mut Selection) {
        if self.piece.1 == 0 && !self.take_piece() {
            return;
        }
        let taken = self.piece.1.min(most);
        selection.handles.extend((self.piece.0..self.piece.0 + taken).map(Handle));
        store.states(&selection.handles, &mut selection.states);
        self.piece = (self.piece.0 + taken, self.piece.1 - taken);
    }

    fn put(&mut self, selection: &Selection, kept: usize, _candidates: Candidates, visits: &[Visit]) {
        for visit in visits {
            if let Visit::New(Handle(handle)) = visit {
                self.states += 1;
                match self.found.last_mut() {
                    Some((first, states)) if *first + *states == *handle => *states += 1,
                    _ => self.found.push((*handle, 1)),
                }
            }
        }
        self.cut.extend(selection.handles.iter().skip(kept).map(|handle| handle.0));
    }

    fn pass_over(&mut self) -> u64 {
        let mut passed = u64::from(self.piece.1);
        while self.take_piece() {
            passed += u64::from(self.piece.1);
        }
        self.piece.1 = 0;
        passed
    }

    fn hand_over(&mut self) {
        self.board.waiting.fetch_add(self.states, Ordering::Relaxed);
        self.board.inside().found.append(&mut self.found);
        self.handed += std::mem::take(&mut self.states);
    }

    fn turn(&mut self, turn: u64, _depth: u32, feed: u64) -> u64 {
        let mut inside = self.board.inside();
        if inside.turned < turn {
            inside.turned = turn;
            let found = std::mem::take(&mut inside.found);
            let hands = hands(count(&found), feed, self.board.workers);
            inside.level = Arc::new(Pieces::new(found, hands));
        }
        self.level = inside.level.clone();
        self.handed = 0;
        self.level.states
    }

    fn level_states(&self) -> u64 {
        self.level.states
    }

    fn is_level_done(&self) -> bool {
        self.piece.1 == 0 && self.level.untaken().is_empty()
    }

    fn found(&self) -> u64 {
        self.states + self.handed
    }

    fn own(&self) -> u64 {
        u64::from(self.piece.1) + self.states + self.cut.len() as u64
    }

    fn shared(&self) -> u64 {
        self.board.waiting()
    }

    fn leave(&mut self) {
        let mut inside = self.board.inside();
        inside.left.extend(self.cut.iter().map(|handle| (*handle, 1)));
        inside.left.extend(Some(self.piece).filter(|piece| piece.1 > 0));
        inside.found.append(&mut self.found);
    }
}
