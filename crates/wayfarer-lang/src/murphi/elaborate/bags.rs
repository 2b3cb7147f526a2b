//! Multisets: bags of elements in slots. While a command runs, elements stay in their slots. At its end, every bag
//! that it may have written is sorted, so that each multiset has exactly one form.

use super::Elaborator;
use super::build;
use super::conversions::Goal;
use super::effects::{Effects, extent};
use super::interval::Interval;
use super::operand::{Object, Operand, Storage, Value};
use super::scopes::Symbol;
use super::types::{Bag, Shape, Ty};
use crate::murphi::ast::{self, Name};
use crate::source::Span;
use wayfarer_ir::{BinaryOp, Block, Expr, FaultId, FaultKind, Index, LoopExpr, LoopKind, Place, Reg, Root, Stmt};

/// The position of a bag, or of an array of bags, in the state.
pub(super) struct Site {
    place: Place,
    /// The arrays around it, as stride and count, outermost first.
    arrays: Vec<(u32, u32)>,
    bag: Bag,
    bits: u32,
}

/// A bag that an expression names.
struct Named {
    place: Place,
    bag: Bag,
    ty: Ty,
}

impl<'a> Elaborator<'a> {
    /// Lists all bags of the state, those inside elements of others first.
    pub(super) fn find_bags(&mut self) {
        for number in 0..self.program.variables.len() {
            let (name, offset) = (self.program.variables[number].name.clone(), self.program.variables[number].offset);
            if let Some(Symbol::Variable(found, ty)) = self.scopes.global(&name)
                && found == number
            {
                let place = Place { root: Root::State, offset, indices: Vec::new() };
                self.find_bags_in(place, Vec::new(), ty);
            }
        }
    }

    fn find_bags_in(&mut self, place: Place, arrays: Vec<(u32, u32)>, ty: Ty) {
        if !self.types.has_bag(ty) {
            return;
        }
        match self.types.shape(ty).clone() {
            Shape::Record(fields) => {
                fields.iter().for_each(|field| self.find_bags_in(build::offset(place.clone(), field.offset), arrays.clone(), field.ty));
            }
            Shape::Array { element, stride, count, .. } => {
                self.find_bags_in(place, [arrays, vec![(stride, count)]].concat(), element);
            }
            Shape::Bag(bag) => {
                let inner = build::offset(place.clone(), bag.element_at);
                self.find_bags_in(inner, [arrays.clone(), vec![(bag.stride, bag.capacity)]].concat(), bag.element);
                self.bag_sites.push(Site { place, arrays, bag, bits: self.types.bits(ty) });
            }
            _ => {}
        }
    }

    /// Statements that sort all bags that the code may have written.
    pub(super) fn sorts(&mut self, effects: &Effects, span: Span) -> Block {
        let mut block = Block::new();
        for number in 0..self.bag_sites.len() {
            let Site { place, arrays, bag, bits } = &self.bag_sites[number];
            let (mut place, arrays, bag) = (place.clone(), arrays.clone(), *bag);
            let reach: u32 = arrays.iter().map(|(stride, count)| stride * (count - 1)).sum();
            let (from, to) = extent(&place, bits + reach);
            if bag.capacity < 2 || !effects.touches(from, to) {
                continue;
            }
            let fuel = self.fuel(span, "rule");
            let loops: Vec<(Reg, u32)> = arrays
                .into_iter()
                .map(|(stride, count)| {
                    let register = self.code.own_register();
                    place.indices.push(Index { value: Expr::Reg(register), stride, count, fault: fuel });
                    (register, count)
                })
                .collect();
            let sort = Stmt::Sort { place, stride: bag.stride, count: bag.capacity, bits: bag.slot_bits, again: true };
            block.push(loops.into_iter().rev().fold(sort, |body, (register, count)| Stmt::For {
                register,
                from: Expr::Const(0),
                to: Expr::Const(i64::from(count) - 1),
                by: 1,
                body: vec![body],
                fuel,
            }));
        }
        block
    }

    /// The element of a bag at an index. It must exist.
    pub(super) fn bag_element(&mut self, object: Object, place: Place, bag: Bag, index: &'a ast::Expr, span: Span) -> Operand {
        let Some(slot) = self.slot(index, object.ty) else { return Operand::Error };
        if !self.may_repeat(&Expr::Load { place: place.clone(), bits: 1 }, span) || !self.may_repeat(&slot, span) {
            return Operand::Error;
        }
        let message = format!("{} is no longer in {}", self.quote(index.span), self.quote(span));
        let fault = self.fault(FaultKind::Collection, span, message);
        let known = matches!(slot, Expr::Reg(register) if self.code.taken.iter().any(|(other, bag)| *other == register && *bag == place));
        let slot = match known {
            true => slot,
            false => build::select(taken(&place, bag, slot.clone(), fault), slot, Expr::Const(-1)),
        };
        let place = build::offset(build::element(place, slot, bag.stride, bag.capacity, fault), bag.element_at);
        Operand::Object(Object { storage: Storage::Memory(place), ty: bag.element, fixed: object.fixed, span })
    }

    /// The slot of an index; only names from `choose` and the multiset functions have one.
    fn slot(&mut self, index: &'a ast::Expr, bag: Ty) -> Option<Expr> {
        let value = self.value(index)?;
        match self.types.shape(value.ty) {
            Shape::Slot(other) if self.types.same(*other, bag) => Some(value.expr),
            Shape::Error => None,
            Shape::Slot(_) => {
                self.error(index.span, "this index belongs to a multiset of another type");
                None
            }
            _ => {
                let found = self.types.describe(value.ty);
                self.error_with_help(
                    index.span,
                    format!("a multiset cannot be indexed by {found}"),
                    "its elements are named by `choose i : bag do …` and inside `multisetcount` and `multisetremovepred`",
                );
                None
            }
        }
    }

    /// A bag that is to be read or written.
    fn bag(&mut self, expr: &'a ast::Expr, write: bool) -> Option<Named> {
        let object = match write {
            true => self.writable(expr)?,
            false => match self.operand(expr) {
                Operand::Object(object) => object,
                Operand::Error => return None,
                _ => {
                    self.error(expr.span, "this is not a multiset");
                    return None;
                }
            },
        };
        match (self.types.shape(object.ty), object.storage) {
            (Shape::Bag(bag), Storage::Memory(place)) => Some(Named { place, bag: *bag, ty: object.ty }),
            _ => {
                let found = self.types.describe(object.ty);
                self.error(expr.span, format!("a multiset is needed here, but this is of type {found}"));
                None
            }
        }
    }

    /// Enters the name of a slot into a new scope.
    fn open_slot(&mut self, name: &Name, named: &Named, register: Reg) {
        self.scopes.open();
        self.code.taken.push((register, named.place.clone()));
        let symbol = self.slot_symbol(named.ty, named.bag, register);
        self.declare(name, symbol);
    }

    fn close_slot(&mut self) {
        self.code.taken.pop();
        self.scopes.close();
    }

    fn slot_symbol(&mut self, ty: Ty, bag: Bag, register: Reg) -> Symbol {
        let slot = self.types.slot_type(ty, bag.capacity);
        Symbol::Operand(Operand::Value(Value::new(Expr::Reg(register), slot, Interval::new(0, i64::from(bag.capacity) - 1))))
    }

    fn unknown_slot(&mut self, name: &Name, condition: &'a ast::Expr) {
        self.scopes.open();
        self.declare(name, Symbol::Operand(Operand::Error));
        self.truth(condition, "the condition on the elements");
        self.scopes.close();
    }

    /// The number of elements that satisfy a condition.
    pub(super) fn bag_count(&mut self, name: &'a Name, bag: &'a ast::Expr, condition: &'a ast::Expr, span: Span) -> Option<Value> {
        let Some(named) = self.bag(bag, false) else {
            self.unknown_slot(name, condition);
            return None;
        };
        if !self.may_repeat(&Expr::Load { place: named.place.clone(), bits: 1 }, span) {
            return None;
        }
        let register = self.code.register();
        self.open_slot(name, &named, register);
        let condition = self.truth(condition, "the condition of `multisetcount`");
        self.close_slot();
        let fuel = self.fuel(span, "count");
        let body = build::all(vec![taken(&named.place, named.bag, Expr::Reg(register), fuel), condition?]);
        let to = Expr::Const(i64::from(named.bag.capacity) - 1);
        let expr = Expr::Loop(Box::new(LoopExpr { kind: LoopKind::Sum, register, from: Expr::Const(0), to, by: 1, body, fuel }));
        Some(Value::new(expr, Ty::NUMBER, Interval::new(0, named.bag.capacity.into())))
    }

    /// Puts an element into the first free slot.
    pub(super) fn bag_add(&mut self, element: &'a ast::Expr, bag: &'a ast::Expr, span: Span, block: &mut Block) {
        let named = self.pinned_bag(bag, block);
        let operand = self.operand(element);
        let Some(named) = named else { return };
        let Named { place, bag: shape, .. } = named;
        let capacity = Expr::Const(shape.capacity.into());
        let register = self.code.bind(Expr::Const(0), block);
        let slot = || Expr::Reg(register);
        let message = format!("the multiset {} is full: it has room for {}", self.quote(bag.span), shape.capacity);
        let full = self.fault(FaultKind::Collection, span, message);
        let fuel = self.fuel(span, "statement");
        let more = build::binary(BinaryOp::Lt, slot(), capacity.clone());
        block.push(Stmt::While {
            condition: build::all(vec![more.clone(), taken(&place, shape, slot(), full)]),
            body: vec![Stmt::Set(register, build::add(slot(), 1))],
            fuel,
        });
        block.push(Stmt::Check { condition: more, fault: full });
        let slot_place = build::element(place, slot(), shape.stride, shape.capacity, full);
        let target = build::offset(slot_place.clone(), shape.element_at);
        if self.types.simple(shape.element).is_some() {
            if let Some(stored) = self.stored_as(operand, shape.element, element.span, Goal::Element, Some(block)) {
                let object = Object { storage: Storage::Memory(target), ty: shape.element, fixed: None, span };
                self.store(&object, stored, block);
            }
        } else {
            self.copy_whole(target, shape.element, operand, element.span, Goal::Element, block);
        }
        self.note_write(&slot_place, shape.slot_bits);
        block.push(Stmt::Store { place: slot_place, bits: 1, value: Expr::Const(1) });
    }

    /// Empties the slot of an element, which must exist.
    pub(super) fn bag_remove(&mut self, index: &'a ast::Expr, bag: &'a ast::Expr, span: Span, block: &mut Block) {
        let Some(named) = self.pinned_bag(bag, block) else {
            self.value(index);
            return;
        };
        let Some(slot) = self.slot(index, named.ty) else { return };
        let message = format!("{} is no longer in {}", self.quote(index.span), self.quote(bag.span));
        let fault = self.fault(FaultKind::Collection, span, message);
        block.push(Stmt::Check { condition: taken(&named.place, named.bag, slot.clone(), fault), fault });
        self.empty_slot(&named, slot, fault, block);
    }

    /// Empties the slots of all elements that satisfy a condition.
    pub(super) fn bag_remove_if(&mut self, name: &'a Name, bag: &'a ast::Expr, condition: &'a ast::Expr, span: Span, block: &mut Block) {
        let Some(named) = self.pinned_bag(bag, block) else {
            return self.unknown_slot(name, condition);
        };
        let register = self.code.register();
        self.open_slot(name, &named, register);
        let condition = self.truth(condition, "the condition of `multisetremovepred`");
        self.close_slot();
        let Some(condition) = condition else { return };
        let fuel = self.fuel(span, "statement");
        let chosen = build::all(vec![taken(&named.place, named.bag, Expr::Reg(register), fuel), condition]);
        let mut removal = Block::new();
        self.empty_slot(&named, Expr::Reg(register), fuel, &mut removal);
        let body = vec![Stmt::If { branches: vec![(chosen, removal)], otherwise: Block::new() }];
        let to = Expr::Const(i64::from(named.bag.capacity) - 1);
        block.push(Stmt::For { register, from: Expr::Const(0), to, by: 1, body, fuel });
    }

    fn pinned_bag(&mut self, bag: &'a ast::Expr, block: &mut Block) -> Option<Named> {
        let Named { place, bag: shape, ty } = self.bag(bag, true)?;
        let object = self.pin(Object { storage: Storage::Memory(place), ty, fixed: None, span: bag.span }, block);
        match object.storage {
            Storage::Memory(place) => Some(Named { place, bag: shape, ty }),
            Storage::Register(_) | Storage::Computed(_) => None,
        }
    }

    fn empty_slot(&mut self, named: &Named, slot: Expr, fault: FaultId, block: &mut Block) {
        let place = build::element(named.place.clone(), slot, named.bag.stride, named.bag.capacity, fault);
        self.note_write(&place, named.bag.slot_bits);
        block.push(Stmt::Zero { place, bits: named.bag.slot_bits });
    }

    /// Enters the name that `choose` gives to a slot held by a parameter. Returns the condition that the slot is
    /// taken; in a formula it is known to hold wherever the rest is evaluated.
    pub(super) fn choose(&mut self, name: &'a Name, bag: &'a ast::Expr, register: Reg, block: Option<&mut Block>) -> Option<Chosen> {
        let named = match block {
            Some(block) => {
                let named = self.bag(bag, false)?;
                let object = self.pin(Object { storage: Storage::Memory(named.place), ty: named.ty, fixed: None, span: bag.span }, block);
                let Storage::Memory(place) = object.storage else { return None };
                Named { place, ..named }
            }
            None => {
                let named = self.bag(bag, false)?;
                self.code.taken.push((register, named.place.clone()));
                named
            }
        };
        let symbol = self.slot_symbol(named.ty, named.bag, register);
        self.declare(name, symbol);
        let fault = self.fuel(bag.span, "choice");
        let condition = taken(&named.place, named.bag, Expr::Reg(register), fault);
        Some(Chosen { condition, capacity: named.bag.capacity, ty: self.types.slot_type(named.ty, named.bag.capacity) })
    }
}

/// The result of `choose`.
pub(super) struct Chosen {
    pub(super) condition: Expr,
    pub(super) capacity: u32,
    pub(super) ty: Ty,
}

/// Whether a slot has an element.
fn taken(place: &Place, bag: Bag, slot: Expr, fault: FaultId) -> Expr {
    Expr::Load { place: build::element(place.clone(), slot, bag.stride, bag.capacity, fault), bits: 1 }
}
