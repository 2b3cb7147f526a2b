//! Takes over what waits in a store that gives states back, with its links as waypoints as far as there is room for them.

use super::handles::Waiting;
use super::outlet::INTERVAL;
use super::segments::Pool;
use super::waypoints::{NOWHERE, Spare, Waypoints};
use crate::{Account, Handle, Stop};
use std::collections::HashMap;
use wayfarer_space::{States, Width};

/// A store from which states are taken over: gives states back, and knows their parents.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'r> {
    pub(crate) width: Width,
    pub(crate) read: &'r dyn Fn(&[Handle], &mut States),
    pub(crate) parent: &'r dyn Fn(Handle) -> Option<Handle>,
}

/// States that are taken over at once.
const ADOPTED: u32 = 256;

/// The nearest waypoint of ancestors of waiting states, and whether they are waypoints themselves.
type Ways = HashMap<u32, (Option<u32>, bool)>;
/// For each of these that there is room for, the bytes that it takes to make room for twice as many.
const WAY: usize = 40;

impl Pool<'_> {
    /// Goes on from what waits in a store. The reason why it ended early, if `ask` gave one.
    pub(crate) fn adopt(&self, waiting: &Waiting, origin: Origin, ask: &mut dyn FnMut() -> Option<Stop>) -> Option<Stop> {
        let mut known = Ways::new();
        let mut states = States::new(origin.width);
        let mut outlet = self.outlet(0);
        let waypoints = &self.waypoints;
        let mut stop = None;
        let mut segments = Vec::new();
        for (runs, depth) in [(&waiting.level, waiting.depth), (&waiting.next, waiting.depth + 1)] {
            let pieces = runs
                .iter()
                .flat_map(|(first, states)| (*first..first + states).step_by(ADOPTED as usize).map(move |at| at..(first + states).min(at + ADOPTED)));
            for piece in pieces {
                let handles: Vec<Handle> = piece.map(Handle).collect();
                states.clear();
                (origin.read)(&handles, &mut states);
                for (handle, state) in handles.iter().zip(states.iter()) {
                    let waypoint = way_to(waypoints, *handle, depth, origin, &mut known, &mut outlet.spare, self.account).unwrap_or(NOWHERE);
                    if !outlet.put(state, waypoint) {
                        waypoints.release(waypoint, 1, &mut outlet.spare);
                    }
                }
                stop = stop.or_else(&mut *ask);
                if stop.is_some() {
                    break;
                }
            }
            segments.push(outlet.queue.take_segments().collect::<Vec<_>>());
        }
        // Each waypoint was held for those that might descend from it.
        known
            .into_values()
            .filter(|(_, own)| *own)
            .filter_map(|(waypoint, _)| waypoint)
            .for_each(|waypoint| waypoints.release(waypoint, 1, &mut outlet.spare));
        waypoints.give_back(&mut outlet.spare);
        let next = segments.pop().unwrap_or_default();
        self.add(segments.into_iter().flatten(), |heap| &mut heap.level);
        self.add(next.into_iter(), |heap| &mut heap.next);
        self.lose(outlet.lost);
        stop
    }
}

/// The waypoint that a state at the given depth descends from, held once more.
fn way_to(
    waypoints: &Waypoints,
    state: Handle,
    depth: u32,
    origin: Origin,
    known: &mut Ways,
    spare: &mut Spare,
    account: &dyn Account,
) -> Option<u32> {
    // Up to the first ancestor that is a waypoint already, then down again.
    let (mut at, mut depth, mut above) = (state, depth, Vec::new());
    let mut waypoint = loop {
        let level = if depth == 0 || depth.is_multiple_of(INTERVAL) { depth } else { depth - depth % INTERVAL };
        for _ in level..depth {
            at = (origin.parent)(at)?;
        }
        depth = level;
        if let Some((waypoint, _)) = known.get(&at.0) {
            break *waypoint;
        }
        above.push(at);
        match (origin.parent)(at) {
            Some(above) if depth > 0 => (at, depth) = (above, depth - 1),
            _ => break None,
        }
    };
    let mut one = States::new(origin.width);
    for at in above.into_iter().rev() {
        one.clear();
        (origin.read)(&[at], &mut one);
        let added = waypoints.add(one.get(0), waypoint, spare, account);
        waypoint = added.or(waypoint);
        // If there is no room for it, those that come this way need not go farther up either.
        if added.is_some() || known.len() < known.capacity() || account.allows(known.capacity().max(64) * WAY) {
            known.insert(at.0, (waypoint, added.is_some()));
        }
    }
    waypoint.inspect(|waypoint| waypoints.hold(*waypoint, 1))
}
