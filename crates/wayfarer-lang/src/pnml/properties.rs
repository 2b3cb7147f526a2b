//! Formula files of the Model Checking Contest: reachability formulas, EF and AG over the tokens of places and the transitions that are enabled.

use super::find::{Names, unknown};
use super::flat::Flat;
use super::formula::{Comparison, Formula, Predicate, Sum};
use super::xml::{self, Element, Findings};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::Source;
use std::collections::HashSet;

/// Reads a file of formulas about a net. There are formulas exactly when the diagnostics have no errors.
pub fn properties(flat: &Flat, source: &Source) -> (Option<Vec<Formula>>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let document = xml::parse(source, &mut diagnostics);
    let Some(document) = document else { return (None, diagnostics) };
    let mut reader = Reader { flat, names: Names::of(flat), findings: Findings::new(source, diagnostics) };
    let formulas = reader.file(document.root_element());
    let diagnostics = reader.findings.diagnostics;
    let formulas = formulas.filter(|_| !diagnostics.has_errors());
    (formulas, diagnostics)
}

struct Reader<'a> {
    flat: &'a Flat,
    names: Names,
    findings: Findings<'a>,
}

impl Reader<'_> {
    fn file(&mut self, root: Element) -> Option<Vec<Formula>> {
        if xml::name(root) != "property-set" {
            let message = format!("a file of formulas begins with the element `property-set`, and this with `{}`", xml::name(root));
            self.findings.error(xml::span(root), message);
            return None;
        }
        let mut formulas = Vec::new();
        let mut known = HashSet::new();
        for property in xml::children(root).filter(|inner| xml::name(*inner) == "property") {
            let (name, span) = xml::child(property, "id").map_or_else(|| (String::new(), xml::span(property)), xml::text);
            if name.is_empty() || !known.insert(name.clone()) {
                self.findings
                    .error(span, if name.is_empty() { "a property without an `id`".to_string() } else { format!("`{name}` is there twice") });
                continue;
            }
            let at = self.findings.at(xml::span(property));
            let body = xml::child(property, "formula").and_then(|formula| xml::children(formula).next());
            let Some(body) = body else {
                self.findings.error(xml::span(property), format!("`{name}` has no formula"));
                continue;
            };
            if let Some((is_universal, condition)) = self.quantified(body) {
                formulas.push(Formula { name, at, is_universal, condition });
            }
        }
        if formulas.is_empty() && !self.findings.diagnostics.has_errors() {
            self.findings.error(xml::span(root), "there is no formula in this file");
        }
        Some(formulas)
    }

    /// A formula with its quantifier: whether it asks about all markings, and the condition that a marking is looked for to satisfy.
    fn quantified(&mut self, element: Element) -> Option<(bool, Predicate)> {
        let inner = xml::children(element).next();
        let (path, operator) = (xml::name(element), inner.map_or("", xml::name));
        let is_universal = match (path, operator) {
            ("exists-path", "finally") => false,
            ("all-paths", "globally") => true,
            _ => {
                self.findings.push(
                    Diagnostic::error(xml::span(element), format!("`{path}` of `{operator}` is no reachability formula"))
                        .with_help("`exists-path` of `finally` and `all-paths` of `globally` are"),
                );
                return None;
            }
        };
        let Some(body) = inner.and_then(|inner| xml::children(inner).next()) else {
            self.findings.error(xml::span(element), "a condition is missing here");
            return None;
        };
        let condition = self.condition(body)?;
        Some((is_universal, if is_universal { Predicate::Not(Box::new(condition)) } else { condition }))
    }

    fn condition(&mut self, element: Element) -> Option<Predicate> {
        let mut list = || xml::children(element).map(|inner| self.condition(inner)).collect::<Option<Vec<_>>>();
        let comparison = match xml::name(element) {
            "conjunction" => return list().map(Predicate::All),
            "disjunction" => return list().map(Predicate::Any),
            "negation" => {
                let inner = list()?;
                let Ok([inner]) = <[Predicate; 1]>::try_from(inner) else {
                    self.findings.error(xml::span(element), "`negation` takes one condition");
                    return None;
                };
                return Some(Predicate::Not(Box::new(inner)));
            }
            "true" => return Some(Predicate::All(Vec::new())),
            "false" => return Some(Predicate::Any(Vec::new())),
            "deadlock" => return Some(Predicate::Deadlock),
            "is-fireable" => return self.fireable(element),
            "integer-le" => Comparison::AtMost,
            "integer-lt" => Comparison::Less,
            "integer-ge" => Comparison::AtLeast,
            "integer-gt" => Comparison::Greater,
            "integer-eq" => Comparison::Equal,
            "integer-ne" => Comparison::Unequal,
            other => {
                self.findings.error(xml::span(element), format!("`{other}` is no condition on a marking"));
                return None;
            }
        };
        let sides: Vec<Element> = xml::children(element).collect();
        let [left, right] = sides[..] else {
            self.findings.error(xml::span(element), "a comparison takes two numbers");
            return None;
        };
        Some(Predicate::Compare(comparison, self.number(left)?, self.number(right)?))
    }

    fn fireable(&mut self, element: Element) -> Option<Predicate> {
        let mut list = Vec::new();
        for inner in xml::children(element) {
            let (name, span) = xml::text(inner);
            match self.names.transitions.get(&name) {
                Some(transition) => list.push(Predicate::Fireable(*transition)),
                None => {
                    self.findings.push(unknown(span, "transition", &name, self.names.transitions.keys()));
                    return None;
                }
            }
        }
        Some(if list.len() == 1 { list.remove(0) } else { Predicate::Any(list) })
    }

    fn number(&mut self, element: Element) -> Option<Sum> {
        let (text, span) = xml::text(element);
        match xml::name(element) {
            "integer-constant" => match text.parse() {
                Ok(constant) => Some(Sum { constant, places: Vec::new() }),
                Err(_) => {
                    self.findings.error(span, "an integer is wanted here");
                    None
                }
            },
            "tokens-count" => {
                let mut sum = Sum::default();
                for place in xml::children(element) {
                    let (name, span) = xml::text(place);
                    let Some(number) = self.names.places.get(&name) else {
                        self.findings.push(unknown(span, "place", &name, self.names.places.keys()));
                        return None;
                    };
                    sum.places.extend(self.flat.places_of(*number).map(|flat| flat as u32));
                }
                Some(sum)
            }
            other => {
                self.findings.error(xml::span(element), format!("`{other}` is no number"));
                None
            }
        }
    }
}
