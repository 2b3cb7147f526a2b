//! The rules of expressions and statements.

use super::layout::{inside, inside_words};
use super::{MAX_SORTED, Problem, Verifier};
use crate::code::{Argument, Block, Expr, FaultId, FunctionId, Place, PrintItem, Reg, Root, Stmt};
use crate::program::{Parameter, Region};

/// One body or formula under verification. Its trees are known not to be too deep.
pub(super) struct Code<'v, 'a> {
    verifier: &'v mut Verifier<'a>,
    part: String,
    registers: u32,
    /// In words.
    frame: u32,
    references: Vec<(Region, u32)>,
    /// Whether `Return` must give a value.
    result: bool,
    formula: bool,
    printed: bool,
    /// Registers of the loops around the current position.
    loops: Vec<Reg>,
}

impl<'v, 'a> Code<'v, 'a> {
    pub(super) fn new(verifier: &'v mut Verifier<'a>, part: String, registers: u32) -> Self {
        Code { verifier, part, registers, frame: 0, references: Vec::new(), result: false, formula: false, printed: false, loops: Vec::new() }
    }

    pub(super) fn formula(mut self) -> Self {
        self.formula = true;
        self
    }

    pub(super) fn frame(mut self, words: u32) -> Self {
        self.frame = words;
        self
    }

    pub(super) fn parameters(mut self, parameters: &[Parameter], result: bool) -> Self {
        for parameter in parameters {
            if let Parameter::Reference { region, bits } = parameter {
                self.references.push((*region, *bits));
            }
        }
        self.result = result;
        self
    }

    fn problem(&mut self, problem: Problem) {
        let part = self.part.clone();
        self.verifier.error(&part, problem);
    }

    fn wrong(&mut self, what: &'static str) {
        self.problem(Problem::Wrong(what));
    }

    fn register(&mut self, register: Reg) {
        if register.0 >= self.registers {
            self.problem(Problem::Missing { what: "register", number: register.0 });
        }
    }

    fn set(&mut self, register: Reg) {
        self.register(register);
        if self.loops.contains(&register) {
            self.wrong("a loop's body sets the loop's register");
        }
    }

    fn fault(&mut self, fault: FaultId) {
        if fault.0 as usize >= self.verifier.program.faults.len() {
            self.problem(Problem::Missing { what: "fault", number: fault.0 });
        }
    }

    pub(super) fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Const(_) => {}
            Expr::Reg(register) => self.register(*register),
            Expr::Load { place, bits } => {
                let bits = self.one_word(*bits);
                self.place(place, bits, None);
            }
            Expr::Unary(_, operand) => self.expr(operand),
            Expr::Binary(_, left, right) => {
                self.expr(left);
                self.expr(right);
            }
            Expr::Checked { left, right, fault, .. } => {
                self.expr(left);
                self.expr(right);
                self.fault(*fault);
            }
            Expr::All(operands) | Expr::Any(operands) => operands.iter().for_each(|operand| self.expr(operand)),
            Expr::Select(condition, then, otherwise) => {
                self.expr(condition);
                self.expr(then);
                self.expr(otherwise);
            }
            Expr::Require { value, fault, .. } => {
                self.expr(value);
                self.fault(*fault);
            }
            Expr::Loop(fold) => {
                self.loop_head(fold.register, &fold.from, &fold.to, fold.by, fold.fuel);
                self.loops.push(fold.register);
                self.expr(&fold.body);
                self.loops.pop();
            }
            Expr::Call { function, arguments, fuel } => {
                self.fault(*fuel);
                self.call(*function, arguments);
            }
        }
    }

    fn loop_head(&mut self, register: Reg, from: &Expr, to: &Expr, by: i64, fuel: FaultId) {
        self.expr(from);
        self.expr(to);
        self.set(register);
        self.fault(fuel);
        if by == 0 {
            self.wrong("a loop's step is 0");
        }
    }

    fn call(&mut self, id: FunctionId, arguments: &[Argument]) {
        let program = self.verifier.program;
        let Some(function) = program.functions.get(id.0 as usize) else {
            return self.problem(Problem::Missing { what: "function", number: id.0 });
        };
        let acts = self.verifier.acts[id.0 as usize];
        if self.formula && !acts.allowed_in_formulas() {
            self.wrong("a formula calls a function that writes the state, discards or covers");
        }
        if self.printed && (acts.writes_callers || !acts.allowed_in_formulas()) {
            self.wrong("a printed item calls a function that leaves a trace");
        }
        let mut mismatch = (arguments.len() != function.parameters.len()).then_some(arguments.len().min(function.parameters.len()));
        for (number, (argument, parameter)) in arguments.iter().zip(&function.parameters).enumerate() {
            let matches = match (argument, parameter) {
                (Argument::Value(value), Parameter::Value) => {
                    self.expr(value);
                    true
                }
                (Argument::Place(place), Parameter::Reference { region, bits }) => {
                    self.place(place, *bits, None);
                    self.region(place) == Some(*region)
                }
                _ => false,
            };
            if !matches {
                mismatch = mismatch.or(Some(number));
            }
        }
        if let Some(argument) = mismatch {
            self.problem(Problem::Arguments { function: id.0, argument });
        }
    }

    fn region(&self, place: &Place) -> Option<Region> {
        match place.root {
            Root::State => Some(Region::State),
            Root::Frame => Some(Region::Frame),
            Root::Reference(number) => self.references.get(number as usize).map(|(region, _)| *region),
        }
    }

    fn one_word(&mut self, bits: u8) -> u32 {
        if !(1..=64).contains(&bits) {
            self.problem(Problem::Bits(u32::from(bits)));
        }
        u32::from(bits)
    }

    /// Verifies a run of bits at a place; `more` is a stride and count beyond the place's own indices.
    fn place(&mut self, place: &Place, bits: u32, more: Option<(u32, u32)>) {
        for index in &place.indices {
            self.expr(&index.value);
            self.fault(index.fault);
        }
        if bits == 0 {
            return self.problem(Problem::Bits(0));
        }
        let indices: Vec<(u32, u32)> = place.indices.iter().map(|index| (index.stride, index.count)).chain(more).collect();
        let result = match place.root {
            Root::State => inside_words(place.offset, &indices, bits, u64::from(self.verifier.program.words) * 64),
            Root::Frame => inside_words(place.offset, &indices, bits, u64::from(self.frame) * 64),
            Root::Reference(number) => match self.references.get(number as usize) {
                Some((_, size)) => inside(place.offset, &indices, bits, *size),
                None => Err(Problem::Missing { what: "reference", number }),
            },
        };
        if let Err(problem) = result {
            self.problem(problem);
        }
    }

    pub(super) fn block(&mut self, block: &Block) {
        block.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Set(register, value) => {
                self.set(*register);
                self.expr(value);
            }
            Stmt::Store { place, bits, value } => {
                let bits = self.one_word(*bits);
                self.place(place, bits, None);
                self.expr(value);
            }
            Stmt::Copy { to, from, bits } => {
                self.place(to, *bits, None);
                self.place(from, *bits, None);
            }
            Stmt::Zero { place, bits } => self.place(place, *bits, None),
            Stmt::Sort { place, stride, count, bits, .. } => {
                self.place(place, *bits, Some((*stride, *count)));
                if stride < bits {
                    self.wrong("sorted elements overlap");
                }
                if *count > MAX_SORTED {
                    self.problem(Problem::TooLarge { what: "sorted elements", size: u64::from(*count), limit: u64::from(MAX_SORTED) });
                }
            }
            Stmt::If { branches, otherwise } => {
                for (condition, block) in branches {
                    self.expr(condition);
                    self.block(block);
                }
                self.block(otherwise);
            }
            Stmt::While { condition, body, fuel } => {
                self.expr(condition);
                self.fault(*fuel);
                self.block(body);
            }
            Stmt::For { register, from, to, by, body, fuel } => {
                self.loop_head(*register, from, to, *by, *fuel);
                self.loops.push(*register);
                self.block(body);
                self.loops.pop();
            }
            Stmt::Do(expr) => self.expr(expr),
            Stmt::Check { condition, fault } => {
                self.expr(condition);
                self.fault(*fault);
            }
            Stmt::Fault(fault) => self.fault(*fault),
            Stmt::Discard => {}
            Stmt::Cover(property) => match self.verifier.program.properties.get(property.0 as usize) {
                None => self.problem(Problem::Missing { what: "property", number: property.0 }),
                Some(property) if !property.kind.asks_to_reach() => self.wrong("a covered property does not ask to be reached"),
                Some(_) => {}
            },
            Stmt::Return(value) => {
                if value.is_some() != self.result {
                    self.wrong("a return does not agree with whether there is a result");
                }
                if let Some(value) = value {
                    self.expr(value);
                }
            }
            Stmt::Print(items) => {
                self.printed = true;
                items.iter().for_each(|item| self.print(item));
                self.printed = false;
            }
        }
    }

    fn print(&mut self, item: &PrintItem) {
        let types = &self.verifier.program.types;
        match item {
            PrintItem::Text(_) => {}
            PrintItem::Value(value, ty) => {
                if types.get(ty.0 as usize).is_none_or(|ty| ty.scalar().is_none()) {
                    self.wrong("a printed value has no scalar type");
                }
                self.expr(value);
            }
            PrintItem::Place(place, ty) => match types.get(ty.0 as usize) {
                Some(ty) => self.place(place, ty.bits(), None),
                None => self.problem(Problem::Missing { what: "type", number: ty.0 }),
            },
        }
    }
}

/// Whether a tree has more than `left` levels. It looks no deeper than that, so that no tree is too deep to be
/// refused.
pub(super) fn expr_too_deep(expr: &Expr, left: u32) -> bool {
    let Some(left) = left.checked_sub(1) else { return true };
    let deep = |expr: &Expr| expr_too_deep(expr, left);
    match expr {
        Expr::Const(_) | Expr::Reg(_) => false,
        Expr::Load { place, .. } => place_too_deep(place, left),
        Expr::Unary(_, operand) => deep(operand),
        Expr::Binary(_, first, second) | Expr::Checked { left: first, right: second, .. } => deep(first) || deep(second),
        Expr::All(operands) | Expr::Any(operands) => operands.iter().any(deep),
        Expr::Select(condition, then, otherwise) => deep(condition) || deep(then) || deep(otherwise),
        Expr::Require { value, .. } => deep(value),
        Expr::Loop(fold) => deep(&fold.from) || deep(&fold.to) || deep(&fold.body),
        Expr::Call { arguments, .. } => arguments.iter().any(|argument| match argument {
            Argument::Value(value) => deep(value),
            Argument::Place(place) => place_too_deep(place, left),
        }),
    }
}

fn place_too_deep(place: &Place, left: u32) -> bool {
    place.indices.iter().any(|index| expr_too_deep(&index.value, left))
}

/// The same for statements.
pub(super) fn block_too_deep(block: &Block, left: u32) -> bool {
    let Some(left) = left.checked_sub(1) else { return !block.is_empty() };
    let expr = |value: &Expr| expr_too_deep(value, left);
    let place = |place: &Place| place_too_deep(place, left);
    let inner = |block: &Block| block_too_deep(block, left);
    block.iter().any(|statement| match statement {
        Stmt::Set(_, value) | Stmt::Do(value) | Stmt::Return(Some(value)) | Stmt::Check { condition: value, .. } => expr(value),
        Stmt::Store { place: to, value, .. } => place(to) || expr(value),
        Stmt::Copy { to, from, .. } => place(to) || place(from),
        Stmt::Zero { place: to, .. } | Stmt::Sort { place: to, .. } => place(to),
        Stmt::If { branches, otherwise } => branches.iter().any(|(condition, block)| expr(condition) || inner(block)) || inner(otherwise),
        Stmt::While { condition, body, .. } => expr(condition) || inner(body),
        Stmt::For { from, to, body, .. } => expr(from) || expr(to) || inner(body),
        Stmt::Fault(_) | Stmt::Discard | Stmt::Cover(_) | Stmt::Return(None) => false,
        Stmt::Print(items) => items.iter().any(|item| match item {
            PrintItem::Text(_) => false,
            PrintItem::Value(value, _) => expr(value),
            PrintItem::Place(from, _) => place(from),
        }),
    })
}
