//! Programs and states in readable form.

use crate::program;
use wayfarer_ir::Program;
use wayfarer_ir::show::Difference;

fn network() -> Program {
    program(
        r#"(program "n" (words 1)
          (type t0 (scalar (bits 2) (low 1) (count 2) (undefinable) (name "Node")))
          (type t1 (scalar (bits 2) (low 0) (count 3) (names "Idle" "Busy" "Done")))
          (type t2 (array t0 t1 (stride 2) (count 2) (bits 4)))
          (type t3 (record (bits 4) (field "Src" t0 (offset 0)) (field "Kind" t1 (offset 2))))
          (type t4 (bag t3 (stride 8) (capacity 3) (element-at 1) (slot-bits 5) (bits 24)))
          (variable "Cache" t2 (offset 0) (at 0 0))
          (variable "Net" t4 (offset 8) (at 0 0))
          (rule "Send" (at 0 0) (parameter "i" t0 (from 1) (by 1) (count 2)) (parameter "k" t1 (from 0) (by 1) (count 3))
            (guard (registers 2) 1) (command (registers 2) (frame 0)))
          (rule "Stop" (at 0 0) (guard (registers 0) 1) (command (registers 0) (frame 0)))
          (start "Begin" (at 0 0) (parameter "k" t1 (from 2) (by -1) (count 2)) (guard (registers 1) 1) (command (registers 1) (frame 0))))"#,
    )
}

/// A bag's slot that is taken by a message.
fn slot(number: u32, source: u64, kind: u64) -> u64 {
    (1 | source << 1 | kind << 3) << (8 + 8 * number)
}

#[test]
fn rules_are_named_with_their_parameters() {
    let program = network();
    assert_eq!(program.describe_rule(0), "Send, i: 1, k: Idle");
    assert_eq!(program.describe_rule(4), "Send, i: 2, k: Busy");
    assert_eq!(program.describe_rule(6), "Stop");
    assert_eq!(program.describe_rule(7), "?7");
    assert_eq!(program.describe_start(1), "Begin, k: Busy");
    assert_eq!((program.rule_of(4), program.rule_of(6), program.rule_of(7)), (Some((0, 4)), Some((1, 0)), None));
}

#[test]
fn states_are_listed_by_path() {
    let state = [0b0110 | slot(0, 2, 1) | slot(1, 0, 2)];
    let expected = "Cache[1]: Done\nCache[2]: Busy\nNet{0}.Src: 2\nNet{0}.Kind: Busy\nNet{1}.Src: undefined\nNet{1}.Kind: Done\n";
    assert_eq!(network().listing(&state), expected);
}

#[test]
fn differences_say_what_came_and_went() {
    let old = [0b0110 | slot(0, 2, 1) | slot(1, 1, 1)];
    let new = [0b0010 | slot(0, 2, 2) | slot(1, 2, 1)];
    let change = |path: &str, old: &str, new: &str| Difference { path: path.into(), old: old.into(), new: new.into() };
    let expected =
        [change("Cache[2]", "Busy", "Idle"), change("Net{}", "{Src: 1, Kind: Busy}", "absent"), change("Net{}", "absent", "{Src: 2, Kind: Done}")];
    assert_eq!(network().differences(&old, &new), expected);
    assert_eq!(network().differences(&old, &old), []);
}

#[test]
fn only_bits_of_values_carry_information() {
    let program = network();
    assert_eq!(program.packing().masks(), [0x1F1F_1F0F]);
    assert_eq!(program.state_bits(), 19);
}
