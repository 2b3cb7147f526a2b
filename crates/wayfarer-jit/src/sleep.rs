//! Rules that need not be fired in a state, because another order of two rules leads to the same target.
//!
//! Let a state have been reached first by rule `b`, and let a rule `r` before `b` be enabled there, such that neither accesses what the other writes. Then
//! `r` was enabled in the state before, too, and `r` and `b` after it lead to the same target as `b` and `r`. So `r` sleeps.
//!
//! Every state is still reached, and at the same depth. For the step left out stand the step of `r` from the state before, which is nearer to the start,
//! and one of `b`, a larger rule. These may sleep in their turn; but such a chain goes to larger rules, or nearer to the start by the same rule, so it
//! ends. It does not matter in which order a search finds states, nor which of several steps finds one first.
//!
//! These are the sleep sets of Godefroid (Partial-Order Methods for the Verification of Concurrent Systems, 1996), of one step each: his look back along
//! the whole path, need room in every state, and hold only for the order of one searcher.

use crate::compiled::Compiled;
use crate::run::Scratch;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use wayfarer_ir::effects::{Effects, RuleEffects};
use wayfarer_ir::{Program, acts};

/// The most rules of a program in which some sleep.
const MOST: u32 = 4096;
/// The share of machine code's room that the table may take.
const ROOM: usize = 4;
/// States that are expanded before the table is made: for so many nodes of commands, and for so many words compared, as expanding one costs. Over that, the
/// table takes at most a twentieth of the time, and less the longer the search goes on.
const NODES: u64 = 1;
const WORDS: u64 = 32;

/// The table, once it is worth making.
#[derive(Default)]
pub(crate) struct Sleepers {
    table: OnceLock<Table>,
    begun: AtomicBool,
    pub(crate) at_once: bool,
}

/// For each rule, the smaller ones that are independent of it, as bits in groups of rules.
pub(crate) struct Table {
    groups: usize,
    rows: Vec<u64>,
}

impl Table {
    /// The rules that sleep in a state that was first reached by this rule.
    #[inline]
    pub(crate) fn after(&self, rule: u32) -> Option<&[u64]> {
        let at = (rule as usize).checked_mul(self.groups)?;
        self.rows.get(at..at.checked_add(self.groups)?)
    }
}

/// Whether two rules have the same result in either order, and neither enables or disables the other.
fn independent(one: &RuleEffects, other: &RuleEffects) -> bool {
    let undisturbed = |writer: &RuleEffects, reader: &RuleEffects| {
        !(writer.writes.meets(&reader.writes) || writer.writes.meets(&reader.reads) || writer.writes.meets(&reader.guard_reads))
    };
    undisturbed(one, other) && undisturbed(other, one)
}

impl Compiled {
    /// Whether rules may sleep: an assumption looks at all of a state, and a level at all rules.
    pub(crate) fn may_sleep(&self) -> bool {
        let room = (self.rules as usize).pow(2) / 8 <= self.code_limit / ROOM;
        room && self.rules <= MOST && self.assumptions.is_none() && !self.layered
    }

    /// The table, if it is there. `scratch` counts the states that were expanded.
    #[inline]
    pub(crate) fn sleepers(&self, states: usize, scratch: &mut Scratch) -> Option<&Table> {
        self.sleepers.table.get().or_else(|| self.make_sleepers(states, scratch))
    }

    #[cold]
    fn make_sleepers(&self, states: usize, scratch: &mut Scratch) -> Option<&Table> {
        scratch.expanded += states as u64;
        let pairs = u64::from(self.rules).pow(2);
        let pays = self.sleepers.at_once || scratch.expanded >= self.command_nodes * NODES + pairs * self.words as u64 / WORDS;
        // The others go on without it while one worker makes it.
        if !pays || self.sleepers.begun.swap(true, Ordering::Relaxed) {
            return None;
        }
        Some(self.sleepers.table.get_or_init(|| self.find_sleepers()))
    }

    fn find_sleepers(&self) -> Table {
        let rules = rules_of(&self.program);
        // Where rules are listed they have groups by their numbers.
        let by_number: Vec<u32>;
        let firsts = if self.lone || self.rows.is_some() {
            by_number = (0..self.rules).step_by(64).collect();
            &by_number
        } else {
            &self.firsts
        };
        let mut rows = Vec::with_capacity(rules.len() * firsts.len());
        for (number, (effects, _)) in rules.iter().enumerate() {
            for (group, first) in firsts.iter().enumerate() {
                let first = *first as usize;
                let next = firsts.get(group + 1).map_or(rules.len(), |next| *next as usize);
                let smaller = first..next.min(first + 64).min(number);
                let sleeps = |smaller: &usize| rules[*smaller].1 && independent(effects, &rules[*smaller].0);
                rows.push(smaller.filter(sleeps).fold(0, |row, smaller| row | 1u64 << (smaller - first)));
            }
        }
        Table { groups: firsts.len(), rows }
    }
}

/// The effects of each rule, and whether it may sleep: steps that are discarded are counted one by one.
fn rules_of(program: &Program) -> Vec<(RuleEffects, bool)> {
    let (effects, functions) = (Effects::new(program), acts::acts(program));
    let families = program.rules.iter().map(|rule| (rule, !acts::acts_of(&rule.command, &functions).discards));
    let members = families.flat_map(|(rule, may_sleep)| (0..rule.instances()).map(move |member| (rule, member, may_sleep)));
    members.map(|(rule, member, may_sleep)| (effects.member(rule, member), may_sleep)).collect()
}
