//! Expressions, references and messages.

use super::{Resolved, Resolver, Shape, Symbol, Variable};
use crate::promela::ast::{Binary, Expr, ExprKind, Pattern, PollPattern, Reference};
use crate::promela::counted;
use crate::promela::model::{Match, Place, Scalar, Value};
use crate::promela::operators;
use crate::source::Span;
use std::sync::Arc;

/// The type of a process that a `run` creates, with its arguments.
pub(super) type Created = (usize, Vec<Value>);

/// Whether a `run` may stand in an expression.
#[derive(Debug)]
pub(super) enum Run {
    Refused,
    Allowed,
    Found(Created),
}

impl Resolver<'_> {
    /// A part of an expression that may be left out, or that decides what is.
    fn value_without_run(&mut self, expr: &Expr) -> Resolved<Value> {
        let outer = std::mem::replace(&mut self.run, Run::Refused);
        let value = self.value(expr);
        self.run = outer;
        value
    }

    /// The value of an assignment, with the process that it creates, if any.
    pub(super) fn assigned(&mut self, expr: &Expr) -> Resolved<(Value, Option<Created>)> {
        self.run = Run::Allowed;
        let value = self.value(expr);
        match std::mem::replace(&mut self.run, Run::Refused) {
            Run::Found(created) => Ok((value?, Some(created))),
            Run::Refused | Run::Allowed => Ok((value?, None)),
        }
    }

    pub(super) fn value(&mut self, expr: &Expr) -> Resolved<Value> {
        let at = self.at(expr.span);
        Ok(match &*expr.kind {
            ExprKind::Number(number) => Value::Constant(i64::from(*number as i32)),
            ExprKind::Reference(reference) => self.reference(reference)?,
            ExprKind::Unary(op, operand) => match self.value(operand)? {
                Value::Constant(value) => Value::Constant(operators::unary(*op, value)),
                operand => Value::Unary(*op, Box::new(operand)),
            },
            ExprKind::Binary(op, left, right) => {
                let left = self.value(left)?;
                let right = match op {
                    // Whether the right side is evaluated depends on the left one.
                    Binary::And | Binary::Or => self.value_without_run(right)?,
                    _ => self.value(right)?,
                };
                if let (Value::Constant(one), Value::Constant(other)) = (&left, &right) {
                    if let Some(value) = operators::binary(*op, *one, *other) {
                        return Ok(Value::Constant(value));
                    }
                    return Err(self.error(expr.span, "division by zero"));
                }
                Value::Binary(*op, Box::new(left), Box::new(right), at)
            }
            ExprKind::Conditional(condition, one, other) => {
                let (condition, one, other) = (self.value_without_run(condition)?, self.value_without_run(one)?, self.value_without_run(other)?);
                Value::Conditional(Box::new(condition), Box::new(one), Box::new(other))
            }
            ExprKind::Run { name, arguments } => {
                match std::mem::replace(&mut self.run, Run::Refused) {
                    Run::Allowed => {}
                    Run::Refused => return Err(self.error(name.span, "`run` can stand by itself and on the right side of an assignment only")),
                    Run::Found(_) => return Err(self.error(name.span, "an expression can have one `run` only")),
                }
                self.run = Run::Found(self.created(name, arguments)?);
                Value::Created
            }
            ExprKind::Len(channel) => Value::Len(self.channel_place(channel)?),
            ExprKind::Probe(probe, channel) => Value::Probe(*probe, self.channel_place(channel)?),
            ExprKind::Poll { channel, random, arguments } => {
                let place = self.channel_place(channel)?;
                let mut fields = Vec::new();
                for argument in arguments {
                    match argument {
                        PollPattern::Constant(value) => fields.push(Match::Equal(Value::Constant(*value))),
                        PollPattern::Any => fields.push(Match::Any),
                        PollPattern::Eval(value) => fields.push(Match::Equal(self.value_without_run(value)?)),
                        // A record stands for all its fields.
                        PollPattern::Variable(reference) if self.is_record(reference) => {
                            let variable = self.variable(reference)?;
                            fields.extend(self.places_in(&variable, reference)?.iter().map(|_| Match::Any));
                        }
                        PollPattern::Variable(reference) => match self.reference(reference)? {
                            constant @ Value::Constant(_) => fields.push(Match::Equal(constant)),
                            // A poll stores nothing.
                            _ => fields.push(Match::Any),
                        },
                    }
                }
                self.check_arity(channel, fields.len())?;
                Value::Poll { channel: place, random: *random, fields }
            }
            ExprKind::Timeout => {
                self.model.has_timeout = true;
                Value::Timeout
            }
            ExprKind::Nonprogress => return Err(self.error(expr.span, "`np_` can be used in claims only")),
            ExprKind::RemoteLabel { name, process, label } => {
                let ty = self.process_type(name)?;
                let process = self.process_number(process.as_ref())?;
                self.remote_labels.push((ty, label.text.clone(), label.span));
                Value::RemoteLabel { ty, process, label: label.text.clone() }
            }
            ExprKind::RemoteVariable { name, process, variable } => {
                let ty = self.process_type(name)?;
                let process = self.process_number(process.as_ref())?;
                let Some(found) = self.locals[ty].get(&variable.parts[0].0.text).cloned() else {
                    let message = format!("`{}` has no variable `{}` declared so far", name.text, variable.parts[0].0.text);
                    return Err(self.error(variable.span, message));
                };
                let place = self.place_in(&found, variable)?;
                self.model.leaves[place.leaf.0 as usize].read = true;
                // Somebody else asks for it between steps.
                self.model.leaves[place.leaf.0 as usize].hidden = false;
                Value::RemoteLoad { ty, process, place }
            }
            ExprKind::Enabled(_) => return Err(self.error(expr.span, "`enabled` is not supported")),
            ExprKind::Priority(_) => return Err(self.error(expr.span, "priorities of processes are not supported")),
        })
    }

    pub(super) fn process_type(&mut self, name: &crate::promela::ast::Name) -> Resolved<usize> {
        match self.proctypes.get(&name.text) {
            Some(number) => Ok(*number),
            None => Err(self.error(name.span, format!("there is no process type `{}`", name.text))),
        }
    }

    fn process_number(&mut self, process: Option<&Expr>) -> Resolved<Option<Box<Value>>> {
        Ok(match process {
            Some(process) => Some(Box::new(self.value_without_run(process)?)),
            None => None,
        })
    }

    /// The meaning of a name: a constant, something built in, or a variable.
    pub(super) fn reference(&mut self, reference: &Reference) -> Resolved<Value> {
        if let [(name, None)] = &reference.parts[..] {
            match self.lookup(&name.text) {
                Some(Symbol::Constant(value)) => return Ok(Value::Constant(*value)),
                Some(Symbol::Variable(_)) => {}
                None => match &*name.text {
                    "_pid" if self.owner.is_some() => return Ok(Value::Pid),
                    "_nr_pr" => return Ok(Value::Processes),
                    "_last" | "_nr_qs" | "_priority" => return Err(self.error(name.span, format!("`{}` is not supported", name.text))),
                    _ => {}
                },
            }
        }
        Ok(Value::Load(self.place(reference)?))
    }

    pub(super) fn variable(&mut self, reference: &Reference) -> Resolved<Arc<Variable>> {
        let (name, _) = &reference.parts[0];
        match self.lookup(&name.text) {
            Some(Symbol::Variable(variable)) => Ok(variable.clone()),
            Some(Symbol::Constant(_)) => Err(self.error(name.span, format!("`{}` is a constant", name.text))),
            None => Err(self.error(name.span, format!("`{}` is not declared", name.text))),
        }
    }

    pub(super) fn place(&mut self, reference: &Reference) -> Resolved<Place> {
        let variable = self.variable(reference)?;
        let place = self.place_in(&variable, reference)?;
        self.model.leaves[place.leaf.0 as usize].read = true;
        Ok(place)
    }

    /// A place that is stored to.
    pub(super) fn target(&mut self, reference: &Reference) -> Resolved<Place> {
        let variable = self.variable(reference)?;
        let place = self.place_in(&variable, reference)?;
        self.model.leaves[place.leaf.0 as usize].written = true;
        Ok(place)
    }

    fn place_in(&mut self, variable: &Variable, reference: &Reference) -> Resolved<Place> {
        let mut places = self.places_in(variable, reference)?;
        if places.len() != 1 {
            return Err(self.error(reference.span, "a whole record can be sent and received only"));
        }
        Ok(places.remove(0))
    }

    /// All scalars that a reference stands for: several where it is a record.
    pub(super) fn places_in(&mut self, variable: &Variable, reference: &Reference) -> Resolved<Vec<Place>> {
        let at = self.at(reference.span);
        let mut indices = Vec::new();
        let mut now = variable;
        for (number, (name, index)) in reference.parts.iter().enumerate() {
            if number > 0 {
                let Shape::Record(fields) = &now.shape else {
                    return Err(self.error(name.span, format!("`{}` is no record", reference.parts[number - 1].0.text)));
                };
                match fields.iter().find(|(field, _)| *field == name.text) {
                    Some((_, field)) => now = field,
                    None => return Err(self.error(name.span, format!("there is no field `{}`", name.text))),
                }
            }
            match (now.count, index) {
                (Some(count), Some(index)) => {
                    let value = self.value_without_run(index)?;
                    if let Value::Constant(value) = value
                        && !(0..i64::from(count)).contains(&value)
                    {
                        self.warn(index.span, format!("the index {value} is out of bounds: the array has {count} elements"));
                    }
                    indices.push(value);
                }
                (None, None) => {}
                // SPIN takes the first element, with a complaint.
                (Some(_), None) => {
                    self.warn(name.span, format!("`{}` is an array: its first element is taken", name.text));
                    indices.push(Value::Constant(0));
                }
                (None, Some(index)) => match self.value_without_run(index)? {
                    Value::Constant(0) => {}
                    _ => return Err(self.error(name.span, format!("`{}` is no array", name.text))),
                },
            }
        }
        let mut out = Vec::new();
        flatten(&now.shape, &indices, at, &mut out);
        Ok(out)
    }

    pub(super) fn channel_place(&mut self, reference: &Reference) -> Resolved<Place> {
        let place = self.place(reference)?;
        match self.model.leaf(place.leaf).ty {
            Scalar::Chan => Ok(place),
            other => Err(self.error(reference.span, format!("this is a `{}`, not a channel", other.word()))),
        }
    }

    /// Checks that a message has as many fields as its channel, if the channel is known.
    pub(super) fn check_arity(&mut self, channel: &Reference, given: usize) -> Resolved<()> {
        let place = self.place(channel)?;
        if let crate::promela::model::Start::Channel(number) = self.model.leaf(place.leaf).initial
            && !self.model.leaf(place.leaf).written
        {
            let wanted = self.model.channels[number].fields.len();
            if wanted != given {
                self.warn(
                    channel.span,
                    format!("a message of this channel has {}, not {given}: a fault when it is reached", counted(wanted, "field")),
                );
            }
        }
        Ok(())
    }

    /// The fields of a message that is sent; a record stands for all its fields.
    pub(super) fn message(&mut self, arguments: &[Expr]) -> Resolved<Vec<Value>> {
        let mut values = Vec::new();
        for argument in arguments {
            match &*argument.kind {
                ExprKind::Reference(reference) if self.is_record(reference) => {
                    let variable = self.variable(reference)?;
                    let places = self.places_in(&variable, reference)?;
                    places.iter().for_each(|place| self.model.leaves[place.leaf.0 as usize].read = true);
                    values.extend(places.into_iter().map(Value::Load));
                }
                _ => values.push(self.value(argument)?),
            }
        }
        Ok(values)
    }

    pub(super) fn patterns(&mut self, arguments: &[Pattern], stores: bool) -> Resolved<Vec<Match>> {
        let mut fields = Vec::new();
        for argument in arguments {
            match argument {
                Pattern::Constant(value, _) => fields.push(Match::Equal(Value::Constant(*value))),
                Pattern::Any(_) => fields.push(Match::Any),
                Pattern::Eval(value) => fields.push(Match::Equal(self.value(value)?)),
                Pattern::Variable(reference) => match self.constant(reference) {
                    Some(value) => fields.push(Match::Equal(value)),
                    None => {
                        let variable = self.variable(reference)?;
                        for place in self.places_in(&variable, reference)? {
                            self.model.leaves[place.leaf.0 as usize].written |= stores;
                            fields.push(Match::Store(place));
                        }
                    }
                },
            }
        }
        Ok(fields)
    }

    /// A name that is a constant.
    fn constant(&self, reference: &Reference) -> Option<Value> {
        match (&reference.parts[..], self.lookup(&reference.parts[0].0.text)) {
            ([(_, None)], Some(Symbol::Constant(value))) => Some(Value::Constant(*value)),
            ([(name, None)], None) if &*name.text == "_pid" => Some(Value::Pid),
            _ => None,
        }
    }

    fn is_record(&mut self, reference: &Reference) -> bool {
        let Some(Symbol::Variable(variable)) = self.lookup(&reference.parts[0].0.text) else { return false };
        let mut now: &Variable = variable;
        for (name, _) in &reference.parts[1..] {
            let Shape::Record(fields) = &now.shape else { return false };
            match fields.iter().find(|(field, _)| *field == name.text) {
                Some((_, field)) => now = field,
                None => return false,
            }
        }
        matches!(now.shape, Shape::Record(_))
    }

    /// The type of the variable a value is, for names of `mtype` values.
    pub(super) fn kind_of(&self, value: &Value) -> u32 {
        match value {
            Value::Load(place) => match self.model.leaf(place.leaf).ty {
                Scalar::Mtype(kind) => kind,
                _ => 0,
            },
            _ => 0,
        }
    }

    /// `a < b`, made for loops.
    pub(super) fn compare(&self, op: Binary, left: Value, right: Value, span: Span) -> Value {
        Value::Binary(op, Box::new(left), Box::new(right), self.at(span))
    }
}

/// The scalars below a shape, each with the indices that lead to it.
fn flatten(shape: &Shape, indices: &[Value], at: wayfarer_ir::At, out: &mut Vec<Place>) {
    match shape {
        Shape::Scalar(leaf) => out.push(Place { leaf: *leaf, indices: indices.to_vec(), at }),
        Shape::Record(fields) => {
            for (_, field) in fields {
                match field.count {
                    None => flatten(&field.shape, indices, at, out),
                    Some(count) => {
                        for index in 0..count {
                            let mut deeper = indices.to_vec();
                            deeper.push(Value::Constant(i64::from(index)));
                            flatten(&field.shape, &deeper, at, out);
                        }
                    }
                }
            }
        }
    }
}
