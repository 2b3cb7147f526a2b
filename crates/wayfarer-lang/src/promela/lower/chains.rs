//! Deterministic runs inside an atomic sequence: what follows a transition until its process stands again.
//!
//! A process that goes on alone, and has at most one way to go on, needs no state in between: the statements become one
//! command. A run ends at a real choice, at a rendezvous, at a loop, or if it grows too long.

use super::rules::{first_waits, mentions};
use crate::promela::flow::Transition;
use crate::promela::learned::Learned;
use crate::promela::model::{ActKind, Binary, LeafId, Model, Node, Place, Start, Tree, Value};

/// The most statements of one run, on all its branches together.
const LONGEST: usize = 60;

/// The continuation of a transition.
#[derive(Clone, Debug)]
pub(super) enum Tail<'m> {
    /// The process stands in a control state, or has ended.
    Stand { to: Option<usize>, alone: bool },
    /// A statement that can always be executed.
    Do(&'m Transition, Box<Tail<'m>>),
    /// Statements of which at most one can be executed, and what happens if none can.
    Test(Vec<(&'m Transition, Tail<'m>)>, Box<Tail<'m>>),
}

/// The runs of all transitions of all process types.
pub(super) struct Chains<'m> {
    /// By type, control state and number of the transition.
    tails: Vec<Vec<Vec<Tail<'m>>>>,
    /// The control states in which a process may stand between two commands.
    standing: Vec<Vec<bool>>,
    /// Those from which it may go on alone.
    passed: Vec<Vec<bool>>,
    /// Assertions that may fail in the middle of a command, at most.
    assertions: usize,
}

/// When a statement can be executed.
#[derive(PartialEq)]
enum When {
    Always,
    Tested,
    /// It depends on other processes, or ends the process.
    Unknown,
}

impl<'m> Chains<'m> {
    pub(super) fn new(model: &'m Model, learned: &Learned) -> Self {
        let mut chains = Chains { tails: Vec::new(), standing: Vec::new(), passed: Vec::new(), assertions: 0 };
        let watched = watched(model);
        for (number, ty) in model.types.iter().enumerate() {
            let states = &ty.automaton.states;
            // A process whose leave to move depends on a condition, or whose place its own statements may ask for, stands after every statement.
            let merges = ty.provided.is_none() && !watched.contains(&number);
            let maker = Maker { model, learned, ty: number, merges };
            let tails: Vec<Vec<Tail>> =
                states.iter().map(|state| state.transitions.iter().map(|way| maker.tail(way, &mut Vec::new(), &mut { LONGEST })).collect()).collect();
            let mut standing = vec![false; states.len()];
            let mut passed = vec![false; states.len()];
            let mut open = vec![ty.automaton.start];
            while let Some(state) = open.pop() {
                if std::mem::replace(&mut standing[state], true) {
                    continue;
                }
                for (way, tail) in states[state].transitions.iter().zip(&tails[state]) {
                    // A process that sends in a rendezvous hands control over and stands behind the statement.
                    if let ActKind::Send { .. } = way.act.kind {
                        open.extend(way.to);
                    }
                    tail.stands(&mut |to, alone| {
                        open.push(to);
                        passed[to] |= alone;
                    });
                }
            }
            let ways = states.iter().flat_map(|state| &state.transitions);
            let inside: usize = ways.clone().map(|way| if let ActKind::Indivisible(nodes) = &way.act.kind { count(nodes) } else { 0 }).sum();
            let follow = tails.iter().flatten().any(|tail| tail.has(&|act| matches!(act, ActKind::Assert(_))));
            let plain = ways.filter(|way| matches!(way.act.kind, ActKind::Assert(_))).count();
            chains.assertions += inside + if follow { plain } else { 0 };
            chains.tails.push(tails);
            chains.standing.push(standing);
            chains.passed.push(passed);
        }
        chains
    }

    /// The continuation of a transition.
    pub(super) fn tail(&self, ty: usize, state: usize, number: usize) -> &Tail<'m> {
        &self.tails[ty][state][number]
    }

    /// Whether a process may stand in a control state between two commands.
    pub(super) fn stands(&self, ty: usize, state: usize) -> bool {
        self.standing[ty][state]
    }

    /// Whether a process may go on alone from a control state.
    pub(super) fn is_passed(&self, ty: usize, state: usize) -> bool {
        self.passed[ty][state]
    }

    /// How many assertions may fail in the middle of a command, at most.
    pub(super) fn assertions(&self) -> usize {
        self.assertions
    }

    /// Whether some process goes on alone somewhere.
    pub(super) fn some_passed(&self) -> bool {
        self.passed.iter().flatten().any(|passed| *passed)
    }
}

impl<'m> Tail<'m> {
    /// Gives every control state in which the run may end.
    fn stands(&self, tell: &mut dyn FnMut(usize, bool)) {
        match self {
            Tail::Stand { to, alone } => {
                if let Some(to) = to {
                    tell(*to, *alone);
                }
            }
            Tail::Do(_, rest) => rest.stands(tell),
            Tail::Test(options, otherwise) => {
                options.iter().for_each(|(_, rest)| rest.stands(tell));
                otherwise.stands(tell);
            }
        }
    }

    /// Gives every statement of the run.
    pub(super) fn each(&self, tell: &mut dyn FnMut(&Transition)) {
        match self {
            Tail::Stand { .. } => {}
            Tail::Do(way, rest) => {
                tell(way);
                rest.each(tell);
            }
            Tail::Test(options, otherwise) => {
                for (way, rest) in options {
                    tell(way);
                    rest.each(tell);
                }
                otherwise.each(tell);
            }
        }
    }

    /// Whether a statement that satisfies a condition is part of the run.
    pub(super) fn has(&self, is: &dyn Fn(&ActKind) -> bool) -> bool {
        match self {
            Tail::Stand { .. } => false,
            Tail::Do(way, rest) => is(&way.act.kind) || rest.has(is),
            Tail::Test(options, otherwise) => options.iter().any(|(way, rest)| is(&way.act.kind) || rest.has(is)) || otherwise.has(is),
        }
    }
}

struct Maker<'m, 'l> {
    model: &'m Model,
    learned: &'l Learned,
    ty: usize,
    merges: bool,
}

impl<'m> Maker<'m, '_> {
    /// Builds the continuation of a transition. `path` are the control states on the way, and `left` is the number of statements
    /// that may still be added.
    fn tail(&self, way: &'m Transition, path: &mut Vec<usize>, left: &mut usize) -> Tail<'m> {
        let stand = Tail::Stand { to: way.to, alone: way.keeps_control };
        let (Some(to), true, true) = (way.to, way.keeps_control, self.merges) else { return stand };
        let ways = &self.model.types[self.ty].automaton.states[to].transitions;
        let plain = ways.iter().all(|way| way.escape == 0);
        if !plain || path.contains(&to) || path.len() >= LONGEST || *left < ways.len() {
            return stand;
        }
        let (others, rest): (Vec<&Transition>, Vec<&Transition>) = ways.iter().partition(|way| matches!(way.act.kind, ActKind::Else));
        let when: Vec<When> = rest.iter().map(|way| self.when(&way.act.kind)).collect();
        let is_else = |way: &Transition| matches!(way.act.kind, ActKind::Else);
        let last = ways.iter().position(is_else).is_none_or(|number| number + 1 == ways.len());
        if when.contains(&When::Unknown) || !last {
            return stand;
        }
        path.push(to);
        let tail = match (&rest[..], &others[..]) {
            ([only], []) if when[0] == When::Always => {
                *left -= 1;
                Tail::Do(only, Box::new(self.tail(only, path, left)))
            }
            (options, others) if options.len() == 1 && when[0] == When::Tested || options.len() > 1 && exclusive(options) => {
                *left -= ways.len();
                let otherwise = match others.first() {
                    Some(other) => Tail::Do(other, Box::new(self.tail(other, path, left))),
                    None => Tail::Stand { to: Some(to), alone: false },
                };
                let options = options.iter().map(|way| (*way, self.tail(way, path, left))).collect();
                Tail::Test(options, Box::new(otherwise))
            }
            _ => stand,
        };
        path.pop();
        tail
    }

    fn when(&self, act: &ActKind) -> When {
        match act {
            ActKind::Skip | ActKind::Assign(..) | ActKind::Print(_) | ActKind::Assert(_) | ActKind::Run { .. } | ActKind::Else => When::Always,
            ActKind::Condition(value) if !mentions(value) => When::Tested,
            ActKind::Send { channel, .. } | ActKind::Receive { channel, .. } if self.is_buffered(channel) => When::Tested,
            ActKind::Indivisible(nodes) if !first_waits(nodes) && self.begins_alone(nodes) => When::Tested,
            _ => When::Unknown,
        }
    }

    /// Whether a `d_step` can begin without a partner.
    fn begins_alone(&self, nodes: &[Node]) -> bool {
        match nodes.first().map(|node| &node.tree) {
            Some(Tree::Act(act)) => self.when(&act.kind) != When::Unknown,
            Some(Tree::If(options) | Tree::Do(options)) => options.iter().all(|option| self.begins_alone(option)),
            Some(Tree::Block(inner) | Tree::Atomic(inner)) => self.begins_alone(inner),
            Some(Tree::Indivisible(inner, _)) => self.begins_alone(inner),
            _ => true,
        }
    }

    /// Whether a variable can hold no rendezvous channel, as far as was learned.
    fn is_buffered(&self, place: &Place) -> bool {
        let leaf = self.model.leaf(place.leaf);
        let buffered = |ty: usize| self.model.channels[ty].capacity > 0;
        if let (Start::Channel(ty), false) = (&leaf.initial, leaf.written) {
            return buffered(*ty);
        }
        let homes = self.learned.channels.iter().filter(|((_, id), _)| *id == place.leaf);
        homes.flat_map(|(_, set)| set).all(|origin| buffered(origin.ty))
    }
}

/// Whether at most one of several conditions can be true: all compare the same variable with different constants.
fn exclusive(ways: &[&Transition]) -> bool {
    let mut seen: Vec<(LeafId, i64)> = Vec::new();
    for way in ways {
        let ActKind::Condition(Value::Binary(Binary::Equal, left, right, _)) = &way.act.kind else { return false };
        let (Value::Load(place), Value::Constant(value)) = (&**left, &**right) else { return false };
        let fresh = seen.iter().all(|(leaf, known)| *leaf == place.leaf && known != value);
        if !fresh || place.indices.iter().any(|index| !matches!(index, Value::Constant(0))) {
            return false;
        }
        seen.push((place.leaf, *value));
    }
    true
}

/// Whether there are assertions in a sequence.
pub(super) fn asserts(nodes: &[Node]) -> bool {
    count(nodes) > 0
}

fn count(nodes: &[Node]) -> usize {
    let of = |node: &Node| match &node.tree {
        Tree::Act(act) => usize::from(matches!(act.kind, ActKind::Assert(_))),
        Tree::If(options) | Tree::Do(options) => options.iter().map(|option| count(option)).sum(),
        Tree::Atomic(inner) | Tree::Block(inner) => count(inner),
        Tree::Indivisible(inner, _) => count(inner),
        Tree::Unless(body, escape) => count(body) + count(escape),
        Tree::Break | Tree::Goto(_) => 0,
    };
    nodes.iter().map(of).sum()
}

/// The process types whose place is asked for by statements of the same type.
fn watched(model: &Model) -> Vec<usize> {
    let mut found = Vec::new();
    for (number, ty) in model.types.iter().enumerate() {
        let ways = ty.automaton.states.iter().flat_map(|state| &state.transitions);
        if ways.into_iter().any(|way| act_watches(&way.act.kind, number)) {
            found.push(number);
        }
    }
    found
}

fn act_watches(act: &ActKind, ty: usize) -> bool {
    let watches = |value: &Value| watches(value, ty);
    match act {
        ActKind::Condition(value) | ActKind::Assign(_, value) | ActKind::Assert(value) => watches(value),
        ActKind::Send { values, .. } => values.iter().any(watches),
        ActKind::Run { arguments, result, .. } => arguments.iter().any(watches) || result.as_ref().is_some_and(|result| watches(&result.1)),
        ActKind::Indivisible(nodes) => nodes.iter().any(|node| node_watches(node, ty)),
        _ => false,
    }
}

fn node_watches(node: &Node, ty: usize) -> bool {
    let inside = |nodes: &[Node]| nodes.iter().any(|node| node_watches(node, ty));
    match &node.tree {
        Tree::Act(act) => act_watches(&act.kind, ty),
        Tree::If(options) | Tree::Do(options) => options.iter().any(|option| inside(option)),
        Tree::Atomic(nodes) | Tree::Block(nodes) => inside(nodes),
        Tree::Indivisible(nodes, _) => inside(nodes),
        Tree::Unless(body, escape) => inside(body) || inside(escape),
        Tree::Break | Tree::Goto(_) => false,
    }
}

fn watches(value: &Value, ty: usize) -> bool {
    match value {
        Value::RemoteLabel { ty: other, .. } => *other == ty,
        Value::Unary(_, operand) => watches(operand, ty),
        Value::Binary(_, left, right, _) => watches(left, ty) || watches(right, ty),
        Value::Conditional(condition, one, other) => watches(condition, ty) || watches(one, ty) || watches(other, ty),
        _ => false,
    }
}
