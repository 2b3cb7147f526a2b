//! Runs expressions and statements of generated models, with the meaning of Murphi, in the most direct way possible.

use super::tree::{
    Argument, Arithmetic, Comparison, Domain, Expr, FunctionId, Local, LocalId, LocalType, Model, Place, Root, Step, Stmt, Type, TypeId,
};
use super::value::{Kind, Scalar, Value, all_of, is_of};

/// The binding of a local name.
#[derive(Clone, Debug)]
pub(crate) enum Binding {
    Unbound,
    Object(Value),
    Reference(Address, TypeId),
    Slot(usize),
}

/// A place whose indices are known.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    base: Base,
    path: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Base {
    Global(usize),
    /// A local of the frame with this number.
    Frame(usize, LocalId),
}

/// The names of one running command or function.
pub(crate) struct Frame<'a> {
    locals: &'a [Local],
    bindings: Vec<Binding>,
}

pub(crate) struct Machine<'a> {
    model: &'a Model,
    pub(crate) globals: Vec<Value>,
    frames: Vec<Frame<'a>>,
}

/// The way in which a statement ended.
enum Flow {
    Next,
    /// With the value of a function; `None` for a procedure.
    Return(Option<Value>),
}

type Outcome<T> = Result<T, Kind>;

impl<'a> Machine<'a> {
    pub(crate) fn new(model: &'a Model, globals: Vec<Value>) -> Self {
        Machine { model, globals, frames: Vec::new() }
    }

    /// Begins a command or property whose names are `locals`.
    pub(crate) fn enter(&mut self, locals: &'a [Local]) {
        self.frames.push(Frame { locals, bindings: vec![Binding::Unbound; locals.len()] });
    }

    pub(crate) fn leave(&mut self) {
        self.frames.pop();
    }

    pub(crate) fn bind(&mut self, local: LocalId, binding: Binding) {
        let frame = self.frames.last_mut().expect("a frame was entered");
        frame.bindings[local] = binding;
    }

    fn bind_scalar(&mut self, local: LocalId, scalar: Scalar) {
        self.bind(local, Binding::Object(Value::Scalar(Some(scalar))));
    }

    fn frame(&self) -> &Frame<'a> {
        self.frames.last().expect("a frame was entered")
    }

    /// Declares variables and runs a command.
    pub(crate) fn command(&mut self, variables: &[LocalId], body: &'a [Stmt]) -> Outcome<()> {
        self.declare(variables);
        self.block(body).map(|_| ())
    }

    fn declare(&mut self, variables: &[LocalId]) {
        for variable in variables {
            if let LocalType::Of(ty) = self.frame().locals[*variable].ty {
                self.bind(*variable, Binding::Object(Value::undefined(self.model, ty)));
            }
        }
    }

    /// Calls `visit` for every combination of values, first binder outermost, until it returns true.
    pub(crate) fn each(&mut self, binders: &'a [(LocalId, Domain)], visit: &mut dyn FnMut(&mut Self) -> Outcome<bool>) -> Outcome<bool> {
        let Some(((local, domain), rest)) = binders.split_first() else { return visit(self) };
        for scalar in self.domain(domain)? {
            self.bind_scalar(*local, scalar);
            if self.each(rest, visit)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn domain(&mut self, domain: &'a Domain) -> Outcome<Vec<Scalar>> {
        match domain {
            Domain::Type(ty) => Ok(all_of(self.model, *ty)),
            Domain::Span(from, to, by) => {
                let (from, to) = (self.number(from)?, self.number(to)?);
                let mut values = Vec::new();
                let mut value = from;
                while if *by > 0 { value <= to } else { value >= to } {
                    values.push(Scalar::Number(value));
                    value += by;
                }
                Ok(values)
            }
        }
    }

    // Places

    pub(crate) fn resolve(&mut self, place: &'a Place) -> Outcome<(Address, TypeId)> {
        let (mut address, mut ty) = match place.root {
            Root::Global(number) => (Address { base: Base::Global(number), path: Vec::new() }, self.model.globals[number].1),
            Root::Local(local) => match &self.frame().bindings[local] {
                Binding::Reference(address, ty) => (address.clone(), *ty),
                _ => match self.frame().locals[local].ty {
                    LocalType::Of(ty) => (Address { base: Base::Frame(self.frames.len() - 1, local), path: Vec::new() }, ty),
                    ref other => unreachable!("{other:?} is no object"),
                },
            },
        };
        for step in &place.path {
            match (step, &self.model.types[ty].ty) {
                (Step::Field(number), Type::Record(fields)) => {
                    address.path.push(*number);
                    ty = fields[*number].1;
                }
                (Step::Index(index), Type::Array(domain, element)) => {
                    let value = self.value(index)?;
                    let position = all_of(self.model, *domain).iter().position(|other| *other == value).ok_or(Kind::Index)?;
                    address.path.push(position);
                    ty = *element;
                }
                (Step::Slot(slot), Type::Bag(_, element)) => {
                    let Binding::Slot(number) = self.frame().bindings[*slot] else { unreachable!("a slot is bound") };
                    address.path.push(number);
                    ty = *element;
                }
                other => unreachable!("a step that does not fit its type: {other:?}"),
            }
        }
        Ok((address, ty))
    }

    pub(crate) fn at(&mut self, address: &Address) -> &mut Value {
        let mut value = match address.base {
            Base::Global(number) => &mut self.globals[number],
            Base::Frame(frame, local) => match &mut self.frames[frame].bindings[local] {
                Binding::Object(value) => value,
                other => unreachable!("{other:?} is no object"),
            },
        };
        for step in &address.path {
            value = match value {
                Value::Record(parts) | Value::Array(parts) => &mut parts[*step],
                Value::Bag(slots) => slots[*step].as_mut().expect("the slot is taken"),
                Value::Scalar(_) => unreachable!("a scalar has no parts"),
            };
        }
        value
    }

    fn read(&mut self, place: &'a Place) -> Outcome<Option<Scalar>> {
        // The variable of a loop over numbers has no type.
        if let Root::Local(local) = place.root
            && let Binding::Object(Value::Scalar(scalar)) = &self.frame().bindings[local]
        {
            return Ok(*scalar);
        }
        let (address, _) = self.resolve(place)?;
        match self.at(&address) {
            Value::Scalar(scalar) => Ok(*scalar),
            other => unreachable!("{other:?} is no scalar"),
        }
    }

    /// The slots of a bag that are taken.
    pub(crate) fn taken(&mut self, address: &Address) -> Vec<usize> {
        match self.at(address) {
            Value::Bag(slots) => (0..slots.len()).filter(|slot| slots[*slot].is_some()).collect(),
            other => unreachable!("{other:?} is no bag"),
        }
    }

    fn slots(&mut self, address: &Address) -> &mut Vec<Option<Value>> {
        match self.at(address) {
            Value::Bag(slots) => slots,
            other => unreachable!("{other:?} is no bag"),
        }
    }

    // Expressions

    fn number(&mut self, expr: &'a Expr) -> Outcome<i64> {
        match self.value(expr)? {
            Scalar::Number(number) => Ok(number),
            other => unreachable!("{other:?} is no number"),
        }
    }

    pub(crate) fn truth(&mut self, expr: &'a Expr) -> Outcome<bool> {
        match self.value(expr)? {
            Scalar::Boolean(truth) => Ok(truth),
            other => unreachable!("{other:?} is no truth value"),
        }
    }

    /// The value in a position where an undefined one may be copied.
    fn copied(&mut self, expr: &'a Expr) -> Outcome<Option<Scalar>> {
        match expr {
            Expr::Read(place) => self.read(place),
            Expr::Call(function, arguments) => match self.call(*function, arguments)? {
                Some(Value::Scalar(scalar)) => Ok(scalar),
                other => unreachable!("{other:?} is no scalar"),
            },
            _ => self.value(expr).map(Some),
        }
    }

    fn value(&mut self, expr: &'a Expr) -> Outcome<Scalar> {
        Ok(match expr {
            Expr::Number(value) => Scalar::Number(*value),
            Expr::Boolean(value) => Scalar::Boolean(*value),
            Expr::Constant(number) => Scalar::Number(self.model.constants[*number].1),
            Expr::Member(ty, number) => Scalar::Member(*ty, *number),
            Expr::Read(_) | Expr::Call(..) => self.copied(expr)?.ok_or(Kind::Undefined)?,
            Expr::Negate(operand) => Scalar::Number(-self.number(operand)?),
            Expr::Arithmetic(operator, left, right) => {
                let (left, right) = (self.number(left)?, self.number(right)?);
                Scalar::Number(arithmetic(*operator, left, right)?)
            }
            Expr::Compare(operator @ (Comparison::Equal | Comparison::NotEqual), left, right)
                if self.is_identifier(left) || self.is_identifier(right) =>
            {
                // As in CMurphi, an undefined scalarset or union equals only another undefined one.
                let mut loosely = |expr| if self.is_identifier(expr) { self.copied(expr) } else { self.value(expr).map(Some) };
                let (left, right) = (loosely(left)?, loosely(right)?);
                Scalar::Boolean((left == right) == (*operator == Comparison::Equal))
            }
            Expr::Same(equal, left, right) => {
                let (left, _) = self.resolve(left)?;
                let (right, _) = self.resolve(right)?;
                let left = self.at(&left).clone();
                Scalar::Boolean((left == *self.at(&right)) == *equal)
            }
            Expr::Compare(operator, left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                Scalar::Boolean(match operator {
                    Comparison::Equal => left == right,
                    Comparison::NotEqual => left != right,
                    Comparison::Less => left < right,
                    Comparison::LessEqual => left <= right,
                    Comparison::Greater => left > right,
                    Comparison::GreaterEqual => left >= right,
                })
            }
            Expr::Not(operand) => Scalar::Boolean(!self.truth(operand)?),
            Expr::And(operands) => {
                for operand in operands {
                    if !self.truth(operand)? {
                        return Ok(Scalar::Boolean(false));
                    }
                }
                Scalar::Boolean(true)
            }
            Expr::Or(operands) => {
                for operand in operands {
                    if self.truth(operand)? {
                        return Ok(Scalar::Boolean(true));
                    }
                }
                Scalar::Boolean(false)
            }
            Expr::Implies(left, right) => Scalar::Boolean(!self.truth(left)? || self.truth(right)?),
            Expr::Conditional(condition, then, otherwise) => {
                if self.truth(condition)? {
                    self.value(then)?
                } else {
                    self.value(otherwise)?
                }
            }
            Expr::Quantified { all, binders, body } => {
                let decided = self.each(binders, &mut |machine| Ok(machine.truth(body)? != *all))?;
                Scalar::Boolean(decided != *all)
            }
            Expr::IsUndefined(place) => Scalar::Boolean(self.read(place)?.is_none()),
            Expr::IsMember(value, ty) => {
                let value = self.value(value)?;
                Scalar::Boolean(is_of(self.model, *ty, value))
            }
            Expr::Count(local, bag, condition) => {
                let (address, _) = self.resolve(bag)?;
                let mut count = 0;
                for slot in self.taken(&address) {
                    self.bind(*local, Binding::Slot(slot));
                    count += i64::from(self.truth(condition)?);
                }
                Scalar::Number(count)
            }
        })
    }

    /// Whether an expression is a variable or result of a scalarset or union.
    fn is_identifier(&self, expr: &Expr) -> bool {
        let ty = match expr {
            Expr::Read(place) => self.type_of(place),
            Expr::Call(function, _) => self.model.functions[*function].result,
            _ => None,
        };
        ty.is_some_and(|ty| matches!(self.model.types[ty].ty, Type::Scalarset(_) | Type::Union(_)))
    }

    /// The type of a place; `None` for a number that no type bounds.
    fn type_of(&self, place: &Place) -> Option<TypeId> {
        let mut ty = match place.root {
            Root::Global(number) => self.model.globals[number].1,
            Root::Local(local) => match self.frame().locals[local].ty {
                LocalType::Of(ty) => ty,
                LocalType::Number | LocalType::Slot(_) => return None,
            },
        };
        for step in &place.path {
            ty = match (step, &self.model.types[ty].ty) {
                (Step::Field(number), Type::Record(fields)) => fields[*number].1,
                (_, Type::Array(_, element) | Type::Bag(_, element)) => *element,
                other => unreachable!("a step that does not fit its type: {other:?}"),
            };
        }
        Some(ty)
    }

    /// The value as one of a type; a fault if the type has no such value.
    fn fitted(&self, value: Option<Scalar>, ty: TypeId) -> Outcome<Option<Scalar>> {
        match value {
            Some(scalar) if !is_of(self.model, ty, scalar) => Err(Kind::Range),
            _ => Ok(value),
        }
    }

    /// Calls a function; `None` is the result of a procedure.
    fn call(&mut self, function: FunctionId, arguments: &'a [Argument]) -> Outcome<Option<Value>> {
        let called = &self.model.functions[function];
        let mut bindings = vec![Binding::Unbound; called.locals.len()];
        for (parameter, argument) in called.parameters.iter().zip(arguments) {
            let LocalType::Of(ty) = called.locals[parameter.local].ty else { unreachable!("parameters have types") };
            bindings[parameter.local] = match argument {
                Argument::Value(value) => {
                    let value = self.copied(value)?;
                    Binding::Object(Value::Scalar(self.fitted(value, ty)?))
                }
                Argument::Place(place) => {
                    let (address, ty) = self.resolve(place)?;
                    if parameter.by_reference { Binding::Reference(address, ty) } else { Binding::Object(self.at(&address).clone()) }
                }
            };
        }
        self.frames.push(Frame { locals: &called.locals, bindings });
        self.declare(&called.variables);
        let flow = self.block(&called.body);
        let result = match (flow, called.result) {
            (Err(kind), _) => Err(kind),
            (Ok(Flow::Return(Some(Value::Scalar(value)))), Some(ty)) => self.fitted(value, ty).map(|value| Some(Value::Scalar(value))),
            (Ok(Flow::Return(value)), Some(_)) => Ok(value),
            (Ok(Flow::Next), Some(_)) => Err(Kind::NoResult),
            (Ok(_), None) => Ok(None),
        };
        self.leave();
        result
    }

    // Statements

    fn block(&mut self, body: &'a [Stmt]) -> Outcome<Flow> {
        for statement in body {
            if let Flow::Return(value) = self.statement(statement)? {
                return Ok(Flow::Return(value));
            }
        }
        Ok(Flow::Next)
    }

    fn optional(&mut self, body: &'a Option<Vec<Stmt>>) -> Outcome<Flow> {
        body.as_ref().map_or(Ok(Flow::Next), |body| self.block(body))
    }

    fn statement(&mut self, statement: &'a Stmt) -> Outcome<Flow> {
        match statement {
            Stmt::Assign(place, value) => {
                let (address, ty) = self.resolve(place)?;
                let value = self.copied(value)?;
                *self.at(&address) = Value::Scalar(self.fitted(value, ty)?);
            }
            Stmt::Copy(to, from) => {
                let (to, _) = self.resolve(to)?;
                let (from, _) = self.resolve(from)?;
                let value = self.at(&from).clone();
                *self.at(&to) = value;
            }
            Stmt::If(branches, otherwise) => {
                for (condition, body) in branches {
                    if self.truth(condition)? {
                        return self.block(body);
                    }
                }
                return self.optional(otherwise);
            }
            Stmt::Switch(subject, cases, otherwise) => {
                let subject = self.value(subject)?;
                for (labels, body) in cases {
                    for label in labels {
                        if self.value(label)? == subject {
                            return self.block(body);
                        }
                    }
                }
                return self.optional(otherwise);
            }
            Stmt::For(binders, body) => {
                let mut flow = Flow::Next;
                self.each(binders, &mut |machine| {
                    flow = machine.block(body)?;
                    Ok(matches!(flow, Flow::Return(_)))
                })?;
                return Ok(flow);
            }
            Stmt::While { counter, rounds, condition, body } => {
                for round in 0..=*rounds {
                    self.bind_scalar(*counter, Scalar::Number(round));
                    if round == *rounds || !self.truth(condition)? {
                        break;
                    }
                    if let Flow::Return(value) = self.block(body)? {
                        return Ok(Flow::Return(value));
                    }
                }
            }
            Stmt::Alias(aliases, body) => {
                for (local, place) in aliases {
                    let (address, ty) = self.resolve(place)?;
                    self.bind(*local, Binding::Reference(address, ty));
                }
                return self.block(body);
            }
            Stmt::Call(function, arguments) => drop(self.call(*function, arguments)?),
            Stmt::Clear(place) => {
                let (address, ty) = self.resolve(place)?;
                *self.at(&address) = Value::cleared(self.model, ty);
            }
            Stmt::Undefine(place) => {
                let (address, ty) = self.resolve(place)?;
                *self.at(&address) = Value::undefined(self.model, ty);
            }
            Stmt::Return(value) => {
                let value = match value {
                    Some(Argument::Value(value)) => Some(Value::Scalar(self.copied(value)?)),
                    Some(Argument::Place(place)) => {
                        let (address, _) = self.resolve(place)?;
                        Some(self.at(&address).clone())
                    }
                    None => None,
                };
                return Ok(Flow::Return(value));
            }
            Stmt::CopyResult(to, function, arguments) => {
                let (to, _) = self.resolve(to)?;
                let value = self.call(*function, arguments)?;
                *self.at(&to) = value.expect("a function has a result");
            }
            Stmt::Assert(condition, _) => {
                if !self.truth(condition)? {
                    return Err(Kind::Assertion);
                }
            }
            Stmt::Error(_) => return Err(Kind::Error),
            // Output is for simulations.
            Stmt::Put(_) => {}
            Stmt::BagAdd(element, bag) => self.add(element, bag)?,
            Stmt::BagRemove(slot, bag) => {
                let Binding::Slot(slot) = self.frame().bindings[*slot] else { unreachable!("a slot is bound") };
                let (address, _) = self.resolve(bag)?;
                self.slots(&address)[slot].take().ok_or(Kind::Collection)?;
            }
            Stmt::BagRemoveIf(local, bag, condition) => {
                let (address, _) = self.resolve(bag)?;
                let mut removed = Vec::new();
                for slot in self.taken(&address) {
                    self.bind(*local, Binding::Slot(slot));
                    if self.truth(condition)? {
                        removed.push(slot);
                    }
                }
                for slot in removed {
                    self.slots(&address)[slot] = None;
                }
            }
        }
        Ok(Flow::Next)
    }

    fn add(&mut self, element: &'a Argument, bag: &'a Place) -> Outcome<()> {
        let (bag, ty) = self.resolve(bag)?;
        let Type::Bag(_, element_type) = self.model.types[ty].ty else { unreachable!("a bag") };
        // The order of checking room and element is not defined; wayfarer checks for room first.
        let free = self.slots(&bag).iter().position(Option::is_none).ok_or(Kind::Collection)?;
        let value = match element {
            Argument::Value(value) => {
                let value = self.copied(value)?;
                Value::Scalar(self.fitted(value, element_type)?)
            }
            Argument::Place(place) => {
                let (address, _) = self.resolve(place)?;
                self.at(&address).clone()
            }
        };
        self.slots(&bag)[free] = Some(value);
        Ok(())
    }
}

fn arithmetic(operator: Arithmetic, left: i64, right: i64) -> Outcome<i64> {
    Ok(match operator {
        Arithmetic::Add => left.checked_add(right).ok_or(Kind::Overflow)?,
        Arithmetic::Subtract => left.checked_sub(right).ok_or(Kind::Overflow)?,
        Arithmetic::Multiply => left.checked_mul(right).ok_or(Kind::Overflow)?,
        Arithmetic::Divide => left.checked_div(right).ok_or(Kind::Division)?,
        Arithmetic::Remainder => left.checked_rem(right).ok_or(Kind::Division)?,
    })
}
