//! Reads the body of a loop over a scalarset: the parts of variables that its rounds read and write, and the values
//! that differ from round to round.

use super::super::Elaborator;
use crate::murphi::ast::{BinaryOp, ChainOp, Decl, Domain, Expr, ExprKind, PutArgument, Quantifier, Stmt, StmtKind};
use crate::source::Span;
use std::collections::HashSet;

/// The depth to which nested calls are followed.
const DEEPEST: u32 = 20;

/// Additions to a bag, and those before which the same block asserts that there is room.
pub(super) const ADD: &str = "add";
pub(super) const ADD_IF_ROOM: &str = "add if there is room";

/// The meaning of a name inside a loop.
#[derive(Clone, Debug)]
pub(super) enum Meaning {
    /// The loop's own variable.
    Element,
    /// A value, and whether it may differ from round to round.
    Value(bool),
    /// Another name for a part of a variable.
    Part(Path),
    /// A variable that is local to each call.
    Own,
}

/// A part of a variable.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub(super) root: String,
    pub(super) steps: Vec<Step>,
    /// Whether it may be a different part in another round.
    varies: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    Field(String),
    /// The element of the loop's variable.
    Own,
    Index,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Act {
    Read,
    /// A write of a value: its source text if it is the same in all rounds, `None` if it may differ.
    Write(Option<String>),
    /// A change that commutes with others of its kind.
    Change(&'static str),
}

#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) path: Path,
    pub(super) act: Act,
    pub(super) span: Span,
    /// The branch it is in, if at most one round takes it.
    pub(super) single: Option<u32>,
    pub(super) conditional: bool,
}

/// The accesses found in the body of one loop.
#[derive(Default)]
pub(super) struct Found {
    pub(super) accesses: Vec<Access>,
    /// The values that `return` gives inside the loop: the text of the value if it is the same in all rounds.
    pub(super) returns: Vec<(Option<String>, Option<u32>, Span)>,
}

pub(super) struct Reader<'e, 'a> {
    elaborator: &'e Elaborator<'a>,
    pub(super) names: Vec<(String, Meaning)>,
    /// Variables that some round writes.
    written: HashSet<String>,
    pub(super) found: Found,
    pub(super) single: Option<u32>,
    pub(super) conditional: bool,
    /// Bags that the block around asserts to have room before it adds to them.
    roomy: Vec<String>,
    calls: u32,
    branches: u32,
}

impl Path {
    pub(super) fn is_own(&self) -> bool {
        self.steps.contains(&Step::Own)
    }
}

impl<'e, 'a> Reader<'e, 'a> {
    pub(super) fn new(elaborator: &'e Elaborator<'a>, written: HashSet<String>) -> Self {
        let found = Found::default();
        Reader { elaborator, names: Vec::new(), written, found, single: None, conditional: false, roomy: Vec::new(), calls: 0, branches: 0 }
    }

    pub(super) fn statements(&mut self, statements: &[Stmt]) {
        let before = self.roomy.len();
        for (place, statement) in statements.iter().enumerate() {
            match &statement.kind {
                StmtKind::Assert { condition, .. } => self.assertion(condition, &statements[place + 1..]),
                _ => self.statement(statement),
            }
        }
        self.roomy.truncate(before);
    }

    /// Reads an assertion with the statements after it. Additions to a bag commute if each asserts first that there is room; other assertions may fail in some
    /// orders only.
    fn assertion(&mut self, condition: &Expr, after: &[Stmt]) {
        if let Some((bag, limit)) = bag_with_room(condition) {
            let text = self.text(bag);
            let added = |statement: &&Stmt| matches!(&statement.kind, StmtKind::BagAdd { bag: to, .. } if self.text(to) == text);
            if after.iter().filter(added).count() == 1 && !self.value(limit) {
                self.roomy.push(text);
                return;
            }
        }
        self.value(condition);
    }

    fn statement(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Assign { to, value } => self.assign(to, value),
            StmtKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.value(condition);
                    let single = self.only_one_round(condition);
                    self.branch(body, single);
                }
                self.branch(otherwise.as_deref().unwrap_or_default(), false);
            }
            StmtKind::Switch { subject, cases, otherwise } => {
                self.value(subject);
                for (matches, body) in cases {
                    matches.iter().for_each(|case| self.read(case));
                    self.branch(body, false);
                }
                self.branch(otherwise.as_deref().unwrap_or_default(), false);
            }
            StmtKind::For { quantifiers, body } => {
                let before = self.names.len();
                quantifiers.iter().for_each(|quantifier| self.bind(quantifier));
                self.branch(body, false);
                self.names.truncate(before);
            }
            StmtKind::While { condition, body } => {
                self.value(condition);
                self.branch(body, false);
            }
            StmtKind::Alias { aliases, body } => {
                let before = self.names.len();
                for alias in aliases {
                    let meaning = self.meaning(&alias.target);
                    self.names.push((alias.name.text.clone(), meaning));
                }
                self.statements(body);
                self.names.truncate(before);
            }
            StmtKind::Call { function, arguments } => {
                self.call(&function.text, arguments);
            }
            StmtKind::Clear(target) => self.write(target, Act::Write(Some("clear".to_string()))),
            StmtKind::Undefine(target) => self.write(target, Act::Write(Some("undefine".to_string()))),
            StmtKind::Return(value) => {
                let varies = value.as_ref().is_some_and(|value| self.value(value));
                if self.calls == 0 {
                    let text = value.as_ref().map_or(String::new(), |value| self.text(value));
                    self.found.returns.push(((!varies).then_some(text), self.single, statement.span));
                }
            }
            StmtKind::Assert { condition, .. } | StmtKind::Assume { condition, .. } | StmtKind::Cover { condition, .. } => {
                self.value(condition);
            }
            StmtKind::Put(PutArgument::Value(_) | PutArgument::Text(_)) | StmtKind::Error(_) => {}
            StmtKind::BagAdd { element, bag } => {
                self.value(element);
                let add = Act::Change(if self.roomy.contains(&self.text(bag)) { ADD_IF_ROOM } else { ADD });
                match self.entry(bag).filter(|_| self.is_element(element)) {
                    Some(path) => self.note(path, add, bag.span),
                    None => self.write(bag, add),
                }
            }
            StmtKind::BagRemove { index, bag } => {
                self.value(index);
                self.write(bag, Act::Change("remove"));
            }
            StmtKind::BagRemoveIf { name, bag, condition } if self.picks_element(&name.text, bag, condition) => match self.entry(bag) {
                Some(path) => self.note(path, Act::Change("leave"), bag.span),
                None => self.write(bag, Act::Change("remove")),
            },
            StmtKind::BagRemoveIf { name, bag, condition } => {
                self.names.push((name.text.clone(), Meaning::Value(true)));
                let before = self.found.accesses.len();
                self.value(condition);
                self.names.pop();
                // Removals from one bag look at its entries, and commute all the same.
                if let Meaning::Part(own) = self.meaning(bag) {
                    let read = self.found.accesses.split_off(before);
                    self.found.accesses.extend(read.into_iter().filter(|access| !super::overlap(&access.path, &own)));
                }
                self.write(bag, Act::Change("remove"));
            }
        }
    }

    fn branch(&mut self, body: &[Stmt], single: bool) {
        let before = (self.single, self.conditional);
        self.conditional = true;
        if single && self.single.is_none() {
            self.branches += 1;
            self.single = Some(self.branches);
        }
        self.statements(body);
        (self.single, self.conditional) = before;
    }

    /// Whether a condition can be true in only one round: it compares the loop's variable with something that is the
    /// same in all rounds.
    fn only_one_round(&mut self, condition: &Expr) -> bool {
        match &condition.kind {
            ExprKind::Parenthesised(inner) => self.only_one_round(inner),
            ExprKind::Chain { op: ChainOp::And, operands } => operands.iter().any(|operand| self.only_one_round(operand)),
            ExprKind::Binary { op: BinaryOp::Equal, left, right } => {
                [(left, right), (right, left)].into_iter().any(|(one, other)| matches!(self.meaning(one), Meaning::Element) && !self.value(other))
            }
            _ => false,
        }
    }

    fn bind(&mut self, quantifier: &Quantifier) {
        if let Domain::Range { from, to, by } = &quantifier.domain {
            [Some(from), Some(to), by.as_ref()].into_iter().flatten().for_each(|bound| self.read(bound));
        }
        self.names.push((quantifier.name.text.clone(), Meaning::Value(false)));
    }

    fn assign(&mut self, to: &Expr, value: &Expr) {
        let target = self.text(to);
        let change = match &plain(value).kind {
            ExprKind::Chain { op, operands } => {
                let at = operands.iter().position(|operand| self.text(operand) == target);
                at.map(|at| {
                    let rest = operands.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, operand)| operand).collect();
                    let word = match op {
                        ChainOp::Add => "sum",
                        ChainOp::Multiply => "product",
                        ChainOp::And => "and",
                        ChainOp::Or => "or",
                    };
                    (word, rest)
                })
            }
            ExprKind::Binary { op: BinaryOp::Subtract, left, right } if self.text(left) == target => Some(("sum", vec![&**right])),
            _ => None,
        };
        if let Some((word, rest)) = change {
            let rest: Vec<&Expr> = rest;
            rest.into_iter().for_each(|operand| self.read(operand));
            return self.write(to, Act::Change(word));
        }
        let varies = self.value(value);
        let text = self.text(value);
        self.write(to, Act::Write((!varies).then_some(text)));
    }

    fn write(&mut self, target: &Expr, act: Act) {
        if let Meaning::Part(path) = self.meaning(target) {
            self.note(path, act, target.span);
        }
    }

    fn note(&mut self, path: Path, act: Act, span: Span) {
        self.found.accesses.push(Access { path, act, span, single: self.single, conditional: self.conditional });
    }

    fn read(&mut self, expr: &Expr) {
        self.value(expr);
    }

    /// Reads an expression. Returns whether its value may differ from round to round.
    fn value(&mut self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Name(_) | ExprKind::Field { .. } | ExprKind::Index { .. } => match self.meaning(expr) {
                Meaning::Element | Meaning::Own => true,
                Meaning::Value(varies) => varies,
                Meaning::Part(path) => {
                    let varies = path.varies || path.is_own() || self.written.contains(&path.root);
                    self.note(path, Act::Read, expr.span);
                    varies
                }
            },
            ExprKind::Call { function, arguments } => self.call(&function.text, arguments),
            ExprKind::Unary { operand, .. } | ExprKind::Parenthesised(operand) | ExprKind::IsUndefined(operand) => self.value(operand),
            ExprKind::IsMember { value, .. } => self.value(value),
            ExprKind::Binary { left, right, .. } => self.value(left) | self.value(right),
            ExprKind::Chain { operands, .. } => operands.iter().fold(false, |varies, operand| self.value(operand) | varies),
            ExprKind::Conditional { condition, then, otherwise } => self.value(condition) | self.value(then) | self.value(otherwise),
            ExprKind::Quantified { quantifiers, body, .. } => {
                let before = self.names.len();
                quantifiers.iter().for_each(|quantifier| self.bind(quantifier));
                let varies = self.value(body);
                self.names.truncate(before);
                varies
            }
            ExprKind::BagCount { name, bag, condition } if self.picks_element(&name.text, bag, condition) => {
                match self.entry(bag) {
                    Some(path) => self.note(path, Act::Read, expr.span),
                    None => self.read(bag),
                }
                true
            }
            ExprKind::BagCount { name, bag, condition } => {
                let varies = self.value(bag);
                self.names.push((name.text.clone(), Meaning::Value(false)));
                let varies = self.value(condition) | varies;
                self.names.pop();
                varies
            }
            ExprKind::Number(_) | ExprKind::HugeNumber(_) | ExprKind::Real(_) => false,
        }
    }

    /// The entries of a bag that are equal to the loop's element; `None` if the bag itself belongs to the element.
    fn entry(&mut self, bag: &Expr) -> Option<Path> {
        match self.meaning(bag) {
            Meaning::Part(mut path) if !path.is_own() => {
                path.steps.push(Step::Own);
                Some(path)
            }
            _ => None,
        }
    }

    /// Whether a condition on the slot `slot` of a bag is that the slot holds the loop's element.
    fn picks_element(&self, slot: &str, bag: &Expr, condition: &Expr) -> bool {
        let is_slot = |expr: &Expr| match &plain(expr).kind {
            ExprKind::Index { base, index } => {
                self.text(base) == self.text(bag) && matches!(&plain(index).kind, ExprKind::Name(name) if name == slot)
            }
            _ => false,
        };
        let is_element = |expr: &Expr| self.is_element(expr) && !matches!(&plain(expr).kind, ExprKind::Name(name) if name == slot);
        match &plain(condition).kind {
            ExprKind::Binary { op: BinaryOp::Equal, left, right } => is_slot(left) && is_element(right) || is_element(left) && is_slot(right),
            _ => false,
        }
    }

    /// Whether an expression is the loop's variable.
    fn is_element(&self, expr: &Expr) -> bool {
        let ExprKind::Name(name) = &plain(expr).kind else { return false };
        matches!(self.names.iter().rev().find(|(known, _)| known == name), Some((_, Meaning::Element)))
    }

    /// The meaning of a name or a part of one; anything else is a value.
    pub(super) fn meaning(&mut self, expr: &Expr) -> Meaning {
        match &expr.kind {
            ExprKind::Name(name) => match self.names.iter().rev().find(|(known, _)| known == name) {
                Some((_, meaning)) => meaning.clone(),
                None => Meaning::Part(Path { root: name.clone(), steps: Vec::new(), varies: false }),
            },
            ExprKind::Parenthesised(inner) => self.meaning(inner),
            ExprKind::Field { base, field } => match self.meaning(base) {
                Meaning::Part(mut path) => {
                    path.steps.push(Step::Field(field.text.clone()));
                    Meaning::Part(path)
                }
                other => other,
            },
            ExprKind::Index { base, index } => {
                let own = matches!(self.meaning(index), Meaning::Element);
                let varies = self.value(index);
                match self.meaning(base) {
                    Meaning::Part(mut path) => {
                        path.steps.push(if own { Step::Own } else { Step::Index });
                        path.varies |= varies && !own;
                        Meaning::Part(path)
                    }
                    Meaning::Value(known) => Meaning::Value(known | varies),
                    other => other,
                }
            }
            _ => Meaning::Value(self.value(expr)),
        }
    }

    /// Follows a call. Returns whether its result may differ from round to round.
    fn call(&mut self, name: &str, arguments: &[Expr]) -> bool {
        let Some(declared) = self.elaborator.functions.iter().find(|declared| declared.ast.name.text == name) else { return true };
        if self.calls == DEEPEST {
            return true;
        }
        let function = declared.ast;
        let mut own = Vec::new();
        let mut varies = false;
        let parameters = function.params.iter().flat_map(|group| group.names.iter().map(move |name| (name, group.by_reference)));
        for ((parameter, by_reference), argument) in parameters.zip(arguments) {
            let meaning = match self.meaning(argument) {
                Meaning::Element => {
                    varies = true;
                    Meaning::Element
                }
                Meaning::Part(path) if by_reference => Meaning::Part(path),
                _ => {
                    let differs = self.value(argument);
                    varies |= differs;
                    Meaning::Value(differs)
                }
            };
            own.push((parameter.text.clone(), meaning));
        }
        for declaration in &function.decls {
            if let Decl::Var { names, .. } = declaration {
                own.extend(names.iter().map(|name| (name.text.clone(), Meaning::Own)));
            }
        }
        // The function's reads affect its result too; only those that some round writes matter.
        let (names, calls) = (std::mem::replace(&mut self.names, own), self.calls);
        let before = self.found.accesses.len();
        self.calls += 1;
        self.statements(&function.body);
        self.calls = calls;
        self.names = names;
        varies
            | self.found.accesses[before..]
                .iter()
                .any(|access| access.path.varies || access.path.is_own() || self.written.contains(&access.path.root))
    }

    /// The source text of an expression, without its spaces.
    fn text(&self, expr: &Expr) -> String {
        self.elaborator.source.slice(expr.span).split_whitespace().collect()
    }
}

/// The bag that a condition says to have room, and the limit: `multisetcount(i: bag, true) < limit`.
fn bag_with_room(condition: &Expr) -> Option<(&Expr, &Expr)> {
    let ExprKind::Binary { op: BinaryOp::Less, left, right } = &plain(condition).kind else { return None };
    let ExprKind::BagCount { bag, condition, .. } = &plain(left).kind else { return None };
    let all = matches!(&plain(condition).kind, ExprKind::Name(name) if name == "true");
    all.then_some((bag, right))
}

/// An expression without the parentheses around it.
fn plain(mut expr: &Expr) -> &Expr {
    while let ExprKind::Parenthesised(inner) = &expr.kind {
        expr = inner;
    }
    expr
}
