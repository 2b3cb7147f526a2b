//! Numbers of other kinds: real ones, and whole ones without sign.

use super::{Condition, Emitter, Outcome, Stop, Val};
use crate::foundry::Symbol;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, types};
use wayfarer_ir::real::NOT_A_NUMBER;
use wayfarer_ir::{CheckedOp, FaultId, RealOp};

impl Emitter<'_, '_> {
    /// An operator on real numbers.
    pub(crate) fn real(&mut self, op: RealOp, left: Val, right: Val) -> Val {
        let (a, b) = (self.word(left), self.word(right));
        let comparison = match op {
            RealOp::Eq => Some(FloatCC::Equal),
            RealOp::Ne => Some(FloatCC::NotEqual),
            RealOp::Lt => Some(FloatCC::LessThan),
            RealOp::Le => Some(FloatCC::LessThanOrEqual),
            RealOp::Gt => Some(FloatCC::GreaterThan),
            RealOp::Ge => Some(FloatCC::GreaterThanOrEqual),
            _ => None,
        };
        let is_instruction = matches!(op, RealOp::Add | RealOp::Sub | RealOp::Mul | RealOp::Div);
        if comparison.is_none() && !is_instruction {
            let number = RealOp::ALL.iter().position(|(known, _)| *known == op).unwrap_or(RealOp::ALL.len());
            let number = self.builder.ins().iconst(types::I64, number as i64);
            return Val::any(self.call_out_for_word(Symbol::Real, &[number, a, b]));
        }
        let flags = MemFlagsData::new();
        let (x, y) = (self.builder.ins().bitcast(types::F64, flags, a), self.builder.ins().bitcast(types::F64, flags, b));
        if let Some(code) = comparison {
            return Condition::Flag(self.builder.ins().fcmp(code, x, y)).into();
        }
        let result = match op {
            RealOp::Add => self.builder.ins().fadd(x, y),
            RealOp::Sub => self.builder.ins().fsub(x, y),
            RealOp::Mul => self.builder.ins().fmul(x, y),
            _ => self.builder.ins().fdiv(x, y),
        };
        // The bits of what is no number depend on the machine, so they are replaced.
        let valid = self.builder.ins().fcmp(FloatCC::Ordered, result, result);
        let bits = self.builder.ins().bitcast(types::I64, flags, result);
        let other = self.builder.ins().iconst(types::I64, NOT_A_NUMBER);
        Val::any(self.builder.ins().select(valid, bits, other))
    }

    /// Arithmetic on numbers without sign.
    pub(crate) fn unsigned(&mut self, op: CheckedOp, left: Val, right: Val, fault: FaultId) -> Outcome<Val> {
        if matches!(op, CheckedOp::UnsignedDiv | CheckedOp::UnsignedRem) {
            return self.unsigned_division(op, left, right, fault);
        }
        let (a, b) = (self.word(left), self.word(right));
        let (result, overflow) = match op {
            CheckedOp::UnsignedAdd => {
                let sum = self.builder.ins().iadd(a, b);
                (sum, self.builder.ins().icmp(IntCC::UnsignedLessThan, sum, a))
            }
            CheckedOp::UnsignedSub => (self.builder.ins().isub(a, b), self.builder.ins().icmp(IntCC::UnsignedLessThan, a, b)),
            _ => {
                let high = self.builder.ins().umulhi(a, b);
                (self.builder.ins().imul(a, b), self.builder.ins().icmp_imm_s(IntCC::NotEqual, high, 0))
            }
        };
        self.fault_if(Condition::Flag(overflow), fault)?;
        Ok(Val::any(result))
    }

    fn unsigned_division(&mut self, op: CheckedOp, left: Val, right: Val, fault: FaultId) -> Outcome<Val> {
        if self.faults_are_noted() && right.known().is_none() {
            // The machine's own division would trap where a fault is only recorded.
            return Err(Stop::Branches);
        }
        let by_zero = self.compare(IntCC::Equal, right, Val::constant(0));
        if let Condition::Known(true) = by_zero {
            return self.always_fault(fault);
        }
        self.fault_if(by_zero, fault)?;
        let (a, b) = (self.word(left), self.word(right));
        let result = if op == CheckedOp::UnsignedDiv { self.builder.ins().udiv(a, b) } else { self.builder.ins().urem(a, b) };
        Ok(Val::any(result))
    }
}
