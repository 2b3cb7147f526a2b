//! Looks for a shorter way among the states near a witness.
//!
//! The states of the witness are expanded, then those that they lead to, and so on, until there are as many as allowed. A shortest way through what is known
//! then replaces the witness.

use super::effort::Effort;
use super::goal::Goal;
use super::stage::RuleSet;
use crate::Account;
use std::collections::HashMap;
use wayfarer_space::{Firing, States, Steps, Word};

/// States that are expanded together.
const BATCH: usize = 64;

/// The states of a shorter way from the first of `states` to the goal, if there is one among the nearest `most` states.
pub(super) fn nearby(
    goal: &Goal,
    states: &[Vec<Word>],
    only: Option<&RuleSet>,
    most: usize,
    account: &dyn Account,
    effort: &mut Effort,
) -> Option<Vec<Vec<Word>>> {
    let words = states[0].len();
    let most = most.min(effort.left() as usize);
    if !account.allows(most * (words * 16 + 160)) {
        return None;
    }
    let mut known: HashMap<Vec<Word>, u32> = HashMap::new();
    let mut nodes: Vec<Vec<Word>> = Vec::new();
    for state in states {
        known.entry(state.clone()).or_insert_with(|| {
            nodes.push(state.clone());
            nodes.len() as u32 - 1
        });
    }
    let mut edges: Vec<Vec<u32>> = Vec::new();
    let mut batch = States::new(goal.space.width());
    let mut steps = Steps::new(goal.space.width());
    while edges.len() < nodes.len() && nodes.len() < most {
        let from = edges.len();
        let to = (from + BATCH).min(nodes.len());
        batch.clear();
        nodes[from..to].iter().for_each(|state| batch.push(state));
        edges.resize_with(to, Vec::new);
        goal.space.expand(&batch, Firing::of(0), &mut steps);
        for row in 0..steps.len() {
            let allowed = steps.changed[row] != 0 && only.is_none_or(|only| only.contains(&steps.firings[row].rule));
            if !allowed {
                continue;
            }
            let state = steps.states.get(row);
            let number = match known.get(state) {
                Some(number) => *number,
                None => {
                    let number = nodes.len() as u32;
                    known.insert(state.to_vec(), number);
                    nodes.push(state.to_vec());
                    number
                }
            };
            edges[from + steps.sources[row] as usize].push(number);
        }
        if !effort.spend((to - from) as u64) {
            break;
        }
    }
    shortest(goal, &nodes, &edges, states.len() - 1)
}

/// The states on a shortest way from the first node to one that meets the goal, if it has fewer than `length` steps.
fn shortest(goal: &Goal, nodes: &[Vec<Word>], edges: &[Vec<u32>], length: usize) -> Option<Vec<Vec<Word>>> {
    const NONE: u32 = u32::MAX;
    let mut before = vec![NONE; nodes.len()];
    before[0] = 0;
    let mut level = vec![0u32];
    let mut steps = 0;
    while !level.is_empty() && steps < length {
        if let Some(end) = level.iter().find(|node| goal.is_met(&nodes[**node as usize])) {
            let mut way = vec![*end];
            while way[way.len() - 1] != 0 {
                way.push(before[way[way.len() - 1] as usize]);
            }
            return Some(way.into_iter().rev().map(|node| nodes[node as usize].clone()).collect());
        }
        let mut next = Vec::new();
        for node in level {
            for to in edges.get(node as usize).into_iter().flatten() {
                if before[*to as usize] == NONE {
                    before[*to as usize] = node;
                    next.push(*to);
                }
            }
        }
        level = next;
        steps += 1;
    }
    None
}
