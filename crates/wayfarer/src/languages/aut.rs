//! Aldebaran files: explicit graphs with labelled transitions.

use super::{Language, LoadError, LoadOptions, Opened, read, refuse_constants, rejected_there};
use crate::Explicit;
use std::sync::Arc;
use wayfarer_lang::aut::{self, Aut};
use wayfarer_lang::source::Source;
use wayfarer_space::Graph;

pub(super) const LANGUAGE: Language = Language { name: "Aldebaran", endings: &["aut"], begins, read: open, predicate: None, has_formulas: false };

fn begins(text: &str) -> bool {
    text.trim_start().strip_prefix("des").is_some_and(|rest| rest.trim_start().starts_with('('))
}

fn open(source: &Source, options: &LoadOptions) -> Result<Opened, LoadError> {
    refuse_constants(source, options, "a graph")?;
    if options.find.is_some() {
        let message = format!("`{}` is a graph, whose states have no variables; the option `find-rule` looks for a label", source.name());
        return Err(LoadError::Read(message));
    }
    let aut = graph(source, options.colour)?;
    let edges =
        (0..aut.graph.nodes()).map(|node| aut.labelled[node as usize].iter().copied().zip(aut.graph.successors(node).iter().copied()).collect());
    let graph = Graph::labelled(edges.collect(), vec![aut.first]);
    let subject = Explicit { name: source.name().to_string(), graph, labels: aut.labels };
    Ok(Opened { subject: Arc::new(subject), warnings: String::new() })
}

/// Reads the graph at `path`, an Aldebaran file; `-` is the standard input.
pub fn load_graph(path: &str, colour: bool) -> Result<Aut, LoadError> {
    graph(&read(path)?, colour)
}

fn graph(source: &Source, colour: bool) -> Result<Aut, LoadError> {
    aut::read(source).map_err(|diagnostics| rejected_there(&diagnostics, source, colour))
}
