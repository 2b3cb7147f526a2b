//! The bits of a state that carry information: those of its scalars and the marks of taken bag slots. They determine
//! what a store keeps.

use crate::code::TypeId;
use crate::program::Program;
use crate::types::Type;
use wayfarer_space::{Packing, Word};

impl Program {
    /// The bits of a state that carry information. All others are zero between steps.
    pub fn packing(&self) -> Packing {
        let mut masks = vec![0; self.words as usize];
        for variable in &self.variables {
            mark(self, variable.ty, variable.offset as usize, &mut masks);
        }
        Packing::new(masks)
    }

    /// The number of bits of a state that carry information.
    pub fn state_bits(&self) -> usize {
        self.packing().bits()
    }
}

fn mark(program: &Program, ty: TypeId, bit: usize, masks: &mut [Word]) {
    match &program.types[ty.0 as usize] {
        Type::Scalar(scalar) => masks[bit / 64] |= ones(u32::from(scalar.bits)) << (bit % 64),
        Type::Record { fields, .. } => {
            for field in fields {
                mark(program, field.ty, bit + field.offset as usize, masks);
            }
        }
        Type::Array { element, stride, count, .. } => {
            for index in 0..*count as usize {
                mark(program, *element, bit + index * *stride as usize, masks);
            }
        }
        Type::Bag { element, stride, capacity, element_at, .. } => {
            for index in 0..*capacity as usize {
                let slot = bit + index * *stride as usize;
                masks[slot / 64] |= 1 << (slot % 64);
                mark(program, *element, slot + *element_at as usize, masks);
            }
        }
    }
}

/// A mask of the low `bits`, at most 64.
pub(crate) fn ones(bits: u32) -> Word {
    if bits == 0 { 0 } else { Word::MAX >> (64 - bits) }
}
