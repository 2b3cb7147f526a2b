//! Evaluates expressions and runs statements, by walking their trees. This is the definition that the parent module
//! promises; it states the rules in code and, except for avoiding allocation, does nothing to be fast.

use super::Limits;
use super::memory::{Memory, Spot};
use crate::code::{Argument, Block, Expr, FaultId, LoopExpr, LoopKind, Place, PrintItem, Root, Stmt, Test};
use crate::program::{Body, Function, Program, Region};
use crate::show;
use wayfarer_space::{PropertyBits, Word};

/// Stack that one call may take before the next check: the verifier bounds the depth of a function's trees.
const RED_ZONE: usize = 512 << 10;
/// Stack added when the red zone is reached.
const MORE_STACK: usize = 4 << 20;

/// The reason why code ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Fault(FaultId),
    Discard,
}

/// The flow of control after a statement.
enum Flow {
    Next,
    Return(i64),
}

/// The start of the running command's or function's locals.
#[derive(Clone, Copy, Default)]
struct Activation {
    registers: usize,
    /// In words.
    frame: usize,
    references: usize,
    depth: u32,
}

/// The memory of running code. It outlives single firings so that it is allocated once.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) memory: Memory,
    registers: Vec<i64>,
    references: Vec<Spot>,
    /// The properties that the running command covered.
    pub(super) covered: PropertyBits,
    /// The enabled rules of the state being sampled.
    pub(super) enabled: Vec<u32>,
    /// The printed output; `None` in a search.
    pub(super) printed: Option<Vec<String>>,
}

/// Runs a program's code on a scratch memory.
pub(super) struct Machine<'a> {
    pub(super) program: &'a Program,
    pub(super) limits: Limits,
    pub(super) scratch: &'a mut Scratch,
    fuel: u64,
}

impl<'a> Machine<'a> {
    pub(super) fn new(program: &'a Program, limits: Limits, scratch: &'a mut Scratch) -> Self {
        Machine { program, limits, scratch, fuel: 0 }
    }

    /// Prepares for a formula or command: fresh fuel, zeroed registers and frame. The caller may then set the first registers.
    pub(super) fn begin(&mut self, registers: u32, frame: u32) -> &mut [i64] {
        self.fuel = self.limits.fuel;
        self.scratch.registers.clear();
        self.scratch.registers.resize(registers as usize, 0);
        self.scratch.references.clear();
        self.scratch.memory.frames.clear();
        self.scratch.memory.frames.resize(frame as usize, 0);
        &mut self.scratch.registers
    }

    /// The value of an expression after [`begin`](Self::begin).
    pub(super) fn value(&mut self, expr: &Expr) -> Result<i64, Stop> {
        self.eval(Activation::default(), expr)
    }

    /// Runs a command after [`begin`](Self::begin).
    pub(super) fn run(&mut self, command: &Body) -> Result<(), Stop> {
        self.block(Activation::default(), &command.block).map(|_| ())
    }

    fn eval(&mut self, at: Activation, expr: &Expr) -> Result<i64, Stop> {
        match expr {
            Expr::Const(value) => Ok(*value),
            Expr::Reg(register) => Ok(self.scratch.registers[at.registers + register.0 as usize]),
            Expr::Load { place, bits } => {
                let spot = self.spot(at, place)?;
                Ok(self.scratch.memory.load(spot, u32::from(*bits)) as i64)
            }
            Expr::Unary(op, operand) => Ok(op.apply(self.eval(at, operand)?)),
            Expr::Binary(op, left, right) => {
                let left = self.eval(at, left)?;
                Ok(op.apply(left, self.eval(at, right)?))
            }
            Expr::Checked { op, left, right, fault } => {
                let left = self.eval(at, left)?;
                op.apply(left, self.eval(at, right)?).ok_or(Stop::Fault(*fault))
            }
            Expr::All(operands) => {
                for operand in operands {
                    if self.eval(at, operand)? == 0 {
                        return Ok(0);
                    }
                }
                Ok(1)
            }
            Expr::Any(operands) => {
                for operand in operands {
                    if self.eval(at, operand)? != 0 {
                        return Ok(1);
                    }
                }
                Ok(0)
            }
            Expr::Select(condition, then, otherwise) => {
                let chosen = if self.eval(at, condition)? != 0 { then } else { otherwise };
                self.eval(at, chosen)
            }
            Expr::Require { value, test, fault } => {
                let value = self.eval(at, value)?;
                let passes = match test {
                    Test::NonZero => value != 0,
                    Test::Between(low, high) => *low <= value && value <= *high,
                };
                if passes { Ok(value) } else { Err(Stop::Fault(*fault)) }
            }
            Expr::Loop(fold) => self.fold(at, fold),
            Expr::Call { function, arguments, fuel } => {
                let function = &self.program.functions[function.0 as usize];
                self.call(at, function, arguments, *fuel)
            }
        }
    }

    fn fold(&mut self, at: Activation, fold: &LoopExpr) -> Result<i64, Stop> {
        let from = self.eval(at, &fold.from)?;
        let to = self.eval(at, &fold.to)?;
        let mut sum = 0i64;
        let mut next = Some(from);
        while let Some(value) = next.filter(|value| in_range(*value, to, fold.by)) {
            self.burn(fold.fuel)?;
            self.scratch.registers[at.registers + fold.register.0 as usize] = value;
            let round = self.eval(at, &fold.body)?;
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

    /// Calls a function. Its arguments are pushed where its locals will be; a call inside an argument pushes above
    /// them and leaves nothing behind.
    fn call(&mut self, at: Activation, function: &Function, arguments: &[Argument], fuel: FaultId) -> Result<i64, Stop> {
        let scratch = &self.scratch;
        let callee = Activation {
            registers: scratch.registers.len(),
            frame: scratch.memory.frames.len(),
            references: scratch.references.len(),
            depth: at.depth + 1,
        };
        for argument in arguments {
            match argument {
                Argument::Value(expr) => {
                    let value = self.eval(at, expr)?;
                    self.scratch.registers.push(value);
                }
                Argument::Place(place) => {
                    let spot = self.spot(at, place)?;
                    self.scratch.references.push(spot);
                }
            }
        }
        self.burn(fuel)?;
        let frames = callee.frame + function.body.frame as usize;
        if callee.depth > self.limits.call_depth || frames > self.limits.frame_words as usize {
            return Err(Stop::Fault(fuel));
        }
        self.scratch.registers.resize(callee.registers + function.body.registers as usize, 0);
        self.scratch.memory.frames.resize(frames, 0);
        let flow = stacker::maybe_grow(RED_ZONE, MORE_STACK, || self.block(callee, &function.body.block))?;
        self.scratch.registers.truncate(callee.registers);
        self.scratch.memory.frames.truncate(callee.frame);
        self.scratch.references.truncate(callee.references);
        match flow {
            Flow::Return(value) => Ok(value),
            Flow::Next if function.result => Err(Stop::Fault(function.no_result)),
            Flow::Next => Ok(0),
        }
    }

    /// Takes one unit of fuel.
    fn burn(&mut self, fault: FaultId) -> Result<(), Stop> {
        self.fuel = self.fuel.checked_sub(1).ok_or(Stop::Fault(fault))?;
        Ok(())
    }

    /// The position of a place. Each index is tested as soon as it is known.
    fn spot(&mut self, at: Activation, place: &Place) -> Result<Spot, Stop> {
        let root = match place.root {
            Root::State => Spot { region: Region::State, bit: 0 },
            Root::Frame => Spot { region: Region::Frame, bit: at.frame * 64 },
            Root::Reference(number) => self.scratch.references[at.references + number as usize],
        };
        let mut bit = root.bit + place.offset as usize;
        for index in &place.indices {
            let value = self.eval(at, &index.value)?;
            if value < 0 || value >= i64::from(index.count) {
                return Err(Stop::Fault(index.fault));
            }
            bit += value as usize * index.stride as usize;
        }
        Ok(Spot { region: root.region, bit })
    }

    fn block(&mut self, at: Activation, block: &Block) -> Result<Flow, Stop> {
        for statement in block {
            if let Flow::Return(value) = self.statement(at, statement)? {
                return Ok(Flow::Return(value));
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, at: Activation, statement: &Stmt) -> Result<Flow, Stop> {
        match statement {
            Stmt::Set(register, expr) => {
                let value = self.eval(at, expr)?;
                self.scratch.registers[at.registers + register.0 as usize] = value;
            }
            Stmt::Store { place, bits, value } => {
                let spot = self.spot(at, place)?;
                let value = self.eval(at, value)?;
                self.scratch.memory.store(spot, u32::from(*bits), value as Word);
            }
            Stmt::Copy { to, from, bits } => {
                let to = self.spot(at, to)?;
                let from = self.spot(at, from)?;
                self.scratch.memory.copy(to, from, *bits);
            }
            Stmt::Zero { place, bits } => {
                let spot = self.spot(at, place)?;
                self.scratch.memory.zero(spot, *bits);
            }
            Stmt::Sort { place, stride, count, bits, .. } => {
                let spot = self.spot(at, place)?;
                self.scratch.memory.sort(spot, *stride, *count, *bits);
            }
            Stmt::If { branches, otherwise } => {
                for (condition, block) in branches {
                    if self.eval(at, condition)? != 0 {
                        return self.block(at, block);
                    }
                }
                return self.block(at, otherwise);
            }
            Stmt::While { condition, body, fuel } => {
                while self.eval(at, condition)? != 0 {
                    self.burn(*fuel)?;
                    if let Flow::Return(value) = self.block(at, body)? {
                        return Ok(Flow::Return(value));
                    }
                }
            }
            Stmt::For { register, from, to, by, body, fuel } => {
                let from = self.eval(at, from)?;
                let to = self.eval(at, to)?;
                let mut next = Some(from);
                while let Some(value) = next.filter(|value| in_range(*value, to, *by)) {
                    self.burn(*fuel)?;
                    self.scratch.registers[at.registers + register.0 as usize] = value;
                    if let Flow::Return(value) = self.block(at, body)? {
                        return Ok(Flow::Return(value));
                    }
                    next = value.checked_add(*by);
                }
            }
            Stmt::Do(expr) => {
                self.eval(at, expr)?;
            }
            Stmt::Check { condition, fault } => {
                if self.eval(at, condition)? == 0 {
                    return Err(Stop::Fault(*fault));
                }
            }
            Stmt::Fault(fault) => return Err(Stop::Fault(*fault)),
            Stmt::Discard => return Err(Stop::Discard),
            Stmt::Cover(property) => self.scratch.covered.insert(property.0),
            Stmt::Return(None) => return Ok(Flow::Return(0)),
            Stmt::Return(Some(expr)) => return Ok(Flow::Return(self.eval(at, expr)?)),
            Stmt::Print(items) => self.print(at, items),
        }
        Ok(Flow::Next)
    }

    /// Prints without effects on later code: fuel and registers are restored, and an item that faults shows as `?`.
    fn print(&mut self, at: Activation, items: &[PrintItem]) {
        let Some(mut printed) = self.scratch.printed.take() else { return };
        let (fuel, registers) = (self.fuel, self.scratch.registers.clone());
        let (frames, references) = (self.scratch.memory.frames.len(), self.scratch.references.len());
        let mut line = String::new();
        for item in items {
            let text = match item {
                PrintItem::Text(text) => Ok(text.clone()),
                PrintItem::Value(expr, ty) => self.eval(at, expr).map(|stored| show::scalar_text(self.program, *ty, stored as u64)),
                PrintItem::Place(place, ty) => {
                    self.spot(at, place).map(|spot| show::value_text(self.program, *ty, self.scratch.memory.words(spot.region), spot.bit))
                }
            };
            line.push_str(text.as_deref().unwrap_or("?"));
            self.scratch.registers.clone_from(&registers);
            self.scratch.memory.frames.truncate(frames);
            self.scratch.references.truncate(references);
        }
        self.fuel = fuel;
        printed.push(line);
        self.scratch.printed = Some(printed);
    }
}

/// Whether a loop that steps by `by` has not passed `to`.
fn in_range(value: i64, to: i64, by: i64) -> bool {
    if by < 0 { value >= to } else { value <= to }
}
