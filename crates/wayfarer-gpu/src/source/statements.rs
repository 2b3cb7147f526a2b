//! Statements as C.

use super::code::{Coder, Role};
use super::places::ones;
use crate::bounds;
use wayfarer_ir::{Block, Place, PropertyId, Stmt};

impl Coder<'_> {
    /// The statements of a block, in order.
    pub(crate) fn block(&mut self, block: &Block) {
        block.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Set(register, value) => {
                let value = self.value(value);
                self.line(&format!("r{} = {};", register.0, value.text));
            }
            Stmt::Store { place, bits, value } => {
                let spot = self.spot(place, bounds::has_effect(value));
                let value = self.value(value);
                self.store(&spot, u32::from(*bits), &value.text);
            }
            Stmt::Copy { to, from, bits } => self.copy(to, from, *bits),
            Stmt::Zero { place, bits } => {
                let spot = self.spot(place, false);
                if *bits <= 64 {
                    self.store(&spot, *bits, "0");
                } else {
                    self.line(&format!("zero_words({}, {});", spot.words(), bits / 64));
                }
            }
            Stmt::Sort { place, stride, count, bits, .. } => {
                let spot = self.spot(place, false);
                let (base, bit) = (&spot.base, spot.bit());
                if *bits <= 64 {
                    self.line(&format!("sort_bits({base}, {bit}, {stride}, {count}, {:#x}ull);", ones(*bits)));
                } else {
                    self.line(&format!("sort_words({base}, {bit}, {stride}, {count}, {});", bits / 64));
                }
            }
            Stmt::If { branches, otherwise } => self.branches(branches, otherwise),
            Stmt::While { condition, body, fuel } => {
                self.line("for (;;) {");
                let asked = self.value(condition);
                self.line(&format!("if (!{}) break;", asked.condition()));
                self.burn(*fuel);
                self.block(body);
                self.line("}");
            }
            Stmt::For { register, from, to, by, body, fuel } => {
                self.counting((*register, from, to, *by), *fuel, |coder| coder.block(body));
            }
            Stmt::Do(expr) => {
                let value = self.value(expr);
                if value.constant.is_none() {
                    self.line(&format!("(void)({});", value.text));
                }
            }
            Stmt::Check { condition, fault } => {
                let (asked, end) = (self.value(condition), self.fault(*fault));
                self.line(&format!("if (!{}) {end}", asked.condition()));
            }
            Stmt::Fault(fault) => {
                let end = self.fault(*fault);
                self.line(&end);
            }
            Stmt::Discard => self.line("return DISCARDED;"),
            Stmt::Cover(PropertyId(property)) => {
                self.line(&format!("x.covered[{}] |= 1ull << {};", property / 64, property % 64));
            }
            Stmt::Return(None) => self.line("return DONE;"),
            Stmt::Return(Some(value)) => {
                let value = self.value(value);
                if let Role::Function { .. } = self.role {
                    self.line(&format!("result = {};", value.text));
                }
                self.line("return DONE;");
            }
            // A search prints nothing, and evaluates nothing of it.
            Stmt::Print(_) => {}
        }
    }

    fn copy(&mut self, to: &Place, from: &Place, bits: u32) {
        let target = self.spot(to, from.indices.iter().any(|index| bounds::has_effect(&index.value)));
        let source = self.spot(from, false);
        if bits <= 64 {
            let value = self.load(&source, bits);
            self.store(&target, bits, &value);
        } else {
            self.line(&format!("copy_words({}, {}, {});", target.words(), source.words(), bits / 64));
        }
    }

    /// A chain of conditions. Conditions that are never true are left out.
    fn branches(&mut self, branches: &[(wayfarer_ir::Expr, Block)], otherwise: &Block) {
        let mut opened = 0;
        for (condition, block) in branches {
            let asked = self.value(condition);
            match asked.constant {
                Some(0) => continue,
                Some(_) => {
                    self.block(block);
                    (0..opened).for_each(|_| self.line("}"));
                    return;
                }
                None => {}
            }
            self.line(&format!("if ({}) {{", asked.condition()));
            self.block(block);
            self.line("} else {");
            opened += 1;
        }
        self.block(otherwise);
        (0..opened).for_each(|_| self.line("}"));
    }
}
