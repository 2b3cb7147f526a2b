//! Finds the representative of a state's orbit.

use super::colours::set_apart;
use super::{Set, Symmetry};
use wayfarer_space::Word;

/// Memory for finding representatives, to be kept between calls.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// Whose it is: the sets and the vertices' indices.
    sets: Vec<Set>,
    index: Vec<u16>,
    pub(super) colours: Vec<Word>,
    pub(super) next: Vec<Word>,
    /// All elements, set after set, each set by colour and then by number.
    order: Vec<u16>,
    /// The new index of each vertex.
    to: Vec<u16>,
    named: Vec<bool>,
    /// For each element the first of its twins.
    twin: Vec<u16>,
    trial: Vec<Word>,
    best: Vec<Word>,
    /// Colours to come back to, one list for each level of the search.
    levels: Vec<Vec<Word>>,
}

impl Symmetry {
    /// Replaces a state by the representative of its orbit; says whether that is another state. The scratch must have been made fit.
    pub fn canonicalise(&self, state: &mut [Word], scratch: &mut Scratch) -> bool {
        self.first_colours(state, &mut scratch.colours);
        let mut cells = self.arrange(scratch);
        if cells < self.elements && self.refines {
            cells = self.settle(state, scratch, cells);
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

    /// Makes the memory fit this symmetry, where it was used with another.
    pub fn fit(&self, scratch: &mut Scratch) {
        if scratch.sets == self.sets && scratch.index == self.index {
            return;
        }
        scratch.sets.clone_from(&self.sets);
        scratch.index.clone_from(&self.index);
        scratch.colours = vec![0; self.index.len()];
        scratch.next = vec![0; self.index.len()];
        scratch.to.clone_from(&self.index);
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
            order.sort_unstable_by_key(|element| (colours[usize::from(*element)], *element));
            cells += 1;
            for (index, element) in order.iter().enumerate() {
                to[usize::from(*element)] = index as u16;
                cells += usize::from(index > 0 && colours[usize::from(order[index - 1])] != colours[usize::from(*element)]);
            }
        }
        cells
    }

    /// Refines until nothing more is told apart; gives back the number of colours.
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

    /// Finds the twins among elements of one colour; says whether there are no others.
    fn only_twins(&self, state: &[Word], scratch: &mut Scratch) -> bool {
        self.mark_named(state, &mut scratch.named);
        let mut only = true;
        for (set, info) in self.sets.iter().enumerate() {
            let (first, end) = (usize::from(info.first), usize::from(info.first + info.count));
            let mut start = first;
            for at in first..end {
                let element = scratch.order[at];
                if at > first && colour(scratch, at) != colour(scratch, at - 1) {
                    start = at;
                }
                // Being twins is transitive, so one of each family is asked.
                let family = (start..at)
                    .map(|other| scratch.order[other])
                    .find(|other| scratch.twin[usize::from(*other)] == *other && self.are_twins(set, *other, element, state, scratch));
                only &= at == start || family.is_some();
                scratch.twin[usize::from(element)] = family.unwrap_or(element);
            }
        }
        only
    }

    /// Whether exchanging two elements leaves the state as it is.
    fn are_twins(&self, set: usize, one: u16, other: u16, state: &[Word], scratch: &Scratch) -> bool {
        let (a, b) = (usize::from(one), usize::from(other));
        if !self.sets[set].crossed && !scratch.named[a] && !scratch.named[b] {
            return self.rows.iter().filter(|row| row.first == self.sets[set].first).all(|row| {
                let piece = |element: u16| {
                    let bit = row.bit + u32::from(element - row.first) * row.stride;
                    state[bit as usize / 64] >> (bit % 64) & row.mask
                };
                piece(one) == piece(other)
            });
        }
        let mut to = self.index.clone();
        to.swap(a, b);
        let mut exchanged = Vec::new();
        self.permute(state, &to, &mut exchanged);
        exchanged == state
    }

    /// Goes through the ways to tell elements of one colour apart, and leaves the least state reached in `best`.
    fn branch(&self, state: &[Word], scratch: &mut Scratch, depth: usize) {
        let Some((start, end)) = self.choice(scratch) else {
            self.permute(state, &scratch.to, &mut scratch.trial);
            if scratch.best.is_empty() || scratch.trial < scratch.best {
                std::mem::swap(&mut scratch.trial, &mut scratch.best);
            }
            return;
        };
        if scratch.levels.len() == depth {
            scratch.levels.push(Vec::new());
        }
        let mut saved = std::mem::take(&mut scratch.levels[depth]);
        saved.clone_from(&scratch.colours);
        let members = scratch.order[start..end].to_vec();
        for (number, element) in members.iter().enumerate() {
            let twin = scratch.twin[usize::from(*element)];
            if members[..number].iter().any(|other| scratch.twin[usize::from(*other)] == twin) {
                continue;
            }
            scratch.colours.copy_from_slice(&saved);
            let own = &mut scratch.colours[usize::from(*element)];
            *own = set_apart(*own);
            let cells = self.arrange(scratch);
            if self.refines {
                self.settle(state, scratch, cells);
            }
            self.branch(state, scratch, depth + 1);
        }
        scratch.levels[depth] = saved;
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

/// The colour of the element at a place of the order.
fn colour(scratch: &Scratch, at: usize) -> Word {
    scratch.colours[usize::from(scratch.order[at])]
}
