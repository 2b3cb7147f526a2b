//! Random places: an object in scope, and a path into it.

use super::code::Writer;
use crate::code::{Index, Place, Reg, Root, TypeId};
use crate::types::Type;

/// An object that places can refer to.
#[derive(Clone, Copy)]
pub(super) struct Object {
    pub(super) root: Root,
    pub(super) offset: u32,
    pub(super) ty: TypeId,
}

/// The scope of a piece of code.
#[derive(Clone)]
pub(super) struct Scope {
    pub(super) registers: u32,
    pub(super) objects: Vec<Object>,
    /// Registers of the enclosing loops.
    pub(super) loops: Vec<Reg>,
    /// Whether it must have no effects except in its own frame.
    pub(super) silent: bool,
    /// Whether it returns a value.
    pub(super) result: bool,
}

/// A place and the type of its contents.
pub(super) struct Run {
    pub(super) place: Place,
    pub(super) bits: u32,
    /// `None` for the marks and slots of bags.
    pub(super) ty: Option<TypeId>,
}

impl Writer<'_> {
    /// A run of bits in some object; of at most 64 bits if `short`.
    pub(super) fn run(&mut self, depth: u32, short: bool, allowed: impl Fn(&Object) -> bool) -> Option<Run> {
        let objects: Vec<Object> = self.scope.objects.iter().copied().filter(|object| allowed(object)).collect();
        if objects.is_empty() {
            return None;
        }
        let Object { root, offset, mut ty } = objects[self.generator.below(objects.len())];
        let mut place = Place { root, offset, indices: Vec::new() };
        loop {
            let here = self.generator.program.types[ty.0 as usize].clone();
            if (here.bits() <= 64 || !short) && here.bits() > 0 && self.generator.chance(40) {
                return Some(Run { place, bits: here.bits(), ty: Some(ty) });
            }
            match here {
                Type::Scalar(scalar) => return Some(Run { place, bits: u32::from(scalar.bits), ty: Some(ty) }),
                Type::Record { fields, .. } => {
                    let field = &fields[self.generator.below(fields.len())];
                    place.offset += field.offset;
                    ty = field.ty;
                }
                Type::Array { element, stride, count, .. } => {
                    self.index(depth, stride, count, &mut place);
                    ty = element;
                }
                Type::Bag { element, stride, capacity, element_at, slot_bits, .. } => {
                    self.index(depth, stride, capacity, &mut place);
                    match self.generator.below(5) {
                        0 => return Some(Run { place, bits: 1, ty: None }),
                        1 if slot_bits <= 64 || !short => return Some(Run { place, bits: slot_bits, ty: None }),
                        _ => {
                            place.offset += element_at;
                            ty = element;
                        }
                    }
                }
            }
        }
    }

    /// Some run that the code may write.
    pub(super) fn target(&mut self, depth: u32, short: bool) -> Option<Run> {
        let silent = self.scope.silent;
        self.run(depth, short, |object| !silent || object.root == Root::Frame)
    }

    /// Selects an element: usually one that exists.
    fn index(&mut self, depth: u32, stride: u32, count: u32, place: &mut Place) {
        let number = self.generator.below(count.max(1) as usize) as u32;
        if self.generator.chance(30) {
            place.offset += number * stride;
            return;
        }
        let value = self.bounded(depth.saturating_sub(1), count);
        let fault = self.generator.fault();
        place.indices.push(Index { value, stride, count, fault });
    }
}
