//! From a document to a net: pages and reference nodes are resolved, arcs are joined to their transitions, and NUPN units are taken over.

use super::declarations::{self, DOT, Names};
use super::expressions::{MOST_TOKENS, Terms};
use super::net::{Net, Place, SortId, Transition};
use super::terms::{Bag, Condition, Part};
use super::xml::{self, Element, Findings};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::{Source, Span};
use std::collections::HashMap;

/// Reads a net. There is one exactly when the diagnostics have no errors.
pub fn read(source: &Source) -> (Option<Net>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let document = xml::parse(source, &mut diagnostics);
    let Some(document) = document else { return (None, diagnostics) };
    let mut findings = Findings::new(source, diagnostics);
    let net = read_document(document.root_element(), &mut findings);
    let diagnostics = findings.diagnostics;
    let net = net.filter(|_| !diagnostics.has_errors());
    (net, diagnostics)
}

fn read_document(root: Element, findings: &mut Findings) -> Option<Net> {
    if xml::name(root) != "pnml" {
        findings.error(xml::span(root), format!("a Petri net begins with the element `pnml`, and this with `{}`", xml::name(root)));
        return None;
    }
    let nets: Vec<Element> = xml::children(root).filter(|inner| xml::name(*inner) == "net").collect();
    let net = match nets[..] {
        [net] => net,
        [] => {
            findings.error(xml::span(root), "there is no net in this file");
            return None;
        }
        [_, second, ..] => {
            findings.error(xml::span(second), "there is more than one net in this file, and one is checked at a time");
            return None;
        }
    };
    let kind = net.attribute("type").unwrap_or("");
    let coloured = match kind.rsplit('/').next().unwrap_or("") {
        "ptnet" => false,
        "symmetricnet" => true,
        _ => {
            let known = Diagnostic::error(xml::value_span(net, "type"), format!("the net type `{kind}` is not known"))
                .with_help("…/version-2009/grammar/ptnet and …/version-2009/grammar/symmetricnet are");
            findings.push(known);
            return None;
        }
    };
    let mut built = Net { name: net.attribute("id").unwrap_or("net").to_string(), coloured, ..Net::default() };
    let mut parts = Parts::default();
    collect(net, &mut parts, findings);
    let names = declarations::read(&mut built, &parts.declarations, findings);
    let mut reader = Reader { net: built, names, findings, nodes: HashMap::new(), references: HashMap::new() };
    reader.nodes(&parts);
    reader.arcs(&parts);
    if !reader.findings.diagnostics.has_errors() {
        parts.tools.iter().for_each(|tool| reader.units(*tool));
        reader.finish_names();
    }
    Some(reader.net)
}

/// The elements of all pages, in the order of the text.
#[derive(Default)]
struct Parts<'a> {
    declarations: Vec<Element<'a>>,
    nodes: Vec<Element<'a>>,
    arcs: Vec<Element<'a>>,
    tools: Vec<Element<'a>>,
}

fn collect<'a>(page: Element<'a>, parts: &mut Parts<'a>, findings: &mut Findings) {
    for element in xml::children(page) {
        match xml::name(element) {
            "page" => collect(element, parts, findings),
            "place" | "transition" | "referencePlace" | "referenceTransition" => parts.nodes.push(element),
            "arc" => parts.arcs.push(element),
            "toolspecific" => parts.tools.push(element),
            "declaration" => {
                let structure = xml::child(element, "structure");
                let inside = structure.and_then(|structure| xml::child(structure, "declarations"));
                parts.declarations.extend(inside.into_iter().flat_map(xml::children));
            }
            "name" | "graphics" => {}
            other => findings.error(xml::span(element), format!("`{other}` is not part of a net")),
        }
    }
}

#[derive(Clone, Copy)]
enum Node {
    Place(usize),
    Transition(usize),
}

struct Reader<'r, 'f> {
    net: Net,
    names: Names,
    findings: &'r mut Findings<'f>,
    /// Nodes by their identifiers, with the place of these.
    nodes: HashMap<String, (Node, Span)>,
    /// Reference nodes: what they refer to, and whether that is to be a place.
    references: HashMap<String, (String, bool, Span)>,
}

impl Reader<'_, '_> {
    fn nodes(&mut self, parts: &Parts) {
        for element in &parts.nodes {
            let element = *element;
            let span = xml::span(element);
            let Some(id) = element.attribute("id").filter(|id| !id.is_empty()) else {
                self.findings.error(span, format!("a {} without an `id`", xml::name(element)));
                continue;
            };
            let before = self.nodes.get(id).map(|(_, span)| *span).or_else(|| self.references.get(id).map(|(_, _, span)| *span));
            if let Some(before) = before {
                let twice = Diagnostic::error(xml::value_span(element, "id"), format!("`{id}` is the identifier of two nodes"));
                self.findings.push(twice.with_label(before, "the other one"));
                continue;
            }
            let id_span = xml::value_span(element, "id");
            match xml::name(element) {
                "place" => {
                    self.nodes.insert(id.to_string(), (Node::Place(self.net.places.len()), id_span));
                    let place = self.place(element, id, span);
                    self.net.places.push(place);
                }
                "transition" => {
                    self.nodes.insert(id.to_string(), (Node::Transition(self.net.transitions.len()), id_span));
                    let transition = self.transition(element, id, span);
                    self.net.transitions.push(transition);
                }
                reference => {
                    let target = element.attribute("ref").unwrap_or("").to_string();
                    self.references.insert(id.to_string(), (target, reference == "referencePlace", id_span));
                }
            }
        }
    }

    fn label(element: Element, id: &str) -> String {
        xml::child(element, "name").and_then(xml::label).map(|(text, _)| text).filter(|text| !text.is_empty()).unwrap_or_else(|| id.to_string())
    }

    fn place(&mut self, element: Element, id: &str, span: Span) -> Place {
        let mut sort = DOT;
        let mut initial = Bag::default();
        if self.net.coloured {
            let ty = xml::child(element, "type").and_then(|ty| xml::child(ty, "structure")).and_then(|structure| xml::children(structure).next());
            match ty {
                Some(ty) => match self.sort(ty) {
                    Some(found) => sort = found,
                    None => {
                        let id = ty.attribute("declaration").unwrap_or_else(|| xml::name(ty));
                        self.findings.error(xml::value_span(ty, "declaration"), format!("no sort is called `{id}`"));
                    }
                },
                None => self.findings.error(span, format!("the place `{id}` has no sort")),
            }
            if let Some(marking) = xml::child(element, "hlinitialMarking") {
                initial = self.inscription(marking, sort).unwrap_or_default();
                let mut used = Vec::new();
                initial.variables(&mut used);
                if !used.is_empty() {
                    self.findings.error(xml::span(marking), "an initial marking has no variables");
                }
            }
            if let Some(marking) = xml::child(element, "initialMarking") {
                self.findings.error(xml::span(marking), "a symmetric net has `hlinitialMarking`");
            }
        } else if let Some(marking) = xml::child(element, "initialMarking") {
            let count = self.count(marking, 0);
            initial = plain(count);
        }
        Place { id: id.to_string(), name: Self::label(element, id), sort, initial, at: self.findings.at(span), span }
    }

    fn sort(&self, element: Element) -> Option<SortId> {
        match (xml::name(element), element.attribute("declaration")) {
            ("dot", _) => Some(DOT),
            ("usersort", Some(id)) => self.names.sorts.get(id).copied().or_else(|| (id == "dot").then_some(DOT)),
            _ => None,
        }
    }

    fn transition(&mut self, element: Element, id: &str, span: Span) -> Transition {
        let mut guard = Condition::default();
        if let Some(condition) = xml::child(element, "condition") {
            match xml::child(condition, "structure").and_then(|structure| xml::children(structure).next()) {
                Some(inner) => guard = Terms { net: &self.net, names: &self.names, findings: self.findings }.condition(inner).unwrap_or_default(),
                None => self.findings.error(xml::span(condition), "a guard without a `structure` says nothing"),
            }
        }
        Transition {
            id: id.to_string(),
            name: Self::label(element, id),
            guard,
            inputs: Vec::new(),
            outputs: Vec::new(),
            variables: Vec::new(),
            at: self.findings.at(span),
            span,
        }
    }

    /// The number in a label of a place/transition net.
    fn count(&mut self, label: Element, least: u64) -> u64 {
        let Some((text, span)) = xml::label(label) else {
            self.findings.error(xml::span(label), "a number is missing here");
            return least;
        };
        match text.parse::<i128>() {
            Ok(value) if value < i128::from(least) => self.findings.error(span, format!("{value} is too small: at least {least} is wanted")),
            Ok(value) if value > i128::from(MOST_TOKENS) => {
                self.findings.error(span, format!("{value} is too large: at most {MOST_TOKENS} tokens are supported"));
            }
            Ok(value) => return value as u64,
            Err(_) => self.findings.error(span, format!("a number of tokens is wanted here, and not `{}`", shortened(&text))),
        }
        least
    }

    fn inscription(&mut self, label: Element, sort: SortId) -> Option<Bag> {
        let Some(inner) = xml::child(label, "structure").and_then(|structure| xml::children(structure).next()) else {
            // An empty structure is written for an empty marking.
            return xml::child(label, "structure").map(|_| Bag::default()).or_else(|| {
                self.findings.error(xml::span(label), "an inscription without a `structure` says nothing");
                None
            });
        };
        Some(Terms { net: &self.net, names: &self.names, findings: self.findings }.bag(inner, sort))
    }

    /// The node that an end of an arc means, reference nodes followed.
    fn resolve(&mut self, arc: Element, end: &str) -> Option<Node> {
        let Some(id) = arc.attribute(end) else {
            self.findings.error(xml::span(arc), format!("an arc without `{end}`"));
            return None;
        };
        let mut id = id.to_string();
        // A chain of references has no more links than there are references.
        for _ in 0..=self.references.len() {
            if let Some((node, _)) = self.nodes.get(&id) {
                return Some(*node);
            }
            let Some((target, to_place, span)) = self.references.get(&id).cloned() else {
                self.findings.error(xml::value_span(arc, end), format!("no node is called `{id}`"));
                return None;
            };
            if let Some((node, _)) = self.nodes.get(&target)
                && matches!(node, Node::Place(_)) != to_place
            {
                self.findings.error(span, format!("the reference `{id}` is to another kind of node"));
                return None;
            }
            id = target;
        }
        self.findings.error(xml::value_span(arc, end), format!("the reference `{id}` refers to itself"));
        None
    }

    fn arcs(&mut self, parts: &Parts) {
        for arc in &parts.arcs {
            self.arc(*arc);
        }
        // References are checked even where no arc needs them.
        let dangling: Vec<(String, Span)> = self
            .references
            .iter()
            .filter(|(_, (target, _, _))| !self.nodes.contains_key(target) && !self.references.contains_key(target))
            .map(|(_, (target, _, span))| (target.clone(), *span))
            .collect();
        for (target, span) in dangling {
            self.findings.error(span, format!("a reference to `{target}`, and no node is called so"));
        }
        for transition in &mut self.net.transitions {
            let mut used = Vec::new();
            transition.guard.variables(&mut used);
            transition.inputs.iter().chain(&transition.outputs).for_each(|(_, bag)| bag.variables(&mut used));
            transition.variables = used.into_iter().map(|variable| variable as usize).collect();
            transition.variables.sort_unstable();
        }
    }

    fn arc(&mut self, arc: Element) {
        for inner in xml::children(arc) {
            let kind = match xml::name(inner) {
                "type" | "arctype" => {
                    inner.attribute("value").map(str::to_string).or_else(|| xml::label(inner).map(|(text, _)| text)).unwrap_or_default()
                }
                "name" | "graphics" | "toolspecific" | "inscription" | "hlinscription" => continue,
                other => other.to_string(),
            };
            if kind != "normal" {
                let plain = Diagnostic::error(xml::span(inner), format!("arcs of the kind `{}` are not supported", shortened(&kind)));
                self.findings.push(plain.with_help("place/transition and symmetric nets have plain arcs only"));
                return;
            }
        }
        let (source, target) = (self.resolve(arc, "source"), self.resolve(arc, "target"));
        let (place, transition, input) = match (source, target) {
            (Some(Node::Place(place)), Some(Node::Transition(transition))) => (place, transition, true),
            (Some(Node::Transition(transition)), Some(Node::Place(place))) => (place, transition, false),
            (Some(one), Some(_)) => {
                let kind = if matches!(one, Node::Place(_)) { "places" } else { "transitions" };
                self.findings.error(xml::span(arc), format!("an arc between two {kind}: it must join a place and a transition"));
                return;
            }
            _ => return,
        };
        let bag = if self.net.coloured {
            match xml::child(arc, "hlinscription") {
                Some(label) => match self.inscription(label, self.net.places[place].sort) {
                    Some(bag) => bag,
                    None => return,
                },
                None if self.net.places[place].sort == DOT => plain(1),
                None => {
                    self.findings.error(xml::span(arc), "an arc without an inscription");
                    return;
                }
            }
        } else {
            plain(xml::child(arc, "inscription").map_or(1, |label| self.count(label, 1)))
        };
        let transition = &mut self.net.transitions[transition];
        if input { transition.inputs.push((place, bag)) } else { transition.outputs.push((place, bag)) }
    }

    /// Takes over the units of a NUPN section that claims the net to be safe.
    fn units(&mut self, tool: Element) {
        if tool.attribute("tool") != Some("nupn") || self.net.coloured {
            return;
        }
        let Some(structure) = xml::child(tool, "structure").filter(|structure| structure.attribute("safe") == Some("true")) else { return };
        for unit in xml::children(structure).filter(|inner| xml::name(*inner) == "unit") {
            let Some(list) = xml::child(unit, "places") else { continue };
            let (text, span) = xml::text(list);
            let mut places = Vec::new();
            for id in text.split_whitespace() {
                match self.nodes.get(id) {
                    Some((Node::Place(place), _)) => places.push(*place),
                    _ => self.findings.push(Diagnostic::warning(span, format!("a unit has the place `{}`, which is not there", shortened(id)))),
                }
            }
            places.sort_unstable();
            places.dedup();
            if !places.is_empty() {
                self.net.units.push(places);
            }
        }
    }

    /// Calls nodes by their identifiers where their names are not their own.
    fn finish_names(&mut self) {
        let mut uses: HashMap<String, u32> = HashMap::new();
        let Net { places, transitions, .. } = &mut self.net;
        places.iter().map(|place| &place.name).for_each(|name| *uses.entry(name.clone()).or_default() += 1);
        places.iter_mut().filter(|place| uses[&place.name] > 1).for_each(|place| place.name.clone_from(&place.id));
        uses.clear();
        transitions.iter().map(|transition| &transition.name).for_each(|name| *uses.entry(name.clone()).or_default() += 1);
        transitions.iter_mut().filter(|transition| uses[&transition.name] > 1).for_each(|transition| transition.name.clone_from(&transition.id));
    }
}

/// A number of plain tokens.
fn plain(count: u64) -> Bag {
    Bag { plus: if count > 0 { vec![(count, vec![Part::Constant(0)])] } else { Vec::new() }, minus: Vec::new() }
}

/// A text that is short enough for a message.
pub(super) fn shortened(text: &str) -> String {
    if text.chars().count() <= 40 { text.to_string() } else { text.chars().take(40).chain("…".chars()).collect() }
}
