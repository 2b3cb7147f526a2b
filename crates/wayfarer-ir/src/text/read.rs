//! Reads programs back from their text. The verifier decides whether the program is valid.

use super::items::{Items, Read};
use super::lists::{Kind, ReadError, parse};
use super::print::CERTAINTY;
use crate::code::TypeId;
use crate::program::{
    Asymmetry, Body, FaultKind, FaultSite, Formula, Function, Parameter, PassingField, Program, Property, Region, Rule, RuleParameter, Variable,
};
use crate::types::{Elements, Field, Names, Scalar, Type};
use wayfarer_space::{FaultClass, PropertyKind};

/// The program in a text.
pub fn read(text: &str) -> Result<Program, ReadError> {
    let node = parse(text)?;
    let mut program = Program::default();
    let mut items = Items::of(&node)?;
    items.expect("program")?;
    program.source = items.string()?;
    while let Some(node) = items.next() {
        let mut part = Items::of(node)?;
        match part.word()? {
            "words" => program.words = part.number()?,
            "type" => {
                part.counted('t', program.types.len())?;
                let ty = read_type(part.list()?)?;
                program.types.push(ty);
            }
            "variable" => {
                let (name, ty) = (part.string()?, TypeId(part.id('t')?));
                program.variables.push(Variable { name, ty, offset: part.field("offset")?, at: part.at()? });
            }
            "fault" => {
                part.counted('!', program.faults.len())?;
                let class = part.one_of(&FaultClass::ALL)?;
                let kind = part.one_of(&FaultKind::ALL)?;
                let at = part.at()?;
                program.faults.push(FaultSite { class, kind, message: part.string()?, at });
            }
            "function" => {
                part.counted('f', program.functions.len())?;
                let function = read_function(&mut part)?;
                program.functions.push(function);
            }
            "asymmetry" => {
                let (at, certain, message) = (part.at()?, part.one_of(&CERTAINTY)?, part.string()?);
                let mut commands = Vec::new();
                while part.peek().is_some() {
                    commands.push(part.number()?);
                }
                program.asymmetries.push(Asymmetry { at, certain, message, commands: (!commands.is_empty()).then_some(commands) });
            }
            "levels" => {
                while part.peek().is_some() {
                    program.levels.push(part.number()?);
                }
            }
            "passing" => {
                program.passing = Some(PassingField { offset: part.field("offset")?, bits: part.field("bits")?, endless: part.fault()? });
            }
            "ends" => program.ends = Some(Formula { registers: part.field("registers")?, value: part.expr()? }),
            "unjudged" => program.unjudged.push(part.string()?),
            "start" => program.starts.push(read_rule(&mut part)?),
            "rule" => program.rules.push(read_rule(&mut part)?),
            "property" => {
                part.counted('p', program.properties.len())?;
                let property = read_property(&mut part)?;
                program.properties.push(property);
            }
            word => return Err(node.mark.error(format!("a program has no `{word}`"))),
        }
        part.end()?;
    }
    Ok(program)
}

fn read_type(mut items: Items) -> Read<Type> {
    let ty = match items.word()? {
        "scalar" => {
            let (bits, low, count) = (items.field("bits")?, items.field("low")?, items.field("count")?);
            let mut scalar = Scalar { name: None, bits, low, count, undefinable: false, names: Names::Numbers, elements: Vec::new() };
            while let Some(node) = items.next() {
                let mut part = Items::of(node)?;
                match part.word()? {
                    "name" => scalar.name = Some(part.string()?),
                    "undefinable" => scalar.undefinable = true,
                    "names" => {
                        let mut names = Vec::new();
                        while part.peek().is_some() {
                            names.push(part.string()?);
                        }
                        scalar.names = Names::Names(names);
                    }
                    "elements" => {
                        let (set, first, count) = (part.field("set")?, part.field("first")?, part.field("count")?);
                        scalar.elements.push(Elements { set, first, count });
                    }
                    word => return Err(node.mark.error(format!("a scalar type has no `{word}`"))),
                }
                part.end()?;
            }
            Type::Scalar(scalar)
        }
        "record" => {
            let bits = items.field("bits")?;
            let mut fields = Vec::new();
            while let Some(node) = items.next() {
                let mut part = Items::of(node)?;
                part.expect("field")?;
                fields.push(Field { name: part.string()?, ty: TypeId(part.id('t')?), offset: part.field("offset")? });
                part.end()?;
            }
            Type::Record { fields, bits }
        }
        "array" => Type::Array {
            index: TypeId(items.id('t')?),
            element: TypeId(items.id('t')?),
            stride: items.field("stride")?,
            count: items.field("count")?,
            bits: items.field("bits")?,
        },
        "bag" => Type::Bag {
            element: TypeId(items.id('t')?),
            stride: items.field("stride")?,
            capacity: items.field("capacity")?,
            element_at: items.field("element-at")?,
            slot_bits: items.field("slot-bits")?,
            bits: items.field("bits")?,
        },
        word => return Err(items.mark.error(format!("there are no `{word}` types"))),
    };
    items.end()?;
    Ok(ty)
}

fn read_function(items: &mut Items) -> Read<Function> {
    let (name, at) = (items.string()?, items.at()?);
    let mut list = items.list()?;
    list.expect("parameters")?;
    let mut parameters = Vec::new();
    while let Some(node) = list.next() {
        parameters.push(match &node.kind {
            Kind::Word("value") => Parameter::Value,
            _ => {
                let mut part = Items::of(node)?;
                let region = part.one_of(&[(Region::State, "state"), (Region::Frame, "frame")])?;
                let bits = part.number()?;
                part.end()?;
                Parameter::Reference { region, bits }
            }
        });
    }
    let mut list = items.list()?;
    let result = list.one_of(&[(true, "result"), (false, "no-result")])?;
    let no_result = list.fault()?;
    list.end()?;
    Ok(Function { name, parameters, result, no_result, body: read_body("body", items)?, at })
}

fn read_body(word: &str, items: &mut Items) -> Read<Body> {
    let mut items = items.list()?;
    items.expect(word)?;
    Ok(Body { registers: items.field("registers")?, frame: items.field("frame")?, block: items.block()? })
}

fn read_rule(items: &mut Items) -> Read<Rule> {
    let (name, at) = (items.string()?, items.at()?);
    let mut parameters = Vec::new();
    loop {
        let mut part = items.list()?;
        match part.word()? {
            "parameter" => {
                let (name, ty) = (part.string()?, TypeId(part.id('t')?));
                parameters.push(RuleParameter { name, ty, from: part.field("from")?, by: part.field("by")?, count: part.field("count")? });
                part.end()?;
            }
            "guard" => {
                let guard = Formula { registers: part.field("registers")?, value: part.expr()? };
                part.end()?;
                return Ok(Rule { name, parameters, guard, command: read_body("command", items)?, at });
            }
            word => return Err(part.mark.error(format!("a rule has no `{word}`"))),
        }
    }
}

fn read_property(items: &mut Items) -> Read<Property> {
    let name = items.string()?;
    let kind = items.one_of(&PropertyKind::ALL)?;
    let at = items.at()?;
    let registers = items.field("registers")?;
    let mut conjuncts = Vec::new();
    while let Some(node) = items.next() {
        let mut part = Items::of(node)?;
        part.expect("conjunct")?;
        conjuncts.push((part.at()?, part.expr()?));
        part.end()?;
    }
    Ok(Property { name, kind, registers, conjuncts, at })
}
