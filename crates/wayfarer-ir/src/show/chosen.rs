//! The elements of bags that a firing chose. A rule's parameter is then the number of a slot, which says little.

use super::{bits_at, value_text};
use crate::code::{Expr, Place, Reg, Root, TypeId};
use crate::program::Program;
use crate::types::Type;
use crate::walk;
use wayfarer_space::Word;

impl Program {
    /// The parameters of a firing that choose an element of a bag, each with that element as text.
    pub fn chosen(&self, state: &[Word], instance: u32) -> Vec<(String, String)> {
        let Some((family, member)) = self.rule_of(instance) else { return Vec::new() };
        let rule = &self.rules[family];
        let mut values = vec![0; rule.parameters.len()];
        rule.values(member, &mut values);
        let chosen = (0u32..).zip(&rule.parameters).filter_map(|(number, parameter)| {
            let bit = slot(&rule.guard.value, Reg(number), &values)?;
            let found = self.variables.iter().find_map(|variable| element(self, variable.ty, variable.offset as usize, bit, state));
            Some((parameter.name.clone(), found?))
        });
        chosen.collect()
    }
}

/// The slot that a parameter stands for: the guard asks whether it is taken.
fn slot(guard: &Expr, parameter: Reg, values: &[i64]) -> Option<usize> {
    let mut found = None;
    walk::expressions(guard, &mut |expr| {
        if let Expr::Load { place, bits: 1 } = expr
            && place.root == Root::State
            && place.indices.last().is_some_and(|index| names(&index.value, parameter))
        {
            found = found.or_else(|| offset(place, values));
        }
    });
    found
}

/// Whether an index is a parameter, checked or not.
fn names(index: &Expr, parameter: Reg) -> bool {
    match index {
        Expr::Reg(register) => *register == parameter,
        Expr::Require { value, .. } => names(value, parameter),
        _ => false,
    }
}

/// The offset of a place whose indices depend on parameters alone.
fn offset(place: &Place, values: &[i64]) -> Option<usize> {
    place.indices.iter().try_fold(place.offset as usize, |offset, index| {
        let value = constant(&index.value, values).filter(|value| (0..i64::from(index.count)).contains(value))?;
        Some(offset + value as usize * index.stride as usize)
    })
}

fn constant(expr: &Expr, values: &[i64]) -> Option<i64> {
    match expr {
        Expr::Const(value) => Some(*value),
        Expr::Reg(Reg(number)) => values.get(*number as usize).copied(),
        Expr::Binary(op, left, right) => Some(op.apply(constant(left, values)?, constant(right, values)?)),
        Expr::Checked { op, left, right, .. } => op.apply(constant(left, values)?, constant(right, values)?),
        Expr::Require { value, .. } => constant(value, values),
        _ => None,
    }
}

/// The element in the slot of a bag that begins at `bit`, if the object of this type at `from` has it.
fn element(program: &Program, ty: TypeId, from: usize, bit: usize, state: &[Word]) -> Option<String> {
    let ty = &program.types[ty.0 as usize];
    let within = bit.checked_sub(from).filter(|within| *within < ty.bits() as usize)?;
    match ty {
        Type::Scalar(_) => None,
        Type::Record { fields, .. } => fields.iter().find_map(|field| element(program, field.ty, from + field.offset as usize, bit, state)),
        Type::Array { element: part, stride, .. } => {
            let start = from + within / (*stride as usize).max(1) * *stride as usize;
            element(program, *part, start, bit, state)
        }
        Type::Bag { element: part, stride, element_at, .. } => {
            let start = from + within / (*stride as usize).max(1) * *stride as usize;
            match start == bit {
                true => (bits_at(state, bit, 1) == 1).then(|| value_text(program, *part, state, bit + *element_at as usize)),
                false => element(program, *part, start + *element_at as usize, bit, state),
            }
        }
    }
}
