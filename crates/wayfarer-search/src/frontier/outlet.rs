//! States that one worker has found, as far as there is room for them.
//!
//! Each waits with a *waypoint*: its nearest ancestor at a level that is a multiple of [`INTERVAL`], kept whole with a link to the waypoint before it. A
//! witness goes from waypoint to waypoint and is searched anew in between.

use super::queue::Queue;
use super::waypoints::{NOWHERE, Spare, Waypoints};
use crate::Account;
use wayfarer_space::{Rng, Word};

/// Levels between waypoints: the depth of the searches that a witness is put together from.
pub(super) const INTERVAL: u32 = 8;

const ALL: u64 = 1 << 16;

/// A queue to write to, which may drop states at random.
pub(super) struct Outlet<'a> {
    account: &'a dyn Account,
    pub(super) queue: Queue,
    /// States that were found and could not be kept.
    pub(super) lost: u64,
    full: bool,
    /// Whether states that are found become waypoints.
    pub(super) marks: bool,
    spill: Option<Spill>,
    pub(super) spare: Spare,
}

/// The waypoint of a state.
#[derive(Clone, Copy)]
pub(super) enum Way {
    /// The state itself.
    Own(u32),
    /// The one that its parent descends from.
    Of(u32),
}

/// Which states are left out of a frontier that has no room for all.
struct Spill {
    rng: Rng,
    /// The share of found states that is kept, in units of 2^-16.
    kept: u64,
}

impl<'a> Outlet<'a> {
    /// With random numbers it goes on when there is no room, and leaves some states out.
    pub(super) fn new(queue: Queue, spill: Option<Rng>, account: &'a dyn Account) -> Self {
        Outlet { account, queue, lost: 0, full: false, marks: false, spill: spill.map(|rng| Spill { rng, kept: ALL }), spare: Spare::default() }
    }

    /// Whether a state was lost although all must be kept.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// Whether a state that was just found is left out, so that others find room.
    pub(super) fn leaves_out(&mut self) -> bool {
        let Some(spill) = self.spill.as_mut().filter(|spill| spill.kept < ALL) else { return false };
        // Up again little by little, so that about one in five finds no room while room is short.
        spill.kept += (spill.kept / 256).max(1);
        let out = spill.rng.below(ALL) >= spill.kept;
        self.lost += u64::from(out);
        out
    }

    /// The waypoint of a state that was just found: the state itself, held once, if it becomes one; else that of its parent, not held yet.
    pub(super) fn waypoint(&mut self, state: &[Word], before: Option<u32>, waypoints: &Waypoints) -> Way {
        let marked = if before.is_none() || self.marks { waypoints.add(state, before, &mut self.spare, self.account) } else { None };
        match (marked, before) {
            (Some(own), _) => Way::Own(own),
            (None, Some(before)) => Way::Of(before),
            (None, None) => Way::Of(NOWHERE),
        }
    }

    /// Appends a state with its waypoint; if there is no room, the waypoint is no longer needed.
    pub(super) fn put(&mut self, state: &[Word], waypoint: u32) -> bool {
        let kept = self.queue.push(state, waypoint, self.account);
        if !kept {
            self.lost += 1;
            match &mut self.spill {
                Some(spill) => spill.kept -= spill.kept / 64,
                None => self.full = true,
            }
        }
        kept
    }

    /// Whether states found while a level of `states` is expanded are to become waypoints, if they lie at `depth`. As many more may be found as there are
    /// now, and the frontier itself needs room, too.
    pub(super) fn marks_at(&self, depth: u32, states: u64, waypoints: &Waypoints) -> bool {
        let room = |bytes: u64| usize::try_from(bytes).is_ok_and(|bytes| self.account.allows(bytes));
        depth.is_multiple_of(INTERVAL) && room(8 * waypoints.bytes_for(states))
    }
}
