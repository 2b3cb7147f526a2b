//! Rules that need not be fired in a state, because another order of two rules leads to the same target.
//!
//! Let a state have been reached first by rule `b`, and let a rule `r` before `b` be enabled there, such that neither accesses what the other writes. Then
//! `r` was enabled in the state before, too, and `r` and `b` after it lead to the same target as `b` and `r`. So `r` sleeps.
//!
//! Every state is still reached, and at the same depth. For the step left out stand the step of `r` from the state before, which is nearer to the start,
//! and one of `b`, a larger rule. These may sleep in their turn; but such a chain goes to larger rules, or nearer to the start by the same rule, so it
//! ends. It does not matter in which order a search finds states, nor which of several steps finds one first.
//!
//! A rule that differs from an earlier one only in parameters that do not matter sleeps everywhere: it has the same steps.
//!
//! These are the sleep sets of Godefroid (Partial-Order Methods for the Verification of Concurrent Systems, 1996), of one step each: his look back along
//! the whole path, need room in every state, and hold only for the order of one searcher.

use crate::compiled::Compiled;
use crate::run::Scratch;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use wayfarer_ir::effects::{Effects, RuleEffects};
use wayfarer_ir::independence::Dependences;
use wayfarer_ir::relevant::{Relevant, first_alike};
use wayfarer_ir::{Program, acts};

/// The most rules of a program in which some sleep.
const MOST: u32 = 4096;
/// The share of machine code's room that the table may take.
const ROOM: usize = 4;
/// Bytes for each word of a state and rule while the table is made, about.
const ACCESS: usize = 32;
/// States that are expanded before the table is made: one for so many nodes of commands, and so many for each rule. Making it takes about as long as
/// expanding a tenth of these.
const NODES: u64 = 32;
const STATES: u64 = 16;

/// The table, once it is worth making.
#[derive(Default)]
pub(crate) struct Sleepers {
    table: OnceLock<Table>,
    begun: AtomicBool,
    pub(crate) at_once: bool,
}

/// For each rule, the rules that sleep in a state that was first reached by it, as bits in groups of rules; and last, those that sleep in any state.
pub(crate) struct Table {
    groups: usize,
    rows: Vec<u64>,
}

impl Table {
    /// The rules that sleep in a state that was first reached by this rule, or by an unknown one.
    #[inline]
    pub(crate) fn after(&self, rule: u32) -> &[u64] {
        let at = (rule as usize).saturating_mul(self.groups).min(self.rows.len() - self.groups);
        &self.rows[at..at + self.groups]
    }
}

impl Compiled {
    /// Whether rules may sleep: an assumption looks at all of a state, and a level at all rules.
    pub(crate) fn may_sleep(&self) -> bool {
        // The table, and what each rule accesses while it is made.
        let rules = self.rules as usize;
        let room = rules * (rules / 8 + self.words * ACCESS) <= self.code_limit / ROOM;
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
        let pays = self.sleepers.at_once || scratch.expanded >= self.command_nodes / NODES + u64::from(self.rules) * STATES;
        // The others go on without it while one worker makes it.
        if !pays || self.sleepers.begun.swap(true, Ordering::Relaxed) {
            return None;
        }
        Some(self.sleepers.table.get_or_init(|| self.find_sleepers()))
    }

    fn find_sleepers(&self) -> Table {
        let (rules, effects) = rules_of(&self.program);
        let dependences = Dependences::of(&effects);
        drop(effects);
        let bits_of = |which: &dyn Fn(&Known) -> bool| -> Vec<u64> {
            rules.chunks(64).map(|group| group.iter().enumerate().fold(0, |bits, (bit, rule)| bits | u64::from(which(rule)) << bit)).collect()
        };
        let ready = bits_of(&|rule| rule.may_sleep);
        let repeats = bits_of(&|rule| rule.may_sleep && rule.alike < rule.number);
        // Where rules are listed they have groups by their numbers.
        let by_number: Vec<u32>;
        let firsts = if self.lone || self.rows.is_some() {
            by_number = (0..self.rules).step_by(64).collect();
            &by_number
        } else {
            &self.firsts
        };
        let mut rows = Vec::with_capacity((rules.len() + 1) * firsts.len());
        let mut asleep = repeats.clone();
        for rule in &rules {
            asleep.copy_from_slice(&repeats);
            let smaller = ready.iter().zip(dependences.row(rule.alike)).enumerate().take(rule.alike / 64 + 1);
            for (group, (ready, dependent)) in smaller {
                let before = if group < rule.alike / 64 { u64::MAX } else { (1 << (rule.alike % 64)) - 1 };
                asleep[group] |= ready & !dependent & before;
            }
            push_groups(&mut rows, &asleep, firsts);
        }
        push_groups(&mut rows, &repeats, firsts);
        Table { groups: firsts.len(), rows }
    }
}

/// Appends the bits of all groups of rules, each of at most 64 from its first on, given the bits of the rules.
fn push_groups(rows: &mut Vec<u64>, bits: &[u64], firsts: &[u32]) {
    for (group, first) in firsts.iter().enumerate() {
        let (word, shift) = (*first as usize / 64, first % 64);
        let word_at = |word: usize| bits.get(word).copied().unwrap_or(0);
        let from = word_at(word) >> shift | word_at(word + 1).checked_shl(64 - shift).unwrap_or(0);
        let members = firsts.get(group + 1).map_or(64, |next| next - first).min(64);
        rows.push(from & u64::MAX.checked_shr(64 - members).unwrap_or(0));
    }
}

/// What is known of a rule.
struct Known {
    number: usize,
    /// The first rule that has the same steps, by the parameters that matter.
    alike: usize,
    /// Steps that are discarded are counted one by one.
    may_sleep: bool,
}

/// What is known of all rules, and their effects.
fn rules_of(program: &Program) -> (Vec<Known>, Vec<RuleEffects>) {
    let (effects, functions, relevant) = (Effects::new(program), acts::acts(program), Relevant::new(program));
    let mut all: Vec<Known> = Vec::new();
    for rule in &program.rules {
        let (first, may_sleep, parameters) = (all.len(), !acts::acts_of(&rule.command, &functions).discards, relevant.parameters(rule));
        all.extend((0..rule.instances()).map(|member| Known {
            number: first + member as usize,
            alike: first + first_alike(rule, &parameters, member) as usize,
            may_sleep,
        }));
    }
    let members = program.rules.iter().flat_map(|rule| (0..rule.instances()).map(move |member| (rule, member)));
    (all, members.map(|(rule, member)| effects.member(rule, member)).collect())
}
