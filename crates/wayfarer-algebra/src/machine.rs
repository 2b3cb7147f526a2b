//! Evaluation: rewrites data expressions to values.
//!
//! Arguments are evaluated before the function, except for those of `if`, `&&`, `||` and `=>`. An application that no equation rewrites is a value of its own, as in
//! mCRL2. Every call takes fuel, and so do built-in operations by the size of their operands, so that endless rewriting ends with a [`Halt`].

use crate::code::{Code, LambdaRole};
use crate::data::Data;
use crate::matching::{Test, Tree, parts_of};
use crate::specification::{FunctionId, Operation, Role, SortId};
use crate::value::{NoRoom, Node, Value};

/// Why an evaluation ended without a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Halt {
    /// More rewrite steps than the limit.
    Fuel,
    /// Applications within each other, too many.
    Depth,
    /// A quantifier or sum over a sort with values without end, with nothing that bounds them.
    Unbounded(SortId),
    /// A condition that is neither true nor false.
    Undecided,
    /// The table of values is full.
    NoRoom,
}

impl From<NoRoom> for Halt {
    fn from(_: NoRoom) -> Self {
        Halt::NoRoom
    }
}

pub(crate) type Evaluated = Result<Value, Halt>;

/// How deep applications may nest.
const DEPTH: u32 = 100_000;
/// Rewrite steps of one evaluation, unless another limit is asked for.
pub const FUEL: u64 = 20_000_000;

/// A stack of frames and the fuel that is left.
pub(crate) struct Machine<'a> {
    pub(crate) data: &'a Data,
    pub(crate) stack: Vec<Value>,
    pub(crate) fuel: u64,
    /// Fuel of a whole evaluation.
    limit: u64,
    depth: u32,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(data: &'a Data, limit: u64) -> Self {
        Machine { data, stack: Vec::with_capacity(256), fuel: limit, limit, depth: 0 }
    }

    /// Begins an evaluation anew, with this frame.
    pub(crate) fn begin(&mut self, frame: &[Value], slots: u16) {
        self.stack.clear();
        self.stack.extend_from_slice(frame);
        self.stack.resize((slots as usize).max(frame.len()), Value::UNIT);
        self.fuel = self.limit;
        self.depth = 0;
    }

    /// Takes fuel for a built-in operation that does this much work, in steps that an equation would take.
    pub(crate) fn burn(&mut self, steps: usize) -> Result<(), Halt> {
        self.fuel = self.fuel.checked_sub(steps as u64).ok_or(Halt::Fuel)?;
        Ok(())
    }

    /// The value of an expression in the frame that begins at `base`.
    pub(crate) fn evaluate(&mut self, code: &Code, base: usize) -> Evaluated {
        match code {
            Code::Slot(slot) => Ok(self.stack[base + *slot as usize]),
            Code::Constant(value) => Ok(*value),
            Code::Call(function, arguments) => {
                let frame = self.push_all(arguments, base)?;
                let result = self.call(*function, frame);
                self.stack.truncate(frame);
                result
            }
            Code::Operation(operation, arguments) => self.operation_code(*operation, arguments, base),
            Code::Apply(head, arguments) => {
                let head = self.evaluate(head, base)?;
                let frame = self.push_all(arguments, base)?;
                let result = self.apply(head, frame);
                self.stack.truncate(frame);
                result
            }
            Code::Closure(lambda, captured) => {
                let frame = self.push_all(captured, base)?;
                let captured = self.stack[frame..].into();
                self.stack.truncate(frame);
                Ok(self.data.values.intern(Node::Closure { lambda: *lambda, captured }, false)?)
            }
            Code::Quantified { forall, query } => {
                let mut found = false;
                query.solve(self, base, &mut |_, _| {
                    found = true;
                    Ok(false)
                })?;
                Ok(Value::boolean(found != *forall))
            }
            Code::Comprehension { bag, query, otherwise } => self.comprehension(*bag, query, otherwise, base),
            Code::Let(definitions, body) => {
                for (slot, definition) in definitions {
                    let value = self.evaluate(definition, base)?;
                    self.stack[base + *slot as usize] = value;
                }
                self.evaluate(body, base)
            }
        }
    }

    /// Evaluates expressions onto the top of the stack and gives the place where they begin.
    fn push_all(&mut self, codes: &[Code], base: usize) -> Result<usize, Halt> {
        let frame = self.stack.len();
        for code in codes {
            let value = self.evaluate(code, base)?;
            self.stack.push(value);
        }
        Ok(frame)
    }

    /// Evaluates expressions to a list.
    pub(crate) fn list(&mut self, codes: &[Code], base: usize) -> Result<Vec<Value>, Halt> {
        codes.iter().map(|code| self.evaluate(code, base)).collect()
    }

    /// Whether a condition is true.
    pub(crate) fn decide(&mut self, code: &Code, base: usize) -> Result<bool, Halt> {
        match self.evaluate(code, base)? {
            Value::TRUE => Ok(true),
            Value::FALSE => Ok(false),
            _ => Err(Halt::Undecided),
        }
    }

    /// Applies a function to the arguments from `frame` to the top of the stack, and removes nothing from it that was below.
    fn call(&mut self, function: FunctionId, frame: usize) -> Evaluated {
        let data = self.data;
        let symbol = &data.functions[function.index()];
        let given = self.stack.len() - frame;
        match &symbol.role {
            Role::Constructor(_) if !data.has_equations(function) => return Ok(data.term(function, &self.stack[frame..])?),
            Role::Recogniser(constructor) if given >= 1 => {
                if let Some(Node::Term(head, _)) = data.values.node(self.stack[frame]).filter(|_| self.stack[frame].small().is_none())
                    && matches!(data.functions[head.index()].role, Role::Constructor(_))
                {
                    return Ok(Value::boolean(head == constructor));
                }
            }
            Role::Projection(places) if given >= 1 => {
                if let Some(Node::Term(head, arguments)) = data.values.node(self.stack[frame])
                    && let Some((_, place)) = places.iter().find(|(constructor, _)| constructor == head)
                    && let Some(argument) = arguments.get(*place)
                {
                    if given == 1 {
                        return Ok(*argument);
                    }
                    let start = self.stack.len();
                    self.stack.extend_from_within(frame + 1..start);
                    let result = self.apply(*argument, start);
                    self.stack.truncate(start);
                    return result;
                }
            }
            _ => {}
        }
        let rules = &data.rules[function.index()];
        if rules.is_empty() {
            return Ok(data.term(function, &self.stack[frame..])?);
        }
        if given == 0
            && let Some(known) = data.constants[function.index()].get()
        {
            return Ok(*known);
        }
        self.fuel = self.fuel.checked_sub(1).ok_or(Halt::Fuel)?;
        if self.depth >= DEPTH {
            return Err(Halt::Depth);
        }
        self.depth += 1;
        for rules in rules {
            let taken = rules.arguments as usize;
            if taken > given {
                continue;
            }
            if taken == given {
                let found = stacker::maybe_grow(96 << 10, 4 << 20, || self.walk(&rules.tree, frame, taken))?;
                if let Some(value) = found {
                    self.depth -= 1;
                    if given == 0 {
                        let _ = data.constants[function.index()].set(value);
                    }
                    return Ok(value);
                }
                continue;
            }
            // Equations about fewer arguments give a function, which takes the others.
            let start = self.stack.len();
            self.stack.extend_from_within(frame..frame + taken);
            let found = stacker::maybe_grow(96 << 10, 4 << 20, || self.walk(&rules.tree, start, taken))?;
            self.stack.truncate(start);
            if let Some(head) = found {
                self.stack.extend_from_within(frame + taken..frame + given);
                let result = self.apply(head, start);
                self.depth -= 1;
                return result;
            }
        }
        self.depth -= 1;
        Ok(data.term(function, &self.stack[frame..])?)
    }

    /// Walks a decision tree; none if no equation can be used. The stack comes back as it was.
    fn walk(&mut self, mut tree: &Tree, frame: usize, arguments: usize) -> Result<Option<Value>, Halt> {
        let data = self.data;
        loop {
            match tree {
                Tree::Fail => {
                    self.stack.truncate(frame + arguments);
                    return Ok(None);
                }
                Tree::Restart(next) => {
                    self.stack.truncate(frame + arguments);
                    tree = next;
                }
                Tree::Switch { place, cases, otherwise } => {
                    let value = self.stack[frame + *place as usize];
                    let node = if value.small().is_some() { None } else { data.values.node(value) };
                    let found = cases.iter().find(|(test, _)| match (test, node) {
                        (Test::Constant(constant), _) => *constant == value,
                        (Test::Cons, Some(Node::Cons(..))) => true,
                        (Test::Head(function, parts), Some(Node::Term(head, arguments))) => head == function && arguments.len() == *parts as usize,
                        _ => false,
                    });
                    let Some((test, next)) = found else {
                        tree = otherwise;
                        continue;
                    };
                    if parts_of(test) > 0 {
                        match node {
                            Some(Node::Cons(head, tail)) => self.stack.extend([*head, *tail]),
                            Some(Node::Term(_, arguments)) => self.stack.extend_from_slice(arguments),
                            _ => {}
                        }
                    }
                    tree = next;
                }
                Tree::Leaf { equal, condition, result, slots, next } => {
                    let top = self.stack.len();
                    self.stack.resize(top.max(frame + *slots as usize), Value::UNIT);
                    let same = equal.iter().all(|(one, other)| self.stack[frame + *one as usize] == self.stack[frame + *other as usize]);
                    let usable = same
                        && match condition {
                            None => true,
                            // A condition that cannot be decided does not hold.
                            Some(condition) => self.evaluate(condition, frame)? == Value::TRUE,
                        };
                    if usable {
                        let value = self.evaluate(result, frame)?;
                        self.stack.truncate(frame + arguments);
                        return Ok(Some(value));
                    }
                    self.stack.truncate(top);
                    tree = next;
                }
            }
        }
    }

    /// Applies a value to the arguments from `frame` to the top of the stack.
    pub(crate) fn apply(&mut self, head: Value, frame: usize) -> Evaluated {
        let data = self.data;
        let given = self.stack.len() - frame;
        match data.values.node(head).filter(|_| head.small().is_none()) {
            Some(Node::Term(function, first)) if first.len() < data.functions[function.index()].arguments.len() => {
                let start = self.stack.len();
                self.stack.extend_from_slice(first);
                self.stack.extend_from_within(frame..frame + given);
                let result = self.call(*function, start);
                self.stack.truncate(start);
                result
            }
            Some(Node::Closure { lambda, captured }) => {
                let Some(lambda) = data.lambdas.get(*lambda) else { return Err(Halt::NoRoom) };
                if given < lambda.parameters as usize {
                    return Ok(self.stuck(Operation::Apply, head, frame)?);
                }
                self.fuel = self.fuel.checked_sub(1).ok_or(Halt::Fuel)?;
                if self.depth >= DEPTH {
                    return Err(Halt::Depth);
                }
                self.depth += 1;
                let start = self.stack.len();
                self.stack.extend_from_slice(captured);
                self.stack.extend_from_within(frame..frame + lambda.parameters as usize);
                self.stack.resize(start + lambda.slots as usize, Value::UNIT);
                let result = stacker::maybe_grow(96 << 10, 4 << 20, || self.evaluate(&lambda.body, start))?;
                self.stack.truncate(start);
                self.depth -= 1;
                if given > lambda.parameters as usize && lambda.role == LambdaRole::Function {
                    self.stack.extend_from_within(frame + lambda.parameters as usize..frame + given);
                    let whole = self.apply(result, start);
                    self.stack.truncate(start);
                    return whole;
                }
                Ok(result)
            }
            Some(Node::Update { base, entries }) => {
                let place = self.stack[frame];
                for (at, value) in entries {
                    match self.equal(*at, place) {
                        Some(true) => {
                            if given > 1 {
                                let start = self.stack.len();
                                self.stack.extend_from_within(frame + 1..frame + given);
                                let result = self.apply(*value, start);
                                self.stack.truncate(start);
                                return result;
                            }
                            return Ok(*value);
                        }
                        Some(false) => {}
                        None => return Ok(self.stuck(Operation::Apply, head, frame)?),
                    }
                }
                self.apply(*base, frame)
            }
            _ => Ok(self.stuck(Operation::Apply, head, frame)?),
        }
    }

    /// Applies a value to one argument.
    pub(crate) fn apply_to(&mut self, head: Value, argument: Value) -> Evaluated {
        let frame = self.stack.len();
        self.stack.push(argument);
        let result = self.apply(head, frame);
        self.stack.truncate(frame);
        result
    }

    fn stuck(&self, operation: Operation, first: Value, frame: usize) -> Result<Value, NoRoom> {
        let operands = std::iter::once(first).chain(self.stack[frame..].iter().copied()).collect();
        self.data.values.intern(Node::Stuck(operation, operands), false)
    }
}
