//! Turns the findings of a search into a report: witnesses are shortened, mapped back from orbits, replayed, and
//! described in the model's terms.

use crate::memory::Budget;
use crate::report::{StepReport, ViolationReport, WitnessReport};
use crate::subject::symmetry;
use crate::subject::{FaultFacts, PropertyFacts, Replaying, Representatives, Subject};
use crate::watch::Deadline;
use crate::{Kind, Plan, RunError};
use wayfarer_search::{Cause, Deadlock, Ending, Forms, Shortened, Shortening, Store, Violation, Witness, WitnessError};
use wayfarer_space::{Firing, Space, Word};

/// Describes findings in the model's terms.
pub(crate) struct Writer<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) subject: &'a dyn Subject,
    pub(crate) properties: &'a [PropertyFacts],
    /// The form in which witnesses are replayed.
    pub(crate) replaying: &'a dyn Replaying,
    /// Whether the search found shortest witnesses.
    pub(crate) shortest: bool,
    pub(crate) space: &'a dyn Space,
    /// The space of the subject itself, and its representatives if these were explored.
    pub(crate) inner: &'a dyn Space,
    pub(crate) orbits: Option<&'a dyn Representatives>,
    pub(crate) store: &'a dyn Store,
    pub(crate) budget: &'a Budget,
    /// The firings and states that shortening a witness may take.
    pub(crate) effort: u64,
    /// Whether a search that finds nothing shorter proves that there is nothing.
    pub(crate) proves: bool,
    /// The threads that may take part, and whether searches for a shorter witness may end elsewhere each time.
    pub(crate) threads: usize,
    pub(crate) searching: bool,
}

/// Representatives and the states of the subject.
struct Both<'a> {
    subject: &'a dyn Subject,
    inner: &'a dyn Space,
    orbits: &'a dyn Representatives,
}

impl Forms for Both<'_> {
    fn space(&self) -> &dyn Space {
        self.inner
    }

    fn concrete(&self, witness: Witness) -> Result<Witness, WitnessError> {
        symmetry::concrete(self.subject, self.inner, self.orbits, witness)
    }

    fn represent(&self, state: &mut Vec<Word>) {
        self.orbits.representative(state);
    }
}

impl Writer<'_> {
    pub(crate) fn violation(&self, violation: &Violation, deadline: &mut Deadline) -> Result<ViolationReport, RunError> {
        let (mut raw_length, mut no_room, mut shortest) = (0, false, self.shortest);
        let witness = match Witness::trace(self.space, self.store, violation, self.budget, self.threads) {
            Ok(witness) => {
                raw_length = witness.len();
                let witness = match deadline.until {
                    Some(_) => {
                        let shortened = self.shortened(witness, deadline).map_err(|error| self.subject.breaks_symmetry(error))?;
                        shortest |= shortened.shortest && self.proves;
                        shortened.witness
                    }
                    None => self.concrete(witness.without_loops())?,
                };
                witness
                    .replay(self.replaying.space(), self.plan.deadlock != Some(Deadlock::Stuck), self.threads)
                    .map_err(|error| self.subject.does_not_replay(self.plan, error))?;
                Some(witness)
            }
            Err(WitnessError::NotAboutAState) => None,
            Err(WitnessError::NoRoom) => {
                no_room = true;
                None
            }
            Err(error) => return Err(self.subject.does_not_replay(self.plan, error)),
        };
        let cause = match witness.as_ref().map(|witness| witness.ending) {
            Some(Ending::Fault(firing, fault)) => Cause::Fault(firing, fault),
            Some(Ending::Rule(firing)) => Cause::Rule(firing),
            _ => violation.cause,
        };
        let (kind, name, at, mut detail) = self.cause(&cause, witness.as_ref());
        if no_room {
            let why = "there is no witness: too little memory was left to find the way there";
            detail = Some(detail.map_or_else(|| why.to_string(), |detail| format!("{detail}; {why}")));
        }
        Ok(ViolationReport { kind, name, at, detail, witness: witness.map(|witness| self.witness(witness, raw_length, shortest)) })
    }

    /// The witness of the subject that is at most as long.
    fn shortened(&self, witness: Witness, deadline: &mut Deadline) -> Result<Shortened, WitnessError> {
        let both = self.orbits.map(|orbits| Both { subject: self.subject, inner: self.inner, orbits });
        let dependence = self.subject.dependence();
        let shortening = Shortening {
            space: self.space,
            forms: both.as_ref().map(|both| both as &dyn Forms),
            dependence: dependence.as_deref(),
            deadlock: self.plan.deadlock.unwrap_or_default(),
            // If there are several violations, each keeps the rule in which it shows.
            any_rule: self.plan.max_errors <= 1,
            account: self.budget,
            effort: self.effort,
            workers: self.threads,
            searching: self.searching,
        };
        shortening.shortened(witness, deadline)
    }

    /// The witness as one of the subject, if it was found among representatives.
    fn concrete(&self, witness: Witness) -> Result<Witness, RunError> {
        let Some(orbits) = self.orbits else { return Ok(witness) };
        symmetry::concrete(self.subject, self.inner, orbits, witness).map_err(|error| self.subject.breaks_symmetry(error))
    }

    fn cause(&self, cause: &Cause, witness: Option<&Witness>) -> (Kind, String, String, Option<String>) {
        let property = |number: u32| {
            let PropertyFacts { name, at, .. } = &self.properties[number as usize];
            (name.clone(), at.clone())
        };
        let last = witness.and_then(|witness| witness.states.last());
        match *cause {
            Cause::Property(number) => {
                let (name, at) = property(number);
                let kind = Kind::of(self.properties[number as usize].kind);
                (kind, name, at, last.and_then(|state| self.subject.failing(self.plan, number, state)))
            }
            Cause::PropertyFault(number, fault) => {
                let FaultFacts { message, at, .. } = self.subject.words().fault(fault, self.plan);
                (Kind::Fault, message, at, Some(format!("while judging `{}`", property(number).0)))
            }
            Cause::Deadlock => {
                let detail =
                    if self.plan.deadlock == Some(Deadlock::Stuck) { self.subject.words().stuck() } else { "no rule leads to another state" };
                (Kind::Deadlock, "deadlock".to_string(), String::new(), Some(detail.to_string()))
            }
            Cause::Fault(firing, fault) => {
                let FaultFacts { kind, message, at, note } = self.subject.words().fault(fault, self.plan);
                let mut detail = within("rule", &self.subject.words().firing(last.map(Vec::as_slice), firing).0);
                note.iter().for_each(|note| detail.push_str(&format!("; {note}")));
                (kind, message, at, Some(detail))
            }
            Cause::Start(start, fault) => {
                let FaultFacts { kind, message, at, .. } = self.subject.words().fault(fault, self.plan);
                (kind, message, at, Some(within("start", &self.subject.words().start(start))))
            }
            Cause::Found(number) => {
                let (name, at) = property(number);
                (Kind::Found, name, at, None)
            }
            Cause::Rule(firing) => {
                let (name, at) = self.subject.words().firing(last.map(Vec::as_slice), firing);
                (Kind::Rule, name, at, None)
            }
            Cause::NotReached(number) => {
                let (name, at) = property(number);
                (Kind::Cover, name, at, Some("every reachable state was visited, and none satisfies it".to_string()))
            }
        }
    }

    fn witness(&self, raw: Witness, raw_length: usize, shortest: bool) -> WitnessReport {
        let words = self.subject.words();
        let values = |state: &Vec<u64>| words.values(state).into_iter().map(|value| (value.path, value.value)).collect();
        let start_state = raw.states.first().map_or_else(Vec::new, values);
        let mut steps: Vec<StepReport> = raw
            .firings
            .iter()
            .zip(raw.states.windows(2))
            .map(|(firing, pair)| StepReport { changes: words.changes(&pair[0], &pair[1]), ..self.step(&pair[0], *firing) })
            .collect();
        let last = raw.states.last().map_or(&[] as &[u64], Vec::as_slice);
        if let Ending::Rule(firing) = raw.ending {
            let mut after = Vec::new();
            self.replaying.space().fire(last, firing, &mut after);
            steps.push(StepReport { changes: words.changes(last, &after), ..self.step(last, firing) });
        }
        if let Ending::Fault(firing, fault) = raw.ending {
            let FaultFacts { message, at, .. } = words.fault(fault, self.plan);
            let mut step = StepReport { fault: Some(format!("{message} ({at})")), ..self.step(last, firing) };
            // Nothing changes, so only this shows which element was chosen.
            words.chosen(last, firing).iter().for_each(|(name, element)| step.rule.push_str(&format!("; element {name} is {element}")));
            steps.push(step);
        }
        WitnessReport { length: raw.len(), raw_length, shortest, start: words.start(raw.start), start_state, steps, raw }
    }

    fn step(&self, from: &[u64], firing: Firing) -> StepReport {
        let (rule, at) = self.subject.words().firing(Some(from), firing);
        let mut printed = Vec::new();
        self.replaying.fire(from, firing, &mut Vec::new(), &mut printed);
        StepReport { rule, at, changes: Vec::new(), fault: None, printed }
    }
}

/// Says in which rule or start state something happened. Those without a name are called by what they are and a number.
fn within(what: &str, name: &str) -> String {
    if name.starts_with(what) { format!("in {name}") } else { format!("in {what}{} {name}", if what == "start" { " state" } else { "" }) }
}
