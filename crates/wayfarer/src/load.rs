//! From a file to something that can be checked.

use crate::{Explicit, Finding, Subject};
use std::fmt;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use wayfarer_ir::Program;
use wayfarer_lang::aut::{self, Aut};
use wayfarer_lang::diagnostics::{Diagnostic, Diagnostics, Severity};
use wayfarer_lang::murphi;
use wayfarer_lang::source::Source;
use wayfarer_space::Graph;

/// How a model is read.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Values that replace those of the model's constants, by name.
    pub constants: Vec<(String, String)>,
    /// A predicate on states in the model's own language, which is added as a property that asks to be reached and is named by its text.
    pub find: Option<String>,
    /// Whether copying an undefined value is a fault.
    pub strict_undefined: bool,
    /// Whether diagnostics are coloured.
    pub colour: bool,
}

/// A model that was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// What searches run.
    pub program: Arc<Program>,
    /// What it is called in reports.
    pub name: String,
    /// Warnings, ready to print; often empty.
    pub warnings: String,
}

/// Why a model could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// The file cannot be read, or is not text.
    Read(String),
    /// The model is wrong.
    Invalid(Rejection),
}

/// What is wrong with a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The diagnostics, ready to print.
    pub text: String,
    /// The same, one by one.
    pub findings: Vec<Finding>,
}

/// The error for a text that cannot be taken as a model; `at` says where a finding is.
fn rejected(diagnostics: &Diagnostics, source: &Source, colour: bool, at: &dyn Fn(&Diagnostic) -> String) -> LoadError {
    let findings = diagnostics.iter().map(|diagnostic| Finding {
        error: diagnostic.severity == Severity::Error,
        message: diagnostic.message.clone(),
        help: diagnostic.help.clone(),
        at: at(diagnostic),
    });
    LoadError::Invalid(Rejection { text: diagnostics.render(source, colour), findings: findings.collect() })
}

/// The same, for findings in the source's file.
fn rejected_there(diagnostics: &Diagnostics, source: &Source, colour: bool) -> LoadError {
    rejected(diagnostics, source, colour, &|diagnostic| {
        let position = source.position(diagnostic.span.start);
        format!("{}:{}:{}", source.name(), position.line, position.column)
    })
}

impl fmt::Display for LoadError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            LoadError::Read(message) => out.write_str(message),
            LoadError::Invalid(rejection) => out.write_str(&rejection.text),
        }
    }
}

impl std::error::Error for LoadError {}

/// The largest file that is read: positions in the text have 32 bits, and no one writes models of this size by hand.
const MAX_FILE: u64 = 64 << 20;

/// Reads the model at `path`; `-` is the standard input.
pub fn load(path: &str, options: &LoadOptions) -> Result<Loaded, LoadError> {
    load_source(read(path)?, options)
}

/// Something that was read, whatever it is.
#[derive(Clone, Debug)]
pub enum Opened {
    /// A Murphi model.
    Program(Loaded),
    /// A graph.
    Graph(Arc<Explicit>),
}

impl Opened {
    /// What a run of it is about.
    pub fn subject(&self) -> &dyn Subject {
        match self {
            Opened::Program(loaded) => &loaded.program,
            Opened::Graph(graph) => &**graph,
        }
    }

    /// Warnings, ready to print; often empty.
    pub fn warnings(&self) -> &str {
        match self {
            Opened::Program(loaded) => &loaded.warnings,
            Opened::Graph(_) => "",
        }
    }
}

/// Reads what is at `path`, `-` for the standard input: a graph where its name ends in `.aut`, or what comes through the standard input begins as one; else a
/// Murphi model.
pub fn open(path: &str, options: &LoadOptions) -> Result<Opened, LoadError> {
    let source = read(path)?;
    let named = Path::new(path).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("aut"));
    let begins = || source.text().trim_start().strip_prefix("des").is_some_and(|rest| rest.trim_start().starts_with('('));
    if !(named || path == "-" && begins()) {
        return load_source(source, options).map(Opened::Program);
    }
    if let Some((name, _)) = options.constants.first() {
        return Err(LoadError::Read(format!("`{}` is a graph, which has no constant `{name}`", source.name())));
    }
    if options.find.is_some() {
        let message = format!("`{}` is a graph, whose states have no variables; `--find-rule LABEL` looks for a label", source.name());
        return Err(LoadError::Read(message));
    }
    let aut = graph(&source, options.colour)?;
    let edges =
        (0..aut.graph.nodes()).map(|node| aut.labelled[node as usize].iter().copied().zip(aut.graph.successors(node).iter().copied()).collect());
    let graph = Graph::labelled(edges.collect(), vec![aut.first]);
    Ok(Opened::Graph(Arc::new(Explicit { name: source.name().to_string(), graph, labels: aut.labels })))
}

/// Reads the graph at `path`, an Aldebaran file; `-` is the standard input.
pub fn load_graph(path: &str, colour: bool) -> Result<Aut, LoadError> {
    graph(&read(path)?, colour)
}

fn graph(source: &Source, colour: bool) -> Result<Aut, LoadError> {
    aut::read(source).map_err(|diagnostics| rejected_there(&diagnostics, source, colour))
}

fn read(path: &str) -> Result<Source, LoadError> {
    let (name, bytes) = if path == "-" {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().take(MAX_FILE + 1).read_to_end(&mut bytes);
        read.map_err(|error| LoadError::Read(format!("cannot read the standard input: {error}")))?;
        ("<stdin>".to_string(), bytes)
    } else {
        (path.to_string(), read_file(path)?)
    };
    if bytes.len() as u64 > MAX_FILE {
        return Err(LoadError::Read(format!("`{name}` is larger than 64 MiB")));
    }
    if bytes.contains(&0) {
        return Err(LoadError::Read(format!("`{name}` is a binary file, not a model")));
    }
    Ok(Source::from_bytes(&name, &bytes))
}

/// Reads a model from its text.
pub fn load_text(name: &str, text: String, options: &LoadOptions) -> Result<Loaded, LoadError> {
    load_source(Source::new(name, text), options)
}

/// What the property of a predicate is called until it gets its text as a name: no model can have a property of this name.
const SOUGHT: &str = "\u{1}";

fn load_source(source: Source, options: &LoadOptions) -> Result<Loaded, LoadError> {
    let Some(predicate) = &options.find else { return read_source(&source, options) };
    // The model must be right by itself, so that what is wrong with both together is the predicate's.
    read_source(&source, options)?;
    let before = format!("{}\n;cover \"{SOUGHT}\" (", source.text().trim_end().trim_end_matches(';'));
    let both = Source::new(source.name(), format!("{before}{predicate}\n);\n"));
    let (program, diagnostics) = murphi::load(&both, &settings(options));
    let (Some(mut program), false) = (program, diagnostics.has_errors()) else {
        let own = diagnostics.shifted(before.len() as u32, predicate.len() as u32);
        return Err(rejected(&own, &Source::new("--find", predicate.as_str()), options.colour, &|_| String::new()));
    };
    for property in program.properties.iter_mut().filter(|property| property.name == SOUGHT) {
        property.name.clone_from(predicate);
        // It stands on the command line, not where it was put into the text.
        property.at = wayfarer_ir::At::default();
    }
    Ok(Loaded { program: Arc::new(program), name: source.name().to_string(), warnings: diagnostics.render(&both, options.colour) })
}

fn settings(options: &LoadOptions) -> murphi::Options {
    let undefined = if options.strict_undefined { murphi::Undefined::Strict } else { murphi::Undefined::Copy };
    let constants = options.constants.iter().map(|(name, value)| (name.clone(), constant(value))).collect();
    murphi::Options { constants, undefined }
}

fn read_source(source: &Source, options: &LoadOptions) -> Result<Loaded, LoadError> {
    let (program, diagnostics) = murphi::load(source, &settings(options));
    match program {
        Some(program) if !diagnostics.has_errors() => {
            let warnings = diagnostics.render(source, options.colour);
            Ok(Loaded { program: Arc::new(program), name: source.name().to_string(), warnings })
        }
        _ => Err(rejected_there(&diagnostics, source, options.colour)),
    }
}

fn constant(text: &str) -> murphi::ConstantValue {
    text.parse().map_or_else(|_| murphi::ConstantValue::Name(text.to_string()), murphi::ConstantValue::Number)
}

fn read_file(path: &str) -> Result<Vec<u8>, LoadError> {
    let cannot = |why: String| LoadError::Read(format!("cannot read `{path}`: {why}"));
    let about = std::fs::metadata(Path::new(path)).map_err(|error| cannot(plain(&error)))?;
    if about.is_dir() {
        return Err(cannot("it is a folder, not a model".to_string()));
    }
    if about.len() > MAX_FILE {
        return Err(LoadError::Read(format!("`{path}` is larger than 64 MiB")));
    }
    // A device has no size and may have no end.
    let file = std::fs::File::open(path).map_err(|error| cannot(plain(&error)))?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(|error| cannot(plain(&error)))?;
    Ok(bytes)
}

/// An error of the system without its number.
fn plain(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_string(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_string(),
        _ => error.to_string(),
    }
}
