//! `wayfarer info`: what a model consists of.

use crate::model::{self, place, property_kind};
use crate::options::InfoOptions;
use crate::output::{Paint, print};
use crate::sizes::{count, counted};
use crate::{Exit, Failure};
use serde_json::{Value, json};
use wayfarer::ir::{Names, Program, Rule, Scalar, Type, TypeId};
use wayfarer::space::{Firing, Space, States, Steps};
use wayfarer::{Explicit, Opened};

/// Carries out `wayfarer info`.
pub(crate) fn info(options: &InfoOptions) -> Result<Exit, Failure> {
    let text = match model::open(&options.model)? {
        Opened::Program(loaded) if options.json => format!("{}\n", to_json(&loaded.program)),
        Opened::Program(loaded) => to_text(&loaded.program, Paint::stdout()),
        Opened::Graph(graph) if options.json => format!("{}\n", graph_to_json(&graph)),
        Opened::Graph(graph) => graph_to_text(&graph, Paint::stdout()),
    };
    print(&text).map_err(Failure::failed)?;
    Ok(Exit::Well)
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
        "schema": 1,
        "model": program.source,
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
            "kind": property_kind(property.kind),
            "at": place(program, property.at),
            "conjuncts": property.conjuncts.len(),
        })).collect::<Vec<_>>(),
        "functions": program.functions.iter().map(|function| json!({ "name": function.name, "at": place(program, function.at) })).collect::<Vec<_>>(),
    })
}

fn to_text(program: &Program, paint: Paint) -> String {
    let instances = program.rules.iter().map(Rule::instances).sum::<u64>();
    let mut out = format!(
        "{}: a state has {} ({} in memory while it is worked on)\n",
        paint.strong(&program.source),
        counted(program.state_bits() as u64, "bit"),
        counted(u64::from(program.words), "word"),
    );
    let rows = program.variables.iter().map(|variable| {
        let bits = count(tight_bits(program, variable.ty));
        let at = format!("{}:{}", variable.offset / 64, variable.offset % 64);
        vec![variable.name.clone(), bits, at, shortened(type_text(program, variable.ty))]
    });
    table(&mut out, paint, "variables", &["name", "bits", "word:bit", "type"], rows.collect());
    table(&mut out, paint, "start states", &["name", "instances", "at"], program.starts.iter().map(|rule| rule_row(program, rule)).collect());
    let heading = format!("rules ({} with all values of their parameters)", counted(instances, "rule"));
    table(&mut out, paint, &heading, &["name", "instances", "at"], program.rules.iter().map(|rule| rule_row(program, rule)).collect());
    let rows =
        program.properties.iter().map(|property| vec![property.name.clone(), property_kind(property.kind).to_string(), place(program, property.at)]);
    table(&mut out, paint, "properties", &["name", "kind", "at"], rows.collect());
    out
}

fn graph_to_json(graph: &Explicit) -> Value {
    json!({
        "schema": 1,
        "model": graph.name,
        "state_bits": graph.graph.packing().bits(),
        "words": 1,
        "states": graph.graph.nodes(),
        "transitions": transitions(graph).iter().sum::<u64>(),
        "labels": graph.labels.iter().zip(transitions(graph)).map(|(name, count)| json!({ "name": name, "transitions": count })).collect::<Vec<_>>(),
    })
}

fn graph_to_text(graph: &Explicit, paint: Paint) -> String {
    let transitions = transitions(graph);
    let all = counted(transitions.iter().sum(), "transition");
    let mut out = format!("{}: a graph of {} and {all}\n", paint.strong(&graph.name), counted(u64::from(graph.graph.nodes()), "state"));
    let rows = graph.labels.iter().zip(transitions).map(|(name, many)| vec![count(many), name.clone()]);
    table(&mut out, paint, "labels", &["transitions", "label"], rows.collect());
    out
}

/// How many transitions each label has.
fn transitions(graph: &Explicit) -> Vec<u64> {
    let mut counts = vec![0; graph.labels.len()];
    let mut batch = States::new(graph.graph.width());
    (0..graph.graph.nodes()).for_each(|node| batch.push(&[u64::from(node)]));
    let mut steps = Steps::new(graph.graph.width());
    graph.graph.expand(&batch, Firing::of(0), &mut steps);
    steps.firings.iter().for_each(|firing| counts[firing.rule as usize] += 1);
    counts
}

fn rule_row(program: &Program, rule: &Rule) -> Vec<String> {
    let parameters =
        rule.parameters.iter().map(|parameter| format!(", {}: {}", parameter.name, type_text(program, parameter.ty))).collect::<String>();
    vec![format!("{}{parameters}", rule.name), count(rule.instances()), place(program, rule.at)]
}

/// A heading and rows in columns as wide as they need to be; the last column is not padded.
fn table(out: &mut String, paint: Paint, heading: &str, columns: &[&str], rows: Vec<Vec<String>>) {
    out.push_str(&format!("\n{}\n", paint.strong(heading)));
    if rows.is_empty() {
        out.push_str("  none\n");
        return;
    }
    let last = columns.len() - 1;
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).chain([columns[column].len()]).max().unwrap_or(0).min(60);
    let widths: Vec<usize> = (0..last).map(width).collect();
    let line = |cells: &[&str]| {
        let mut text = String::from(" ");
        for (cell, width) in cells.iter().zip(&widths) {
            text.push_str(&format!(" {cell:<width$} "));
        }
        text.push_str(&format!(" {}", cells[last]));
        text
    };
    out.push_str(&format!("{}\n", paint.faint(&line(columns))));
    for row in &rows {
        let cells: Vec<&str> = row.iter().map(String::as_str).collect();
        out.push_str(&format!("{}\n", line(&cells)));
    }
}

/// How many bits of a type carry information.
fn tight_bits(program: &Program, ty: TypeId) -> u64 {
    match &program.types[ty.0 as usize] {
        Type::Scalar(scalar) => u64::from(scalar.bits),
        Type::Record { fields, .. } => fields.iter().map(|field| tight_bits(program, field.ty)).sum(),
        Type::Array { element, count, .. } => u64::from(*count) * tight_bits(program, *element),
        Type::Bag { element, capacity, .. } => u64::from(*capacity) * (1 + tight_bits(program, *element)),
    }
}

/// Records of records can fill a screen; `--json` has them whole.
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
