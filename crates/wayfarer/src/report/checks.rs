//! The checks of a run, one by one: a verdict on the whole says too little if some properties are decided and others
//! are not.

use super::{Answer, CheckVerdict, Kind};
use crate::Plan;
use crate::subject::{PropertyFacts, Subject};
use serde::Serialize;
use wayfarer_search::{Cause, Deadlock, Outcome, Verdict};
use wayfarer_space::{Firing, PropertyKind};

/// One check of a run, or one that was left out on request.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CheckReport {
    /// The kind of check.
    pub kind: Kind,
    /// The property's name; `deadlock` and `fault` have their own.
    pub name: String,
    /// `file:line:column`; empty if it has no source location.
    pub at: String,
    /// The verdict on it. A cover that was reached holds in any case. A goal counts as violated if it was reached.
    pub verdict: CheckVerdict,
    /// The indices of the report's violations of it; for a formula that is true, those of its witnesses.
    pub violations: Vec<usize>,
    /// The answer, if it is a formula.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
}

/// The checks of a run, in the order of the model, faults and deadlocks last.
pub(crate) fn checks(plan: &Plan, subject: &dyn Subject, properties: &[PropertyFacts], outcome: &Outcome) -> Vec<CheckReport> {
    let sought = !plan.find.is_empty() || !plan.find_rules.is_empty();
    let make = |kind: Kind, name: &str, at: String, judged: bool, settled: Settled, against: &dyn Fn(&Cause) -> bool| {
        let violations: Vec<usize> =
            outcome.violations.iter().enumerate().filter(|(_, violation)| against(&violation.cause)).map(|(index, _)| index).collect();
        let verdict = match settled {
            _ if !judged => CheckVerdict::NotJudged,
            _ if !violations.is_empty() => CheckVerdict::Judged(Verdict::Violated),
            Settled::Well => CheckVerdict::Judged(Verdict::Holds),
            Settled::Badly => CheckVerdict::Judged(Verdict::Violated),
            Settled::IfComplete if outcome.is_complete() => CheckVerdict::Judged(Verdict::Holds),
            Settled::IfComplete => CheckVerdict::Judged(Verdict::NotFound),
        };
        CheckReport { kind, name: name.to_string(), at, verdict, violations, answer: None }
    };
    let mut checks = Vec::new();
    for (number, property) in properties.iter().enumerate() {
        let chosen = plan.properties.is_empty() || plan.properties.contains(&property.name);
        let number = number as u32;
        let at = property.at.clone();
        checks.push(match property.kind {
            PropertyKind::Assumption => continue,
            kind @ (PropertyKind::Always | PropertyKind::Never) => {
                let against = |cause: &Cause| matches!(*cause, Cause::Property(of) | Cause::PropertyFault(of, _) if of == number);
                make(Kind::of(kind), &property.name, at, chosen && !sought, Settled::IfComplete, &against)
            }
            kind @ (PropertyKind::Exists | PropertyKind::Forall) => {
                let looked_for = plan.find.contains(&property.name);
                let mut check = make(Kind::of(kind), &property.name, at, looked_for, Settled::IfComplete, &|cause| *cause == Cause::Found(number));
                check.answer(kind == PropertyKind::Forall);
                check
            }
            PropertyKind::Reachable if plan.find.contains(&property.name) => {
                make(Kind::Found, &property.name, at, true, Settled::IfComplete, &|cause| *cause == Cause::Found(number))
            }
            PropertyKind::Reachable => {
                let settled = match outcome.reached.contains(number) {
                    true => Settled::Well,
                    // There may be more violations than were requested.
                    false if outcome.is_complete() => Settled::Badly,
                    false => Settled::IfComplete,
                };
                let against = |cause: &Cause| matches!(*cause, Cause::NotReached(of) | Cause::PropertyFault(of, _) if of == number);
                make(Kind::Cover, &property.name, at, chosen && !sought, settled, &against)
            }
        });
    }
    for (kind, name) in subject.unjudged() {
        checks.push(make(kind, &name, String::new(), false, Settled::IfComplete, &|_| false));
    }
    for name in &plan.find_rules {
        let meant = |number: u32| subject.is_called(number, name);
        let instances = subject.rules().iter().map(|rule| rule.instances).sum();
        let at = (0..instances).find(|number| meant(*number)).map_or_else(String::new, |number| subject.words().firing(None, Firing::of(number)).1);
        checks.push(make(Kind::Rule, name, at, true, Settled::IfComplete, &|cause| matches!(cause, Cause::Rule(firing) if meant(firing.rule))));
    }
    let faults = |cause: &Cause| matches!(cause, Cause::Fault(..) | Cause::Start(..));
    checks.push(make(Kind::Fault, "no rule fails", String::new(), !sought, Settled::IfComplete, &faults));
    let deadlock = plan.deadlock != Some(Deadlock::Off) && !sought;
    checks.push(make(Kind::Deadlock, "no deadlock", String::new(), deadlock, Settled::IfComplete, &|cause| *cause == Cause::Deadlock));
    checks
}

impl CheckReport {
    /// Turns the verdict of a search for a state into the answer to a formula. A state that was found proves
    /// existence, or refutes a claim about all states. Only a run that visited everything proves that there is none.
    fn answer(&mut self, is_universal: bool) {
        let CheckVerdict::Judged(verdict) = self.verdict else { return };
        let found = match verdict {
            Verdict::Violated => true,
            Verdict::Holds => false,
            Verdict::NotFound => {
                self.answer = Some(Answer::Open);
                return;
            }
        };
        let is_true = found != is_universal;
        self.verdict = CheckVerdict::Judged(if is_true { Verdict::Holds } else { Verdict::Violated });
        self.answer = Some(if is_true { Answer::True } else { Answer::False });
    }
}

/// The verdict on a check before its violations are considered.
#[derive(Clone, Copy, Debug)]
enum Settled {
    /// It holds, whatever was not visited.
    Well,
    /// It does not.
    Badly,
    /// It holds if everything was visited.
    IfComplete,
}
