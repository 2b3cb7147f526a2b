//! Enabled rules as a list, for programs that have a family of very many rules. Its guards are a nest of loops, whose
//! code lists the enabled ones.

#![allow(unsafe_code)]

use crate::compiled::{Compiled, Segment};
use crate::explore::member;
use crate::fire::{Columns, EnabledRules, take_covered};
use crate::nest::NOT_FINE;
use crate::run::Scratch;
use wayfarer_space::{Fired, Firing, Rng, States, Steps, Word};

impl Compiled {
    /// Lists the rules from `first_rule` on whose guard is true, ascending, and those whose guard is a fault.
    pub(crate) fn list_rules(&self, state: &[Word], first_rule: u64, scratch: &mut Scratch) {
        assert!(state.len() == self.words && scratch.bits.len() >= self.groups * 2, "a state of the program's width, and room for its bits");
        scratch.rules.clear();
        scratch.faults.clear();
        // SAFETY: tested above.
        unsafe { self.decide(state.as_ptr(), scratch.bits.as_mut_ptr()) };
        for segment in &self.segments {
            match segment.alone {
                Some(family) => self.list_family(segment, family, state, scratch),
                None => self.list_groups(segment, state, scratch),
            }
        }
        if !self.levels.is_empty() {
            let level = |rule: &u32| member(&self.families, *rule).and_then(|(family, _)| self.program.levels.get(family)).copied().unwrap_or(0);
            let lowest = scratch.rules.iter().chain(scratch.faults.iter().map(|(rule, _)| rule)).map(level).min().unwrap_or(0);
            scratch.rules.retain(|rule| level(rule) == lowest);
            scratch.faults.retain(|(rule, _)| level(rule) == lowest);
        }
        if first_rule > 0 {
            scratch.rules.retain(|rule| u64::from(*rule) >= first_rule);
            scratch.faults.retain(|(rule, _)| u64::from(*rule) >= first_rule);
        }
    }

    fn list_family(&self, segment: &Segment, family: usize, state: &[Word], scratch: &mut Scratch) {
        let instances = self.families[family].instances;
        let start = scratch.rules.len();
        if let Some(code) = segment.nest {
            scratch.rules.reserve(instances as usize);
            // SAFETY: the code was emitted with these parameters; the state has the program's width, and there is room
            // for all instances.
            let count = unsafe { code(state.as_ptr(), scratch.rules.as_mut_ptr().add(start)) };
            if count != NOT_FINE {
                assert!(count <= instances, "room for every instance");
                // SAFETY: the code wrote this many.
                unsafe { scratch.rules.set_len(start + count as usize) };
                scratch.rules[start..].iter_mut().for_each(|rule| *rule += segment.first);
                return;
            }
        }
        for instance in 0..instances {
            self.list_asked(family, instance, segment.first + instance as u32, state, scratch);
        }
    }

    fn list_groups(&self, segment: &Segment, state: &[Word], scratch: &mut Scratch) {
        for index in 0..segment.groups {
            let at = (segment.group + index) * 2;
            let (enabled, undecided) = (scratch.bits[at], scratch.bits[at + 1]);
            let mut bits = enabled | undecided;
            while bits != 0 {
                let bit = bits.trailing_zeros();
                bits &= bits - 1;
                let rule = segment.first + index as u32 * 64 + bit;
                if undecided >> bit & 1 == 0 {
                    scratch.rules.push(rule);
                } else if let Some((family, instance)) = member(&self.families, rule) {
                    self.list_asked(family, instance, rule, state, scratch);
                }
            }
        }
    }

    /// Lists a rule if its own code says that it is enabled.
    fn list_asked(&self, family: usize, instance: u64, rule: u32, state: &[Word], scratch: &mut Scratch) {
        match self.ask(false, family, instance, state, scratch) {
            Ok(true) => scratch.rules.push(rule),
            Ok(false) => {}
            Err(fault) => scratch.faults.push((rule, fault)),
        }
    }

    /// Expands a batch. `W` is the number of words, or 0 if it is known only at run time.
    pub(crate) fn expand_listed<const W: usize>(&self, batch: &States, first_rule: u64, arrivals: &[u32], steps: &mut Steps, scratch: &mut Scratch) {
        let width = if W == 0 { self.words } else { W };
        let words = batch.words();
        assert!(width == self.words && words.len() >= batch.len() * width, "states of the program's width");
        let mut enabled = std::mem::take(&mut steps.enabled);
        let mut columns = Columns::<W>::new(steps, width);
        let table = if arrivals.is_empty() { None } else { self.sleepers(batch.len(), scratch) };
        for source in 0..batch.len() {
            let state = &words[source * width..(source + 1) * width];
            self.list_rules(state, first_rule, scratch);
            enabled.push((scratch.rules.len() + scratch.faults.len()) as u32);
            put_to_sleep(table.map(|table| table.after(arrivals[source])), scratch);
            let (awake, sleeping) = (std::mem::take(&mut scratch.rules), std::mem::take(&mut scratch.sleeping));
            columns.fire_all(self, source as u32, state, EnabledRules { awake: &awake, sleeping: &sleeping }, scratch);
            (scratch.rules, scratch.sleeping) = (awake, sleeping);
        }
        columns.finish();
        steps.enabled = enabled;
    }

    /// Draws a rule from those that are enabled or whose guard is a fault, and fires it.
    pub(crate) fn sample_listed(&self, state: &[Word], rng: &mut Rng, out: &mut [Word]) -> Option<(Firing, Fired)> {
        self.with_scratch(|scratch| {
            self.list_rules(state, 0, scratch);
            let count = scratch.rules.len() + scratch.faults.len();
            if count == 0 {
                return None;
            }
            let rank = rng.below(count as u64) as usize;
            // The rank counts faulting guards as well, in firing order.
            let faults_before = |rule: u32| scratch.faults.partition_point(|(other, _)| *other < rule);
            let faulting = scratch.faults.iter().enumerate().find(|(index, (rule, _))| {
                let rules_before = scratch.rules.partition_point(|other| other < rule);
                index + rules_before == rank
            });
            if let Some((_, (rule, fault))) = faulting {
                return Some((Firing::of(*rule), Fired::Fault(*fault)));
            }
            let rule = match scratch.faults.is_empty() {
                true => scratch.rules[rank],
                false => *scratch.rules.iter().enumerate().find(|(index, rule)| index + faults_before(**rule) == rank)?.1,
            };
            let fired = self.fire_rule(rule, state, out, scratch);
            take_covered(scratch, None);
            Some((Firing::of(rule), fired))
        })
    }
}

/// Takes the rules that sleep from the list of those that are enabled, and lists them apart.
#[inline]
pub(crate) fn put_to_sleep(row: Option<&[u64]>, scratch: &mut Scratch) {
    scratch.sleeping.clear();
    let Some(row) = row else { return };
    let sleeping = &mut scratch.sleeping;
    scratch.rules.retain(|rule| {
        let sleeps = row[*rule as usize / 64] >> (rule % 64) & 1 == 1;
        sleeping.extend(sleeps.then_some(*rule));
        !sleeps
    });
}
