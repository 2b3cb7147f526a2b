//! From what a search found to what a person reads: witnesses made shorter, mapped back from orbits, replayed, and put into the model's words.

use crate::memory::Budget;
use crate::report::{Change, StepReport, ViolationReport, WitnessReport};
use crate::watch::Deadline;
use crate::{RunError, symmetry};
use wayfarer_ir::symmetry::Orbits;
use wayfarer_ir::{At, FaultKind, Interpreter, Program};
use wayfarer_search::{Cause, Deadlock, Ending, Store, Violation, Witness, WitnessError, shortened};
use wayfarer_space::{Fault, Firing, Space};

/// Writes down what was found, in the model's words.
pub(crate) struct Writer<'a> {
    pub(crate) program: &'a Program,
    pub(crate) interpreter: &'a Interpreter,
    pub(crate) space: &'a dyn Space,
    /// The space of the program itself, and its orbits where these were explored.
    pub(crate) inner: &'a dyn Space,
    pub(crate) orbits: Option<&'a Orbits<'a>>,
    pub(crate) store: &'a dyn Store,
    pub(crate) budget: &'a Budget,
    pub(crate) deadlock: Deadlock,
    pub(crate) loop_limit: u64,
}

impl Writer<'_> {
    pub(crate) fn violation(&self, violation: &Violation, deadline: &mut Deadline) -> Result<ViolationReport, RunError> {
        let mut raw_length = 0;
        let witness = match Witness::trace(self.space, self.store, violation, self.budget) {
            Ok(witness) => {
                raw_length = witness.len();
                let witness = match deadline.until {
                    Some(_) => shortened(self.space, witness, self.deadlock, self.budget, deadline),
                    None => witness.without_loops(),
                };
                let witness = self.concrete(witness)?;
                witness.replay(self.interpreter, self.deadlock != Deadlock::Stuck).map_err(RunError::Replay)?;
                Some(witness)
            }
            Err(WitnessError::NotAboutAState | WitnessError::NoRoom) => None,
            Err(error) => return Err(RunError::Replay(error)),
        };
        let cause = match witness.as_ref().map(|witness| witness.ending) {
            Some(Ending::Fault(firing, fault)) => Cause::Fault(firing, fault),
            Some(Ending::Rule(firing)) => Cause::Rule(firing),
            _ => violation.cause,
        };
        let (kind, name, at, detail) = self.cause(&cause, witness.as_ref());
        Ok(ViolationReport { kind, name, at, detail, witness: witness.map(|witness| self.witness(witness, raw_length)) })
    }

    /// The witness as one of the program, where it was found among orbits.
    pub(crate) fn concrete(&self, witness: Witness) -> Result<Witness, RunError> {
        let Some(orbits) = self.orbits else { return Ok(witness) };
        symmetry::concrete(self.program, self.inner, orbits, witness).map_err(|error| match self.program.asymmetries.is_empty() {
            true => RunError::Replay(error),
            false => RunError::BrokenSymmetry,
        })
    }

    pub(crate) fn cause(&self, cause: &Cause, witness: Option<&Witness>) -> (&'static str, String, String, Option<String>) {
        let program = self.program;
        match *cause {
            Cause::Property(number) => {
                let property = &program.properties[number as usize];
                let last = witness.and_then(|witness| witness.states.last());
                let failing = last.and_then(|state| self.interpreter.failing_conjunct(number, state));
                let detail = failing
                    .filter(|_| property.conjuncts.len() > 1)
                    .map(|(index, at)| format!("conjunct {} of {} is false, at {}", index + 1, property.conjuncts.len(), place(program, at)));
                ("invariant", property.name.clone(), place(program, property.at), detail)
            }
            Cause::PropertyFault(number, fault) => {
                let (_, message, at) = self.fault(fault);
                ("fault", message, at, Some(format!("while judging `{}`", program.properties[number as usize].name)))
            }
            Cause::Deadlock => {
                let detail = if self.deadlock == Deadlock::Stuck { "no rule is enabled" } else { "no rule leads to another state" };
                ("deadlock", "deadlock".to_string(), String::new(), Some(detail.to_string()))
            }
            Cause::Fault(firing, fault) => {
                let (kind, message, at) = self.fault(fault);
                let mut detail = format!("in rule {}", program.describe_rule(firing.rule));
                if program.faults[fault.0 as usize].kind == FaultKind::Endless {
                    detail.push_str(&format!("; one firing may take {} loop rounds and calls, which --loop-limit changes", self.loop_limit));
                }
                (kind, message, at, Some(detail))
            }
            Cause::Start(start, fault) => {
                let (kind, message, at) = self.fault(fault);
                (kind, message, at, Some(format!("in start state {}", program.describe_start(start))))
            }
            Cause::Found(number) => {
                let property = &program.properties[number as usize];
                ("found", property.name.clone(), place(program, property.at), None)
            }
            Cause::Rule(firing) => {
                let at = program.rule_of(firing.rule).map_or_else(String::new, |(family, _)| place(program, program.rules[family].at));
                ("rule", program.describe_rule(firing.rule), at, None)
            }
            Cause::NotReached(number) => {
                let property = &program.properties[number as usize];
                let detail = "every reachable state was visited, and none satisfies it";
                ("cover", property.name.clone(), place(program, property.at), Some(detail.to_string()))
            }
        }
    }

    pub(crate) fn fault(&self, fault: Fault) -> (&'static str, String, String) {
        let site = &self.program.faults[fault.0 as usize];
        let kind = match site.kind {
            FaultKind::Assertion => "assertion",
            FaultKind::Error => "error",
            _ => "fault",
        };
        (kind, site.message.clone(), place(self.program, site.at))
    }

    pub(crate) fn witness(&self, raw: Witness, raw_length: usize) -> WitnessReport {
        let program = self.program;
        let start_state =
            raw.states.first().map_or_else(Vec::new, |state| program.scalars(state).map(|leaf| (leaf.path.to_string(), leaf.text())).collect());
        let mut steps: Vec<StepReport> = raw
            .firings
            .iter()
            .zip(raw.states.windows(2))
            .map(|(firing, pair)| StepReport { changes: self.changes(&pair[0], &pair[1]), ..self.step(*firing) })
            .collect();
        if let Ending::Rule(firing) = raw.ending {
            let mut after = Vec::new();
            let last = raw.states.last().map_or(&[] as &[u64], Vec::as_slice);
            self.interpreter.fire(last, firing, &mut after);
            steps.push(StepReport { changes: self.changes(last, &after), ..self.step(firing) });
        }
        if let Ending::Fault(firing, fault) = raw.ending {
            let (_, message, at) = self.fault(fault);
            steps.push(StepReport { fault: Some(format!("{message} ({at})")), ..self.step(firing) });
        }
        WitnessReport { length: raw.len(), raw_length, start: program.describe_start(raw.start), start_state, steps, raw }
    }

    pub(crate) fn step(&self, firing: Firing) -> StepReport {
        let at = self.program.rule_of(firing.rule).map_or_else(String::new, |(family, _)| place(self.program, self.program.rules[family].at));
        StepReport { rule: self.program.describe_rule(firing.rule), at, changes: Vec::new(), fault: None }
    }

    pub(crate) fn changes(&self, old: &[u64], new: &[u64]) -> Vec<Change> {
        let differences = self.program.differences(old, new);
        differences.into_iter().map(|difference| Change { path: difference.path, from: difference.old, to: difference.new }).collect()
    }
}

/// `file:line:column`.
pub(crate) fn place(program: &Program, at: At) -> String {
    if at.line == 0 { program.source.clone() } else { format!("{}:{}:{}", program.source, at.line, at.column) }
}
