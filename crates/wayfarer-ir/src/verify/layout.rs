//! The rules of types and variables.

use super::{MAX_TYPE_DEPTH, Problem, Verifier};
use crate::code::TypeId;
use crate::layout::MAX_BITS;
use crate::packing::ones;
use crate::types::{Names, Type};
use std::collections::HashMap;

/// Verifies all types and, if they are valid, the variables.
pub(super) fn verify(verifier: &mut Verifier) {
    if nesting(verifier) {
        for number in 0..verifier.program.types.len() {
            ty(verifier, number);
        }
        sets(verifier);
        variables(verifier);
    }
}

/// Whether all types referred to exist and nesting ends.
fn nesting(verifier: &mut Verifier) -> bool {
    let types = &verifier.program.types;
    let before = verifier.errors.len();
    for (number, ty) in types.iter().enumerate() {
        for TypeId(inner) in parts(ty) {
            if inner as usize >= types.len() {
                verifier.error(&format!("type {number}"), Problem::Missing { what: "type", number: inner });
            }
        }
    }
    if verifier.errors.len() > before {
        return false;
    }
    // A type is one level deeper than its deepest part; a type that is not settled after the deepest allowed round is
    // too deep or contains itself.
    let mut settled: Vec<bool> = vec![false; types.len()];
    for _ in 0..MAX_TYPE_DEPTH {
        let round: Vec<bool> = types.iter().map(|ty| parts(ty).iter().all(|part| settled[part.0 as usize])).collect();
        if round == settled {
            break;
        }
        settled = round;
    }
    for number in (0..types.len()).filter(|number| !settled[*number]) {
        verifier.error(&format!("type {number}"), Problem::Wrong("it contains itself, or nests too deep"));
    }
    verifier.errors.len() == before
}

fn parts(ty: &Type) -> Vec<TypeId> {
    match ty {
        Type::Scalar(_) => Vec::new(),
        Type::Record { fields, .. } => fields.iter().map(|field| field.ty).collect(),
        Type::Array { index, element, .. } => vec![*index, *element],
        Type::Bag { element, .. } => vec![*element],
    }
}

fn ty(verifier: &mut Verifier, number: usize) {
    let program = verifier.program;
    let part = format!("type {number}");
    let ty = &program.types[number];
    let size = |ty: TypeId| program.types[ty.0 as usize].bits();
    let mut check = |result: Result<(), Problem>| {
        if let Err(problem) = result {
            verifier.error(&part, problem);
        }
    };
    if ty.bits() > MAX_BITS {
        return check(Err(Problem::TooLarge { what: "bits", size: u64::from(ty.bits()), limit: u64::from(MAX_BITS) }));
    }
    if ty.scalar().is_none() && ty.bits() > 64 && !ty.bits().is_multiple_of(64) {
        check(Err(Problem::Straddles { bits: ty.bits() }));
    }
    let whole = ty.bits();
    match ty {
        Type::Scalar(scalar) => {
            if !(1..=64).contains(&scalar.bits) {
                return check(Err(Problem::Bits(u32::from(scalar.bits))));
            }
            let largest = scalar.count.saturating_sub(1).checked_add(u64::from(scalar.undefinable));
            if largest.is_none_or(|largest| largest > ones(u32::from(scalar.bits))) {
                check(Err(Problem::Wrong("its bits do not hold its values")));
            }
            if let Names::Real(format) = scalar.names
                && (scalar.low, scalar.count) != (1, format.count())
            {
                check(Err(Problem::Wrong("its values are not those of its real numbers")));
            }
            let mut end = 0;
            for part in &scalar.elements {
                let last = part.first.checked_add(part.count).filter(|last| part.first >= end && *last <= scalar.count && part.count > 0);
                let Some(last) = last else { return check(Err(Problem::Wrong("its elements of scalarsets are not among its values, or not apart"))) };
                end = last;
            }
        }
        Type::Record { fields, .. } => {
            for field in fields {
                check(inside(field.offset, &[], size(field.ty), whole));
            }
            let named = fields.iter().map(|field| (field.name.as_str(), field.offset, size(field.ty))).collect();
            check(apart(named));
        }
        Type::Array { index, element, stride, count, .. } => {
            if program.types[index.0 as usize].scalar().is_none_or(|scalar| scalar.count != u64::from(*count)) {
                check(Err(Problem::Wrong("its index type is not a scalar of as many values as it has elements")));
            }
            if *stride < size(*element) {
                check(Err(Problem::Wrong("its elements overlap")));
            }
            check(inside(0, &[(*stride, *count)], size(*element), whole));
        }
        Type::Bag { element, stride, capacity, element_at, slot_bits, .. } => {
            if *element_at == 0 || u64::from(*element_at) + u64::from(size(*element)) > u64::from(*slot_bits) || slot_bits > stride {
                check(Err(Problem::Wrong("its slots do not hold their marks and elements apart")));
            }
            check(inside(0, &[(*stride, *capacity)], *slot_bits, whole));
            check(inside(*element_at, &[], size(*element), *slot_bits));
        }
    }
}

/// Checks that every scalarset has the same number of elements wherever it occurs.
fn sets(verifier: &mut Verifier) {
    let mut counts = HashMap::new();
    for (number, scalar) in verifier.program.types.iter().enumerate().filter_map(|(number, ty)| Some((number, ty.scalar()?))) {
        for part in &scalar.elements {
            if *counts.entry(part.set).or_insert(part.count) != part.count {
                verifier.error(&format!("type {number}"), Problem::Wrong("a scalarset has another number of elements here than elsewhere"));
            }
        }
    }
}

fn variables(verifier: &mut Verifier) {
    let program = verifier.program;
    let mut named = Vec::new();
    for variable in &program.variables {
        let part = format!("variable `{}`", variable.name);
        match program.types.get(variable.ty.0 as usize) {
            None => verifier.error(&part, Problem::Missing { what: "type", number: variable.ty.0 }),
            Some(ty) => {
                named.push((variable.name.as_str(), variable.offset, ty.bits()));
                if let Err(problem) = inside_words(variable.offset, &[], ty.bits(), u64::from(program.words) * 64) {
                    verifier.error(&part, problem);
                }
            }
        }
    }
    if let Err(problem) = apart(named) {
        verifier.error("variables", problem);
    }
}

/// Whether a part lies inside an object of `size` bits, and inside one word or on whole words, wherever the object
/// may lie.
pub(super) fn inside(offset: u32, indices: &[(u32, u32)], bits: u32, size: u32) -> Result<(), Problem> {
    if indices.iter().any(|(_, count)| *count == 0) {
        // No index passes, so the place is never reached.
        return Ok(());
    }
    if size <= 64 {
        // The object itself lies inside one word, so every part of it does.
        fits(offset, indices, bits, u64::from(size))
    } else {
        inside_words(offset, indices, bits, u64::from(size))
    }
}

/// The same for an object that starts at a word. Indices are strides and counts.
pub(super) fn inside_words(offset: u32, indices: &[(u32, u32)], bits: u32, size: u64) -> Result<(), Problem> {
    if indices.iter().any(|(_, count)| *count == 0) {
        return Ok(());
    }
    fits(offset, indices, bits, size)?;
    // The bits of a word at which the run can start. An index adds its stride, and after 64 rounds starts over.
    let mut starts = 1u64 << (offset % 64);
    for (stride, count) in indices {
        let mut moved = starts;
        for _ in 1..(*count).min(64) {
            moved = moved.rotate_left(stride % 64);
            starts |= moved;
        }
    }
    let last = 63 - starts.leading_zeros();
    let sound = if bits <= 64 { last + bits <= 64 } else { starts == 1 && bits.is_multiple_of(64) };
    if sound { Ok(()) } else { Err(Problem::Straddles { bits }) }
}

fn fits(offset: u32, indices: &[(u32, u32)], bits: u32, size: u64) -> Result<(), Problem> {
    let reach: u64 = indices.iter().map(|(stride, count)| u64::from(*stride) * u64::from(count.saturating_sub(1))).fold(0, u64::saturating_add);
    let end = reach.saturating_add(u64::from(offset) + u64::from(bits));
    if end > size { Err(Problem::Outside { end, size }) } else { Ok(()) }
}

fn apart(mut named: Vec<(&str, u32, u32)>) -> Result<(), Problem> {
    named.sort_by_key(|(_, offset, _)| *offset);
    for pair in named.windows(2) {
        let ((first, offset, bits), (second, next, _)) = (pair[0], pair[1]);
        if u64::from(offset) + u64::from(bits) > u64::from(next) {
            return Err(Problem::Overlap(first.to_string(), second.to_string()));
        }
    }
    Ok(())
}
