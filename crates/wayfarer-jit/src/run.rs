//! Calls compiled code: single guards, commands, assumptions and properties.

#![allow(unsafe_code)]

use crate::commands::Codes;
use crate::compiled::{CommandCode, Compiled, FormulaCode, INTERPRETED, NOT_YET};
use crate::emit::{DISCARDED, DONE, Environment, FIRST_FAULT, NO_CODE, NO_STACK};
use crate::fire::Together;
use crate::foundry::Effort;
use crate::roots::{self, HOLDS, Metering};
use cranelift_frontend::FunctionBuilder;
use std::cell::Cell;
use wayfarer_ir::Rule;
use wayfarer_space::{Fault, Fired, Firing, PropertyBits, Space, Word};

/// Memory of running code, kept between calls.
#[derive(Default)]
pub(crate) struct Scratch {
    /// The rules that are enabled, and the classes of the fields' values, if guards are masks.
    pub(crate) rules: Vec<u32>,
    pub(crate) classes: Vec<u32>,
    /// Enabled and undecided rules, alternating.
    pub(crate) bits: Vec<u64>,
    /// Rules whose guard is a fault, ascending.
    pub(crate) faults: Vec<(u32, Fault)>,
    pub(crate) covered: Vec<u64>,
    /// States that were expanded before it was known which rules sleep.
    pub(crate) expanded: u64,
    /// Of the rules that are enabled, those that sleep, if they are listed.
    pub(crate) sleeping: Vec<u32>,
    pub(crate) together: Together,
    heap: Vec<u64>,
    parameters: Vec<i64>,
    state: Vec<Word>,
}

thread_local! {
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

impl Compiled {
    pub(crate) fn with_scratch<T>(&self, act: impl FnOnce(&mut Scratch) -> T) -> T {
        let mut scratch = SCRATCH.take().unwrap_or_default();
        let groups = self.groups.max(self.check_groups);
        if scratch.bits.len() < groups * 2 {
            scratch.bits.resize(groups * 2, 0);
        }
        if scratch.covered.len() < self.check_groups {
            scratch.covered.resize(self.check_groups, 0);
        }
        if scratch.heap.len() < self.heap_words {
            // From zeroed pages; only those in use cost anything.
            scratch.heap = vec![0; self.heap_words];
        }
        let result = act(&mut scratch);
        SCRATCH.set(Some(scratch));
        result
    }

    /// Runs code that takes an environment; for code that serves a whole family, with the parameters of one of its
    /// members.
    fn run(&self, scratch: &mut Scratch, general: Option<(&Rule, u64)>, call: impl Fn(*mut Environment) -> i64) -> i64 {
        if let Some((rule, member)) = general {
            scratch.parameters.resize(rule.parameters.len(), 0);
            rule.values(member, &mut scratch.parameters);
        }
        let mut environment = Environment {
            fuel: 0,
            parameters: scratch.parameters.as_ptr(),
            covered: scratch.covered.as_mut_ptr(),
            depth: 0,
            frame_words: 0,
            stack_end: 0,
            heap: scratch.heap.as_mut_ptr(),
            missing: 0,
        };
        loop {
            environment.heap = scratch.heap.as_mut_ptr();
            let status = if self.recursive { Self::run_recursive(&mut environment, &call) } else { call(&mut environment) };
            if status != NO_CODE {
                return status;
            }
            // Everything written so far is written again when the code is run again.
            if !self.make_function(environment.missing as usize) {
                return NO_CODE;
            }
        }
    }

    /// Runs code that may call itself, with more stack until it is enough.
    #[cold]
    fn run_recursive(environment: &mut Environment, call: &impl Fn(*mut Environment) -> i64) -> i64 {
        const SPARE: usize = 256 << 10;
        const LARGEST: usize = 1 << 34;
        let heap = environment.heap;
        let mut attempt = || {
            let marker = 0u8;
            let here = (&raw const marker) as usize;
            let left = stacker::remaining_stack().unwrap_or(SPARE).min(here);
            environment.stack_end = (here - left + SPARE) as u64;
            environment.heap = heap;
            call(environment)
        };
        let mut status = attempt();
        let mut size = 8 << 20;
        while status == NO_STACK && size < LARGEST {
            status = stacker::grow(size, &mut attempt);
            size *= 4;
        }
        status
    }

    /// Evaluates a guard by its own code.
    pub(crate) fn ask(&self, starts: bool, number: usize, member: u64, state: &[Word], scratch: &mut Scratch) -> Result<bool, Fault> {
        let address = self.guard_code(starts, number, member);
        let (family, rule) = self.family(starts, number);
        let general = matches!(family.guards, Codes::General(_)).then_some((rule, member));
        let status = self.run_formula(address, general, state, scratch);
        truth(status).unwrap_or_else(|| {
            // A fault of the command, which the interpreter finds as well, serves as one of the guard: both are the
            // firing's.
            let mut out = vec![0; self.words];
            match self.interpret(starts, family.first + member as u32, state, &mut out, scratch) {
                Fired::To | Fired::Discarded => Ok(true),
                Fired::Disabled => Ok(false),
                Fired::Fault(fault) => Err(fault),
            }
        })
    }

    /// Evaluates one property by its own code.
    pub(crate) fn ask_property(&self, property: usize, state: &[Word], scratch: &mut Scratch) -> Result<bool, Fault> {
        let cell = &self.properties[property];
        let address = self.code(cell, || {
            let name = format!("property {property}");
            let write = |builder: FunctionBuilder, metering: Metering| {
                roots::property(builder, self.setting(), &self.program.properties[property], metering).map(|()| 0)
            };
            self.compile(cell, &name, 2, Effort::Little, write, |_, _| {})
        });
        truth(self.run_formula(address, None, state, scratch)).unwrap_or_else(|| {
            let mut bits = PropertyBits::default();
            // If an earlier property is a fault, that one is reported, and this one does not matter.
            match self.interpreter.check(state, &mut bits) {
                Err((number, fault)) if number == property as u32 => Err(fault),
                _ => Ok(bits.contains(property as u32) == self.asks_to_reach(property as u32)),
            }
        })
    }

    /// Runs the code of a formula; returns `NO_CODE` if it has none or cannot run to its end.
    fn run_formula(&self, address: usize, general: Option<(&Rule, u64)>, state: &[Word], scratch: &mut Scratch) -> i64 {
        assert!(state.len() == self.words, "a state of another width");
        if address == INTERPRETED || address == NOT_YET {
            return NO_CODE;
        }
        // SAFETY: the code was emitted with these parameters, and the state has the program's width.
        self.run(scratch, general, |environment| unsafe { std::mem::transmute::<usize, FormulaCode>(address)(state.as_ptr(), environment) })
    }

    /// Runs a command and checks the assumptions. If the result is `To`, the state was written to `out`.
    pub(crate) fn fire_command(&self, starts: bool, number: usize, member: u64, state: &[Word], out: &mut [Word], scratch: &mut Scratch) -> Fired {
        assert!(state.len() == self.words && out.len() == self.words, "a state of another width");
        let (address, general) = self.command_code(starts, number, member);
        let (family, rule) = self.family(starts, number);
        if address == INTERPRETED {
            return self.interpret(starts, family.first + member as u32, state, out, scratch);
        }
        let general = general.then_some((rule, member));
        let target = Cell::new(out);
        let status = self.run(scratch, general, |environment| {
            // Code that is run again begins again.
            let out = target.take();
            self.begin(state, out);
            // SAFETY: the code was emitted with these parameters, and both states have the program's width.
            let status = unsafe { std::mem::transmute::<usize, CommandCode>(address)(state.as_ptr(), out.as_mut_ptr(), environment) };
            target.set(out);
            status
        });
        let out = target.take();
        let status = match (status, &self.assumptions) {
            (DONE, Some(cell)) => {
                let address = self.code(cell, || {
                    let write = |builder: FunctionBuilder, metering: Metering| roots::assumptions(builder, self.setting(), metering).map(|()| 0);
                    self.compile(cell, "assumptions", 2, Effort::Much, write, |_, _| {})
                });
                self.run_formula(address, None, out, scratch)
            }
            (status, _) => status,
        };
        match status {
            NO_CODE | NO_STACK => self.interpret(starts, family.first + member as u32, state, out, scratch),
            status => outcome(status),
        }
    }

    /// Fires by interpretation a rule that has no code.
    #[cold]
    fn interpret(&self, starts: bool, number: u32, state: &[Word], out: &mut [Word], scratch: &mut Scratch) -> Fired {
        let mut result = std::mem::take(&mut scratch.state);
        let fired = if starts {
            self.interpreter.start_printing(number, &mut result, &mut Vec::new())
        } else {
            self.interpreter.fire(state, Firing::of(number), &mut result)
        };
        if fired == Fired::To {
            out.copy_from_slice(&result);
        }
        scratch.state = result;
        fired
    }
}

/// The result that a command's status stands for.
pub(crate) fn outcome(status: i64) -> Fired {
    match status {
        DONE => Fired::To,
        DISCARDED => Fired::Discarded,
        fault => Fired::Fault(Fault((fault - FIRST_FAULT) as u32)),
    }
}

/// The result that a formula's status stands for; `None` if there is none.
fn truth(status: i64) -> Option<Result<bool, Fault>> {
    match status {
        NO_CODE | NO_STACK => None,
        status if status >= FIRST_FAULT => Some(Err(Fault((status - FIRST_FAULT) as u32))),
        status => Some(Ok(status == HOLDS)),
    }
}
