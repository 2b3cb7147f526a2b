//! Writes programs as text: statements on lines of their own, expressions on one.

use super::lists::quote;
use crate::code::{Argument, BinaryOp, Block, CheckedOp, Expr, FaultId, LoopKind, Place, PrintItem, Reg, Root, Stmt, Test, TypeId, UnaryOp};
use crate::program::{Asymmetry, At, Body, FaultSite, Function, Parameter, PassingField, Program, Property, Region, Rule, RuleParameter, Variable};
use crate::real::RealOp;
use crate::types::{Names, Scalar, Type};
use std::fmt::Display;

/// The names of asymmetries by certainty.
pub(super) const CERTAINTY: [(bool, &str); 2] = [(true, "certain"), (false, "possible")];

/// The text of a program.
pub fn print(program: &Program) -> String {
    let mut out = Lines { text: format!("(program {}", quote(&program.source)), indent: 1 };
    out.line(format!("(words {})", program.words));
    for (number, ty) in program.types.iter().enumerate() {
        out.line(format!("(type t{number} {})", type_text(ty)));
    }
    for Variable { name, ty, offset, at } in &program.variables {
        out.line(format!("(variable {} {} (offset {offset}) {})", quote(name), type_id(*ty), at_text(*at)));
    }
    for (number, site) in program.faults.iter().enumerate() {
        let FaultSite { class, kind, message, at } = site;
        out.line(format!("(fault !{number} {} {} {} {})", class.word(), kind.word(), at_text(*at), quote(message)));
    }
    for Asymmetry { at, certain, message, commands, sets } in &program.asymmetries {
        let commands: String = commands.iter().flatten().map(|family| format!(" {family}")).collect();
        let sets: String = sets.iter().map(|set| format!(" s{set}")).collect();
        out.line(format!("(asymmetry {} {} {}{commands}{sets})", at_text(*at), word(&CERTAINTY, *certain), quote(message)));
    }
    if !program.levels.is_empty() {
        out.line(list("levels", program.levels.iter().map(u32::to_string)));
    }
    if let Some(PassingField { offset, bits, endless }) = program.passing {
        out.line(format!("(passing (offset {offset}) (bits {bits}) {})", fault(endless)));
    }
    if let Some(ends) = &program.ends {
        out.line(format!("(ends (registers {}) {})", ends.registers, expr(&ends.value)));
    }
    for name in &program.unjudged {
        out.line(format!("(unjudged {})", quote(name)));
    }
    for (number, function) in program.functions.iter().enumerate() {
        print_function(&mut out, number, function);
    }
    for (word, families) in [("start", &program.starts), ("rule", &program.rules)] {
        families.iter().for_each(|rule| print_rule(&mut out, word, rule));
    }
    for (number, property) in program.properties.iter().enumerate() {
        print_property(&mut out, number, property);
    }
    out.text.push_str(")\n");
    out.text
}

/// Text that grows by lines. A line is opened at its start and closed by brackets at the end of its last part.
struct Lines {
    text: String,
    indent: usize,
}

impl Lines {
    fn line(&mut self, line: impl Display) {
        let indent = 2 * self.indent;
        self.text.push_str(&format!("\n{:indent$}{line}", ""));
    }

    /// A list whose head is on the first line and whose other parts follow on lines of their own.
    fn list(&mut self, head: impl Display, parts: impl FnOnce(&mut Lines)) {
        self.line(format!("({head}"));
        self.indent += 1;
        parts(self);
        self.indent -= 1;
        self.text.push(')');
    }

    fn block(&mut self, block: &Block) {
        block.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Set(register, value) => self.line(format!("(set {} {})", reg(*register), expr(value))),
            Stmt::Store { place: to, bits, value } => self.line(format!("(store {bits} {} {})", place(to), expr(value))),
            Stmt::Copy { to, from, bits } => self.line(format!("(copy {bits} {} {})", place(to), place(from))),
            Stmt::Zero { place: to, bits } => self.line(format!("(zero {bits} {})", place(to))),
            Stmt::Sort { place: to, stride, count, bits, again } => {
                let name = if *again { "resort" } else { "sort" };
                self.line(format!("({name} {} {stride} {count} {bits})", place(to)));
            }
            Stmt::If { branches, otherwise } => self.list("if", |out| {
                for (condition, block) in branches {
                    out.list(expr(condition), |out| out.block(block));
                }
                out.list("else", |out| out.block(otherwise));
            }),
            Stmt::While { condition, body, fuel } => {
                self.list(format!("while {} {}", fault(*fuel), expr(condition)), |out| out.block(body));
            }
            Stmt::For { register, from, to, by, body, fuel } => {
                let head = format!("for {} {} {} {by} {}", reg(*register), expr(from), expr(to), fault(*fuel));
                self.list(head, |out| out.block(body));
            }
            Stmt::Do(value) => self.line(format!("(do {})", expr(value))),
            Stmt::Check { condition, fault: site } => self.line(format!("(check {} {})", fault(*site), expr(condition))),
            Stmt::Fault(site) => self.line(format!("(fail {})", fault(*site))),
            Stmt::Discard => self.line("(discard)"),
            Stmt::Cover(property) => self.line(format!("(cover p{})", property.0)),
            Stmt::Return(None) => self.line("(return)"),
            Stmt::Return(Some(value)) => self.line(format!("(return {})", expr(value))),
            Stmt::Print(items) => self.line(list("print", items.iter().map(print_item))),
        }
    }
}

fn print_function(out: &mut Lines, number: usize, function: &Function) {
    let Function { name, parameters, result, no_result, body, at } = function;
    let parameter = |parameter: &Parameter| match parameter {
        Parameter::Value => "value".to_string(),
        Parameter::Reference { region: Region::State, bits } => format!("(state {bits})"),
        Parameter::Reference { region: Region::Frame, bits } => format!("(frame {bits})"),
    };
    out.list(format!("function f{number} {} {}", quote(name), at_text(*at)), |out| {
        out.line(list("parameters", parameters.iter().map(parameter)));
        out.line(format!("({} {})", if *result { "result" } else { "no-result" }, fault(*no_result)));
        print_body(out, "body", body);
    });
}

fn print_body(out: &mut Lines, word: &str, body: &Body) {
    out.list(format!("{word} (registers {}) (frame {})", body.registers, body.frame), |out| out.block(&body.block));
}

fn print_rule(out: &mut Lines, word: &str, rule: &Rule) {
    out.list(format!("{word} {} {}", quote(&rule.name), at_text(rule.at)), |out| {
        for RuleParameter { name, ty, from, by, count } in &rule.parameters {
            out.line(format!("(parameter {} {} (from {from}) (by {by}) (count {count}))", quote(name), type_id(*ty)));
        }
        out.line(format!("(guard (registers {}) {})", rule.guard.registers, expr(&rule.guard.value)));
        print_body(out, "command", &rule.command);
    });
}

fn print_property(out: &mut Lines, number: usize, property: &Property) {
    let kind = property.kind.word();
    let head = format!("property p{number} {} {kind} {} (registers {})", quote(&property.name), at_text(property.at), property.registers);
    out.list(head, |out| {
        for (at, conjunct) in &property.conjuncts {
            out.line(format!("(conjunct {} {})", at_text(*at), expr(conjunct)));
        }
    });
}

fn type_text(ty: &Type) -> String {
    match ty {
        Type::Scalar(Scalar { name, bits, low, count, undefinable, names, elements }) => {
            let mut parts = vec![format!("(bits {bits}) (low {low}) (count {count})")];
            parts.extend(name.iter().map(|name| format!("(name {})", quote(name))));
            parts.extend(undefinable.then(|| "(undefinable)".to_string()));
            match names {
                Names::Numbers => {}
                Names::Names(names) => parts.push(list("names", names.iter().map(|name| quote(name)))),
                Names::Real(format) => parts.push(format!("(real (digits {}) (exponent {}))", format.digits, format.exponent)),
            }
            parts.extend(elements.iter().map(|part| format!("(elements (set {}) (first {}) (count {}))", part.set, part.first, part.count)));
            list("scalar", parts)
        }
        Type::Record { fields, bits } => {
            let fields = fields.iter().map(|field| format!("(field {} {} (offset {}))", quote(&field.name), type_id(field.ty), field.offset));
            list("record", std::iter::once(format!("(bits {bits})")).chain(fields))
        }
        Type::Array { index, element, stride, count, bits } => {
            format!("(array {} {} (stride {stride}) (count {count}) (bits {bits}))", type_id(*index), type_id(*element))
        }
        Type::Bag { element, stride, capacity, element_at, slot_bits, bits } => format!(
            "(bag {} (stride {stride}) (capacity {capacity}) (element-at {element_at}) (slot-bits {slot_bits}) (bits {bits}))",
            type_id(*element)
        ),
    }
}

fn expr(value: &Expr) -> String {
    match value {
        Expr::Const(value) => value.to_string(),
        Expr::Reg(register) => reg(*register),
        Expr::Load { place: from, bits } => format!("(load {bits} {})", place(from)),
        Expr::Unary(op, operand) => format!("({} {})", word(&UnaryOp::ALL, *op), expr(operand)),
        Expr::Binary(BinaryOp::Real(op), left, right) => format!("({} {} {})", word(&RealOp::ALL, *op), expr(left), expr(right)),
        Expr::Binary(op, left, right) => format!("({} {} {})", word(&BinaryOp::ALL, *op), expr(left), expr(right)),
        Expr::Checked { op, left, right, fault: site } => {
            format!("({} {} {} {})", word(&CheckedOp::ALL, *op), fault(*site), expr(left), expr(right))
        }
        Expr::All(operands) => list("all", operands.iter().map(expr)),
        Expr::Any(operands) => list("any", operands.iter().map(expr)),
        Expr::Select(condition, then, otherwise) => format!("(select {} {} {})", expr(condition), expr(then), expr(otherwise)),
        Expr::Require { value, test: Test::NonZero, fault: site } => format!("(non-zero {} {})", fault(*site), expr(value)),
        Expr::Require { value, test: Test::Between(low, high), fault: site } => {
            format!("(between {} {low} {high} {})", fault(*site), expr(value))
        }
        Expr::Loop(fold) => {
            let (from, to, body) = (expr(&fold.from), expr(&fold.to), expr(&fold.body));
            format!("({} {} {from} {to} {} {} {body})", loop_word(fold.kind), reg(fold.register), fold.by, fault(fold.fuel))
        }
        Expr::Call { function, arguments, fuel } => {
            let argument = |argument: &Argument| match argument {
                Argument::Value(value) => expr(value),
                Argument::Place(at) => place(at),
            };
            let head = format!("call f{} {}", function.0, fault(*fuel));
            list(&head, arguments.iter().map(argument))
        }
    }
}

/// The name of a loop inside an expression.
pub(super) fn loop_word(kind: LoopKind) -> &'static str {
    match kind {
        LoopKind::All => "for-all",
        LoopKind::Any => "for-any",
        LoopKind::Sum => "for-sum",
    }
}

fn place(at: &Place) -> String {
    let root = match at.root {
        Root::State => "state".to_string(),
        Root::Frame => "frame".to_string(),
        Root::Reference(number) => format!("ref{number}"),
    };
    let indices = at.indices.iter().map(|index| format!("({} {} {} {})", expr(&index.value), index.stride, index.count, fault(index.fault)));
    list(&root, std::iter::once(at.offset.to_string()).chain(indices))
}

fn print_item(item: &PrintItem) -> String {
    match item {
        PrintItem::Text(text) => quote(text),
        PrintItem::Value(value, ty) => format!("(value {} {})", type_id(*ty), expr(value)),
        PrintItem::Place(at, ty) => format!("(place {} {})", type_id(*ty), place(at)),
    }
}

fn word<T: Copy + PartialEq>(all: &[(T, &'static str)], item: T) -> &'static str {
    all.iter().find(|(other, _)| *other == item).map_or("", |(_, word)| word)
}

fn list(head: &str, parts: impl IntoIterator<Item = String>) -> String {
    let mut text = format!("({head}");
    for part in parts {
        text.push(' ');
        text.push_str(&part);
    }
    text.push(')');
    text
}

fn reg(register: Reg) -> String {
    format!("r{}", register.0)
}

fn fault(site: FaultId) -> String {
    format!("!{}", site.0)
}

fn type_id(ty: TypeId) -> String {
    format!("t{}", ty.0)
}

fn at_text(at: At) -> String {
    format!("(at {} {})", at.line, at.column)
}
