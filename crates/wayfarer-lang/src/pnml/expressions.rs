//! Reads the terms of arcs, markings and guards, and checks them against their sorts.

use super::declarations::{DOT, Names};
use super::net::{Net, SortId, SortKind};
use super::terms::{Bag, Colour, Condition, Part, offset};
use super::xml::{self, Element, Findings};
use crate::diagnostics::Diagnostic;

/// Tokens of one colour that an arc or a marking may ask for. More of them fit no memory that counts them one by one.
pub(super) const MOST_TOKENS: u64 = (1 << 31) - 1;

/// The most terms that an inscription may have once its sums are multiplied out.
const MOST_TERMS: usize = 1 << 20;

/// Reads terms.
pub(super) struct Terms<'r, 'f> {
    pub(super) net: &'r Net,
    pub(super) names: &'r Names,
    pub(super) findings: &'r mut Findings<'f>,
}

impl Terms<'_, '_> {
    /// A multiset over a sort.
    pub(super) fn bag(&mut self, element: Element, sort: SortId) -> Bag {
        let mut bag = Bag::default();
        self.add(element, sort, 1, true, &mut bag);
        bag
    }

    fn add(&mut self, element: Element, sort: SortId, times: u64, plus: bool, bag: &mut Bag) {
        match xml::name(element) {
            "add" => operands(element).for_each(|inner| self.add(inner, sort, times, plus, bag)),
            "subtract" => {
                for (place, inner) in operands(element).enumerate() {
                    self.add(inner, sort, times, plus == (place == 0), bag);
                }
            }
            "numberof" | "scalarproduct" => {
                let operands: Vec<Element> = operands(element).collect();
                let (number, inner) = match &operands[..] {
                    [inner] => (Some(1), *inner),
                    [number, inner] => (self.number(*number), *inner),
                    _ => {
                        self.findings.error(xml::span(element), "`numberof` takes a number and a term");
                        return;
                    }
                };
                let Some(number) = number else { return };
                match times.checked_mul(number).filter(|times| *times <= MOST_TOKENS) {
                    Some(times) => self.add(inner, sort, times, plus, bag),
                    None => self.findings.error(xml::span(element), format!("more than {MOST_TOKENS} tokens of one colour are not supported")),
                }
            }
            "empty" => {}
            _ => {
                let Some((own, colour)) = self.colour(element) else { return };
                if self.net.parts(own) != self.net.parts(sort) {
                    self.mismatch(element, own, sort);
                    return;
                }
                let side = if plus { &mut bag.plus } else { &mut bag.minus };
                if side.len() >= MOST_TERMS {
                    self.findings.error(xml::span(element), format!("an inscription of more than {MOST_TERMS} terms is not supported"));
                    return;
                }
                side.push((times, colour));
            }
        }
    }

    fn mismatch(&mut self, element: Element, own: SortId, wanted: SortId) {
        let (own, wanted) = (&self.net.sorts[own.0 as usize].name, &self.net.sorts[wanted.0 as usize].name);
        self.findings.error(xml::span(element), format!("this has the sort `{own}`, and `{wanted}` is wanted"));
    }

    fn number(&mut self, element: Element) -> Option<u64> {
        let written = element.attribute("value").unwrap_or("").trim();
        let value = written.parse::<u64>().ok().filter(|value| *value <= MOST_TOKENS && xml::name(element) == "numberconstant");
        if value.is_none() {
            let message = format!("a number from 0 to {MOST_TOKENS} is wanted here, and not `{written}`");
            self.findings.error(xml::value_span(element, "value"), message);
        }
        value
    }

    /// A colour and its sort.
    fn colour(&mut self, element: Element) -> Option<(SortId, Colour)> {
        match xml::name(element) {
            "dotconstant" => Some((DOT, vec![Part::Constant(0)])),
            "variable" => {
                let id = element.attribute("refvariable").unwrap_or("");
                let Some(variable) = self.names.variables.get(id) else {
                    self.findings.error(xml::value_span(element, "refvariable"), format!("no variable is called `{id}`"));
                    return None;
                };
                let sort = self.net.variables[*variable as usize].sort;
                let part = |(part, sort): (usize, &SortId)| Part::Variable {
                    variable: *variable,
                    part: part as u32,
                    shift: 0,
                    count: self.net.count(*sort),
                };
                Some((sort, self.net.parts(sort).iter().enumerate().map(part).collect()))
            }
            "useroperator" => {
                let id = element.attribute("declaration").unwrap_or("");
                let Some((sort, value)) = self.names.constants.get(id) else {
                    self.findings.error(xml::value_span(element, "declaration"), format!("no constant is called `{id}`"));
                    return None;
                };
                Some((*sort, vec![Part::Constant(*value)]))
            }
            "finiteintrangeconstant" => self.integer(element),
            "all" => {
                let inner = xml::children(element).next();
                let Some(inner) = inner else {
                    self.findings.error(xml::span(element), "`all` of which sort?");
                    return None;
                };
                let sort = match inner.attribute("declaration") {
                    Some(id) => self.names.sorts.get(id).copied().or_else(|| (id == "dot").then_some(DOT)),
                    None => (xml::name(inner) == "dot").then_some(DOT),
                };
                let Some(sort) = sort else {
                    self.findings.error(xml::span(inner), "no such sort is declared");
                    return None;
                };
                Some((sort, self.net.parts(sort).iter().map(|part| Part::All(self.net.count(*part))).collect()))
            }
            "tuple" => self.tuple(element),
            "successor" | "predecessor" => self.neighbour(element, xml::name(element) == "successor"),
            other => {
                self.findings.push(
                    Diagnostic::error(xml::span(element), format!("`{other}` is no term of a symmetric net that is supported here"))
                        .with_help("variable, useroperator, dotconstant, finiteintrangeconstant, tuple, all, successor and predecessor are"),
                );
                None
            }
        }
    }

    fn tuple(&mut self, element: Element) -> Option<(SortId, Colour)> {
        let mut parts = Vec::new();
        let mut sorts = Vec::new();
        for inner in operands(element) {
            let (sort, colour) = self.colour(inner)?;
            sorts.extend_from_slice(self.net.parts(sort));
            parts.extend(colour);
        }
        // Products of the same parts are one sort, however they are called; a tuple of one is what is in it.
        let sort = self.net.sorts.iter().position(|sort| sort.parts == sorts);
        let Some(sort) = sort else {
            self.findings.error(xml::span(element), "no declared sort has tuples of these components");
            return None;
        };
        Some((SortId(sort as u32), parts))
    }

    fn neighbour(&mut self, element: Element, next: bool) -> Option<(SortId, Colour)> {
        let Some(inner) = operands(element).next() else {
            self.findings.error(xml::span(element), "of which term?");
            return None;
        };
        let (sort, mut colour) = self.colour(inner)?;
        let [part] = &mut colour[..] else {
            self.findings.error(xml::span(element), "a tuple has no successor or predecessor");
            return None;
        };
        let size = self.net.count(sort);
        let step = if next { 1 } else { size - 1 };
        match part {
            Part::Constant(value) => *value = super::terms::moved(*value, step, size),
            Part::Variable { shift, .. } => *shift = super::terms::moved(*shift, step, size),
            Part::All(_) => {}
        }
        Some((sort, colour))
    }

    fn integer(&mut self, element: Element) -> Option<(SortId, Colour)> {
        let value = element.attribute("value").and_then(|text| text.trim().parse::<i64>().ok());
        let bounds = xml::child(element, "finiteintrange").map(|range| {
            let bound = |name| range.attribute(name).and_then(|text| text.trim().parse::<i64>().ok());
            (bound("start"), bound("end"))
        });
        let (Some(value), Some((Some(start), Some(end)))) = (value, bounds) else {
            self.findings.error(xml::span(element), "an integer constant needs a `value` and the `finiteintrange` that it is of");
            return None;
        };
        let same = |sort: &super::net::Sort| sort.kind == SortKind::Range(start) && i64::from(sort.count) == end.wrapping_sub(start).wrapping_add(1);
        let Some(sort) = self.net.sorts.iter().position(same) else {
            self.findings.error(xml::span(element), format!("no declared sort is the range from {start} to {end}"));
            return None;
        };
        if value < start || value > end {
            self.findings.error(xml::value_span(element, "value"), format!("{value} is not in the range from {start} to {end}"));
            return None;
        }
        Some((SortId(sort as u32), vec![Part::Constant((value - start) as u32)]))
    }

    /// A guard.
    pub(super) fn condition(&mut self, element: Element) -> Option<Condition> {
        let mut list = || operands(element).map(|inner| self.condition(inner)).collect::<Option<Vec<_>>>();
        match xml::name(element) {
            "and" => list().map(Condition::All),
            "or" => list().map(Condition::Any),
            "not" => {
                let inner = list()?;
                match <[Condition; 1]>::try_from(inner) {
                    Ok([inner]) => Some(Condition::Not(Box::new(inner))),
                    Err(_) => {
                        self.findings.error(xml::span(element), "`not` takes one condition");
                        None
                    }
                }
            }
            "imply" => {
                let inner = list()?;
                match <[Condition; 2]>::try_from(inner) {
                    Ok([left, right]) => Some(Condition::Any(vec![Condition::Not(Box::new(left)), right])),
                    Err(_) => {
                        self.findings.error(xml::span(element), "`imply` takes two conditions");
                        None
                    }
                }
            }
            "booleanconstant" => match element.attribute("value") {
                Some("true") => Some(Condition::All(Vec::new())),
                Some("false") => Some(Condition::Any(Vec::new())),
                _ => {
                    self.findings.error(xml::span(element), "`value` must be true or false");
                    None
                }
            },
            "equality" => self.comparison(element, [false, true, false]),
            "inequality" => self.comparison(element, [true, false, true]),
            "lessthan" | "lt" => self.comparison(element, [true, false, false]),
            "lessthanorequal" | "leq" => self.comparison(element, [true, true, false]),
            "greaterthan" | "gt" => self.comparison(element, [false, false, true]),
            "greaterthanorequal" | "geq" => self.comparison(element, [false, true, true]),
            other => {
                self.findings.error(xml::span(element), format!("`{other}` is no condition that is supported here"));
                None
            }
        }
    }

    fn comparison(&mut self, element: Element, truth: [bool; 3]) -> Option<Condition> {
        let sides: Vec<Element> = operands(element).collect();
        let [left, right] = sides[..] else {
            self.findings.error(xml::span(element), "a comparison takes two terms");
            return None;
        };
        let (left_sort, left_colour) = self.colour(left)?;
        let (right_sort, right_colour) = self.colour(right)?;
        if left_colour.iter().chain(&right_colour).any(|part| matches!(part, Part::All(_))) {
            self.findings.error(xml::span(element), "`all` cannot be compared");
            return None;
        }
        let range = |sort: SortId| matches!(self.net.sorts[sort.0 as usize].kind, SortKind::Range(_));
        let same = self.net.parts(left_sort) == self.net.parts(right_sort);
        if same && truth[0] == truth[2] {
            return Some(Condition::Equal(left_colour, right_colour, truth[1]));
        }
        match (&left_colour[..], &right_colour[..]) {
            ([left], [right]) if same || range(left_sort) && range(right_sort) => {
                Some(Condition::Order { left: *left, right: *right, offset: offset(self.net, left_sort, right_sort), truth })
            }
            _ => {
                self.mismatch(right, right_sort, left_sort);
                None
            }
        }
    }
}

/// The terms inside the `subterm` elements of a term.
fn operands<'a>(element: Element<'a>) -> impl Iterator<Item = Element<'a>> {
    xml::children(element).filter(|inner| xml::name(*inner) == "subterm").filter_map(|subterm| xml::children(subterm).next())
}
