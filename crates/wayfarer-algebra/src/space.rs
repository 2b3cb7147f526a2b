//! A system as a space: a state has one field for each component, which holds the number of its local state.
//!
//! How many local states a component has is not known before they are met. A field has a width that was guessed; a number that does not fit is a *limit*, and the run is
//! started again with wider fields. Local states and offers are kept across that.

use crate::component::Component;
use crate::machine::Halt;
use crate::steps::{Joiner, Step, Taker};
use crate::system::System;
use crate::value::Value;
use wayfarer_space::{
    Checked, Completeness, Fault, FaultClass, FaultStep, Fired, Firing, Packing, PropertyBits, Rng, Space, States, Steps, Width, Word,
};

/// The fields of states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bits of each component's field.
    pub bits: Vec<u32>,
    places: Vec<(usize, u32)>,
    words: usize,
}

impl Layout {
    /// Fields of the given widths, of at most 32 bits each, in as many words as it takes. Fields do not straddle words.
    pub fn new(bits: Vec<u32>) -> Self {
        let (mut places, mut word, mut used) = (Vec::new(), 0, 0);
        for width in &bits {
            if used + width > 64 {
                word += 1;
                used = 0;
            }
            places.push((word, used));
            used += width;
        }
        Layout { bits, places, words: word + 1 }
    }

    /// Fields that are at least as wide as those of another layout, and wider where this one is.
    pub fn at_least(&self, other: &Layout) -> Layout {
        Layout::new(self.bits.iter().zip(&other.bits).map(|(one, other)| *one.max(other)).collect())
    }

    fn masks(&self) -> Vec<Word> {
        let mut masks = vec![0; self.words];
        for ((word, shift), bits) in self.places.iter().zip(&self.bits) {
            masks[*word] |= ((1u64 << bits) - 1) << shift;
        }
        masks
    }

    /// The local states of a state.
    fn read(&self, state: &[Word], locals: &mut Vec<u32>) {
        locals.clear();
        for ((word, shift), bits) in self.places.iter().zip(&self.bits) {
            locals.push((state[*word] >> shift & ((1u64 << bits) - 1)) as u32);
        }
    }

    /// Writes a local state into a state; false if it does not fit.
    fn write(&self, state: &mut [Word], component: usize, local: u32) -> bool {
        let ((word, shift), bits) = (self.places[component], self.bits[component]);
        let mask = (1u64 << bits) - 1;
        if u64::from(local) > mask {
            return false;
        }
        state[word] = state[word] & !(mask << shift) | u64::from(local) << shift;
        true
    }
}

/// A system as a space.
#[derive(Debug)]
pub struct AlgebraSpace<'a> {
    system: &'a System,
    layout: Layout,
    packing: Packing,
    /// Labels that are looked for, as they are written without blanks: a name, or a name with its arguments.
    wanted: Vec<String>,
}

/// The field of a component is too narrow. Other faults are the number of a summand and the kind of halt.
const TOO_NARROW: u32 = u32::MAX;
/// The two implementations of the semantics have different steps.
const DISAGREE: u32 = u32::MAX - 1;
const HALTS: u32 = 8;

impl System {
    /// A fault about a summand.
    pub(crate) fn fault(&self, summand: u32, halt: Halt) -> Fault {
        let kind = match halt {
            Halt::Fuel => 0,
            Halt::Depth => 1,
            Halt::Unbounded(_) => 2,
            Halt::Undecided => 3,
            Halt::NoRoom => 4,
        };
        Fault(summand * HALTS + kind)
    }

    /// The fault of a field that is too narrow for a component's local states.
    pub const TOO_NARROW: Fault = Fault(TOO_NARROW);

    /// Whom a fault speaks about.
    pub fn fault_class(&self, fault: Fault) -> FaultClass {
        match fault.0 % HALTS {
            _ if fault.0 == TOO_NARROW => FaultClass::Limit,
            _ if fault.0 == DISAGREE => FaultClass::Unsupported,
            0 | 1 | 3 => FaultClass::Violation,
            _ => FaultClass::Limit,
        }
    }

    /// A rule to which the firings of the summand belong that a fault is about.
    fn rule_of(&self, fault: Fault) -> u32 {
        let Some(summand) = self.summands.iter().flatten().find(|summand| summand.number == fault.0 / HALTS) else { return self.terminate_rule() };
        let own: Vec<crate::ActionId> = summand.actions.iter().map(|(action, _)| *action).collect();
        let alone = self.rules.iter().position(|actions| *actions == own).map(|rule| rule as u32);
        let together = || self.vectors.iter().find(|vector| vector.parts.iter().any(|(_, kind)| *kind == summand.kind)).map(|vector| vector.rule);
        alone.or_else(together).or_else(|| self.lazy.as_ref().map(|lazy| lazy.several)).unwrap_or_else(|| self.terminate_rule())
    }

    /// Bytes of its tables that no allocator counts, because blocks are larger than what was asked for.
    pub fn uncounted_bytes(&self) -> usize {
        self.data.values.outside.rounding() + self.components.iter().map(|component| component.outside.rounding()).sum::<usize>()
    }

    /// Whether a fault is about values without a bound.
    pub fn is_unbounded(&self, fault: Fault) -> bool {
        fault.0 != TOO_NARROW && fault.0 != DISAGREE && fault.0 % HALTS == 2
    }

    /// Whether a fault says that rewriting reached its limit.
    pub fn is_out_of_fuel(&self, fault: Fault) -> bool {
        fault.0 != TOO_NARROW && fault.0 != DISAGREE && fault.0.is_multiple_of(HALTS)
    }

    /// The message of a fault, and the place in the text that it is about.
    pub fn explain_fault(&self, fault: Fault) -> (String, crate::Place) {
        if fault.0 == TOO_NARROW {
            return ("a component has more local states than its field can hold".to_string(), crate::Place::default());
        }
        if fault.0 == DISAGREE {
            return (
                "two implementations of the semantics have different steps here: this is a defect of Wayfarer".to_string(),
                crate::Place::default(),
            );
        }
        let summand = self.summands.iter().flatten().find(|summand| summand.number == fault.0 / HALTS);
        let message = match fault.0 % HALTS {
            0 => format!("rewriting takes more than {} steps", self.fuel),
            1 => "functions call each other too deeply".to_string(),
            2 => "a sum or a quantifier has no bound on the values to try".to_string(),
            3 => "a condition is neither true nor false".to_string(),
            _ => "the table of values is full".to_string(),
        };
        (message, summand.map_or_else(crate::Place::default, |summand| summand.place))
    }

    /// Fields wide enough for all local states that were met, with room for as many again.
    pub fn layout(&self) -> Layout {
        // A component that is alone has as many local states as there are states.
        let least = match self.components.len() {
            1 => 24,
            2..=4 => 12,
            _ => 8,
        };
        Layout::new(self.components.iter().map(|component| bits_for(component.len()).max(least)).collect())
    }

    /// How many rules there are: one for each multi-action name that is seen, one for termination, and one for what is looked for.
    pub fn rule_count(&self) -> u32 {
        self.rules.len() as u32 + 2
    }

    /// The name of a rule.
    pub fn rule_name(&self, rule: u32) -> String {
        match self.rules.get(rule as usize) {
            Some(_) if self.lazy.as_ref().is_some_and(|lazy| lazy.several == rule) => "several actions".to_string(),
            Some(actions) => self.multi_name(actions),
            None => crate::system::TERMINATE.to_string(),
        }
    }

    /// The name of a multi-action.
    fn multi_name(&self, actions: &[crate::ActionId]) -> String {
        if actions.is_empty() {
            return "tau".to_string();
        }
        actions.iter().map(|action| self.specification.actions[action.index()].name.as_str()).collect::<Vec<_>>().join("|")
    }

    /// Whether a name that is looked for can be that of a rule's firings.
    pub fn is_label_of(&self, rule: u32, name: &str) -> bool {
        match &self.lazy {
            Some(lazy) if lazy.several == rule => {
                let parts: Vec<&str> = name.split('|').collect();
                let is_seen = |part: &&str| {
                    let actions = self.specification.actions.iter().enumerate();
                    actions.into_iter().any(|(number, action)| action.name == **part && lazy.is_seen(crate::ActionId(number as u32)))
                };
                parts.len() > 1 && parts.is_sorted() && parts.iter().all(is_seen)
            }
            _ => self.rule_name(rule) == name,
        }
    }

    /// Whether both implementations of the semantics have the same steps out of a state.
    pub(crate) fn agrees(&self, locals: &[u32]) -> bool {
        let mut fast = Vec::new();
        let mut failed = false;
        let mut take = |step: Step| {
            let mut next = locals.to_vec();
            step.moves.iter().for_each(|(component, local)| next[*component] = *local);
            fast.push((self.plain_label(&step), next));
        };
        self.each_step(locals, &mut Joiner::default(), &mut Taker { take: &mut take, fail: &mut |_| failed = true });
        match self.plain_steps(locals) {
            Err(_) => failed,
            Ok(mut plain) => {
                plain.sort();
                fast.sort();
                // Steps that could not be evaluated are missing on one side only.
                plain == fast || failed
            }
        }
    }

    /// A label as the plain semantics has it.
    pub(crate) fn plain_label(&self, step: &Step) -> Vec<(crate::ActionId, Vec<Value>)> {
        let arity = |action: &crate::ActionId| self.specification.actions[action.index()].arguments.len();
        let mut label: Vec<_> =
            step.actions.iter().zip(step.shown).map(|(action, tuple)| (*action, self.data.values.arguments(*tuple, arity(action)))).collect();
        let name = |action: &crate::ActionId| &self.specification.actions[action.index()].name;
        label.sort_by(|(one, terms), (other, others)| (name(one), one, terms).cmp(&(name(other), other, others)));
        label
    }

    /// Each component with the number of its locations and of their summands.
    pub fn component_facts(&self) -> Vec<(String, u64, u64)> {
        let facts = |component: &crate::component::Component| {
            let reached = self.reachable(component.frames(0));
            let summands = reached.iter().map(|location| self.summands[*location as usize].len() as u64).sum();
            (component.name.clone(), reached.len() as u64, summands)
        };
        self.components.iter().map(facts).collect()
    }

    /// The locations that can be reached from frames.
    fn reachable(&self, frames: &[u32]) -> Vec<u32> {
        let (mut reached, mut open) = (std::collections::BTreeSet::new(), Vec::new());
        let mut words = frames;
        while let Some((location, rest)) = words.split_first() {
            let Some(known) = self.locations.get(*location as usize) else { break };
            open.push(*location);
            words = rest.get(known.parameters.len()..).unwrap_or(&[]);
        }
        while let Some(location) = open.pop() {
            if reached.insert(location) {
                open.extend(self.summands[location as usize].iter().flat_map(|summand| summand.next.iter().map(|(next, _)| *next)));
            }
        }
        reached.into_iter().collect()
    }

    /// The rule of labels that are looked for.
    pub fn wanted_rule(&self) -> u32 {
        self.rules.len() as u32 + 1
    }
}

/// Bits for the numbers of so many local states and as many more.
fn bits_for(count: u32) -> u32 {
    (u32::BITS - count.leading_zeros() + 1).clamp(4, 32)
}

impl<'a> AlgebraSpace<'a> {
    /// The space of a system with fields of these widths.
    pub fn new(system: &'a System, layout: Layout) -> Self {
        let packing = Packing::new(layout.masks());
        AlgebraSpace { system, layout, packing, wanted: Vec::new() }
    }

    /// The same space, in which firings with one of these labels belong to a rule of their own.
    pub fn looking_for(mut self, wanted: &[String]) -> Self {
        self.wanted = wanted.iter().map(|label| label.split_whitespace().collect()).collect();
        self
    }

    /// The system.
    pub fn system(&self) -> &'a System {
        self.system
    }

    /// The fields of its states.
    pub fn fields(&self) -> &Layout {
        &self.layout
    }

    /// The label of a firing in a state; none if it is not possible there.
    pub fn label(&self, state: &[Word], firing: Firing) -> Option<String> {
        let mut label = None;
        self.each_label(state, &mut |outcome, step| {
            if outcome == firing.outcome {
                label = Some(self.system.label(step));
            }
        });
        label
    }

    /// The labels of all steps out of a state, in the order of their firings.
    pub fn labels(&self, state: &[Word]) -> Vec<String> {
        let mut labels = Vec::new();
        self.each_label(state, &mut |_, step| labels.push(self.system.label(step)));
        labels
    }

    fn each_label(&self, state: &[Word], take: &mut dyn FnMut(u32, &Step)) {
        let (mut locals, mut count) = (Vec::new(), 0);
        self.layout.read(state, &mut locals);
        let mut counted = |step: Step| {
            take(count, &step);
            count += 1;
        };
        self.system.each_step(&locals, &mut Joiner::default(), &mut Taker { take: &mut counted, fail: &mut |_| {} });
    }

    /// Whether the plain semantics knows a step as well.
    pub(crate) fn is_plain_step(&self, state: &[Word], firing: Firing, to: &[Word]) -> bool {
        let (mut locals, mut next, mut joiner, mut count, mut label) = (Vec::new(), Vec::new(), Joiner::default(), 0, None);
        self.layout.read(state, &mut locals);
        self.layout.read(to, &mut next);
        let mut take = |step: Step| {
            if count == firing.outcome {
                label = Some((self.system.plain_label(&step), step.moves.to_vec()));
            }
            count += 1;
        };
        self.system.each_step(&locals, &mut joiner, &mut Taker { take: &mut take, fail: &mut |_| {} });
        let Some((label, moves)) = label else { return false };
        self.system.plain_steps_of(&locals, Some(&moves)).is_ok_and(|steps| steps.contains(&(label, next)))
    }

    /// The fault of a state in which the two semantics have different steps.
    pub(crate) fn disagreement(&self, state: &[Word]) -> Option<Fault> {
        let mut locals = Vec::new();
        self.layout.read(state, &mut locals);
        (!self.system.agrees(&locals)).then_some(Fault(DISAGREE))
    }

    /// The components of a state: for each its name, and its frames with the names and values of their variables, the running one first.
    pub fn show(&self, state: &[Word]) -> Vec<ComponentState> {
        let mut locals = Vec::new();
        self.layout.read(state, &mut locals);
        self.system.show_locals(&locals)
    }

    #[inline]
    fn rule(&self, step: &Step) -> u32 {
        if self.wanted.is_empty() { step.rule } else { self.wanted_or(step) }
    }

    fn wanted_or(&self, step: &Step) -> u32 {
        let is_end = step.rule == self.system.terminate_rule();
        let name = if is_end { self.system.rule_name(step.rule) } else { self.system.multi_name(step.actions) };
        let is_wanted =
            |wanted: &String| *wanted == name || (wanted.contains('(') && *wanted == self.system.label(step).split_whitespace().collect::<String>());
        if self.wanted.iter().any(is_wanted) { self.system.wanted_rule() } else { step.rule }
    }
}

/// A component of a state, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentState {
    /// The name of the component.
    pub component: String,
    /// Its processes, the running one first; none if it has ended.
    pub frames: Vec<FrameState>,
}

/// A process that runs, or that is left to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameState {
    /// The name of the process.
    pub process: String,
    /// Whether it is at its beginning.
    pub is_whole: bool,
    /// Its position in the text.
    pub place: crate::Place,
    /// Its variables with their values.
    pub variables: Vec<(String, String)>,
}

impl System {
    pub(crate) fn show_locals(&self, locals: &[u32]) -> Vec<ComponentState> {
        let mut all = Vec::new();
        for (index, (component, local)) in self.components.iter().zip(locals).enumerate() {
            let mut frames = Vec::new();
            let mut words = component.frames(*local);
            while let Some((location, rest)) = words.split_first() {
                let Some(location) = self.locations.get(*location as usize) else { break };
                let (values, rest) = rest.split_at(location.parameters.len());
                let named =
                    |(variable, value): (&crate::VariableId, &u32)| (self.data.variables[variable.index()].name.clone(), self.show(Value(*value)));
                let variables = location.parameters.iter().zip(values).map(named).collect();
                frames.push(FrameState { process: location.name.clone(), is_whole: location.is_whole, place: location.place, variables });
                words = rest;
            }
            let same = self.components.iter().filter(|other| other.name == component.name).count() > 1;
            let name = if same { format!("{}#{}", component.name, index + 1) } else { component.name.clone() };
            all.push(ComponentState { component: name, frames });
        }
        all
    }
}

impl Space for AlgebraSpace<'_> {
    fn width(&self) -> Width {
        Width::Fixed(self.layout.words)
    }

    fn packing(&self) -> &Packing {
        &self.packing
    }

    fn rules(&self) -> u32 {
        self.system.rule_count()
    }

    fn properties(&self) -> u32 {
        0
    }

    fn table_bytes(&self) -> usize {
        self.system.data.values.bytes() + self.system.components.iter().map(Component::bytes).sum::<usize>()
    }

    fn initial(&self, steps: &mut Steps) -> Completeness {
        steps.clear();
        let state = vec![0; self.layout.words];
        steps.push(0, Firing::of(0), &state, &state);
        Completeness::All
    }

    fn expand(&self, batch: &States, from: Firing, steps: &mut Steps) -> Completeness {
        steps.clear();
        let (mut locals, mut joiner, mut next) = (Vec::new(), Joiner::default(), vec![0; self.layout.words]);
        joiner.joins = self.system.lend_joins();
        let mut is_complete = true;
        for (source, state) in batch.iter().enumerate() {
            self.layout.read(state, &mut locals);
            let mut count = 0;
            let mut failed = Vec::new();
            let mut take = |step: Step| {
                let firing = Firing { rule: self.rule(&step), outcome: count };
                count += 1;
                if firing.outcome < from.outcome {
                    return;
                }
                next.copy_from_slice(state);
                if step.moves.iter().all(|(component, local)| self.layout.write(&mut next, *component, *local)) {
                    steps.push(source as u32, firing, state, &next);
                } else {
                    steps.faults.push(FaultStep { source: source as u32, firing, fault: System::TOO_NARROW });
                }
            };
            let mut fail = |(summand, halt)| failed.push(self.system.fault(summand, halt));
            is_complete &= self.system.each_step(&locals, &mut joiner, &mut Taker { take: &mut take, fail: &mut fail });
            for fault in failed {
                let firing = Firing { rule: self.system.rule_of(fault), outcome: count };
                count += 1;
                if firing.outcome >= from.outcome {
                    steps.faults.push(FaultStep { source: source as u32, firing, fault });
                }
            }
            steps.enabled.push(count.saturating_sub(from.outcome));
        }
        self.system.return_joins(joiner.joins);
        if is_complete { Completeness::All } else { Completeness::Cut("components can act together in too many ways; `allow` restricts them") }
    }

    fn sample(&self, state: &[Word], rng: &mut Rng, out: &mut Vec<Word>) -> Option<(Firing, Fired)> {
        let mut batch = States::new(self.width());
        batch.push(state);
        let mut steps = Steps::new(self.width());
        self.expand(&batch, Firing::of(0), &mut steps);
        let all = steps.len() + steps.faults.len();
        if all == 0 {
            return None;
        }
        let chosen = rng.below(all as u64) as usize;
        if chosen < steps.len() {
            out.clear();
            out.extend_from_slice(steps.states.get(chosen));
            return Some((steps.firings[chosen], Fired::To));
        }
        let fault = steps.faults[chosen - steps.len()];
        Some((fault.firing, Fired::Fault(fault.fault)))
    }

    fn fire(&self, state: &[Word], firing: Firing, out: &mut Vec<Word>) -> Fired {
        let mut batch = States::new(self.width());
        batch.push(state);
        let mut steps = Steps::new(self.width());
        self.expand(&batch, Firing { rule: 0, outcome: firing.outcome }, &mut steps);
        if let Some(index) = steps.firings.iter().position(|other| *other == firing) {
            out.clear();
            out.extend_from_slice(steps.states.get(index));
            return Fired::To;
        }
        match steps.faults.iter().find(|fault| fault.firing == firing) {
            Some(fault) => Fired::Fault(fault.fault),
            None => Fired::Disabled,
        }
    }

    fn check(&self, _state: &[Word], _bits: &mut PropertyBits) -> Checked {
        Ok(())
    }

    fn asks_to_reach(&self, _property: u32) -> bool {
        false
    }

    fn fault_class(&self, fault: Fault) -> FaultClass {
        self.system.fault_class(fault)
    }

    /// After successful termination nothing happens, which is no deadlock.
    fn may_end(&self, state: &[Word]) -> bool {
        let mut locals = Vec::new();
        self.layout.read(state, &mut locals);
        locals.first() == Some(&Component::END)
    }
}
