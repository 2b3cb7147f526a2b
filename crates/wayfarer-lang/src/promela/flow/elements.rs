//! Elements and sequences, as SPIN's parser links them.

use crate::promela::model::{Act, ActKind, JumpLabel, Node, Tree};
use crate::source::Span;
use std::sync::Arc;
use wayfarer_ir::At;

pub(super) type ElementId = usize;
pub(super) type SequenceId = usize;
pub(super) type Failure = (Span, String);

/// The element is part of an atomic sequence, and not its last.
pub(super) const ATOM: u8 = 1;
/// The element is the last of an atomic sequence.
pub(super) const LAST_ATOM: u8 = 2;

/// One statement.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) kind: Kind,
    pub(super) next: Option<ElementId>,
    /// Options of a selection, or the two parts of an `unless`.
    pub(super) options: Vec<SequenceId>,
    pub(super) escapes: Vec<SequenceId>,
    pub(super) status: u8,
    pub(super) span: Span,
    pub(super) at: At,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Act(Act),
    Goto(Target),
    /// The point where options meet.
    Dot,
    /// The point where a loop is left.
    Exit,
    If,
    Do,
    Unless,
    Atomic(SequenceId),
    Block(SequenceId),
    Indivisible(SequenceId, Act),
}

/// The target of a jump.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Target {
    Loop(usize),
    Label(JumpLabel),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Sequence {
    pub(super) first: ElementId,
    pub(super) last: ElementId,
    /// The last element that was written.
    pub(super) extent: ElementId,
}

/// All elements of a body.
#[derive(Default)]
pub(super) struct Graph {
    pub(super) elements: Vec<Element>,
    pub(super) sequences: Vec<Option<Sequence>>,
    pub(super) labels: Vec<(Target, ElementId)>,
    pub(super) body: SequenceId,
    /// The element that ends the process.
    pub(super) stop: ElementId,
    open: Vec<SequenceId>,
    loops: Vec<usize>,
    loop_count: usize,
}

/// Links the elements of a body.
pub(super) fn build(nodes: Vec<Node>, end: At, remote: &[Arc<str>]) -> Result<Graph, Failure> {
    let mut graph = Graph::default();
    let body = graph.open();
    for node in nodes {
        graph.add_node(node)?;
    }
    let stop = Act { kind: ActKind::End, at: end, text: "-end-".into() };
    graph.stop = graph.element(Kind::Act(stop), Span::default(), end);
    graph.append(graph.stop, body);
    graph.close();
    graph.body = body;
    graph.keep_labels(remote);
    graph.tie_loose_ends();
    Ok(graph)
}

impl Graph {
    fn open(&mut self) -> SequenceId {
        self.sequences.push(None);
        self.open.push(self.sequences.len() - 1);
        self.sequences.len() - 1
    }

    fn close(&mut self) {
        if let Some(id) = self.open.pop()
            && let Some(sequence) = &mut self.sequences[id]
        {
            sequence.extent = sequence.last;
        }
    }

    fn current(&self) -> SequenceId {
        self.open.last().copied().unwrap_or(0)
    }

    pub(super) fn sequence(&self, id: SequenceId) -> Result<Sequence, Failure> {
        self.sequences[id].ok_or_else(|| (Span::default(), "a sequence of statements is empty".to_string()))
    }

    fn element(&mut self, kind: Kind, span: Span, at: At) -> ElementId {
        self.elements.push(Element { kind, next: None, options: Vec::new(), escapes: Vec::new(), status: 0, span, at });
        self.elements.len() - 1
    }

    /// Appends an element to a sequence. A jump that has a label with a meaning is given a `skip` before it, which takes the label over.
    fn append(&mut self, id: ElementId, sequence: SequenceId) {
        if matches!(self.elements[id].kind, Kind::Goto(_))
            && let Some(label) = self.labels.iter().position(|(target, element)| *element == id && has_meaning(target))
        {
            let (span, at) = (self.elements[id].span, self.elements[id].at);
            let skip = self.element(Kind::Act(Act { kind: ActKind::Skip, at, text: "skip".into() }), span, at);
            self.labels[label].1 = skip;
            self.append(skip, sequence);
        }
        match &mut self.sequences[sequence] {
            Some(known) => {
                let last = std::mem::replace(&mut known.last, id);
                self.elements[last].next = Some(id);
            }
            empty => *empty = Some(Sequence { first: id, last: id, extent: id }),
        }
    }

    /// A sequence of its own.
    fn inner(&mut self, nodes: Vec<Node>) -> Result<SequenceId, Failure> {
        let id = self.open();
        for node in nodes {
            self.add_node(node)?;
        }
        self.close();
        self.sequence(id)?;
        Ok(id)
    }

    fn add_node(&mut self, node: Node) -> Result<(), Failure> {
        let Node { labels, tree, span, at } = node;
        let id = match tree {
            Tree::If(options) => {
                let options = self.option_sequences(options)?;
                self.selection(Kind::If, options, None, span, at)?
            }
            Tree::Do(options) => {
                let number = self.loop_count;
                self.loop_count += 1;
                self.loops.push(number);
                let options = self.option_sequences(options);
                self.loops.pop();
                self.selection(Kind::Do, options?, Some(number), span, at)?
            }
            Tree::Unless(body, escape) => {
                let (body, escape) = (self.inner(body)?, self.inner(escape)?);
                self.unless(body, escape, span, at)?
            }
            plain => {
                let kind = match plain {
                    Tree::Act(act) => Kind::Act(act),
                    Tree::Break => match self.loops.last() {
                        Some(number) => Kind::Goto(Target::Loop(*number)),
                        None => return Err((span, "`break` outside of a loop".to_string())),
                    },
                    Tree::Goto(label) => Kind::Goto(Target::Label(label)),
                    Tree::Atomic(nodes) => {
                        let sequence = self.inner(nodes)?;
                        self.make_atomic(sequence, false)?;
                        Kind::Atomic(sequence)
                    }
                    Tree::Indivisible(nodes, text) => {
                        let sequence = self.inner(nodes.to_vec())?;
                        self.make_atomic(sequence, true)?;
                        Kind::Indivisible(sequence, Act { kind: ActKind::Indivisible(nodes), at, text })
                    }
                    Tree::Block(nodes) => Kind::Block(self.inner(nodes)?),
                    Tree::If(_) | Tree::Do(_) | Tree::Unless(..) => return Ok(()),
                };
                let id = self.element(kind, span, at);
                self.label(labels, id)?;
                self.append(id, self.current());
                return Ok(());
            }
        };
        self.label(labels, id)
    }

    fn label(&mut self, labels: Vec<JumpLabel>, id: ElementId) -> Result<(), Failure> {
        for label in labels {
            let twice = self
                .labels
                .iter()
                .any(|(target, _)| matches!(target, Target::Label(known) if known.name == label.name && known.expansion == label.expansion));
            if twice {
                return Err((label.span, format!("the label `{}` occurs twice", label.name)));
            }
            self.labels.push((Target::Label(label), id));
        }
        Ok(())
    }

    fn option_sequences(&mut self, options: Vec<Vec<Node>>) -> Result<Vec<SequenceId>, Failure> {
        let mut ids = Vec::new();
        for option in options {
            let id = self.inner(option)?;
            self.prune(id)?;
            ids.push(id);
        }
        Ok(ids)
    }

    /// Of several `skip`s in a row inside an option those in the middle are dropped.
    fn prune(&mut self, id: SequenceId) -> Result<(), Failure> {
        let sequence = self.sequence(id)?;
        let (mut before, mut now, mut row): (Option<ElementId>, _, _) = (None, Some(sequence.first), 0);
        while let Some(element) = now {
            let labelled = self.labels.iter().any(|(_, labelled)| *labelled == element);
            let skips = match &self.elements[element].kind {
                Kind::Act(act) => matches!(act.kind, ActKind::Skip | ActKind::Print(_)),
                _ => false,
            };
            let is_skip = matches!(&self.elements[element].kind, Kind::Act(Act { kind: ActKind::Skip, .. }));
            row = if skips && !labelled { row + 1 } else { 0 };
            let next = if element == sequence.last { None } else { self.elements[element].next };
            match before {
                Some(before) if row > 1 && is_skip && element != sequence.last => self.elements[before].next = self.elements[element].next,
                _ => before = Some(element),
            }
            now = next;
        }
        Ok(())
    }

    fn selection(&mut self, kind: Kind, mut options: Vec<SequenceId>, exit: Option<usize>, span: Span, at: At) -> Result<ElementId, Failure> {
        let id = self.element(kind, span, at);
        let dot = self.element(Kind::Dot, span, at);
        let is_else = |graph: &Graph, option: SequenceId| {
            let first = graph.sequences[option].map(|sequence| &graph.elements[sequence.first].kind);
            matches!(first, Some(Kind::Act(Act { kind: ActKind::Else, .. })))
        };
        let others = options.iter().filter(|option| is_else(self, **option)).count();
        if others > 1 {
            return Err((span, "more than one `else`".to_string()));
        }
        options.sort_by_key(|option| is_else(self, *option));
        for option in &options {
            self.append(dot, *option);
        }
        self.elements[id].options = options;
        let current = self.current();
        let mut end = dot;
        if let Some(number) = exit {
            self.append(dot, current);
            end = self.element(Kind::Exit, span, at);
            self.labels.push((Target::Loop(number), end));
        }
        self.append(id, current);
        self.append(end, current);
        Ok(id)
    }

    fn unless(&mut self, body: SequenceId, escape: SequenceId, span: Span, at: At) -> Result<ElementId, Failure> {
        let id = self.element(Kind::Unless, span, at);
        let dot = self.element(Kind::Dot, span, at);
        self.append(dot, body);
        self.append(dot, escape);
        self.elements[id].options = vec![body, escape];
        self.attach_escape(body, escape, 0)?;
        let current = self.current();
        self.append(id, current);
        self.append(dot, current);
        Ok(id)
    }

    fn attach_escape(&mut self, body: SequenceId, escape: SequenceId, depth: usize) -> Result<(), Failure> {
        let sequence = self.sequence(body)?;
        let mut now = Some(sequence.first);
        while let Some(element) = now {
            self.escape_element(element, escape, depth)?;
            if element == sequence.extent {
                break;
            }
            now = self.elements[element].next;
        }
        Ok(())
    }

    fn escape_element(&mut self, element: ElementId, escape: SequenceId, depth: usize) -> Result<(), Failure> {
        if self.elements[element].escapes.contains(&escape) {
            return Ok(());
        }
        if depth > 200 {
            return Err((self.elements[element].span, "nested too deeply".to_string()));
        }
        for inner in self.elements[element].escapes.clone() {
            self.attach_escape(inner, escape, depth + 1)?;
        }
        self.elements[element].escapes.insert(0, escape);
        match self.elements[element].kind.clone() {
            Kind::Unless => {
                let body = self.elements[element].options[0];
                self.attach_escape(body, escape, depth + 1)
            }
            Kind::If | Kind::Do => {
                for option in self.elements[element].options.clone() {
                    self.attach_escape(option, escape, depth + 1)?;
                }
                Ok(())
            }
            Kind::Indivisible(sequence, _) => {
                let first = self.sequence(sequence)?.first;
                self.escape_element(first, escape, depth + 1)
            }
            Kind::Atomic(sequence) | Kind::Block(sequence) => self.attach_escape(sequence, escape, depth + 1),
            _ => Ok(()),
        }
    }

    fn make_atomic(&mut self, id: SequenceId, indivisible: bool) -> Result<(), Failure> {
        let sequence = self.sequence(id)?;
        self.walk_atomic(sequence.first, sequence.last, indivisible)?;
        let last = sequence.last;
        match self.elements[last].kind.clone() {
            Kind::Block(inner) | Kind::Atomic(inner) => self.make_atomic(inner, indivisible)?,
            Kind::Unless => {
                let inner = self.elements[last].options[0];
                self.make_atomic(inner, indivisible)?;
            }
            _ => {
                let status = &mut self.elements[last].status;
                *status = *status & !ATOM | LAST_ATOM;
            }
        }
        Ok(())
    }

    fn walk_atomic(&mut self, from: ElementId, to: ElementId, indivisible: bool) -> Result<(), Failure> {
        let mut now = Some(from);
        while let Some(element) = now {
            self.elements[element].status |= ATOM;
            match self.elements[element].kind.clone() {
                // An atomic inside another is a plain block.
                Kind::Atomic(inner) | Kind::Block(inner) => {
                    self.elements[element].kind = Kind::Block(inner);
                    let inner = self.sequence(inner)?;
                    self.walk_atomic(inner.first, inner.last, indivisible)?;
                }
                Kind::Indivisible(inner, _) if indivisible => {
                    self.elements[element].kind = Kind::Block(inner);
                    let inner = self.sequence(inner)?;
                    self.walk_atomic(inner.first, inner.last, indivisible)?;
                }
                _ => {}
            }
            for option in self.elements[element].options.clone() {
                let inner = self.sequence(option)?;
                self.walk_atomic(inner.first, inner.last, indivisible)?;
            }
            if element == to {
                break;
            }
            now = self.elements[element].next;
        }
        Ok(())
    }

    /// A label that is named from outside and stands at a jump gets a `skip` of its own, or no process would ever be seen there.
    fn keep_labels(&mut self, remote: &[Arc<str>]) {
        for number in 0..self.labels.len() {
            let (Target::Label(label), id) = &self.labels[number] else { continue };
            let id = *id;
            if !remote.contains(&label.name) || !matches!(self.elements[id].kind, Kind::Goto(_)) {
                continue;
            }
            let (span, at) = (self.elements[id].span, self.elements[id].at);
            let skip = Kind::Act(Act { kind: ActKind::Skip, at, text: "skip".into() });
            let jump = std::mem::replace(&mut self.elements[id].kind, skip);
            let jump = self.element(jump, span, at);
            self.elements[jump].next = self.elements[id].next;
            self.elements[jump].status = self.elements[id].status;
            self.elements[id].next = Some(jump);
        }
    }

    /// The last element of a block leads to what comes after the block.
    fn tie_loose_ends(&mut self) {
        for id in (0..self.elements.len()).rev() {
            let inner = match self.elements[id].kind {
                Kind::Atomic(inner) | Kind::Block(inner) | Kind::Indivisible(inner, _) => inner,
                _ => continue,
            };
            let mut next = self.elements[id].next;
            if next.is_none() {
                continue;
            }
            while let Some(element) = next
                && matches!(self.elements[element].kind, Kind::Dot)
            {
                next = self.elements[element].next;
            }
            let Some(sequence) = self.sequences[inner] else { continue };
            match self.elements[sequence.last].next {
                None => self.elements[sequence.last].next = next,
                // A jump that was pushed in behind its label is the last one now.
                Some(after) if matches!(self.elements[after].kind, Kind::Goto(_)) && !matches!(self.elements[sequence.last].kind, Kind::Goto(_)) => {
                    if let Some(sequence) = &mut self.sequences[inner] {
                        sequence.last = after;
                    }
                }
                Some(_) => {}
            }
        }
    }

    /// The element that a jump leads to.
    pub(super) fn target(&self, target: &Target) -> Option<ElementId> {
        let exact = self.labels.iter().find(|(known, _)| same(known, target));
        let found = exact.or_else(|| {
            // An inline may jump to a label outside, and one that was expanded once may be jumped into.
            let Target::Label(wanted) = target else { return None };
            let named = |known: &&(Target, ElementId)| matches!(&known.0, Target::Label(label) if label.name == wanted.name);
            let outside = |known: &&(Target, ElementId)| named(known) && matches!(&known.0, Target::Label(label) if label.expansion == 0);
            self.labels.iter().find(outside).or_else(|| self.labels.iter().find(named))
        });
        found.map(|(_, id)| *id)
    }
}

fn same(one: &Target, other: &Target) -> bool {
    match (one, other) {
        (Target::Loop(one), Target::Loop(other)) => one == other,
        (Target::Label(one), Target::Label(other)) => one.name == other.name && one.expansion == other.expansion,
        _ => false,
    }
}

/// Whether a label says something about the state it stands at.
fn has_meaning(target: &Target) -> bool {
    matches!(target, Target::Label(label) if ["accept", "end", "progress"].iter().any(|word| label.name.starts_with(word)))
}
