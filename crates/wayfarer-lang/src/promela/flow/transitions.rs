//! From elements to transitions between control states.

use super::elements::{ATOM, Element, ElementId, Failure, Graph, Kind, LAST_ATOM, SequenceId, Target};
use super::{Automaton, ControlState, Transition};
use crate::promela::model::{Act, ActKind, Value};
use std::sync::Arc;

/// Elements looked at on the way to the next one.
const LONGEST_HUNT: usize = 500;

/// A transition between elements; `of` is the element whose statement it executes.
#[derive(Clone)]
struct Link {
    of: ElementId,
    act: Act,
    to: Option<ElementId>,
    keeps_control: bool,
    /// Starts of escapes, the innermost first.
    escapes: Vec<ElementId>,
    escape: usize,
}

/// The links out of an element.
#[derive(Clone)]
enum Links {
    One(Link),
    /// Through the first elements of options.
    Through(Vec<ElementId>),
}

/// The automaton of linked elements.
pub(super) fn automaton(graph: &Graph) -> Result<Automaton, Failure> {
    let body = graph.sequence(graph.body)?;
    let mut maker = Maker {
        graph,
        status: graph.elements.iter().map(|element| element.status).collect(),
        links: vec![None; graph.elements.len()],
        next: graph.elements.iter().map(|element| element.next).collect(),
    };
    maker.sequence(graph.body, 0)?;
    let start = maker.hunt(body.first, maker.status[body.first])?;
    let mut may_end: Vec<bool> = vec![false; graph.elements.len()];
    may_end[graph.stop] = true;
    for (target, id) in &graph.labels {
        if matches!(target, Target::Label(label) if label.name.starts_with("end")) {
            may_end[*id] = true;
        }
    }
    let lists = maker.flatten(&mut may_end)?;
    let lists = with_escapes(lists);
    for (id, list) in lists.iter().enumerate() {
        if let [only] = &list[..]
            && may_end[id]
            && matches!(graph.elements[id].kind, Kind::Dot)
            && let Some(to) = only.to
        {
            may_end[to] = true;
        }
    }
    Ok(number(graph, &lists, &may_end, start))
}

struct Maker<'a> {
    graph: &'a Graph,
    status: Vec<u8>,
    next: Vec<Option<ElementId>>,
    links: Vec<Option<Links>>,
}

impl Maker<'_> {
    fn element(&self, id: ElementId) -> &Element {
        &self.graph.elements[id]
    }

    fn goto(&self, id: ElementId, target: &Target) -> Result<ElementId, Failure> {
        self.graph.target(target).ok_or_else(|| match target {
            Target::Label(label) => (label.span, format!("there is no label `{}`", label.name)),
            Target::Loop(_) => (self.element(id).span, "`break` outside of a loop".to_string()),
        })
    }

    /// The element at which a process stands that goes on at `id`.
    fn hunt(&self, id: ElementId, from: u8) -> Result<ElementId, Failure> {
        let mut now = id;
        for _ in 0..LONGEST_HUNT {
            let next = match &self.element(now).kind {
                Kind::Goto(target) => {
                    let next = self.goto(now, target)?;
                    if next == now {
                        return Err((self.element(now).span, "this jump leads to itself".to_string()));
                    }
                    next
                }
                Kind::Dot | Kind::Exit => match self.next[now] {
                    Some(next) => next,
                    None => return Ok(now),
                },
                Kind::Unless => {
                    let first = self.graph.sequence(self.element(now).options[0])?.first;
                    self.hunt(first, from)?
                }
                _ => return Ok(now),
            };
            if from & ATOM != 0 && self.status[next] & ATOM == 0 {
                return Ok(now);
            }
            now = next;
        }
        Err((self.element(id).span, "these jumps lead in a circle".to_string()))
    }

    /// The element whose statement an option begins with.
    fn first_of(&self, id: ElementId) -> Result<ElementId, Failure> {
        let mut now = id;
        for _ in 0..LONGEST_HUNT {
            let next = match &self.element(now).kind {
                Kind::Dot => self.next[now].unwrap_or(now),
                Kind::Unless => self.graph.sequence(self.element(now).options[0])?.first,
                _ => now,
            };
            if next == now {
                return Ok(now);
            }
            now = next;
        }
        Err((self.element(id).span, "this control structure cannot be followed".to_string()))
    }

    fn sequence(&mut self, id: SequenceId, depth: usize) -> Result<(), Failure> {
        let sequence = self.graph.sequence(id)?;
        if depth > 400 {
            return Err((self.element(sequence.first).span, "nested too deeply".to_string()));
        }
        let mut now = Some(sequence.first);
        while let Some(element) = now {
            if self.links[element].is_none() {
                self.links[element] = Some(Links::Through(Vec::new()));
                self.make(element, depth)?;
            }
            if element == sequence.last {
                break;
            }
            now = self.next[element];
        }
        Ok(())
    }

    fn make(&mut self, id: ElementId, depth: usize) -> Result<(), Failure> {
        let element = self.element(id).clone();
        match element.kind {
            Kind::Unless => self.sequence(element.options[0], depth + 1),
            Kind::If | Kind::Do => {
                let mut through = Vec::new();
                for option in &element.options {
                    let first = self.first_of(self.graph.sequence(*option)?.first)?;
                    let dead = matches!(&self.element(first).kind, Kind::Act(Act { kind: ActKind::Condition(Value::Constant(0)), .. }))
                        && self.element(first).escapes.is_empty();
                    if !dead {
                        through.push(first);
                    }
                }
                self.links[id] = Some(Links::Through(through));
                for option in element.options {
                    self.sequence(option, depth + 1)?;
                }
                Ok(())
            }
            Kind::Atomic(inner) | Kind::Block(inner) => {
                let first = self.enter(id, inner)?;
                self.links[id] = Some(Links::Through(vec![first]));
                self.sequence(inner, depth + 1)
            }
            Kind::Indivisible(inner, act) => {
                self.enter(id, inner)?;
                let to = match self.next[id] {
                    Some(next) => Some(self.hunt(next, self.status[id])?),
                    None => None,
                };
                self.link(id, act, to, depth)
            }
            Kind::Goto(target) => {
                let to = self.goto(id, &target)?;
                let to = self.hunt(to, self.status[id])?;
                let act = Act { kind: ActKind::Skip, at: element.at, text: jump_text(&target) };
                self.link(id, act, Some(to), depth)
            }
            Kind::Dot | Kind::Exit => {
                let to = match self.next[id] {
                    Some(next) => Some(self.hunt(next, self.status[id])?),
                    None => None,
                };
                let act = Act { kind: ActKind::Skip, at: element.at, text: "goto".into() };
                self.link(id, act, to, depth)
            }
            Kind::Act(act) => {
                let to = match self.next[id] {
                    Some(next) if id != self.graph.stop => Some(self.hunt(next, self.status[id])?),
                    _ => None,
                };
                self.link(id, act, to, depth)
            }
        }
    }

    /// Enters a block: jumps that leave an atomic sequence end it. Gives the first element inside.
    fn enter(&mut self, id: ElementId, inner: SequenceId) -> Result<ElementId, Failure> {
        self.patch(inner)?;
        let sequence = self.graph.sequence(inner)?;
        let first = self.first_of(sequence.first)?;
        self.next[sequence.last] = self.next[id];
        Ok(first)
    }

    fn patch(&mut self, id: SequenceId) -> Result<(), Failure> {
        let sequence = self.graph.sequence(id)?;
        let mut now = Some(sequence.first);
        while let Some(element) = now {
            if let Kind::Goto(target) = &self.element(element).kind {
                let to = self.goto(element, target)?;
                let inside = self.status[to] & (ATOM | LAST_ATOM) != 0;
                let status = &mut self.status[element];
                if *status & (ATOM | LAST_ATOM) != 0 && !inside {
                    *status = *status & !ATOM | LAST_ATOM;
                }
                if *status & LAST_ATOM != 0 && inside {
                    *status = *status & !LAST_ATOM | ATOM;
                }
            } else {
                for option in self.element(element).options.clone() {
                    self.patch(option)?;
                }
            }
            if element == sequence.extent {
                break;
            }
            now = self.next[element];
        }
        Ok(())
    }

    fn link(&mut self, id: ElementId, act: Act, to: Option<ElementId>, depth: usize) -> Result<(), Failure> {
        let keeps_control = self.status[id] & ATOM != 0;
        let mut escapes = Vec::new();
        if !matches!(self.element(id).kind, Kind::Dot) {
            for escape in self.element(id).escapes.clone() {
                let first = self.graph.sequence(escape)?.first;
                escapes.push(self.hunt(first, self.status[id])?);
            }
        }
        self.links[id] = Some(Links::One(Link { of: id, act, to, keeps_control, escapes, escape: 0 }));
        if !matches!(self.element(id).kind, Kind::Dot) {
            for escape in self.element(id).escapes.clone() {
                self.sequence(escape, depth + 1)?;
            }
        }
        Ok(())
    }

    /// Copies what options begin with into the states that offer them. The mark of a state that may end travels along, as in SPIN.
    fn flatten(&self, may_end: &mut [bool]) -> Result<Vec<Vec<Link>>, Failure> {
        let mut through: Vec<Option<Vec<ElementId>>> = self
            .links
            .iter()
            .map(|links| match links {
                Some(Links::Through(firsts)) if !firsts.is_empty() => Some(firsts.clone()),
                _ => None,
            })
            .collect();
        loop {
            let mut changed = false;
            for id in 0..through.len() {
                let Some(firsts) = &through[id] else { continue };
                if !firsts.iter().any(|first| through[*first].is_some()) {
                    continue;
                }
                let mut flat = Vec::new();
                for first in firsts.clone() {
                    match through[first].clone() {
                        None => flat.push(first),
                        Some(inner) => {
                            if first == id || flat.len() > 10_000 {
                                return Err((self.element(id).span, "these options contain themselves".to_string()));
                            }
                            for inner in &inner {
                                may_end[*inner] |= may_end[first];
                            }
                            flat.extend(inner);
                            changed = true;
                        }
                    }
                }
                through[id] = Some(flat);
            }
            if !changed {
                break;
            }
        }
        let mut lists = Vec::new();
        for (id, through) in through.iter().enumerate() {
            let list = match (through, &self.links[id]) {
                (Some(firsts), _) => {
                    let mut list = Vec::new();
                    for first in firsts {
                        if let Some(Links::One(link)) = &self.links[*first] {
                            if let Some(to) = link.to {
                                may_end[to] |= may_end[*first];
                            }
                            list.push(link.clone());
                        }
                    }
                    list
                }
                (None, Some(Links::One(link))) => vec![link.clone()],
                _ => Vec::new(),
            };
            lists.push(list);
        }
        Ok(lists)
    }
}

/// Puts what leads into escapes before the transitions of each state.
fn with_escapes(mut lists: Vec<Vec<Link>>) -> Vec<Vec<Link>> {
    let deepest = lists.iter().flatten().map(|link| link.escapes.len()).max().unwrap_or(0);
    for id in 0..lists.len() {
        let own = lists[id].clone();
        for link in &own {
            for level in (0..deepest).rev() {
                let Some(escape) = link.escapes.get(level) else { continue };
                for inner in lists[*escape].clone() {
                    if lists[id].iter().any(|known| known.of == inner.of) {
                        continue;
                    }
                    lists[id].insert(0, Link { escape: *escape + 1, ..inner });
                }
            }
        }
    }
    lists
}

/// Numbers the control states that can be reached, from the start on.
fn number(graph: &Graph, lists: &[Vec<Link>], may_end: &[bool], start: ElementId) -> Automaton {
    let mut numbers: Vec<Option<usize>> = vec![None; lists.len()];
    let mut order = vec![start];
    numbers[start] = Some(0);
    let mut next = 0;
    while next < order.len() {
        for to in lists[order[next]].iter().filter_map(|link| link.to) {
            if numbers[to].is_none() {
                numbers[to] = Some(order.len());
                order.push(to);
            }
        }
        next += 1;
    }
    let states = order.iter().map(|id| ControlState {
        may_end: may_end[*id],
        transitions: lists[*id]
            .iter()
            .map(|link| Transition {
                act: link.act.clone(),
                to: link.to.and_then(|to| numbers[to]),
                keeps_control: link.keeps_control,
                escape: link.escape,
            })
            .collect(),
    });
    let labels = graph.labels.iter().filter_map(|(target, id)| match target {
        Target::Label(label) => Some((label.name.clone(), numbers[*id])),
        Target::Loop(_) => None,
    });
    Automaton { start: 0, states: states.collect(), labels: labels.collect() }
}

fn jump_text(target: &Target) -> Arc<str> {
    match target {
        Target::Loop(_) => "break".into(),
        Target::Label(label) => format!("goto {}", label.name).into(),
    }
}
