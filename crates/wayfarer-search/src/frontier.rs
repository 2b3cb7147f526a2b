//! States that are known and wait to be expanded, level by level.
//!
//! [`Handles`] keeps handles of a store that gives states back; [`Segments`] keeps the states themselves. Both are parts of something that all workers of a
//! crew share, and one worker alone is a crew of one: what it finds it hands over to itself, once for a level.

mod adopting;
mod arrivals;
mod handles;
mod outlet;
mod pieces;
mod queue;
mod segments;
mod waypoints;

pub(crate) use adopting::Origin;
pub(crate) use handles::{Board, Waiting};
pub(crate) use segments::Pool;
pub(crate) use waypoints::{Spare, Waypoints};

use crate::{Account, Candidates, Selection, Store, Visit};
use wayfarer_space::Word;

/// One worker's part of the states that wait.
pub(crate) trait Frontier: Send {
    /// Takes at most `most` states of the level.
    fn take(&mut self, store: &dyn Store, most: u32, selection: &mut Selection);

    /// Learns what became of a round. New states wait for the next level; sources from `kept` on could not be dealt with, which ends the run.
    /// With an account, it may note by which rules new states were reached, as far as there is room for that.
    fn put(&mut self, selection: &Selection, kept: usize, candidates: Candidates, visits: &[Visit], noting: Option<&dyn Account>);

    /// Leaves out the rest of the level, as far as no other worker does, and says how many states that are.
    fn pass_over(&mut self) -> u64;

    /// Gives what was found to those who share it.
    fn hand_over(&mut self);

    /// Everyone has handed over what was found: it becomes the level, at `depth`, unless another worker has seen to that in this turn. A worker is worth
    /// waking for `feed` states. Says how many states the level has.
    fn turn(&mut self, turn: u64, depth: u32, feed: u64) -> u64;

    /// The states that the level had when it began.
    fn level_states(&self) -> u64;

    /// Whether nothing of the level is left to take.
    fn is_level_done(&self) -> bool;

    /// States that this worker has found for the next level.
    fn found(&self) -> u64;

    /// States that wait at this worker alone, those it has found included, and states it could not keep.
    fn own(&self) -> u64;

    /// States that wait in the shared part, from which every worker can take.
    fn shared(&self) -> u64;

    /// Whether a state was lost although all must be kept.
    fn is_full(&self) -> bool {
        false
    }

    /// States that a witness to a selected state passes through, that state last: if the store has no links.
    fn trail(&self, selection: &Selection, source: usize) -> Option<Vec<Vec<Word>>> {
        let _ = (selection, source);
        None
    }

    /// The worker is done: its unexpanded states go to the shared part.
    fn leave(&mut self) {}
}

/// The number of workers that a level of `states` states feeds, if a worker is worth waking for `feed` of them.
pub(crate) fn hands(states: u64, feed: u64, workers: usize) -> usize {
    usize::try_from(states / feed).unwrap_or(workers).clamp(1, workers.max(1))
}

/// The part of a frontier that the workers of a crew share.
pub(crate) trait Shared<'a>: Sync {
    /// The part of one worker.
    fn part(&self, worker: usize) -> Box<dyn Frontier + 'a>;

    /// States that wait in the shared part.
    fn waiting(&self) -> u64;
}
