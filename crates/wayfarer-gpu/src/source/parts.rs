//! Guards, commands, functions and properties, one C function each.

use super::code::{Coder, Role};
use super::{function_name, identifier, one_line};
use crate::bounds::{self, ANY, Bounds};
use std::fmt::Write;
use wayfarer_ir::{Function, Parameter, Program, Property, Region, Rule};

/// Functions that have more parts in all places together where they are called are written once, and called.
const LARGEST_INLINE: usize = 600;

/// Writes all parts.
pub(super) fn write(program: &Program, bounds: &Bounds, out: &mut String) {
    for number in 0..program.functions.len() {
        let _ = writeln!(out, "{};", head(program, bounds, number));
    }
    for (number, function) in program.functions.iter().enumerate() {
        write_function(program, bounds, number, function, out);
    }
    for (number, rule) in program.rules.iter().enumerate() {
        write_rule(program, bounds, number, rule, out);
    }
    for (number, property) in program.properties.iter().enumerate() {
        write_property(program, bounds, number, property, out);
    }
    write_end(program, bounds, out);
}

/// The name of a family's guard.
pub(super) fn guard_name(program: &Program, family: usize) -> String {
    format!("guard{family}_{}", identifier(&program.rules[family].name))
}

/// The name of a family's command.
pub(super) fn command_name(program: &Program, family: usize) -> String {
    format!("command{family}_{}", identifier(&program.rules[family].name))
}

fn head(program: &Program, bounds: &Bounds, number: usize) -> String {
    let function = &program.functions[number];
    let how = match bounds.nodes(number) {
        _ if bounds.is_recursive(number) => "WF_OUTLINE",
        parts if parts.saturating_mul(bounds.calls(number)) > LARGEST_INLINE => "WF_OUTLINE",
        _ => "WF_INLINE",
    };
    let mut taken = vec!["u64* s".to_string(), "Scene& x".to_string()];
    let (mut values, mut references) = (0, 0);
    for parameter in &function.parameters {
        match parameter {
            Parameter::Value => {
                taken.push(format!("i64 r{values}"));
                values += 1;
            }
            Parameter::Reference { region, .. } => {
                if *region == Region::Frame {
                    taken.push(format!("u64* m{references}"));
                }
                taken.push(format!("u32 b{references}"));
                references += 1;
            }
        }
    }
    taken.push("i64& result".to_string());
    format!("{how} int {}({})", function_name(program, number as u32), taken.join(", "))
}

fn write_function(program: &Program, bounds: &Bounds, number: usize, function: &Function, out: &mut String) {
    let role = Role::Function { result: function.result };
    let mut coder = Coder::new(program, bounds, role, vec![ANY; function.body.registers as usize]);
    let values = function.parameters.iter().filter(|parameter| matches!(parameter, Parameter::Value)).count();
    coder.references = function
        .parameters
        .iter()
        .filter_map(|parameter| match parameter {
            Parameter::Value => None,
            Parameter::Reference { region, .. } => Some(*region),
        })
        .collect();
    begin(&mut coder, values as u32, function.body.registers, function.body.frame);
    coder.block(&function.body.block);
    if function.result {
        let end = coder.fault(function.no_result);
        coder.line(&end);
    } else {
        coder.line("return DONE;");
    }
    let _ = writeln!(out, "\n{} {{\n{}}}", head(program, bounds, number), coder.out);
}

fn write_rule(program: &Program, bounds: &Bounds, family: usize, rule: &Rule, out: &mut String) {
    let taken: String = (0..rule.parameters.len()).map(|parameter| format!(", i64 r{parameter}")).collect();
    let count = rule.parameters.len() as u32;
    let _ = writeln!(out, "\n// rule \"{}\", line {}", one_line(&rule.name), rule.at.line);
    let mut ranges = bounds::parameters(rule, rule.guard.registers);
    bounds::forget_in(&rule.guard.value, &mut ranges);
    let mut coder = Coder::new(program, bounds, Role::Formula, ranges);
    begin(&mut coder, count, rule.guard.registers, 0);
    let value = coder.value(&rule.guard.value);
    coder.line(&format!("return {} ? TRUE : FALSE;", value.condition()));
    let _ = writeln!(out, "WF_INLINE int {}(u64* s, Scene& x{taken}) {{\n{}}}", guard_name(program, family), coder.out);
    let mut ranges = bounds::parameters(rule, rule.command.registers);
    bounds::forget_in_block(&rule.command.block, &mut ranges);
    let mut coder = Coder::new(program, bounds, Role::Command, ranges);
    begin(&mut coder, count, rule.command.registers, rule.command.frame);
    coder.block(&rule.command.block);
    coder.line("return DONE;");
    let _ = writeln!(out, "WF_INLINE int {}(u64* s, Scene& x{taken}) {{\n{}}}", command_name(program, family), coder.out);
}

fn write_property(program: &Program, bounds: &Bounds, number: usize, property: &Property, out: &mut String) {
    let _ = writeln!(out, "\n// property \"{}\", line {}", one_line(&property.name), property.at.line);
    let mut coder = Coder::new(program, bounds, Role::Formula, vec![ANY; property.registers as usize]);
    begin(&mut coder, 0, property.registers, 0);
    for (_, conjunct) in &property.conjuncts {
        let value = coder.value(conjunct);
        coder.line(&format!("if (!{}) return FALSE;", value.condition()));
    }
    coder.line("return TRUE;");
    let _ = writeln!(out, "WF_INLINE int property{number}(u64* s, Scene& x) {{\n{}}}", coder.out);
}

/// Whether a state without enabled rules is a valid end.
fn write_end(program: &Program, bounds: &Bounds, out: &mut String) {
    let Some(ends) = &program.ends else {
        let _ = writeln!(out, "\nWF_INLINE bool may_end(u64* s) {{ return false; }}");
        return;
    };
    let mut coder = Coder::new(program, bounds, Role::Formula, vec![ANY; ends.registers as usize]);
    begin(&mut coder, 0, ends.registers, 0);
    let value = coder.value(&ends.value);
    coder.line(&format!("return {} ? TRUE : FALSE;", value.condition()));
    let _ = writeln!(out, "\nWF_INLINE int end_formula(u64* s, Scene& x) {{\n{}}}", coder.out);
    let _ = writeln!(out, "WF_OUTLINE bool may_end(u64* s) {{\n  Scene x;\n  begin(x, 0);\n  return end_formula(s, x) == TRUE;\n}}");
}

/// Registers that are not parameters, and the frame, all zero.
fn begin(coder: &mut Coder, given: u32, registers: u32, frame: u32) {
    if registers > given {
        let names: Vec<String> = (given..registers).map(|register| format!("r{register} = 0")).collect();
        coder.line(&format!("i64 {};", names.join(", ")));
    }
    if frame > 0 {
        coder.line(&format!("u64 f[{frame}];"));
        coder.line(&format!("zero_words(f, {frame});"));
    }
}
