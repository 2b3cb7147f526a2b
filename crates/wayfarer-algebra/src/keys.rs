//! Texts that are equal for equal terms and processes, wherever they stand. Variables of one name and sort are the same.

use crate::specification::{Process, ProcessKind, Term, Variable, VariableId};
use std::fmt::Write;

/// Appends the text of a term.
pub(crate) fn key_of_term(term: &Term, variables: &[Variable], out: &mut String) {
    stacker::maybe_grow(64 << 10, 1 << 20, || {
        let many = |terms: &[Term], out: &mut String| {
            out.push('(');
            for term in terms {
                key_of_term(term, variables, out);
                out.push(',');
            }
            out.push(')');
        };
        match term {
            Term::Variable(variable) => name(*variable, variables, out),
            Term::Boolean(truth) => push(out, format_args!("{truth}")),
            Term::Number(number) => push(out, format_args!("{number}")),
            Term::Value(value) => push(out, format_args!("={}", value.0)),
            Term::Call(function, arguments) => {
                push(out, format_args!("f{}", function.0));
                many(arguments, out);
            }
            Term::Operation(operation, operands) => {
                push(out, format_args!("{operation:?}"));
                many(operands, out);
            }
            Term::Apply(head, arguments) => {
                key_of_term(head, variables, out);
                many(arguments, out);
            }
            Term::Lambda(bound, body) => {
                out.push_str("lambda");
                bound.iter().for_each(|variable| name(*variable, variables, out));
                key_of_term(body, variables, out);
            }
            Term::Quantified { forall, variables: bound, body } => {
                push(out, format_args!("all {forall} "));
                bound.iter().for_each(|variable| name(*variable, variables, out));
                key_of_term(body, variables, out);
            }
            Term::Comprehension { bag, variable, body } => {
                push(out, format_args!("bag {bag} "));
                name(*variable, variables, out);
                key_of_term(body, variables, out);
            }
            Term::Where(definitions, body) => {
                for (variable, term) in definitions {
                    name(*variable, variables, out);
                    key_of_term(term, variables, out);
                }
                key_of_term(body, variables, out);
            }
        }
    });
}

fn push(out: &mut String, text: std::fmt::Arguments) {
    let _ = out.write_fmt(text);
}

fn name(variable: VariableId, variables: &[Variable], out: &mut String) {
    if let Some(known) = variables.get(variable.index()) {
        push(out, format_args!("{}:{} ", known.name, known.sort.0));
    }
}

/// Appends the text of a process.
pub(crate) fn key_of_process(process: &Process, variables: &[Variable], out: &mut String) {
    stacker::maybe_grow(64 << 10, 1 << 20, || {
        let list = |word: &str, list: &[Process], out: &mut String| {
            out.push_str(word);
            out.push('(');
            for process in list {
                key_of_process(process, variables, out);
                out.push(';');
            }
            out.push(')');
        };
        match &process.kind {
            ProcessKind::Delta => out.push_str("delta"),
            ProcessKind::Actions(actions) => {
                for (action, terms) in actions {
                    push(out, format_args!("a{}", action.0));
                    terms.iter().for_each(|term| key_of_term(term, variables, out));
                }
                out.push('.');
            }
            ProcessKind::Call(called, terms) => {
                push(out, format_args!("P{}", called.0));
                terms.iter().for_each(|term| key_of_term(term, variables, out));
            }
            ProcessKind::Choice(parts) => list("choice", parts, out),
            ProcessKind::Sequence(parts) => list("sequence", parts, out),
            ProcessKind::Parallel(parts) => list("parallel", parts, out),
            ProcessKind::Sum(bound, body) => {
                out.push_str("sum ");
                bound.iter().for_each(|variable| name(*variable, variables, out));
                key_of_process(body, variables, out);
            }
            ProcessKind::If(condition, then, other) => {
                out.push_str("if ");
                key_of_term(condition, variables, out);
                list("", &[(**then).clone(), (**other).clone()], out);
            }
            // These never stand inside of sequential processes; their places tell them apart.
            _ => push(out, format_args!("{:?}", process.place)),
        }
    });
}
