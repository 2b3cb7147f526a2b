//! Rules, start states, and the rulesets, aliases and choices around them.

use super::Elaborator;
use super::build;
use super::code::{Code, Kind};
use super::locals;
use super::loops::{Iteration, Step};
use super::operand::Operand;
use super::scopes::{Scope, Symbol};
use super::types::Ty;
use crate::murphi::ast::{self, Decl, Name, Quantifier};
use crate::source::Span;
use std::collections::HashSet;
use wayfarer_ir::{Argument, Block, Body, Expr, Formula, Reg, Rule, RuleParameter, Stmt};

/// The most instances of rules: with more, the search would spend its time on guards.
const MOST_INSTANCES: u64 = 1 << 22;

/// A block around rules.
pub(super) enum Enclosure<'a> {
    /// A parameter of a ruleset with the names that its type declares.
    Parameter { scope: Scope, parameter: RuleParameter },
    /// An alias, whose indices are computed again for each guard and command, and whether it was valid when it was
    /// first read.
    Alias(&'a ast::Alias, bool),
    /// The choice of an element of a bag, which is a parameter that ranges over the slots.
    Choice { name: &'a Name, bag: &'a ast::Expr, parameter: RuleParameter, fine: bool },
    /// Constants and types declared inside a block.
    Names(Scope),
}

impl Enclosure<'_> {
    pub(super) fn parameter(&self) -> Option<&RuleParameter> {
        match self {
            Enclosure::Parameter { parameter, .. } | Enclosure::Choice { parameter, .. } => Some(parameter),
            Enclosure::Alias(..) | Enclosure::Names(_) => None,
        }
    }
}

/// Counters that name unnamed rules and enforce the limit on instances.
#[derive(Default)]
pub(super) struct Numbering {
    rules: u32,
    starts: u32,
    pub(super) properties: [u32; 4],
    /// The priority of each rule.
    pub(super) priorities: Vec<i64>,
    instances: u64,
    over_limit: bool,
}

impl<'a> Elaborator<'a> {
    pub(super) fn rule(&mut self, rule: &'a ast::Rule) {
        match rule {
            ast::Rule::Simple(rule) => self.simple_rule(rule),
            ast::Rule::Start(start) => self.start_state(start),
            ast::Rule::Property(property) => self.property(property),
            ast::Rule::Ruleset { quantifiers, rules, .. } => self.enclosed(rules, |this| {
                quantifiers.iter().for_each(|quantifier| this.enter_ruleset(quantifier));
            }),
            ast::Rule::Alias { aliases, rules, .. } => self.enclosed(rules, |this| {
                for alias in aliases {
                    this.scopes.open();
                    this.code = Code::formula(this.parameter_count());
                    let fine = this.alias(alias, None);
                    this.around.push(Enclosure::Alias(alias, fine));
                }
            }),
            ast::Rule::Choose { name, bag, rules, .. } => self.enclosed(rules, |this| this.enter_choice(name, bag)),
            ast::Rule::Decl(decl) => self.enclosed_declaration(decl),
        }
    }

    /// Reads rules inside a block that `enter` adds to the enclosing ones.
    fn enclosed(&mut self, rules: &'a [ast::Rule], enter: impl FnOnce(&mut Self)) {
        let (depth, aside) = (self.around.len(), self.scopes.mark());
        enter(self);
        rules.iter().for_each(|rule| self.rule(rule));
        self.around.truncate(depth);
        self.scopes.reset(aside);
    }

    fn parameter_count(&self) -> u32 {
        self.around.iter().filter(|enclosure| enclosure.parameter().is_some()).count() as u32
    }

    fn enter_ruleset(&mut self, quantifier: &'a Quantifier) {
        let register = Reg(self.parameter_count());
        self.code = Code::formula(register.0);
        self.scopes.open();
        let domain = self.domain(quantifier);
        let parameter = domain.as_ref().and_then(|domain| self.rule_parameter(quantifier, domain));
        let symbol = match (&parameter, domain) {
            (Some(_), Some(domain)) => domain.variable(register),
            _ => Symbol::Operand(Operand::Error),
        };
        self.declare(&quantifier.name, symbol);
        let nothing = || RuleParameter { name: quantifier.name.text.clone(), ty: self.types.ir(Ty::BOOLEAN), from: 0, by: 1, count: 1 };
        let parameter = parameter.unwrap_or_else(nothing);
        self.around.push(Enclosure::Parameter { scope: self.scopes.innermost(), parameter });
    }

    fn rule_parameter(&mut self, quantifier: &'a Quantifier, domain: &Iteration) -> Option<RuleParameter> {
        let (Expr::Const(from), Expr::Const(to), Step::Constant(by)) = (&domain.from, &domain.to, &domain.by) else {
            self.error_with_help(
                quantifier.name.span,
                format!("the bounds of the ruleset parameter `{}` must be constants", quantifier.name.text),
                "a ruleset stands for a fixed number of rules",
            );
            return None;
        };
        let (from, to, by) = (*from, *to, *by);
        let count = (i128::from(to) - i128::from(from)) / i128::from(by) + 1;
        if count > i128::from(MOST_INSTANCES) {
            self.error_with_help(
                quantifier.name.span,
                format!("`{}` has {count} values: at most {MOST_INSTANCES} instances of a rule are supported", quantifier.name.text),
                "use a smaller type, or choose the value in several steps",
            );
            return None;
        }
        let ty = match self.types.is_number(domain.ty) {
            // The interval of a domain without sign is not that of the registers.
            true if domain.range.is_unsigned() => self.types.range_type(None, domain.range.low, domain.range.high),
            true => self.types.range_type(None, from.min(to).into(), from.max(to).into()),
            false => domain.ty,
        };
        Some(RuleParameter { name: quantifier.name.text.clone(), ty: self.types.ir(ty), from, by, count: count.max(0) as u32 })
    }

    fn enter_choice(&mut self, name: &'a Name, bag: &'a ast::Expr) {
        let register = Reg(self.parameter_count());
        self.code = Code::formula(register.0);
        self.scopes.open();
        let chosen = self.choose(name, bag, register, None);
        let fine = chosen.is_some();
        if !fine {
            self.declare(name, Symbol::Operand(Operand::Error));
        }
        let (ty, count) = chosen.map_or((Ty::BOOLEAN, 1), |chosen| (chosen.ty, chosen.capacity));
        let parameter = RuleParameter { name: name.text.clone(), ty: self.types.ir(ty), from: 0, by: 1, count };
        self.around.push(Enclosure::Choice { name, bag, parameter, fine });
    }

    fn enclosed_declaration(&mut self, decl: &'a Decl) {
        if let Decl::Var { names, ty } = decl {
            let span = names.first().map_or(ty.span, |name| name.span);
            return self.error_with_help(span, "variables of the state cannot be declared inside a block of rules", "declare it at the top level");
        }
        self.scopes.open();
        self.local_declarations(std::slice::from_ref(decl), &HashSet::new());
        self.around.push(Enclosure::Names(self.scopes.innermost()));
    }

    /// Enters the names of all blocks around a rule, for code whose first registers are the parameters. Returns the
    /// conditions that choices add, each with the number of its parameter.
    pub(super) fn enter_around(&mut self, mut block: Option<&mut Block>) -> Vec<(u32, Expr)> {
        let around = std::mem::take(&mut self.around);
        let muted = std::mem::replace(&mut self.muted, true);
        let mut conditions = Vec::new();
        let mut parameters = 0;
        for enclosure in &around {
            self.scopes.open();
            match enclosure {
                Enclosure::Parameter { scope, .. } => {
                    self.scopes.close();
                    self.scopes.open_with(scope.clone());
                    parameters += 1;
                }
                Enclosure::Names(scope) => {
                    self.scopes.close();
                    self.scopes.open_with(scope.clone());
                }
                Enclosure::Alias(alias, true) => drop(self.alias(alias, block.as_deref_mut())),
                Enclosure::Alias(alias, false) => self.declare(&alias.name, Symbol::Operand(Operand::Error)),
                Enclosure::Choice { name, bag, fine, .. } => {
                    let chosen = if *fine { self.choose(name, bag, Reg(parameters), block.as_deref_mut()) } else { None };
                    match chosen {
                        Some(chosen) => conditions.push((parameters, chosen.condition)),
                        None => self.declare(name, Symbol::Operand(Operand::Error)),
                    }
                    parameters += 1;
                }
            }
        }
        self.muted = muted;
        self.around = around;
        conditions
    }

    fn simple_rule(&mut self, rule: &'a ast::SimpleRule) {
        self.numbering.rules += 1;
        let name = rule.name.as_ref().map_or_else(|| format!("rule {}", self.numbering.rules), |name| name.text.clone());
        self.numbering.priorities.push(rule.priority.map_or(0, |priority| priority.value));
        let guard = self.guard(rule.guard.as_ref(), &name, rule.span);
        let command = self.command(&rule.decls, &rule.body, rule.span);
        let made = self.family(name, guard, command, rule.span);
        self.program.rules.push(made);
    }

    fn start_state(&mut self, start: &'a ast::StartState) {
        self.numbering.starts += 1;
        let name = start.name.as_ref().map_or_else(|| format!("startstate {}", self.numbering.starts), |name| name.text.clone());
        let guard = self.guard(None, &name, start.span);
        self.asymmetries.starting = true;
        let command = self.command(&start.decls, &start.body, start.span);
        self.asymmetries.starting = false;
        let made = self.family(name, guard, command, start.span);
        self.program.starts.push(made);
    }

    fn family(&mut self, name: String, guard: Formula, command: Body, span: Span) -> Rule {
        let parameters: Vec<RuleParameter> = self.around.iter().filter_map(|enclosure| enclosure.parameter().cloned()).collect();
        let rule = Rule { name, parameters, guard, command, at: self.at(span) };
        let instances = rule.parameters.iter().try_fold(1u64, |product, parameter| product.checked_mul(parameter.count.into()));
        self.numbering.instances = self.numbering.instances.saturating_add(instances.unwrap_or(u64::MAX));
        if self.numbering.instances > MOST_INSTANCES && !self.numbering.over_limit {
            self.numbering.over_limit = true;
            let message = match instances {
                Some(instances) if instances <= MOST_INSTANCES => format!("with this one, the rules have more than {MOST_INSTANCES} instances"),
                Some(instances) => format!("this rule has {instances} instances: at most {MOST_INSTANCES} are supported"),
                None => format!("this rule has more than 2^64 instances: at most {MOST_INSTANCES} are supported"),
            };
            self.error_with_help(span, message, "use smaller types for the parameters of its rulesets");
        }
        rule
    }

    fn guard(&mut self, guard: Option<&'a ast::Expr>, name: &str, span: Span) -> Formula {
        let parameters = self.parameter_count();
        self.code = Code::formula(parameters);
        let aside = self.scopes.set_aside();
        let mut conditions: Vec<Expr> = self.enter_around(None).into_iter().map(|(_, condition)| condition).collect();
        conditions.extend(guard.and_then(|guard| self.truth(guard, "a guard")));
        self.scopes.restore(aside);
        let (registers, value) = self.formula(build::all(conditions), parameters, &format!("guard of {name}"), span);
        Formula { registers, value }
    }

    /// Ends the formula being built. Returns the number of registers it needs and its value.
    pub(super) fn formula(&mut self, value: Expr, parameters: u32, name: &str, span: Span) -> (u32, Expr) {
        let code = std::mem::replace(&mut self.code, Code::formula(0));
        if code.frame.words == 0 {
            return (code.registers, value);
        }
        let function = self.wrap(name, code, value, parameters, span);
        let arguments = (0..parameters).map(|number| Argument::Value(Expr::Reg(Reg(number)))).collect();
        (parameters, Expr::Call { function, arguments, fuel: self.fuel(span, "condition") })
    }

    fn command(&mut self, decls: &'a [Decl], body: &'a [ast::Stmt], span: Span) -> Body {
        self.code = Code::new(Kind::Command, self.parameter_count());
        let aside = self.scopes.set_aside();
        let mut block = Block::new();
        self.enter_around(Some(&mut block));
        self.scopes.open();
        let addressed = locals::addressed(self, body);
        self.local_declarations(decls, &addressed);
        self.statements(body, &mut block);
        self.check_rounds(self.command_owner(), decls, body);
        let effects = std::mem::take(&mut self.code.effects);
        let sorts = self.sorts(&effects, span);
        if !sorts.is_empty() {
            before_returns(&mut block, &sorts);
            block.extend(sorts);
        }
        self.scopes.restore(aside);
        let code = std::mem::replace(&mut self.code, Code::formula(0));
        Body { registers: code.registers, frame: code.frame.words, block }
    }

    /// Checks that are possible only when all rules were read.
    pub(super) fn finish_rules(&mut self) {
        if self.numbering.starts == 0 {
            self.warn(
                Span::default(),
                "the model has no start state, so there is nothing to explore",
                "write `startstate … end` to say where it begins",
            );
        }
        self.order_by_priority();
    }
}

/// Inserts statements before every return.
fn before_returns(block: &mut Block, statements: &Block) {
    for number in (0..block.len()).rev() {
        match &mut block[number] {
            Stmt::Return(_) => drop(block.splice(number..number, statements.iter().cloned())),
            Stmt::If { branches, otherwise } => {
                branches.iter_mut().for_each(|(_, body)| before_returns(body, statements));
                before_returns(otherwise, statements);
            }
            Stmt::While { body, .. } | Stmt::For { body, .. } => before_returns(body, statements),
            _ => {}
        }
    }
}
