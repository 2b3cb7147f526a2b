//! The code of commands, and of the functions of the model that they call, made when it is first needed. The first code
//! of a command serves all members of its family and is made with little effort. Members that fire often get code of
//! their own, made with more effort: most members fire too seldom to be worth it.

use crate::compiled::{Compiled, INTERPRETED, NOT_YET, zeros};
use crate::emit::parameters;
use crate::foundry::Effort;
use crate::functions;
use crate::renewed::{Renewed, WHILE_BUSY};
use crate::roots::{self, Metering};
use crate::shape::Shape;
use crate::touched::Blocks;
use cranelift_frontend::FunctionBuilder;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use wayfarer_ir::effects::Effects;
use wayfarer_ir::{FunctionId, Rule};
use wayfarer_space::SIEVED;

/// A family's commands are compiled with fixed parameters if instances times nodes are at most this, or if a command
/// has at most [`SMALL_COMMAND`] nodes and there are at most [`MOST_SMALL_COMMANDS`].
const MOST_FIXED_COMMAND_NODES: u64 = 60_000;
const SMALL_COMMAND: u64 = 200;
const MOST_SMALL_COMMANDS: u64 = 512;
/// Commands of families with at most this many members, and of at most this many nodes, get their best code at once.
const FEW_COMMANDS: u64 = 8;
const EASY_COMMAND: u64 = 100;
/// Any other command gets better code after this many firings for each node of it.
const FIRINGS_PER_NODE: u64 = 64;
const MOST_PATIENCE: u64 = 1 << 20;
/// Larger bodies are interpreted: the time to compile grows faster than their size.
const LARGEST_BODY: usize = 20_000;

/// A rule's command, if it needs only a state.
pub(crate) struct Quick {
    /// Its code.
    pub(crate) code: Renewed,
    /// The index of its first parameter.
    pub(crate) parameters: u32,
    /// The [`Blocks`] of words that the rule may change.
    pub(crate) touched: AtomicU64,
}

/// A family of rules.
pub(crate) struct Family {
    pub(crate) first: u32,
    pub(crate) instances: u64,
    /// The guards' own code: one for each instance, or one for all.
    pub(crate) guards: Codes,
    /// The best code of the commands.
    commands: Codes,
    /// Code for all commands, made with little effort.
    early: AtomicUsize,
    /// How often each command, or all together, fired by that code.
    heat: Box<[AtomicU32]>,
    /// The firings after which the best code is made.
    patience: u32,
}

/// Code for each instance, or for all together.
pub(crate) enum Codes {
    Fixed(Box<[AtomicUsize]>),
    General(AtomicUsize),
}

impl Quick {
    pub(crate) fn new(parameters: usize) -> Self {
        Quick { code: Renewed::default(), parameters: parameters as u32, touched: AtomicU64::new(Blocks::ALL.0) }
    }
}

impl Compiled {
    /// Makes the best code of a command after this many firings, and that of the properties after as many states. Without patience, rules sleep from the
    /// first state on.
    #[must_use]
    pub fn with_patience(mut self, firings: u32) -> Self {
        self.families.iter_mut().for_each(|family| family.patience = firings);
        self.check.iter().for_each(|check| check.renew_after(firings));
        self.sleepers.at_once = firings == 0;
        self
    }

    /// The code of a command, and whether it needs the values of its parameters.
    pub(crate) fn command_code(&self, starts: bool, number: usize, member: u64) -> (usize, bool) {
        let (family, _) = self.family(starts, number);
        let own = matches!(family.commands, Codes::Fixed(_));
        let quick = !starts && self.is_plain();
        let first = family.first as usize;
        let rules = if own { first + member as usize..first + member as usize + 1 } else { first..first + family.instances as usize };
        let heat = &family.heat[if own { member as usize } else { 0 }];
        if heat.load(Ordering::Relaxed) == 0 && family.patience > 0 {
            // Better code that was kept is used at once.
            let name = command_name(starts, number, own.then_some(member), Effort::Much);
            if self.idle_foundry().is_some_and(|foundry| foundry.keeps(&name)) {
                heat.store(family.patience, Ordering::Relaxed);
            }
        }
        if heat.load(Ordering::Relaxed) < family.patience {
            let address = self.compile_command(starts, number, &family.early, None, Effort::Least);
            if address == NOT_YET {
                return (INTERPRETED, true);
            }
            heat.fetch_add(1, Ordering::Relaxed);
            if quick && address != INTERPRETED && !self.quick.is_empty() {
                // From now on the firings are counted there.
                self.serve(rules, address, Some(family.patience - 1));
                heat.store(family.patience, Ordering::Relaxed);
            }
            return (address, true);
        }
        let cell = family.commands.cell(member);
        let address = self.compile_command(starts, number, cell, own.then_some(member), Effort::Much);
        let early = family.early.load(Ordering::Acquire);
        let (address, general, left) = match address {
            // While another thread compiles, this one goes on with what there is.
            NOT_YET if early == NOT_YET => return (INTERPRETED, true),
            NOT_YET => (early, true, Some(WHILE_BUSY)),
            // Without room for better code the early one stays.
            INTERPRETED if early != NOT_YET => (early, true, None),
            address => (address, !own, None),
        };
        if quick && address != INTERPRETED {
            self.serve(rules, address, left);
        }
        (address, general)
    }

    /// Lets rules fire by this code, if `left` is given only that many times.
    fn serve(&self, rules: Range<usize>, address: usize, left: Option<u32>) {
        let touched = self.touched().get(&address).copied().unwrap_or(Blocks::ALL);
        for quick in self.quick.get(rules).into_iter().flatten() {
            // Each of these is right with the code before and with the code after.
            quick.touched.store(touched.0, Ordering::Relaxed);
            quick.code.serve(address, left);
        }
    }

    /// Compiles a command into a cell, for one instance or for all.
    fn compile_command(&self, starts: bool, number: usize, cell: &AtomicUsize, instance: Option<u64>, effort: Effort) -> usize {
        let (_, rule) = self.family(starts, number);
        self.code(cell, || {
            let Some(full) = self.code_is_full() else { return NOT_YET };
            let too_large = full || self.shape.largest_body(&self.program, &rule.command.block) > LARGEST_BODY;
            if too_large && !starts && !self.covers {
                cell.store(INTERPRETED, Ordering::Release);
                return INTERPRETED;
            }
            let values = instance.map(|member| values(rule, member));
            let name = command_name(starts, number, instance, effort);
            let write = |builder: FunctionBuilder, metering: Metering| {
                roots::command(builder, self.setting(), rule, values.as_deref(), &self.packing, metering).map(|blocks| blocks.0)
            };
            self.compile(cell, &name, 3, effort, write, |address, touched| {
                let writes = if starts { Blocks::ALL } else { self.writes(number) };
                self.touched().insert(address, Blocks(touched).and(writes));
            })
        })
    }

    /// The words that a family's commands may change. The code of a command does not show what functions write that
    /// have code of their own.
    fn writes(&self, family: usize) -> Blocks {
        if self.words <= SIEVED {
            return Blocks::ALL;
        }
        self.writes.get_or_init(|| {
            let effects = Effects::new(&self.program);
            let of = |rule: &Rule| Blocks::of(effects.family(rule).writes.masks().iter().map(|mask| *mask != 0));
            self.program.rules.iter().map(of).collect()
        })[family]
    }

    /// The code of a guard.
    pub(crate) fn guard_code(&self, starts: bool, number: usize, member: u64) -> usize {
        let (family, rule) = self.family(starts, number);
        let cell = family.guards.cell(member);
        self.code(cell, || {
            let values = family.guards.values(rule, member);
            let which = values.as_ref().map_or("all".to_string(), |_| member.to_string());
            let name = format!("{} {number}.{which}", if starts { "start guard" } else { "guard" });
            let write =
                |builder: FunctionBuilder, metering: Metering| roots::guard(builder, self.setting(), rule, values.as_deref(), metering).map(|()| 0);
            self.compile(cell, &name, 2, Effort::Little, write, |_, _| {})
        })
    }

    /// Compiles a function of the model on its own. Returns whether that was possible now. Many commands call it, so it is
    /// worth much effort at once.
    #[cold]
    pub(crate) fn make_function(&self, slot: usize) -> bool {
        let (function, depth) = functions::at(slot);
        let Some(mut foundry) = self.idle_foundry() else { return false };
        let cell = &self.functions[slot];
        if cell.load(Ordering::Acquire) != NOT_YET {
            return true;
        }
        let setting = self.setting();
        let words = parameters(&self.program.functions[function as usize]);
        let write = |builder: FunctionBuilder, _: Metering| roots::function(builder, setting, FunctionId(function), depth).map(|()| 0);
        let name = format!("function {function} {depth:?}");
        let made = self.make(&mut foundry, &name, (words, 2), Effort::Much, &write);
        cell.store(made.map_or(NOT_YET, |code| code.address as usize), Ordering::Release);
        made.is_some()
    }
}

impl Codes {
    pub(crate) fn cell(&self, member: u64) -> &AtomicUsize {
        match self {
            Codes::Fixed(cells) => &cells[member as usize],
            Codes::General(cell) => cell,
        }
    }

    /// The parameters' values if the code is for one instance.
    fn values(&self, rule: &Rule, member: u64) -> Option<Vec<i64>> {
        match self {
            Codes::Fixed(_) => Some(values(rule, member)),
            Codes::General(_) => None,
        }
    }
}

/// The name under which a command's code is kept.
fn command_name(starts: bool, number: usize, instance: Option<u64>, effort: Effort) -> String {
    let which = instance.map_or("all".to_string(), |member| member.to_string());
    format!("{} {number}.{which} {effort:?}", if starts { "start" } else { "command" })
}

/// The parameters' values of an instance.
fn values(rule: &Rule, member: u64) -> Vec<i64> {
    let mut values = vec![0; rule.parameters.len()];
    rule.values(member, &mut values);
    values
}

/// Instances of rules; at most `most` of them have code of their own.
pub(crate) fn families(rules: &[Rule], shape: &Shape, most: u64) -> Vec<Family> {
    let (mut first, mut fixed) = (0u64, 0u64);
    rules
        .iter()
        .map(|rule| {
            let instances = rule.instances().min(u64::from(u32::MAX) - first);
            let nodes = shape.nodes_with_calls(&rule.command.block);
            let small = nodes <= SMALL_COMMAND && instances <= MOST_SMALL_COMMANDS || instances.saturating_mul(nodes) <= MOST_FIXED_COMMAND_NODES;
            let codes = |fix: bool| if fix { Codes::Fixed(zeros(instances as usize)) } else { Codes::General(AtomicUsize::new(NOT_YET)) };
            let fix = fixed + instances <= most;
            fixed += if fix { instances } else { 0 };
            let own = fix && small;
            // One command of a family without code of its own stands for all.
            let patience = nodes.saturating_mul(FIRINGS_PER_NODE) / if own { 1 } else { instances.max(1) };
            let easy = own && instances <= FEW_COMMANDS && nodes <= EASY_COMMAND;
            let family = Family {
                first: first as u32,
                instances,
                guards: codes(fix && instances <= 64),
                commands: codes(own),
                early: AtomicUsize::new(NOT_YET),
                heat: (0..if own { instances } else { 1 }).map(|_| AtomicU32::new(0)).collect(),
                patience: if easy { 0 } else { patience.clamp(1, MOST_PATIENCE) as u32 },
            };
            first += instances;
            family
        })
        .collect()
}
