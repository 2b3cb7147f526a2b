//! Moves a search that has outgrown an exact store into a tree, links and all, to go on there.

use crate::frontier::Waiting;
use crate::{Candidates, Control, ExactStore, Handle, Progress, Recall, Remember, Stop, TreeStore, Visit};
use wayfarer_space::{Firing, Space, States, Steps};

/// States that are moved at once, and after how many the outside is asked.
const MOVED: usize = 512;
const ASKED: usize = 1 << 16;
const NOWHERE: u32 = u32::MAX;

/// Puts every state of `from` into `tree`, parents before their successors, and returns the frontier with handles into
/// the tree. Returns the reason if it has to stop before the end.
pub(super) fn plant(
    space: &dyn Space,
    from: &ExactStore,
    waiting: &Waiting,
    tree: &TreeStore,
    control: &mut dyn Control,
    progress: &Progress,
) -> Result<Waiting, Stop> {
    let mut seat = tree.seat().ok_or(Stop::Memory)?;
    let (end, order) = by_level(from);
    let mut places = vec![NOWHERE; end as usize];
    let (mut states, mut parents, mut steps) = (States::new(space.width()), States::new(space.width()), Steps::new(space.width()));
    let mut visits = Vec::new();
    let mut since = 0;
    for level in &order {
        for handles in level.chunks(MOVED) {
            states.clear();
            parents.clear();
            steps.clear();
            from.states(handles, &mut states);
            let links: Vec<Handle> = handles.iter().filter_map(|handle| from.parent(*handle)).collect();
            from.states(&links, &mut parents);
            for index in 0..handles.len() {
                // Start states are steps out of nowhere.
                let source = if links.is_empty() { states.get(index) } else { parents.get(index) };
                steps.push(index as u32, Firing::of(0), source, states.get(index));
            }
            let sources: Vec<Handle> = links.iter().map(|link| Handle(places[link.0 as usize])).collect();
            tree.insert(&mut seat, Candidates { steps: &steps, sources: &sources }, None, u64::MAX, &mut visits);
            for (handle, visit) in handles.iter().zip(&visits) {
                let Visit::New(place) = visit else { return Err(Stop::Memory) };
                places[handle.0 as usize] = place.0;
            }
            since += handles.len();
            if since >= ASKED {
                since = 0;
                if let Some(stop) = control.ask(progress).filter(|stop| *stop != Stop::Memory) {
                    return Err(stop);
                }
            }
        }
    }
    tree.leave(seat);
    let moved = |runs: &[(u32, u32)]| {
        let mut moved: Vec<(u32, u32)> = Vec::new();
        for place in runs.iter().flat_map(|(first, states)| *first..first + states).map(|handle| places[handle as usize]) {
            match moved.last_mut() {
                Some((first, states)) if *first + *states == place => *states += 1,
                _ => moved.push((place, 1)),
            }
        }
        moved
    };
    Ok(Waiting { level: moved(&waiting.level), next: moved(&waiting.next), depth: waiting.depth, starts: waiting.starts })
}

/// One past the last handle of a store, and its handles by how far they are from a start state.
fn by_level(from: &ExactStore) -> (u32, Vec<Vec<Handle>>) {
    let (end, unused) = from.given_out();
    let mut levels = vec![NOWHERE; end as usize];
    let mut order: Vec<Vec<Handle>> = Vec::new();
    let mut way = Vec::new();
    for handle in (0..end).filter(|handle| !unused.iter().any(|range| range.contains(handle))) {
        // Up to the first ancestor whose level is known, then down again: workers give handles out in runs, so a parent's may be the larger one.
        let mut at = Some(Handle(handle));
        while let Some(up) = at.filter(|up| levels[up.0 as usize] == NOWHERE) {
            way.push(up);
            at = from.parent(up);
        }
        let mut level = at.map_or(0, |known| levels[known.0 as usize] + 1);
        while let Some(down) = way.pop() {
            levels[down.0 as usize] = level;
            if order.len() == level as usize {
                order.push(Vec::new());
            }
            order[level as usize].push(down);
            level += 1;
        }
    }
    (end, order)
}
