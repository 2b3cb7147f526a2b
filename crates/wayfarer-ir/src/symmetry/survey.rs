//! Finds the positions of scalarset elements in the states of a program.

use super::places::{Cell, Fixed, NO_VERTEX, Reference, Row, Slots, Unit};
use super::{Set, Symmetry, TooLarge};
use crate::code::TypeId;
use crate::packing::ones;
use crate::program::Program;
use crate::types::{Scalar, Type};
use std::collections::BTreeMap;
use wayfarer_space::Word;

/// The largest numbers of vertices and of cells.
const MAX_VERTICES: usize = u16::MAX as usize - 1;
const MAX_CELLS: usize = 1 << 20;

/// One step from an object to its parts that permutations move.
#[derive(Clone, Copy, Debug)]
struct Dim {
    /// The vertex of the first part; for slots that of the first slot of the first bag.
    first: usize,
    /// The offset of the first part if all outer indices are 0.
    bit: u32,
    stride: u32,
    count: u32,
    slot: bool,
}

/// Parts of the state with the same dimensions around them.
struct Region {
    dims: Vec<Dim>,
    bit: u32,
    bits: u32,
    leaves: Vec<(u32, u32, Option<Reference>)>,
}

pub(super) struct Surveyor<'p> {
    program: &'p Program,
    /// The sets that occur in the state, by their number in the program.
    sets: BTreeMap<u32, Set>,
    regions: Vec<Region>,
    tables: Vec<u16>,
    table_of: BTreeMap<u32, u32>,
    bags: Vec<Slots>,
    vertices: usize,
    keys: u64,
}

impl<'p> Surveyor<'p> {
    /// The parts of the program's states that permutations move; `None` if no scalarset of two elements or more
    /// occurs in them.
    pub(super) fn survey(program: &'p Program) -> Result<Option<Symmetry>, TooLarge> {
        let whole = Region { dims: Vec::new(), bit: 0, bits: u32::MAX, leaves: Vec::new() };
        let (sets, tables) = (BTreeMap::new(), Vec::new());
        let mut surveyor =
            Surveyor { program, sets, regions: vec![whole], tables, table_of: BTreeMap::new(), bags: Vec::new(), vertices: 0, keys: 0 };
        for variable in &program.variables {
            surveyor.collect(variable.ty)?;
        }
        if surveyor.sets.is_empty() {
            return Ok(None);
        }
        for set in surveyor.sets.values_mut() {
            set.first = surveyor.vertices as u16;
            surveyor.vertices += usize::from(set.count);
            if surveyor.vertices > MAX_VERTICES {
                return Err(TooLarge);
            }
        }
        for variable in &program.variables {
            surveyor.walk(variable.ty, variable.offset, 0)?;
        }
        surveyor.finish().map(Some)
    }

    /// Records the sets that occur in a type.
    fn collect(&mut self, ty: TypeId) -> Result<(), TooLarge> {
        match &self.program.types[ty.0 as usize] {
            Type::Scalar(scalar) => self.collect_scalar(scalar),
            Type::Record { fields, .. } => fields.iter().try_for_each(|field| self.collect(field.ty)),
            Type::Array { index, element, .. } => {
                self.collect(*index)?;
                self.collect(*element)
            }
            Type::Bag { element, .. } => self.collect(*element),
        }
    }

    fn collect_scalar(&mut self, scalar: &Scalar) -> Result<(), TooLarge> {
        for part in scalar.elements.iter().filter(|part| part.count > 1) {
            if part.count > MAX_VERTICES as u64 || scalar.bits > 16 {
                return Err(TooLarge);
            }
            self.sets.insert(part.set, Set { number: part.set, first: 0, count: part.count as u16, crossed: false });
        }
        Ok(())
    }

    /// Whether permutations change or move anything inside objects of a type.
    fn moves(&self, ty: TypeId) -> bool {
        match &self.program.types[ty.0 as usize] {
            Type::Scalar(scalar) => scalar.elements.iter().any(|part| part.count > 1),
            Type::Record { fields, .. } => fields.iter().any(|field| self.moves(field.ty)),
            Type::Array { index, element, .. } => self.moves(*index) || self.moves(*element),
            Type::Bag { element, .. } => self.moves(*element),
        }
    }

    fn walk(&mut self, ty: TypeId, bit: u32, region: usize) -> Result<(), TooLarge> {
        let program = self.program;
        match &program.types[ty.0 as usize] {
            Type::Scalar(scalar) => {
                let reference = self.reference(ty, scalar);
                let Region { bit: start, leaves, .. } = &mut self.regions[region];
                leaves.push((bit - *start, u32::from(scalar.bits), reference));
            }
            Type::Record { fields, .. } => {
                for field in fields {
                    self.walk(field.ty, bit + field.offset, region)?;
                }
            }
            Type::Array { index, element, stride, count, .. } => {
                let parts = program.types[index.0 as usize].scalar().map_or(&[][..], |scalar| &scalar.elements);
                let mut next = 0;
                for part in parts.iter().filter(|part| part.count > 1) {
                    for fixed in next..part.first as u32 {
                        self.walk(*element, bit + fixed * stride, region)?;
                    }
                    let first = usize::from(self.sets[&part.set].first);
                    let dim = Dim { first, bit: bit + part.first as u32 * stride, stride: *stride, count: part.count as u32, slot: false };
                    self.enter(dim, *element, 0, region)?;
                    next = (part.first + part.count) as u32;
                }
                for fixed in next..*count {
                    self.walk(*element, bit + fixed * stride, region)?;
                }
            }
            Type::Bag { element, stride, capacity, element_at, slot_bits, .. } => {
                if !self.moves(*element) {
                    for slot in (0..*capacity).map(|slot| bit + slot * stride) {
                        let Region { bit: start, leaves, .. } = &mut self.regions[region];
                        leaves.push((slot - *start, 1, None));
                        self.walk(*element, slot + element_at, region)?;
                    }
                    return Ok(());
                }
                let around: usize = self.regions[region].dims.iter().map(|dim| dim.count as usize).product();
                let dim = Dim { first: self.vertices, bit, stride: *stride, count: *capacity, slot: true };
                self.vertices += around * *capacity as usize;
                if self.vertices > MAX_VERTICES {
                    return Err(TooLarge);
                }
                self.enter(dim, *element, *element_at, region)?;
                let mut starts = vec![bit];
                for dim in &self.regions[region].dims {
                    starts = starts.into_iter().flat_map(|start| (0..dim.count).map(move |part| start + part * dim.stride)).collect();
                }
                self.bags.extend(starts.into_iter().map(|bit| Slots { bit, stride: *stride, capacity: *capacity, bits: *slot_bits }));
            }
        }
        Ok(())
    }

    /// Walks the elements of an array or the slots of a bag as a region of their own. A slot begins with its mark, the element follows at `inside`.
    fn enter(&mut self, dim: Dim, element: TypeId, inside: u32, region: usize) -> Result<(), TooLarge> {
        let mut dims = self.regions[region].dims.clone();
        dims.push(dim);
        let bits = inside + self.program.types[element.0 as usize].bits();
        let leaves = if dim.slot { vec![(0, 1, None)] } else { Vec::new() };
        self.regions.push(Region { dims, bit: dim.bit, bits, leaves });
        self.walk(element, dim.bit + inside, self.regions.len() - 1)
    }

    fn reference(&mut self, ty: TypeId, scalar: &Scalar) -> Option<Reference> {
        if !scalar.elements.iter().any(|part| part.count > 1) {
            return None;
        }
        let (sets, tables) = (&self.sets, &mut self.tables);
        let table = *self.table_of.entry(ty.0).or_insert_with(|| {
            let start = tables.len();
            tables.resize(start + (1 << scalar.bits), NO_VERTEX);
            for part in scalar.elements.iter().filter(|part| part.count > 1) {
                let stored = start + usize::from(scalar.undefinable) + part.first as usize;
                for element in 0..part.count as u16 {
                    tables[stored + usize::from(element)] = sets[&part.set].first + element;
                }
            }
            start as u32
        });
        Some(Reference { shift: 0, mask: ones(u32::from(scalar.bits)), table, key: self.key() })
    }

    /// The next of a fixed series of numbers that share no pattern.
    fn key(&mut self) -> Word {
        self.keys += 1;
        wayfarer_space::hash(&[self.keys]).second()
    }

    /// Cuts the regions into pieces.
    fn finish(mut self) -> Result<Symmetry, TooLarge> {
        let mut made = Symmetry {
            elements: self.sets.values().map(|set| usize::from(set.count)).sum(),
            index: self.sets.values().flat_map(|set| 0..set.count).collect(),
            sets: self.sets.values().cloned().collect(),
            still: self.program.packing().masks().to_vec(),
            ..Symmetry::default()
        };
        made.index.resize(self.vertices, 0);
        for region in std::mem::take(&mut self.regions) {
            if region.dims.is_empty() {
                let found = region.leaves.into_iter().filter_map(|(at, _, reference)| Some((at, reference?)));
                made.fixed = found.map(|(at, reference)| Fixed { word: at / 64, reference: Reference { shift: at % 64, ..reference } }).collect();
                continue;
            }
            let mut pieces: BTreeMap<u32, (Word, Word, Vec<Reference>)> = BTreeMap::new();
            for (at, bits, reference) in region.leaves {
                // A part of at most 64 bits is one piece wherever it lies; a larger one begins at a word.
                let start = if region.bits <= 64 { 0 } else { at / 64 * 64 };
                let (mask, data, references) = pieces.entry(start).or_default();
                let run = ones(bits) << (at - start);
                *mask |= run;
                match reference {
                    None => *data |= run,
                    Some(reference) => references.push(Reference { shift: at - start, ..reference }),
                }
            }
            for (start, (mask, data, references)) in pieces {
                let (key, bit) = (self.key(), region.bit + start);
                if let [Dim { first, stride, count, slot: false, .. }] = region.dims[..] {
                    let last = bit + (count - 1) * stride + 63 - mask.leading_zeros();
                    let (first, count, narrow) = (first as u16, count as u16, bit / 64 == last / 64);
                    made.rows.push(Row { first, count, bit, stride, mask, data, key, references, narrow });
                } else {
                    cells(&mut made, &region.dims, bit)?;
                    let strides = region.dims.iter().map(|dim| dim.stride).collect();
                    made.units.push(Unit { bit, strides, mask, data, key, references });
                }
            }
        }
        made.refines = !made.cells.is_empty() || made.rows.iter().any(|row| !row.references.is_empty());
        for Fixed { word, reference } in &made.fixed {
            made.still[*word as usize] &= !(reference.mask << reference.shift);
        }
        for row in &made.rows {
            for bit in (0..u32::from(row.count)).map(|element| row.bit + element * row.stride) {
                made.still[bit as usize / 64] &= !(row.mask << (bit % 64));
            }
        }
        for cell in &made.cells {
            made.still[cell.word as usize] &= !(made.units[cell.unit as usize].mask << cell.shift);
        }
        Ok(Symmetry { tables: self.tables, bags: self.bags, ..made })
    }
}

/// Makes the cells of the next unit, whose first cell is at `bit`.
fn cells(made: &mut Symmetry, dims: &[Dim], bit: u32) -> Result<(), TooLarge> {
    let unit = made.units.len() as u32;
    let total: usize = dims.iter().map(|dim| dim.count as usize).product();
    if made.cells.len() + total > MAX_CELLS {
        return Err(TooLarge);
    }
    for number in 0..total {
        // The indices of this cell, the innermost varying fastest.
        let mut rest = number as u32;
        let mut indices = vec![0; dims.len()];
        for (index, dim) in indices.iter_mut().zip(dims).rev() {
            (*index, rest) = (rest % dim.count, rest / dim.count);
        }
        let away = |until: usize| indices[..until].iter().zip(dims).map(|(index, dim)| index * dim.stride).sum::<u32>();
        let at = bit + away(dims.len());
        let mark = dims.iter().rposition(|dim| dim.slot).map(|slot| dims[slot].bit + away(slot + 1));
        made.cells.push(Cell { unit, word: at / 64, shift: at % 64, corners: made.corners.len() as u32, mark });
        let mut before = 0;
        for (index, dim) in indices.iter().zip(dims) {
            before = before * dim.count as usize + *index as usize;
            let vertex = dim.first + if dim.slot { before } else { *index as usize };
            made.corners.push(vertex as u16);
            // A slot stays where it is until bags are sorted.
            made.index[vertex] = *index as u16;
        }
    }
    for set in &mut made.sets {
        set.crossed |= dims.iter().any(|dim| !dim.slot && dim.first == usize::from(set.first));
    }
    Ok(())
}
