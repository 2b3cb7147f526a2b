//! The parameters that matter to a rule.

use crate::random::{LIMITS, some_states};
use wayfarer_ir::Interpreter;
use wayfarer_ir::generate::generate;
use wayfarer_ir::relevant::{Relevant, first_alike};
use wayfarer_space::{Firing, Space};

#[test]
fn parameters_that_nothing_looks_at_do_not_matter() {
    let program = crate::program(
        r#"(program "x" (words 1)
          (type t0 (scalar (bits 4) (low 0) (count 16)))
          (variable "a" t0 (offset 0) (at 0 0))
          (fault !0 limit endless (at 0 0) "")
          (function f0 "first of two" (at 0 0) (parameters value value) (no-result !0)
            (body (registers 2) (frame 0) (store 4 (state 0) r0)))
          (rule "r" (at 0 0) (parameter "i" t0 (from 0) (by 1) (count 2)) (parameter "j" t0 (from 0) (by 1) (count 3))
              (parameter "k" t0 (from 0) (by 1) (count 2))
            (guard (registers 3) (eq r0 1))
            (command (registers 3) (frame 0) (do (call f0 !0 r2 r1)))))"#,
    );
    let rule = &program.rules[0];
    let relevant = Relevant::new(&program).parameters(rule);
    assert_eq!(relevant, [true, false, true]);
    let firsts: Vec<u64> = (0..rule.instances()).map(|member| first_alike(rule, &relevant, member)).collect();
    assert_eq!(firsts, [0, 1, 0, 1, 0, 1, 6, 7, 6, 7, 6, 7]);
}

#[test]
fn members_that_are_alike_have_the_same_steps() {
    let mut compared = 0;
    for seed in 0..600 {
        let space = Interpreter::new(generate(seed), LIMITS);
        let program = space.program();
        let relevant = Relevant::new(program);
        let states = some_states(&space, 8);
        let mut first = 0;
        for rule in &program.rules {
            let parameters = relevant.parameters(rule);
            for member in 0..rule.instances() {
                let alike = first_alike(rule, &parameters, member);
                for state in states.iter().filter(|_| alike != member) {
                    let (mut left, mut right) = (Vec::new(), Vec::new());
                    let ends =
                        [(alike, &mut left), (member, &mut right)].map(|(member, out)| space.fire(state, Firing::of((first + member) as u32), out));
                    assert_eq!((ends[0], left), (ends[1], right), "seed {seed}, rule {}, member {member}", rule.name);
                    compared += 1;
                }
            }
            first += rule.instances();
        }
    }
    assert!(compared > 300, "{compared}");
}
