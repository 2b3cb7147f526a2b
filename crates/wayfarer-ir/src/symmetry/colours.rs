//! Colours of elements: numbers that depend on the occurrences of an element in a state, and not on its identity.

use super::places::{Cell, NO_VERTEX, Reference, Row};
use super::{Scratch, Symmetry};
use wayfarer_space::Word;

/// Distinguishes one element from others of its colour.
const APART: Word = 0x8C5F_A1C7_3D0B_92E5;
/// Combines two corners or references of one piece.
const MEETING: Word = 0x51A3_6E9D_F24B_C807;

impl Symmetry {
    /// Colours that depend on no other colours: the data next to each element, and references at fixed places.
    /// Records which elements are referenced there or in rows.
    pub(super) fn first_colours(&self, state: &[Word], scratch: &mut Scratch) {
        let Scratch { colours, named, .. } = scratch;
        colours.fill(0);
        named.fill(false);
        for Row { first, count, bit, stride, data, key, references, narrow, .. } in &self.rows {
            let colours = &mut colours[usize::from(*first)..][..usize::from(*count)];
            if *narrow && references.is_empty() {
                let mut source = state[*bit as usize / 64] >> (bit % 64);
                for colour in colours {
                    *colour = colour.wrapping_add(mix(source & data, *key));
                    source = source.unbounded_shr(*stride);
                }
                continue;
            }
            let mut bit = *bit;
            for colour in colours {
                let piece = state[bit as usize / 64] >> (bit % 64);
                let mut outline = piece & data;
                for reference in references {
                    let vertex = self.vertex(reference, piece);
                    outline |= self.outlined(reference, piece, vertex);
                    if vertex != NO_VERTEX {
                        named[usize::from(vertex)] = true;
                    }
                }
                *colour = colour.wrapping_add(mix(outline, *key));
                bit += stride;
            }
        }
        for fixed in &self.fixed {
            let vertex = self.vertex(&fixed.reference, state[fixed.word as usize]);
            if vertex != NO_VERTEX {
                add(colours, usize::from(vertex), fixed.reference.key);
                named[usize::from(vertex)] = true;
            }
        }
    }

    /// Records which elements are referenced in cells.
    pub(super) fn mark_named(&self, state: &[Word], named: &mut [bool]) {
        for cell in self.cells.iter().filter(|cell| !cell.is_free(state)) {
            for reference in &self.units[cell.unit as usize].references {
                let vertex = self.vertex(reference, state[cell.word as usize] >> cell.shift);
                if vertex != NO_VERTEX {
                    named[usize::from(vertex)] = true;
                }
            }
        }
    }

    /// Refines colours by one round: elements with different colours keep different colours.
    pub(super) fn refine(&self, state: &[Word], scratch: &mut Scratch) {
        let Scratch { colours, next, .. } = scratch;
        self.colour_slots(state, colours);
        for (next, colour) in next.iter_mut().zip(colours.iter()) {
            *next = mix(*colour, APART);
        }
        for row in self.rows.iter().filter(|row| !row.references.is_empty()) {
            for element in 0..u32::from(row.count) {
                let bit = row.bit + element * row.stride;
                let (piece, owner) = (state[bit as usize / 64] >> (bit % 64), usize::from(row.first) + element as usize);
                for reference in &row.references {
                    let target = usize::from(self.vertex(reference, piece));
                    if target == owner {
                        add(next, owner, mix(MEETING, reference.key));
                    } else if target != usize::from(NO_VERTEX) {
                        add(next, owner, mix(colours[target], reference.key));
                        add(next, target, mix(colours[owner], !reference.key));
                    }
                }
            }
        }
        for cell in &self.cells {
            if cell.is_free(state) {
                continue;
            }
            let sum = mix(self.cell_sum(cell, state, colours, false), APART);
            let unit = &self.units[cell.unit as usize];
            let corners = &self.corners[cell.corners as usize..][..unit.strides.len()];
            for (number, corner) in corners.iter().enumerate() {
                add(next, usize::from(*corner), mix(sum, unit.key.rotate_left(number as u32 + 1)));
            }
            for reference in &unit.references {
                let target = self.vertex(reference, state[cell.word as usize] >> cell.shift);
                if target != NO_VERTEX {
                    add(next, usize::from(target), mix(sum, !reference.key));
                }
            }
        }
        std::mem::swap(colours, next);
    }

    /// Colours slots by their contents, so that everything in a slot is considered together.
    fn colour_slots(&self, state: &[Word], colours: &mut [Word]) {
        if self.bags.is_empty() {
            return;
        }
        colours[self.elements..].fill(0);
        for cell in self.cells.iter().filter(|cell| cell.mark.is_some()) {
            if !cell.is_free(state) {
                let sum = mix(self.cell_sum(cell, state, colours, true), APART);
                let corners = self.units[cell.unit as usize].strides.len();
                for corner in &self.corners[cell.corners as usize..][..corners] {
                    if usize::from(*corner) >= self.elements {
                        add(colours, usize::from(*corner), sum);
                    }
                }
            }
        }
    }

    /// The contribution of a cell: its data, and the colours at its corners and references; those of slots only if
    /// `elements_only` is not set.
    fn cell_sum(&self, cell: &Cell, state: &[Word], colours: &[Word], elements_only: bool) -> Word {
        let unit = &self.units[cell.unit as usize];
        let corners = &self.corners[cell.corners as usize..][..unit.strides.len()];
        let piece = state[cell.word as usize] >> cell.shift;
        let mut sum = mix(self.outline(piece, unit.data, &unit.references), unit.key);
        for (number, corner) in corners.iter().enumerate() {
            if usize::from(*corner) < self.elements || !elements_only {
                sum = sum.wrapping_add(mix(colours[usize::from(*corner)], unit.key.rotate_left(number as u32 + 1)));
            }
            for (other, _) in corners[..number].iter().enumerate().filter(|(_, other)| *other == corner) {
                sum = sum.wrapping_add(mix((other * 64 + number) as Word, MEETING));
            }
        }
        for reference in &unit.references {
            let target = self.vertex(reference, piece);
            if target != NO_VERTEX {
                sum = sum.wrapping_add(mix(colours[usize::from(target)], reference.key));
                for (number, _) in corners.iter().enumerate().filter(|(_, corner)| **corner == target) {
                    sum = sum.wrapping_add(mix(reference.key ^ number as Word, MEETING));
                }
            }
        }
        sum
    }

    #[inline]
    pub(super) fn vertex(&self, reference: &Reference, piece: Word) -> u16 {
        self.tables[reference.table as usize + (piece >> reference.shift & reference.mask) as usize]
    }

    /// A piece in which every reference to an element is replaced by one to the first of its set.
    #[inline]
    fn outline(&self, piece: Word, data: Word, references: &[Reference]) -> Word {
        references.iter().fold(piece & data, |made, reference| made | self.outlined(reference, piece, self.vertex(reference, piece)))
    }

    #[inline]
    fn outlined(&self, reference: &Reference, piece: Word, vertex: u16) -> Word {
        let stored = piece >> reference.shift & reference.mask;
        let index = if vertex == NO_VERTEX { 0 } else { Word::from(self.index[usize::from(vertex)]) };
        (stored - index) << reference.shift
    }
}

/// Gives an element a colour of its own.
pub(super) fn set_apart(colour: Word) -> Word {
    mix(!colour, APART)
}

fn add(colours: &mut [Word], vertex: usize, value: Word) {
    colours[vertex] = colours[vertex].wrapping_add(value);
}

/// The two halves of a product, folded.
#[inline]
fn mix(value: Word, key: Word) -> Word {
    let product = u128::from(value ^ key) * u128::from(key | 1);
    (product as u64) ^ ((product >> 64) as u64) ^ value.rotate_left(32)
}
