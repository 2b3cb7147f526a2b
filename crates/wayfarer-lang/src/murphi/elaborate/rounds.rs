//! Whether the rounds of a loop over a scalarset can run in any order. If they cannot, the loop tells elements apart
//! by their order, and states must not be explored up to permutations of them.
//!
//! Rounds can run in any order if each writes only data that belongs to its own element (`A[i]`), a value that is the
//! same in every round (`found := true`), or an accumulation (`n := n + 1`, `multisetadd`); or if only one round
//! writes (`if i = first then …`). The entries of a bag that are equal to the element belong to it. A local variable that every round writes before it reads it is the round's own.
//! Calls are followed into the functions.

mod reader;

use super::Elaborator;
use super::asymmetries::Owner;
use super::rules::Enclosure;
use crate::murphi::ast::{Decl, Quantifier, Stmt, StmtKind};
use crate::source::Span;
use reader::{ADD, ADD_IF_ROOM, Access, Act, Found, Meaning, Path, Reader, Step};
use std::collections::HashSet;

/// A loop whose rounds cannot run in any order: its place, whether that is certain, why, and the scalarsets it runs over.
type Wrong = (Span, bool, String, Vec<u32>);

impl<'a> Elaborator<'a> {
    /// Records the loops of a function's or rule's body whose rounds cannot run in any order.
    pub(super) fn check_rounds(&mut self, owner: Owner, declarations: &[Decl], body: &[Stmt]) {
        if self.muted || self.asymmetries.loops.is_empty() {
            return;
        }
        let mut locals = HashSet::new();
        for declaration in declarations {
            if let Decl::Var { names, .. } = declaration {
                locals.extend(names.iter().map(|name| name.text.as_str()));
            }
        }
        let mut wrong = Vec::new();
        self.look_for_loops(body, body, &locals, &mut wrong);
        for (span, certain, message, sets) in wrong {
            self.asymmetry_in(owner, span, certain, message, sets);
        }
    }

    fn look_for_loops(&self, statements: &[Stmt], whole: &[Stmt], locals: &HashSet<&str>, wrong: &mut Vec<Wrong>) {
        for statement in statements {
            let mut inside = |statements: &[Stmt]| self.look_for_loops(statements, whole, locals, wrong);
            match &statement.kind {
                StmtKind::If { branches, otherwise } => {
                    branches.iter().for_each(|(_, body)| inside(body));
                    inside(otherwise.as_deref().unwrap_or_default());
                }
                StmtKind::Switch { cases, otherwise, .. } => {
                    cases.iter().for_each(|(_, body)| inside(body));
                    inside(otherwise.as_deref().unwrap_or_default());
                }
                StmtKind::While { body, .. } | StmtKind::Alias { body, .. } => inside(body),
                StmtKind::For { quantifiers, body } => {
                    inside(body);
                    for (number, quantifier) in quantifiers.iter().enumerate() {
                        if let Some((set, sets)) = self.asymmetries.loops.get(&quantifier.name.span) {
                            let others: Vec<&Quantifier> = quantifiers[..number].iter().chain(&quantifiers[number + 1..]).collect();
                            if let Some((span, certain, why)) = self.order_matters(&quantifier.name.text, &others, statement, body, whole, locals) {
                                let depends = if certain { "depends" } else { "may depend" };
                                let message = format!("the loop over {set} {depends} on the order of its elements: {why}");
                                wrong.push((span, certain, message, sets.clone()));
                            }
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// The position and reason, if the order of a loop's rounds matters.
    fn order_matters(
        &self,
        variable: &str,
        others: &[&Quantifier],
        statement: &Stmt,
        body: &[Stmt],
        whole: &[Stmt],
        locals: &HashSet<&str>,
    ) -> Option<(Span, bool, String)> {
        // The writes must be known before it can be decided what varies.
        let first = self.read_loop(variable, others, body, HashSet::new());
        let written = first.accesses.iter().filter(|access| access.act != Act::Read).map(|access| access.path.root.clone()).collect();
        let Found { accesses, returns } = self.read_loop(variable, others, body, written);
        let rounds_own = |access: &Access| {
            let root = access.path.root.as_str();
            let first = accesses.iter().find(|other| other.path.root == root);
            locals.contains(root)
                && first.is_some_and(|first| first.act != Act::Read && !first.conditional)
                && !read_after(self, root, statement.span, whole)
        };
        for (number, write) in accesses.iter().enumerate().filter(|(_, access)| access.act != Act::Read) {
            let mut meets = accesses.iter().enumerate().filter(|(_, other)| overlap(&write.path, &other.path));
            let fine = if write.path.is_own() {
                meets.all(|(_, other)| {
                    let apart = same_own(&write.path, &other.path) && !share_room(&write.act, &other.act);
                    apart || (write.single.is_some() && write.single == other.single) || (write.act == other.act && is_addition(&write.act))
                })
            } else if write.single.is_some() {
                meets.all(|(_, other)| other.single == write.single)
            } else {
                match &write.act {
                    Act::Write(None) => false,
                    act => meets.all(|(_, other)| other.act == *act),
                }
            };
            if !fine && !rounds_own(write) {
                let name = &write.path.root;
                let reader = accesses.iter().enumerate().any(|(other, access)| {
                    other != number && access.act == Act::Read && overlap(&write.path, &access.path) && !same_own(&write.path, &access.path)
                });
                let why = match reader {
                    true => format!("a round reads what another writes to `{name}`"),
                    false => format!("`{name}` keeps what the last round writes"),
                };
                return Some((write.span, !reader && !write.conditional, why));
            }
        }
        let (value, _, span) = returns.first()?;
        let alike = returns.iter().all(|(other, single, _)| single.is_some() || (other.is_some() && other == value));
        (!alike).then(|| (*span, false, "the first round that returns decides the result".to_string()))
    }

    fn read_loop(&self, variable: &str, others: &[&Quantifier], body: &[Stmt], written: HashSet<String>) -> Found {
        let mut reader = Reader::new(self, written);
        for enclosure in &self.around {
            if let Enclosure::Alias(alias, _) = enclosure {
                let meaning = reader.meaning(&alias.target);
                reader.names.push((alias.name.text.clone(), meaning));
            }
        }
        reader.found = Found::default();
        reader.names.push((variable.to_string(), Meaning::Element));
        reader.names.extend(others.iter().map(|other| (other.name.text.clone(), Meaning::Value(false))));
        reader.statements(body);
        reader.found
    }
}

/// Whether two parts can overlap.
fn overlap(a: &Path, b: &Path) -> bool {
    let apart = |(a, b): (&Step, &Step)| matches!((a, b), (Step::Field(a), Step::Field(b)) if a != b);
    a.root == b.root && !a.steps.iter().zip(&b.steps).any(apart)
}

/// Whether two parts belong to the loop's element in the same way, so that those of different rounds are disjoint.
fn same_own(a: &Path, b: &Path) -> bool {
    a.steps.iter().zip(&b.steps).any(|(a, b)| *a == Step::Own && *b == Step::Own)
}

/// Whether two changes of the entries of one bag meet in its room: an element that leaves makes room for another, and
/// whether an addition fails then depends on the order.
fn share_room(a: &Act, b: &Act) -> bool {
    let leave = Act::Change("leave");
    (is_addition(a) && *b == leave) || (*a == leave && is_addition(b)) || (is_addition(a) && is_addition(b) && a != b)
}

fn is_addition(act: &Act) -> bool {
    matches!(act, Act::Change(ADD | ADD_IF_ROOM))
}

/// Whether a local variable is read after a loop before it is written again.
fn read_after(elaborator: &Elaborator, name: &str, span: Span, whole: &[Stmt]) -> bool {
    let mut reader = Reader::new(elaborator, HashSet::new());
    reader.statements(whole);
    let next = reader.found.accesses.iter().find(|access| access.path.root == name && access.span.start >= span.end);
    next.is_some_and(|access| access.act == Act::Read || !access.path.steps.is_empty())
}
