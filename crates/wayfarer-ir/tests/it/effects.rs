//! The computed effects of rules, compared with their behaviour.

use crate::random::{LIMITS, some_states};
use wayfarer_ir::Interpreter;
use wayfarer_ir::effects::Effects;
use wayfarer_ir::generate::generate;
use wayfarer_space::{Fired, Firing, Rng, Space};

/// A state with all bits random that are in `masks` and not in `kept`.
fn shaken(state: &[u64], masks: &[u64], kept: &[u64], rng: &mut Rng) -> Vec<u64> {
    let change = |(word, (mask, kept)): (&u64, (&u64, &u64))| word ^ rng.next_word() & mask & !kept;
    state.iter().zip(masks.iter().zip(kept)).map(change).collect()
}

#[test]
fn rules_touch_no_more_than_is_said() {
    let mut fired = 0;
    for seed in 0..300 {
        let space = Interpreter::new(generate(seed), LIMITS);
        let program = space.program();
        let effects = Effects::new(program);
        let mut rng = Rng::new(seed, "shake");
        // The bits that assumptions read affect every firing.
        let assumptions = program.properties.iter().enumerate().filter(|(_, property)| property.kind == wayfarer_ir::PropertyKind::Assumption);
        let assumed: Vec<_> = assumptions.map(|(number, _)| effects.property(number)).collect();
        for state in some_states(&space, 12).iter() {
            for instance in 0..space.rules() {
                let (family, member) = program.rule_of(instance).unwrap();
                let whole = effects.family(&program.rules[family]);
                let own = effects.member(&program.rules[family], member);
                assert!(own.writes.within(&whole.writes) && own.reads.within(&whole.reads) && own.guard_reads.within(&whole.guard_reads));
                let mut kept = own.guard_reads.clone();
                kept.union(&own.reads);
                assumed.iter().for_each(|bits| kept.union(bits));
                // The guards of rules with a smaller level decide whether this one counts.
                for (_, rule) in program.rules.iter().enumerate().filter(|(other, _)| program.level_of(*other) < program.level_of(family)) {
                    kept.union(&effects.family(rule).guard_reads);
                }
                let other = shaken(state, space.packing().masks(), kept.masks(), &mut rng);
                let (mut left, mut right) = (Vec::new(), Vec::new());
                let ends = (space.fire(state, Firing::of(instance), &mut left), space.fire(&other, Firing::of(instance), &mut right));
                assert_eq!(ends.0, ends.1, "seed {seed}, {}", program.describe_rule(instance));
                if ends.0 == Fired::To {
                    fired += 1;
                    for word in 0..state.len() {
                        let writes = own.writes.masks()[word];
                        assert_eq!((left[word] ^ state[word]) & !writes, 0, "seed {seed}: wrote elsewhere");
                        // A bit that may be left unchanged must be unchanged on both sides; if it was written, the
                        // same was written.
                        let same = !(left[word] ^ right[word]);
                        let untouched = !(left[word] ^ state[word]) & !(right[word] ^ other[word]);
                        assert_eq!(!(same | untouched) & writes, 0, "seed {seed}: read more than was said");
                    }
                }
            }
        }
    }
    assert!(fired > 1_000, "only {fired} firings");
}

#[test]
fn properties_read_no_more_than_is_said() {
    for seed in 0..300 {
        let space = Interpreter::new(generate(seed), LIMITS);
        let effects = Effects::new(space.program());
        let mut rng = Rng::new(seed, "shake");
        for state in some_states(&space, 12).iter() {
            for number in 0..space.properties() {
                let reads = effects.property(number as usize);
                let other = shaken(state, space.packing().masks(), reads.masks(), &mut rng);
                assert_eq!(space.failing_conjunct(number, state), space.failing_conjunct(number, &other), "seed {seed}");
            }
        }
    }
}

#[test]
fn parameters_and_references_are_followed() {
    let program = crate::program(
        r#"(program "x" (words 2)
          (type t0 (scalar (bits 4) (low 0) (count 16)))
          (type t1 (scalar (bits 3) (low 0) (count 8)))
          (type t2 (array t1 t0 (stride 4) (count 8) (bits 32)))
          (variable "a" t2 (offset 0) (at 0 0))
          (variable "b" t2 (offset 64) (at 0 0))
          (fault !0 limit endless (at 0 0) "")
          (function f0 "bump" (at 0 0) (parameters (state 32) value) (no-result !0)
            (body (registers 1) (frame 0)
              (store 4 (ref0 8) (load 4 (ref0 0)))
              (set r0 (load 4 (state 64 (r0 4 8 !0))))))
          (rule "r" (at 0 0) (parameter "i" t1 (from 1) (by 2) (count 2))
            (guard (registers 1) (load 4 (state 0 ((add r0 1) 4 8 !0))))
            (command (registers 1) (frame 0)
              (store 4 (state 0 (r0 4 8 !0)) 1)
              (do (call f0 !0 (state 64) r0)))))"#,
    );
    let effects = Effects::new(&program);
    let second = effects.member(&program.rules[0], 1);
    assert_eq!(second.guard_reads.masks(), [0xF << 16, 0]);
    assert_eq!(second.writes.masks(), [0xF << 12, 0xF00]);
    assert_eq!(second.reads.masks(), [0, 0xFFFF_FFFF]);
    assert_eq!(effects.family(&program.rules[0]).writes.masks(), [0xFFFF_FFFF, 0xF00]);
}

#[test]
fn calls_are_followed_for_the_arguments_that_are_known() {
    let program = crate::program(
        r#"(program "x" (words 2)
          (type t0 (scalar (bits 4) (low 0) (count 16)))
          (type t1 (scalar (bits 3) (low 0) (count 8)))
          (type t2 (array t1 t0 (stride 4) (count 8) (bits 32)))
          (variable "a" t2 (offset 0) (at 0 0))
          (variable "b" t2 (offset 64) (at 0 0))
          (fault !0 limit endless (at 0 0) "")
          (function f0 "send" (at 0 0) (parameters value) (no-result !0)
            (body (registers 1) (frame 0)
              (store 4 (state 0 (r0 4 8 !0)) 1)
              (if ((eq r0 2) (store 4 (state 64) 2)) (else (store 4 (state 68) 3)))))
          (function f1 "send on" (at 0 0) (parameters value) (no-result !0)
            (body (registers 1) (frame 0)
              (do (call f0 !0 r0))
              (do (call f1 !0 (add r0 1)))))
          (rule "sends" (at 0 0) (parameter "i" t1 (from 1) (by 1) (count 2))
            (guard (registers 1) 1)
            (command (registers 1) (frame 0) (do (call f0 !0 r0))))
          (rule "assigns first" (at 0 0) (parameter "i" t1 (from 1) (by 1) (count 2))
            (guard (registers 1) 1)
            (command (registers 1) (frame 0) (set r0 3) (do (call f0 !0 r0))))
          (rule "sends on" (at 0 0) (parameter "i" t1 (from 1) (by 1) (count 2))
            (guard (registers 1) 1)
            (command (registers 1) (frame 0) (do (call f1 !0 r0)))))"#,
    );
    let effects = Effects::new(&program);
    let writes = |rule: usize, member: u64| effects.member(&program.rules[rule], member).writes.masks().to_vec();
    assert_eq!(writes(0, 0), [0xF << 4, 0xF0]);
    assert_eq!(writes(0, 1), [0xF << 8, 0xF]);
    assert_eq!(writes(1, 0), [0xFFFF_FFFF, 0xFF], "a parameter that is assigned is not known");
    assert_eq!(writes(2, 0), [0xFFFF_FFFF, 0xFF], "a function that calls itself may do so with any argument");
}
