//! A program of the IR as the subject of a run: compiled or interpreted, with symmetry reduction of its scalarsets,
//! and described in the terms of its model.

mod depends;
mod info;

use crate::report::Change;
use crate::subject::running::{Executable, most_code};
use crate::subject::values;
use crate::subject::{Facts, FaultFacts, PropertyFacts, Replaying, Representatives, RuleFacts, Running, Subject, Symmetric, Used, ValueFacts, Words};
use crate::{Kind, Plan, RunError, SymmetryChoice};
use serde_json::{Map, Value};
use std::sync::Arc;
use wayfarer_ir::passing::Passing;
use wayfarer_ir::symmetry::{Doubts, Orbits, Symmetry};
use wayfarer_ir::{Asymmetry, At, FaultKind, Interpreter, Program};
use wayfarer_search::{Deadlock, Dependence, WitnessError};
use wayfarer_space::{Fault, Fired, Firing, Space, States, Word};

/// Anything that is a program of the IR: a type that implements this is a [`Subject`] that is compiled, interpreted,
/// replayed and explored up to symmetry. A language that shows its states in another form than its program's
/// variables provides its own [`Words`].
pub trait Programmed: Send + Sync {
    /// The program.
    fn program(&self) -> &Arc<Program>;

    /// Its descriptions.
    fn words(&self) -> &dyn Words {
        &**self.program()
    }

    /// As [`Subject::deadlock`].
    fn deadlock(&self) -> Deadlock {
        Deadlock::default()
    }

    /// As [`Subject::widened`].
    fn widened(&self, limit: Fault) -> Option<Arc<dyn Subject>> {
        let _ = limit;
        None
    }

    /// As [`Subject::can_widen`].
    fn can_widen(&self) -> bool {
        false
    }

    /// As [`Subject::rules`].
    fn rules(&self) -> Vec<RuleFacts> {
        let program = self.program();
        let facts = |rule: &wayfarer_ir::Rule| RuleFacts { name: rule.name.clone(), at: place(program, rule.at), instances: rule.instances() as u32 };
        program.rules.iter().map(facts).collect()
    }

    /// As [`Subject::properties`].
    fn properties(&self) -> Vec<PropertyFacts> {
        let program = self.program();
        program.properties.iter().map(|property| property_facts(program, property)).collect()
    }

    /// As [`Subject::same_rule`].
    fn same_rule(&self, one: Firing, other: Firing) -> bool {
        let family = |firing: Firing| self.program().rule_of(firing.rule).map(|(family, _)| family);
        family(one) == family(other)
    }

    /// As [`Subject::is_counted`].
    fn is_counted(&self, rule: u32) -> bool {
        let _ = rule;
        true
    }

    /// As [`Subject::statements`].
    fn statements(&self, rule: u32) -> (&[u32], &[u32]) {
        let _ = rule;
        (&[], &[])
    }

    /// As [`Subject::unjudged`].
    fn unjudged(&self) -> Vec<(Kind, String)> {
        self.program().unjudged.iter().map(|name| (Kind::Liveness, name.clone())).collect()
    }

    /// As [`Subject::may_be_empty`].
    fn may_be_empty(&self) -> bool {
        true
    }

    /// As [`Subject::facts`].
    fn facts(&self) -> Facts {
        info::facts(self.program())
    }

    /// As [`Subject::is_called`].
    fn is_called(&self, rule: u32, name: &str) -> bool {
        let program = self.program();
        // A name alone means every instance; with its parameters' values, as reports write it, one instance.
        let family = program.rule_of(rule).map(|(family, _)| &program.rules[family]);
        family.is_some_and(|family| family.name == name) || self.words().firing(None, Firing::of(rule)).0 == name
    }
}

impl Programmed for Arc<Program> {
    fn program(&self) -> &Arc<Program> {
        self
    }
}

impl<P: Programmed> Subject for P {
    fn source(&self) -> &str {
        &self.program().source
    }

    fn words(&self) -> &dyn Words {
        Programmed::words(self)
    }

    fn running<'a>(&'a self, plan: &Plan, memory: usize) -> Box<dyn Running + 'a> {
        Box::new(Executable::new(self.program(), plan, memory))
    }

    fn most_code(&self, plan: &Plan, memory: usize) -> Option<usize> {
        (cfg!(feature = "jit") && !plan.interpret).then(|| most_code(memory))
    }

    fn replaying<'a>(&'a self, plan: &Plan) -> Box<dyn Replaying + 'a> {
        let interpreter = Interpreter::new(self.program().clone(), plan.code_limits());
        match self.program().passing {
            Some(field) => Box::new(Passing::new(Box::new(interpreter), field)),
            None => Box::new(interpreter),
        }
    }

    #[cfg(feature = "gpu")]
    fn for_device(&self) -> Option<&Arc<Program>> {
        Some(self.program())
    }

    fn symmetry<'a>(&'a self, plan: &Plan) -> Result<Used<'a>, RunError> {
        let (symmetry, remark) = symmetry(plan, self.program())?;
        Ok((symmetry.map(|symmetry| Box::new(symmetry) as Box<dyn Symmetric>), remark))
    }

    fn orbit_sizes(&self, states: &States) -> Option<Vec<usize>> {
        unshown(self.program())?.orbit_sizes(states.iter(), MOST_TRIED)
    }

    fn most_in_an_orbit(&self) -> Option<f64> {
        Some(unshown(self.program())?.most_in_an_orbit())
    }

    fn refuted_symmetry(&self) -> Option<String> {
        let first = self.program().asymmetries.first()?;
        let why = format!("{} ({})", first.message, place(self.program(), first.at));
        Some(format!("symmetry is not used: the run began again without it when a step showed that the order matters; {why}"))
    }

    fn rules(&self) -> Vec<RuleFacts> {
        Programmed::rules(self)
    }

    fn properties(&self) -> Vec<PropertyFacts> {
        Programmed::properties(self)
    }

    fn is_called(&self, rule: u32, name: &str) -> bool {
        Programmed::is_called(self, rule, name)
    }

    fn same_rule(&self, one: Firing, other: Firing) -> bool {
        Programmed::same_rule(self, one, other)
    }

    fn deadlock(&self) -> Deadlock {
        Programmed::deadlock(self)
    }

    fn widened(&self, limit: Fault) -> Option<Arc<dyn Subject>> {
        Programmed::widened(self, limit)
    }

    fn can_widen(&self) -> bool {
        Programmed::can_widen(self)
    }

    fn is_counted(&self, rule: u32) -> bool {
        Programmed::is_counted(self, rule)
    }

    fn statements(&self, rule: u32) -> (&[u32], &[u32]) {
        Programmed::statements(self, rule)
    }

    fn unjudged(&self) -> Vec<(Kind, String)> {
        Programmed::unjudged(self)
    }

    fn may_be_empty(&self) -> bool {
        Programmed::may_be_empty(self)
    }

    fn facts(&self) -> Facts {
        Programmed::facts(self)
    }

    fn dependence<'a>(&'a self) -> Option<Box<dyn Dependence + 'a>> {
        depends::of(self.program()).map(|depends| Box::new(depends) as Box<dyn Dependence>)
    }

    fn failing(&self, plan: &Plan, property: u32, state: &[Word]) -> Option<String> {
        let program = self.program();
        let conjuncts = program.properties[property as usize].conjuncts.len();
        if conjuncts < 2 {
            return None;
        }
        let interpreter = Interpreter::new(program.clone(), plan.code_limits());
        let (index, at) = interpreter.failing_conjunct(property, state)?;
        Some(format!("conjunct {} of {conjuncts} is false, at {}", index + 1, place(program, at)))
    }

    fn breaks_symmetry(&self, error: WitnessError) -> RunError {
        // A model that was shown to be symmetric is symmetric, unless this program is wrong.
        if self.program().asymmetries.is_empty() { RunError::Replay(error) } else { RunError::BrokenSymmetry }
    }
}

impl Words for Program {
    fn firing(&self, _from: Option<&[Word]>, firing: Firing) -> (String, String) {
        let at = self.rule_of(firing.rule).map_or_else(String::new, |(family, _)| place(self, self.rules[family].at));
        (self.describe_rule(firing.rule), at)
    }

    fn chosen(&self, from: &[Word], firing: Firing) -> Vec<(String, String)> {
        Program::chosen(self, from, firing.rule)
    }

    fn start(&self, number: u32) -> String {
        self.describe_start(number)
    }

    fn fault(&self, fault: Fault, plan: &Plan) -> FaultFacts {
        let site = &self.faults[fault.0 as usize];
        let kind = match site.kind {
            FaultKind::Assertion => Kind::Assertion,
            FaultKind::Error => Kind::Error,
            _ => Kind::Fault,
        };
        let endless = (site.kind == FaultKind::Endless)
            .then(|| format!("one firing may take {} loop rounds and calls; the option `loop-limit` changes that", plan.loop_limit));
        FaultFacts { kind, message: site.message.clone(), at: place(self, site.at), note: endless }
    }

    fn values(&self, state: &[Word]) -> Vec<ValueFacts> {
        self.scalars(state)
            .map(|leaf| ValueFacts { path: leaf.path.to_string(), value: leaf.text(), defined: leaf.scalar.value(leaf.stored).is_some() })
            .collect()
    }

    fn changes(&self, old: &[Word], new: &[Word]) -> Vec<Change> {
        let differences = self.differences(old, new);
        differences.into_iter().map(|difference| Change { path: difference.path, from: difference.old, to: difference.new }).collect()
    }

    fn itf(&self, state: &[Word]) -> Map<String, Value> {
        values::values(self, state)
    }
}

impl Replaying for Interpreter {
    fn space(&self) -> &dyn Space {
        self
    }

    fn start(&self, number: u32, out: &mut Vec<Word>, printed: &mut Vec<String>) -> Fired {
        self.start_printing(number, out, printed)
    }

    fn fire(&self, state: &[Word], firing: Firing, out: &mut Vec<Word>, printed: &mut Vec<String>) -> Fired {
        self.fire_printing(state, firing, out, printed)
    }
}

impl Replaying for Passing<Box<Interpreter>> {
    fn space(&self) -> &dyn Space {
        self
    }

    fn start(&self, number: u32, out: &mut Vec<Word>, printed: &mut Vec<String>) -> Fired {
        self.inner().start_printing(number, out, printed)
    }

    fn fire(&self, state: &[Word], firing: Firing, out: &mut Vec<Word>, printed: &mut Vec<String>) -> Fired {
        // The run is made again step by step, and prints again.
        let mut from = state.to_vec();
        for (firing, next) in self.way(state, firing).unwrap_or_default() {
            self.inner().fire_printing(&from, firing, &mut Vec::new(), printed);
            from = next;
        }
        Space::fire(self, state, firing, out)
    }
}

/// The symmetry of a program, and what remains to be checked of it during the run.
struct Scalarsets {
    symmetry: Symmetry,
    doubts: Option<Doubts>,
}

impl Symmetric for Scalarsets {
    fn orbits<'a>(&'a self, inner: &'a dyn Space) -> Box<dyn Representatives + 'a> {
        Box::new(Orbits::new(inner, &self.symmetry).checking(self.doubts.as_ref()))
    }

    fn is_refuted(&self) -> bool {
        self.doubts.as_ref().is_some_and(Doubts::are_justified)
    }

    fn is_doubtful(&self) -> bool {
        self.doubts.is_some()
    }

    fn rest(&self) {
        self.doubts.iter().for_each(Doubts::rest);
    }
}

impl Representatives for Orbits<'_> {
    fn space(&self) -> &dyn Space {
        self
    }

    fn concrete(&self, states: &[Vec<Word>]) -> Vec<Vec<Word>> {
        Orbits::concrete(self, states)
    }

    fn representative(&self, state: &mut Vec<Word>) {
        Orbits::representative(self, state);
    }
}

impl Plan {
    pub(crate) fn code_limits(&self) -> wayfarer_ir::Limits {
        wayfarer_ir::Limits { fuel: self.loop_limit, ..wayfarer_ir::Limits::default() }
    }
}

/// The symmetry that a run uses, if any, and a remark that explains the choice if the user may wonder.
fn symmetry(plan: &Plan, program: &Program) -> Result<(Option<Scalarsets>, Option<String>), RunError> {
    if plan.symmetry == SymmetryChoice::Off {
        return Ok((None, None));
    }
    let on = plan.symmetry == SymmetryChoice::On;
    let symmetry = match Symmetry::of(program) {
        Ok(Some(symmetry)) => symmetry,
        Ok(None) => return Ok((None, on.then(|| "the model has no scalarset of two elements or more, so there is no symmetry to use".to_string()))),
        Err(error) if on => return Err(RunError::Asymmetric { at: program.source.clone(), message: error.to_string() }),
        Err(error) => return Ok((None, Some(format!("symmetry is not used: {error}")))),
    };
    if let Some(name) = plan.find_rules.iter().find(|name| !program.rules.iter().any(|rule| rule.name == **name)) {
        // The goal is one instance of a rule, and its parameters may be elements.
        let message = format!("`{name}` is one instance of a rule");
        return if on {
            Err(RunError::Asymmetric { at: program.source.clone(), message })
        } else {
            Ok((None, Some(format!("symmetry is not used: {message}"))))
        };
    }
    let place = |asymmetry: &Asymmetry| format!("{}:{}:{}", program.source, asymmetry.at.line, asymmetry.at.column);
    let certain = program.asymmetries.iter().find(|asymmetry| asymmetry.certain);
    let Some(first) = certain.or(program.asymmetries.first()) else { return Ok((Some(Scalarsets { symmetry, doubts: None }), None)) };
    let why = format!("{} ({})", first.message, place(first));
    if on {
        let word = || format!("symmetry is used on your word: {why}");
        return match certain {
            Some(first) => Err(RunError::Asymmetric { at: place(first), message: first.message.clone() }),
            None => Ok((Some(Scalarsets { symmetry, doubts: None }), Some(word()))),
        };
    }
    match Doubts::of(program, &symmetry) {
        Some(doubts) => {
            let remark = format!("symmetry is used and checked during the run (--symmetry on leaves out the checks, which take time), because {why}");
            Ok((Some(Scalarsets { symmetry, doubts: Some(doubts) }), Some(remark)))
        }
        None => Ok((None, Some(format!("symmetry is not used: {why}")))),
    }
}

/// The most permutations that are tried to find the size of an orbit.
const MOST_TRIED: usize = 720;

/// The symmetry of a program that nothing refutes and nothing shows.
fn unshown(program: &Program) -> Option<Symmetry> {
    if program.asymmetries.is_empty() || program.asymmetries.iter().any(|asymmetry| asymmetry.certain) {
        return None;
    }
    Symmetry::of(program).ok().flatten()
}

/// `file:line:column`.
pub(crate) fn place(program: &Program, at: At) -> String {
    if at.line == 0 { program.source.clone() } else { format!("{}:{}:{}", program.source, at.line, at.column) }
}

/// A property of a program.
fn property_facts(program: &Program, property: &wayfarer_ir::Property) -> PropertyFacts {
    PropertyFacts { name: property.name.clone(), at: place(program, property.at), kind: property.kind }
}
