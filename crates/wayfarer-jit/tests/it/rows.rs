//! Programs whose commands only add and set constants, with few rules and many: the tables must agree with the
//! interpreter in every state, including unreachable ones in which sums do not fit their fields.

use crate::agreement::{Seen, agree};
use std::sync::Arc;
use wayfarer_ir::{
    At, BinaryOp, Body, Expr, FaultId, FaultKind, FaultSite, Formula, Interpreter, Limits, Names, Place, Program, Property, PropertyKind, Root, Rule,
    Stmt, Type, TypeId, Variable, layout, verify,
};
use wayfarer_jit::Compiled;
use wayfarer_space::{FaultClass, Firing, Rng, Sieve, Space, States, Steps, Width};

/// A random program of this many rules over fields that fill up to `words` words.
pub(crate) fn program(rng: &mut Rng, words: u32, rules: u64) -> Program {
    let mut program = Program { source: "rows".into(), words, ..Program::default() };
    let mut fields: Vec<(u32, u8)> = Vec::new();
    for word in 0..words {
        let mut at = rng.below(4) as u32;
        loop {
            let bits = if rng.below(6) == 0 { 1 + rng.below(12) } else { 1 + rng.below(4) } as u8;
            if at + u32::from(bits) > 64 {
                break;
            }
            fields.push((word * 64 + at, bits));
            at += u32::from(bits) + if rng.below(4) == 0 { rng.below(9) as u32 } else { 0 };
        }
    }
    for (number, (offset, bits)) in fields.iter().enumerate() {
        program.types.push(Type::Scalar(layout::scalar(None, 0, 1 << bits, false, Names::Numbers)));
        program.variables.push(Variable { name: format!("f{number}"), ty: TypeId(number as u32), offset: *offset, at: At::default() });
    }
    program.faults.push(FaultSite { class: FaultClass::Limit, kind: FaultKind::Overflow, message: "no room".into(), at: At::default() });
    let place = |(offset, _): (u32, u8)| Place { root: Root::State, offset, indices: Vec::new() };
    let load = |field: (u32, u8)| Expr::Load { place: place(field), bits: field.1 };
    let compare = |op, field, value| Expr::Binary(op, Box::new(load(field)), Box::new(Expr::Const(value)));
    let some = |rng: &mut Rng| fields[rng.below(fields.len() as u64) as usize];
    let value = |rng: &mut Rng, (_, bits): (u32, u8)| rng.below(1 << bits) as i64;
    let start = |rng: &mut Rng| {
        let block = fields.iter().filter_map(|field| {
            let value = rng.below(1 << field.1) as i64;
            (rng.below(2) == 0).then(|| Stmt::Store { place: place(*field), bits: field.1, value: Expr::Const(value) })
        });
        let command = Body { registers: 0, frame: 0, block: block.collect() };
        Rule { name: "start".into(), parameters: Vec::new(), guard: Formula::default(), command, at: At::default() }
    };
    program.starts.push(start(rng));
    for number in 0..rules {
        let mut conjuncts = Vec::new();
        for _ in 0..rng.below(4) {
            let field = some(rng);
            let op = [BinaryOp::Eq, BinaryOp::Ge, BinaryOp::Le, BinaryOp::Ne, BinaryOp::Lt, BinaryOp::Gt][rng.below(6) as usize];
            conjuncts.push(compare(op, field, value(rng, field) + rng.below(3) as i64 - 1));
        }
        let guard = if rng.below(40) == 0 { Expr::Const(0) } else { Expr::All(conjuncts) };
        let mut changed: Vec<(u32, u8)> = (0..rng.below(5)).map(|_| some(rng)).collect();
        changed.sort_unstable();
        changed.dedup();
        let mut block = Vec::new();
        for field in &changed {
            let room = value(rng, *field);
            if rng.below(6) == 0 {
                block.push(Stmt::Check { condition: compare(BinaryOp::Le, *field, room), fault: FaultId(0) });
            }
        }
        for field in changed {
            let change = value(rng, field) * if rng.below(2) == 0 { 1 } else { -1 };
            let value = if rng.below(2) == 0 {
                Expr::Const(value(rng, field))
            } else {
                Expr::Binary(BinaryOp::Add, Box::new(load(field)), Box::new(Expr::Const(change)))
            };
            block.push(Stmt::Store { place: place(field), bits: field.1, value });
        }
        let (guard, command) = (Formula { registers: 0, value: guard }, Body { registers: 0, frame: 0, block });
        program.rules.push(Rule { name: format!("r{number}"), parameters: Vec::new(), guard, command, at: At::default() });
    }
    let field = some(rng);
    let conjuncts = vec![(At::default(), compare(BinaryOp::Ge, field, 1))];
    program.properties.push(Property { name: "p".into(), kind: PropertyKind::Reachable, registers: 0, conjuncts, at: At::default() });
    assert_eq!(verify(&program), vec![]);
    program
}

#[test]
fn rows_agree_with_the_interpreter() {
    let mut rng = Rng::new(3, "rows");
    let mut seen = Seen::default();
    for number in 0..240 {
        let words = 1 + (number % 6) as u32;
        // Guards are code up to some number of rules, and masks beyond.
        let rules = if number % 20 == 0 { 8_193 + rng.below(4_000) } else { 1 + rng.below(300) };
        let program = Arc::new(program(&mut rng, words, rules));
        seen.add(agree(&format!("rows {number}"), &program, Limits::default(), 20));
    }
    assert!(seen.states > 4_000 && seen.steps > 100_000 && seen.faults > 1_000, "{seen:?}");
}

#[test]
fn steps_that_a_sieve_leaves_out_are_counted() {
    let mut rng = Rng::new(4, "rows");
    let mut left_out = 0;
    for _ in 0..60 {
        let mut program = program(&mut rng, 1, 40);
        // Commands without tests: those with tests are not sifted.
        program.rules.iter_mut().for_each(|rule| rule.command.block.retain(|statement| !matches!(statement, Stmt::Check { .. })));
        let program = Arc::new(program);
        let (interpreter, compiled) =
            (Interpreter::new(program.clone(), Limits::default()), Compiled::new(program, Limits::default()).expect("code"));
        let (mut all, mut sifted) = (Steps::new(Width::Fixed(1)), Steps::new(Width::Fixed(1)));
        sifted.sieve = Sieve::new(Width::Fixed(1));
        let mut batch = States::new(Width::Fixed(1));
        let mut known = std::collections::HashSet::new();
        for _ in 0..10 {
            batch.clear();
            (0..16).for_each(|_| batch.push(&[rng.next_word() & rng.next_word() & rng.next_word() & interpreter.packing().masks()[0]]));
            interpreter.expand(&batch, Firing::of(0), &mut all);
            compiled.expand(&batch, Firing::of(0), &mut sifted);
            assert!(sifted.sifted);
            assert_eq!(all.enabled, sifted.enabled);
            known.extend(batch.words().iter().copied());
            let mut given =
                (0..sifted.len()).map(|index| (sifted.sources[index], sifted.firings[index].rule, sifted.states.get(index)[0])).peekable();
            let mut omitted = sifted.omitted.iter().peekable();
            for index in 0..all.len() {
                let step = (all.sources[index], all.firings[index].rule, all.states.get(index)[0]);
                if given.next_if_eq(&step).is_some() {
                    known.insert(step.2);
                    continue;
                }
                let left = omitted.next().expect("every step is given or left out");
                assert_eq!((left.source, left.rule(), left.changed()), (step.0, step.1, all.changed[index] != 0));
                assert!(known.contains(&step.2), "only what was met is left out");
                left_out += 1;
            }
            assert!(given.next().is_none() && omitted.next().is_none());
        }
    }
    assert!(left_out > 1_000, "{left_out}");
}
