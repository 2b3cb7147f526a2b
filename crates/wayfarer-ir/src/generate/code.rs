//! Random expressions and statements.

use super::Generator;
use super::places::{Run, Scope};
use crate::code::{
    Argument, BinaryOp, Block, CheckedOp, Expr, FunctionId, LoopExpr, LoopKind, Place, PrintItem, PropertyId, Reg, Root, Stmt, Test, UnaryOp,
};
use crate::program::Region;
use crate::types::Type;
use wayfarer_space::PropertyKind;

/// Writes code into a scope.
pub(super) struct Writer<'g> {
    pub(super) generator: &'g mut Generator,
    pub(super) scope: Scope,
    /// The regions of the references in scope.
    pub(super) regions: Vec<Region>,
}

impl Writer<'_> {
    fn below(&mut self, bound: usize) -> usize {
        self.generator.below(bound)
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.generator.chance(percent)
    }

    fn boxed(&mut self, depth: u32) -> Box<Expr> {
        Box::new(self.expr(depth))
    }

    fn register(&mut self) -> Reg {
        Reg(self.below(self.scope.registers as usize) as u32)
    }

    /// A register that no enclosing loop uses.
    fn free_register(&mut self) -> Option<Reg> {
        let register = self.register();
        (!self.scope.loops.contains(&register)).then_some(register)
    }

    fn constant(&mut self) -> i64 {
        match self.below(8) {
            0 => [i64::MIN, i64::MAX, i64::MIN + 1, -1, 63, 64, 65, 1 << 32][self.below(8)],
            1 => self.generator.rng.next_word() as i64,
            _ => self.below(9) as i64 - 2,
        }
    }

    /// Any expression of at most about `depth` levels.
    pub(super) fn expr(&mut self, depth: u32) -> Expr {
        if depth == 0 {
            return if self.chance(50) { Expr::Const(self.constant()) } else { Expr::Reg(self.register()) };
        }
        let less = depth - 1;
        match self.below(16) {
            0 => Expr::Const(self.constant()),
            1 => Expr::Reg(self.register()),
            2..=5 => self.load(less),
            6 => Expr::Unary(UnaryOp::ALL[self.below(3)].0, self.boxed(less)),
            7..=8 => Expr::Binary(BinaryOp::ALL[self.below(15)].0, self.boxed(less), self.boxed(less)),
            9 => {
                let (op, fault) = (CheckedOp::ALL[self.below(5)].0, self.generator.fault());
                Expr::Checked { op, left: self.boxed(less), right: self.boxed(less), fault }
            }
            10 => self.condition(depth),
            11 => Expr::Select(Box::new(self.condition(less)), self.boxed(less), self.boxed(less)),
            12 => {
                // Few values fail, so that later code is reached.
                let test = match self.below(4) {
                    0 => Test::NonZero,
                    1 => Test::Between(0, 9),
                    _ => Test::Between(i64::MIN, 1 << 40),
                };
                Expr::Require { value: self.boxed(less), test, fault: self.generator.fault() }
            }
            13 => self.fold(less),
            _ => self.call(less),
        }
    }

    /// An expression that is a truth value, true a little more often than not.
    pub(super) fn condition(&mut self, depth: u32) -> Expr {
        let Some(less) = depth.checked_sub(1) else { return Expr::Const(i64::from(self.chance(70))) };
        match self.below(6) {
            0 => Expr::All((0..self.below(3)).map(|_| self.condition(less)).collect()),
            1 => Expr::Any((0..self.below(4)).map(|_| self.condition(less)).collect()),
            2 => Expr::Binary(BinaryOp::ALL[9 + self.below(6)].0, self.boxed(less), self.boxed(less)),
            3 => Expr::Unary(UnaryOp::Not, self.boxed(less)),
            4 => {
                let load = self.load(less);
                Expr::Binary(BinaryOp::Le, Box::new(load), Box::new(Expr::Const(self.below(4) as i64)))
            }
            _ => self.fold(less),
        }
    }

    /// An expression that is usually at least 0 and below `count`.
    pub(super) fn bounded(&mut self, depth: u32, count: u32) -> Expr {
        let below = |writer: &mut Self| Expr::Const(writer.below(count.max(1) as usize) as i64);
        match self.below(5) {
            0 => below(self),
            1 | 2 => {
                // The largest mask whose values are all indices.
                let mask = (count + 1).next_power_of_two() / 2 - 1;
                let mask = mask.min(count.saturating_sub(1));
                Expr::Binary(BinaryOp::And, self.boxed(depth), Box::new(Expr::Const(i64::from(mask))))
            }
            3 => Expr::Select(Box::new(self.condition(depth)), Box::new(below(self)), Box::new(below(self))),
            _ => self.expr(depth),
        }
    }

    fn load(&mut self, depth: u32) -> Expr {
        match self.run(depth, true, |_| true) {
            Some(Run { mut place, mut bits, .. }) => {
                if self.chance(10) {
                    // A part of the object there, across the edges of its fields.
                    let skip = self.below(bits as usize) as u32;
                    place.offset += skip;
                    bits = 1 + self.below((bits - skip) as usize) as u32;
                }
                Expr::Load { place, bits: bits as u8 }
            }
            None => Expr::Const(0),
        }
    }

    /// First value, last value and step of a loop: usually a few rounds.
    fn range(&mut self, depth: u32) -> (Expr, Expr, i64) {
        let from = if self.chance(80) { Expr::Const(self.below(4) as i64) } else { self.expr(depth) };
        let to = if self.chance(80) { Expr::Const(self.below(5) as i64) } else { self.expr(depth) };
        let by = match self.below(20) {
            0 => self.constant() | 1,
            1..=4 => -1,
            5..=7 => 2,
            _ => 1,
        };
        (from, to, by)
    }

    fn fold(&mut self, depth: u32) -> Expr {
        let (from, to, by) = self.range(depth);
        let Some(register) = self.free_register() else { return from };
        let (kind, fuel) = ([LoopKind::All, LoopKind::Any, LoopKind::Sum][self.below(3)], self.generator.fault());
        self.scope.loops.push(register);
        let body = self.expr(depth);
        self.scope.loops.pop();
        Expr::Loop(Box::new(LoopExpr { kind, register, from, to, by, body, fuel }))
    }

    fn region(&self, root: Root) -> Region {
        match root {
            Root::State => Region::State,
            Root::Frame => Region::Frame,
            Root::Reference(number) => self.regions[number as usize],
        }
    }

    /// A call of some function, if its references can be given.
    fn call(&mut self, depth: u32) -> Expr {
        let number = self.below(self.generator.calls.len());
        let callee = self.generator.calls[number].clone();
        if self.scope.silent && !callee.silent {
            return self.load(depth);
        }
        let mut arguments = Vec::new();
        for reference in callee.references {
            let Some((region, ty)) = reference else {
                arguments.push(Argument::Value(self.expr(depth)));
                continue;
            };
            match self.place_of(depth, region, self.generator.program.types[ty.0 as usize].bits()) {
                Some(place) => arguments.push(Argument::Place(place)),
                None => return self.load(depth),
            }
        }
        Expr::Call { function: FunctionId(number as u32), arguments, fuel: self.generator.fault() }
    }

    /// A place of `bits` bits in a region, if one is found soon.
    fn place_of(&mut self, depth: u32, region: Region, bits: u32) -> Option<Place> {
        for _ in 0..12 {
            let roots: Vec<Root> = self.scope.objects.iter().map(|object| object.root).filter(|root| self.region(*root) == region).collect();
            let run = self.run(depth, bits <= 64, |object| roots.contains(&object.root))?;
            if run.bits == bits {
                return Some(run.place);
            }
        }
        None
    }

    /// A few statements.
    pub(super) fn block(&mut self, depth: u32) -> Block {
        (0..1 + self.below(4)).filter_map(|_| self.statement(depth)).collect()
    }

    fn statement(&mut self, depth: u32) -> Option<Stmt> {
        let less = depth.checked_sub(1)?;
        Some(match self.below(24) {
            0..=2 => Stmt::Set(self.free_register()?, self.expr(less)),
            3..=7 => {
                let Run { place, bits, .. } = self.target(less, true)?;
                Stmt::Store { place, bits: bits as u8, value: self.expr(less) }
            }
            8 | 9 => {
                let Run { place: to, bits, .. } = self.target(less, false)?;
                let region = if self.chance(50) { Region::State } else { Region::Frame };
                let from = self.place_of(less, region, bits).unwrap_or_else(|| to.clone());
                Stmt::Copy { to, from, bits }
            }
            10 => {
                let Run { place, bits, .. } = self.target(less, false)?;
                Stmt::Zero { place, bits }
            }
            11 | 12 => self.sort(less)?,
            13 | 14 => {
                let branches = (0..self.below(3)).map(|_| (self.condition(less), self.block(less))).collect();
                Stmt::If { branches, otherwise: self.block(less) }
            }
            15 => self.repeat(less)?,
            16 => {
                let (from, to, by) = self.range(less);
                let (register, fuel) = (self.free_register()?, self.generator.fault());
                self.scope.loops.push(register);
                let body = self.block(less);
                self.scope.loops.pop();
                Stmt::For { register, from, to, by, body, fuel }
            }
            17 | 18 => Stmt::Do(self.call(less)),
            19 => {
                let condition = Expr::Any(vec![self.condition(less), Expr::Const(i64::from(self.chance(60)))]);
                Stmt::Check { condition, fault: self.generator.fault() }
            }
            20 => match self.below(6) {
                0 => Stmt::Fault(self.generator.fault()),
                1 if !self.scope.silent => Stmt::Discard,
                _ => return None,
            },
            21 if !self.scope.silent => {
                let reachable = |(number, kind)| (kind == PropertyKind::Reachable).then_some(PropertyId(number));
                let kinds = (0..).zip(self.generator.program.properties.iter().map(|property| property.kind));
                let properties: Vec<PropertyId> = kinds.filter_map(reachable).collect();
                Stmt::Cover(properties[self.below(properties.len())])
            }
            22 if self.chance(20) => Stmt::Return(if self.scope.result { Some(self.expr(less)) } else { None }),
            23 => self.print(less),
            _ => return None,
        })
    }

    /// A loop that usually ends.
    fn repeat(&mut self, depth: u32) -> Option<Stmt> {
        let (register, fuel) = (self.free_register()?, self.generator.fault());
        let mut body = self.block(depth);
        let counting = self.chance(85);
        let step = Expr::Binary(BinaryOp::Add, Box::new(Expr::Reg(register)), Box::new(Expr::Const(1)));
        body.push(Stmt::Set(register, step));
        let below = Expr::Binary(BinaryOp::Lt, Box::new(Expr::Reg(register)), Box::new(Expr::Const(self.below(5) as i64)));
        let condition = if counting { below } else { self.condition(depth) };
        Some(Stmt::While { condition, body, fuel })
    }

    /// Sorts a bag or an array, if one is found soon.
    fn sort(&mut self, depth: u32) -> Option<Stmt> {
        for _ in 0..12 {
            let Run { place, ty, .. } = self.target(depth, false)?;
            let types = &self.generator.program.types;
            match ty.map(|ty| &types[ty.0 as usize]) {
                Some(Type::Bag { stride, capacity, slot_bits, .. }) => {
                    return Some(Stmt::Sort { place, stride: *stride, count: *capacity, bits: *slot_bits, again: false });
                }
                Some(Type::Array { element, stride, count, .. }) => {
                    return Some(Stmt::Sort { place, stride: *stride, count: *count, bits: types[element.0 as usize].bits(), again: false });
                }
                _ => {}
            }
        }
        None
    }

    fn print(&mut self, depth: u32) -> Stmt {
        let mut items = vec![PrintItem::Text("say \"this\"\t\u{e9}\n".to_string())];
        let silent = std::mem::replace(&mut self.scope.silent, true);
        let types = &self.generator.program.types;
        let scalars: Vec<u32> = (0..types.len() as u32).filter(|ty| types[*ty as usize].scalar().is_some()).collect();
        let ty = crate::code::TypeId(scalars[self.below(scalars.len())]);
        items.push(PrintItem::Value(self.expr(depth), ty));
        if let Some(Run { place, ty: Some(ty), .. }) = self.run(depth, false, |_| true) {
            items.push(PrintItem::Place(place, ty));
        }
        self.scope.silent = silent;
        Stmt::Print(items)
    }
}
