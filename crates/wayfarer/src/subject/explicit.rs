//! An explicit graph as the subject of a run: labels are its rules, and a state is its number.

use crate::report::Change;
use crate::sizes::{count, counted};
use crate::subject::{Facts, FaultFacts, Plain, PropertyFacts, Replaying, RuleFacts, Running, Subject, Table, Used, ValueFacts, Words};
use crate::{Kind, Plan, RunError, SymmetryChoice};
use serde_json::{Map, Value, json};
use wayfarer_space::{Fault, Firing, Graph, PropertyKind, Space, States, Steps, Word};

/// A graph with names for its labels.
#[derive(Clone, Debug, Default)]
pub struct Explicit {
    /// Its name in reports.
    pub name: String,
    /// The graph.
    pub graph: Graph,
    /// The names of its labels by number; the number is the name of a label without one.
    pub labels: Vec<String>,
}

impl Explicit {
    fn label(&self, rule: u32) -> String {
        self.labels.get(rule as usize).cloned().unwrap_or_else(|| format!("edge {rule}"))
    }

    /// The number of transitions of each label.
    fn transitions(&self) -> Vec<u64> {
        let mut counts = vec![0; self.graph.rules() as usize];
        let mut batch = States::new(self.graph.width());
        (0..self.graph.nodes()).for_each(|node| batch.push(&[u64::from(node)]));
        let mut steps = Steps::new(self.graph.width());
        self.graph.expand(&batch, Firing::of(0), &mut steps);
        steps.firings.iter().for_each(|firing| counts[firing.rule as usize] += 1);
        counts
    }
}

impl Subject for Explicit {
    fn source(&self) -> &str {
        &self.name
    }

    fn words(&self) -> &dyn Words {
        self
    }

    fn running<'a>(&'a self, _plan: &Plan, _memory: usize) -> Box<dyn Running + 'a> {
        Box::new(Plain(self.graph.clone()))
    }

    fn replaying<'a>(&'a self, _plan: &Plan) -> Box<dyn Replaying + 'a> {
        Box::new(Plain(self.graph.clone()))
    }

    fn symmetry<'a>(&'a self, plan: &Plan) -> Result<Used<'a>, RunError> {
        let on = plan.symmetry == SymmetryChoice::On;
        Ok((None, on.then(|| "a graph has no scalarsets, so there is no symmetry to use".to_string())))
    }

    fn rules(&self) -> Vec<RuleFacts> {
        (0..self.graph.rules()).map(|rule| RuleFacts { name: self.label(rule), at: self.name.clone(), instances: 1 }).collect()
    }

    fn properties(&self) -> Vec<PropertyFacts> {
        let avoided = || PropertyFacts { name: "bad nodes are avoided".to_string(), at: self.name.clone(), kind: PropertyKind::Always };
        (0..self.graph.properties()).map(|_| avoided()).collect()
    }

    fn is_called(&self, rule: u32, name: &str) -> bool {
        self.label(rule) == name
    }

    fn facts(&self) -> Facts {
        let transitions = self.transitions();
        let (states, all) = (self.graph.nodes(), transitions.iter().sum());
        let label = |(rule, many): (usize, &u64)| json!({ "name": self.label(rule as u32), "transitions": many });
        let labels: Vec<Value> = transitions.iter().enumerate().map(label).collect();
        let json = json!({ "state_bits": self.graph.packing().bits(), "words": 1, "states": states, "transitions": all, "labels": labels });
        let row = |(rule, many): (usize, &u64)| vec![count(*many), self.label(rule as u32)];
        Facts {
            summary: format!("a graph of {} and {}", counted(u64::from(states), "state"), counted(all, "transition")),
            tables: vec![Table {
                heading: "labels".to_string(),
                columns: vec!["transitions", "label"],
                rows: transitions.iter().enumerate().map(row).collect(),
            }],
            json: json.as_object().cloned().unwrap_or_default(),
        }
    }
}

impl Words for Explicit {
    fn firing(&self, _from: Option<&[Word]>, firing: Firing) -> (String, String) {
        (self.label(firing.rule), self.name.clone())
    }

    fn start(&self, number: u32) -> String {
        format!("start {number}")
    }

    fn fault(&self, _fault: Fault, _plan: &Plan) -> FaultFacts {
        FaultFacts { kind: Kind::Fault, message: "unknown fault".to_string(), at: self.name.clone(), note: None }
    }

    fn values(&self, state: &[Word]) -> Vec<ValueFacts> {
        state.iter().map(|node| ValueFacts { path: "state".to_string(), value: node.to_string(), defined: true }).collect()
    }

    fn changes(&self, old: &[Word], new: &[Word]) -> Vec<Change> {
        let differs = old.iter().zip(new).filter(|(old, new)| old != new);
        differs.map(|(old, new)| Change { path: "state".to_string(), from: old.to_string(), to: new.to_string() }).collect()
    }

    fn itf(&self, state: &[Word]) -> Map<String, Value> {
        state.iter().map(|node| ("state".to_string(), json!(node))).collect()
    }
}
