//! `wayfarer graph`: the reachable graph of a small model as an Aldebaran or Graphviz file.

use crate::options::GraphOptions;
use crate::output::{print, warning};
use crate::{Exit, Failure, model, sizes};
use std::collections::HashMap;
use std::fmt::Write as _;
use wayfarer::ir::{Interpreter, Program};
use wayfarer::space::{Firing, Space, States, Steps};

/// How a graph is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Aldebaran,
    Dot,
}

/// Carries out `wayfarer graph`.
pub(crate) fn graph(options: &GraphOptions) -> Result<Exit, Failure> {
    let form = match options.output.rsplit_once('.') {
        _ if options.output == "-" => Form::Aldebaran,
        Some((_, "aut")) => Form::Aldebaran,
        Some((_, "dot")) => Form::Dot,
        _ => return Err(Failure::wrong(format!("`--output {}` has no form; end the name in .aut or .dot, or write -", options.output))),
    };
    let loaded = model::load(&options.model)?;
    let space = Interpreter::new(loaded.program, options.model.limits());
    let reachable = Reachable::explore(&space, options.states)?;
    if reachable.faults > 0 {
        let firings = sizes::counted(reachable.faults, "firing");
        warning(&format!("{firings} ended in a fault and lead nowhere in the graph; `wayfarer check` shows them"));
    }
    let text = match form {
        Form::Aldebaran => reachable.aldebaran(space.program()),
        Form::Dot => reachable.dot(space.program()),
    };
    if options.output == "-" {
        print(&text).map_err(Failure::failed)?;
    } else {
        std::fs::write(&options.output, text).map_err(|error| Failure::failed(format!("cannot write the graph to `{}`: {error}", options.output)))?;
    }
    Ok(Exit::Well)
}

/// The reachable states, numbered in the order in which breadth-first search finds them.
struct Reachable {
    states: u32,
    /// Start states by number, each with the instance that gives it.
    starts: Vec<(u32, u32)>,
    /// From, rule instance, to.
    transitions: Vec<(u32, u32, u32)>,
    faults: u64,
}

impl Reachable {
    fn explore(space: &Interpreter, most: u64) -> Result<Reachable, Failure> {
        let mut numbers: HashMap<Box<[u64]>, u32> = HashMap::new();
        let mut found = Vec::new();
        let mut number = |state: &[u64], found: &mut Vec<Box<[u64]>>| {
            if let Some(number) = numbers.get(state) {
                return Ok(*number);
            }
            if found.len() as u64 >= most || found.len() >= u32::MAX as usize - 1 {
                let allowed = sizes::counted(most, "state");
                return Err(Failure::failed(format!("the model has more than {allowed}; `--states N` allows more, `--const` makes it smaller")));
            }
            let next = found.len() as u32;
            numbers.insert(state.into(), next);
            found.push(state.into());
            Ok(next)
        };
        let mut steps = Steps::new(space.width());
        space.initial(&mut steps);
        let mut reachable = Reachable { states: 0, starts: Vec::new(), transitions: Vec::new(), faults: steps.faults.len() as u64 };
        for (state, firing) in steps.states.iter().zip(&steps.firings) {
            let start = number(state, &mut found)?;
            if reachable.starts.iter().all(|(known, _)| *known != start) {
                reachable.starts.push((start, firing.rule));
            }
        }
        if reachable.starts.is_empty() {
            return Err(Failure::wrong("the model has no start state, so there is nothing to write"));
        }
        let mut batch = States::new(space.width());
        let mut from = 0;
        while from < found.len() {
            batch.clear();
            batch.push(&found[from]);
            space.expand(&batch, Firing::of(0), &mut steps);
            reachable.faults += steps.faults.len() as u64;
            for (state, firing) in steps.states.iter().zip(&steps.firings) {
                reachable.transitions.push((from as u32, firing.rule, number(state, &mut found)?));
            }
            from += 1;
        }
        reachable.states = found.len() as u32;
        Ok(reachable)
    }

    fn aldebaran(&self, program: &Program) -> String {
        let mut names = Names::new(program);
        // One start state is number 0 by itself; several need a state before them.
        let before: &[(u32, u32)] = if self.starts.len() > 1 { &self.starts } else { &[] };
        let shift = u32::from(!before.is_empty());
        let mut text = format!("des (0, {}, {})\n", self.transitions.len() + before.len(), self.states + shift);
        for (start, instance) in before {
            let _ = writeln!(text, "(0, \"{}\", {})", plain(&program.describe_start(*instance)), start + shift);
        }
        for (from, rule, to) in &self.transitions {
            let _ = writeln!(text, "({}, \"{}\", {})", from + shift, names.of(*rule), to + shift);
        }
        text
    }

    fn dot(&self, program: &Program) -> String {
        let mut names = Names::new(program);
        let mut text = String::from("digraph reachable {\n  node [shape=circle];\n");
        for (start, instance) in &self.starts {
            let name = plain(&program.describe_start(*instance)).replace('\\', "\\\\");
            let _ = writeln!(text, "  {start} [shape=doublecircle, tooltip=\"{name}\"];");
        }
        for node in (0..self.states).filter(|node| self.starts.iter().all(|(start, _)| start != node)) {
            let _ = writeln!(text, "  {node};");
        }
        for (from, rule, to) in &self.transitions {
            let _ = writeln!(text, "  {from} -> {to} [label=\"{}\"];", names.of(*rule).replace('\\', "\\\\"));
        }
        text.push_str("}\n");
        text
    }
}

/// The labels of rules, each made once.
struct Names<'a> {
    program: &'a Program,
    known: HashMap<u32, String>,
}

impl<'a> Names<'a> {
    fn new(program: &'a Program) -> Self {
        Names { program, known: HashMap::new() }
    }

    fn of(&mut self, rule: u32) -> &str {
        self.known.entry(rule).or_insert_with(|| plain(&self.program.describe_rule(rule)))
    }
}

/// A label that can stand between quotes on one line.
fn plain(label: &str) -> String {
    let safe = |letter: char| match letter {
        '"' => '\'',
        letter if letter.is_control() => ' ',
        letter => letter,
    };
    label.chars().map(safe).collect()
}
