//! Writes a generated model as Murphi, with no more parentheses than precedence requires, so that the parser's
//! precedence is tested too.

use super::tree::{Argument, Arithmetic, Block, Comparison, Domain, Expr, Local, LocalId, LocalType, Model, Place, Root, Step, Stmt, Type, TypeId};
use std::fmt::Write;

/// The model as text.
pub(crate) fn print(model: &Model) -> String {
    let mut printer = Printer { model, out: String::new(), indent: 0 };
    printer.declarations();
    printer.functions();
    for unit in &model.units {
        printer.block(&unit.block, &unit.locals);
    }
    printer.out
}

struct Printer<'a> {
    model: &'a Model,
    out: String,
    indent: usize,
}

/// Binding strength, loosest first.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Level {
    Conditional,
    Implies,
    Or,
    And,
    Not,
    Compare,
    Add,
    Multiply,
    Prefix,
    Atom,
}

impl Printer<'_> {
    fn line(&mut self, text: impl AsRef<str>) {
        let _ = writeln!(self.out, "{}{}", "  ".repeat(self.indent), text.as_ref());
    }

    fn declarations(&mut self) {
        for (name, value) in &self.model.constants {
            self.line(format!("const {name}: {value};"));
        }
        for decl in self.model.types.iter().filter(|decl| !decl.inline && !matches!(decl.ty, Type::Boolean)) {
            let text = self.type_text(&decl.ty);
            self.line(format!("type {}: {text};", decl.name));
        }
        for (name, ty) in &self.model.globals {
            let text = self.type_name(*ty);
            self.line(format!("var {name}: {text};"));
        }
    }

    fn functions(&mut self) {
        for function in &self.model.functions {
            let parameters: Vec<String> = function
                .parameters
                .iter()
                .map(|parameter| {
                    let prefix = if parameter.by_reference { "var " } else { "" };
                    let local = &function.locals[parameter.local];
                    format!("{prefix}{}: {}", local.name, self.local_type(&local.ty))
                })
                .collect();
            let parameters = parameters.join("; ");
            match function.result {
                Some(ty) => self.line(format!("function {}({parameters}): {};", function.name, self.type_name(ty))),
                None => self.line(format!("procedure {}({parameters});", function.name)),
            }
            self.body(&function.variables, &function.body, &function.locals);
            self.line("end;");
        }
    }

    fn body(&mut self, variables: &[LocalId], body: &[Stmt], locals: &[Local]) {
        for variable in variables {
            let local = &locals[*variable];
            let text = self.local_type(&local.ty);
            self.line(format!("  var {}: {text};", local.name));
        }
        self.line("begin");
        self.statements(body, locals);
    }

    fn block(&mut self, block: &Block, locals: &[Local]) {
        match block {
            Block::Ruleset(binders, inner) => {
                let binders = self.binders(binders, locals);
                self.line(format!("ruleset {binders} do"));
                self.blocks(inner, locals);
            }
            Block::Alias(local, place, inner) => {
                self.line(format!("alias {}: {} do", locals[*local].name, self.place(place, locals)));
                self.blocks(inner, locals);
            }
            Block::Choose(local, place, inner) => {
                self.line(format!("choose {}: {} do", locals[*local].name, self.place(place, locals)));
                self.blocks(inner, locals);
            }
            Block::Rule { name, guard, variables, body } => {
                self.line(format!("rule \"{name}\""));
                if let Some(guard) = guard {
                    let guard = self.expr(guard, locals);
                    self.line(format!("  {guard} ==>"));
                }
                self.body(variables, body, locals);
                self.line("end;");
            }
            Block::Start { name, variables, body } => {
                self.line(format!("startstate \"{name}\""));
                self.body(variables, body, locals);
                self.line("end;");
            }
            Block::Invariant { name, condition } => {
                let condition = self.expr(condition, locals);
                self.line(format!("invariant \"{name}\" {condition};"));
            }
        }
    }

    fn blocks(&mut self, blocks: &[Block], locals: &[Local]) {
        self.indent += 1;
        for block in blocks {
            self.block(block, locals);
        }
        self.indent -= 1;
        self.line("end;");
    }

    fn statements(&mut self, statements: &[Stmt], locals: &[Local]) {
        self.indent += 1;
        for statement in statements {
            self.statement(statement, locals);
        }
        self.indent -= 1;
    }

    fn statement(&mut self, statement: &Stmt, locals: &[Local]) {
        match statement {
            Stmt::Assign(place, value) => self.line(format!("{} := {};", self.place(place, locals), self.expr(value, locals))),
            Stmt::Copy(to, from) => self.line(format!("{} := {};", self.place(to, locals), self.place(from, locals))),
            Stmt::If(branches, otherwise) => {
                for (number, (condition, body)) in branches.iter().enumerate() {
                    let word = if number == 0 { "if" } else { "elsif" };
                    self.line(format!("{word} {} then", self.expr(condition, locals)));
                    self.statements(body, locals);
                }
                self.otherwise(otherwise.as_deref(), locals);
            }
            Stmt::Switch(subject, cases, otherwise) => {
                self.line(format!("switch {}", self.expr(subject, locals)));
                for (labels, body) in cases {
                    let labels: Vec<String> = labels.iter().map(|label| self.expr(label, locals)).collect();
                    self.line(format!("case {}:", labels.join(", ")));
                    self.statements(body, locals);
                }
                self.otherwise(otherwise.as_deref(), locals);
            }
            Stmt::For(binders, body) => {
                let binders = self.binders(binders, locals);
                self.line(format!("for {binders} do"));
                self.statements(body, locals);
                self.line("end;");
            }
            Stmt::While { counter, rounds, condition, body } => {
                let counter = &locals[*counter].name;
                self.line(format!("{counter} := 0;"));
                self.line(format!("while {counter} < {rounds} & {} do", self.at(condition, locals, Level::Not)));
                self.statements(body, locals);
                self.line(format!("  {counter} := {counter} + 1;"));
                self.line("end;");
            }
            Stmt::Alias(aliases, body) => {
                let aliases: Vec<String> =
                    aliases.iter().map(|(local, place)| format!("{}: {}", locals[*local].name, self.place(place, locals))).collect();
                self.line(format!("alias {} do", aliases.join("; ")));
                self.statements(body, locals);
                self.line("end;");
            }
            Stmt::Call(function, arguments) => self.line(format!("{};", self.call(*function, arguments, locals))),
            Stmt::Clear(place) => self.line(format!("clear {};", self.place(place, locals))),
            Stmt::Undefine(place) => self.line(format!("undefine {};", self.place(place, locals))),
            Stmt::Return(None) => self.line("return;"),
            Stmt::Return(Some(value)) => self.line(format!("return {};", self.argument(value, locals))),
            Stmt::CopyResult(to, function, arguments) => {
                self.line(format!("{} := {};", self.place(to, locals), self.call(*function, arguments, locals)));
            }
            Stmt::Assert(condition, message) => self.line(format!("assert {} \"{message}\";", self.expr(condition, locals))),
            Stmt::Error(message) => self.line(format!("error \"{message}\";")),
            Stmt::Put(value) => self.line(format!("put {};", self.expr(value, locals))),
            Stmt::BagAdd(element, bag) => self.line(format!("multisetadd({}, {});", self.argument(element, locals), self.place(bag, locals))),
            Stmt::BagRemove(slot, bag) => self.line(format!("multisetremove({}, {});", locals[*slot].name, self.place(bag, locals))),
            Stmt::BagRemoveIf(slot, bag, condition) => {
                let (bag, condition) = (self.place(bag, locals), self.expr(condition, locals));
                self.line(format!("multisetremovepred({}: {bag}, {condition});", locals[*slot].name));
            }
        }
    }

    fn otherwise(&mut self, otherwise: Option<&[Stmt]>, locals: &[Local]) {
        if let Some(body) = otherwise {
            self.line("else");
            self.statements(body, locals);
        }
        self.line("end;");
    }

    fn binders(&self, binders: &[(LocalId, Domain)], locals: &[Local]) -> String {
        let texts: Vec<String> = binders
            .iter()
            .map(|(local, domain)| {
                let name = &locals[*local].name;
                match domain {
                    Domain::Type(ty) => format!("{name}: {}", self.type_name(*ty)),
                    Domain::Span(from, to, 1) => format!("{name} := {} to {}", self.expr(from, locals), self.expr(to, locals)),
                    Domain::Span(from, to, by) => format!("{name} := {} to {} by {by}", self.expr(from, locals), self.expr(to, locals)),
                }
            })
            .collect();
        texts.join("; ")
    }

    fn place(&self, place: &Place, locals: &[Local]) -> String {
        let mut text = match place.root {
            Root::Global(number) => self.model.globals[number].0.clone(),
            Root::Local(local) => locals[local].name.clone(),
        };
        let mut ty = match place.root {
            Root::Global(number) => self.model.globals[number].1,
            Root::Local(local) => match locals[local].ty {
                LocalType::Of(ty) => ty,
                LocalType::Number | LocalType::Slot(_) => return text,
            },
        };
        for step in &place.path {
            match (step, &self.model.types[ty].ty) {
                (Step::Field(number), Type::Record(fields)) => {
                    let _ = write!(text, ".{}", fields[*number].0);
                    ty = fields[*number].1;
                }
                (Step::Index(index), Type::Array(_, element)) => {
                    let _ = write!(text, "[{}]", self.expr(index, locals));
                    ty = *element;
                }
                (Step::Slot(slot), Type::Bag(_, element)) => {
                    let _ = write!(text, "[{}]", locals[*slot].name);
                    ty = *element;
                }
                other => unreachable!("a step that does not fit its type: {other:?}"),
            }
        }
        text
    }

    fn call(&self, function: usize, arguments: &[Argument], locals: &[Local]) -> String {
        let arguments: Vec<String> = arguments.iter().map(|argument| self.argument(argument, locals)).collect();
        format!("{}({})", self.model.functions[function].name, arguments.join(", "))
    }

    fn argument(&self, argument: &Argument, locals: &[Local]) -> String {
        match argument {
            Argument::Value(value) => self.expr(value, locals),
            Argument::Place(place) => self.place(place, locals),
        }
    }

    fn expr(&self, expr: &Expr, locals: &[Local]) -> String {
        self.at(expr, locals, Level::Conditional)
    }

    /// The expression in a context where nothing that binds looser than `level` may go without parentheses.
    fn at(&self, expr: &Expr, locals: &[Local], level: Level) -> String {
        let (text, own) = self.bare(expr, locals);
        if own < level { format!("({text})") } else { text }
    }

    fn bare(&self, expr: &Expr, locals: &[Local]) -> (String, Level) {
        let at = |expr: &Expr, level| self.at(expr, locals, level);
        match expr {
            Expr::Number(value) if *value < 0 => (value.to_string(), Level::Prefix),
            Expr::Number(value) => (value.to_string(), Level::Atom),
            Expr::Boolean(value) => (value.to_string(), Level::Atom),
            Expr::Constant(number) => (self.model.constants[*number].0.clone(), Level::Atom),
            Expr::Member(ty, number) => match &self.model.types[*ty].ty {
                Type::Enum(names) => (names[*number].clone(), Level::Atom),
                other => unreachable!("{other:?} has no members with names"),
            },
            Expr::Read(place) => (self.place(place, locals), Level::Atom),
            Expr::Negate(operand) => (format!("-{}", at(operand, Level::Atom)), Level::Prefix),
            Expr::Arithmetic(operator, left, right) => {
                let (sign, level, next) = match operator {
                    Arithmetic::Add => ("+", Level::Add, Level::Multiply),
                    Arithmetic::Subtract => ("-", Level::Add, Level::Multiply),
                    Arithmetic::Multiply => ("*", Level::Multiply, Level::Prefix),
                    Arithmetic::Divide => ("/", Level::Multiply, Level::Prefix),
                    Arithmetic::Remainder => ("%", Level::Multiply, Level::Prefix),
                };
                (format!("{} {sign} {}", at(left, level), at(right, next)), level)
            }
            Expr::Compare(operator, left, right) => {
                let sign = match operator {
                    Comparison::Equal => "=",
                    Comparison::NotEqual => "!=",
                    Comparison::Less => "<",
                    Comparison::LessEqual => "<=",
                    Comparison::Greater => ">",
                    Comparison::GreaterEqual => ">=",
                };
                (format!("{} {sign} {}", at(left, Level::Add), at(right, Level::Add)), Level::Compare)
            }
            Expr::Same(equal, left, right) => {
                let sign = if *equal { "=" } else { "!=" };
                (format!("{} {sign} {}", self.place(left, locals), self.place(right, locals)), Level::Compare)
            }
            Expr::Not(operand) => (format!("!{}", at(operand, Level::Not)), Level::Not),
            Expr::And(operands) => {
                let texts: Vec<String> = operands.iter().map(|operand| at(operand, Level::Not)).collect();
                (texts.join(" & "), Level::And)
            }
            Expr::Or(operands) => {
                let texts: Vec<String> = operands.iter().map(|operand| at(operand, Level::And)).collect();
                (texts.join(" | "), Level::Or)
            }
            Expr::Implies(left, right) => (format!("{} -> {}", at(left, Level::Or), at(right, Level::Or)), Level::Implies),
            Expr::Conditional(condition, then, otherwise) => {
                let texts = (at(condition, Level::Implies), at(then, Level::Implies), at(otherwise, Level::Implies));
                (format!("{} ? {} : {}", texts.0, texts.1, texts.2), Level::Conditional)
            }
            Expr::Quantified { all, binders, body } => {
                let word = if *all { "forall" } else { "exists" };
                let text = format!("{word} {} do {} end", self.binders(binders, locals), self.expr(body, locals));
                (text, Level::Atom)
            }
            Expr::IsUndefined(place) => (format!("isundefined({})", self.place(place, locals)), Level::Atom),
            Expr::IsMember(value, ty) => (format!("ismember({}, {})", self.expr(value, locals), self.type_name(*ty)), Level::Atom),
            Expr::Count(slot, bag, condition) => {
                let text = format!("multisetcount({}: {}, {})", locals[*slot].name, self.place(bag, locals), self.expr(condition, locals));
                (text, Level::Atom)
            }
            Expr::Call(function, arguments) => (self.call(*function, arguments, locals), Level::Atom),
        }
    }

    fn local_type(&self, ty: &LocalType) -> String {
        match ty {
            LocalType::Of(ty) => self.type_name(*ty),
            LocalType::Number | LocalType::Slot(_) => unreachable!("only loops bind these, and they name no type"),
        }
    }

    fn type_name(&self, ty: TypeId) -> String {
        let decl = &self.model.types[ty];
        if decl.inline { self.type_text(&decl.ty) } else { decl.name.clone() }
    }

    fn type_text(&self, ty: &Type) -> String {
        match ty {
            Type::Boolean => "boolean".to_string(),
            Type::Range(low, high) => format!("{low} .. {high}"),
            Type::Enum(names) => format!("enum {{ {} }}", names.join(", ")),
            Type::Scalarset(count) => format!("scalarset({count})"),
            Type::Union(members) => {
                let members: Vec<String> = members.iter().map(|member| self.type_name(*member)).collect();
                format!("union {{ {} }}", members.join(", "))
            }
            Type::Record(fields) => {
                let fields: Vec<String> = fields.iter().map(|(name, ty)| format!("{name}: {};", self.type_name(*ty))).collect();
                format!("record {} end", fields.join(" "))
            }
            Type::Array(index, element) => format!("array [{}] of {}", self.type_name(*index), self.type_name(*element)),
            Type::Bag(capacity, element) => format!("multiset [{capacity}] of {}", self.type_name(*element)),
        }
    }
}
