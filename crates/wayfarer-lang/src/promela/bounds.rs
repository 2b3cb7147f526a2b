//! How large values can become, computed from a model's text.
//!
//! An interval analysis (Cousot and Cousot 1977) over the automata: local scalars have an interval at each control state, all other variables and the
//! fields of messages have one for the whole model. Intervals that go on growing are raised to the next constant of the model. The result is advice, not
//! proof: conditions on global variables are believed inside atomic sequences, even if those can be interrupted. Values beyond it are limits that a run
//! meets, as for everything learned.

mod intervals;

use super::ast::{Binary, Unary};
use super::learned::Range;
use super::model::{Act, ActKind, LeafId, Match, Model, Node, Place, Scalar, Start, Tree, Value};
use intervals::{compared, join, mirrored, negated, stored};
use std::collections::BTreeSet;

/// Statements looked at in all, which bounds the time.
const WORK: usize = 30_000;
/// Rounds after which growing intervals are raised to the next constant.
const PATIENCE: usize = 3;
/// Times that the body of a loop inside a `d_step` is looked at in each round.
const LOOPS: usize = 4;

/// Intervals of values. None where nothing is ever stored.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    variables: Vec<Option<Range>>,
    /// By channel initialiser and number of the field.
    fields: Vec<Vec<Option<Range>>>,
}

impl Bounds {
    /// The bounds of a model. None if the analysis would take too long.
    pub(super) fn of(model: &Model) -> Option<Self> {
        let mut analysis = Analysis::new(model);
        analysis.begin();
        while std::mem::take(&mut analysis.changed) {
            analysis.round();
            if analysis.work > WORK {
                return None;
            }
        }
        Some(analysis.bounds)
    }

    /// The values of a variable, all its elements together.
    pub(super) fn variable(&self, id: LeafId) -> Option<Range> {
        self.variables[id.0 as usize]
    }

    /// The values of a field of messages.
    pub(super) fn field(&self, channel: usize, number: usize) -> Option<Range> {
        self.fields[channel][number]
    }
}

/// Intervals at one control state: for local scalars, and for global ones as far as more is known than of the whole run.
type Here = Vec<Option<Range>>;

struct Analysis<'a> {
    model: &'a Model,
    bounds: Bounds,
    /// The intervals at each control state of each process type; none where no process came yet.
    at: Vec<Vec<Option<Here>>>,
    /// Types that run.
    begun: Vec<bool>,
    /// Constants of the model, and their neighbours.
    constants: BTreeSet<i64>,
    /// A process's arguments, all together.
    arguments: Vec<Vec<Option<Range>>>,
    changed: bool,
    rounds: usize,
    work: usize,
}

impl<'a> Analysis<'a> {
    fn new(model: &'a Model) -> Self {
        let fields = model.channels.iter().map(|channel| vec![None; channel.fields.len()]).collect();
        Analysis {
            model,
            bounds: Bounds { variables: vec![None; model.leaves.len()], fields },
            at: model.types.iter().map(|ty| vec![None; ty.automaton.states.len()]).collect(),
            begun: vec![false; model.types.len()],
            constants: BTreeSet::new(),
            arguments: model.types.iter().map(|ty| vec![None; ty.parameters]).collect(),
            changed: true,
            rounds: 0,
            work: 0,
        }
    }

    fn begin(&mut self) {
        for id in &self.model.globals {
            self.begin_leaf(*id, &Here::new());
        }
        for (ty, _) in &self.model.active {
            self.begun[*ty] = true;
            // An active process with parameters has zeros for them.
            self.arguments[*ty].fill(Some((0, 0)));
        }
    }

    /// Looks at every transition once.
    fn round(&mut self) {
        self.rounds += 1;
        for ty in 0..self.model.types.len() {
            if !self.begun[ty] {
                continue;
            }
            let process = &self.model.types[ty];
            let mut here = vec![None; self.model.leaves.len()];
            for id in &process.leaves {
                let begins = self.begin_leaf(*id, &here);
                if self.is_tracked(*id) {
                    here[id.0 as usize] = begins;
                }
            }
            self.arrive(ty, process.automaton.start, here);
            for (state, control) in process.automaton.states.iter().enumerate() {
                let Some(here) = self.at[ty][state].clone() else { continue };
                for transition in &control.transitions {
                    self.work += 1;
                    let others = control.transitions.iter().map(|other| &other.act);
                    let Some(mut next) = self.act(&transition.act, here.clone(), others) else { continue };
                    if !transition.keeps_control {
                        // Others may move now.
                        self.model.globals.iter().for_each(|id| next[id.0 as usize] = None);
                    }
                    if let Some(to) = transition.to {
                        self.arrive(ty, to, next);
                    }
                }
            }
            if self.work > WORK {
                return;
            }
        }
    }

    /// Whether a variable has an interval at each control state.
    fn is_tracked(&self, id: LeafId) -> bool {
        let leaf = self.model.leaf(id);
        leaf.cells() == 1 && leaf.ty != Scalar::Chan
    }

    /// A variable gets its first value.
    fn begin_leaf(&mut self, id: LeafId, here: &Here) -> Option<Range> {
        let leaf = self.model.leaf(id);
        let range = match &leaf.initial {
            Start::Zero => Some((0, 0)),
            Start::Value(value) => Some(self.value(value, here)),
            Start::List(values) => values.iter().map(|value| self.value(value, here)).reduce(join),
            Start::Channel(_) => None,
            Start::Parameter(number) => self.arguments[leaf.owner?][*number],
        };
        let range = stored(range?, leaf.ty);
        self.note(id, range);
        Some(range)
    }

    /// Something of the interval is stored in a variable.
    fn note(&mut self, id: LeafId, range: Range) {
        let old = self.bounds.variables[id.0 as usize];
        let new = self.grown(old, range, self.model.leaf(id).ty);
        self.changed |= old != Some(new);
        self.bounds.variables[id.0 as usize] = Some(new);
    }

    /// An interval that has another one too.
    fn grown(&self, old: Option<Range>, range: Range, ty: Scalar) -> Range {
        let Some(old) = old else { return range };
        let mut new = join(old, range);
        if self.rounds > PATIENCE {
            let (least, most) = ty.range();
            if new.1 > old.1 {
                new.1 = self.constants.range(new.1..).next().map_or(most, |constant| (*constant).min(most));
            }
            if new.0 < old.0 {
                new.0 = self.constants.range(..=new.0).next_back().map_or(least, |constant| (*constant).max(least));
            }
        }
        new
    }

    /// A process comes to a control state.
    fn arrive(&mut self, ty: usize, state: usize, next: Here) {
        let Some(mut here) = self.at[ty][state].take() else {
            self.changed = true;
            self.at[ty][state] = Some(next);
            return;
        };
        for (number, (here, next)) in here.iter_mut().zip(next).enumerate() {
            let both = here.zip(next).map(|(old, range)| self.grown(Some(old), range, self.model.leaves[number].ty));
            self.changed |= both != *here;
            *here = both;
        }
        self.at[ty][state] = Some(here);
    }

    /// The intervals after a statement; none if it cannot be executed.
    fn act<'b>(&mut self, act: &Act, mut here: Here, others: impl Iterator<Item = &'b Act>) -> Option<Here> {
        match &act.kind {
            ActKind::Condition(value) => self.refine(&mut here, value, true)?,
            ActKind::Else => {
                for other in others {
                    if let ActKind::Condition(value) = &other.kind {
                        self.refine(&mut here, value, false)?;
                    }
                }
            }
            ActKind::Assign(place, value) => {
                let range = self.value(value, &here);
                self.store(&mut here, place, range);
            }
            ActKind::Send { channel, values, .. } => {
                for ty in self.channels(channel, values.len()) {
                    for (number, value) in values.iter().enumerate() {
                        let field = self.model.channels[ty].fields[number];
                        let range = stored(self.value(value, &here), field);
                        let old = self.bounds.fields[ty][number];
                        let new = self.grown(old, range, field);
                        self.changed |= old != Some(new);
                        self.bounds.fields[ty][number] = Some(new);
                    }
                }
            }
            ActKind::Receive { channel, fields, .. } => {
                let channels = self.channels(channel, fields.len());
                for (number, field) in fields.iter().enumerate() {
                    let Match::Store(place) = field else { continue };
                    if let Some(range) = channels.iter().filter_map(|ty| self.bounds.fields[*ty][number]).reduce(join) {
                        self.store(&mut here, place, range);
                    }
                }
            }
            ActKind::Run { ty, arguments, result, .. } => {
                self.changed |= !std::mem::replace(&mut self.begun[*ty], true);
                for (number, argument) in arguments.iter().enumerate().take(self.model.types[*ty].parameters) {
                    let range = self.value(argument, &here);
                    let old = self.arguments[*ty][number];
                    let new = self.grown(old, range, Scalar::Int);
                    self.changed |= old != Some(new);
                    self.arguments[*ty][number] = Some(new);
                }
                if let Some((place, value)) = result.as_deref() {
                    let range = self.value(value, &here);
                    self.store(&mut here, place, range);
                }
            }
            ActKind::Indivisible(nodes) => return self.sequence(nodes, here).0,
            ActKind::Skip | ActKind::Assert(_) | ActKind::Print(_) | ActKind::End => {}
        }
        Some(here)
    }

    /// The intervals after a sequence, and where it breaks out of a loop.
    fn sequence(&mut self, nodes: &[Node], here: Here) -> (Option<Here>, Option<Here>) {
        let (mut here, mut broken) = (Some(here), None);
        for node in nodes {
            let Some(now) = here else { break };
            self.work += 1;
            here = match &node.tree {
                Tree::Act(act) => self.act(act, now, std::iter::empty()),
                Tree::Block(inner) | Tree::Atomic(inner) => self.inner(inner, now, &mut broken),
                Tree::Indivisible(inner, _) => self.inner(inner, now, &mut broken),
                Tree::If(options) => self.options(options, &now, &mut broken),
                Tree::Do(options) => {
                    let (mut entry, mut out) = (now, None);
                    for _ in 0..LOOPS {
                        let Some(again) = self.options(options, &entry, &mut out) else { break };
                        let wider = self.joined(Some(entry.clone()), Some(again)).unwrap_or_default();
                        if wider == entry {
                            break;
                        }
                        entry = wider;
                    }
                    out
                }
                Tree::Break => {
                    broken = self.joined(broken, Some(now));
                    None
                }
                // The target is somewhere in the sequence; the intervals there have what is stored in any case.
                Tree::Goto(_) | Tree::Unless(..) => Some(now),
            };
        }
        (here, broken)
    }

    fn inner(&mut self, nodes: &[Node], here: Here, broken: &mut Option<Here>) -> Option<Here> {
        let (after, out) = self.sequence(nodes, here);
        *broken = self.joined(broken.take(), out);
        after
    }

    /// The intervals after one of several options.
    fn options(&mut self, options: &[Vec<Node>], here: &Here, broken: &mut Option<Here>) -> Option<Here> {
        let first = |option: &'_ [Node]| match option.first().map(|node| &node.tree) {
            Some(Tree::Act(act)) => Some(act.clone()),
            _ => None,
        };
        let guards: Vec<Act> = options.iter().filter_map(|option| first(option)).collect();
        let mut after = None;
        for option in options {
            let (begins, rest) = match first(option) {
                Some(act) => (self.act(&act, here.clone(), guards.iter()), &option[1..]),
                None => (Some(here.clone()), &option[..]),
            };
            let Some(begins) = begins else { continue };
            let next = self.inner(rest, begins, broken);
            after = self.joined(after, next);
        }
        after
    }

    fn joined(&self, one: Option<Here>, other: Option<Here>) -> Option<Here> {
        let (Some(mut one), Some(other)) = (one.clone(), other.clone()) else { return one.or(other) };
        for (number, (one, other)) in one.iter_mut().zip(other).enumerate() {
            *one = one.zip(other).map(|(old, range)| self.grown(Some(old), range, self.model.leaves[number].ty));
        }
        Some(one)
    }

    fn store(&mut self, here: &mut Here, place: &Place, range: Range) {
        let range = stored(range, self.model.leaf(place.leaf).ty);
        self.note(place.leaf, range);
        if self.is_tracked(place.leaf) {
            here[place.leaf.0 as usize] = Some(range);
        }
    }

    /// The kinds of channels that a variable may hold, of those with this many fields.
    fn channels(&self, place: &Place, fields: usize) -> Vec<usize> {
        let leaf = self.model.leaf(place.leaf);
        let fits = |ty: usize| self.model.channels[ty].fields.len() == fields;
        match leaf.initial {
            Start::Channel(ty) if !leaf.written => Some(ty).filter(|ty| fits(*ty)).into_iter().collect(),
            _ => (0..self.model.channels.len()).filter(|ty| fits(*ty)).collect(),
        }
    }

    fn value(&mut self, value: &Value, here: &Here) -> Range {
        match value {
            Value::Constant(value) => {
                self.constants.extend([value.saturating_sub(1), *value, value.saturating_add(1)]);
                (*value, *value)
            }
            Value::Load(place) => here.get(place.leaf.0 as usize).copied().flatten().or(self.bounds.variable(place.leaf)).unwrap_or((0, 0)),
            Value::RemoteLoad { place, .. } => self.bounds.variable(place.leaf).unwrap_or((0, 0)),
            Value::Unary(op, operand) => {
                let operand = self.value(operand, here);
                intervals::unary(*op, operand)
            }
            Value::Binary(op, left, right, _) => {
                let (left, right) = (self.value(left, here), self.value(right, here));
                intervals::binary(*op, left, right)
            }
            Value::Conditional(condition, one, other) => {
                let mut branch = |value: &Value, truth: bool| {
                    let mut here = here.clone();
                    self.refine(&mut here, condition, truth).map(|()| self.value(value, &here))
                };
                let (one, other) = (branch(one, true), branch(other, false));
                one.into_iter().chain(other).reduce(join).unwrap_or((0, 0))
            }
            Value::Len(place) => {
                let holds = self.model.channels.iter().map(|channel| channel.capacity).max().unwrap_or(0);
                let own = match self.model.leaf(place.leaf).initial {
                    Start::Channel(ty) if !self.model.leaf(place.leaf).written => self.model.channels[ty].capacity,
                    _ => holds,
                };
                (0, i64::from(own))
            }
            Value::Pid | Value::Created => (0, 254),
            Value::Processes => (0, 255),
            Value::Probe(..) | Value::Poll { .. } | Value::Timeout | Value::RemoteLabel { .. } => (0, 1),
        }
    }

    /// Leaves only values with which a condition is true, or false. None if there are none.
    fn refine(&mut self, here: &mut Here, condition: &Value, truth: bool) -> Option<()> {
        match (condition, truth) {
            (Value::Unary(Unary::Not, inner), _) => self.refine(here, inner, !truth)?,
            (Value::Binary(Binary::And, left, right, _), true) | (Value::Binary(Binary::Or, left, right, _), false) => {
                self.refine(here, left, truth)?;
                self.refine(here, right, truth)?;
            }
            (Value::Binary(op, left, right, _), _) => {
                let (left_range, right_range) = (self.value(left, here), self.value(right, here));
                let op = if truth { Some(*op) } else { negated(*op) };
                let Some(op) = op.filter(|op| negated(*op).is_some()) else { return Some(()) };
                for (value, op, range, with) in [(left, op, left_range, right_range), (right, mirrored(op), right_range, left_range)] {
                    let kept = compared(op, range, with);
                    match (&**value, kept) {
                        (_, None) => return None,
                        (Value::Load(place), Some(kept)) if self.is_tracked(place.leaf) => here[place.leaf.0 as usize] = Some(kept),
                        _ => {}
                    }
                }
            }
            (Value::Constant(value), _) if (*value != 0) != truth => return None,
            _ => {}
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    /// The bound of the variable with this name.
    fn bound(text: &str, name: &str) -> Option<Range> {
        let (model, diagnostics) = crate::promela::read(&Source::new("model.pml", text), &[], &|_| None);
        let model = model.unwrap_or_else(|| panic!("{diagnostics:?}"));
        let id = model.leaves.iter().position(|leaf| leaf.name == name).map(|at| LeafId(at as u32));
        Bounds::of(&model).unwrap().variable(id.unwrap())
    }

    #[test]
    fn a_remainder_bounds_what_is_sent_and_received() {
        let text = "chan c = [2] of { int }\n\
            active proctype P() { byte next; do :: c!next; next = (next + 1) % 8 od }\n\
            active proctype Q() { int got; do :: c?got od }";
        assert_eq!(bound(text, "next"), Some((0, 7)));
        assert_eq!(bound(text, "got"), Some((0, 7)));
    }

    #[test]
    fn a_guard_bounds_a_counter() {
        let text = "active proctype P() { int i; byte other; do :: i < 100 -> other = 3; i++ :: else -> break od; i = i - 5 }";
        assert_eq!(bound(text, "i"), Some((0, 100)));
        assert_eq!(bound(text, "other"), Some((0, 3)));
    }

    #[test]
    fn a_loop_in_a_d_step_is_followed() {
        let text = "byte a[4]; active proctype P() { byte i; d_step { do :: i < 4 -> a[i] = 2 * i; i++ :: else -> break od } }";
        assert_eq!(bound(text, "i"), Some((0, 4)));
        assert_eq!(bound(text, "a"), Some((0, 6)));
    }

    #[test]
    fn a_counter_without_a_guard_has_the_bounds_of_its_type() {
        assert_eq!(bound("byte n; active proctype P() { do :: n++ od }", "n"), Some((0, 255)));
        assert_eq!(bound("short n; active proctype P() { do :: n-- od }", "n"), Some((-32768, 32767)));
    }

    #[test]
    fn arguments_are_bounds() {
        let text = "proctype P(byte n) { byte m = n + 1; skip } init { run P(3); run P(5) }";
        assert_eq!(bound(text, "n"), Some((3, 5)));
        assert_eq!(bound(text, "m"), Some((4, 6)));
    }
}
