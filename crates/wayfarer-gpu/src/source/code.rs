//! Expressions as C. An expression that cannot fail becomes one C expression; one that can is written out in statements before it, in the order
//! in which the interpreter evaluates, so that a fault is a `return`.

use crate::bounds::{self, ANY, Bounds, Range};
use std::fmt::Write;
use wayfarer_ir::{Argument, BinaryOp, CheckedOp, Expr, FaultId, FunctionId, LoopExpr, LoopKind, Parameter, Program, Reg, Region, Test, UnaryOp};

/// The kind of code being written, which decides how it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A guard or a property.
    Formula,
    /// The command of a rule.
    Command,
    /// A function of the program, with or without a result.
    Function { result: bool },
}

/// Writes the code of one C function.
pub(crate) struct Coder<'a> {
    pub(crate) program: &'a Program,
    pub(crate) bounds: &'a Bounds,
    pub(crate) role: Role,
    /// The regions of the references that the code can see.
    pub(crate) references: Vec<Region>,
    /// The known ranges of registers at this point.
    pub(crate) ranges: Vec<Range>,
    pub(crate) out: String,
    pub(crate) indent: usize,
    pub(crate) temporaries: u32,
}

/// A value as a C expression without effects, of type `i64`, or `bool` where it is a truth value.
#[derive(Clone, Debug)]
pub(crate) struct Val {
    pub(crate) text: String,
    pub(crate) constant: Option<i64>,
    pub(crate) is_truth: bool,
    pub(crate) range: Range,
}

impl Val {
    pub(crate) fn constant(value: i64) -> Self {
        let text = match value {
            i64::MIN => "(-9223372036854775807LL - 1)".to_string(),
            value if i32::try_from(value).is_ok() && value >= 0 => value.to_string(),
            value if i32::try_from(value).is_ok() => format!("({value})"),
            value => format!("({value}LL)"),
        };
        Val { text, constant: Some(value), is_truth: false, range: (value, value) }
    }

    fn number(text: String, range: Range) -> Self {
        Val { text, constant: None, is_truth: false, range }
    }

    fn truth(text: String) -> Self {
        Val { text, constant: None, is_truth: true, range: (0, 1) }
    }

    /// A C condition that is true when the value is not 0.
    pub(crate) fn condition(&self) -> String {
        match self.constant {
            Some(value) => (value != 0).to_string(),
            None if self.is_truth => self.text.clone(),
            None => format!("({} != 0)", self.text),
        }
    }
}

impl<'a> Coder<'a> {
    pub(crate) fn new(program: &'a Program, bounds: &'a Bounds, role: Role, ranges: Vec<Range>) -> Self {
        Coder { program, bounds, role, references: Vec::new(), ranges, out: String::new(), indent: 1, temporaries: 0 }
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, text: &str) {
        // Braces open and close blocks at the ends of lines only.
        if text.starts_with('}') {
            self.indent -= 1;
        }
        let _ = writeln!(self.out, "{:width$}{text}", "", width = self.indent * 2);
        if text.ends_with('{') {
            self.indent += 1;
        }
    }

    /// A name that is not used yet.
    pub(crate) fn fresh(&mut self, letter: char) -> String {
        self.temporaries += 1;
        format!("{letter}{}", self.temporaries)
    }

    /// Ends with a fault.
    pub(crate) fn fault(&self, fault: FaultId) -> String {
        format!("return FAULT({});", fault.0)
    }

    /// Keeps a value where nothing that follows changes it.
    pub(crate) fn kept(&mut self, value: Val) -> Val {
        if value.constant.is_some() {
            return value;
        }
        let name = self.fresh('t');
        let ty = if value.is_truth { "bool" } else { "i64" };
        self.line(&format!("{ty} {name} = {};", value.text));
        Val { text: name, ..value }
    }

    /// Writes something elsewhere, as inside a block, and gives back what was written.
    fn apart<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> (T, String) {
        let outer = std::mem::take(&mut self.out);
        self.indent += 1;
        let result = write(self);
        self.indent -= 1;
        (result, std::mem::replace(&mut self.out, outer))
    }

    /// Takes one unit of fuel.
    pub(crate) fn burn(&mut self, fault: FaultId) {
        if self.bounds.metered {
            let end = self.fault(fault);
            self.line(&format!("if (!burn(x)) {end}"));
        }
    }

    /// An expression. Statements that it needs are written first.
    pub(crate) fn value(&mut self, expr: &Expr) -> Val {
        match expr {
            Expr::Const(value) => Val::constant(*value),
            Expr::Reg(Reg(number)) => Val::number(format!("r{number}"), self.ranges[*number as usize]),
            Expr::Load { place, bits } => {
                let spot = self.spot(place, false);
                Val::number(self.load(&spot, u32::from(*bits)), bounds::of_bits(u32::from(*bits)))
            }
            Expr::Unary(op, operand) => {
                let value = self.value(operand);
                unary(*op, &value)
            }
            Expr::Binary(op, left, right) => {
                let (left, right) = self.both(left, right);
                binary(*op, &left, &right)
            }
            Expr::Checked { op, left, right, fault } => self.checked(*op, left, right, *fault),
            Expr::All(operands) => self.lazily(operands, true),
            Expr::Any(operands) => self.lazily(operands, false),
            Expr::Select(condition, then, otherwise) => self.select(condition, then, otherwise),
            Expr::Require { value, test, fault } => self.require(value, *test, *fault),
            Expr::Loop(fold) => self.fold(fold),
            Expr::Call { function, arguments, fuel } => self.call(*function, arguments, *fuel),
        }
    }

    /// Two operands, the left one first.
    fn both(&mut self, left: &Expr, right: &Expr) -> (Val, Val) {
        let mut first = self.value(left);
        if bounds::has_effect(right) {
            first = self.kept(first);
        }
        (first, self.value(right))
    }

    fn checked(&mut self, op: CheckedOp, left: &Expr, right: &Expr, fault: FaultId) -> Val {
        let (left, right) = self.both(left, right);
        if let (Some(one), Some(other)) = (left.constant, right.constant)
            && let Some(value) = op.apply(one, other)
        {
            return Val::constant(value);
        }
        let total = match op {
            CheckedOp::Add => Some(BinaryOp::Add),
            CheckedOp::Sub => Some(BinaryOp::Sub),
            CheckedOp::Mul => Some(BinaryOp::Mul),
            _ => None,
        };
        if let Some(total) = total
            && bounds::of_operator(total, left.range, right.range) != ANY
        {
            return binary(total, &left, &right);
        }
        let (name, end) = (self.fresh('t'), self.fault(fault));
        let word = match op {
            CheckedOp::Add => "checked_add",
            CheckedOp::Sub => "checked_sub",
            CheckedOp::Mul => "checked_mul",
            CheckedOp::Div => "checked_div",
            CheckedOp::Rem => "checked_rem",
            CheckedOp::UnsignedAdd => "unsigned_add",
            CheckedOp::UnsignedSub => "unsigned_sub",
            CheckedOp::UnsignedMul => "unsigned_mul",
            CheckedOp::UnsignedDiv => "unsigned_div",
            CheckedOp::UnsignedRem => "unsigned_rem",
        };
        self.line(&format!("i64 {name};"));
        self.line(&format!("if (!{word}({}, {}, {name})) {end}", left.text, right.text));
        Val::number(name, ANY)
    }

    /// A conjunction or disjunction. From the first operand on that needs statements it is one, too.
    fn lazily(&mut self, operands: &[Expr], all: bool) -> Val {
        let sign = if all { " && " } else { " || " };
        let mut texts = Vec::new();
        let mut name = None;
        for operand in operands {
            let (value, written) = self.apart(|coder| coder.value(operand));
            if let Some(name) = &name {
                let goes_on = if all { String::clone(name) } else { format!("!{name}") };
                self.guarded(&format!("if ({goes_on}) {{"), &written, &format!("{name} = {};", value.condition()));
                continue;
            }
            if !written.is_empty() {
                let fresh = self.fresh('t');
                let before = if texts.is_empty() { all.to_string() } else { texts.join(sign) };
                self.line(&format!("bool {fresh} = {before};"));
                let goes_on = if all { fresh.clone() } else { format!("!{fresh}") };
                let opening = if texts.is_empty() { "{".to_string() } else { format!("if ({goes_on}) {{") };
                self.guarded(&opening, &written, &format!("{fresh} = {};", value.condition()));
                name = Some(fresh);
                continue;
            }
            match value.constant {
                // A constant that decides the result ends it; any other is left out.
                Some(value) if (value != 0) != all => {
                    texts.push((!all).to_string());
                    break;
                }
                Some(_) => {}
                None => texts.push(value.condition()),
            }
        }
        match (name, &texts[..]) {
            (Some(name), _) => Val::truth(name),
            (None, []) => Val::constant(i64::from(all)),
            (None, [only]) => Val::truth(only.clone()),
            (None, _) => Val::truth(format!("({})", texts.join(sign))),
        }
    }

    /// A block of statements that were written apart, and one more.
    fn guarded(&mut self, opening: &str, written: &str, last: &str) {
        self.line(opening);
        self.out.push_str(written);
        self.line(last);
        self.line("}");
    }

    fn select(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr) -> Val {
        let asked = self.value(condition);
        if let Some(value) = asked.constant {
            return self.value(if value != 0 { then } else { otherwise });
        }
        let (one, first) = self.apart(|coder| coder.value(then));
        let (other, second) = self.apart(|coder| coder.value(otherwise));
        let range = (one.range.0.min(other.range.0), one.range.1.max(other.range.1));
        if first.is_empty() && second.is_empty() {
            return Val::number(format!("({} ? (i64){} : (i64){})", asked.condition(), one.text, other.text), range);
        }
        let name = self.fresh('t');
        self.line(&format!("i64 {name};"));
        self.line(&format!("if ({}) {{", asked.condition()));
        self.out.push_str(&first);
        self.line(&format!("{name} = {};", one.text));
        self.line("} else {");
        self.out.push_str(&second);
        self.line(&format!("{name} = {};", other.text));
        self.line("}");
        Val::number(name, range)
    }

    fn require(&mut self, value: &Expr, test: Test, fault: FaultId) -> Val {
        let value = self.value(value);
        let (low, high) = value.range;
        let passes = match test {
            Test::NonZero => low > 0 || high < 0,
            Test::Between(from, to) => from <= low && high <= to,
        };
        if passes {
            return value;
        }
        let (value, end) = (self.kept(value), self.fault(fault));
        let text = &value.text;
        let (fails, range) = match test {
            Test::NonZero => (format!("{text} == 0"), if low == 0 { (1, high.max(1)) } else { (low, high) }),
            Test::Between(from, to) => {
                let below = (low < from).then(|| format!("{text} < {}", Val::constant(from).text));
                let above = (high > to).then(|| format!("{text} > {}", Val::constant(to).text));
                let range = if from.max(low) <= to.min(high) { (from.max(low), to.min(high)) } else { (low, high) };
                (below.into_iter().chain(above).collect::<Vec<_>>().join(" || "), range)
            }
        };
        self.line(&format!("if ({fails}) {end}"));
        Val { range, ..value }
    }

    fn fold(&mut self, fold: &LoopExpr) -> Val {
        let name = self.fresh('t');
        let begins = i64::from(fold.kind == LoopKind::All);
        self.line(&format!("i64 {name} = {begins};"));
        self.counting((fold.register, &fold.from, &fold.to, fold.by), fold.fuel, |coder| {
            let round = coder.value(&fold.body);
            match fold.kind {
                LoopKind::All => coder.line(&format!("if (!{}) {{ {name} = 0; break; }}", round.condition())),
                LoopKind::Any => coder.line(&format!("if ({}) {{ {name} = 1; break; }}", round.condition())),
                LoopKind::Sum => coder.line(&format!("{name} = add({name}, {});", round.text)),
            }
        });
        Val::number(name, if fold.kind == LoopKind::Sum { ANY } else { (0, 1) })
    }

    /// A loop that counts a register up or down.
    pub(crate) fn counting(&mut self, (register, from, to, by): (Reg, &Expr, &Expr, i64), fuel: FaultId, body: impl FnOnce(&mut Self)) {
        let (mut from, mut to) = self.both(from, to);
        // The ends are evaluated once, and the body may change what they read.
        (from, to) = (self.kept(from), self.kept(to));
        let (counter, past) = (self.fresh('v'), if by < 0 { ">=" } else { "<=" });
        let number = register.0 as usize;
        let range = (from.range.0.min(to.range.0), from.range.1.max(to.range.1));
        let steps_stay = if by > 0 { to.range.1.checked_add(by).is_some() } else { to.range.0.checked_add(by).is_some() };
        let step = if steps_stay { format!("{counter} += {by}") } else { String::new() };
        self.line(&format!("for (i64 {counter} = {}; {counter} {past} {}; {step}) {{", from.text, to.text));
        self.burn(fuel);
        self.line(&format!("r{number} = {counter};"));
        let outer = std::mem::replace(&mut self.ranges[number], range);
        body(self);
        self.ranges[number] = outer;
        if !steps_stay {
            self.line(&format!("if (!checked_add({counter}, {}, {counter})) break;", Val::constant(by).text));
        }
        self.line("}");
    }

    fn call(&mut self, FunctionId(number): FunctionId, arguments: &[Argument], fuel: FaultId) -> Val {
        let function = &self.program.functions[number as usize];
        let keeps = arguments.iter().any(|argument| match argument {
            Argument::Value(expr) => bounds::has_effect(expr),
            Argument::Place(place) => place.indices.iter().any(|index| bounds::has_effect(&index.value)),
        });
        let mut given = vec!["s".to_string(), "x".to_string()];
        for (argument, parameter) in arguments.iter().zip(&function.parameters) {
            match argument {
                Argument::Value(expr) => {
                    let mut value = self.value(expr);
                    if keeps {
                        value = self.kept(value);
                    }
                    given.push(value.text);
                }
                Argument::Place(place) => {
                    let spot = self.spot(place, keeps);
                    if matches!(parameter, Parameter::Reference { region: Region::Frame, .. }) {
                        given.push(spot.base.clone());
                    }
                    given.push(spot.bit());
                }
            }
        }
        self.burn(fuel);
        let frame = function.body.frame;
        if self.bounds.deep {
            let end = self.fault(fuel);
            self.line(&format!("if (!enter(x, {frame})) {end}"));
        }
        let (result, ended) = (self.fresh('t'), self.fresh('e'));
        given.push(result.clone());
        self.line(&format!("i64 {result} = 0;"));
        self.line(&format!("int {ended} = {}({});", super::function_name(self.program, number), given.join(", ")));
        self.line(&format!("if ({ended}) return {ended};"));
        if self.bounds.deep {
            self.line(&format!("leave(x, {frame});"));
        }
        Val::number(result, ANY)
    }
}

fn unary(op: UnaryOp, value: &Val) -> Val {
    if let Some(constant) = value.constant {
        return Val::constant(op.apply(constant));
    }
    match op {
        UnaryOp::Not => Val::truth(format!("!{}", value.condition())),
        UnaryOp::Negate => Val::number(format!("sub(0, {})", value.text), ANY),
        UnaryOp::Complement => Val::number(format!("(~(i64){})", value.text), ANY),
    }
}

fn binary(op: BinaryOp, left: &Val, right: &Val) -> Val {
    if let (Some(one), Some(other)) = (left.constant, right.constant) {
        return Val::constant(op.apply(one, other));
    }
    let range = bounds::of_operator(op, left.range, right.range);
    let (one, other) = (&left.text, &right.text);
    let infix = |sign: &str| format!("((i64){one} {sign} (i64){other})");
    let compared = |sign: &str| Val::truth(format!("({one} {sign} {other})"));
    let fits = range != ANY;
    match op {
        BinaryOp::Add if fits => Val::number(infix("+"), range),
        BinaryOp::Sub if fits => Val::number(infix("-"), range),
        BinaryOp::Mul if fits => Val::number(infix("*"), range),
        BinaryOp::Add => Val::number(format!("add({one}, {other})"), range),
        BinaryOp::Sub => Val::number(format!("sub({one}, {other})"), range),
        BinaryOp::Mul => Val::number(format!("mul({one}, {other})"), range),
        BinaryOp::And => Val::number(infix("&"), range),
        BinaryOp::Or => Val::number(infix("|"), range),
        BinaryOp::Xor => Val::number(infix("^"), range),
        BinaryOp::Shl => Val::number(format!("shl({one}, {other})"), range),
        BinaryOp::Shr => Val::number(format!("shr({one}, {other})"), range),
        BinaryOp::Ushr => Val::number(format!("ushr({one}, {other})"), range),
        BinaryOp::Eq => compared("=="),
        BinaryOp::Ne => compared("!="),
        BinaryOp::Lt => compared("<"),
        BinaryOp::Le => compared("<="),
        BinaryOp::Gt => compared(">"),
        BinaryOp::Ge => compared(">="),
        // Programs with real numbers are refused before they are written down.
        BinaryOp::Real(_) => Val::constant(0),
    }
}
