//! A net as a program: one rule for each transition with its variables fixed. Its guard asks for the tokens, and its command adds constants to fields or
//! sets them to constants, so that a target can fire it without code of its own.

use super::bounds::Bounds;
use super::encoding::{Encoding, Field, Holds, Kept, TooWide, ones};
use super::flat::{Flat, FlatTransition};
use super::widths::Widths;
use std::collections::BTreeMap;
use wayfarer_ir::{
    At, BinaryOp, Body, Expr, FaultId, FaultKind, FaultSite, Formula, Names, Place, Program, Root, Rule, Stmt, Type, TypeId, Variable, layout,
};
use wayfarer_space::FaultClass;

/// A net as a program, with the key to its states.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The program. Its rules are the transitions of the net without colours, in their order.
    pub program: Program,
    /// How tokens are kept.
    pub encoding: Encoding,
    /// For each fault of the program the guess that it shows to be wrong.
    pub wrong: Vec<Guess>,
}

/// Something that is believed and not proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guess {
    /// That the tokens of a place fit into the bits that were taken for them.
    Width(u32),
    /// That the places of a NUPN unit share one token.
    Unit,
}

/// Makes the program of a net.
pub(super) fn lower(flat: &Flat, bounds: &Bounds, widths: &Widths, source: &str) -> Result<Lowered, TooWide> {
    let encoding = Encoding::new(flat, bounds, widths)?;
    let mut program = Program { source: source.to_string(), words: encoding.words, ..Program::default() };
    let mut counts: BTreeMap<u32, TypeId> = BTreeMap::new();
    for field in &encoding.fields {
        let ty = match &field.holds {
            Holds::Count { .. } => *counts.entry(field.bits).or_insert_with(|| {
                program.types.push(Type::Scalar(layout::scalar(None, 0, ones(field.bits).saturating_add(1), false, Names::Numbers)));
                TypeId(program.types.len() as u32 - 1)
            }),
            Holds::Which(set) => {
                let mut names: Vec<String> = if set.can_be_empty { vec!["none".into()] } else { Vec::new() };
                names.extend(set.places.iter().map(|place| flat.place_name(*place as usize)));
                let count = names.len() as u64;
                program.types.push(Type::Scalar(layout::scalar(None, 0, count, false, Names::Names(names))));
                TypeId(program.types.len() as u32 - 1)
            }
        };
        let first = match &field.holds {
            Holds::Count { place, .. } => *place,
            Holds::Which(set) => set.places[0],
        };
        let at = flat.net.places[flat.places[first as usize].place].at;
        program.variables.push(Variable { name: flat.place_name(first as usize), ty, offset: field.offset, at });
    }
    let mut lowering = Lowering { flat, encoding: &encoding, faults: Vec::new(), wrong: Vec::new(), sites: BTreeMap::new() };
    program.starts.push(lowering.start());
    program.rules = (0..flat.transitions.len()).map(|number| lowering.rule(number)).collect();
    (program.faults, program.asymmetries) = (lowering.faults, Vec::new());
    let wrong = lowering.wrong;
    Ok(Lowered { program, encoding, wrong })
}

struct Lowering<'a> {
    flat: &'a Flat,
    encoding: &'a Encoding,
    faults: Vec<FaultSite>,
    wrong: Vec<Guess>,
    /// The fault of each field that has one.
    sites: BTreeMap<u32, FaultId>,
}

impl Lowering<'_> {
    fn start(&self) -> Rule {
        let mut block = Vec::new();
        for field in &self.encoding.fields {
            let value = match &field.holds {
                Holds::Count { place, .. } => self.flat.initial[*place as usize],
                Holds::Which(set) => {
                    let marked = set.places.iter().position(|place| self.flat.initial[*place as usize] > 0);
                    marked.map_or(0, |place| place as u64 + u64::from(set.can_be_empty))
                }
            };
            if value > 0 {
                block.push(store(field, Expr::Const(value as i64)));
            }
        }
        let command = Body { registers: 0, frame: 0, block };
        Rule { name: "initial marking".into(), parameters: Vec::new(), guard: Formula::default(), command, at: At::default() }
    }

    fn rule(&mut self, number: usize) -> Rule {
        let transition = &self.flat.transitions[number];
        let guard = Formula { registers: 0, value: guard(self.encoding, &transition.inputs) };
        let block = if guard.value == Expr::Const(0) { Vec::new() } else { self.command(number) };
        Rule {
            name: self.flat.transition_name(number),
            parameters: Vec::new(),
            guard,
            command: Body { registers: 0, frame: 0, block },
            at: self.flat.net.transitions[transition.transition].at,
        }
    }

    /// The statements of a transition that is enabled: tests first, then changes, in the order of the fields.
    fn command(&mut self, number: usize) -> Vec<Stmt> {
        let transition = &self.flat.transitions[number];
        let mut changes: BTreeMap<u32, Vec<(u32, i64)>> = BTreeMap::new();
        for (place, change) in transition.effect() {
            match self.encoding.kept[place as usize] {
                // It is proved that nothing enabled changes them.
                Kept::Constant(_) => {}
                Kept::Count { field } | Kept::Which { field, .. } => changes.entry(field).or_default().push((place, change)),
            }
        }
        let (mut tests, mut stores) = (Vec::new(), Vec::new());
        for (number, changes) in changes {
            let field = &self.encoding.fields[number as usize];
            match &field.holds {
                Holds::Count { place, is_proved } => {
                    let change = changes.first().map_or(0, |(_, change)| *change);
                    if change > 0 && !is_proved {
                        let fault = self.fault(number, Guess::Width(*place));
                        // More than fits at all is a fault whatever is there.
                        let room = i64::try_from(ones(field.bits)).unwrap_or(i64::MAX) - change;
                        let condition = if room < 0 { Expr::Const(0) } else { compare(BinaryOp::Le, load(field), room) };
                        tests.push(Stmt::Check { condition, fault });
                    }
                    stores.push(store(field, Expr::Binary(BinaryOp::Add, Box::new(load(field)), Box::new(Expr::Const(change)))));
                }
                Holds::Which(set) => {
                    let value = |place: u32| match self.encoding.kept[place as usize] {
                        Kept::Which { value, .. } => value,
                        _ => 0,
                    };
                    let inside = |place: u32| matches!(self.encoding.kept[place as usize], Kept::Which { field, .. } if field == number);
                    let takes = transition.inputs.iter().any(|(place, _)| inside(*place));
                    let puts: Vec<(u32, i64)> = changes.iter().copied().filter(|(_, change)| *change > 0).collect();
                    if !set.is_proved && (puts.len() > 1 || puts.iter().any(|(_, count)| *count > 1)) {
                        let fault = self.fault(number, Guess::Unit);
                        tests.push(Stmt::Check { condition: Expr::Const(0), fault });
                    } else if !set.is_proved && !takes && !puts.is_empty() {
                        let fault = self.fault(number, Guess::Unit);
                        tests.push(Stmt::Check { condition: compare(BinaryOp::Eq, load(field), 0), fault });
                    } else if !set.is_proved && takes && keeps_one(transition, inside) && !puts.is_empty() {
                        // The token that is taken is put back, and another with it.
                        let fault = self.fault(number, Guess::Unit);
                        tests.push(Stmt::Check { condition: Expr::Const(0), fault });
                    }
                    let value = puts.first().map_or(0, |(place, _)| value(*place));
                    stores.push(store(field, Expr::Const(i64::from(value))));
                }
            }
        }
        tests.append(&mut stores);
        tests
    }

    fn fault(&mut self, field: u32, guess: Guess) -> FaultId {
        if let Some(fault) = self.sites.get(&field) {
            return *fault;
        }
        let fault = FaultId(self.faults.len() as u32);
        let (place, message) = match guess {
            Guess::Width(place) => {
                let bits = self.encoding.fields[field as usize].bits;
                (place, format!("`{}` gets more than {} tokens, for which no room was taken", self.flat.place_name(place as usize), ones(bits)))
            }
            Guess::Unit => {
                let Holds::Which(set) = &self.encoding.fields[field as usize].holds else { return fault };
                let name = self.flat.place_name(set.places[0] as usize);
                (set.places[0], format!("the net is not safe as its NUPN section claims: the unit of `{name}` gets two tokens"))
            }
        };
        let at = self.flat.net.places[self.flat.places[place as usize].place].at;
        self.faults.push(FaultSite { class: FaultClass::Limit, kind: FaultKind::Overflow, message, at });
        self.wrong.push(guess);
        self.sites.insert(field, fault);
        fault
    }
}

/// Whether a transition puts back into a set the token that it takes.
fn keeps_one(transition: &FlatTransition, inside: impl Fn(u32) -> bool) -> bool {
    let puts = |place: u32, count: u64| transition.outputs.iter().any(|(other, put)| *other == place && *put >= count);
    transition.inputs.iter().any(|(place, count)| inside(*place) && puts(*place, *count))
}

/// The condition under which tokens are there: a constant 0 where they can never be.
pub(super) fn guard(encoding: &Encoding, inputs: &[(u32, u64)]) -> Expr {
    let mut tests: BTreeMap<u32, Expr> = BTreeMap::new();
    for (place, count) in inputs {
        let (number, test) = match encoding.kept[*place as usize] {
            Kept::Constant(tokens) if tokens >= *count => continue,
            Kept::Constant(_) => return Expr::Const(0),
            Kept::Count { field } => {
                let kept = &encoding.fields[field as usize];
                if *count > ones(kept.bits) {
                    return Expr::Const(0);
                }
                let op = if *count == ones(kept.bits) { BinaryOp::Eq } else { BinaryOp::Ge };
                (field, compare(op, load(kept), *count as i64))
            }
            Kept::Which { field, value } => {
                if *count > 1 {
                    return Expr::Const(0);
                }
                (field, compare(BinaryOp::Eq, load(&encoding.fields[field as usize]), i64::from(value)))
            }
        };
        // Two places of a set cannot both have its one token.
        if tests.insert(number, test).is_some() {
            return Expr::Const(0);
        }
    }
    Expr::All(tests.into_values().collect())
}

/// The content of a field.
pub(super) fn load(field: &Field) -> Expr {
    Expr::Load { place: place(field), bits: field.bits as u8 }
}

pub(super) fn compare(op: BinaryOp, left: Expr, right: i64) -> Expr {
    Expr::Binary(op, Box::new(left), Box::new(Expr::Const(right)))
}

fn store(field: &Field, value: Expr) -> Stmt {
    Stmt::Store { place: place(field), bits: field.bits as u8, value }
}

fn place(field: &Field) -> Place {
    Place { root: Root::State, offset: field.offset, indices: Vec::new() }
}
