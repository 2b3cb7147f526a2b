//! A level of states in a store, cut into pieces for several workers.
//!
//! Each worker has a share of the level, a part that lies together, and takes its pieces one after another: neighbours lead to the same states, and a worker
//! that expands them soon after each other passes over most of these while it still remembers them. A worker whose share is done helps where most is left.

use super::arrivals::{Arrivals, Place};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use wayfarer_store::OwnLine;

/// States in a piece, at most, unless the share is so large that [`SMALLEST`] asks for more.
const PIECE: u64 = 4096;
/// A piece is one in so many states of what is left of its share. Smaller ones would balance better and part more neighbours.
const PIECES: u64 = 4;
/// And it is at least one in so many states of the share.
const SMALLEST: u64 = 128;

/// Handles that follow each other: the first, and how many.
pub(crate) type Run = (u32, u32);

/// A run of states, the piece of the level that they were found from, and where their arrivals are noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FoundRun {
    pub(super) piece: u32,
    pub(super) run: Run,
    pub(super) noted: Place,
}

/// The states of a level, in pieces.
#[derive(Default)]
pub(super) struct Pieces {
    pub(super) states: u64,
    pub(super) runs: Vec<Run>,
    /// Where the arrivals of the first state of each run are noted, and these.
    pub(super) noted: Vec<Place>,
    pub(super) arrivals: Arrivals,
    /// One past the last run of each piece.
    ends: Vec<usize>,
    shares: Vec<OwnLine<Share>>,
}

/// The pieces of one worker: the next, and one past the last.
#[derive(Default)]
struct Share {
    next: AtomicUsize,
    end: usize,
}

impl FoundRun {
    /// A run of which nothing else is known.
    pub(super) fn of(run: Run) -> Self {
        FoundRun { piece: 0, run, noted: Place::NOWHERE }
    }
}

impl Share {
    fn left(&self) -> Range<usize> {
        self.next.load(Ordering::Relaxed).min(self.end)..self.end
    }

    fn take(&self) -> Option<usize> {
        let next = if self.left().is_empty() { self.end } else { self.next.fetch_add(1, Ordering::Relaxed) };
        (next < self.end).then_some(next)
    }
}

impl Pieces {
    /// Cuts what was found into pieces for so many workers. The pieces of a share become smaller towards its end, so that all workers end at about the same
    /// time.
    pub(super) fn new(mut found: Vec<FoundRun>, arrivals: Arrivals, hands: usize) -> Self {
        found.sort_unstable();
        let states: u64 = found.iter().map(|found| u64::from(found.run.1)).sum();
        let (mut runs, mut ends): (Vec<Run>, Vec<usize>) = (Vec::with_capacity(found.len()), Vec::new());
        let mut noted = Vec::with_capacity(if arrivals.is_empty() { 0 } else { found.len() });
        let mut shares: Vec<OwnLine<Share>> = Vec::with_capacity(hands);
        // States that are left of the level and of the share, and room in the piece.
        let (mut left, mut share, mut room) = (states, 0, 0);
        let mut least = 1;
        for FoundRun { run: (mut first, mut run), noted: mut place, .. } in found {
            while run > 0 {
                if room == 0 {
                    ends.extend(Some(runs.len()).filter(|end| *end > 0));
                    if share == 0 {
                        let begun = AtomicUsize::new(ends.len());
                        shares.last_mut().into_iter().for_each(|last| last.end = ends.len());
                        share = left.div_ceil((hands - shares.len()) as u64);
                        shares.push(OwnLine(Share { next: begun, end: 0 }));
                        least = (share / SMALLEST).max(1);
                    }
                    room = if hands > 1 { (share / PIECES).clamp(least, PIECE.max(least)).min(share) } else { share };
                }
                let part = run.min(u32::try_from(room).unwrap_or(u32::MAX));
                runs.push((first, part));
                if !arrivals.is_empty() {
                    noted.push(place);
                }
                place = place.after(part);
                (first, run) = (first + part, run - part);
                (left, share, room) = (left - u64::from(part), share - u64::from(part), room - u64::from(part));
            }
        }
        ends.extend(Some(runs.len()).filter(|end| *end > 0));
        shares.last_mut().into_iter().for_each(|last| last.end = ends.len());
        Pieces { states, runs, noted, arrivals, ends, shares }
    }

    /// The number of a piece that no worker has taken, and its runs: of this worker's share, if there is one.
    pub(super) fn take(&self, worker: usize) -> Option<(usize, Range<usize>)> {
        let own = self.shares.get(worker).and_then(|share| share.take());
        let number = own.or_else(|| {
            loop {
                let fullest = self.shares.iter().max_by_key(|share| share.left().len()).filter(|share| !share.left().is_empty())?;
                if let Some(number) = fullest.take() {
                    return Some(number);
                }
            }
        })?;
        Some((number, self.piece(number)))
    }

    /// The runs of a piece.
    fn piece(&self, number: usize) -> Range<usize> {
        number.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[number]
    }

    /// The runs of all pieces that no worker has taken.
    pub(super) fn untaken(&self) -> impl Iterator<Item = Run> {
        let left = self.shares.iter().flat_map(|share| share.left());
        left.flat_map(|number| &self.runs[self.piece(number)]).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(pieces: &Pieces) -> Vec<Vec<u32>> {
        let runs = (0..pieces.ends.len()).map(|number| pieces.runs[pieces.piece(number)].iter());
        runs.map(|runs| runs.flat_map(|(first, states)| *first..first + states).collect()).collect()
    }

    #[test]
    fn a_level_follows_the_pieces_it_was_found_from() {
        // Two workers took turns in getting handles: one found its states from the pieces 0 and 2, the other from 1.
        let found = [(0, (0, 4)), (2, (8, 4)), (1, (4, 4)), (1, (12, 4))].map(|(piece, run)| FoundRun { piece, ..FoundRun::of(run) }).to_vec();
        let order: Vec<u32> = [0..4, 4..8, 12..16, 8..12].into_iter().flatten().collect();
        for hands in [1, 2, 3, 16] {
            let pieces = Pieces::new(found.clone(), Arrivals::default(), hands);
            assert_eq!(pieces.states, 16);
            assert_eq!(states(&pieces).concat(), order, "{hands} workers");
        }
        assert_eq!(states(&Pieces::new(found, Arrivals::default(), 1)).len(), 1);
        assert!(states(&Pieces::new(Vec::new(), Arrivals::default(), 4)).is_empty());
    }

    #[test]
    fn the_pieces_of_a_share_become_smaller_towards_its_end() {
        let pieces = Pieces::new(vec![FoundRun::of((0, 100_000)), FoundRun::of((100_000, 28))], Arrivals::default(), 4);
        let all = states(&pieces);
        for share in &pieces.shares {
            let sizes: Vec<usize> = all[share.left()].iter().map(Vec::len).collect();
            assert_eq!((sizes[0], sizes.iter().sum()), (PIECE as usize, 25_007));
            assert!(sizes.is_sorted_by(|one, other| one >= other) && *sizes.last().unwrap() <= 25_007 / SMALLEST as usize, "{sizes:?}");
        }
        assert_eq!(all.concat(), (0..100_028).collect::<Vec<u32>>());
    }

    #[test]
    fn each_piece_is_taken_once_and_a_worker_begins_with_its_own() {
        for (states, hands) in [(0, 1), (1, 1), (3, 16), (100_000, 3), (100_000, 16)] {
            let pieces = Pieces::new(vec![FoundRun::of((0, states))], Arrivals::default(), hands);
            let own: Vec<usize> = pieces.shares.iter().map(|share| share.left().start).collect();
            let mut taken = Vec::new();
            for (worker, first) in own.iter().enumerate() {
                let (number, runs) = pieces.take(worker).expect("a share has a piece");
                assert_eq!(number, *first);
                taken.extend(pieces.runs[runs].iter().copied());
            }
            let half = pieces.ends.len() / 2;
            taken.extend((own.len()..half).flat_map(|worker| pieces.take(worker)).flat_map(|(_, runs)| &pieces.runs[runs]));
            taken.extend(pieces.untaken().collect::<Vec<Run>>());
            while pieces.take(0).is_some() {}
            assert_eq!(pieces.untaken().count(), 0);
            let mut handles: Vec<u32> = taken.into_iter().flat_map(|(first, run)| first..first + run).collect();
            handles.sort_unstable();
            assert_eq!(handles, (0..states).collect::<Vec<u32>>(), "{states} states for {hands} workers");
        }
    }
}
