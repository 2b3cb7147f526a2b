//! `wayfarer graph`: the reachable graph of a small model as an Aldebaran or Graphviz file.

use crate::model::Walked;
use crate::options::GraphOptions;
use crate::output::{print, warning};
use crate::{Exit, Failure, model, outputs, sizes};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::Path;
use wayfarer::search::Deadlock;
use wayfarer::space::{Firing, Space, States, Steps};

/// The format of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Aldebaran,
    Dot,
}

/// Runs `wayfarer graph`.
pub(crate) fn graph(options: &GraphOptions) -> Result<Exit, Failure> {
    let form = match options.output.rsplit_once('.') {
        _ if options.output == "-" => Form::Aldebaran,
        Some((_, "aut")) => Form::Aldebaran,
        Some((_, "dot")) => Form::Dot,
        _ => return Err(Failure::wrong(format!("`--output {}` has no form; end the name in .aut or .dot, or write -", options.output))),
    };
    let opened = model::open(&options.model)?;
    let walked = Walked::new(&opened, &options.loops);
    let reachable = Reachable::explore(walked.space(), options.states)?;
    if reachable.faults > 0 {
        let firings = sizes::counted(reachable.faults, "firing");
        warning(&format!("{firings} ended in a fault and lead nowhere in the graph; `wayfarer check` shows them"));
    }
    let text = match form {
        Form::Aldebaran => reachable.aldebaran(&walked),
        Form::Dot => reachable.dot(&walked),
    };
    if options.output == "-" {
        print(&text).map_err(Failure::failed)?;
    } else {
        outputs::write(&outputs::outlet(Path::new(&options.output), "--output", &[&options.model.model])?, "--output", &text)?;
    }
    Ok(Exit::Well)
}

/// The reachable states, numbered in the order in which breadth-first search finds them.
struct Reachable {
    states: Vec<Box<[u64]>>,
    /// Start states by number, each with the instance that yields it.
    starts: Vec<(u32, u32)>,
    /// Source, firing, target.
    transitions: Vec<(u32, Firing, u32)>,
    faults: u64,
}

impl Reachable {
    fn explore(space: &dyn Space, most: u64) -> Result<Reachable, Failure> {
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
        let (mut starts, mut transitions, mut faults) = (Vec::new(), Vec::new(), steps.faults.len() as u64);
        for (state, firing) in steps.states.iter().zip(&steps.firings) {
            let start = number(state, &mut found)?;
            if starts.iter().all(|(known, _)| *known != start) {
                starts.push((start, firing.rule));
            }
        }
        if starts.is_empty() {
            return Err(Failure::wrong("the model has no start state, so there is nothing to write"));
        }
        let mut batch = States::new(space.width());
        let mut from = 0;
        while from < found.len() {
            batch.clear();
            batch.push(&found[from]);
            space.expand(&batch, Firing::of(0), &mut steps);
            faults += steps.faults.len() as u64;
            for (state, firing) in steps.states.iter().zip(&steps.firings) {
                transitions.push((from as u32, *firing, number(state, &mut found)?));
            }
            from += 1;
        }
        Ok(Reachable { states: found, starts, transitions, faults })
    }

    fn aldebaran(&self, walked: &Walked) -> String {
        // A single start state is number 0; several need a state before them.
        let before: &[(u32, u32)] = if self.starts.len() > 1 { &self.starts } else { &[] };
        let shift = u32::from(!before.is_empty());
        let mut text = format!("des (0, {}, {})\n", self.transitions.len() + before.len(), self.states.len() as u32 + shift);
        for (start, instance) in before {
            let _ = writeln!(text, "(0, \"{}\", {})", plain(&walked.subject().words().start(*instance)), start + shift);
        }
        for (from, firing, to) in &self.transitions {
            let _ = writeln!(text, "({}, \"{}\", {})", from + shift, self.label(walked, *from, *firing), to + shift);
        }
        text
    }

    /// Nodes show their state's values in a tooltip; those with a violation are filled.
    fn dot(&self, walked: &Walked) -> String {
        let words = walked.subject().words();
        let mut text = String::from("digraph reachable {\n  node [shape=circle];\n");
        let starts: BTreeSet<u32> = self.starts.iter().map(|(start, _)| *start).collect();
        for (node, state) in self.states.iter().enumerate() {
            let values: Vec<String> = words.values(state).into_iter().map(|value| format!("{}: {}", value.path, value.value)).collect();
            let shape = if starts.contains(&(node as u32)) { "shape=doublecircle, " } else { "" };
            let wrong = walked.wrong_in(state, Deadlock::Off);
            let bad = if wrong.is_empty() { "" } else { ", style=filled, fillcolor=lightcoral" };
            let tooltip = escaped(&wrong.into_iter().chain(values).collect::<Vec<_>>().join("; "));
            let _ = writeln!(text, "  {node} [{shape}tooltip=\"{tooltip}\"{bad}];");
        }
        for (from, firing, to) in &self.transitions {
            let _ = writeln!(text, "  {from} -> {to} [label=\"{}\"];", escaped(&self.label(walked, *from, *firing)));
        }
        text.push_str("}\n");
        text
    }

    fn label(&self, walked: &Walked, from: u32, firing: Firing) -> String {
        plain(&walked.subject().words().firing(Some(&self.states[from as usize]), firing).0)
    }
}

/// Text in quotes of a Graphviz file.
fn escaped(text: &str) -> String {
    plain(text).replace('\\', "\\\\")
}

/// A label that can be quoted on one line.
fn plain(label: &str) -> String {
    let safe = |letter: char| match letter {
        '"' => '\'',
        letter if letter.is_control() => ' ',
        letter => letter,
    };
    label.chars().map(safe).collect()
}
