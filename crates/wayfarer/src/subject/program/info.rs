//! The parts of a program as tables.

use super::{place, property_facts};
use crate::Kind;
use crate::sizes::{count, counted};
use crate::subject::{Facts, Table};
use serde_json::{Value, json};
use wayfarer_ir::{Names, Program, Rule, Scalar, Type, TypeId};

/// The parts of a program.
pub(super) fn facts(program: &Program) -> Facts {
    let instances = program.rules.iter().map(Rule::instances).sum::<u64>();
    let (bits, words) = (counted(program.state_bits() as u64, "bit"), counted(u64::from(program.words), "word"));
    let variables = program.variables.iter().map(|variable| {
        let bits = count(tight_bits(program, variable.ty));
        let at = format!("{}:{}", variable.offset / 64, variable.offset % 64);
        vec![variable.name.clone(), bits, at, shortened(type_text(program, variable.ty))]
    });
    let rules = |heading: String, rules: &[Rule]| Table {
        heading,
        columns: vec!["name", "instances", "at"],
        rows: rules.iter().map(|rule| rule_row(program, rule)).collect(),
    };
    let all = format!("rules ({} with all values of their parameters)", counted(instances, "rule"));
    Facts {
        summary: format!("a state has {bits} ({words} in memory while it is worked on)"),
        tables: vec![
            Table { heading: "variables".to_string(), columns: vec!["name", "bits", "word:bit", "type"], rows: variables.collect() },
            rules("start states".to_string(), &program.starts),
            rules(all, &program.rules),
            Table::of_properties(program.properties.iter().map(|property| property_facts(program, property)).collect()),
        ],
        json: to_json(program).as_object().cloned().unwrap_or_default(),
    }
}

fn to_json(program: &Program) -> Value {
    let rule = |rule: &Rule| {
        let parameters: Vec<Value> = rule
            .parameters
            .iter()
            .map(|parameter| json!({ "name": parameter.name, "type": type_text(program, parameter.ty), "values": parameter.count }))
            .collect();
        json!({ "name": rule.name, "at": place(program, rule.at), "instances": rule.instances(), "parameters": parameters })
    };
    json!({
        "state_bits": program.state_bits(),
        "words": program.words,
        "variables": program.variables.iter().map(|variable| json!({
            "name": variable.name,
            "type": type_text(program, variable.ty),
            "at": place(program, variable.at),
            "bits": tight_bits(program, variable.ty),
            "layout_bits": program.types[variable.ty.0 as usize].bits(),
            "word": variable.offset / 64,
            "bit": variable.offset % 64,
        })).collect::<Vec<_>>(),
        "start_states": program.starts.iter().map(rule).collect::<Vec<_>>(),
        "rules": program.rules.iter().map(rule).collect::<Vec<_>>(),
        "properties": program.properties.iter().map(|property| json!({
            "name": property.name,
            "kind": Kind::word_of(property.kind),
            "at": place(program, property.at),
            "conjuncts": property.conjuncts.len(),
        })).collect::<Vec<_>>(),
        "functions": program.functions.iter().map(|function| json!({ "name": function.name, "at": place(program, function.at) })).collect::<Vec<_>>(),
    })
}

fn rule_row(program: &Program, rule: &Rule) -> Vec<String> {
    let parameters =
        rule.parameters.iter().map(|parameter| format!(", {}: {}", parameter.name, type_text(program, parameter.ty))).collect::<String>();
    vec![format!("{}{parameters}", rule.name), count(rule.instances()), place(program, rule.at)]
}

/// The number of bits of a type that carry information.
fn tight_bits(program: &Program, ty: TypeId) -> u64 {
    match &program.types[ty.0 as usize] {
        Type::Scalar(scalar) => u64::from(scalar.bits),
        Type::Record { fields, .. } => fields.iter().map(|field| tight_bits(program, field.ty)).sum(),
        Type::Array { element, count, .. } => u64::from(*count) * tight_bits(program, *element),
        Type::Bag { element, capacity, .. } => u64::from(*capacity) * (1 + tight_bits(program, *element)),
    }
}

/// Nested records can fill a screen; `--json` shows them whole.
fn shortened(text: String) -> String {
    const MOST: usize = 100;
    if text.chars().count() <= MOST { text } else { format!("{}…", text.chars().take(MOST).collect::<String>()) }
}

/// A type as it might be written in a model.
fn type_text(program: &Program, ty: TypeId) -> String {
    match &program.types[ty.0 as usize] {
        Type::Scalar(scalar) => scalar_text(scalar),
        Type::Record { fields, .. } => {
            let fields: Vec<String> = fields.iter().map(|field| format!("{}: {}", field.name, type_text(program, field.ty))).collect();
            format!("record {{{}}}", fields.join("; "))
        }
        Type::Array { index, element, .. } => format!("array [{}] of {}", type_text(program, *index), type_text(program, *element)),
        Type::Bag { element, capacity, .. } => format!("multiset [{capacity}] of {}", type_text(program, *element)),
    }
}

fn scalar_text(scalar: &Scalar) -> String {
    match (&scalar.name, &scalar.names) {
        (Some(name), _) => name.clone(),
        (None, Names::Names(names)) if names == &["false", "true"] => "boolean".to_string(),
        (None, Names::Names(names)) => format!("enum {{{}}}", names.join(", ")),
        (None, Names::Numbers) => format!("{}..{}", scalar.low, i128::from(scalar.low) + i128::from(scalar.count) - 1),
    }
}
