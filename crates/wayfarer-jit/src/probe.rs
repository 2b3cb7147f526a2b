//! Evaluates a condition with only one field of the state known, to find out whether that field decides it.
//!
//! Most conjuncts of most guards read one small field: `pc[i] = Waiting`. Evaluated once for each value of the field,
//! such a conjunct becomes a table, and the guards of a whole model become a few loads and masks.

use crate::shape;
use wayfarer_ir::{Argument, Expr, FaultId, LoopKind, Place, Program, Root, Test};

/// A run of bits of the state, inside one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Field {
    pub(crate) offset: u32,
    pub(crate) bits: u32,
}

/// The reason why there is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Miss {
    /// This field would have to be known.
    Unknown(Field),
    /// There is a fault.
    Fault(FaultId),
    /// It is not worth evaluating further.
    Hard,
}

/// Units of fuel that an evaluation may take.
const LARGEST: u64 = 500;

/// An evaluation.
pub(crate) struct Probe<'a> {
    program: &'a Program,
    known: Option<(Field, u64)>,
    /// Fuel used.
    pub(crate) units: u64,
}

impl<'a> Probe<'a> {
    pub(crate) fn new(program: &'a Program, known: Option<(Field, u64)>) -> Self {
        Probe { program, known, units: 0 }
    }

    pub(crate) fn value(&mut self, registers: &mut Vec<i64>, expr: &Expr) -> Result<i64, Miss> {
        match expr {
            Expr::Const(value) => Ok(*value),
            Expr::Reg(register) => Ok(registers[register.0 as usize]),
            Expr::Load { place, bits } => {
                let offset = self.place(registers, place)?;
                self.load(Field { offset, bits: u32::from(*bits) })
            }
            Expr::Unary(op, operand) => Ok(op.apply(self.value(registers, operand)?)),
            Expr::Binary(op, left, right) => {
                let left = self.value(registers, left)?;
                Ok(op.apply(left, self.value(registers, right)?))
            }
            Expr::Checked { op, left, right, fault } => {
                let left = self.value(registers, left)?;
                op.apply(left, self.value(registers, right)?).ok_or(Miss::Fault(*fault))
            }
            Expr::All(operands) => {
                for operand in operands {
                    if self.value(registers, operand)? == 0 {
                        return Ok(0);
                    }
                }
                Ok(1)
            }
            Expr::Any(operands) => {
                for operand in operands {
                    if self.value(registers, operand)? != 0 {
                        return Ok(1);
                    }
                }
                Ok(0)
            }
            Expr::Select(condition, then, otherwise) => {
                let chosen = if self.value(registers, condition)? != 0 { then } else { otherwise };
                self.value(registers, chosen)
            }
            Expr::Require { value, test, fault } => {
                let value = self.value(registers, value)?;
                let passes = match test {
                    Test::NonZero => value != 0,
                    Test::Between(low, high) => *low <= value && value <= *high,
                };
                if passes { Ok(value) } else { Err(Miss::Fault(*fault)) }
            }
            Expr::Loop(fold) => {
                let from = self.value(registers, &fold.from)?;
                let to = self.value(registers, &fold.to)?;
                let (mut sum, mut next) = (0i64, Some(from));
                while let Some(value) = next.filter(|value| if fold.by < 0 { *value >= to } else { *value <= to }) {
                    self.burn()?;
                    registers[fold.register.0 as usize] = value;
                    let round = self.value(registers, &fold.body)?;
                    match fold.kind {
                        LoopKind::All if round == 0 => return Ok(0),
                        LoopKind::Any if round != 0 => return Ok(1),
                        LoopKind::Sum => sum = sum.wrapping_add(round),
                        _ => {}
                    }
                    next = value.checked_add(fold.by);
                }
                Ok(match fold.kind {
                    LoopKind::All => 1,
                    LoopKind::Any => 0,
                    LoopKind::Sum => sum,
                })
            }
            Expr::Call { function, arguments, .. } => {
                let callee = &self.program.functions[function.0 as usize];
                let body = shape::as_expression(callee).ok_or(Miss::Hard)?;
                let mut inner = Vec::with_capacity(callee.body.registers as usize);
                for argument in arguments {
                    match argument {
                        Argument::Value(expr) => inner.push(self.value(registers, expr)?),
                        Argument::Place(_) => return Err(Miss::Hard),
                    }
                }
                self.burn()?;
                inner.resize(callee.body.registers as usize, 0);
                self.value(&mut inner, body)
            }
        }
    }

    fn burn(&mut self) -> Result<(), Miss> {
        self.units += 1;
        if self.units > LARGEST { Err(Miss::Hard) } else { Ok(()) }
    }

    fn place(&mut self, registers: &mut Vec<i64>, place: &Place) -> Result<u32, Miss> {
        if place.root != Root::State {
            return Err(Miss::Hard);
        }
        let mut offset = place.offset;
        for index in &place.indices {
            let value = self.value(registers, &index.value)?;
            if value < 0 || value >= i64::from(index.count) {
                return Err(Miss::Fault(index.fault));
            }
            offset += value as u32 * index.stride;
        }
        Ok(offset)
    }

    fn load(&self, field: Field) -> Result<i64, Miss> {
        match self.known {
            Some((known, value)) if known.offset <= field.offset && field.offset + field.bits <= known.offset + known.bits => {
                Ok((value >> (field.offset - known.offset) & (u64::MAX >> (64 - field.bits))) as i64)
            }
            _ => Err(Miss::Unknown(field)),
        }
    }
}
