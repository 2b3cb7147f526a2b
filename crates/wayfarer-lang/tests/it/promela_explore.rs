//! Explores Promela models completely: on the machine, which knows nothing of the IR, and as interpreted programs.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use wayfarer_ir::passing::Passing;
use wayfarer_ir::{Interpreter, Limits};
use wayfarer_lang::promela::learned::Learned;
use wayfarer_lang::promela::lower::lower;
use wayfarer_lang::promela::machine::{Machine, State};
use wayfarer_lang::promela::{Model, read};
use wayfarer_lang::source::Source;
use wayfarer_space::{Firing, Space, States, Steps};

/// How much there is of everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) states: usize,
    pub(crate) steps: u64,
    pub(crate) faults: u64,
    pub(crate) deadlocks: u64,
}

/// Reads a model that is right.
pub(crate) fn model(name: &str, text: &str) -> Model {
    let source = Source::new(name, text);
    let (model, diagnostics) = read(&source, &[], &|_| None);
    model.unwrap_or_else(|| panic!("{}", diagnostics.render(&source, false)))
}

/// The findings about a text.
pub(crate) fn findings(text: &str) -> String {
    let source = Source::new("t.pml", text);
    read(&source, &[], &|_| None).1.render(&source, false)
}

/// Explores a model on the machine.
pub(crate) fn by_machine(model: &Model, most: usize) -> Counts {
    let machine = Machine::new(model);
    let start = machine.start().unwrap();
    let mut seen: HashSet<State> = HashSet::from([start.clone()]);
    let mut queue = VecDeque::from([start]);
    let mut counts = Counts::default();
    while let Some(state) = queue.pop_front() {
        assert!(seen.len() <= most, "more states than expected");
        let mut work = vec![state];
        while let Some(mut state) = work.pop() {
            let taken = machine.expand(&state);
            if taken.is_empty() {
                if state.control.take().is_some() {
                    counts.steps += 1;
                    if seen.insert(state.clone()) {
                        queue.push_back(state);
                    }
                } else if !machine.may_end(&state) {
                    counts.deadlocks += 1;
                }
                continue;
            }
            for taken in taken {
                counts.faults += u64::from(taken.failed || taken.result.is_err());
                match taken.result {
                    Ok(next) if next.control.is_some() => work.push(next),
                    Ok(next) => {
                        counts.steps += 1;
                        if seen.insert(next.clone()) {
                            queue.push_back(next);
                        }
                    }
                    Err(_) => {}
                }
            }
        }
    }
    Counts { states: seen.len(), ..counts }
}

/// Explores a model as a program, with more room as often as it needs it.
pub(crate) fn by_program(model: &Model, most: usize) -> Counts {
    let mut learned = Learned::look_ahead(model).unwrap();
    for _ in 0..100 {
        let lowered = lower(model, &learned).unwrap();
        let program = Arc::new(lowered.program);
        // The text form says everything.
        assert_eq!(wayfarer_ir::text::read(&wayfarer_ir::text::print(&program)).unwrap(), *program);
        let interpreter = Interpreter::new(program.clone(), Limits::default());
        let result = match program.passing {
            Some(field) => explore(&Passing::new(&interpreter, field), most),
            None => explore(&interpreter, most),
        };
        match result {
            Ok(counts) => return counts,
            Err(fault) => match lowered.limits.get(&fault) {
                Some(limit) => assert!(learned.widen(model, *limit), "as wide as it can be"),
                None => panic!("{:?}", program.faults[fault as usize]),
            },
        }
    }
    panic!("too many restarts")
}

fn explore(space: &dyn Space, most: usize) -> Result<Counts, u32> {
    let mut steps = Steps::new(space.width());
    space.initial(&mut steps);
    let mut seen: HashSet<Vec<u64>> = HashSet::new();
    let mut queue: VecDeque<Vec<u64>> = steps.states.iter().map(<[u64]>::to_vec).collect();
    seen.extend(queue.iter().cloned());
    let mut batch = States::new(space.width());
    let mut counts = Counts::default();
    while let Some(state) = queue.pop_front() {
        assert!(seen.len() <= most, "more states than expected");
        batch.clear();
        batch.push(&state);
        space.expand(&batch, Firing::of(0), &mut steps);
        for fault in &steps.faults {
            if space.fault_class(fault.fault) == wayfarer_space::FaultClass::Limit {
                return Err(fault.fault.0);
            }
            counts.faults += 1;
        }
        if steps.enabled[0] == 0 && !space.may_end(&state) {
            counts.deadlocks += 1;
        }
        for (row, next) in steps.states.iter().enumerate() {
            counts.steps += 1;
            // Every step can be taken again by its firing.
            let mut again = Vec::new();
            assert_eq!(space.fire(&state, steps.firings[row], &mut again), wayfarer_space::Fired::To);
            assert_eq!(again, next);
            if seen.insert(next.to_vec()) {
                queue.push_back(next.to_vec());
            }
        }
    }
    Ok(Counts { states: seen.len(), ..counts })
}
