//! `wayfarer graph`: the reachable graph of a small model as an Aldebaran or Graphviz file.

use crate::model::Walked;
use crate::options::GraphOptions;
use crate::output::{print, warning};
use crate::{Exit, Failure, model, outputs, sizes};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::Path;
use wayfarer::space::{Fault, Firing, Space, States, Steps};

/// The format of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Aldebaran,
    Dot,
}

/// The most states of a drawing whose nodes show values in their labels, and the most values of a label. Beyond that nobody can read them.
const LABELLED_STATES: usize = 300;
const LABELLED_VALUES: usize = 20;

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
    if !reachable.faults.is_empty() {
        let firings = sizes::counted(reachable.faults.len() as u64, "firing");
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
    /// Firings that ended in a fault, each with its source; none for a start state.
    faults: Vec<(Option<u32>, Fault)>,
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
        let (mut starts, mut transitions) = (Vec::new(), Vec::new());
        let mut faults: Vec<(Option<u32>, Fault)> = steps.faults.iter().map(|step| (None, step.fault)).collect();
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
            faults.extend(steps.faults.iter().map(|step| (Some(from as u32), step.fault)));
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

    /// Nodes show the values of their states: in the label those that differ between states, if the graph is small enough to be read, and all in a tooltip.
    /// States with a violation are filled, and their labels begin with it: a property that fails, a deadlock, a rule that fails.
    fn dot(&self, walked: &Walked) -> String {
        let subject = walked.subject();
        let words = subject.words();
        let values = |state: &[u64]| words.values(state).into_iter().map(|value| format!("{}: {}", value.path, value.value)).collect::<Vec<_>>();
        let telling = self.telling(&values);
        let labelled = telling.is_some();
        let telling = telling.unwrap_or_default();
        let mut failing: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
        for (from, fault) in &self.faults {
            from.map(|from| failing.entry(from).or_default().insert(format!("a rule fails: {}", walked.fault(*fault))));
        }
        let mut text = format!("digraph reachable {{\n  node [shape={}];\n", if labelled { "box" } else { "circle" });
        let starts: BTreeSet<u32> = self.starts.iter().map(|(start, _)| *start).collect();
        for (node, state) in self.states.iter().enumerate() {
            let start = if starts.contains(&(node as u32)) { "peripheries=2, " } else { "" };
            let values = values(state);
            let mut wrong = walked.wrong_in(state, subject.deadlock());
            wrong.extend(failing.remove(&(node as u32)).unwrap_or_default());
            let bad = if wrong.is_empty() { "" } else { ", style=filled, fillcolor=lightcoral" };
            let shown = values.iter().filter(|value| telling.contains(*value));
            let lines: Vec<String> = if labelled { wrong.iter().chain(shown).map(|line| escaped(line)).collect() } else { Vec::new() };
            let label = [vec![node.to_string()], lines].concat().join("\\n");
            let tooltip = escaped(&wrong.into_iter().chain(values).collect::<Vec<_>>().join("; "));
            let _ = writeln!(text, "  {node} [{start}label=\"{label}\", tooltip=\"{tooltip}\"{bad}];");
        }
        for (from, firing, to) in &self.transitions {
            let _ = writeln!(text, "  {from} -> {to} [label=\"{}\"];", escaped(&self.label(walked, *from, *firing)));
        }
        text.push_str("}\n");
        text
    }

    /// The values that some states have and others do not; `None` if there are too many to read.
    fn telling(&self, values: &dyn Fn(&[u64]) -> Vec<String>) -> Option<BTreeSet<String>> {
        if self.states.len() > LABELLED_STATES {
            return None;
        }
        let all: Vec<Vec<String>> = self.states.iter().map(|state| values(state)).collect();
        let mut times: BTreeMap<&String, usize> = BTreeMap::new();
        all.iter().flatten().for_each(|value| *times.entry(value).or_default() += 1);
        let telling: BTreeSet<String> = times.into_iter().filter(|(_, times)| *times < all.len()).map(|(value, _)| value.clone()).collect();
        let fits = |values: &Vec<String>| values.iter().filter(|value| telling.contains(*value)).count() <= LABELLED_VALUES;
        all.iter().all(fits).then_some(telling)
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
