//! Declarations: variables become leaves, their first values become part of them or statements of their own.

use super::{MOST_CELLS, Resolved, Resolver, Shape, Symbol, Variable};
use crate::promela::ast::{Declaration, Declarator, Expr, ExprKind, Initial, Name, TypeName};
use crate::promela::model::{Act, ActKind, ChannelType, Leaf, LeafId, Node, Place, Scalar, Start, Tree, Value};
use crate::source::Span;
use std::sync::Arc;

/// Records inside records.
const DEEPEST: usize = 20;

impl Resolver<'_> {
    /// Declares variables in the innermost scope. If they stand after the first statement, their first values become statements.
    pub(super) fn declare(&mut self, declaration: &Declaration, nodes: &mut Vec<Node>) -> Resolved<()> {
        for declarator in &declaration.variables {
            self.declare_one(declaration, declarator, nodes)?;
        }
        Ok(())
    }

    /// Declares a parameter.
    pub(super) fn declare_parameter(&mut self, declaration: &Declaration, declarator: &Declarator, number: usize) -> Resolved<()> {
        if declarator.initial.is_some() || declarator.count.is_some() {
            return Err(self.error(declarator.name.span, "a parameter is a single variable without a first value"));
        }
        if matches!(declaration.ty, TypeName::User(_)) {
            return Err(self.error(declarator.name.span, "a parameter cannot be a record"));
        }
        let ty = self.scalar(&declaration.ty, declarator)?;
        let leaf = self.leaf(declarator.name.text.to_string(), ty, Vec::new(), false, declarator.name.span)?;
        self.model.leaves[leaf.0 as usize].initial = Start::Parameter(number);
        self.name(&declarator.name, Variable { count: None, shape: Shape::Scalar(leaf) })
    }

    fn declare_one(&mut self, declaration: &Declaration, declarator: &Declarator, nodes: &mut Vec<Node>) -> Resolved<()> {
        let span = declarator.name.span;
        let count = match &declarator.count {
            Some(count) => {
                let value = self.constant_of(count)?;
                if value < 1 || value > MOST_CELLS as i64 {
                    return Err(self.error(count.span, format!("an array cannot have {value} elements")));
                }
                Some(value as u32)
            }
            None => None,
        };
        // The first value is resolved before the name is known: in `byte x = x` the right one is another.
        let initial = match &declarator.initial {
            None => Start::Zero,
            Some(Initial::Value(value)) => Start::Value(self.value(value)?),
            Some(Initial::List(values)) => {
                let mut list = Vec::new();
                for value in values {
                    list.push(self.value(value)?);
                }
                if count.is_none() || list.len() > count.unwrap_or(0) as usize {
                    return Err(self.error(span, "a list of first values needs an array that is large enough"));
                }
                Start::List(list)
            }
            Some(Initial::Channel { capacity, fields, span }) => {
                Start::Channel(self.channel(declarator, capacity, fields, count.unwrap_or(1), *span)?)
            }
        };
        if let TypeName::User(name) = &declaration.ty {
            if !matches!(initial, Start::Zero) {
                self.warn(span, "a record has no first value: this one is ignored, as by SPIN");
            }
            let dimensions: Vec<u32> = count.into_iter().collect();
            let shape = self.record(declarator.name.text.to_string(), name, dimensions, declaration.hidden, 0)?;
            return self.name(&declarator.name, Variable { count, shape });
        }
        let ty = self.scalar(&declaration.ty, declarator)?;
        if matches!(initial, Start::Channel(_)) != (ty == Scalar::Chan) && !matches!(initial, Start::Zero | Start::Value(_)) {
            return Err(self.error(span, "only a `chan` can have a channel"));
        }
        let leaf = self.leaf(declarator.name.text.to_string(), ty, count.into_iter().collect(), declaration.hidden, span)?;
        if self.owner.is_some() && !self.at_start && !matches!(initial, Start::Channel(_)) {
            self.assign_later(leaf, &initial, span, nodes);
            // An array keeps its first values and gets the first one once more, as in SPIN.
            if count.is_some() {
                self.model.leaves[leaf.0 as usize].initial = initial;
            }
        } else {
            self.model.leaves[leaf.0 as usize].initial = initial;
        }
        self.name(&declarator.name, Variable { count, shape: Shape::Scalar(leaf) })
    }

    /// A first value as a statement.
    fn assign_later(&mut self, leaf: LeafId, initial: &Start, span: Span, nodes: &mut Vec<Node>) {
        let value = match initial {
            Start::Value(value) => value.clone(),
            Start::List(values) => values.first().cloned().unwrap_or(Value::Constant(0)),
            _ => Value::Constant(0),
        };
        let at = self.at(span);
        let entry = &mut self.model.leaves[leaf.0 as usize];
        entry.written = true;
        let indices: Vec<Value> = entry.dimensions.iter().map(|_| Value::Constant(0)).collect();
        let text: Arc<str> = format!("{}{} = …", entry.name, "[0]".repeat(indices.len())).into();
        let act = Act { kind: ActKind::Assign(Place { leaf, indices, at }, value), at, text };
        nodes.push(Node { labels: Vec::new(), tree: Tree::Act(act), span, at });
    }

    fn channel(&mut self, declarator: &Declarator, capacity: &Expr, fields: &[TypeName], count: u32, span: Span) -> Resolved<usize> {
        let value = self.constant_of(capacity)?;
        if !(0..=255).contains(&value) {
            return Err(self.error(capacity.span, format!("a channel cannot hold {value} messages: at most 255")));
        }
        let mut flat = Vec::new();
        for field in fields {
            self.message_field(field, &mut flat, span, 0)?;
        }
        let name = declarator.name.text.to_string();
        self.model.channels.push(ChannelType { name, capacity: value as u32, fields: flat, count, owner: self.owner });
        Ok(self.model.channels.len() - 1)
    }

    /// The scalars of a message's field.
    fn message_field(&mut self, ty: &TypeName, out: &mut Vec<Scalar>, span: Span, depth: usize) -> Resolved<()> {
        let TypeName::User(name) = ty else {
            let made = Declarator { name: Name::made("field", span), width: None, count: None, initial: None };
            let scalar = self.scalar(ty, &made)?;
            out.push(scalar);
            return Ok(());
        };
        let Some(fields) = self.typedefs.get(&name.text).cloned() else { return Err(self.error(name.span, format!("unknown type `{}`", name.text))) };
        if depth > DEEPEST || out.len() > 1000 {
            return Err(self.error(name.span, "records are nested too deeply"));
        }
        for declaration in &fields {
            for declarator in &declaration.variables {
                let count = match &declarator.count {
                    Some(count) => self.constant_of(count)?.clamp(0, 1000),
                    None => 1,
                };
                for _ in 0..count {
                    if let (TypeName::Unsigned, Some((width, _))) = (&declaration.ty, declarator.width) {
                        out.push(Scalar::Unsigned(width.clamp(1, 32) as u8));
                    } else {
                        self.message_field(&declaration.ty, out, span, depth + 1)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn record(&mut self, path: String, name: &Name, dimensions: Vec<u32>, hidden: bool, depth: usize) -> Resolved<Shape> {
        let Some(fields) = self.typedefs.get(&name.text).cloned() else { return Err(self.error(name.span, format!("unknown type `{}`", name.text))) };
        if depth > DEEPEST {
            return Err(self.error(name.span, "records are nested too deeply"));
        }
        let mut parts = Vec::new();
        for declaration in &fields {
            for declarator in &declaration.variables {
                let count = match &declarator.count {
                    Some(count) => Some(self.constant_of(count)?.clamp(1, MOST_CELLS as i64) as u32),
                    None => None,
                };
                let dimensions: Vec<u32> = dimensions.iter().copied().chain(count).collect();
                let path = format!("{path}.{}", declarator.name.text);
                let shape = match &declaration.ty {
                    TypeName::User(inner) => self.record(path, inner, dimensions, hidden, depth + 1)?,
                    ty => {
                        let ty = self.scalar(ty, declarator)?;
                        let leaf = self.leaf(path, ty, dimensions.clone(), hidden, declarator.name.span)?;
                        let initial = match &declarator.initial {
                            None => Start::Zero,
                            Some(Initial::Value(value)) => Start::Value(self.value(value)?),
                            Some(Initial::Channel { capacity, fields, span }) => {
                                let count = dimensions.iter().product();
                                Start::Channel(self.channel(declarator, capacity, fields, count, *span)?)
                            }
                            Some(Initial::List(_)) => return Err(self.error(declarator.name.span, "a field cannot have a list of first values")),
                        };
                        self.model.leaves[leaf.0 as usize].initial = initial;
                        Shape::Scalar(leaf)
                    }
                };
                parts.push((declarator.name.text.clone(), Variable { count, shape }));
            }
        }
        Ok(Shape::Record(parts))
    }

    fn scalar(&mut self, ty: &TypeName, declarator: &Declarator) -> Resolved<Scalar> {
        if let Some((_, span)) = declarator.width
            && *ty != TypeName::Unsigned
        {
            return Err(self.error(span, "only an `unsigned` has a number of bits"));
        }
        Ok(match ty {
            TypeName::Bit => Scalar::Bit(false),
            TypeName::Bool => Scalar::Bit(true),
            TypeName::Byte => Scalar::Byte,
            TypeName::Pid => Scalar::Pid,
            TypeName::Short => Scalar::Short,
            TypeName::Int => Scalar::Int,
            TypeName::Chan => Scalar::Chan,
            TypeName::Mtype(kind) => Scalar::Mtype(self.kind(kind.as_ref())),
            TypeName::Unsigned => match declarator.width {
                Some((width @ 1..=31, _)) => Scalar::Unsigned(width as u8),
                Some((_, span)) => return Err(self.error(span, "an `unsigned` has 1 to 31 bits")),
                None => return Err(self.error(declarator.name.span, "an `unsigned` needs its number of bits: `unsigned x : 5`")),
            },
            TypeName::User(name) => return Err(self.error(name.span, "a record cannot stand here")),
        })
    }

    fn leaf(&mut self, name: String, ty: Scalar, dimensions: Vec<u32>, hidden: bool, span: Span) -> Resolved<LeafId> {
        let cells = dimensions.iter().map(|count| u64::from(*count)).product::<u64>();
        self.cells = self.cells.saturating_add(cells);
        if self.cells > MOST_CELLS {
            return Err(self.error(span, "the variables are too large together"));
        }
        let id = LeafId(self.model.leaves.len() as u32);
        let at = self.at(span);
        let cell = match self.owner {
            Some(owner) => {
                let ty = &mut self.model.types[owner];
                ty.leaves.push(id);
                ty.cells += cells as u32;
                ty.cells - cells as u32
            }
            None => {
                let cell = self.model.global_cells();
                self.model.globals.push(id);
                cell
            }
        };
        // Names of one process that are declared more than once are told apart.
        let twins = self.model.leaves.iter().filter(|leaf| leaf.owner == self.owner && leaf.name.split('#').next() == Some(&name)).count();
        let name = if twins == 0 { name } else { format!("{name}#{}", twins + 1) };
        let leaf = Leaf { name, owner: self.owner, ty, dimensions, cell, hidden, read: false, written: false, initial: Start::Zero, at };
        self.model.leaves.push(leaf);
        if hidden {
            self.hidden.push((id, span));
        }
        Ok(id)
    }

    fn name(&mut self, name: &Name, variable: Variable) -> Resolved<()> {
        let variable = Arc::new(variable);
        if let Some(owner) = self.owner {
            self.locals[owner].entry(name.text.clone()).or_insert_with(|| variable.clone());
        }
        let scope = self.scopes.last_mut().into_iter().next();
        let before = scope.and_then(|scope| scope.insert(name.text.clone(), Symbol::Variable(variable)));
        match before {
            Some(_) => Err(self.error(name.span, format!("`{}` is declared twice", name.text))),
            None => Ok(()),
        }
    }

    /// The value of an expression that must be known before the model runs.
    pub(super) fn constant_of(&mut self, expr: &Expr) -> Resolved<i64> {
        if let ExprKind::Reference(reference) = &*expr.kind
            && let [(name, None)] = &reference.parts[..]
            && let Some(Symbol::Variable(variable)) = self.lookup(&name.text)
            && let Shape::Scalar(leaf) = variable.shape
            && let Start::Value(Value::Constant(value)) = self.model.leaf(leaf).initial
        {
            let message = format!("`{}` is a variable; its first value {value} is taken", name.text);
            self.warn(expr.span, message);
            return Ok(value);
        }
        match self.value(expr)? {
            Value::Constant(value) => Ok(value),
            _ => Err(self.error(expr.span, "this must be a constant")),
        }
    }
}
