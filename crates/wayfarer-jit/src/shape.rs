//! Static analysis of a program before any code is emitted: sizes, recursive functions, call depth, and registers
//! that carry a value out of a loop expression.

use wayfarer_ir::{Block, Expr, Function, FunctionId, Limits, Program, Reg, Stmt, walk};

/// The analysis of each function.
#[derive(Debug, Default)]
pub(crate) struct Shape {
    functions: Vec<FunctionShape>,
}

#[derive(Clone, Debug, Default)]
struct FunctionShape {
    /// Nodes, including those of all inlined calls.
    nodes: usize,
    recursive: bool,
    leaking: Vec<bool>,
    /// The maximum depth of nested calls and the words of their frames, including its own. Not meaningful if it is
    /// recursive.
    depth: u32,
    frame_words: u64,
    calls: Vec<u32>,
    known: bool,
}

impl Shape {
    pub(crate) fn of(program: &Program) -> Self {
        let mut shape = Shape { functions: vec![FunctionShape::default(); program.functions.len()] };
        for (number, function) in program.functions.iter().enumerate() {
            let known = &mut shape.functions[number];
            known.leaking = leaking_in_body(function.body.registers, &function.body.block);
            calls_in_block(&function.body.block, &mut known.calls);
        }
        for number in 0..program.functions.len() {
            shape.functions[number].recursive = shape.reaches(number as u32, number as u32);
        }
        for number in 0..program.functions.len() {
            shape.measure(program, number);
        }
        shape
    }

    /// Whether `from` may, directly or not, call `to`.
    fn reaches(&self, from: u32, to: u32) -> bool {
        let mut seen = vec![false; self.functions.len()];
        let mut open = vec![from];
        while let Some(number) = open.pop() {
            for callee in &self.functions[number as usize].calls {
                if *callee == to {
                    return true;
                }
                if !std::mem::replace(&mut seen[*callee as usize], true) {
                    open.push(*callee);
                }
            }
        }
        false
    }

    fn measure(&mut self, program: &Program, number: usize) {
        if std::mem::replace(&mut self.functions[number].known, true) {
            return;
        }
        let calls = self.functions[number].calls.clone();
        let (mut nodes, mut depth, mut frames) = (nodes_in_block(&program.functions[number].body.block), 0, 0);
        for callee in calls {
            self.measure(program, callee as usize);
            let callee = &self.functions[callee as usize];
            if !callee.recursive {
                nodes += callee.nodes;
            }
            depth = depth.max(callee.depth);
            frames = frames.max(callee.frame_words);
        }
        let known = &mut self.functions[number];
        known.nodes = nodes.min(1 << 40);
        known.depth = depth + 1;
        known.frame_words = frames + u64::from(program.functions[number].body.frame);
    }

    pub(crate) fn is_recursive(&self, function: FunctionId) -> bool {
        self.functions[function.0 as usize].recursive
    }

    pub(crate) fn nodes_in_function(&self, function: FunctionId) -> usize {
        self.functions[function.0 as usize].nodes
    }

    pub(crate) fn leaking_in_function(&self, function: FunctionId) -> &[bool] {
        &self.functions[function.0 as usize].leaking
    }

    /// Nodes of the largest body that running a block can lead to, including its own.
    pub(crate) fn largest_body(&self, program: &Program, block: &Block) -> usize {
        let mut open = Vec::new();
        calls_in_block(block, &mut open);
        let mut seen = vec![false; self.functions.len()];
        let mut largest = nodes_in_block(block);
        while let Some(callee) = open.pop() {
            if !std::mem::replace(&mut seen[callee as usize], true) {
                largest = largest.max(nodes_in_block(&program.functions[callee as usize].body.block));
                open.extend(&self.functions[callee as usize].calls);
            }
        }
        largest
    }

    /// Nodes of a block, including those of all inlined calls.
    pub(crate) fn nodes_with_calls(&self, block: &Block) -> u64 {
        let mut calls = Vec::new();
        calls_in_block(block, &mut calls);
        let inside: usize = calls.iter().map(|callee| self.functions[*callee as usize].nodes).sum();
        (nodes_in_block(block) + inside) as u64
    }

    /// Nodes of an expression, including those of all inlined calls and all rounds of loops with known bounds.
    pub(crate) fn nodes_unrolled(&self, expr: &Expr) -> usize {
        let mut total = 1usize;
        each_operand(expr, &mut |operand| total = total.saturating_add(self.nodes_unrolled(operand)));
        match expr {
            Expr::Loop(fold) => {
                let rounds = match (&fold.from, &fold.to) {
                    (Expr::Const(from), Expr::Const(to)) => crate::emit::rounds(*from, *to, fold.by).min(1 << 20) as usize,
                    _ => 8,
                };
                total.saturating_mul(rounds.max(1))
            }
            Expr::Call { function, .. } => total.saturating_add(self.functions[function.0 as usize].nodes),
            _ => total,
        }
    }

    /// Whether the shape alone keeps all calls of some code within the limits.
    pub(crate) fn keeps_depth(&self, calls: &[u32], frame: u32, limits: &Limits) -> bool {
        let fits = |callee: &u32| {
            let known = &self.functions[*callee as usize];
            known.depth <= limits.call_depth && known.frame_words + u64::from(frame) <= u64::from(limits.frame_words)
        };
        !calls.iter().any(|callee| self.reaches_recursion(*callee)) && calls.iter().all(fits)
    }

    /// Whether some frame is too large for the stack, alone or with those of its callees.
    pub(crate) fn has_far_frames(&self, program: &Program, of_commands: u32) -> bool {
        let most = self.functions.iter().map(|function| function.frame_words).max().unwrap_or(0) + u64::from(of_commands);
        let largest = program.functions.iter().map(|function| function.body.frame).max().unwrap_or(0).max(of_commands);
        largest > crate::emit::LARGEST_LOCAL || most > u64::from(crate::emit::LARGEST_LOCALS)
    }

    fn reaches_recursion(&self, function: u32) -> bool {
        let known = &self.functions[function as usize];
        known.recursive || (0..self.functions.len() as u32).any(|other| self.functions[other as usize].recursive && self.reaches(function, other))
    }
}

/// The functions that a block calls.
pub(crate) fn calls_in_block(block: &Block, calls: &mut Vec<u32>) {
    each_expression(block, &mut |expr| calls_in(expr, calls));
}

/// The functions that an expression calls.
pub(crate) fn calls_in(expr: &Expr, calls: &mut Vec<u32>) {
    if let Expr::Call { function, .. } = expr {
        calls.push(function.0);
    }
    each_operand(expr, &mut |operand| calls_in(operand, calls));
}

/// Nodes of an expression.
pub(crate) fn nodes(expr: &Expr) -> usize {
    let mut total = 1;
    each_operand(expr, &mut |operand| total += nodes(operand));
    total
}

/// Nodes of a block.
pub(crate) fn nodes_in_block(block: &Block) -> usize {
    let mut total = 0;
    each_statement(block, &mut |_| total += 1);
    each_expression(block, &mut |expr| total += nodes(expr));
    total
}

/// The registers that statements of a block set.
pub(crate) fn assigned(block: &Block) -> Vec<Reg> {
    let mut registers = Vec::new();
    assigned_into(block, &mut registers);
    registers
}

/// Adds the registers that statements of a block set.
pub(crate) fn assigned_into(block: &Block, registers: &mut Vec<Reg>) {
    each_statement(block, &mut |statement| {
        if let Stmt::Set(register, _) | Stmt::For { register, .. } = statement
            && !registers.contains(register)
        {
            registers.push(*register);
        }
    });
}

/// The registers of loop expressions in a body that are read outside their loop.
pub(crate) fn leaking_in_body(registers: u32, block: &Block) -> Vec<bool> {
    let mut search = LeakSearch::new(registers);
    each_expression(block, &mut |expr| search.visit(expr));
    search.finish()
}

/// The registers of loop expressions that are read outside their loop.
pub(crate) fn leaking_in<'a>(registers: u32, expressions: impl IntoIterator<Item = &'a Expr>) -> Vec<bool> {
    let mut search = LeakSearch::new(registers);
    expressions.into_iter().for_each(|expr| search.visit(expr));
    search.finish()
}

struct LeakSearch {
    loops: Vec<bool>,
    leaks: Vec<bool>,
    inside: Vec<Reg>,
}

impl LeakSearch {
    fn new(registers: u32) -> Self {
        LeakSearch { loops: vec![false; registers as usize], leaks: vec![false; registers as usize], inside: Vec::new() }
    }

    fn visit(&mut self, expr: &Expr) {
        match expr {
            Expr::Reg(register) if !self.inside.contains(register) => self.leaks[register.0 as usize] = true,
            Expr::Loop(fold) => {
                self.visit(&fold.from);
                self.visit(&fold.to);
                self.loops[fold.register.0 as usize] = true;
                if self.inside.contains(&fold.register) {
                    self.leaks[fold.register.0 as usize] = true;
                }
                self.inside.push(fold.register);
                self.visit(&fold.body);
                self.inside.pop();
            }
            _ => each_operand(expr, &mut |operand| self.visit(operand)),
        }
    }

    fn finish(self) -> Vec<bool> {
        self.loops.into_iter().zip(self.leaks).map(|(bound, read)| bound && read).collect()
    }
}

/// Visits an expression and all parts of it.
pub(crate) fn each<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    visit(expr);
    each_operand(expr, &mut |operand| each(operand, visit));
}

fn each_operand<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    walk::operands(expr, &mut |operand| visit(operand));
}

fn each_statement<'a>(block: &'a Block, visit: &mut dyn FnMut(&'a Stmt)) {
    walk::statements(block, &mut |statement| visit(statement));
}

/// The outermost expressions of all statements; printed items are never evaluated.
fn each_expression<'a>(block: &'a Block, visit: &mut dyn FnMut(&'a Expr)) {
    walk::statements(block, &mut |statement| walk::operands_of_statement(statement, &mut |expr| visit(expr)));
}

/// The expression, if a function is only an expression.
pub(crate) fn as_expression(function: &Function) -> Option<&Expr> {
    match &function.body.block[..] {
        [Stmt::Return(Some(expr))] if function.body.frame == 0 => Some(expr),
        _ => None,
    }
}

/// Whether an expression has a loop.
pub(crate) fn has_loop(expr: &Expr) -> bool {
    let mut found = matches!(expr, Expr::Loop(_));
    each_operand(expr, &mut |operand| found |= has_loop(operand));
    found
}

/// Whether some command or function covers a property.
pub(crate) fn has_cover(program: &Program) -> bool {
    let mut found = false;
    let bodies = program.rules.iter().chain(&program.starts).map(|rule| &rule.command).chain(program.functions.iter().map(|function| &function.body));
    for body in bodies {
        each_statement(&body.block, &mut |statement| found |= matches!(statement, Stmt::Cover(_)));
    }
    found
}
