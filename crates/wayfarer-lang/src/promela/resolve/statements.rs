//! Bodies of processes: statements become nodes, loops over ranges become plain ones.

use super::expressions::Created;
use super::{Resolved, Resolver};
use crate::promela::ast::{self, Binary, Expr, ExprKind, Label, Proctype, Reference, Sequence, Statement, Step};
use crate::promela::counted;
use crate::promela::model::{Act, ActKind, JumpLabel, Match, Node, Place, PrintPart, Tree, Value};
use crate::source::Span;
use std::collections::HashMap;
use std::sync::Arc;

impl Resolver<'_> {
    pub(super) fn body(&mut self, number: usize, proctype: &Proctype) -> Vec<Node> {
        let mut count = 0;
        for declaration in &proctype.parameters {
            for declarator in &declaration.variables {
                let _ = self.declare_parameter(declaration, declarator, count);
                count += 1;
            }
        }
        if let Some(provided) = &proctype.provided {
            self.model.types[number].provided = self.value(provided).ok();
        }
        self.at_start = true;
        let mut nodes = Vec::new();
        self.sequence(&proctype.body, &mut nodes);
        nodes
    }

    fn sequence(&mut self, steps: &Sequence, nodes: &mut Vec<Node>) {
        for step in steps {
            let _ = self.step(step, nodes);
            if !matches!(step.statement, Statement::Declaration(_) | Statement::Exclusive(_)) {
                self.at_start = false;
            }
        }
    }

    /// A sequence in a scope of its own.
    fn scoped(&mut self, steps: &Sequence) -> Vec<Node> {
        self.scopes.push(HashMap::new());
        self.at_start = false;
        let mut nodes = Vec::new();
        self.sequence(steps, &mut nodes);
        self.scopes.pop();
        if nodes.is_empty() {
            let act = Act { kind: ActKind::Skip, at: Default::default(), text: "skip".into() };
            nodes.push(Node { labels: Vec::new(), tree: Tree::Act(act), span: Span::default(), at: Default::default() });
        }
        nodes
    }

    fn options(&mut self, options: &[Sequence]) -> Vec<Vec<Node>> {
        // Options share the scope around them.
        options
            .iter()
            .map(|option| {
                self.at_start = false;
                let mut nodes = Vec::new();
                self.sequence(option, &mut nodes);
                nodes
            })
            .collect()
    }

    fn node(&self, labels: &[Label], tree: Tree, span: Span) -> Node {
        Node { labels: labels.iter().map(jump_label).collect(), tree, span, at: self.at(span) }
    }

    fn act(&self, kind: ActKind, span: Span, text: impl Into<Arc<str>>) -> Tree {
        Tree::Act(Act { kind, at: self.at(span), text: text.into() })
    }

    fn step(&mut self, step: &Step, nodes: &mut Vec<Node>) -> Resolved<()> {
        let span = step.span;
        let tree = match &step.statement {
            Statement::Declaration(declaration) => return self.declare(declaration, nodes),
            Statement::Exclusive(channels) => {
                for channel in channels {
                    self.channel_place(channel)?;
                }
                if self.said.insert("exclusive") {
                    self.warn(span, "`xr` and `xs` are read and ignored");
                }
                return Ok(());
            }
            Statement::If(options) => Tree::If(self.options(options)),
            Statement::Do(options) => Tree::Do(self.options(options)),
            Statement::Atomic(steps) => Tree::Atomic(self.scoped(steps)),
            Statement::Block(steps) => Tree::Block(self.scoped(steps)),
            Statement::Dstep(steps) => {
                let outer = std::mem::replace(&mut self.in_dstep, true);
                let inner = self.scoped(steps);
                self.in_dstep = outer;
                self.check_jumps(&inner);
                let text = self.text(span);
                Tree::Indivisible(Arc::new(inner), text)
            }
            Statement::Unless { body, escape } => {
                if self.in_dstep {
                    return Err(self.error(span, "`unless` cannot stand in a `d_step`"));
                }
                let body = self.part(body);
                let escape = self.part(escape);
                Tree::Unless(body, escape)
            }
            Statement::Break => Tree::Break,
            Statement::Goto(label) => Tree::Goto(jump_label(label)),
            Statement::For { variable, from, to, body } => {
                let tree = self.range_loop(variable, from, to, Some(body), span, nodes)?;
                nodes.push(self.node(&step.labels, tree, span));
                return Ok(());
            }
            Statement::Select { variable, from, to } if literal(from).zip(literal(to)).is_some_and(|(from, to)| from <= to && to - from <= 32) => {
                let place = self.target(variable)?;
                let (Some(from), Some(to)) = (literal(from), literal(to)) else { return Ok(()) };
                // SPIN makes a selection of few numbers a choice between assignments.
                let options = (from..=to).map(|value| {
                    let text = format!("{} = {value}", self.files.words(variable.span));
                    let act = self.act(ActKind::Assign(place.clone(), Value::Constant(value)), span, text);
                    vec![self.node(&[], act, span)]
                });
                Tree::If(options.collect())
            }
            Statement::Select { variable, from, to } => {
                let tree = self.range_loop(variable, from, to, None, span, nodes)?;
                nodes.push(self.node(&step.labels, tree, span));
                return Ok(());
            }
            Statement::ForIn { variable, within, body } => {
                let tree = self.for_in(variable, within, body, span, nodes)?;
                nodes.push(self.node(&step.labels, tree, span));
                return Ok(());
            }
            basic => {
                let kind = self.basic(basic, span)?;
                let text = self.text(span);
                self.act(kind, span, text)
            }
        };
        nodes.push(self.node(&step.labels, tree, span));
        Ok(())
    }

    /// Checks that all jumps of a `d_step` stay in it.
    fn check_jumps(&mut self, nodes: &[Node]) {
        let (mut labels, mut jumps) = (Vec::new(), Vec::new());
        for_each(nodes, &mut |node| {
            labels.extend(node.labels.iter().map(|label| label.name.clone()));
            if let Tree::Goto(label) = &node.tree {
                jumps.push((label.name.clone(), node.span));
            }
        });
        for (name, span) in jumps.into_iter().filter(|(name, _)| !labels.contains(name)) {
            self.error(span, format!("`goto {name}` cannot leave its `d_step`"));
        }
    }

    /// One side of `unless`: a block stands for its statements.
    fn part(&mut self, step: &Step) -> Vec<Node> {
        if let (Statement::Block(steps), true) = (&step.statement, step.labels.is_empty()) {
            return self.scoped(steps);
        }
        let mut nodes = Vec::new();
        let _ = self.step(step, &mut nodes);
        nodes
    }

    /// A statement as written, on one line.
    fn text(&self, span: Span) -> Arc<str> {
        self.files.words(span).into()
    }

    fn basic(&mut self, statement: &Statement, span: Span) -> Resolved<ActKind> {
        Ok(match statement {
            Statement::Expression(expr) => {
                if let ExprKind::Run { name, arguments } = &*expr.kind {
                    let (ty, arguments) = self.created(name, arguments)?;
                    return Ok(ActKind::Run { ty, arguments, at: self.at(span), result: None });
                }
                match self.value(expr)? {
                    Value::Constant(value) if value != 0 => ActKind::Skip,
                    value => ActKind::Condition(value),
                }
            }
            Statement::Assign { to, value } => {
                if let [(name, None)] = &to.parts[..]
                    && &*name.text == "_"
                    && self.lookup("_").is_none()
                {
                    // A write-only variable: the value is computed and forgotten.
                    let (_, created) = self.assigned(value)?;
                    let run = |(ty, arguments)| ActKind::Run { ty, arguments, at: self.at(span), result: None };
                    return Ok(created.map_or(ActKind::Skip, run));
                }
                let (value, created) = self.assigned(value)?;
                let place = self.target(to)?;
                match created {
                    Some((ty, arguments)) => ActKind::Run { ty, arguments, at: self.at(span), result: Some(Box::new((place, value))) },
                    None => ActKind::Assign(place, value),
                }
            }
            Statement::Send { channel, sorted, arguments } => {
                let values = self.message(arguments)?;
                self.check_arity(channel, values.len())?;
                ActKind::Send { channel: self.channel_place(channel)?, sorted: *sorted, values }
            }
            Statement::Receive { channel, random, keep, arguments } => {
                let fields = self.patterns(arguments, true)?;
                self.check_arity(channel, fields.len())?;
                ActKind::Receive { channel: self.channel_place(channel)?, random: *random, keep: *keep, fields }
            }
            Statement::Assert(expr) => ActKind::Assert(self.value(expr)?),
            Statement::Print { format, arguments } => ActKind::Print(self.print(format, arguments, span)?),
            Statement::PrintName(expr) => {
                let value = self.value(expr)?;
                let kind = self.kind_of(&value);
                ActKind::Print(vec![PrintPart::Name(value, kind)])
            }
            Statement::Else => ActKind::Else,
            _ => return Err(self.error(span, "this statement cannot stand here")),
        })
    }

    /// The type of the process that a `run` creates, and its arguments.
    pub(super) fn created(&mut self, name: &ast::Name, arguments: &[Expr]) -> Resolved<Created> {
        let ty = self.process_type(name)?;
        if self.in_dstep {
            return Err(self.error(name.span, "`run` cannot stand in a `d_step`"));
        }
        let wanted = self.model.types[ty].parameters;
        if arguments.len() != wanted {
            return Err(self.error(name.span, format!("`{}` takes {}, not {}", name.text, counted(wanted, "argument"), arguments.len())));
        }
        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.value(argument)?);
        }
        Ok((ty, values))
    }

    fn print(&mut self, format: &str, arguments: &[Expr], span: Span) -> Resolved<Vec<PrintPart>> {
        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.value(argument)?);
        }
        let mut values = values.into_iter();
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut chars = format.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => match chars.next() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some(other) => text.push(other),
                    None => {}
                },
                '%' => {
                    let conversion = chars.next();
                    if conversion == Some('%') {
                        text.push('%');
                        continue;
                    }
                    let Some(value) = values.next() else {
                        self.warn(span, "the format asks for more values than there are");
                        continue;
                    };
                    parts.push(PrintPart::Text(std::mem::take(&mut text)));
                    parts.push(match conversion {
                        Some('c') => PrintPart::Character(value),
                        Some('e') => {
                            let kind = self.kind_of(&value);
                            PrintPart::Name(value, kind)
                        }
                        Some('x') => PrintPart::Hexadecimal(value),
                        Some('o') => PrintPart::Octal(value),
                        Some('u') => PrintPart::Unsigned(value),
                        _ => PrintPart::Number(value),
                    });
                }
                other => text.push(other),
            }
        }
        parts.push(PrintPart::Text(text));
        Ok(parts)
    }

    /// `for (i : a .. b)` with a body, or `select (i : a .. b)` without one.
    fn range_loop(
        &mut self,
        variable: &Reference,
        from: &Expr,
        to: &Expr,
        body: Option<&Sequence>,
        span: Span,
        nodes: &mut Vec<Node>,
    ) -> Resolved<Tree> {
        let place = self.target(variable)?;
        let (from, to) = (self.value(from)?, self.value(to)?);
        self.counted(place, from, to, body, Vec::new(), span, nodes)
    }

    #[allow(clippy::too_many_arguments)]
    fn counted(
        &mut self,
        place: Place,
        from: Value,
        to: Value,
        body: Option<&Sequence>,
        first: Vec<Node>,
        span: Span,
        nodes: &mut Vec<Node>,
    ) -> Resolved<Tree> {
        let head = self.head(span);
        let assign = self.act(ActKind::Assign(place.clone(), from), span, format!("{head}: first"));
        nodes.push(self.node(&[], assign, span));
        let op = if body.is_some() && first.is_empty() { Binary::LessOrEqual } else { Binary::Less };
        self.model.leaves[place.leaf.0 as usize].read = true;
        let test = self.compare(op, Value::Load(place.clone()), to, span);
        let test = self.act(ActKind::Condition(test), span, format!("{head}: goes on"));
        let mut round = vec![self.node(&[], test, span)];
        round.extend(first);
        if let Some(body) = body {
            self.scopes.push(HashMap::new());
            self.at_start = false;
            self.sequence(body, &mut round);
            self.scopes.pop();
        }
        let next = Value::Binary(Binary::Add, Box::new(Value::Load(place.clone())), Box::new(Value::Constant(1)), self.at(span));
        let next = self.act(ActKind::Assign(place, next), span, format!("{head}: next"));
        round.push(self.node(&[], next, span));
        let mut stop = Vec::new();
        if body.is_some() {
            let otherwise = self.act(ActKind::Else, span, "else");
            stop.push(self.node(&[], otherwise, span));
        }
        stop.push(self.node(&[], Tree::Break, span));
        Ok(Tree::Do(vec![stop, round]))
    }

    /// `for (i in a)`: over the indices of an array, or the messages of a channel.
    fn for_in(&mut self, variable: &Reference, within: &Reference, body: &Sequence, span: Span, nodes: &mut Vec<Node>) -> Resolved<Tree> {
        let last = Reference { parts: within.parts.clone(), span: within.span };
        let zeroed = Reference {
            parts: last
                .parts
                .iter()
                .enumerate()
                .map(|(number, (name, index))| {
                    let is_last = number + 1 == last.parts.len();
                    let zero = Expr { kind: Box::new(ExprKind::Number(0)), span: name.span };
                    (name.clone(), if is_last { index.clone().or(Some(zero)) } else { index.clone() })
                })
                .collect(),
            span,
        };
        let before = self.errors;
        let said = self.diagnostics.len();
        let array = self.variable(&zeroed).and_then(|variable| self.places_in(&variable, &zeroed));
        if let Ok(Some(array)) = array.map(|places| places.into_iter().next())
            && self.place(variable).is_ok()
        {
            // The elements may be records, whose fields may be arrays again.
            let outer = last.parts.iter().rev().skip(1).filter(|(_, index)| index.is_some()).count();
            if let Some(count) = self.model.leaf(array.leaf).dimensions.get(outer).copied() {
                let place = self.target(variable)?;
                return self.counted(place, Value::Constant(0), Value::Constant(i64::from(count) - 1), Some(body), Vec::new(), span, nodes);
            }
        }
        self.errors = before;
        self.diagnostics.truncate(said);
        // The messages of a channel are taken out and put in again, one after the other.
        let channel = self.channel_place(within)?;
        let fields = self.patterns(&[ast::Pattern::Variable(variable.clone())], true)?;
        for field in &fields {
            if let Match::Store(place) = field {
                self.model.leaves[place.leaf.0 as usize].read = true;
            }
        }
        let values: Vec<Value> = fields
            .iter()
            .map(|field| match field {
                Match::Store(place) => Value::Load(place.clone()),
                Match::Equal(value) => value.clone(),
                Match::Any => Value::Constant(0),
            })
            .collect();
        let declaration = ast::Declaration {
            hidden: false,
            ty: ast::TypeName::Byte,
            variables: vec![ast::Declarator { name: ast::Name::made("_turn", span), width: None, count: None, initial: None }],
        };
        self.scopes.push(HashMap::new());
        let mut unused = Vec::new();
        let declared = self.declare(&declaration, &mut unused);
        let counter = Reference { parts: vec![(ast::Name::made("_turn", span), None)], span };
        let place = self.target(&counter);
        self.scopes.pop();
        declared?;
        let place = place?;
        let text = self.text(span);
        let take = self.act(ActKind::Receive { channel: channel.clone(), random: false, keep: false, fields }, span, text.clone());
        let put = self.act(ActKind::Send { channel: channel.clone(), sorted: false, values }, span, text);
        let first = vec![self.node(&[], take, span), self.node(&[], put, span)];
        self.counted(place, Value::Constant(0), Value::Len(channel), Some(body), first, span, nodes)
    }

    /// How a loop is named in steps: its head.
    fn head(&self, span: Span) -> String {
        let text = self.files.words(span);
        text.split('{').next().unwrap_or(&text).trim().to_string()
    }
}

/// Visits all statements of a sequence.
fn for_each(nodes: &[Node], visit: &mut dyn FnMut(&Node)) {
    for node in nodes {
        visit(node);
        match &node.tree {
            Tree::If(options) | Tree::Do(options) => options.iter().for_each(|option| for_each(option, visit)),
            Tree::Atomic(inner) | Tree::Block(inner) => for_each(inner, visit),
            Tree::Indivisible(inner, _) => for_each(inner, visit),
            Tree::Unless(body, escape) => {
                for_each(body, visit);
                for_each(escape, visit);
            }
            Tree::Act(_) | Tree::Break | Tree::Goto(_) => {}
        }
    }
}

/// A number as written.
fn literal(expr: &Expr) -> Option<i64> {
    match &*expr.kind {
        ExprKind::Number(value) if *value >= 0 => Some(*value),
        _ => None,
    }
}

fn jump_label(label: &Label) -> JumpLabel {
    JumpLabel { name: label.name.text.clone(), expansion: label.expansion, span: label.name.span }
}
