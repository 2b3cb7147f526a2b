//! Invariants, assumptions and covers. Inside rulesets they hold for all parameters, or, for covers, for some.

use super::Elaborator;
use super::build;
use super::code::Code;
use super::rules::Enclosure;
use crate::murphi::ast::{self, ChainOp, ExprKind, PropertyKind as Kind, Text};
use crate::source::Span;
use wayfarer_ir::{At, Expr, LoopExpr, LoopKind, Property, PropertyId, PropertyKind, Reg};

impl<'a> Elaborator<'a> {
    pub(super) fn property(&mut self, property: &'a ast::Property) {
        let (number, word, kind) = match property.kind {
            Kind::Invariant => (0, "invariant", PropertyKind::Always),
            Kind::Assume => (1, "assumption", PropertyKind::Assumption),
            Kind::Cover => (2, "cover", PropertyKind::Reachable),
            Kind::Liveness => return self.liveness(property),
        };
        self.numbering.properties[number] += 1;
        let given = property.name.as_ref().map(|name| name.text.clone());
        let name = given.unwrap_or_else(|| format!("{word} {}", self.numbering.properties[number]));
        let mut conditions = Vec::new();
        if kind == PropertyKind::Reachable {
            conditions.push(&property.condition);
        } else {
            conjuncts(&property.condition, &mut conditions);
        }
        let mut registers = 0;
        let mut parts: Vec<(At, Expr)> = Vec::new();
        for condition in conditions {
            let what = format!("the condition of an {word}").replace("an cover", "a cover");
            if let Some((needed, expr)) = self.conjunct(condition, kind, &what, &name, property.span) {
                registers = registers.max(needed);
                parts.push((self.at(condition.span), expr));
            }
        }
        let at = self.at(property.span);
        self.program.properties.push(Property { name, kind, registers, conjuncts: parts, at });
    }

    /// A liveness property is checked for mistakes, and reported as not judged.
    fn liveness(&mut self, property: &'a ast::Property) {
        self.numbering.properties[3] += 1;
        let given = property.name.as_ref().map(|name| name.text.clone());
        let name = given.unwrap_or_else(|| format!("liveness {}", self.numbering.properties[3]));
        let help = "use `cover` to ask whether a state can be reached at all";
        self.warn(property.span, "liveness properties are not judged yet; the other properties are", help);
        let parameters = self.around.iter().filter(|enclosure| enclosure.parameter().is_some()).count() as u32;
        let checking = std::mem::replace(&mut self.checking, true);
        self.code = Code::formula(parameters);
        let aside = self.scopes.set_aside();
        self.enter_around(None);
        self.truth(&property.condition, "the condition of a liveness property");
        self.scopes.restore(aside);
        self.checking = checking;
        self.program.unjudged.push(name);
    }

    /// One condition, for all parameters of the rulesets around it.
    fn conjunct(&mut self, condition: &'a ast::Expr, kind: PropertyKind, what: &str, name: &str, span: Span) -> Option<(u32, Expr)> {
        let ranges: Vec<(i64, i64, u32)> =
            self.around.iter().filter_map(Enclosure::parameter).map(|parameter| (parameter.from, parameter.by, parameter.count)).collect();
        let parameters = ranges.len() as u32;
        self.code = Code::formula(parameters);
        let aside = self.scopes.set_aside();
        let choices = self.enter_around(None);
        let value = self.truth(condition, what);
        self.scopes.restore(aside);
        let (registers, value) = self.formula(value?, parameters, name, span);
        let fuel = self.fuel(span, "property");
        let universal = kind != PropertyKind::Reachable;
        let wrapped = ranges.into_iter().enumerate().rev().fold(value, |body, (number, (from, by, count))| {
            let choice = choices.iter().find(|(parameter, _)| *parameter == number as u32).map(|(_, condition)| condition.clone());
            let body = match (choice, universal) {
                (None, _) => body,
                (Some(taken), true) => build::any(vec![build::not(taken), body]),
                (Some(taken), false) => build::all(vec![taken, body]),
            };
            let kind = if universal { LoopKind::All } else { LoopKind::Any };
            let to = Expr::Const(from + by * (i64::from(count) - 1));
            Expr::Loop(Box::new(LoopExpr { kind, register: Reg(number as u32), from: Expr::Const(from), to, by, body, fuel }))
        });
        Some((registers, wrapped))
    }

    /// The property that a cover statement reports to; no state satisfies it by itself.
    pub(super) fn cover_statement(&mut self, message: Option<&Text>, span: Span) -> PropertyId {
        if let Some(property) = self.covers.get(&span) {
            return *property;
        }
        self.numbering.properties[2] += 1;
        let name = message.map_or_else(|| format!("cover {}", self.numbering.properties[2]), |message| message.text.clone());
        let at = self.at(span);
        let property = Property { name, kind: PropertyKind::Reachable, registers: 0, conjuncts: vec![(at, Expr::Const(0))], at };
        self.program.properties.push(property);
        let id = PropertyId(self.program.properties.len() as u32 - 1);
        self.covers.insert(span, id);
        id
    }
}

/// The operands of `&` at the top of a condition, each to be checked and named by itself.
fn conjuncts<'a>(condition: &'a ast::Expr, out: &mut Vec<&'a ast::Expr>) {
    match &condition.kind {
        ExprKind::Chain { op: ChainOp::And, operands } => operands.iter().for_each(|operand| conjuncts(operand, out)),
        ExprKind::Parenthesised(inner) if matches!(inner.kind, ExprKind::Chain { op: ChainOp::And, .. }) => conjuncts(inner, out),
        _ => out.push(condition),
    }
}
