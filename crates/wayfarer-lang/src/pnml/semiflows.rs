//! Place invariants: weights of places under which no firing changes the weighted sum of tokens. They bound places, and those of weight one that hold a
//! single token say that a set of places shares it.
//!
//! The method is Farkas's elimination, one effect of transitions after another, as in J. Martínez and M. Silva, *A simple and fast algorithm to obtain all
//! invariants of a generalised Petri net* (1982). It can grow without measure, so combinations past a limit are left out: what is found is an invariant
//! all the same, and only some may be missing.

use super::flat::Flat;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

/// Combinations made for one effect, at most.
const MOST_COMBINATIONS: usize = 4_000;
/// Sums of entries that are made in all, at most.
const MOST_WORK: u64 = 20_000_000;
/// Weights beyond this bound nothing that is of use.
const LARGEST_WEIGHT: u64 = 1 << 20;

/// Weights of places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Semiflow {
    /// Places in ascending order with their weights, none of which is 0.
    pub weights: Vec<(u32, u64)>,
    /// The weighted sum of the initial tokens.
    pub total: u64,
    /// Whether the sum stays as it is; else it can only become smaller.
    pub is_kept: bool,
}

impl Semiflow {
    /// Whether the places share one token: exactly one where the sum is kept, else at most one.
    pub fn shares_one_token(&self) -> bool {
        self.total == 1 && self.weights.iter().all(|(_, weight)| *weight == 1)
    }
}

/// Sums that no firing changes; with `decreasing` also sums that no firing makes larger.
pub fn semiflows(flat: &Flat, decreasing: bool) -> Vec<Semiflow> {
    Elimination::new(flat, decreasing).run(flat)
}

/// Weights and what they make of the effects that are not eliminated yet.
#[derive(Clone, Debug)]
struct Row {
    effects: Vec<(u32, i64)>,
    weights: Vec<(u32, u64)>,
    is_kept: bool,
}

struct Elimination {
    rows: Vec<Option<Row>>,
    /// Rows in which an effect was not zero when they were made.
    users: Vec<Vec<u32>>,
    /// How many rows there are in which an effect is positive, and negative.
    signs: Vec<[u32; 2]>,
    /// Effects by the combinations that eliminating them makes, the fewest first. An entry may be out of date; a newer one follows then.
    waiting: BinaryHeap<Reverse<(i64, u32)>>,
    gone: Vec<bool>,
    decreasing: bool,
    work: u64,
}

impl Elimination {
    fn new(flat: &Flat, decreasing: bool) -> Self {
        let mut known: HashSet<Vec<(u32, i64)>> = HashSet::new();
        let mut columns: Vec<Vec<(u32, i64)>> = Vec::new();
        for transition in &flat.transitions {
            let mut effect = transition.effect();
            if !decreasing && effect.first().is_some_and(|(_, change)| *change < 0) {
                // An effect and its opposite ask for the same.
                effect.iter_mut().for_each(|(_, change)| *change = -*change);
            }
            if !effect.is_empty() && known.insert(effect.clone()) {
                columns.push(effect);
            }
        }
        let mut effects: Vec<Vec<(u32, i64)>> = vec![Vec::new(); flat.places.len()];
        for (column, effect) in columns.iter().enumerate() {
            effect.iter().for_each(|(place, change)| effects[*place as usize].push((column as u32, *change)));
        }
        let mut elimination = Elimination {
            rows: Vec::new(),
            users: vec![Vec::new(); columns.len()],
            signs: vec![[0, 0]; columns.len()],
            waiting: BinaryHeap::new(),
            gone: vec![false; columns.len()],
            decreasing,
            work: 0,
        };
        for (place, effects) in effects.into_iter().enumerate() {
            elimination.add(Row { effects, weights: vec![(place as u32, 1)], is_kept: true });
        }
        elimination
    }

    fn add(&mut self, row: Row) {
        let number = self.rows.len() as u32;
        for (column, change) in &row.effects {
            self.users[*column as usize].push(number);
            self.signs[*column as usize][usize::from(*change < 0)] += 1;
            self.reckon(*column);
        }
        self.work += row.effects.len() as u64 + row.weights.len() as u64;
        self.rows.push(Some(row));
    }

    fn take(&mut self, number: u32) -> Option<Row> {
        let row = self.rows[number as usize].take()?;
        for (column, change) in &row.effects {
            self.signs[*column as usize][usize::from(*change < 0)] -= 1;
            self.reckon(*column);
        }
        self.work += row.effects.len() as u64;
        Some(row)
    }

    /// The combinations that eliminating an effect makes, less the rows that go.
    fn cost(&self, column: u32) -> i64 {
        let [more, less] = self.signs[column as usize].map(i64::from);
        more * less - more - less
    }

    fn reckon(&mut self, column: u32) {
        if !self.gone[column as usize] {
            self.waiting.push(Reverse((self.cost(column), column)));
        }
    }

    fn run(mut self, flat: &Flat) -> Vec<Semiflow> {
        // The effect that makes the fewest combinations goes first.
        while let Some(Reverse((cost, column))) = self.waiting.pop() {
            if self.gone[column as usize] || cost != self.cost(column) {
                continue;
            }
            self.gone[column as usize] = true;
            if self.work > MOST_WORK {
                // Rows in which effects are left are no invariants.
                break;
            }
            self.eliminate(column);
        }
        let mut found: Vec<Semiflow> = Vec::new();
        for row in self.rows.into_iter().flatten().filter(|row| row.effects.is_empty()) {
            let total = row.weights.iter().try_fold(0u64, |sum, (place, weight)| sum.checked_add(weight.checked_mul(flat.initial[*place as usize])?));
            found.extend(total.map(|total| Semiflow { weights: row.weights, total, is_kept: row.is_kept }));
        }
        found.sort_by(|one, other| (one.weights.len(), &one.weights).cmp(&(other.weights.len(), &other.weights)));
        found
    }

    fn eliminate(&mut self, column: u32) {
        let [mut more, mut less] = [Vec::new(), Vec::new()];
        let mut users = std::mem::take(&mut self.users[column as usize]);
        users.sort_unstable();
        users.dedup();
        for number in users {
            let Some(row) = self.take(number) else { continue };
            let change = row.effects.iter().find(|(other, _)| *other == column).map_or(0, |(_, change)| *change);
            if change > 0 { more.push((row, change)) } else { less.push((row, change)) }
        }
        if more.len() * less.len() > MOST_COMBINATIONS {
            // Small sets of places give the best bounds.
            let side = (MOST_COMBINATIONS as f64).sqrt() as usize;
            for list in [&mut more, &mut less] {
                list.sort_by_key(|(row, _)| (row.weights.len(), row.effects.len()));
            }
            let (most, least) = (more.len().min(less.len()), side);
            let (of_more, of_less) = if more.len() <= less.len() {
                (most, (MOST_COMBINATIONS / most.max(1)).max(least))
            } else {
                ((MOST_COMBINATIONS / most.max(1)).max(least), most)
            };
            more.truncate(of_more.min(MOST_COMBINATIONS));
            less.truncate(of_less.min(MOST_COMBINATIONS));
        }
        let mut made: HashMap<Vec<u32>, Row> = HashMap::new();
        for (one, up) in &more {
            for (other, down) in &less {
                if let Some(row) = combine(one, *up, other, *down, column) {
                    self.work += (row.effects.len() + row.weights.len()) as u64;
                    made.entry(row.weights.iter().map(|(place, _)| *place).collect()).or_insert(row);
                }
            }
        }
        if self.decreasing {
            for (mut row, _) in less {
                row.effects.retain(|(other, _)| *other != column);
                row.is_kept = false;
                made.entry(row.weights.iter().map(|(place, _)| *place).collect()).or_insert(row);
            }
        }
        let mut rows: Vec<Row> = made.into_values().collect();
        rows.sort_by(|one, other| (one.weights.len(), &one.weights).cmp(&(other.weights.len(), &other.weights)));
        // A semiflow that contains the places of another is a sum of smaller ones, which say more.
        let mut kept: Vec<Row> = Vec::new();
        for row in rows {
            self.work += kept.len() as u64;
            if kept.len() > 500 || !kept.iter().any(|smaller| smaller.is_kept == row.is_kept && contains(&row.weights, &smaller.weights)) {
                kept.push(row);
            }
        }
        kept.into_iter().for_each(|row| self.add(row));
    }
}

/// Whether all places of one list are in another.
fn contains(large: &[(u32, u64)], small: &[(u32, u64)]) -> bool {
    let mut large = large.iter();
    small.len() <= large.len() && small.iter().all(|(place, _)| large.any(|(other, _)| other == place))
}

/// The sum of two rows in which an effect cancels out; none where a weight becomes too large.
fn combine(one: &Row, up: i64, other: &Row, down: i64, column: u32) -> Option<Row> {
    let common = gcd(up.unsigned_abs(), down.unsigned_abs()).max(1);
    let (times_one, times_other) = (down.unsigned_abs() / common, up.unsigned_abs() / common);
    let mut effects = Vec::with_capacity(one.effects.len() + other.effects.len());
    merge(&one.effects, &other.effects, |at, left, right| {
        let left = left.unwrap_or(0).checked_mul(times_one as i64)?;
        let right = right.unwrap_or(0).checked_mul(times_other as i64)?;
        let sum = left.checked_add(right)?;
        if at != column && sum != 0 {
            effects.push((at, sum));
        }
        Some(())
    })?;
    let mut weights = Vec::with_capacity(one.weights.len() + other.weights.len());
    merge(&one.weights, &other.weights, |at, left, right| {
        let left = left.unwrap_or(0).checked_mul(times_one)?;
        let right = right.unwrap_or(0).checked_mul(times_other)?;
        weights.push((at, left.checked_add(right).filter(|sum| *sum <= LARGEST_WEIGHT)?));
        Some(())
    })?;
    let divisor = weights.iter().fold(0, |all, (_, weight)| gcd(all, *weight));
    if divisor > 1 && effects.iter().all(|(_, change)| change.unsigned_abs() % divisor == 0) {
        weights.iter_mut().for_each(|(_, weight)| *weight /= divisor);
        effects.iter_mut().for_each(|(_, change)| *change /= divisor as i64);
    }
    Some(Row { effects, weights, is_kept: one.is_kept && other.is_kept })
}

/// Visits the entries of two lists together, in ascending order.
fn merge<T: Copy>(one: &[(u32, T)], other: &[(u32, T)], mut visit: impl FnMut(u32, Option<T>, Option<T>) -> Option<()>) -> Option<()> {
    let (mut left, mut right) = (0, 0);
    loop {
        match (one.get(left), other.get(right)) {
            (Some((at, value)), Some((other_at, other_value))) if at == other_at => {
                visit(*at, Some(*value), Some(*other_value))?;
                (left, right) = (left + 1, right + 1);
            }
            (Some((at, value)), Some((other_at, _))) if at < other_at => {
                visit(*at, Some(*value), None)?;
                left += 1;
            }
            (Some((at, value)), None) => {
                visit(*at, Some(*value), None)?;
                left += 1;
            }
            (_, Some((at, value))) => {
                visit(*at, None, Some(*value))?;
                right += 1;
            }
            (None, None) => return Some(()),
        }
    }
}

fn gcd(mut one: u64, mut other: u64) -> u64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}
