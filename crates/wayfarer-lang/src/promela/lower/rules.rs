//! Rules: one for each transition of each process type in each slot, and one for each pair that can meet in a rendezvous.

use super::layout::Resident;
use super::{Here, Lowering, Ranged, RuleOf, all, any, binary, equal, field, not};
use crate::promela::flow::Transition;
use crate::promela::machine::reception;
use crate::promela::model::{ActKind, Match, Node, Scalar, Tree, Value};
use wayfarer_ir::{At, BinaryOp, Block, Body, Expr, FaultKind, Formula, Names, PassingField, Rule, Stmt, Type, TypeId, layout};
use wayfarer_space::FaultClass;

/// More rules than this are refused.
const MOST_RULES: usize = 200_000;
/// The least number that is printed: stored forms are distances from it.
pub(super) const PRINTED_FROM: i64 = i64::MIN;

/// A transition in a slot.
#[derive(Clone, Copy)]
pub(super) struct Way<'m> {
    pub(super) slot: usize,
    pub(super) ty: usize,
    pub(super) state: usize,
    pub(super) number: usize,
    pub(super) transition: &'m Transition,
}

/// How a sender and a receiver meet.
struct Meeting {
    guard: Expr,
    /// The message, as the channel's fields hold it.
    message: Vec<Ranged>,
}

impl<'a> Lowering<'a> {
    pub(super) fn rules(&mut self) -> Result<(), String> {
        self.start();
        let ways = self.ways();
        let receivers: Vec<Way> = ways.iter().filter(|way| reception(&way.transition.act.kind).is_some()).copied().collect();
        for way in &ways {
            self.rule(way, &receivers, false)?;
        }
        if self.model.has_timeout {
            let before = self.program.rules.len();
            for way in ways.iter().filter(|way| waits(&way.transition.act.kind)) {
                self.rule(way, &receivers, true)?;
            }
            self.program.levels = (0..self.program.rules.len()).map(|number| u32::from(number >= before)).collect();
        }
        self.failures()?;
        if let Some((offset, bits)) = self.layout.control {
            let endless = self.fault(FaultClass::Violation, FaultKind::Endless, "an atomic sequence does not end".to_string(), At::default());
            self.program.passing = Some(PassingField { offset, bits, endless });
        }
        self.registers = 0;
        let value = self.ends();
        self.program.ends = Some(Formula { registers: self.registers, value });
        Ok(())
    }

    /// All transitions of all process types in all slots.
    fn ways(&self) -> Vec<Way<'a>> {
        let model = self.model;
        let mut ways = Vec::new();
        for (slot, at) in self.layout.slots.iter().enumerate() {
            for Resident { ty, states, .. } in &at.residents {
                for (state, control) in model.types[*ty].automaton.states.iter().enumerate().filter(|(state, _)| states[*state].is_some()) {
                    for (number, transition) in control.transitions.iter().enumerate() {
                        ways.push(Way { slot, ty: *ty, state, number, transition });
                    }
                }
            }
        }
        ways
    }

    fn start(&mut self) {
        self.registers = 0;
        let mut block = Vec::new();
        for id in self.model.globals.clone() {
            self.first_values(Here { slot: 0, ty: 0, timeout: false }, id, &[], &mut block);
        }
        for (slot, (ty, _)) in self.model.active.iter().enumerate() {
            self.begin(slot, *ty, &[], &mut block);
        }
        let command = Body { registers: self.registers, frame: 0, block };
        let at = self.model.active.first().map_or(At::default(), |(_, at)| *at);
        self.program.starts.push(Rule { name: "start".to_string(), parameters: Vec::new(), guard: Formula::default(), command, at });
    }

    /// Whether a state may be the last: every process has ended or stands where it may stay.
    fn ends(&mut self) -> Expr {
        let mut parts = Vec::new();
        for slot in 0..self.layout.slots.len() {
            let pc = self.process(slot);
            let mut ways = vec![equal(pc.clone(), 0)];
            for Resident { ty, states, .. } in &self.layout.slots[slot].residents {
                let ends = self.model.types[*ty].automaton.states.iter().zip(states).filter(|(state, _)| state.may_end);
                ways.extend(ends.filter_map(|(_, value)| *value).map(|value| equal(pc.clone(), value)));
            }
            parts.push(any(ways));
        }
        all(parts)
    }

    /// Whether a process can go on alone from a control state.
    pub(super) fn is_passed(&self, ty: usize, state: usize) -> bool {
        self.chains.is_passed(ty, state)
    }

    pub(super) fn stands(&self, way: &Way) -> Expr {
        match self.layout.slots[way.slot].state(way.ty, way.state) {
            Some(value) => equal(self.process(way.slot), value),
            None => Expr::Const(0),
        }
    }

    /// Whether no other process goes on alone.
    fn in_control(&self, way: &Way, timeout: bool) -> Expr {
        let Some((offset, bits)) = self.layout.control else { return Expr::Const(1) };
        let free = equal(field(offset, bits), 0);
        if timeout || !self.is_passed(way.ty, way.state) {
            return free;
        }
        any(vec![free, equal(field(offset, bits), way.slot as i64 + 1)])
    }

    fn provided(&mut self, way: &Way, timeout: bool) -> Expr {
        match &self.model.types[way.ty].provided {
            Some(condition) => self.truth(Here { slot: way.slot, ty: way.ty, timeout }, condition),
            None => Expr::Const(1),
        }
    }

    /// Whether no escape comes before a transition.
    fn not_escaped(&mut self, way: &Way, receivers: &[Way<'a>], timeout: bool) -> Expr {
        let transitions = &self.model.types[way.ty].automaton.states[way.state].transitions;
        let mut parts = Vec::new();
        for (number, transition) in transitions.iter().enumerate().take(way.number) {
            if transition.escape > 0 && transition.escape != way.transition.escape {
                let other = Way { number, transition, ..*way };
                parts.push(not(self.can_move(&other, receivers, timeout)));
            }
        }
        all(parts)
    }

    /// Whether a transition can be taken, where its process stands there and may move.
    fn can_move(&mut self, way: &Way, receivers: &[Way<'a>], timeout: bool) -> Expr {
        let here = Here { slot: way.slot, ty: way.ty, timeout };
        match &way.transition.act.kind {
            ActKind::Else => {
                let transitions = &self.model.types[way.ty].automaton.states[way.state].transitions;
                let mut parts = Vec::new();
                // As in SPIN, only what stands before it counts: options behind a nested selection do not.
                for (number, transition) in transitions.iter().enumerate().take(way.number) {
                    if !matches!(transition.act.kind, ActKind::Else) {
                        let other = Way { number, transition, ..*way };
                        parts.push(not(self.can_move(&other, receivers, timeout)));
                    }
                }
                all(parts)
            }
            ActKind::Send { .. } => {
                let mut parts = vec![self.executable(here, &way.transition.act.kind)];
                for receiver in receivers.iter().filter(|receiver| receiver.slot != way.slot) {
                    if let Some(meeting) = self.meeting(way, receiver, timeout) {
                        parts.push(meeting.guard);
                    }
                }
                any(parts)
            }
            kind => self.executable(here, kind),
        }
    }

    fn rule(&mut self, way: &Way<'a>, receivers: &[Way<'a>], timeout: bool) -> Result<(), String> {
        self.registers = 0;
        let here = Here { slot: way.slot, ty: way.ty, timeout };
        let act = &way.transition.act;
        let can = match &act.kind {
            // A rendezvous has rules of its own.
            ActKind::Send { .. } => self.executable(here, &act.kind),
            _ => self.can_move(way, receivers, timeout),
        };
        let before = vec![self.stands(way), self.in_control(way, timeout), self.provided(way, timeout), self.not_escaped(way, receivers, timeout)];
        let before = all(before);
        let guard = all(vec![before.clone(), can]);
        if !matches!(guard, Expr::Const(0)) {
            if let ActKind::Assert(value) = &act.kind {
                let holds = self.truth(here, value);
                let fault = self.assertion(act);
                let fails = all(vec![guard.clone(), not(holds)]);
                self.push(way, None, fails, vec![Stmt::Fault(fault)])?;
                self.registers = 0;
            }
            let mut block = Vec::new();
            self.watch_assertions(way, &mut block);
            self.effect(here, &act.kind, &mut block);
            self.follow(way, way, &mut block);
            self.push(way, None, guard, block)?;
        }
        if let ActKind::Send { .. } = &act.kind {
            for receiver in receivers.iter().filter(|receiver| receiver.slot != way.slot) {
                self.registers = 0;
                let Some(meeting) = self.meeting(way, receiver, timeout) else { continue };
                let guard = all(vec![before.clone(), meeting.guard]);
                let mut block = Vec::new();
                self.watch_assertions(receiver, &mut block);
                self.hand_over(receiver, &meeting.message, timeout, &mut block);
                self.arrive(way, way.transition.to, &mut block);
                self.follow(way, receiver, &mut block);
                self.push(way, Some(receiver), guard, block)?;
            }
        }
        Ok(())
    }

    /// How a sender and a receiver can meet; none where they cannot.
    fn meeting(&mut self, sender: &Way, receiver: &Way, timeout: bool) -> Option<Meeting> {
        let ActKind::Send { channel, values, .. } = &sender.transition.act.kind else { return None };
        let (theirs, fields, _) = reception(&receiver.transition.act.kind)?;
        let here = Here { slot: sender.slot, ty: sender.ty, timeout };
        let there = Here { slot: receiver.slot, ty: receiver.ty, timeout };
        let (from, from_set) = self.channel(here, channel);
        let (to, to_set) = self.channel(there, theirs);
        let mut shared: Vec<usize> = from_set.into_iter().filter(|number| to_set.contains(number)).collect();
        shared.retain(|number| {
            let channel = &self.layout.channels[*number];
            channel.capacity == 0 && channel.fields.len() == values.len() && values.len() == fields.len()
        });
        let first = *shared.first()?;
        let mut parts = vec![self.stands(receiver)];
        let same = shared.iter().map(|number| {
            let is = |expr: &Expr| match expr {
                Expr::Const(value) => Expr::Const(i64::from(*value == *number as i64 + 1)),
                expr => equal(expr.clone(), *number as i64 + 1),
            };
            all(vec![is(&from), is(&to), self.exists(here, *number).unwrap_or(Expr::Const(1))])
        });
        parts.push(any(same.collect()));
        parts.push(self.provided(receiver, timeout));
        // While a message is offered only receptions count as escapes.
        let transitions = &self.model.types[receiver.ty].automaton.states[receiver.state].transitions;
        for (number, transition) in transitions.iter().enumerate().take(receiver.number) {
            if transition.escape > 0
                && transition.escape != receiver.transition.escape
                && let Some(meeting) = self.meeting(sender, &Way { number, transition, ..*receiver }, timeout)
            {
                parts.push(not(meeting.guard));
            }
        }
        let mut message = Vec::new();
        let ty = self.layout.channels[first].origin.ty;
        for (index, value) in values.iter().enumerate() {
            let value = self.value(here, value);
            message.push(wrapped(value, self.model.channels[ty].fields[index]));
        }
        for (sent, wanted) in message.iter().zip(fields) {
            if let Match::Equal(wanted) = wanted {
                let wanted = self.value(there, wanted);
                match (&sent.expr, &wanted.expr) {
                    (Expr::Const(one), Expr::Const(other)) if one == other => {}
                    _ if sent.low > wanted.high || sent.high < wanted.low => return None,
                    _ => parts.push(binary(BinaryOp::Eq, sent.expr.clone(), wanted.expr)),
                }
            }
        }
        match all(parts) {
            Expr::Const(0) => None,
            guard => Some(Meeting { guard, message }),
        }
    }

    /// Stores a message that is handed over, and goes on with what is left of the receiver's `d_step`.
    fn hand_over(&mut self, receiver: &Way, message: &[Ranged], timeout: bool, block: &mut Block) {
        let Some((_, fields, rest)) = reception(&receiver.transition.act.kind) else { return };
        let there = Here { slot: receiver.slot, ty: receiver.ty, timeout };
        let several = fields.iter().filter(|field| matches!(field, Match::Store(_))).count() > 1;
        let mut values = Vec::new();
        for (value, field) in message.iter().zip(fields) {
            let Match::Store(place) = field else { continue };
            let mut value = value.clone();
            // All are known before any is stored.
            if several && !matches!(value.expr, Expr::Const(_)) {
                let register = self.register();
                block.push(Stmt::Set(register, value.expr));
                value.expr = Expr::Reg(register);
            }
            values.push((place, value));
        }
        for (place, value) in values {
            self.assign(there, place, value, block);
        }
        for nodes in rest {
            self.rest_of_indivisible(there, nodes, block);
        }
    }

    fn push(&mut self, way: &Way, receiver: Option<&Way>, guard: Expr, block: Block) -> Result<(), String> {
        if self.program.rules.len() >= MOST_RULES {
            return Err(format!("there are more than {MOST_RULES} transitions of processes"));
        }
        let describe = |way: &Way| {
            let act = &way.transition.act;
            format!("{}[{}] line {}: {}", self.model.types[way.ty].name, way.slot, act.at.line, act.text)
        };
        let name = match receiver {
            Some(receiver) => format!("{} => {}", describe(way), describe(receiver)),
            None => describe(way),
        };
        let at = way.transition.act.at;
        let partner = receiver.map(|receiver| (receiver.slot, receiver.ty, receiver.transition.act.at.line));
        let passed = self.is_passed(way.ty, way.state);
        let last = receiver.unwrap_or(way);
        let mut begins = vec![self.statement(way.slot, way.transition)];
        begins.extend(receiver.map(|receiver| self.statement(receiver.slot, receiver.transition)));
        let chains = self.chains.clone();
        let mut follow = Vec::new();
        chains.tail(last.ty, last.state, last.number).each(&mut |transition| follow.push(self.statement(last.slot, transition)));
        self.rules.push(RuleOf { slot: way.slot, ty: way.ty, line: at.line, partner, passed, begins, follow });
        let registers = self.registers;
        let guard = Formula { registers: 0, value: guard };
        self.program.rules.push(Rule { name, parameters: Vec::new(), guard, command: Body { registers, frame: 0, block }, at });
        Ok(())
    }

    /// The number of a statement of the process in a slot.
    fn statement(&mut self, slot: usize, transition: &Transition) -> u32 {
        let next = self.statements.len() as u32;
        *self.statements.entry((slot, std::ptr::from_ref(transition))).or_insert(next)
    }

    /// The type in which a printed value is shown: as a number, or by the names of a kind of `mtype`.
    pub(super) fn print_type(&mut self, kind: Option<u32>) -> TypeId {
        let names = match kind {
            Some(kind) => Names::Names(std::iter::once("0".to_string()).chain(self.model.mtypes[kind as usize].iter().cloned()).collect()),
            None => Names::Numbers,
        };
        let (low, count) = match &names {
            Names::Names(names) => (0, names.len() as u64),
            Names::Numbers | Names::Real(_) => (PRINTED_FROM, u64::MAX),
        };
        let ty = Type::Scalar(layout::scalar(None, low, count, false, names));
        let known = self.program.types.iter().position(|known| *known == ty);
        let number = known.unwrap_or_else(|| {
            self.program.types.push(ty);
            self.program.types.len() - 1
        });
        TypeId(number as u32)
    }
}

/// A value as a field of a message holds it.
fn wrapped(value: Ranged, ty: Scalar) -> Ranged {
    let (least, most) = ty.range();
    if let Expr::Const(value) = value.expr {
        return Ranged::constant(ty.wrap(value));
    }
    if value.low >= least && value.high <= most {
        return value;
    }
    let expr = match ty {
        Scalar::Short => binary(BinaryOp::Shr, binary(BinaryOp::Shl, value.expr, Expr::Const(48)), Expr::Const(48)),
        Scalar::Int => value.expr,
        _ => binary(BinaryOp::And, value.expr, Expr::Const(most)),
    };
    Ranged { expr, low: least, high: most }
}

/// Whether a statement waits for a timeout.
fn waits(act: &ActKind) -> bool {
    match act {
        ActKind::Condition(value) | ActKind::Assert(value) | ActKind::Assign(_, value) => mentions(value),
        ActKind::Indivisible(nodes) => first_waits(nodes),
        _ => false,
    }
}

pub(super) fn first_waits(nodes: &[Node]) -> bool {
    match nodes.first().map(|node| &node.tree) {
        Some(Tree::Act(act)) => waits(&act.kind),
        Some(Tree::If(options) | Tree::Do(options)) => options.iter().any(|option| first_waits(option)),
        Some(Tree::Block(inner) | Tree::Atomic(inner)) => first_waits(inner),
        Some(Tree::Indivisible(inner, _)) => first_waits(inner),
        _ => false,
    }
}

pub(super) fn mentions(value: &Value) -> bool {
    match value {
        Value::Timeout => true,
        Value::Unary(_, operand) => mentions(operand),
        Value::Binary(_, left, right, _) => mentions(left) || mentions(right),
        Value::Conditional(condition, one, other) => mentions(condition) || mentions(one) || mentions(other),
        _ => false,
    }
}
