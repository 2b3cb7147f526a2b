//! Hidden variables that hold nothing between steps. SPIN leaves hidden variables out of its states and keeps them beside; what they hold is then no function of the state, unless every
//! step, or atomic sequence, that reads one has written it before.
//!
//! Such a variable is put back to zero by the statement after which nobody reads it any more, so that it makes no states of its own. All others stay part of the state.

use super::flow::Transition;
use super::model::{Act, ActKind, LeafId, Match, Model, Node, Place, PrintPart, Start, Tree, Value};
use crate::source::Span;
use std::sync::Arc;

/// Resets the hidden variables that hold nothing between steps. Gives back those that do.
pub(super) fn reset(model: &mut Model) -> Vec<LeafId> {
    let hidden = (0..model.leaves.len() as u32).map(LeafId).filter(|id| model.leaf(*id).hidden && model.leaf(*id).read);
    hidden.collect::<Vec<_>>().into_iter().filter(|id| !reset_one(model, *id)).collect()
}

/// A transition by type, control state and number.
type Way = (usize, usize, usize);

fn reset_one(model: &mut Model, id: LeafId) -> bool {
    let leaf = model.leaf(id);
    if leaf.cells() != 1 || !matches!(leaf.initial, Start::Zero) {
        return false;
    }
    let asked = model.find.iter().map(|(value, _)| value).chain(model.types.iter().filter_map(|ty| ty.provided.as_ref()));
    if asked.into_iter().any(|value| reads(value, id)) {
        return false;
    }
    let types: Vec<usize> = leaf.owner.map_or_else(|| (0..model.types.len()).collect(), |owner| vec![owner]);
    let mut last = Vec::new();
    for ty in types {
        match resets(model, ty, id) {
            Some(more) => last.extend(more),
            None => return false,
        }
    }
    let place = Place { leaf: id, indices: Vec::new(), at: leaf.at };
    for (ty, state, number) in last {
        let act = &mut model.types[ty].automaton.states[state].transitions[number].act;
        let zero = Act { kind: ActKind::Assign(place.clone(), Value::Constant(0)), at: act.at, text: "".into() };
        let node = |act: Act| Node { labels: Vec::new(), at: act.at, tree: Tree::Act(act), span: Span::default() };
        let mut nodes = match &act.kind {
            ActKind::Indivisible(nodes) => nodes.to_vec(),
            _ => vec![node(act.clone())],
        };
        nodes.push(node(zero));
        act.kind = ActKind::Indivisible(Arc::new(nodes));
    }
    true
}

/// The transitions of a process type after which the variable is to be zero. None if it may hold something between steps.
fn resets(model: &Model, ty: usize, id: LeafId) -> Option<Vec<Way>> {
    let states = &model.types[ty].automaton.states;
    let mut live = vec![false; states.len()];
    let uses: Vec<Vec<Use>> =
        states.iter().map(|state| state.transitions.iter().map(|transition| used(&transition.act.kind, id)).collect()).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (number, state) in states.iter().enumerate() {
            let needs = |(transition, used): (&Transition, &Use)| used.reads || (!used.writes && transition.to.is_some_and(|to| live[to]));
            if !live[number] && state.transitions.iter().zip(&uses[number]).any(needs) {
                live[number] = true;
                changed = true;
            }
        }
    }
    if between_steps(model, ty).into_iter().zip(&live).any(|(between, live)| between && *live) {
        return None;
    }
    // Control states in which it may hold something other than zero.
    let mut dirty = vec![false; states.len()];
    let mut found = Vec::new();
    let mut changed = true;
    while changed {
        changed = false;
        found.clear();
        for (number, state) in states.iter().enumerate() {
            for (index, (transition, used)) in state.transitions.iter().zip(&uses[number]).enumerate() {
                let holds = dirty[number] || used.touches;
                match transition.to {
                    Some(to) if holds && !live[to] => {
                        if !can_go_on(&transition.act.kind) {
                            return None;
                        }
                        found.push((ty, number, index));
                    }
                    Some(to) if holds && !dirty[to] => {
                        dirty[to] = true;
                        changed = true;
                    }
                    // The end of a process leaves its own variables behind.
                    None if holds && model.leaf(id).owner.is_none() => return None,
                    _ => {}
                }
            }
        }
    }
    Some(found)
}

/// Control states in which others may move.
fn between_steps(model: &Model, ty: usize) -> Vec<bool> {
    let automaton = &model.types[ty].automaton;
    let may_block = |transitions: &[Transition]| !transitions.iter().any(|transition| is_certain(&transition.act.kind));
    let mut between: Vec<bool> = automaton.states.iter().map(|state| model.types[ty].provided.is_some() || may_block(&state.transitions)).collect();
    between.iter_mut().skip(automaton.start).take(1).for_each(|start| *start = true);
    for transition in automaton.states.iter().flat_map(|state| &state.transitions) {
        // A rendezvous hands control to the receiver.
        if let Some(to) = transition.to.filter(|_| !transition.keeps_control || matches!(transition.act.kind, ActKind::Send { .. })) {
            between[to] = true;
        }
    }
    between
}

/// Whether a statement can always be executed, or something beside it.
fn is_certain(act: &ActKind) -> bool {
    match act {
        ActKind::Skip | ActKind::Else | ActKind::Assign(..) | ActKind::Assert(_) | ActKind::Print(_) | ActKind::Run { .. } => true,
        ActKind::Indivisible(nodes) => matches!(nodes.first().map(|node| &node.tree), Some(Tree::Act(act)) if is_certain(&act.kind)),
        ActKind::Condition(_) | ActKind::Send { .. } | ActKind::Receive { .. } | ActKind::End => false,
    }
}

/// Whether another statement can follow in the same step.
fn can_go_on(act: &ActKind) -> bool {
    matches!(act, ActKind::Skip | ActKind::Condition(_) | ActKind::Assign(..) | ActKind::Assert(_) | ActKind::Print(_) | ActKind::Indivisible(_))
}

/// How a statement uses the variable: whether it may read it before it writes it, whether it certainly writes it, and whether it may.
#[derive(Clone, Copy, Default)]
struct Use {
    reads: bool,
    writes: bool,
    touches: bool,
}

fn used(act: &ActKind, id: LeafId) -> Use {
    let read = |value: &Value| reads(value, id);
    let written = |place: &Place| place.leaf == id;
    let indices = |place: &Place| place.indices.iter().any(read);
    let plain = |reads: bool| Use { reads, ..Use::default() };
    let write = |reads: bool, writes: bool| Use { reads, writes, touches: writes };
    match act {
        ActKind::Skip | ActKind::Else | ActKind::End => Use::default(),
        ActKind::Condition(value) | ActKind::Assert(value) => plain(read(value)),
        ActKind::Assign(place, value) => write(read(value) || indices(place), written(place)),
        ActKind::Send { channel, values, .. } => plain(values.iter().any(read) || written(channel) || indices(channel)),
        ActKind::Receive { channel, fields, .. } => {
            let reads = fields.iter().any(|field| match field {
                Match::Equal(value) => read(value),
                Match::Store(place) => indices(place),
                Match::Any => false,
            });
            let writes = fields.iter().any(|field| matches!(field, Match::Store(place) if written(place)));
            write(reads || written(channel) || indices(channel), writes)
        }
        ActKind::Run { arguments, result, .. } => {
            let value = result.as_ref().is_some_and(|result| read(&result.1) || indices(&result.0));
            write(arguments.iter().any(read) || value, result.as_ref().is_some_and(|result| written(&result.0)))
        }
        ActKind::Print(parts) => plain(parts.iter().any(|part| match part {
            PrintPart::Text(_) => false,
            PrintPart::Number(value) | PrintPart::Unsigned(value) | PrintPart::Hexadecimal(value) => read(value),
            PrintPart::Octal(value) | PrintPart::Character(value) | PrintPart::Name(value, _) => read(value),
        })),
        ActKind::Indivisible(nodes) => sequence(nodes, id),
    }
}

fn sequence(nodes: &[Node], id: LeafId) -> Use {
    let mut all = Use::default();
    for node in nodes {
        // A jump may come here from anywhere.
        let before = if node.labels.is_empty() { all.writes } else { false };
        let own = tree(&node.tree, id);
        all.reads |= own.reads && !before;
        all.writes = before || own.writes;
        all.touches |= own.touches;
    }
    all
}

fn tree(tree: &Tree, id: LeafId) -> Use {
    let options = |options: &[Vec<Node>], writes: bool| {
        let all: Vec<Use> = options.iter().map(|option| sequence(option, id)).collect();
        Use {
            reads: all.iter().any(|option| option.reads),
            writes: writes && all.iter().all(|option| option.writes),
            touches: all.iter().any(|option| option.touches),
        }
    };
    match tree {
        Tree::Act(act) => used(&act.kind, id),
        Tree::If(list) => options(list, true),
        Tree::Do(list) => options(list, false),
        Tree::Atomic(nodes) | Tree::Block(nodes) => sequence(nodes, id),
        Tree::Indivisible(nodes, _) => sequence(nodes, id),
        Tree::Unless(nodes, escape) => {
            let (one, other) = (sequence(nodes, id), sequence(escape, id));
            Use { reads: one.reads || other.reads, writes: false, touches: one.touches || other.touches }
        }
        Tree::Break | Tree::Goto(_) => Use::default(),
    }
}

/// Whether an expression reads the variable.
fn reads(value: &Value, id: LeafId) -> bool {
    let place = |place: &Place| place.leaf == id || place.indices.iter().any(|index| reads(index, id));
    match value {
        Value::Constant(_) | Value::Timeout | Value::Pid | Value::Processes | Value::Created => false,
        Value::Load(own) | Value::Len(own) | Value::Probe(_, own) => place(own),
        Value::Unary(_, one) => reads(one, id),
        Value::Binary(_, one, other, _) => reads(one, id) || reads(other, id),
        Value::Conditional(condition, one, other) => reads(condition, id) || reads(one, id) || reads(other, id),
        Value::Poll { channel, fields, .. } => {
            let field = |field: &Match| matches!(field, Match::Equal(value) if reads(value, id));
            place(channel) || fields.iter().any(field)
        }
        Value::RemoteLabel { process, .. } => process.as_deref().is_some_and(|process| reads(process, id)),
        Value::RemoteLoad { process, place: own, .. } => place(own) || process.as_deref().is_some_and(|process| reads(process, id)),
    }
}
