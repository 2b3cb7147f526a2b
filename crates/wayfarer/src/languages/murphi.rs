//! Murphi models.

use super::{Language, LoadError, LoadOptions, Opened, read, rejected_predicate, rejected_there};
use crate::Subject;
use std::sync::Arc;
use wayfarer_ir::Program;
use wayfarer_lang::murphi;
use wayfarer_lang::source::Source;

pub(super) const LANGUAGE: Language = Language {
    name: "Murphi",
    endings: &["m", "murphi"],
    begins: |_| false,
    read: open,
    predicate: Some("a boolean expression of Murphi"),
    has_formulas: false,
};

fn open(source: &Source, options: &LoadOptions) -> Result<Opened, LoadError> {
    let loaded = load_source(source, options)?;
    Ok(Opened { subject: loaded.subject(), warnings: loaded.warnings })
}

/// A Murphi model that was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The program that searches run.
    pub program: Arc<Program>,
    /// Its name in reports.
    pub name: String,
    /// Warnings, ready to print; often empty.
    pub warnings: String,
}

impl Loaded {
    /// The model as the subject of a run.
    pub fn subject(&self) -> Arc<dyn Subject> {
        Arc::new(self.program.clone())
    }
}

/// Reads the Murphi model at `path`; `-` is the standard input.
pub fn load(path: &str, options: &LoadOptions) -> Result<Loaded, LoadError> {
    load_source(&read(path)?, options)
}

/// Reads a Murphi model from its text.
pub fn load_text(name: &str, text: String, options: &LoadOptions) -> Result<Loaded, LoadError> {
    load_source(&Source::new(name, text), options)
}

fn load_source(source: &Source, options: &LoadOptions) -> Result<Loaded, LoadError> {
    let undefined = if options.strict_undefined { murphi::Undefined::Strict } else { murphi::Undefined::Copy };
    let constants = options.constants.iter().map(|(name, value)| (name.clone(), constant(value))).collect();
    let read = murphi::load_finding(source, options.find.as_deref(), &murphi::Options { constants, undefined });
    if read.condition.has_errors() {
        return Err(rejected_predicate(&read.condition, options.find.as_deref().unwrap_or_default(), options.colour));
    }
    match read.program {
        // Nothing at all is a slip, not a model.
        Some(program) if program.variables.is_empty() && program.rules.is_empty() && program.starts.is_empty() => {
            Err(LoadError::Read(format!("`{}` is empty: it declares no variable, no rule and no start state", source.name())))
        }
        Some(program) => {
            let warnings = read.model.render(source, options.colour);
            Ok(Loaded { program: Arc::new(program), name: source.name().to_string(), warnings })
        }
        None => Err(rejected_there(&read.model, source, options.colour)),
    }
}

fn constant(text: &str) -> murphi::ConstantValue {
    text.parse().map_or_else(|_| murphi::ConstantValue::Name(text.to_string()), murphi::ConstantValue::Number)
}
