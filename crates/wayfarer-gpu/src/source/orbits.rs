//! States up to permutations of scalarset elements: `canonicalise` replaces a state by the least of its orbit. All permutations are tried, each one exchange of
//! neighbours away from the one before (Johnson 1963, Trotter 1962), so that little of the state changes from one to the next.

use crate::unsupported::Unsupported;
use std::collections::BTreeMap;
use std::fmt::Write;
use wayfarer_ir::{Program, Scalar, Type, TypeId};

/// The most elements of a scalarset, and the most permutations of all together.
const MOST_ELEMENTS: u64 = 6;
const MOST_PERMUTATIONS: u64 = 6 * 720;

/// Writes `canonicalise`, which does nothing in a source that is not symmetric.
pub(super) fn write(program: &Program, symmetric: bool, out: &mut String) -> Result<(), Unsupported> {
    let sets = if symmetric { sets(program) } else { BTreeMap::new() };
    let permutations = sets.values().map(|count| (1..=*count).product::<u64>()).fold(1u64, u64::saturating_mul);
    if let Some(elements) = sets.values().copied().find(|count| *count > MOST_ELEMENTS) {
        return Err(Unsupported::Scalarset { elements });
    }
    if permutations > MOST_PERMUTATIONS {
        return Err(Unsupported::Permutations { permutations });
    }
    let _ = writeln!(out, "\nstatic const u32 SYMMETRIC = {};", u32::from(!sets.is_empty()));
    if sets.is_empty() {
        let _ = writeln!(out, "WF_INLINE void canonicalise(u64* s) {{}}");
        return Ok(());
    }
    for set in sets.keys() {
        let _ = writeln!(out, "\n// Exchanges the elements i and i + 1 of scalarset {set}.\nWF_OUTLINE void exchange{set}(u64* s, u32 i) {{");
        for variable in &program.variables {
            Exchange { program, set: *set, out, depth: 0 }.object(variable.ty, &variable.offset.to_string());
        }
        let _ = writeln!(out, "}}");
    }
    for (set, count) in &sets {
        let order: Vec<String> = exchanges(*count).iter().map(u64::to_string).collect();
        let _ = writeln!(out, "WF_TABLE unsigned char order{set}[{}] = {{{}}};", order.len(), order.join(","));
    }
    let _ = writeln!(out, "\n// Replaces a state by the least of its orbit.\nWF_OUTLINE void canonicalise(u64* s) {{");
    let _ = writeln!(out, "  u64 least[WORDS];\n  copy_words(least, s, WORDS);");
    write_loops(&sets.iter().map(|(set, count)| (*set, exchanges(*count).len())).collect::<Vec<_>>(), out);
    let _ = writeln!(out, "  copy_words(s, least, WORDS);\n}}");
    Ok(())
}

/// All permutations of all sets: those of the later ones between any two of an earlier one.
fn write_loops(sets: &[(u32, usize)], out: &mut String) {
    let Some(((set, length), rest)) = sets.split_first() else { return };
    let _ = writeln!(out, "  for (u32 at{set} = 0;; at{set}++) {{");
    write_loops(rest, out);
    let _ = writeln!(out, "  if (at{set} == {length}) break;\n  exchange{set}(s, order{set}[at{set}]);");
    let _ = writeln!(out, "  if (is_less(s, least)) copy_words(least, s, WORDS);\n  }}");
}

/// The scalarsets of two elements or more that occur in a state, and how many elements they have.
fn sets(program: &Program) -> BTreeMap<u32, u64> {
    let mut found = BTreeMap::new();
    program.variables.iter().for_each(|variable| collect(program, variable.ty, &mut found));
    found
}

fn collect(program: &Program, ty: TypeId, found: &mut BTreeMap<u32, u64>) {
    match &program.types[ty.0 as usize] {
        Type::Scalar(scalar) => found.extend(scalar.elements.iter().filter(|part| part.count > 1).map(|part| (part.set, part.count))),
        Type::Record { fields, .. } => fields.iter().for_each(|field| collect(program, field.ty, found)),
        Type::Array { index, element, .. } => {
            collect(program, *index, found);
            collect(program, *element, found);
        }
        Type::Bag { element, .. } => collect(program, *element, found),
    }
}

/// The exchanges of neighbours that lead through all permutations of so many elements.
fn exchanges(count: u64) -> Vec<u64> {
    if count < 2 {
        return Vec::new();
    }
    // The last element wanders through the others, to and fro; each time it arrives, the others take their next exchange.
    let mut made = Vec::new();
    let others = exchanges(count - 1);
    for (round, other) in others.iter().copied().map(Some).chain([None]).enumerate() {
        let down = round % 2 == 0;
        made.extend((0..count - 1).map(|step| if down { count - 2 - step } else { step }));
        // If the last element stands in front, the others lie one place further on.
        made.extend(other.map(|other| if down { other + 1 } else { other }));
    }
    made
}

/// Writes what the exchange of two elements of a set does to objects.
struct Exchange<'a> {
    program: &'a Program,
    set: u32,
    out: &'a mut String,
    depth: u32,
}

impl Exchange<'_> {
    /// The part of a scalar's values that are elements of the set.
    fn first(&self, scalar: &Scalar) -> Option<u64> {
        scalar.elements.iter().find(|part| part.set == self.set && part.count > 1).map(|part| part.first)
    }

    fn moves(&self, ty: TypeId) -> bool {
        match &self.program.types[ty.0 as usize] {
            Type::Scalar(scalar) => self.first(scalar).is_some(),
            Type::Record { fields, .. } => fields.iter().any(|field| self.moves(field.ty)),
            Type::Array { index, element, .. } => self.moves(*index) || self.moves(*element),
            Type::Bag { element, .. } => self.moves(*element),
        }
    }

    /// The object at an offset in bits, which is an expression.
    fn object(&mut self, ty: TypeId, at: &str) {
        if !self.moves(ty) {
            return;
        }
        let program = self.program;
        match &program.types[ty.0 as usize] {
            Type::Scalar(scalar) => {
                let Some(first) = self.first(scalar) else { return };
                let mask = if scalar.bits >= 64 { u64::MAX } else { (1 << scalar.bits) - 1 };
                let _ = writeln!(self.out, "  exchange_value(s, {at}, {mask:#x}ull, {} + i);", first + u64::from(scalar.undefinable));
            }
            Type::Record { fields, .. } => fields.iter().for_each(|field| self.object(field.ty, &format!("{at} + {}", field.offset))),
            Type::Array { index, element, stride, count, .. } => {
                self.each(*element, at, *stride, *count, "");
                let first = program.types[index.0 as usize].scalar().and_then(|scalar| self.first(scalar));
                if let Some(first) = first {
                    let (one, other) = (format!("{at} + ({first} + i) * {stride}"), format!("{at} + ({first} + i + 1) * {stride}"));
                    let _ = if *stride < 64 {
                        writeln!(self.out, "  exchange_bits(s, {one}, {other}, {:#x}ull);", (1u64 << stride) - 1)
                    } else {
                        writeln!(self.out, "  exchange_words(s, ({one}) >> 6, ({other}) >> 6, {});", stride / 64)
                    };
                }
            }
            Type::Bag { element, stride, capacity, element_at, slot_bits, .. } => {
                self.each(*element, at, *stride, *capacity, &format!(" + {element_at}"));
                let _ = if *slot_bits <= 64 {
                    let mask = if *slot_bits == 64 { u64::MAX } else { (1 << slot_bits) - 1 };
                    writeln!(self.out, "  sort_bits(s, {at}, {stride}, {capacity}, {mask:#x}ull);")
                } else {
                    writeln!(self.out, "  sort_words(s, {at}, {stride}, {capacity}, {});", slot_bits / 64)
                };
            }
        }
    }

    /// All elements of an array, or all slots of a bag that are taken.
    fn each(&mut self, element: TypeId, at: &str, stride: u32, count: u32, element_at: &str) {
        if !self.moves(element) {
            return;
        }
        let index = format!("k{}", self.depth);
        self.depth += 1;
        let _ = writeln!(self.out, "  for (u32 {index} = 0; {index} < {count}; {index}++) {{");
        if !element_at.is_empty() {
            let _ = writeln!(self.out, "  u32 slot = {at} + {index} * {stride};\n  if (!(s[slot >> 6] >> (slot & 63) & 1)) continue;");
        }
        self.object(element, &format!("{at} + {index} * {stride}{element_at}"));
        let _ = writeln!(self.out, "  }}");
        self.depth -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::exchanges;
    use std::collections::HashSet;

    #[test]
    fn exchanges_lead_through_all_permutations() {
        for count in 1..=6 {
            let mut order: Vec<u64> = (0..count).collect();
            let mut met = HashSet::from([order.clone()]);
            for exchange in exchanges(count) {
                order.swap(exchange as usize, exchange as usize + 1);
                assert!(met.insert(order.clone()), "{count}");
            }
            assert_eq!(met.len() as u64, (1..=count).product::<u64>());
        }
    }
}
