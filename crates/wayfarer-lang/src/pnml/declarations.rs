//! Declarations of coloured nets: sorts, variables and constants, in any order.

use super::net::{Net, Sort, SortId, SortKind, Variable};
use super::xml::{self, Element, Findings};
use crate::diagnostics::Diagnostic;
use std::collections::HashMap;

/// The most values of a sort.
pub(super) const MOST_COLOURS: u64 = 1 << 31;

/// The sort of plain tokens.
pub(super) const DOT: SortId = SortId(0);

/// The things that the declarations of a net name.
#[derive(Default)]
pub(super) struct Names {
    pub(super) sorts: HashMap<String, SortId>,
    pub(super) variables: HashMap<String, u32>,
    /// Values of enumerations.
    pub(super) constants: HashMap<String, (SortId, u32)>,
}

/// Reads all declarations of a net.
pub(super) fn read(net: &mut Net, elements: &[Element], findings: &mut Findings) -> Names {
    net.sorts.push(Sort { name: "dot".into(), kind: SortKind::Dot, count: 1, parts: vec![DOT] });
    let mut reader = Reader { net, findings, names: Names::default(), open: HashMap::new(), depth: 0 };
    let mut variables = Vec::new();
    for element in elements {
        match xml::name(*element) {
            "namedsort" => {
                let id = element.attribute("id").unwrap_or("");
                if reader.open.insert(id, *element).is_some() {
                    reader.findings.error(xml::value_span(*element, "id"), format!("the sort `{id}` is declared twice"));
                }
            }
            "variabledecl" => variables.push(*element),
            "partition" => {
                reader.findings.push(
                    Diagnostic::error(xml::span(*element), "partitions of sorts are not supported")
                        .with_help("declare the parts as sorts of their own, or the names of the values as an enumeration"),
                );
            }
            other => reader.findings.error(xml::span(*element), format!("`{other}` is no declaration of a symmetric net")),
        }
    }
    for element in elements.iter().filter(|element| xml::name(**element) == "namedsort") {
        let id = element.attribute("id").unwrap_or("");
        reader.named(id, *element);
    }
    for element in variables {
        reader.variable(element);
    }
    reader.names
}

struct Reader<'r, 'a, 'f> {
    net: &'r mut Net,
    findings: &'r mut Findings<'f>,
    names: Names,
    /// Named sorts that were not read yet.
    open: HashMap<&'a str, Element<'a>>,
    depth: u32,
}

impl<'a> Reader<'_, 'a, '_> {
    fn variable(&mut self, element: Element<'a>) {
        let id = element.attribute("id").unwrap_or("").to_string();
        let name = element.attribute("name").unwrap_or(&id).to_string();
        let Some(inner) = xml::children(element).next() else {
            self.findings.error(xml::span(element), format!("the variable `{name}` has no sort"));
            return;
        };
        let Some(sort) = self.sort(inner, &name) else { return };
        let number = self.net.variables.len() as u32;
        self.net.variables.push(Variable { name, sort });
        if self.names.variables.insert(id.clone(), number).is_some() {
            self.findings.error(xml::value_span(element, "id"), format!("the variable `{id}` is declared twice"));
        }
    }

    /// The sort of a name, read now if it was not before.
    fn named(&mut self, id: &str, user: Element<'a>) -> Option<SortId> {
        if let Some(sort) = self.names.sorts.get(id) {
            return Some(*sort);
        }
        let Some(element) = self.open.remove(id) else {
            // A sort whose reading failed was reported then.
            if id == "dot" {
                return Some(DOT);
            }
            self.findings.error(xml::value_span(user, "declaration"), format!("no sort is called `{id}`, or it is defined by itself"));
            return None;
        };
        self.depth += 1;
        if self.depth > xml::DEEPEST {
            self.findings.error(xml::span(element), format!("sorts are defined by each other more than {} levels deep", xml::DEEPEST));
            return None;
        }
        let name = element.attribute("name").unwrap_or(id).to_string();
        let sort = match xml::children(element).next() {
            Some(inner) => self.sort(inner, &name),
            None => {
                self.findings.error(xml::span(element), format!("the sort `{name}` has no definition"));
                None
            }
        };
        self.depth -= 1;
        let sort = sort?;
        self.names.sorts.insert(id.to_string(), sort);
        Some(sort)
    }

    /// The sort that an element describes.
    fn sort(&mut self, element: Element<'a>, name: &str) -> Option<SortId> {
        match xml::name(element) {
            "dot" => Some(DOT),
            "usersort" => match element.attribute("declaration") {
                Some(id) => self.named(id, element),
                None => {
                    self.findings.error(xml::span(element), "which sort is meant? `declaration` is missing");
                    None
                }
            },
            "cyclicenumeration" | "finiteenumeration" => self.enumeration(element, name),
            "finiteintrange" => self.range(element, name),
            "productsort" => self.product(element, name),
            other => {
                self.findings.push(
                    Diagnostic::error(xml::span(element), format!("`{other}` is no sort of a symmetric net"))
                        .with_help("dot, cyclicenumeration, finiteenumeration, finiteintrange, productsort and usersort are"),
                );
                None
            }
        }
    }

    fn enumeration(&mut self, element: Element<'a>, name: &str) -> Option<SortId> {
        let sort = SortId(self.net.sorts.len() as u32);
        let mut names = Vec::new();
        for constant in xml::children(element).filter(|inner| xml::name(*inner) == "feconstant") {
            let id = constant.attribute("id").unwrap_or("").to_string();
            let number = names.len() as u32;
            names.push(constant.attribute("name").unwrap_or(&id).to_string());
            if self.names.constants.insert(id.clone(), (sort, number)).is_some() {
                self.findings.error(xml::value_span(constant, "id"), format!("the constant `{id}` is declared twice"));
            }
        }
        if names.is_empty() {
            self.findings.error(xml::span(element), format!("the sort `{name}` has no values"));
            return None;
        }
        let count = names.len() as u32;
        self.net.sorts.push(Sort { name: name.to_string(), kind: SortKind::Enumeration(names), count, parts: vec![sort] });
        Some(sort)
    }

    fn range(&mut self, element: Element<'a>, name: &str) -> Option<SortId> {
        let mut bound = |attribute: &str| {
            let value = element.attribute(attribute).and_then(|text| text.trim().parse::<i64>().ok());
            if value.is_none() {
                self.findings.error(xml::value_span(element, attribute), format!("`{attribute}` of a range must be an integer"));
            }
            value
        };
        let (start, end) = (bound("start")?, bound("end")?);
        let count = i128::from(end) - i128::from(start) + 1;
        if count < 1 || count > i128::from(MOST_COLOURS) {
            self.findings.error(xml::span(element), format!("a range of {count} values: it must have 1 to {MOST_COLOURS}"));
            return None;
        }
        let sort = SortId(self.net.sorts.len() as u32);
        self.net.sorts.push(Sort { name: name.to_string(), kind: SortKind::Range(start), count: count as u32, parts: vec![sort] });
        Some(sort)
    }

    fn product(&mut self, element: Element<'a>, name: &str) -> Option<SortId> {
        let mut components = Vec::new();
        for inner in xml::children(element) {
            components.push(self.sort(inner, name)?);
        }
        let mut count: u64 = 1;
        let mut parts = Vec::new();
        for component in &components {
            count = count.saturating_mul(u64::from(self.net.count(*component)));
            parts.extend_from_slice(self.net.parts(*component));
        }
        if components.is_empty() || count > MOST_COLOURS || parts.len() > 64 {
            let message =
                format!("a product of {} components with {count} values: it must have 1 to 64 and at most {MOST_COLOURS}", components.len());
            self.findings.error(xml::span(element), message);
            return None;
        }
        let sort = SortId(self.net.sorts.len() as u32);
        self.net.sorts.push(Sort { name: name.to_string(), kind: SortKind::Product(components), count: count as u32, parts });
        Some(sort)
    }
}
