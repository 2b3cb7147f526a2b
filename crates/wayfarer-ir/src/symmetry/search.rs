//! Finds the representative of a state's orbit.

use super::colours::set_apart;
use super::{Set, Symmetry};
use wayfarer_space::Word;

/// Up to this many elements are ordered by comparing all pairs.
const FEW: usize = 16;

/// Memory for finding representatives, to be kept between calls.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// The symmetry it was last used with: the sets and the vertices' indices.
    sets: Vec<Set>,
    index: Vec<u16>,
    pub(super) colours: Vec<Word>,
    pub(super) next: Vec<Word>,
    /// All elements, set after set, each set by colour and then by number.
    order: Vec<u16>,
    /// The new index of each vertex.
    to: Vec<u16>,
    /// Whether each element is referenced somewhere in the state.
    pub(super) named: Vec<bool>,
    /// For each element the first of its twins.
    twin: Vec<u16>,
    /// The identity, except for two elements while they are exchanged.
    exchange: Vec<u16>,
    trial: Vec<Word>,
    best: Vec<Word>,
    levels: Vec<Level>,
}

/// A choice of the search that will be revised.
#[derive(Clone, Debug, Default)]
struct Level {
    /// The colours before it.
    colours: Vec<Word>,
    /// The elements it chooses from.
    members: Vec<u16>,
    /// The first state that was reached from here.
    first: Vec<Word>,
    past_first: bool,
}

impl Symmetry {
    /// Replaces a state by the representative of its orbit. Returns whether that is another state. The scratch must
    /// have been fitted.
    pub fn canonicalise(&self, state: &mut [Word], scratch: &mut Scratch) -> bool {
        self.first_colours(state, scratch);
        let mut cells = self.arrange(scratch);
        if cells < self.elements {
            self.mark_named(state, &mut scratch.named);
            if self.only_idle(state, scratch) {
                cells = self.elements;
            } else if self.refines {
                cells = self.settle(state, scratch, cells);
            }
        }
        if cells < self.elements && !self.only_twins(state, scratch) {
            scratch.best.clear();
            self.branch(state, scratch, 0);
        } else {
            if scratch.to[..self.elements] == self.index[..self.elements] {
                return false;
            }
            self.permute(state, &scratch.to, &mut scratch.best);
        }
        let moved = *state != scratch.best[..];
        state.copy_from_slice(&scratch.best);
        moved
    }

    /// Fits the memory to this symmetry if it was used with another.
    pub fn fit(&self, scratch: &mut Scratch) {
        if scratch.sets == self.sets && scratch.index == self.index {
            return;
        }
        scratch.sets.clone_from(&self.sets);
        scratch.index.clone_from(&self.index);
        scratch.colours = vec![0; self.index.len()];
        scratch.next = vec![0; self.index.len()];
        scratch.to.clone_from(&self.index);
        scratch.exchange.clone_from(&self.index);
        scratch.order = (0..self.elements as u16).collect();
        scratch.named = vec![false; self.elements];
        scratch.twin = vec![0; self.elements];
    }

    /// Orders the elements of each set by colour, and counts the colours.
    fn arrange(&self, scratch: &mut Scratch) -> usize {
        let Scratch { colours, order, to, .. } = scratch;
        let mut cells = 0;
        for set in &self.sets {
            let (first, count) = (usize::from(set.first), usize::from(set.count));
            let order = &mut order[first..first + count];
            if count <= FEW {
                cells += arrange_few(set.first, &colours[first..first + count], &mut to[first..first + count], order);
                continue;
            }
            order.sort_unstable_by_key(|element| (colours[usize::from(*element)], *element));
            cells += 1;
            for (index, element) in order.iter().enumerate() {
                to[usize::from(*element)] = index as u16;
                cells += usize::from(index > 0 && colours[usize::from(order[index - 1])] != colours[usize::from(*element)]);
            }
        }
        cells
    }

    /// Refines until the colours no longer change. Returns the number of colours.
    fn settle(&self, state: &[Word], scratch: &mut Scratch, mut cells: usize) -> usize {
        loop {
            self.refine(state, scratch);
            let now = self.arrange(scratch);
            if now == cells || now == self.elements {
                return now;
            }
            cells = now;
        }
    }

    /// Whether elements of one colour are not referenced and have the same data next to them: then they are twins,
    /// and no colour needs to be refined.
    fn only_idle(&self, state: &[Word], scratch: &Scratch) -> bool {
        self.sets.iter().enumerate().all(|(number, set)| {
            let order = &scratch.order[usize::from(set.first)..usize::from(set.first + set.count)];
            order.windows(2).all(|pair| {
                let [one, other] = [pair[0], pair[1]];
                let colour = |element: u16| scratch.colours[usize::from(element)];
                colour(one) != colour(other) || (self.are_idle(number, one, other, scratch) && self.have_alike(number, one, other, state))
            })
        })
    }

    fn are_idle(&self, set: usize, one: u16, other: u16, scratch: &Scratch) -> bool {
        !self.sets[set].crossed && !scratch.named[usize::from(one)] && !scratch.named[usize::from(other)]
    }

    /// Whether two elements have the same data next to them in rows.
    fn have_alike(&self, set: usize, one: u16, other: u16, state: &[Word]) -> bool {
        self.rows.iter().filter(|row| row.first == self.sets[set].first).all(|row| {
            let piece = |element: u16| {
                let bit = row.bit + u32::from(element - row.first) * row.stride;
                state[bit as usize / 64] >> (bit % 64) & row.mask
            };
            piece(one) == piece(other)
        })
    }

    /// Finds the twins among elements of one colour. Returns whether there are no others.
    fn only_twins(&self, state: &[Word], scratch: &mut Scratch) -> bool {
        let mut only = true;
        for (set, info) in self.sets.iter().enumerate() {
            let (first, end) = (usize::from(info.first), usize::from(info.first + info.count));
            let mut start = first;
            for at in first..end {
                let element = scratch.order[at];
                if at > first && colour(scratch, at) != colour(scratch, at - 1) {
                    start = at;
                }
                // Being twins is transitive, so one of each family is tested.
                let mut others = start..at;
                let family = loop {
                    let Some(other) = others.next().map(|other| scratch.order[other]) else { break None };
                    if scratch.twin[usize::from(other)] == other && self.are_twins(set, other, element, state, scratch) {
                        break Some(other);
                    }
                };
                only &= at == start || family.is_some();
                scratch.twin[usize::from(element)] = family.unwrap_or(element);
            }
        }
        only
    }

    /// Whether exchanging two elements leaves the state unchanged.
    fn are_twins(&self, set: usize, one: u16, other: u16, state: &[Word], scratch: &mut Scratch) -> bool {
        let (a, b) = (usize::from(one), usize::from(other));
        if self.are_idle(set, one, other, scratch) {
            return self.have_alike(set, one, other, state);
        }
        let Scratch { exchange, trial, .. } = scratch;
        exchange.swap(a, b);
        self.permute(state, exchange, trial);
        exchange.swap(a, b);
        trial == state
    }

    /// Tries the ways to distinguish elements of one colour, and leaves the smallest state reached in `best`. Returns
    /// the depth to return to if the state reached shows that the remaining choices below that depth's current choice
    /// lead to the same states as its first choice.
    fn branch(&self, state: &[Word], scratch: &mut Scratch, depth: usize) -> Option<usize> {
        let Some((start, end)) = self.choice(scratch) else { return self.leaf(state, scratch, depth) };
        if scratch.levels.len() == depth {
            scratch.levels.push(Level::default());
        }
        let level = &mut scratch.levels[depth];
        level.colours.clone_from(&scratch.colours);
        level.members.clear();
        level.members.extend_from_slice(&scratch.order[start..end]);
        level.first.clear();
        for number in 0..end - start {
            let level = &mut scratch.levels[depth];
            level.past_first = number > 0;
            let element = level.members[number];
            let twin = scratch.twin[usize::from(element)];
            if level.members[..number].iter().any(|other| scratch.twin[usize::from(*other)] == twin) {
                continue;
            }
            scratch.colours.copy_from_slice(&level.colours);
            let own = &mut scratch.colours[usize::from(element)];
            *own = set_apart(*own);
            let cells = self.arrange(scratch);
            if self.refines {
                self.settle(state, scratch, cells);
            }
            let back = self.branch(state, scratch, depth + 1);
            if back.is_some_and(|back| back < depth) {
                return back;
            }
        }
        None
    }

    /// Takes a state reached by the search into account.
    fn leaf(&self, state: &[Word], scratch: &mut Scratch, depth: usize) -> Option<usize> {
        let Scratch { to, trial, best, levels, .. } = scratch;
        self.permute(state, to, trial);
        // The same state again: an automorphism maps the first choice of this level to the current one, so that both
        // lead to the same states.
        let again = levels[..depth].iter().position(|level| level.past_first && level.first == *trial);
        if again.is_some() {
            return again;
        }
        for level in levels[..depth].iter_mut().filter(|level| level.first.is_empty()) {
            level.first.clone_from(trial);
        }
        if best.is_empty() || trial < best {
            std::mem::swap(trial, best);
        }
        None
    }

    /// The first run of elements of one colour that are not all twins.
    fn choice(&self, scratch: &Scratch) -> Option<(usize, usize)> {
        for set in &self.sets {
            let end = usize::from(set.first + set.count);
            let mut start = usize::from(set.first);
            for at in start + 1..=end {
                if at < end && colour(scratch, at) == colour(scratch, at - 1) {
                    continue;
                }
                let twin = |at: usize| scratch.twin[usize::from(scratch.order[at])];
                if (start + 1..at).any(|other| twin(other) != twin(start)) {
                    return Some((start, at));
                }
                start = at;
            }
        }
        None
    }
}

/// Ranks a few elements by comparing each pair, which has no branch to mispredict. Returns the number of colours.
#[inline]
fn arrange_few(first: u16, colours: &[Word], to: &mut [u16], order: &mut [u16]) -> usize {
    let mut cells = 0;
    for (element, colour) in colours.iter().enumerate() {
        let (mut rank, mut alike) = (0, false);
        for (other, earlier) in colours[..element].iter().enumerate() {
            let before = earlier <= colour;
            rank += u16::from(before);
            to[other] += u16::from(!before);
            alike |= earlier == colour;
        }
        to[element] = rank;
        cells += usize::from(!alike);
    }
    for (element, rank) in to.iter().enumerate() {
        order[usize::from(*rank)] = first + element as u16;
    }
    cells
}

/// The colour of the element at an index of the order.
fn colour(scratch: &Scratch, at: usize) -> Word {
    scratch.colours[usize::from(scratch.order[at])]
}
