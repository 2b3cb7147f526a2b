//! The two algorithms by brute-force enumeration, one loop turn at a time, written from their pseudo-code
//! alone: a Markov chain over (ever found, V, current node). Nothing here uses lemmas, layers, closed points
//! or renewal.

use num_traits::Num;
use std::collections::BTreeMap;
use wayfarer_theory::{Algorithm, SelfLoops};

/// A graph as lists of distinct successors.
pub(crate) type Lists = Vec<Vec<usize>>;

/// The configuration that decides how a run continues, and the nodes found over all restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    pub(crate) ever: u32,
    pub(crate) stored: u32,
    pub(crate) at: usize,
}

/// The process to enumerate.
#[derive(Clone)]
pub(crate) struct Process<'a> {
    pub(crate) graph: &'a Lists,
    pub(crate) starts: &'a [usize],
    pub(crate) algorithm: Algorithm,
    pub(crate) loops: SelfLoops,
    pub(crate) capacity: Option<usize>,
}

/// The possible outcomes, each with the denominator of its probability 1/d.
type Outcomes = Vec<(Moment, u64)>;

impl Process<'_> {
    fn initial(&self, ever: u32) -> Outcomes {
        let stored = self.starts.iter().fold(0, |set, start| set | (1 << start));
        let places: Vec<usize> = match self.algorithm {
            Algorithm::Urs => vec![0],
            Algorithm::Sdrs => elements(stored).collect(),
        };
        places.iter().map(|at| (Moment { ever: ever | stored, stored, at: *at }, places.len() as u64)).collect()
    }

    fn outcomes(&self, now: Moment) -> Outcomes {
        let size = now.stored.count_ones() as u64;
        let mut outcomes = Vec::new();
        match self.algorithm {
            Algorithm::Urs => {
                for from in elements(now.stored) {
                    if self.graph[from].is_empty() {
                        outcomes.push((now, size));
                    }
                    for to in &self.graph[from] {
                        self.store(now, 0, *to, size * self.graph[from].len() as u64, &mut outcomes);
                    }
                }
            }
            Algorithm::Sdrs => {
                let successors = &self.graph[now.at];
                let stuck = successors.is_empty() || (self.loops == SelfLoops::Reset && successors.iter().all(|to| *to == now.at));
                if stuck {
                    outcomes.extend(elements(now.stored).map(|at| (Moment { at, ..now }, size)));
                } else {
                    for to in successors {
                        self.store(now, *to, *to, successors.len() as u64, &mut outcomes);
                    }
                }
            }
        }
        outcomes
    }

    fn store(&self, now: Moment, at: usize, node: usize, denominator: u64, outcomes: &mut Outcomes) {
        let stored = now.stored | (1 << node);
        let ever = now.ever | stored;
        if self.capacity.is_some_and(|capacity| stored.count_ones() as usize >= capacity) {
            outcomes.extend(self.initial(ever).into_iter().map(|(moment, factor)| (moment, factor * denominator)));
        } else {
            outcomes.push((Moment { ever, stored, at }, denominator));
        }
    }

    /// The exact probability of every moment after 0, 1, …, `steps` steps, as a whole number over unit^(step + 1).
    pub(crate) fn course(&self, steps: u32, unit: u128, mut see: impl FnMut(u32, &BTreeMap<Moment, u128>, f64)) {
        let mut law: BTreeMap<Moment, u128> = BTreeMap::new();
        for (moment, denominator) in self.initial(0) {
            *law.entry(moment).or_default() += unit / u128::from(denominator);
        }
        let mut whole = unit;
        for step in 0..=steps {
            see(step, &law, whole as f64);
            let mut next = BTreeMap::new();
            for (moment, weight) in &law {
                for (then, denominator) in self.outcomes(*moment) {
                    assert_eq!(unit % u128::from(denominator), 0);
                    *next.entry(then).or_default() += weight * (unit / u128::from(denominator));
                }
            }
            law = next;
            if step < steps {
                whole = whole.checked_mul(unit).expect("the unit is too large for so many steps");
                assert_eq!(law.values().sum::<u128>(), whole, "probabilities add up to one");
            }
        }
    }

    fn chain(&self, level: u32) -> Chain {
        let mut chain = Chain { index: BTreeMap::new(), moments: Vec::new(), edges: Vec::new() };
        let number_of = |moment: Moment, chain: &mut Chain| {
            let next = chain.moments.len();
            *chain.index.entry(moment).or_insert_with(|| {
                chain.moments.push(moment);
                next
            })
        };
        for (moment, _) in self.initial(0) {
            number_of(moment, &mut chain);
        }
        while chain.edges.len() < chain.moments.len() {
            let outcomes = self.outcomes(chain.moments[chain.edges.len()]);
            let row = outcomes
                .into_iter()
                .map(|(then, denominator)| ((then.stored.count_ones() < level).then(|| number_of(then, &mut chain)), denominator))
                .collect();
            chain.edges.push(row);
        }
        chain
    }

    /// The mean number of steps until 1, 2, … nodes are stored, by iterating the law until almost no
    /// probability remains. For chains too large to solve.
    pub(crate) fn cover_times_by_iteration(&self) -> Vec<f64> {
        assert!(self.capacity.is_none());
        let level = self.graph.len() as u32;
        let chain = self.chain(level);
        let mut law = vec![0.0; chain.moments.len()];
        self.initial(0).iter().for_each(|(moment, denominator)| law[chain.index[moment]] += 1.0 / *denominator as f64);
        let mut times = vec![0.0; level as usize];
        while law.iter().sum::<f64>() > 1e-16 {
            let mut next = vec![0.0; law.len()];
            for (from, weight) in law.iter().enumerate() {
                let size = chain.moments[from].stored.count_ones() as usize;
                times[size..].iter_mut().for_each(|time| *time += weight);
                for (to, denominator) in &chain.edges[from] {
                    if let Some(to) = to {
                        next[*to] += weight / *denominator as f64;
                    }
                }
            }
            law = next;
        }
        times
    }

    /// The mean number of steps until `level` nodes are stored, in any field, and the probability that it
    /// happens at all. The mean is `None` if the probability is below one.
    pub(crate) fn cover_time<N: Num + Clone + std::ops::AddAssign + std::ops::SubAssign>(
        &self,
        level: u32,
        number: impl Fn(u64) -> N,
    ) -> (Option<N>, N) {
        assert!(self.capacity.is_none());
        let starts = self.initial(0);
        if starts[0].0.stored.count_ones() >= level {
            return (Some(N::zero()), N::one());
        }
        let Chain { index, edges, .. } = self.chain(level);
        let mut hopeful = vec![false; edges.len()];
        loop {
            let more: Vec<bool> = edges.iter().map(|row| row.iter().any(|(to, _)| to.is_none_or(|to| hopeful[to]))).collect();
            if more == hopeful {
                break;
            }
            hopeful = more;
        }
        let sure = hopeful.iter().all(|hope| *hope);
        let places: Vec<usize> = (0..edges.len()).filter(|moment| hopeful[*moment]).collect();
        let place_of: BTreeMap<usize, usize> = places.iter().enumerate().map(|(place, moment)| (*moment, place)).collect();
        // (1 − Q) x = right, with right = 1 for the mean and the probability to arrive in one step for the chance.
        let solve = |mean: bool| -> N {
            let size = places.len();
            let mut rows: Vec<Vec<N>> = vec![vec![N::zero(); size + 1]; size];
            for (place, moment) in places.iter().enumerate() {
                rows[place][place] += N::one();
                for (to, denominator) in &edges[*moment] {
                    let share = N::one() / number(*denominator);
                    match to {
                        None if !mean => rows[place][size] += share,
                        None => {}
                        Some(to) => {
                            if let Some(to) = place_of.get(to) {
                                rows[place][*to] -= share;
                            }
                        }
                    }
                }
                if mean {
                    rows[place][size] += N::one();
                }
            }
            // The matrix is diagonally dominant: no pivoting is needed, in any field.
            for pivot in 0..size {
                let (above, below) = rows.split_at_mut(pivot + 1);
                let pivot_row = &above[pivot];
                for row in below {
                    if row[pivot] != N::zero() {
                        let factor = row[pivot].clone() / pivot_row[pivot].clone();
                        for column in pivot..=size {
                            if pivot_row[column] != N::zero() {
                                row[column] -= factor.clone() * pivot_row[column].clone();
                            }
                        }
                    }
                }
            }
            let mut solution = vec![N::zero(); size];
            for place in (0..size).rev() {
                let mut right = rows[place][size].clone();
                for later in place + 1..size {
                    right -= rows[place][later].clone() * solution[later].clone();
                }
                solution[place] = right / rows[place][place].clone();
            }
            starts.iter().fold(N::zero(), |sum, (moment, denominator)| {
                let value = place_of.get(&index[moment]).map_or(N::zero(), |place| solution[*place].clone());
                sum + value / number(*denominator)
            })
        };
        if sure { (Some(solve(true)), N::one()) } else { (None, solve(false)) }
    }
}

/// The moments that can occur before a level of cover is reached, and the successors of each; `None` stands
/// for the level.
struct Chain {
    index: BTreeMap<Moment, usize>,
    moments: Vec<Moment>,
    edges: Vec<Vec<(Option<usize>, u64)>>,
}

/// The elements of a set.
pub(crate) fn elements(set: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |element| set & (1 << element) != 0)
}

/// Whether two numbers agree to a relative error.
pub(crate) fn close(one: f64, other: f64, error: f64) -> bool {
    (one - other).abs() <= error * one.abs().max(other.abs()).max(1.0)
}
