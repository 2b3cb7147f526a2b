//! A program's rules, states and values in readable form, for reports, witnesses and simulations.

mod chosen;

use crate::code::TypeId;
use crate::packing::ones;
use crate::program::{Program, Rule};
use crate::types::{Scalar, Type};
use std::collections::BTreeMap;
use wayfarer_space::Word;

/// One scalar of a state.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf<'a> {
    /// Its path: `Cache[1].State`, and `Net{0}.Src` inside a bag's first element.
    pub path: String,
    /// Its type.
    pub scalar: &'a Scalar,
    /// Its offset in bits from the state's start.
    pub bit: usize,
    /// The stored form.
    pub stored: Word,
}

impl Leaf<'_> {
    /// Its value as text.
    pub fn text(&self) -> String {
        self.scalar.show(self.stored)
    }
}

/// A difference between two states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its path. A bag gives one difference for each element that was added or removed, named `Net{}`.
    pub path: String,
    /// The old value; `absent` for an element that was added.
    pub old: String,
    /// The new value; `absent` for an element that was removed.
    pub new: String,
}

/// The text for an absent element.
pub const ABSENT: &str = "absent";

impl Program {
    /// The rule family of an instance and its number there; `None` past the last instance.
    pub fn rule_of(&self, instance: u32) -> Option<(usize, u64)> {
        family_of(&self.rules, instance)
    }

    /// The family of a start state and its number there; `None` past the last instance.
    pub fn start_of(&self, instance: u32) -> Option<(usize, u64)> {
        family_of(&self.starts, instance)
    }

    /// A rule's name and its parameters' values: `RecvGntE, i: 1`.
    pub fn describe_rule(&self, instance: u32) -> String {
        describe(self, &self.rules, instance)
    }

    /// A start state's name and its parameters' values.
    pub fn describe_start(&self, instance: u32) -> String {
        describe(self, &self.starts, instance)
    }

    /// The scalars of a state in the order of the variables, computed one at a time. Free slots of bags are left out.
    pub fn scalars<'a>(&'a self, state: &'a [Word]) -> Scalars<'a> {
        Scalars { program: self, state, variable: 0, open: Vec::new(), path: String::new() }
    }

    /// All scalars of a state, one on each line.
    pub fn listing(&self, state: &[Word]) -> String {
        let mut lines = String::new();
        for leaf in self.scalars(state) {
            lines.push_str(&format!("{}: {}\n", leaf.path, leaf.text()));
        }
        lines
    }

    /// The differences between two states, in the order of the variables.
    pub fn differences(&self, old: &[Word], new: &[Word]) -> Vec<Difference> {
        let mut found = Vec::new();
        for variable in &self.variables {
            compare(self, variable.ty, variable.offset as usize, &variable.name, (old, new), &mut found);
        }
        found
    }
}

fn family_of(families: &[Rule], instance: u32) -> Option<(usize, u64)> {
    let mut member = u64::from(instance);
    for (family, rule) in families.iter().enumerate() {
        let instances = rule.instances();
        if member < instances {
            return Some((family, member));
        }
        member -= instances;
    }
    None
}

fn describe(program: &Program, families: &[Rule], instance: u32) -> String {
    let Some((family, member)) = family_of(families, instance) else { return format!("?{instance}") };
    let rule = &families[family];
    let mut values = vec![0; rule.parameters.len()];
    rule.values(member, &mut values);
    let mut text = rule.name.clone();
    for (parameter, value) in rule.parameters.iter().zip(values) {
        let shown = match program.types.get(parameter.ty.0 as usize).and_then(Type::scalar) {
            Some(scalar) => scalar.show(scalar.store(value)),
            None => value.to_string(),
        };
        text.push_str(&format!(", {}: {shown}", parameter.name));
    }
    text
}

/// The scalars of a state; made by [`Program::scalars`].
pub struct Scalars<'a> {
    program: &'a Program,
    state: &'a [Word],
    /// The next variable to enter.
    variable: usize,
    /// The compound values around the current position, outermost first.
    open: Vec<Open<'a>>,
    path: String,
}

/// A compound value that is being walked.
struct Open<'a> {
    ty: &'a Type,
    bit: usize,
    /// The next part to enter.
    next: u32,
    /// The length of its own path.
    path: usize,
}

impl<'a> Scalars<'a> {
    /// Moves to the next part, whose name is then in `path`.
    fn advance(&mut self) -> Option<(TypeId, usize)> {
        loop {
            let Some(open) = self.open.last_mut() else {
                let variable = self.program.variables.get(self.variable)?;
                self.variable += 1;
                self.path.clear();
                self.path.push_str(&variable.name);
                return Some((variable.ty, variable.offset as usize));
            };
            self.path.truncate(open.path);
            let part = open.next;
            open.next += 1;
            match open.ty {
                Type::Record { fields, .. } if (part as usize) < fields.len() => {
                    let field = &fields[part as usize];
                    self.path.push('.');
                    self.path.push_str(&field.name);
                    return Some((field.ty, open.bit + field.offset as usize));
                }
                Type::Array { index, element, stride, count, .. } if part < *count => {
                    self.path.push_str(&format!("[{}]", index_name(self.program, *index, part)));
                    return Some((*element, open.bit + part as usize * *stride as usize));
                }
                Type::Bag { element, stride, capacity, element_at, .. } if part < *capacity => {
                    let slot = open.bit + part as usize * *stride as usize;
                    if bits_at(self.state, slot, 1) == 1 {
                        self.path.push_str(&format!("{{{part}}}"));
                        return Some((*element, slot + *element_at as usize));
                    }
                }
                _ => {
                    self.open.pop();
                }
            }
        }
    }
}

impl<'a> Iterator for Scalars<'a> {
    type Item = Leaf<'a>;

    fn next(&mut self) -> Option<Leaf<'a>> {
        loop {
            let (ty, bit) = self.advance()?;
            match &self.program.types[ty.0 as usize] {
                Type::Scalar(scalar) => {
                    return Some(Leaf { path: self.path.clone(), scalar, bit, stored: bits_at(self.state, bit, u32::from(scalar.bits)) });
                }
                compound => self.open.push(Open { ty: compound, bit, next: 0, path: self.path.len() }),
            }
        }
    }
}

fn compare(program: &Program, ty: TypeId, bit: usize, path: &str, (old, new): (&[Word], &[Word]), found: &mut Vec<Difference>) {
    let ty = &program.types[ty.0 as usize];
    // Equal parts are skipped as a whole, so that the cost for a large array depends on its changes.
    if run(old, bit, ty.bits()) == run(new, bit, ty.bits()) {
        return;
    }
    match ty {
        Type::Scalar(scalar) => {
            let shown = |state| scalar.show(bits_at(state, bit, u32::from(scalar.bits)));
            found.push(Difference { path: path.to_string(), old: shown(old), new: shown(new) });
        }
        Type::Record { fields, .. } => {
            for field in fields {
                compare(program, field.ty, bit + field.offset as usize, &format!("{path}.{}", field.name), (old, new), found);
            }
        }
        Type::Array { index, element, stride, count, .. } => {
            for part in 0..*count {
                let path = format!("{path}[{}]", index_name(program, *index, part));
                compare(program, *element, bit + part as usize * *stride as usize, &path, (old, new), found);
            }
        }
        Type::Bag { element, stride, capacity, element_at, slot_bits, .. } => {
            // Slots are sorted, so a new element moves others: only additions and removals count.
            let mut balance: BTreeMap<Run, (i64, String)> = BTreeMap::new();
            for (state, sign) in [(old, -1), (new, 1)] {
                for slot in (0..*capacity as usize).map(|part| bit + part * *stride as usize) {
                    if bits_at(state, slot, 1) == 1 {
                        let text = || value_text(program, *element, state, slot + *element_at as usize);
                        balance.entry(run(state, slot, *slot_bits)).or_insert_with(|| (0, text())).0 += sign;
                    }
                }
            }
            for (count, text) in balance.into_values() {
                for _ in 0..count.abs() {
                    let (old, new) = if count < 0 { (text.clone(), ABSENT.into()) } else { (ABSENT.into(), text.clone()) };
                    found.push(Difference { path: format!("{path}{{}}"), old, new });
                }
            }
        }
    }
}

/// A value of any type: `{Src: 1, Dst: 2}` for a record, `[0: Idle, 1: Busy]` for an array, `{{…}, {…}}` for a bag.
pub(crate) fn value_text(program: &Program, ty: TypeId, words: &[Word], bit: usize) -> String {
    let list = |parts: Vec<String>| parts.join(", ");
    match &program.types[ty.0 as usize] {
        Type::Scalar(scalar) => scalar.show(bits_at(words, bit, u32::from(scalar.bits))),
        Type::Record { fields, .. } => {
            let part = |field: &crate::types::Field| format!("{}: {}", field.name, value_text(program, field.ty, words, bit + field.offset as usize));
            format!("{{{}}}", list(fields.iter().map(part).collect()))
        }
        Type::Array { index, element, stride, count, .. } => {
            let part = |part: u32| {
                let text = value_text(program, *element, words, bit + part as usize * *stride as usize);
                format!("{}: {text}", index_name(program, *index, part))
            };
            format!("[{}]", list((0..*count).map(part).collect()))
        }
        Type::Bag { element, stride, capacity, element_at, .. } => {
            let slots = (0..*capacity as usize).map(|part| bit + part * *stride as usize).filter(|slot| bits_at(words, *slot, 1) == 1);
            format!("{{{}}}", list(slots.map(|slot| value_text(program, *element, words, slot + *element_at as usize)).collect()))
        }
    }
}

/// A stored form of a scalar type.
pub(crate) fn scalar_text(program: &Program, ty: TypeId, stored: Word) -> String {
    program.types.get(ty.0 as usize).and_then(Type::scalar).map_or_else(|| stored.to_string(), |scalar| scalar.show(stored))
}

/// The text of the n-th value of an index type.
fn index_name(program: &Program, index: TypeId, part: u32) -> String {
    match program.types.get(index.0 as usize).and_then(Type::scalar) {
        Some(scalar) => scalar.show(scalar.store(scalar.low.wrapping_add(i64::from(part)))),
        None => part.to_string(),
    }
}

fn bits_at(words: &[Word], bit: usize, bits: u32) -> Word {
    // An empty array can stand after the last word.
    words.get(bit / 64).map_or(0, |word| word >> (bit % 64) & ones(bits))
}

/// A run of bits to be compared: a masked word, or a slice of words.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Run<'a> {
    Short(Word),
    Long(&'a [Word]),
}

fn run(words: &[Word], bit: usize, bits: u32) -> Run<'_> {
    if bits <= 64 { Run::Short(bits_at(words, bit, bits)) } else { Run::Long(&words[bit / 64..bit / 64 + bits as usize / 64]) }
}
