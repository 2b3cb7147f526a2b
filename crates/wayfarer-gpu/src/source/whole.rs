//! The functions that searches call: which rules are enabled, what one of them does, and what is to be told of a state.

use super::code::Val;
use super::parts::{command_name, guard_name};
use crate::bounds::{self, Bounds};
use std::fmt::Write;
use wayfarer_ir::levels::Levels;
use wayfarer_ir::walk;
use wayfarer_ir::{Expr, Program, PropertyKind, Rule, Stmt};

/// Writes `enabled`, `guard_again`, `fire`, `check` and `is_limit`.
pub(super) fn write(program: &Program, bounds: &Bounds, guard_parts: usize, out: &mut String) {
    let limited = bounds.metered || bounds.deep;
    write_enabled(program, bounds, guard_parts, limited, out);
    write_guard_again(program, limited, out);
    write_fire(program, limited, out);
    write_check(program, limited, out);
    write_limits(program, out);
}

/// The numbers of a family's first rule.
fn bases(program: &Program) -> impl Iterator<Item = (usize, &Rule, u64)> {
    let mut base = 0;
    program.rules.iter().enumerate().map(move |(family, rule)| {
        let first = base;
        base += rule.instances();
        (family, rule, first)
    })
}

fn write_enabled(program: &Program, bounds: &Bounds, guard_parts: usize, limited: bool, out: &mut String) {
    let _ = writeln!(out, "\n// Sets the bits of rules whose guard is true or meets a fault, and says whether some guard meets one.");
    let _ = writeln!(out, "WF_INLINE bool enabled(u64* s, u64* mask) {{\n  Scene x;\n  bool faulty = false;\n  int g;");
    let _ = writeln!(out, "  zero_words(mask, MASK_WORDS);");
    let begin = if limited { "begin(x, 0); " } else { "" };
    let mut left = guard_parts;
    for (family, rule, base) in bases(program) {
        let name = guard_name(program, family);
        let faults = can_fault(&rule.guard.value);
        let parts = parts_with_calls(bounds, &rule.guard.value).saturating_mul(rule.instances() as usize);
        let noted = if faults { " faulty |= g > TRUE;" } else { "" };
        if parts <= left {
            left -= parts;
            let mut values = vec![0; rule.parameters.len()];
            for member in 0..rule.instances() {
                rule.values(member, &mut values);
                let given: String = values.iter().map(|value| format!(", {}", Val::constant(*value).text)).collect();
                let number = base + member;
                let _ = writeln!(out, "  {begin}g = {name}(s, x{given}); mask[{}] |= (u64)(g != FALSE) << {};{noted}", number / 64, number % 64);
            }
        } else {
            let _ = writeln!(out, "  for (u32 member = 0; member < {}; member++) {{", rule.instances());
            write_values(rule, out);
            let given = names(rule);
            let _ = writeln!(out, "    {begin}g = {name}(s, x{given}); u32 rule = {base} + member;");
            let _ = writeln!(out, "    mask[rule >> 6] |= (u64)(g != FALSE) << (rule & 63);{noted}\n  }}");
        }
    }
    write_levels(program, out);
    let _ = writeln!(out, "  return faulty;\n}}");
}

/// A rule is enabled only if no rule of a smaller level is.
fn write_levels(program: &Program, out: &mut String) {
    let Some(levels) = Levels::of(program) else { return };
    let total: u64 = program.rules.iter().map(Rule::instances).sum();
    let words = (total.div_ceil(64).max(1)) as usize;
    let masks: Vec<Vec<u64>> = levels
        .rules()
        .map(|ranges| {
            let mut mask = vec![0u64; words];
            ranges.iter().cloned().flatten().for_each(|rule| mask[rule as usize / 64] |= 1 << (rule % 64));
            mask
        })
        .collect();
    for (number, mask) in masks.iter().enumerate().take(masks.len() - 1) {
        let some: Vec<String> =
            mask.iter().enumerate().filter(|(_, bits)| **bits != 0).map(|(word, bits)| format!("mask[{word}] & {bits:#x}ull")).collect();
        let if_some = if some.is_empty() { "false".to_string() } else { some.join(" || ") };
        let _ = writeln!(out, "  {}if ({if_some}) {{", if number == 0 { "" } else { "else " });
        mask.iter().enumerate().for_each(|(word, bits)| {
            let _ = writeln!(out, "    mask[{word}] &= {bits:#x}ull;");
        });
        let _ = writeln!(out, "  }}");
    }
}

/// The guard of one rule, asked again where some guard met a fault.
fn write_guard_again(program: &Program, limited: bool, out: &mut String) {
    let _ = writeln!(out, "\nWF_OUTLINE int guard_again(u64* s, u32 rule) {{\n  Scene x;");
    if limited {
        let _ = writeln!(out, "  begin(x, 0);");
    }
    for (family, rule, base) in bases(program).filter(|(_, rule, _)| can_fault(&rule.guard.value)) {
        let _ = writeln!(out, "  if (rule >= {base} && rule < {}) {{\n    u32 member = rule - {base}; (void)member;", base + rule.instances());
        write_values(rule, out);
        let _ = writeln!(out, "    return {}(s, x{});\n  }}", guard_name(program, family), names(rule));
    }
    let _ = writeln!(out, "  return TRUE;\n}}");
}

fn write_fire(program: &Program, limited: bool, out: &mut String) {
    let families: Vec<String> = bases(program).flat_map(|(family, rule, _)| (0..rule.instances()).map(move |_| family.to_string())).collect();
    if program.rules.len() > 1 && !families.is_empty() {
        let _ = writeln!(out, "\n// The family of each rule.\nWF_TABLE unsigned short families[{}] = {{{}}};", families.len(), families.join(","));
    }
    let _ = writeln!(out, "\n// Fires a rule that is enabled, in place.");
    let _ = writeln!(out, "WF_INLINE int fire(u64* s, Scene& x, u32 rule) {{\n  int ended = DONE;\n  zero_words(x.covered, COVER_WORDS);");
    let _ = writeln!(out, "  switch ({}) {{", if program.rules.len() > 1 && !families.is_empty() { "families[rule]" } else { "0" });
    for (family, rule, base) in bases(program).filter(|(_, rule, _)| rule.instances() > 0) {
        let _ = writeln!(out, "  case {family}: {{\n    u32 member = rule - {base}; (void)member;");
        write_values(rule, out);
        if limited {
            let _ = writeln!(out, "    begin(x, {});", rule.command.frame);
        }
        let _ = writeln!(out, "    ended = {}(s, x{});\n    break;\n  }}", command_name(program, family), names(rule));
    }
    let _ = writeln!(out, "  }}\n  if (ended != DONE) return ended;\n  clear_gaps(s);");
    for (number, _) in program.properties.iter().enumerate().filter(|(_, property)| property.kind == PropertyKind::Assumption) {
        if limited {
            let _ = writeln!(out, "  begin(x, 0);");
        }
        let _ = writeln!(out, "  ended = property{number}(s, x);\n  if (ended != TRUE) return ended == FALSE ? DISCARDED : ended;");
    }
    let _ = writeln!(out, "  return DONE;\n}}");
}

fn write_check(program: &Program, limited: bool, out: &mut String) {
    let _ = writeln!(out, "\n// Judges a state: sets the bits of properties that fail, or that are reached, and gives the first that meets a fault.");
    let _ = writeln!(out, "// Says whether there is anything to tell.");
    let _ = writeln!(out, "WF_INLINE bool check(u64* s, u64* told, u32& property, u32& fault) {{\n  Scene x;\n  int g;\n  bool any = false;");
    let _ = writeln!(out, "  zero_words(told, PROPERTY_WORDS);\n  fault = 0;");
    for (number, property) in program.properties.iter().enumerate() {
        let Some(told) = property.kind.reported_if() else { continue };
        let tells = if told { "TRUE" } else { "FALSE" };
        if limited {
            let _ = writeln!(out, "  begin(x, 0);");
        }
        let _ = writeln!(out, "  g = property{number}(s, x);");
        let _ = writeln!(out, "  if (g == {tells}) {{ told[{}] |= 1ull << {}; any = true; }}", number / 64, number % 64);
        if property.conjuncts.iter().any(|(_, conjunct)| can_fault(conjunct)) {
            let _ = writeln!(out, "  if (g > TRUE && fault == 0) {{ property = {number}; fault = (u32)g; any = true; }}");
        }
    }
    let _ = writeln!(out, "  return any;\n}}");
    let mut reachable = vec![0u64; program.properties.len().div_ceil(64).max(1)];
    for (number, _) in program.properties.iter().enumerate().filter(|(_, property)| property.kind.asks_to_reach()) {
        reachable[number / 64] |= 1 << (number % 64);
    }
    let words: Vec<String> = reachable.iter().map(|word| format!("{word:#x}ull")).collect();
    let _ = writeln!(out, "\n// Properties that ask to be reached.\nWF_TABLE u64 reachable[PROPERTY_WORDS] = {{{}}};", words.join(", "));
}

/// Which faults only say that a representation ran out.
fn write_limits(program: &Program, out: &mut String) {
    let _ = writeln!(
        out,
        "\n// Whether a fault speaks about a limit, and not against the model.\nWF_INLINE bool is_limit(int fault) {{\n  switch (fault) {{"
    );
    for (number, _) in program.faults.iter().enumerate().filter(|(_, site)| !site.class.is_violation()) {
        let _ = writeln!(out, "  case FAULT({number}): return true;");
    }
    let _ = writeln!(out, "  }}\n  return false;\n}}");
}

/// The values of a member's parameters.
fn write_values(rule: &Rule, out: &mut String) {
    let mut slower = rule.instances();
    for (number, parameter) in rule.parameters.iter().enumerate() {
        slower /= u64::from(parameter.count.max(1));
        let (from, by) = (Val::constant(parameter.from).text, Val::constant(parameter.by).text);
        let step = match slower {
            1 => format!("member % {}u", parameter.count.max(1)),
            slower => format!("member / {slower}u % {}u", parameter.count.max(1)),
        };
        let _ = writeln!(out, "    i64 p{number} = add({from}, mul((i64)({step}), {by}));");
    }
}

fn names(rule: &Rule) -> String {
    (0..rule.parameters.len()).map(|parameter| format!(", p{parameter}")).collect()
}

/// Whether evaluating an expression can meet a fault; calls count as if they could.
fn can_fault(expr: &Expr) -> bool {
    let mut found = false;
    walk::expressions(expr, &mut |expr| {
        found |= match expr {
            Expr::Checked { .. } | Expr::Require { .. } | Expr::Call { .. } | Expr::Loop(_) => true,
            Expr::Load { place, .. } => !place.indices.is_empty(),
            _ => false,
        }
    });
    found
}

/// Whether some command or function covers a property.
pub(super) fn covers(program: &Program) -> bool {
    let mut found = false;
    let bodies = program.rules.iter().map(|rule| &rule.command).chain(program.functions.iter().map(|function| &function.body));
    bodies.for_each(|body| walk::statements(&body.block, &mut |statement| found |= matches!(statement, Stmt::Cover(_))));
    found
}

fn parts_with_calls(bounds: &Bounds, expr: &Expr) -> usize {
    let mut parts = bounds::nodes(expr);
    walk::expressions(expr, &mut |expr| {
        if let Expr::Call { function, .. } = expr {
            parts = parts.saturating_add(bounds.nodes(function.0 as usize));
        }
    });
    parts
}
