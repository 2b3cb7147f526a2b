//! Static analysis of code: ranges of values, the fuel it can take at most, how deep its calls nest, and its size.

use wayfarer_ir::walk;
use wayfarer_ir::{BinaryOp, Block, Expr, Function, Limits, Program, Reg, Rule, Stmt, Test};

/// A range of values, both ends included.
pub(crate) type Range = (i64, i64);

/// Every value.
pub(crate) const ANY: Range = (i64::MIN, i64::MAX);

/// Facts about all code of a program that follow from its shape.
#[derive(Clone, Debug)]
pub(crate) struct Bounds {
    /// Whether code must count fuel, because its shape does not keep it within the limit.
    pub(crate) metered: bool,
    /// Whether calls must count how deep they are.
    pub(crate) deep: bool,
    functions: Vec<FunctionBounds>,
}

#[derive(Clone, Debug, Default)]
struct FunctionBounds {
    recursive: bool,
    /// Fuel; none where no bound is known.
    fuel: Option<u64>,
    depth: u32,
    frames: u64,
    nodes: usize,
    /// In how many places it is called.
    calls: usize,
    known: bool,
}

impl Bounds {
    pub(crate) fn of(program: &Program, limits: &Limits) -> Self {
        let count = program.functions.len();
        let mut bounds = Bounds { metered: false, deep: false, functions: vec![FunctionBounds::default(); count] };
        let callees: Vec<Vec<usize>> = program.functions.iter().map(callees).collect();
        for number in 0..count {
            bounds.functions[number].recursive = reaches(&callees, number, number);
        }
        for number in 0..count {
            bounds.measure(program, &callees, number);
        }
        bounds.count_calls(program);
        let rules = program.rules.iter();
        let mut fuel = Some(0u64);
        let mut note = |units: Option<u64>| fuel = fuel.zip(units).map(|(most, units)| most.max(units));
        for rule in rules {
            let (mut guard, mut command) = (parameters(rule, rule.guard.registers), parameters(rule, rule.command.registers));
            note(bounds.block(&rule.command.block, &mut command));
            forget_in(&rule.guard.value, &mut guard);
            note(bounds.expr(&rule.guard.value, &mut guard));
        }
        for property in &program.properties {
            let mut registers = vec![ANY; property.registers as usize];
            note(property.conjuncts.iter().try_fold(0u64, |sum, (_, conjunct)| sum.checked_add(bounds.expr(conjunct, &mut registers)?)));
        }
        bounds.metered = fuel.is_none_or(|fuel| fuel > limits.fuel);
        let frame = program.rules.iter().map(|rule| u64::from(rule.command.frame)).max().unwrap_or(0);
        let deepest = |function: &FunctionBounds| {
            function.recursive || function.depth > limits.call_depth || function.frames + frame > u64::from(limits.frame_words)
        };
        bounds.deep = bounds.functions.iter().any(deepest);
        bounds
    }

    /// Whether a function can call itself.
    pub(crate) fn is_recursive(&self, function: usize) -> bool {
        self.functions[function].recursive
    }

    /// Parts of a function and of all that it calls.
    pub(crate) fn nodes(&self, function: usize) -> usize {
        self.functions[function].nodes
    }

    /// In how many places of the program a function is called, at least one.
    pub(crate) fn calls(&self, function: usize) -> usize {
        self.functions[function].calls.max(1)
    }

    /// Counts calls.
    fn count_calls(&mut self, program: &Program) {
        let mut note = |expr: &Expr| {
            if let Expr::Call { function, .. } = expr {
                self.functions[function.0 as usize].calls += 1;
            }
        };
        for rule in &program.rules {
            walk::expressions(&rule.guard.value, &mut note);
            walk::expressions_of_block(&rule.command.block, &mut note);
        }
        for function in &program.functions {
            walk::expressions_of_block(&function.body.block, &mut note);
        }
        program.properties.iter().flat_map(|property| &property.conjuncts).for_each(|(_, conjunct)| walk::expressions(conjunct, &mut note));
    }

    fn measure(&mut self, program: &Program, callees: &[Vec<usize>], number: usize) {
        if std::mem::replace(&mut self.functions[number].known, true) {
            return;
        }
        let function = &program.functions[number];
        let (mut depth, mut frames, mut nodes) = (0, 0, nodes_of_block(&function.body.block));
        for callee in &callees[number] {
            self.measure(program, callees, *callee);
            let callee = &self.functions[*callee];
            depth = depth.max(callee.depth);
            frames = frames.max(callee.frames);
            nodes = nodes.saturating_add(callee.nodes);
        }
        let fuel =
            if self.functions[number].recursive { None } else { self.block(&function.body.block, &mut vec![ANY; function.body.registers as usize]) };
        let known = &mut self.functions[number];
        (known.depth, known.frames, known.nodes, known.fuel) = (depth + 1, frames + u64::from(function.body.frame), nodes, fuel);
    }

    /// The most fuel that an expression takes; none where no bound is known.
    fn expr(&self, expr: &Expr, registers: &mut Vec<Range>) -> Option<u64> {
        let mut sum = 0u64;
        match expr {
            Expr::Loop(fold) => {
                sum = sum.checked_add(self.expr(&fold.from, registers)?)?.checked_add(self.expr(&fold.to, registers)?)?;
                let (from, to) = (range(&fold.from, registers), range(&fold.to, registers));
                let round = self.inside(fold.register, (from, to), registers, |registers| self.expr(&fold.body, registers))?;
                sum.checked_add(rounds(from, to, fold.by)?.checked_mul(round.checked_add(1)?)?)
            }
            _ => {
                let mut total = Some(0u64);
                walk::operands(expr, &mut |operand| total = total.and_then(|total| total.checked_add(self.expr(operand, registers)?)));
                if let Expr::Call { function, .. } = expr {
                    sum = self.functions[function.0 as usize].fuel?.checked_add(1)?;
                }
                sum.checked_add(total?)
            }
        }
    }

    fn block(&self, block: &Block, registers: &mut Vec<Range>) -> Option<u64> {
        forget_in_block(block, registers);
        block.iter().try_fold(0u64, |sum, statement| sum.checked_add(self.statement(statement, registers)?))
    }

    fn statement(&self, statement: &Stmt, registers: &mut Vec<Range>) -> Option<u64> {
        let mut sum = Some(0u64);
        walk::operands_of_statement(statement, &mut |operand| sum = sum.and_then(|sum| sum.checked_add(self.expr(operand, registers)?)));
        let sum = sum?;
        match statement {
            Stmt::While { .. } => None,
            Stmt::If { branches, otherwise } => {
                let inside = branches.iter().map(|(_, block)| block).chain(std::iter::once(otherwise));
                inside.into_iter().try_fold(sum, |sum, block| sum.checked_add(self.block(block, registers)?))
            }
            Stmt::For { register, from, to, by, body, .. } => {
                let ends = (range(from, registers), range(to, registers));
                let round = self.inside(*register, ends, registers, |registers| self.block(body, registers))?;
                sum.checked_add(rounds(ends.0, ends.1, *by)?.checked_mul(round.checked_add(1)?)?)
            }
            _ => Some(sum),
        }
    }

    /// Looks into a loop, where its register has a value between its ends; behind it nothing is known of it.
    fn inside<T>(&self, register: Reg, (from, to): (Range, Range), registers: &mut Vec<Range>, look: impl FnOnce(&mut Vec<Range>) -> T) -> T {
        registers[register.0 as usize] = (from.0.min(to.0), from.1.max(to.1));
        let result = look(registers);
        registers[register.0 as usize] = ANY;
        result
    }
}

/// Ranges of a rule's registers at the start of its guard or command.
pub(crate) fn parameters(rule: &Rule, registers: u32) -> Vec<Range> {
    let mut ranges = vec![ANY; registers as usize];
    for (range, parameter) in ranges.iter_mut().zip(&rule.parameters) {
        let last = i128::from(parameter.from) + i128::from(parameter.by) * i128::from(parameter.count.max(1) - 1);
        if let Ok(last) = i64::try_from(last) {
            *range = (parameter.from.min(last), parameter.from.max(last));
        }
    }
    ranges
}

/// Forgets the ranges of registers that a block sets: what they hold is anything, wherever it is read.
pub(crate) fn forget_in_block(block: &Block, registers: &mut [Range]) {
    walk::statements(block, &mut |statement| {
        if let Stmt::Set(register, _) | Stmt::For { register, .. } = statement {
            registers[register.0 as usize] = ANY;
        }
    });
    walk::expressions_of_block(block, &mut |expr| forget_loop(expr, registers));
}

/// Forgets the ranges of registers that an expression sets.
pub(crate) fn forget_in(expr: &Expr, registers: &mut [Range]) {
    walk::expressions(expr, &mut |expr| forget_loop(expr, registers));
}

fn forget_loop(expr: &Expr, registers: &mut [Range]) {
    if let Expr::Loop(fold) = expr {
        registers[fold.register.0 as usize] = ANY;
    }
}

/// The values that an expression can have where it does not fault.
pub(crate) fn range(expr: &Expr, registers: &[Range]) -> Range {
    match expr {
        Expr::Const(value) => (*value, *value),
        Expr::Reg(register) => registers[register.0 as usize],
        Expr::Load { bits, .. } => of_bits(u32::from(*bits)),
        Expr::Require { value, test, .. } => {
            let (low, high) = range(value, registers);
            match test {
                Test::Between(from, to) if from.max(&low) <= to.min(&high) => (*from.max(&low), *to.min(&high)),
                _ => (low, high),
            }
        }
        Expr::Binary(op, left, right) => of_operator(*op, range(left, registers), range(right, registers)),
        Expr::All(_) | Expr::Any(_) => (0, 1),
        _ => ANY,
    }
}

/// The values of a run of bits.
pub(crate) fn of_bits(bits: u32) -> Range {
    if bits < 64 { (0, ((1u64 << bits) - 1) as i64) } else { ANY }
}

/// The values of a total operator.
pub(crate) fn of_operator(op: BinaryOp, left: Range, right: Range) -> Range {
    let ends = |low: Option<i64>, high: Option<i64>| low.zip(high).unwrap_or(ANY);
    match op {
        BinaryOp::Add => ends(left.0.checked_add(right.0), left.1.checked_add(right.1)),
        BinaryOp::Sub => ends(left.0.checked_sub(right.1), left.1.checked_sub(right.0)),
        BinaryOp::Mul if left.0 >= 0 && right.0 >= 0 => ends(left.0.checked_mul(right.0), left.1.checked_mul(right.1)),
        BinaryOp::And if left.0 >= 0 && right.0 >= 0 => (0, left.1.min(right.1)),
        BinaryOp::Real(op) if op.is_comparison() => (0, 1),
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => (0, 1),
        _ => ANY,
    }
}

/// The most rounds of a loop between such ends.
fn rounds(from: Range, to: Range, by: i64) -> Option<u64> {
    let (first, last) = if by > 0 { (from.0, to.1) } else { (to.0, from.1) };
    if first > last {
        return Some(0);
    }
    (last.abs_diff(first) / by.unsigned_abs()).checked_add(1)
}

/// Parts of an expression.
pub(crate) fn nodes(expr: &Expr) -> usize {
    let mut count = 0;
    walk::expressions(expr, &mut |_| count += 1);
    count
}

/// Parts of a block.
pub(crate) fn nodes_of_block(block: &Block) -> usize {
    let mut count = 0;
    walk::statements(block, &mut |_| count += 1);
    walk::expressions_of_block(block, &mut |_| count += 1);
    count
}

/// Whether evaluating an expression changes something that another may read: a register by a loop, memory by a call.
pub(crate) fn has_effect(expr: &Expr) -> bool {
    let mut found = false;
    walk::expressions(expr, &mut |expr| found |= matches!(expr, Expr::Loop(_) | Expr::Call { .. }));
    found
}

fn callees(function: &Function) -> Vec<usize> {
    let mut found = Vec::new();
    walk::expressions_of_block(&function.body.block, &mut |expr| {
        if let Expr::Call { function, .. } = expr {
            found.push(function.0 as usize);
        }
    });
    found.sort_unstable();
    found.dedup();
    found
}

fn reaches(callees: &[Vec<usize>], from: usize, to: usize) -> bool {
    let mut seen = vec![false; callees.len()];
    let mut open = vec![from];
    while let Some(number) = open.pop() {
        for callee in &callees[number] {
            if *callee == to {
                return true;
            }
            if !std::mem::replace(&mut seen[*callee], true) {
                open.push(*callee);
            }
        }
    }
    false
}
