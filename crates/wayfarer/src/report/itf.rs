//! Witnesses in the Informal Trace Format (ITF), a JSON format that other tools read: variables as values, states in
//! order. Information that ITF does not define goes into `#meta`: the rule that led to each state, and the violation
//! at the end.

use crate::report::WitnessReport;
use crate::subject::Subject;
use serde_json::{Map, Value, json};

/// A witness as read from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The start state's name.
    pub start: String,
    /// The rule that led to each state after the first, as text; a last one that fails has no state.
    pub rules: Vec<String>,
    /// The variables' values in each state.
    pub states: Vec<Value>,
    /// The violation at the end, as text.
    pub violation: Option<String>,
}

/// A witness as an ITF object. `violation` is the violation at its end.
pub fn write(subject: &dyn Subject, witness: &WitnessReport, violation: &str) -> Value {
    let mut states = Vec::new();
    for (index, state) in witness.raw.states.iter().enumerate() {
        let mut object = Map::new();
        let by =
            if index == 0 { json!({ "index": 0, "start": witness.start }) } else { json!({ "index": index, "rule": witness.steps[index - 1].rule }) };
        object.insert("#meta".to_string(), by);
        object.extend(subject.words().itf(state));
        states.push(Value::Object(object));
    }
    let names: Vec<String> =
        witness.raw.states.first().map_or_else(Vec::new, |state| subject.words().itf(state).into_iter().map(|(name, _)| name).collect());
    let last = witness.steps.get(witness.raw.states.len().saturating_sub(1)).map(|step| step.rule.clone());
    json!({
        "#meta": {
            "format": "ITF",
            "description": "a witness found by wayfarer",
            "source": subject.source(),
            "start": witness.start,
            "violation": violation,
            "failing_rule": last,
        },
        "params": [],
        "vars": names,
        "states": states,
    })
}

/// Reads a witness back; the error says what is missing.
pub fn read(object: &Value) -> Result<Trace, String> {
    let states = object.get("states").and_then(Value::as_array).ok_or("this is not an ITF trace: it has no list `states`")?;
    let meta = object.get("#meta");
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_string);
    let first = states.first().and_then(|state| state.get("#meta")).and_then(|meta| meta.get("start"));
    let start =
        text(first).or_else(|| text(meta.and_then(|meta| meta.get("start")))).ok_or("the trace does not name its start state (`#meta.start`)")?;
    let mut rules = Vec::new();
    for (index, state) in states.iter().enumerate().skip(1) {
        let rule = state.get("#meta").and_then(|meta| meta.get("rule"));
        rules.push(text(rule).ok_or_else(|| format!("state {index} does not name the rule that led to it (`#meta.rule`)"))?);
    }
    rules.extend(text(meta.and_then(|meta| meta.get("failing_rule"))));
    let states = states.iter().map(without_meta).collect();
    Ok(Trace { start, rules, states, violation: text(meta.and_then(|meta| meta.get("violation"))) })
}

fn without_meta(state: &Value) -> Value {
    let mut state = state.clone();
    if let Some(object) = state.as_object_mut() {
        object.remove("#meta");
    }
    state
}
