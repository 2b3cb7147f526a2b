//! Values, sorts and actions as mCRL2 writes them.

use crate::specification::{ActionId, Operation, Sort, SortId};
use crate::steps::Step;
use crate::system::System;
use crate::value::{Node, Value};
use std::fmt::Write;

/// A sort as it is written; `sorts` gives the sort of a number.
pub fn show_sort<'a>(sort: SortId, sorts: &impl Fn(SortId) -> Option<&'a Sort>) -> String {
    let shown = |sort: &SortId| show_sort(*sort, sorts);
    match sorts(sort) {
        None => "?".to_string(),
        Some(Sort::Boolean) => "Bool".to_string(),
        Some(Sort::Positive) => "Pos".to_string(),
        Some(Sort::Natural) => "Nat".to_string(),
        Some(Sort::Integer) => "Int".to_string(),
        Some(Sort::Real) => "Real".to_string(),
        Some(Sort::List(element)) => format!("List({})", shown(element)),
        Some(Sort::Set(element)) => format!("Set({})", shown(element)),
        Some(Sort::Bag(element)) => format!("Bag({})", shown(element)),
        Some(Sort::Function(domain, codomain)) => {
            let domain: Vec<String> = domain.iter().map(shown).collect();
            format!("({} -> {})", domain.join(" # "), shown(codomain))
        }
        Some(Sort::Data { name, .. }) => name.clone(),
    }
}

impl System {
    /// A sort as it is written.
    pub(crate) fn show_sort(&self, sort: SortId) -> String {
        show_sort(sort, &|sort| self.specification.sorts.get(sort.index()))
    }

    /// A value as it is written.
    pub(crate) fn show(&self, value: Value) -> String {
        let mut out = String::new();
        self.write(value, &mut out, 0);
        out
    }

    fn write(&self, value: Value, out: &mut String, depth: usize) {
        if depth > 200 || out.len() > 1 << 16 {
            return out.push('…');
        }
        if let Some(small) = value.small() {
            let _ = write!(out, "{small}");
            return;
        }
        let Some(node) = self.data.values.node(value) else { return out.push('?') };
        match node {
            Node::Boolean(truth) => out.push_str(if *truth { "true" } else { "false" }),
            Node::Nil => out.push_str("[]"),
            Node::Cons(..) => {
                let (elements, end) = self.data.values.elements(value);
                out.push('[');
                self.write_all(&elements, ", ", out, depth);
                out.push(']');
                if end != Value::NIL {
                    out.push_str(" ++ ");
                    self.write(end, out, depth + 1);
                }
            }
            Node::Term(function, arguments) => {
                out.push_str(&self.data.functions[function.index()].name);
                self.write_arguments(arguments, out, depth);
            }
            Node::Stuck(Operation::Apply, operands) => {
                if let Some((head, arguments)) = operands.split_first() {
                    self.write(*head, out, depth + 1);
                    self.write_arguments(arguments, out, depth);
                }
            }
            Node::Stuck(operation, operands) => {
                out.push_str(word(*operation));
                self.write_arguments(operands, out, depth);
            }
            Node::Integer(number) => {
                let _ = write!(out, "{number}");
            }
            Node::Rational(number) => {
                let _ = write!(out, "{} / {}", number.numer(), number.denom());
            }
            Node::Set { complement, elements } => {
                out.push_str(if *complement { "!{" } else { "{" });
                self.write_all(elements, ", ", out, depth);
                out.push('}');
            }
            Node::Bag(entries) if entries.is_empty() => out.push_str("{:}"),
            Node::Bag(entries) => {
                out.push('{');
                for (index, (element, count)) in entries.iter().enumerate() {
                    out.push_str(if index > 0 { ", " } else { "" });
                    self.write(*element, out, depth + 1);
                    out.push_str(": ");
                    self.write(*count, out, depth + 1);
                }
                out.push('}');
            }
            Node::Update { base, entries } => {
                if *base != Value::UNIT {
                    self.write(*base, out, depth + 1);
                }
                for (place, value) in entries {
                    out.push('[');
                    self.write(*place, out, depth + 1);
                    out.push_str(" -> ");
                    self.write(*value, out, depth + 1);
                    out.push(']');
                }
            }
            Node::Closure { lambda, captured } => {
                let _ = write!(out, "lambda#{lambda}");
                self.write_arguments(captured, out, depth);
            }
            Node::Tuple(arguments) => self.write_all(arguments, ", ", out, depth),
        }
    }

    fn write_all(&self, values: &[Value], between: &str, out: &mut String, depth: usize) {
        for (index, value) in values.iter().enumerate() {
            out.push_str(if index > 0 { between } else { "" });
            self.write(*value, out, depth + 1);
        }
    }

    fn write_arguments(&self, arguments: &[Value], out: &mut String, depth: usize) {
        if !arguments.is_empty() {
            out.push('(');
            self.write_all(arguments, ", ", out, depth);
            out.push(')');
        }
    }

    /// A multi-action with its arguments.
    pub(crate) fn label(&self, step: &Step) -> String {
        if step.rule == self.terminate_rule() {
            return crate::system::TERMINATE.to_string();
        }
        if step.actions.is_empty() {
            return "tau".to_string();
        }
        let one = |(action, tuple): (&ActionId, &Value)| {
            let action = &self.specification.actions[action.index()];
            let mut text = action.name.clone();
            self.write_arguments(&self.data.values.arguments(*tuple, action.arguments.len()), &mut text, 0);
            text
        };
        let parts: Vec<String> = step.actions.iter().zip(step.shown).map(one).collect();
        parts.join("|")
    }
}

fn word(operation: Operation) -> &'static str {
    match operation {
        Operation::Head => "head",
        Operation::Tail => "tail",
        Operation::LastElement => "rhead",
        Operation::AllButLast => "rtail",
        Operation::At => "at",
        Operation::If => "if",
        Operation::ToPositive => "Int2Pos",
        Operation::ToNatural => "Int2Nat",
        Operation::Equal => "equal",
        Operation::Quotient => "div",
        Operation::Remainder => "mod",
        Operation::Divide => "divide",
        Operation::Member => "in",
        Operation::Union => "union",
        Operation::Difference => "difference",
        Operation::Intersection => "intersection",
        Operation::Complement(_) => "complement",
        _ => "operation",
    }
}
