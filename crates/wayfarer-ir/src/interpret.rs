//! The meaning of programs. If another way of running programs disagrees with this one, the other is wrong.
//!
//! [`code`](crate::code) defines each expression and statement. In addition:
//!
//! - **Fuel.** Each formula (a guard, or a property with all its conjuncts) and each command starts with
//!   [`Limits::fuel`] units, shared by everything it calls. A loop round takes its unit before its body runs, a
//!   `While` after its condition; a call after its arguments. If none is left, the loop's or call's `fuel` fault ends
//!   it. A call is also that fault if it would be nested deeper than [`Limits::call_depth`], or if the frames of the
//!   command and of all running calls would together be larger than [`Limits::frame_words`].
//! - **Loops.** The register holds the value of the round. After the loop it keeps that of the last round begun, or
//!   its previous value if there was none. A step that would leave 64 bits ends the loop.
//! - **Order.** `Copy` resolves `to`, then `from`. An index is tested as soon as it is known, before the next one is
//!   evaluated. `Copy` reads all of `from` before it writes.
//! - **Properties.** The conjuncts share registers, which start at 0.
//! - **Firings.** If the guard is false: disabled. A fault of guard or command: a fault. `Discard`: discarded. Then
//!   the bits that belong to no scalar ([`Program::packing`]) are zeroed, and the assumptions are checked in order:
//!   the first that fails discards the firing, the first that faults is the firing's fault. The same holds for start
//!   states, on the zeroed state.
//! - **Levels.** If rules have several levels, a rule whose guard is true or a fault is enabled only if none of a
//!   smaller level is.
//! - **Covers** count if the firing ended in a state or a fault, and not if it was discarded.
//! - **Checking.** All properties are checked, also after a fault; the first fault is returned.
//! - **Sampling.** All guards are evaluated; those true or faulting are enabled. One draw below their number chooses,
//!   in firing order.
//!
//! The program must be one that [`verify`](crate::verify()) accepts; others may panic.

mod machine;
mod memory;
mod prefix;

use crate::code::{Expr, FaultId};
use crate::levels::Levels;
use crate::program::{At, Program, Property, Rule};
use machine::{Machine, Scratch, Stop};
use prefix::Shares;
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;
use wayfarer_space::{
    Checked, Completeness, Fault, FaultClass, FaultStep, Fired, Firing, Packing, PropertyBits, PropertyKind, Rng, Space, States, Steps, Width, Word,
};

/// The limits of one formula or command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Loop rounds and calls together.
    pub fuel: u64,
    /// Nested calls.
    pub call_depth: u32,
    /// Words of the frames of a command and all running calls.
    pub frame_words: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { fuel: 1_000_000, call_depth: 1000, frame_words: 1 << 20 }
    }
}

/// A program as a space, run by walking its trees.
#[derive(Clone, Debug)]
pub struct Interpreter {
    program: Arc<Program>,
    limits: Limits,
    packing: Packing,
    rules: u32,
    levels: Option<Levels>,
    shares: Vec<Shares>,
}

thread_local! {
    /// Memory for running code, kept between calls so that a firing allocates nothing. Taken while in use.
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

impl Interpreter {
    /// The space of a verified program.
    pub fn new(program: impl Into<Arc<Program>>, limits: Limits) -> Self {
        let program = program.into();
        let rules = instances(&program.rules);
        let shares = program.rules.iter().map(Shares::of).collect();
        Interpreter { packing: program.packing(), levels: Levels::of(&program), shares, program, limits, rules }
    }

    /// The program it runs.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Fires a rule as [`Space::fire`] does and appends its output, one string for each `Print` statement.
    pub fn fire_printing(&self, state: &[Word], firing: Firing, out: &mut Vec<Word>, printed: &mut Vec<String>) -> Fired {
        self.printing(printed, |machine| self.fire_on(machine, state, firing, out))
    }

    /// Computes a start state as [`Space::initial`] does and appends its output.
    pub fn start_printing(&self, start: u32, out: &mut Vec<Word>, printed: &mut Vec<String>) -> Fired {
        self.printing(printed, |machine| {
            let Some((family, member)) = self.program.start_of(start) else { return Fired::Disabled };
            let rule = &self.program.starts[family];
            self.zero_state(machine);
            let fired = self.attempt(machine, rule, member);
            if fired == Fired::To {
                out.clone_from(&machine.scratch.memory.state);
            }
            fired
        })
    }

    /// The first conjunct of a property that fails, or faults, in a state, and its source position.
    pub fn failing_conjunct(&self, property: u32, state: &[Word]) -> Option<(usize, At)> {
        let property = self.program.properties.get(property as usize)?;
        self.with_machine(|machine| {
            machine.scratch.memory.state.clear();
            machine.scratch.memory.state.extend_from_slice(state);
            machine.begin(property.registers, 0);
            let failing = property.conjuncts.iter().position(|(_, conjunct)| !matches!(machine.value(conjunct), Ok(value) if value != 0))?;
            Some((failing, property.conjuncts[failing].0))
        })
    }

    fn with_machine<T>(&self, act: impl FnOnce(&mut Machine) -> T) -> T {
        let mut scratch = SCRATCH.take().unwrap_or_default();
        let result = act(&mut Machine::new(&self.program, self.limits, &mut scratch));
        SCRATCH.set(Some(scratch));
        result
    }

    fn printing<T>(&self, printed: &mut Vec<String>, act: impl FnOnce(&mut Machine) -> T) -> T {
        self.with_machine(|machine| {
            machine.scratch.printed = Some(std::mem::take(printed));
            let result = act(machine);
            *printed = machine.scratch.printed.take().unwrap_or_default();
            result
        })
    }

    fn zero_state(&self, machine: &mut Machine) {
        machine.scratch.memory.state.clear();
        machine.scratch.memory.state.resize(self.program.words as usize, 0);
    }

    /// Evaluates a guard on the machine's state: whether it is true, or its fault.
    fn guard(&self, machine: &mut Machine, rule: &Rule, member: u64) -> Result<bool, Fault> {
        rule.values(member, machine.begin(rule.guard.registers, 0));
        match machine.value(&rule.guard.value) {
            Ok(value) => Ok(value != 0),
            Err(Stop::Fault(fault)) => Err(Fault(fault.0)),
            // No verified guard discards.
            Err(Stop::Discard) => Ok(false),
        }
    }

    /// Calls `act` with every member of a family from `first` on whose guard is true or a fault in the machine's state,
    /// until it returns false. It may change the state, but must restore it.
    fn each_enabled(&self, machine: &mut Machine, family: usize, first: u64, mut act: impl FnMut(&mut Machine, u64, Result<(), Fault>) -> bool) {
        let rule = &self.program.rules[family];
        let (instances, mut member) = (rule.instances(), first);
        while member < instances {
            rule.values(member, machine.begin(rule.guard.registers, 0));
            let next = match self.shares[family].excluded(machine, &rule.guard.value) {
                Ok(None) if !act(machine, member, Ok(())) => return,
                Err(Stop::Fault(fault)) if !act(machine, member, Err(Fault(fault.0))) => return,
                Ok(Some(share)) => (member / share + 1) * share,
                _ => member + 1,
            };
            member = next;
        }
    }

    /// The families with the number of their first rule, and the first member from `first` on.
    fn families(&self, first: u64) -> impl Iterator<Item = (usize, u32, u64)> {
        self.program.rules.iter().enumerate().scan(0u64, move |next, (family, rule)| {
            let start = *next;
            *next += rule.instances();
            Some((family, start as u32, first.saturating_sub(start)))
        })
    }

    /// Runs a command on the machine's state, and then checks the assumptions.
    fn command(&self, machine: &mut Machine, rule: &Rule, member: u64) -> Fired {
        machine.scratch.covered.clear();
        rule.values(member, machine.begin(rule.command.registers, rule.command.frame));
        match machine.run(&rule.command) {
            Ok(()) => {}
            Err(Stop::Fault(fault)) => return Fired::Fault(Fault(fault.0)),
            Err(Stop::Discard) => return Fired::Discarded,
        }
        for (word, mask) in machine.scratch.memory.state.iter_mut().zip(self.packing.masks()) {
            *word &= mask;
        }
        for property in self.program.properties.iter().filter(|property| property.kind == PropertyKind::Assumption) {
            match holds(machine, property) {
                Ok(true) => {}
                Ok(false) => return Fired::Discarded,
                Err(FaultId(fault)) => return Fired::Fault(Fault(fault)),
            }
        }
        Fired::To
    }

    /// Guard and command on the machine's state.
    fn attempt(&self, machine: &mut Machine, rule: &Rule, member: u64) -> Fired {
        match self.guard(machine, rule, member) {
            Ok(true) => self.command(machine, rule, member),
            Ok(false) => Fired::Disabled,
            Err(fault) => Fired::Fault(fault),
        }
    }

    fn fire_on(&self, machine: &mut Machine, state: &[Word], firing: Firing, out: &mut Vec<Word>) -> Fired {
        let Some((family, member)) = self.program.rule_of(firing.rule).filter(|_| firing.outcome == 0) else { return Fired::Disabled };
        machine.scratch.memory.state.clear();
        machine.scratch.memory.state.extend_from_slice(state);
        if self.lowest(machine).is_some_and(|lowest| self.program.level_of(family) > lowest) {
            return Fired::Disabled;
        }
        let fired = self.attempt(machine, &self.program.rules[family], member);
        if fired == Fired::To {
            out.clone_from(&machine.scratch.memory.state);
        }
        fired
    }

    /// The smallest level with an enabled rule in the machine's state, if rules have several levels; `None` also if
    /// nothing is enabled.
    fn lowest(&self, machine: &mut Machine) -> Option<u32> {
        let levels = self.levels.as_ref()?;
        levels.all().find(|level| {
            let mut families = (0..self.program.rules.len()).filter(|family| self.program.level_of(*family) == *level);
            families.any(|family| {
                let mut any = false;
                self.each_enabled(machine, family, 0, |_, _, _| {
                    any = true;
                    false
                });
                any
            })
        })
    }

    /// Records the result of a firing, which is in the machine's state.
    fn note(machine: &Machine, fired: Fired, source: u32, firing: Firing, from: &[Word], steps: &mut Steps) {
        match fired {
            Fired::To => steps.push(source, firing, from, &machine.scratch.memory.state),
            Fired::Fault(fault) => steps.faults.push(FaultStep { source, firing, fault }),
            Fired::Discarded => steps.discarded += 1,
            Fired::Disabled => {}
        }
        if matches!(fired, Fired::To | Fired::Fault(_)) {
            steps.reached.union(&machine.scratch.covered);
        }
    }
}

impl Space for Interpreter {
    fn width(&self) -> Width {
        Width::Fixed(self.program.words as usize)
    }

    fn packing(&self) -> &Packing {
        &self.packing
    }

    fn rules(&self) -> u32 {
        self.rules
    }

    fn properties(&self) -> u32 {
        self.program.properties.len() as u32
    }

    fn initial(&self, steps: &mut Steps) -> Completeness {
        self.initial_some(0..u64::MAX, steps)
    }

    fn starts(&self) -> Option<u64> {
        Some(self.program.starts.iter().map(Rule::instances).sum())
    }

    fn initial_some(&self, numbers: Range<u64>, steps: &mut Steps) -> Completeness {
        steps.clear();
        let zero = vec![0; self.program.words as usize];
        self.with_machine(|machine| {
            let wanted = members(&self.program.starts).enumerate().take(usize::try_from(numbers.end).unwrap_or(usize::MAX));
            for (start, (rule, member)) in wanted.skip(numbers.start as usize) {
                self.zero_state(machine);
                machine.scratch.covered.clear();
                let fired = self.attempt(machine, rule, member);
                Self::note(machine, fired, 0, Firing::of(start as u32), &zero, steps);
            }
        });
        Completeness::All
    }

    fn expand(&self, batch: &States, from: Firing, steps: &mut Steps) -> Completeness {
        steps.clear();
        let first = u64::from(from.rule) + u64::from(from.outcome > 0);
        self.with_machine(|machine| {
            for (source, state) in batch.iter().enumerate() {
                let mut enabled = 0;
                machine.scratch.memory.state.clear();
                machine.scratch.memory.state.extend_from_slice(state);
                let lowest = self.lowest(machine);
                for (family, start, first) in self.families(first) {
                    if lowest.is_some_and(|lowest| self.program.level_of(family) != lowest) {
                        continue;
                    }
                    let rule = &self.program.rules[family];
                    self.each_enabled(machine, family, first, |machine, member, guard| {
                        machine.scratch.covered.clear();
                        let fired = match guard {
                            Ok(()) => self.command(machine, rule, member),
                            Err(fault) => Fired::Fault(fault),
                        };
                        enabled += 1;
                        Self::note(machine, fired, source as u32, Firing::of(start + member as u32), state, steps);
                        machine.scratch.memory.state.copy_from_slice(state);
                        true
                    });
                }
                steps.enabled.push(enabled);
            }
        });
        Completeness::All
    }

    fn sample(&self, state: &[Word], rng: &mut Rng, out: &mut Vec<Word>) -> Option<(Firing, Fired)> {
        self.with_machine(|machine| {
            machine.scratch.memory.state.clear();
            machine.scratch.memory.state.extend_from_slice(state);
            let mut enabled = std::mem::take(&mut machine.scratch.enabled);
            enabled.clear();
            let lowest = self.lowest(machine);
            for (family, start, _) in self.families(0) {
                if lowest.is_none_or(|lowest| self.program.level_of(family) == lowest) {
                    self.each_enabled(machine, family, 0, |_, member, _| {
                        enabled.push(start + member as u32);
                        true
                    });
                }
            }
            let chosen = (!enabled.is_empty()).then(|| Firing::of(enabled[rng.below(enabled.len() as u64) as usize]));
            machine.scratch.enabled = enabled;
            chosen.map(|firing| (firing, self.fire_on(machine, state, firing, out)))
        })
    }

    fn fire(&self, state: &[Word], firing: Firing, out: &mut Vec<Word>) -> Fired {
        self.with_machine(|machine| self.fire_on(machine, state, firing, out))
    }

    fn check(&self, state: &[Word], bits: &mut PropertyBits) -> Checked {
        self.with_machine(|machine| {
            machine.scratch.memory.state.clear();
            machine.scratch.memory.state.extend_from_slice(state);
            let mut result = Ok(());
            for (number, property) in self.program.properties.iter().enumerate() {
                let Some(told) = property.kind.reported_if() else { continue };
                match holds(machine, property) {
                    Ok(holds) if holds == told => bits.insert(number as u32),
                    Ok(_) => {}
                    Err(fault) => result = result.and(Err((number as u32, Fault(fault.0)))),
                }
            }
            result
        })
    }

    fn may_end(&self, state: &[Word]) -> bool {
        let Some(ends) = &self.program.ends else { return false };
        self.with_machine(|machine| {
            machine.scratch.memory.state.clear();
            machine.scratch.memory.state.extend_from_slice(state);
            machine.begin(ends.registers, 0);
            matches!(machine.value(&ends.value), Ok(value) if value != 0)
        })
    }

    fn asks_to_reach(&self, property: u32) -> bool {
        self.program.properties.get(property as usize).is_some_and(|property| property.kind.asks_to_reach())
    }

    fn fault_class(&self, fault: Fault) -> FaultClass {
        self.program.faults.get(fault.0 as usize).map_or(FaultClass::Unsupported, |site| site.class)
    }
}

/// Evaluates a property on the machine's state.
fn holds(machine: &mut Machine, property: &Property) -> Result<bool, FaultId> {
    machine.begin(property.registers, 0);
    let mut judge = |conjunct: &Expr| match machine.value(conjunct) {
        Ok(value) => Ok(value != 0),
        Err(Stop::Fault(fault)) => Err(fault),
        // No verified property discards.
        Err(Stop::Discard) => Ok(false),
    };
    for (_, conjunct) in &property.conjuncts {
        if !judge(conjunct)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// All instances of rule families, in the order of their numbers.
fn members(families: &[Rule]) -> impl Iterator<Item = (&Rule, u64)> {
    families.iter().flat_map(|rule| (0..rule.instances()).map(move |member| (rule, member)))
}

fn instances(families: &[Rule]) -> u32 {
    families.iter().map(Rule::instances).sum::<u64>().min(u64::from(u32::MAX)) as u32
}
