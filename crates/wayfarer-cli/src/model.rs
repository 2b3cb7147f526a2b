//! Reads the model of a command, and takes single steps in it for the commands that need them.

use crate::Failure;
use crate::options::{LoopOption, ModelOptions};
use crate::output::{Paint, complain};
use wayfarer::search::Deadlock;
use wayfarer::space::{Fault, Fired, Firing, PropertyBits, Space, States, Steps, Word};
use wayfarer::subject::Replaying;
use wayfarer::{LoadOptions, Opened, Plan, Subject};

/// Reads a model and shows its warnings.
pub(crate) fn open(options: &ModelOptions) -> Result<Opened, Failure> {
    open_finding(options, None)
}

/// The same, with a predicate to search for.
pub(crate) fn open_finding(options: &ModelOptions, find: Option<&str>) -> Result<Opened, Failure> {
    open_asking(options, find, None)
}

/// The same, with a file of formulas to check.
pub(crate) fn open_asking(options: &ModelOptions, find: Option<&str>, formulas: Option<&str>) -> Result<Opened, Failure> {
    let formulas = formulas.map(wayfarer::open_formulas).transpose().map_err(Failure::unread)?;
    let settings = LoadOptions { find: find.map(str::to_string), formulas, ..options.load_options(Paint::stderr().colour) };
    let opened = wayfarer::open(&options.model, &settings).map_err(Failure::unread)?;
    complain(&opened.warnings);
    Ok(opened)
}

/// A model in which single steps are taken, with its output.
pub(crate) struct Walked<'a> {
    subject: &'a dyn Subject,
    replaying: Box<dyn Replaying + 'a>,
}

impl<'a> Walked<'a> {
    pub(crate) fn new(opened: &'a Opened, loops: &LoopOption) -> Self {
        let plan = Plan { loop_limit: loops.loop_limit, ..Plan::default() };
        Walked { subject: &*opened.subject, replaying: opened.subject.replaying(&plan) }
    }

    pub(crate) fn subject(&self) -> &'a dyn Subject {
        self.subject
    }

    pub(crate) fn space(&self) -> &dyn Space {
        self.replaying.space()
    }

    /// Computes a start state.
    pub(crate) fn start(&self, number: u32, out: &mut Vec<Word>, printed: &mut Vec<String>) -> Fired {
        self.replaying.start(number, out, printed)
    }

    /// Fires a rule.
    pub(crate) fn fire(&self, state: &[Word], firing: Firing, out: &mut Vec<Word>, printed: &mut Vec<String>) -> Fired {
        self.replaying.fire(state, firing, out, printed)
    }

    /// A fault's message with its source location.
    pub(crate) fn fault(&self, fault: Fault) -> String {
        let facts = self.subject().words().fault(fault, &Plan::default());
        format!("{} ({})", facts.message, facts.at)
    }

    /// The violations in a state, as sentences: properties that fail, and a deadlock.
    pub(crate) fn wrong_in(&self, state: &[Word], deadlock: Deadlock) -> Vec<String> {
        let properties = self.subject().properties();
        let mut bits = PropertyBits::default();
        let mut found = Vec::new();
        if let Err((number, failed)) = self.space().check(state, &mut bits) {
            found.push(format!("judging `{}` failed: {}", properties[number as usize].name, self.fault(failed)));
        }
        for number in bits.iter().filter(|number| !self.space().asks_to_reach(*number)) {
            let property = &properties[number as usize];
            found.push(format!("invariant `{}` does not hold ({})", property.name, property.at));
        }
        if deadlock.is_at(self.space(), state) {
            let why = if deadlock == Deadlock::Stuck { self.subject.words().stuck() } else { "no rule leads to another state" };
            found.push(format!("deadlock: {why}"));
        }
        found
    }

    /// The firings enabled in a state, in order, including those that fail.
    pub(crate) fn enabled(&self, state: &[Word]) -> Vec<Firing> {
        let steps = self.expand(state);
        let mut firings: Vec<Firing> = steps.firings.iter().copied().chain(steps.faults.iter().map(|step| step.firing)).collect();
        firings.sort();
        firings
    }

    /// The start states that exist, by number.
    pub(crate) fn starts(&self) -> Vec<u32> {
        let mut steps = Steps::new(self.space().width());
        self.space().initial(&mut steps);
        let mut starts: Vec<u32> = steps.firings.iter().map(|firing| firing.rule).chain(steps.faults.iter().map(|step| step.firing.rule)).collect();
        starts.sort_unstable();
        starts
    }

    /// Whether no rule is enabled in a state, and the model allows a run to end there.
    pub(crate) fn has_ended(&self, state: &[Word]) -> bool {
        self.space().may_end(state) && self.expand(state).enabled[0] == 0
    }

    fn expand(&self, state: &[Word]) -> Steps {
        let space = self.space();
        let mut batch = States::new(space.width());
        batch.push(state);
        let mut steps = Steps::new(space.width());
        space.expand(&batch, Firing::of(0), &mut steps);
        steps
    }
}
