//! A model together with a condition to search for, parsed and checked as one.

use super::ast::{Item, Property, PropertyKind, Rule, Text};
use super::parser::parse_with_condition;
use super::{Options, elaborate, load};
use crate::diagnostics::Diagnostics;
use crate::source::{Source, Span};
use wayfarer_ir::{At, Program};

/// A model that was read together with a condition.
#[derive(Clone, Debug)]
pub struct Read {
    /// The program, unless something is wrong with the model or the condition.
    pub program: Option<Program>,
    /// The diagnostics about the model.
    pub model: Diagnostics,
    /// The diagnostics about the condition; their positions are those in its own text.
    pub condition: Diagnostics,
}

/// Reads a model and, if one is given, a condition on its states. The condition becomes a reachability property named
/// by its text.
pub fn load_finding(source: &Source, condition: Option<&str>, options: &Options) -> Read {
    let Some(condition) = condition else {
        let (program, model) = load(source, options);
        return Read { program, model, condition: Diagnostics::new() };
    };
    let both = Source::new(source.name(), format!("{}\n{condition}", source.text()));
    let base = source.text().len() as u32 + 1;
    let (mut model, read, mut diagnostics) = parse_with_condition(&both, source, &Source::new("--find", condition), base);
    let mut program = None;
    if !diagnostics.has_errors() {
        let span = Span::new(base, both.text().len() as u32);
        let name = Some(Text { text: condition.to_string(), span });
        model.items.push(Item::Rule(Rule::Property(Property { kind: PropertyKind::Cover, name, condition: read, span })));
        let (made, more) = elaborate(&both, &model, options);
        diagnostics.extend(more);
        program = made;
        // It is not in the model's file.
        let properties = program.iter_mut().flat_map(|program| program.properties.iter_mut().rev());
        if let Some(property) = properties.into_iter().find(|property| property.name == condition) {
            property.at = At::default();
        }
    }
    let (model, condition) = diagnostics.split(base);
    // If the model itself has errors, they may be the cause of errors in the condition.
    let condition = if model.has_errors() { Diagnostics::new() } else { condition };
    Read { program, model, condition }
}
