//! A plain store that compares a new state with every stored one, as a list does: the reading of the difference-storage
//! paper's implementation that explains its delays.
//!
//! In Table 2 the delay over δ = 1 is nearly the same for 90 and for 2,000 tokens, and linear in δ. So it is spent going
//! back from differences to whole states, many times for each new state, and not in copying them.

use super::difference::TIME;
use crate::nets::{DELTAS, NETS};
use crate::{Cell, Column, Findings, Table};
use std::time::Instant;
use wayfarer::space::Rng;

/// The paper's number of states.
const STATES: usize = 500;

/// A stored state: whole, or one token's new place and the state before.
enum Stored {
    Whole(Vec<u32>),
    Change { token: usize, place: u32, before: usize },
}

/// A list of states at distances of at most δ from a whole one.
struct List {
    states: Vec<Stored>,
    depths: Vec<u32>,
    delta: u32,
    /// Steps back that comparisons took.
    back: u64,
}

impl List {
    /// Whether a state is in the list; every stored state is compared until one is equal.
    fn holds(&mut self, state: &[u32], changes: &mut Vec<(usize, u32)>) -> bool {
        for at in 0..self.states.len() {
            changes.clear();
            let mut at = at;
            let whole = loop {
                match &self.states[at] {
                    Stored::Whole(whole) => break whole,
                    Stored::Change { token, place, before } => {
                        // The newest change of a token is the one that counts.
                        if !changes.iter().any(|(known, _)| known == token) {
                            changes.push((*token, *place));
                        }
                        self.back += 1;
                        at = *before;
                    }
                }
            };
            let same = |token: usize| changes.iter().find(|(changed, _)| *changed == token).map_or(whole[token], |(_, place)| *place) == state[token];
            if (0..state.len()).all(same) {
                return true;
            }
        }
        false
    }
}

/// The seconds of each lookup, and the steps back, for the first 500 states of a net; δ = 0 keeps all states whole.
fn explored(places: u64, tokens: usize, delta: u32) -> (Vec<f64>, u64) {
    let mut rng = Rng::new(1, "scanning");
    let mut list = List { states: vec![Stored::Whole(vec![0; tokens])], depths: vec![0], delta, back: 0 };
    let (mut at, mut state, mut changes) = (0, vec![0u32; tokens], Vec::new());
    let mut times = Vec::new();
    while list.states.len() < STATES && times.len() < 100 * STATES {
        let (token, place) = (rng.below(tokens as u64) as usize, rng.below(places) as u32);
        let old = std::mem::replace(&mut state[token], place);
        let started = Instant::now();
        let held = list.holds(&state, &mut changes);
        times.push(started.elapsed().as_secs_f64());
        if held {
            state[token] = old;
            continue;
        }
        let depth = list.depths[at] + 1;
        let whole = list.delta <= 1 || depth.is_multiple_of(list.delta);
        list.states.push(if whole { Stored::Whole(state.clone()) } else { Stored::Change { token, place, before: at } });
        list.depths.push(depth);
        at = list.states.len() - 1;
    }
    (times, list.back)
}

/// Adds the reading to the last claim: the paper's own table as a sum of two costs, and the list measured.
pub(super) fn explain(findings: &mut Findings, quick: bool) {
    // delay(m, δ) − delay(m, 1) = c · (δ − 1)/2, one constant for all nets with more than five tokens.
    let points: Vec<(f64, f64)> = (1..NETS.len())
        .flat_map(|net| {
            DELTAS.iter().enumerate().skip(1).map(move |(index, delta)| (f64::from(delta - 1) / 2.0, TIME[net][index + 1] - TIME[net][1]))
        })
        .collect();
    let constant = points.iter().map(|(back, delay)| back * delay).sum::<f64>() / points.iter().map(|(back, _)| back * back).sum::<f64>();
    let mean = points.iter().map(|(_, delay)| delay).sum::<f64>() / points.len() as f64;
    let left = points.iter().map(|(back, delay)| (delay - constant * back).powi(2)).sum::<f64>();
    let fit = 1.0 - left / points.iter().map(|(_, delay)| (delay - mean).powi(2)).sum::<f64>();
    let runs = if quick { 1 } else { 5 };
    let mut columns = vec![Column::new("net")];
    columns.extend(DELTAS.iter().map(|delta| Column::new(format!("δ = {delta}"))));
    columns.push(Column::new("steps back for each state, δ = 20"));
    let mut table = Table::new("A list that compares with every stored state: time as a multiple of keeping states whole", columns);
    let mut ratios = Vec::new();
    for (places, tokens) in NETS.into_iter().skip(1) {
        // Every run makes the same lookups; the shortest time of each counts, because other programs can only make it longer.
        let best = |delta: u32| {
            let mut best = explored(places, tokens, delta).0;
            for _ in 1..runs {
                best.iter_mut().zip(explored(places, tokens, delta).0).for_each(|(best, time)| *best = time.min(*best));
            }
            best.iter().sum::<f64>()
        };
        let whole = best(0);
        let times: Vec<f64> = DELTAS.iter().map(|delta| best(*delta) / whole).collect();
        let back = explored(places, tokens, 20).1 as f64 / STATES as f64;
        ratios.push((tokens, times[4]));
        table.row(
            std::iter::once(Cell::from(format!("{places} places, {tokens} tokens")))
                .chain(times.into_iter().map(Cell::from))
                .chain([Cell::from(back)]),
        );
    }
    findings.tables.push(table);
    let listed: Vec<String> = ratios.iter().map(|(tokens, ratio)| format!("{ratio:.1} ({tokens} tokens)")).collect();
    findings.because(
        fit > crate::judging::FITS && ratios[0].1 > 5.0,
        "The paper's program compares a new state with every stored one, going back for each, instead of with those of an equal fingerprint.",
        format!(
            "Its delays over δ = 1 are the same for all nets from 90 tokens on and follow {constant:.0} ms·(δ − 1)/2 with R² {fit:.3}: {STATES}·{STATES}/2 comparisons of 0.5 µs for each step back. A list that does so takes, at δ = 20, {} times as long as one of whole states.",
            listed.join(", ")
        ),
    );
}
