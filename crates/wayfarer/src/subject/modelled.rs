//! A Rust model as the subject of a run.

use crate::report::Change;
use crate::subject::{FaultFacts, Plain, PropertyFacts, Replaying, Representatives, RuleFacts, Running, Subject, Symmetric, Used, ValueFacts, Words};
use crate::{Kind, Plan, RunError, SymmetryChoice};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use wayfarer_model::{Coded, KINDS, Model, ModelSpace, WANTED};
use wayfarer_search::WitnessError;
use wayfarer_space::{Fault, Firing, Space, Word, way_through};

/// A model whose states are encoded in the way `How`.
pub struct Modelled<M: Model, How> {
    name: String,
    space: ModelSpace<M, How>,
}

impl<M: Model, How> Modelled<M, How>
where
    M::State: Coded<How>,
{
    /// The subject of a run of the model. Its name in reports is that of its type.
    pub fn new(model: M) -> Self {
        Modelled { name: short_name(std::any::type_name::<M>()), space: ModelSpace::new(Arc::new(model)) }
    }

    /// The same under another name.
    pub fn named(self, name: impl Into<String>) -> Self {
        Modelled { name: name.into(), ..self }
    }
}

/// The last part of a type's path, without its arguments.
fn short_name(path: &str) -> String {
    let plain = path.split('<').next().unwrap_or(path);
    plain.rsplit("::").next().unwrap_or(plain).to_string()
}

impl<M: Model + 'static, How: 'static> Subject for Modelled<M, How>
where
    M::State: Coded<How>,
{
    fn source(&self) -> &str {
        &self.name
    }

    fn words(&self) -> &dyn Words {
        self
    }

    fn running<'a>(&'a self, plan: &Plan, _memory: usize) -> Box<dyn Running + 'a> {
        Box::new(Plain(self.space.looking_for(&plan.find_rules)))
    }

    fn replaying<'a>(&'a self, plan: &Plan) -> Box<dyn Replaying + 'a> {
        Box::new(Plain(self.space.looking_for(&plan.find_rules)))
    }

    fn symmetry<'a>(&'a self, plan: &Plan) -> Result<Used<'a>, RunError> {
        let on = plan.symmetry == SymmetryChoice::On;
        if plan.symmetry == SymmetryChoice::Off {
            return Ok((None, None));
        }
        let Some(folded) = self.space.looking_for(&plan.find_rules).folded() else {
            return Ok((None, on.then(|| "the model gives no representatives (`symmetry`), so there is no symmetry to use".to_string())));
        };
        let plain = |name: &str| name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        match plan.find_rules.iter().find(|name| !plain(name)) {
            Some(name) if !on => Ok((None, Some(format!("symmetry is not used: `{name}` is one action of several that are alike")))),
            _ => Ok((Some(Box::new(folded)), None)),
        }
    }

    fn rules(&self) -> Vec<RuleFacts> {
        let mut rules = vec![RuleFacts { name: String::new(), at: String::new(), instances: 1 }; KINDS as usize];
        for (number, name) in self.space.rule_names() {
            rules[number as usize].name = name;
        }
        rules
    }

    fn properties(&self) -> Vec<PropertyFacts> {
        let facts = self.space.named_properties().iter();
        facts.map(|property| PropertyFacts { name: property.name.clone(), at: property.at.clone(), kind: property.kind }).collect()
    }

    fn is_called(&self, rule: u32, _name: &str) -> bool {
        // Actions are known only when they happen: those searched for get a rule of their own.
        rule == WANTED
    }

    fn does_not_replay(&self, _plan: &Plan, error: WitnessError) -> RunError {
        RunError::NotRepeated(error)
    }

    fn is_bounded(&self) -> bool {
        true
    }

    fn misuse(&self) -> Option<RunError> {
        self.space.faults().misuse().cloned().map(RunError::Misuse)
    }

    fn breaks_symmetry(&self, _error: WitnessError) -> RunError {
        RunError::NotSymmetric
    }
}

impl<M: Model + 'static, How: 'static> Words for Modelled<M, How>
where
    M::State: Coded<How>,
{
    fn firing(&self, from: Option<&[Word]>, firing: Firing) -> (String, String) {
        let action = from.and_then(|state| self.space.action(state, firing));
        let name = || self.space.rule_names().into_iter().find(|(number, _)| *number == firing.rule).map(|(_, name)| name);
        (action.or_else(name).unwrap_or_else(|| "actions".to_string()), String::new())
    }

    fn start(&self, number: u32) -> String {
        number.to_string()
    }

    fn fault(&self, fault: Fault, _plan: &Plan) -> FaultFacts {
        let (message, at) = self.space.faults().describe(fault);
        FaultFacts { kind: Kind::Fault, message: format!("panic: {message}"), at, note: None }
    }

    fn values(&self, state: &[Word]) -> Vec<ValueFacts> {
        self.space.shape(state).leaves().into_iter().map(|(path, value)| ValueFacts { path, value, defined: true }).collect()
    }

    fn changes(&self, old: &[Word], new: &[Word]) -> Vec<Change> {
        let differences = self.space.shape(old).differences(&self.space.shape(new));
        differences.into_iter().map(|difference| Change { path: difference.path, from: difference.old, to: difference.new }).collect()
    }

    fn itf(&self, state: &[Word]) -> Map<String, Value> {
        self.space.shape(state).leaves().into_iter().map(|(path, value)| (path, json!(value))).collect()
    }
}

impl<M: Model + 'static, How> Symmetric for ModelSpace<M, How>
where
    M::State: Coded<How>,
{
    fn orbits<'a>(&'a self, inner: &'a dyn Space) -> Box<dyn Representatives + 'a> {
        Box::new(Folded { folded: self, inner })
    }
}

/// The representatives of a model's states.
struct Folded<'a, M: Model, How> {
    folded: &'a ModelSpace<M, How>,
    inner: &'a dyn Space,
}

impl<M: Model + 'static, How> Representatives for Folded<'_, M, How>
where
    M::State: Coded<How>,
{
    fn space(&self) -> &dyn Space {
        self.folded
    }

    fn representative(&self, state: &mut Vec<Word>) {
        *state = self.folded.representative(state);
    }

    fn concrete(&self, states: &[Vec<Word>]) -> Vec<Vec<Word>> {
        way_through(self.inner, states, |state, goal| self.folded.representative(state) == goal)
    }
}
