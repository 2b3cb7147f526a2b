//! Equations as first-match decision trees.
//!
//! A tree looks at one part of the arguments at a time. A frame begins with the arguments; where a tree finds a constructor it appends the constructor's arguments, and the
//! variables of an equation are simply places of that frame. Rows are tried in the order of the text; a row whose condition is false gives way to the rows behind it.
//! If a tree would grow too large, the equations are tried one by one.

use crate::code::{Code, Compiler, TooMany};
use crate::data::Data;
use crate::specification::{Equation, FunctionId, Operation, Term, VariableId};
use crate::value::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// The equations of a function that have the same number of patterns.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    /// How many arguments they look at.
    pub(crate) arguments: u16,
    pub(crate) tree: Tree,
}

/// A decision tree.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    /// No equation is left.
    Fail,
    /// Looks at the value at a place of the frame.
    Switch { place: u16, cases: Vec<(Test, Tree)>, otherwise: Box<Tree> },
    /// Goes on with another tree, from the arguments alone.
    Restart(Arc<Tree>),
    /// An equation, with places that must hold equal values, and what comes next if it cannot be used.
    Leaf { equal: Box<[(u16, u16)]>, condition: Option<Code>, result: Code, slots: u16, next: Box<Tree> },
}

/// A test of a value. All but constants append the parts of the value to the frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    Constant(Value),
    Cons,
    Head(FunctionId, u16),
}

/// A pattern.
#[derive(Clone, Debug)]
enum Pattern {
    Variable(VariableId),
    Test(Test, Vec<Pattern>),
}

#[derive(Clone)]
struct Row<'a> {
    /// The patterns still to be matched, with their places in the frame.
    open: Vec<(u16, Pattern)>,
    bound: Vec<(VariableId, u16)>,
    equation: &'a Equation,
}

/// Trees of more leaves are not made.
const LEAVES: usize = 2000;

/// The rules of a function by their number of patterns, the largest number first.
pub(crate) fn compile(data: &Data, equations: &[&Equation]) -> Result<Vec<Rules>, TooMany> {
    let mut counts: Vec<usize> = equations.iter().map(|equation| equation.patterns.len()).collect();
    counts.sort_by(|one, other| other.cmp(one));
    counts.dedup();
    let mut all = Vec::new();
    for count in counts {
        let mut rows = Vec::new();
        for equation in equations.iter().filter(|equation| equation.patterns.len() == count) {
            let patterns: Option<Vec<Pattern>> = equation.patterns.iter().map(|term| pattern(data, term)).collect();
            // A pattern that no value has can never match.
            let Some(patterns) = patterns else { continue };
            let open = patterns.into_iter().enumerate().map(|(place, pattern)| (place as u16, pattern)).collect();
            rows.push(Row { open, bound: Vec::new(), equation });
        }
        let mut leaves = 0;
        let tree = match tree(data, rows.clone(), count as u16, &mut leaves) {
            Ok(tree) => tree,
            Err(TooMany) => one_by_one(data, rows, count as u16)?,
        };
        all.push(Rules { arguments: count as u16, tree });
    }
    Ok(all)
}

fn pattern(data: &Data, term: &Term) -> Option<Pattern> {
    Some(match term {
        Term::Variable(variable) => Pattern::Variable(*variable),
        Term::Boolean(truth) => Pattern::Test(Test::Constant(Value::boolean(*truth)), Vec::new()),
        Term::Number(number) => Pattern::Test(Test::Constant(data.values.integer(number.clone()).ok()?), Vec::new()),
        Term::Call(function, arguments) => {
            let parts = arguments.iter().map(|term| pattern(data, term)).collect::<Option<Vec<_>>>()?;
            Pattern::Test(Test::Head(*function, parts.len() as u16), parts)
        }
        Term::Operation(Operation::Cons, parts) => {
            Pattern::Test(Test::Cons, parts.iter().map(|term| pattern(data, term)).collect::<Option<Vec<_>>>()?)
        }
        Term::Operation(Operation::ListOf, parts) => {
            let nil = Pattern::Test(Test::Constant(Value::NIL), Vec::new());
            let parts = parts.iter().map(|term| pattern(data, term)).collect::<Option<Vec<_>>>()?;
            parts.into_iter().rev().fold(nil, |tail, head| Pattern::Test(Test::Cons, vec![head, tail]))
        }
        Term::Operation(Operation::SetOf, parts) if parts.is_empty() => Pattern::Test(Test::Constant(data.empty_set().ok()?), Vec::new()),
        Term::Operation(Operation::BagOf, parts) if parts.is_empty() => Pattern::Test(Test::Constant(data.empty_bag().ok()?), Vec::new()),
        // `-1` and the like.
        Term::Operation(Operation::Negate, parts) => match parts.as_slice() {
            [Term::Number(number)] => Pattern::Test(Test::Constant(data.values.integer(-number.clone()).ok()?), Vec::new()),
            _ => return None,
        },
        _ => return None,
    })
}

/// The tree of rows; `next` is the first free place of the frame.
fn tree(data: &Data, mut rows: Vec<Row>, next: u16, leaves: &mut usize) -> Result<Tree, TooMany> {
    for row in &mut rows {
        let open = std::mem::take(&mut row.open);
        for (place, pattern) in open {
            match pattern {
                Pattern::Variable(variable) => row.bound.push((variable, place)),
                test => row.open.push((place, test)),
            }
        }
    }
    let Some(first) = rows.first() else { return Ok(Tree::Fail) };
    let Some((place, _)) = first.open.first() else {
        *leaves += 1;
        if *leaves > LEAVES {
            return Err(TooMany);
        }
        let first = rows.remove(0);
        let (leaf, is_certain) = leaf(data, &first, next)?;
        let rest = if is_certain { Tree::Fail } else { tree(data, rows, next, leaves)? };
        return Ok(with_next(leaf, rest));
    };
    let place = *place;
    let mut tests: Vec<Test> = Vec::new();
    for row in &rows {
        if let Some((_, Pattern::Test(test, _))) = row.open.iter().find(|(at, _)| *at == place)
            && !tests.contains(test)
        {
            tests.push(test.clone());
        }
    }
    let mut cases = Vec::new();
    for test in tests {
        let mut chosen = Vec::new();
        for row in &rows {
            let mut row = row.clone();
            match row.open.iter().position(|(at, _)| *at == place) {
                None => chosen.push(row),
                Some(index) => {
                    if matches!(&row.open[index].1, Pattern::Test(own, _) if *own == test)
                        && let (_, Pattern::Test(_, parts)) = row.open.remove(index)
                    {
                        row.open.extend(parts.into_iter().enumerate().map(|(part, pattern)| (next + part as u16, pattern)));
                        chosen.push(row);
                    }
                }
            }
        }
        let parts = parts_of(&test);
        cases.push((test, tree(data, chosen, next + parts, leaves)?));
    }
    let others = rows.into_iter().filter(|row| !row.open.iter().any(|(at, _)| *at == place)).collect();
    Ok(Tree::Switch { place, cases, otherwise: Box::new(tree(data, others, next, leaves)?) })
}

/// A tree that tries one equation after another.
fn one_by_one(data: &Data, rows: Vec<Row>, next: u16) -> Result<Tree, TooMany> {
    let mut result = Tree::Fail;
    for row in rows.into_iter().rev() {
        let mut leaves = 0;
        let alone = tree(data, vec![row], next, &mut leaves)?;
        result = before(alone, &Arc::new(result));
    }
    Ok(result)
}

/// The first tree with the second one wherever the first fails. Places that the first appended stay unused.
fn before(first: Tree, second: &Arc<Tree>) -> Tree {
    match first {
        Tree::Fail => Tree::Restart(second.clone()),
        Tree::Switch { place, cases, otherwise } => Tree::Switch {
            place,
            cases: cases.into_iter().map(|(test, tree)| (test, before(tree, second))).collect(),
            otherwise: Box::new(before(*otherwise, second)),
        },
        Tree::Leaf { equal, condition, result, slots, next } => Tree::Leaf { equal, condition, result, slots, next: Box::new(before(*next, second)) },
        Tree::Restart(inner) => Tree::Restart(inner),
    }
}

pub(crate) fn parts_of(test: &Test) -> u16 {
    match test {
        Test::Constant(_) => 0,
        Test::Cons => 2,
        Test::Head(_, parts) => *parts,
    }
}

/// An equation all of whose patterns match, and whether it can always be used then.
fn leaf(data: &Data, row: &Row, next: u16) -> Result<(Tree, bool), TooMany> {
    let mut places: HashMap<VariableId, u16> = HashMap::new();
    let mut equal = Vec::new();
    for (variable, place) in &row.bound {
        match places.get(variable) {
            Some(first) => equal.push((*first, *place)),
            None => {
                places.insert(*variable, *place);
            }
        }
    }
    let mut compiler = Compiler::new(data);
    compiler.reserve(next)?;
    for (variable, place) in &places {
        compiler.bind_at(*variable, *place)?;
    }
    let condition = row.equation.condition.as_ref().map(|condition| compiler.compile(condition)).transpose()?;
    let result = compiler.compile(&row.equation.right)?;
    let is_certain = equal.is_empty() && condition.is_none();
    Ok((Tree::Leaf { equal: equal.into(), condition, result, slots: compiler.slots(), next: Box::new(Tree::Fail) }, is_certain))
}

fn with_next(leaf: Tree, rest: Tree) -> Tree {
    match leaf {
        Tree::Leaf { equal, condition, result, slots, .. } => Tree::Leaf { equal, condition, result, slots, next: Box::new(rest) },
        other => other,
    }
}
