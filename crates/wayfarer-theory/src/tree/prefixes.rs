//! The prefixes (k₁ … k_{h−1}) of the level-count vectors of a tree, numbered in lexicographic order, and the
//! moves of a growing set among them.
//!
//! A vector is valid if k_j ≤ m·k_{j−1} with k₀ = 1, because V is a subtree that holds the root. Only valid
//! prefixes are numbered, and the last level k_h needs no table: for a prefix it runs from 0 to m·k_{h−1}.

use super::Tree;

/// The way in which a step of the recursion adds nodes, from some level j on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Growth {
    /// One node at level j: URS.
    One,
    /// One node at each level from j to the leaves: an excursion of SDRS.
    Down,
}

/// All valid prefixes that leave room in a set of fewer than `full` nodes.
pub(super) struct Prefixes {
    width: usize,
    counts: Vec<u32>,
    /// 1 + k₁ + … + k_{h−1}: the number of nodes in the root and the prefix.
    pub(super) sizes: Vec<u32>,
    links: Vec<u32>,
}

/// A link to a prefix that does not exist.
pub(super) const NONE: u32 = u32::MAX;

impl Prefixes {
    pub(super) fn new(tree: &Tree, full: u32, growth: Growth) -> Self {
        let width = tree.levels.len() - 2;
        let mut prefixes = Prefixes { width, counts: Vec::new(), sizes: Vec::new(), links: Vec::new() };
        let mut current = vec![0u32; width];
        let mut size = 1;
        // An odometer that turns only through valid prefixes.
        'next: while size < full {
            prefixes.counts.extend_from_slice(&current);
            prefixes.sizes.push(size);
            for place in (0..width).rev() {
                let above = if place == 0 { 1 } else { current[place - 1] };
                if current[place] < above * tree.degree && size + 1 < full {
                    current[place] += 1;
                    size += 1;
                    continue 'next;
                }
                size -= current[place];
                current[place] = 0;
            }
            break;
        }
        prefixes.link(growth);
        prefixes
    }

    /// Bytes per prefix of a tree of this height.
    pub(super) fn bytes_each(height: u64) -> u64 {
        4 * (2 * (height - 1) + 1)
    }

    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// k₁ … k_{h−1}.
    pub(super) fn counts(&self, prefix: usize) -> &[u32] {
        &self.counts[prefix * self.width..(prefix + 1) * self.width]
    }

    /// The prefixes that growth from level 1, 2, …, h−1 on leads to; growth at the leaves alone keeps the
    /// prefix.
    pub(super) fn links(&self, prefix: usize) -> &[u32] {
        &self.links[prefix * self.width..(prefix + 1) * self.width]
    }

    fn link(&mut self, growth: Growth) {
        self.links.reserve_exact(self.counts.len());
        let mut target = vec![0u32; self.width];
        for prefix in 0..self.len() {
            for level in 0..self.width {
                target.copy_from_slice(self.counts(prefix));
                let end = if growth == Growth::One { level + 1 } else { self.width };
                target[level..end].iter_mut().for_each(|count| *count += 1);
                let link = self.find(&target, prefix);
                self.links.push(link);
            }
        }
    }

    /// The number of a prefix that comes after `after`, or [`NONE`].
    fn find(&self, wanted: &[u32], after: usize) -> u32 {
        let (mut low, mut high) = (after + 1, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.counts(middle).cmp(wanted) {
                std::cmp::Ordering::Equal => return middle as u32,
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        NONE
    }
}

/// The start of each prefix's vectors in one array that holds all vectors of fewer than `full` nodes.
pub(super) struct Runs {
    first: Vec<usize>,
}

impl Runs {
    pub(super) fn new(tree: &Tree, prefixes: &Prefixes, full: u32) -> Self {
        let mut first = vec![0];
        for prefix in 0..prefixes.len() {
            let above = prefixes.counts(prefix).last().copied().unwrap_or(1);
            let leaves = (above * tree.degree).min(full - 1 - prefixes.sizes[prefix]);
            first.push(first[prefix] + leaves as usize + 1);
        }
        Runs { first }
    }

    /// The number of vectors.
    pub(super) fn total(&self) -> usize {
        self.first[self.first.len() - 1]
    }

    /// The most covered leaves that are kept for a prefix.
    pub(super) fn most_leaves(&self, prefix: usize) -> u32 {
        (self.first[prefix + 1] - self.first[prefix] - 1) as u32
    }

    /// The index of a vector.
    pub(super) fn at(&self, prefix: usize, leaves: u32) -> usize {
        self.first[prefix] + leaves as usize
    }
}

/// The numbers of prefixes and vectors of fewer than `full` nodes, by counting (k_j, size) level by level;
/// saturating.
pub(super) fn count(tree: &Tree, full: u32) -> (u64, u64) {
    let full = full as usize;
    let degree = tree.degree as usize;
    let clipped = full < tree.nodes as usize;
    // Without a bound, sizes need not be tracked: every valid vector except the full one is smaller than the
    // tree.
    let span = if clipped { full } else { 1 };
    // ways[count][size]: valid prefixes so far that end in this count, of this size.
    let mut ways = vec![vec![0u64; span]; 2];
    if clipped && full < 2 {
        return (0, 0);
    }
    ways[1][if clipped { 1 } else { 0 }] = 1;
    for level in 1..tree.levels.len() - 1 {
        let most = (tree.levels[level] as usize).min(if clipped { full - 1 } else { usize::MAX });
        if most.saturating_mul(span) > 20_000_000 {
            return (u64::MAX, u64::MAX);
        }
        // Prefixes that allow `count` at this level are those whose last count is at least count/m.
        for last in (0..ways.len() - 1).rev() {
            let (below, above) = ways.split_at_mut(last + 1);
            below[last].iter_mut().zip(&above[0]).for_each(|(sum, more)| *sum = sum.saturating_add(*more));
        }
        ways = (0..=most)
            .map(|count| {
                let mut row = vec![0u64; span];
                if let Some(allowing) = ways.get(count.div_ceil(degree)) {
                    let shift = if clipped { count } else { 0 };
                    row[shift..].copy_from_slice(&allowing[..span - shift]);
                }
                row
            })
            .collect();
    }
    let (mut prefixes, mut vectors) = (0u64, 0u64);
    for (last, row) in ways.iter().enumerate() {
        for (size, number) in row.iter().enumerate().filter(|(_, number)| **number > 0) {
            let leaves = if clipped { (last * degree).min(full - 1 - size) } else { last * degree };
            prefixes = prefixes.saturating_add(*number);
            vectors = vectors.saturating_add(number.saturating_mul(leaves as u64 + 1));
        }
    }
    // The full tree itself ends the run and is not computed.
    (prefixes, if clipped { vectors } else { vectors.saturating_sub(1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_agrees_with_listing() {
        for (height, degree) in [(1, 1), (1, 3), (2, 2), (3, 1), (3, 2), (2, 4), (4, 2), (3, 3)] {
            let tree = Tree::new(height, degree).unwrap();
            for full in 2..=tree.nodes {
                let prefixes = Prefixes::new(&tree, full, Growth::One);
                let runs = Runs::new(&tree, &prefixes, full);
                assert_eq!(count(&tree, full), (prefixes.len() as u64, runs.total() as u64), "T({height}, {degree}) below {full}");
            }
        }
    }
}
