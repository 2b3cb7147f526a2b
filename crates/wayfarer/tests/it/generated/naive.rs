//! The naive explorer: breadth-first over an ordered set of whole values. It continues after violations, so that all
//! of them are counted.

use super::evaluate::{Binding, Machine};
use super::tree::{Block, Local, Model};
use super::value::{Kind, Value};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A violation: its kind, and its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wrong {
    /// The invariant of this name is false.
    Invariant(String),
    /// The evaluation of invariants failed; only the first failure in a state counts.
    InvariantFault(Kind),
    Deadlock,
    /// In the rule or start state of this name.
    Fault(String, Kind),
    StartFault(String, Kind),
}

/// The whole system.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub(crate) states: u64,
    pub(crate) fired: u64,
    pub(crate) fired_by: BTreeMap<String, u64>,
    /// The number of violations of each kind, and the smallest number of firings to one (including one that fails).
    pub(crate) wrong: BTreeMap<Wrong, (u64, usize)>,
    /// Whether an invariant under a ruleset had a fault: the number of such faults is not defined.
    pub(crate) unclear: bool,
}

impl Found {
    fn note(&mut self, wrong: Wrong, length: usize) {
        let entry = self.wrong.entry(wrong).or_insert((0, length));
        entry.0 += 1;
        entry.1 = entry.1.min(length);
    }
}

/// The whole system, or `None` if it has more than `limit` states.
pub(crate) fn explore(model: &Model, limit: usize) -> Option<Found> {
    let mut found = Found::default();
    let mut known = BTreeSet::new();
    let mut queue = VecDeque::new();
    let nothing: Vec<Value> = model.globals.iter().map(|(_, ty)| Value::undefined(model, *ty)).collect();
    for unit in &model.units {
        fire(model, &nothing, &unit.block, &unit.locals, true, &mut |name, fired| match fired {
            Ok(state) => {
                if known.insert(state.clone()) {
                    queue.push_back((state, 0));
                }
            }
            Err(kind) => found.note(Wrong::StartFault(name.to_string(), kind), 0),
        });
    }
    for (state, _) in &queue {
        judge(model, state, 0, &mut found);
    }
    while let Some((state, depth)) = queue.pop_front() {
        let mut moves = false;
        let mut new = Vec::new();
        for unit in &model.units {
            fire(model, &state, &unit.block, &unit.locals, false, &mut |name, fired| {
                found.fired += 1;
                *found.fired_by.entry(name.to_string()).or_insert(0) += 1;
                match fired {
                    Ok(next) => {
                        moves |= next != state;
                        if known.insert(next.clone()) {
                            new.push(next);
                        }
                    }
                    Err(kind) => {
                        moves = true;
                        found.note(Wrong::Fault(name.to_string(), kind), depth + 1);
                    }
                }
            });
        }
        if !moves {
            found.note(Wrong::Deadlock, depth);
        }
        if known.len() > limit {
            return None;
        }
        for next in new {
            judge(model, &next, depth + 1, &mut found);
            queue.push_back((next, depth + 1));
        }
    }
    found.states = known.len() as u64;
    Some(found)
}

/// A callback for a firing: the rule's name, and the state after it or the fault.
type Telling<'t> = dyn FnMut(&str, Result<Vec<Value>, Kind>) + 't;

/// Fires every enabled instance of every rule (or start state) in a block and reports the results.
fn fire<'a>(model: &'a Model, state: &[Value], block: &'a Block, locals: &'a [Local], starts: bool, tell: &mut Telling) {
    let mut machine = Machine::new(model, state.to_vec());
    machine.enter(locals);
    walk(&mut machine, block, &mut |machine, leaf| {
        let (name, guard, variables, body) = match leaf {
            Block::Rule { name, guard, variables, body } if !starts => (name, guard.as_ref(), variables, body),
            Block::Start { name, variables, body } if starts => (name, None, variables, body),
            _ => return,
        };
        let fired = match guard.map_or(Ok(true), |guard| machine.truth(guard)) {
            Ok(false) => return,
            Ok(true) => machine.command(variables, body),
            Err(kind) => Err(kind),
        };
        let mut after = std::mem::replace(&mut machine.globals, state.to_vec());
        after.iter_mut().for_each(Value::settle);
        tell(name, fired.map(|()| after));
    });
}

/// Visits the leaves of a block once for every combination of the bindings around them.
fn walk<'a>(machine: &mut Machine<'a>, block: &'a Block, visit: &mut dyn FnMut(&mut Machine<'a>, &'a Block)) {
    match block {
        Block::Ruleset(binders, inner) => {
            let done = machine.each(binders, &mut |machine| {
                inner.iter().for_each(|block| walk(machine, block, visit));
                Ok(false)
            });
            done.expect("bounds of rulesets are constants");
        }
        Block::Alias(local, place, inner) => {
            let (address, ty) = machine.resolve(place).expect("aliases around rules have plain indices");
            machine.bind(*local, Binding::Reference(address, ty));
            inner.iter().for_each(|block| walk(machine, block, visit));
        }
        Block::Choose(local, place, inner) => {
            let (address, _) = machine.resolve(place).expect("bags around rules have plain indices");
            for slot in machine.taken(&address) {
                machine.bind(*local, Binding::Slot(slot));
                inner.iter().for_each(|block| walk(machine, block, visit));
            }
        }
        leaf => visit(machine, leaf),
    }
}

/// Checks the invariants in a state.
fn judge(model: &Model, state: &[Value], depth: usize, found: &mut Found) {
    let mut faulted = None;
    let mut failed = BTreeSet::new();
    for unit in &model.units {
        let mut machine = Machine::new(model, state.to_vec());
        machine.enter(&unit.locals);
        let mut instances = 0;
        let mut faults = 0;
        walk(&mut machine, &unit.block, &mut |machine, leaf| {
            let Block::Invariant { name, condition } = leaf else { return };
            instances += 1;
            match machine.truth(condition) {
                Ok(true) => {}
                Ok(false) => drop(failed.insert(name.clone())),
                Err(kind) => {
                    faults += 1;
                    faulted.get_or_insert(kind);
                }
            }
        });
        found.unclear |= faults > 0 && instances > 1;
    }
    if let Some(kind) = faulted {
        found.note(Wrong::InvariantFault(kind), depth);
    }
    for name in failed {
        found.note(Wrong::Invariant(name), depth);
    }
}
