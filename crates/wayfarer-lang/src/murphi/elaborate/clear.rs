//! `clear` and `undefine`.

use super::Elaborator;
use super::build;
use super::operand::{Object, Storage};
use super::types::{Shape, Ty};
use crate::murphi::ast;
use crate::source::Span;
use wayfarer_ir::{Block, Expr, Place, Stmt};

/// Runs of equal words longer than this are written by a loop.
const LONGEST_RUN: usize = 4;

impl<'a> Elaborator<'a> {
    /// Makes all scalars of an object undefined and empties its bags.
    pub(super) fn undefine(&mut self, target: &'a ast::Expr, block: &mut Block) {
        let Some(object) = self.writable(target) else { return };
        if self.types.simple(object.ty).is_some_and(|simple| simple.total) {
            return self.error(target.span, "this has all numbers of 64 bits as its range, and cannot be undefined");
        }
        match object.storage {
            Storage::Register(register) => block.push(Stmt::Set(register, Expr::Const(0))),
            Storage::Memory(place) => {
                let bits = self.types.bits(object.ty);
                self.note_write(&place, bits);
                block.push(Stmt::Zero { place, bits });
            }
            Storage::Computed(_) => {}
        }
    }

    /// Gives all scalars of an object their least value and empties its bags. The least value is stored as 1.
    pub(super) fn clear(&mut self, target: &'a ast::Expr, span: Span, block: &mut Block) {
        let Some(object) = self.writable(target) else { return };
        if self.types.clears_to_element(object.ty) {
            let found = self.types.describe(object.ty);
            self.asymmetry(span, true, format!("clearing a value of type {found} makes a part of it the first element of a scalarset"));
        }
        if let Some(simple) = self.types.simple(object.ty) {
            // Zero is the first of the real numbers, and its stored form is 1, too.
            return self.store(&object, Expr::Const(simple.cleared()), block);
        }
        let object = self.pin(object, block);
        if let Object { storage: Storage::Memory(place), ty, .. } = object {
            let bits = self.types.bits(ty);
            self.note_write(&place, bits);
            self.clear_part(place, ty, span, block);
        }
    }

    fn clear_part(&mut self, place: Place, ty: Ty, span: Span, block: &mut Block) {
        let bits = self.types.bits(ty);
        match self.types.shape(ty).clone() {
            Shape::Bag(_) => block.push(Stmt::Zero { place, bits }),
            Shape::Array { element, stride, count, .. } if stride > 64 => {
                let (register, fuel) = (self.code.register(), self.fuel(span, "statement"));
                let part = build::element(place, Expr::Reg(register), stride, count, fuel);
                let mut body = Block::new();
                self.clear_part(part, element, span, &mut body);
                let to = Expr::Const(i64::from(count) - 1);
                block.push(Stmt::For { register, from: Expr::Const(0), to, by: 1, body, fuel });
            }
            Shape::Record(fields) if bits > 64 && fields.iter().any(|field| self.types.bits(field.ty) > 64) => {
                for field in fields {
                    self.clear_part(build::offset(place.clone(), field.offset), field.ty, span, block);
                }
            }
            _ => {
                let mut image = vec![0; bits.div_ceil(64) as usize];
                self.cleared(ty, 0, &mut image);
                self.write_image(place, bits, &image, span, block);
            }
        }
    }

    /// The words of a cleared object.
    fn cleared(&self, ty: Ty, at: u32, image: &mut [u64]) {
        match self.types.shape(ty) {
            Shape::Record(fields) => fields.iter().for_each(|field| self.cleared(field.ty, at + field.offset, image)),
            Shape::Array { element, stride, count, .. } => (0..*count).for_each(|index| self.cleared(*element, at + index * stride, image)),
            Shape::Bag(_) | Shape::Error | Shape::Number => {}
            Shape::Boolean | Shape::Range | Shape::Real(_) | Shape::Enum | Shape::Scalarset | Shape::Union(_) | Shape::Slot(_) => {
                let stored = self.types.simple(ty).map_or(1, |simple| simple.cleared());
                image[at as usize / 64] |= (stored as u64) << (at % 64);
            }
        }
    }

    fn write_image(&mut self, place: Place, bits: u32, image: &[u64], span: Span, block: &mut Block) {
        if bits <= 64 {
            let value = Expr::Const(image[0] as i64);
            return block.push(Stmt::Store { place, bits: bits as u8, value });
        }
        let mut at = 0;
        for run in image.chunk_by(|a, b| a == b) {
            let value = Expr::Const(run[0] as i64);
            let start = build::offset(place.clone(), at as u32 * 64);
            if run.len() > LONGEST_RUN {
                let (register, fuel) = (self.code.register(), self.fuel(span, "statement"));
                let place = build::element(start, Expr::Reg(register), 64, run.len() as u32, fuel);
                let body = vec![Stmt::Store { place, bits: 64, value }];
                block.push(Stmt::For { register, from: Expr::Const(0), to: Expr::Const(run.len() as i64 - 1), by: 1, body, fuel });
            } else {
                for word in 0..run.len() as u32 {
                    block.push(Stmt::Store { place: build::offset(start.clone(), word * 64), bits: 64, value: value.clone() });
                }
            }
            at += run.len();
        }
    }
}
