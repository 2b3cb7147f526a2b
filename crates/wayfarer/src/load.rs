//! From a file to a program.

use std::fmt;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use wayfarer_ir::Program;
use wayfarer_lang::aut::{self, Aut};
use wayfarer_lang::murphi;
use wayfarer_lang::source::Source;

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
    /// The model is wrong: the diagnostics, ready to print.
    Invalid(String),
}

impl fmt::Display for LoadError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            LoadError::Read(message) | LoadError::Invalid(message) => out.write_str(message),
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

/// Reads the graph at `path`, an Aldebaran file; `-` is the standard input.
pub fn load_graph(path: &str, colour: bool) -> Result<Aut, LoadError> {
    let source = read(path)?;
    aut::read(&source).map_err(|diagnostics| LoadError::Invalid(diagnostics.render(&source, colour)))
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
        return Err(LoadError::Invalid(own.render(&Source::new("--find", predicate.as_str()), options.colour)));
    };
    for property in program.properties.iter_mut().filter(|property| property.name == SOUGHT) {
        property.name.clone_from(predicate);
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
    let rendered = diagnostics.render(source, options.colour);
    match program {
        Some(program) if !diagnostics.has_errors() => Ok(Loaded { program: Arc::new(program), name: source.name().to_string(), warnings: rendered }),
        _ => Err(LoadError::Invalid(rendered)),
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
