//! The languages that Wayfarer reads, one row each, and the loading of models.
//!
//! A language is one file in this folder and one row in [`LANGUAGES`]. The row says which files are written in it and
//! how one is read. No other code asks which language a model is written in: a loader returns a [`Subject`], and that
//! is all that searches, commands and reports see.

mod aut;
mod mcrl2;
mod murphi;
mod pnml;
mod promela;

pub use aut::load_graph;
pub use murphi::{Loaded, load, load_text};

use crate::{Finding, Subject};
use std::fmt;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use wayfarer_lang::diagnostics::{Diagnostic, Diagnostics, Severity};
use wayfarer_lang::source::Source;

/// A language in which models are written.
pub struct Language {
    /// Its name.
    pub name: &'static str,
    /// The endings of its files, without the dot, in lower case.
    pub endings: &'static [&'static str],
    /// Whether a text seems to be written in it. Called for the standard input and for files whose ending no language
    /// has.
    pub begins: fn(&str) -> bool,
    /// Parses a text.
    pub read: fn(&Source, &LoadOptions) -> Result<Opened, LoadError>,
    /// The syntax of `--find` in it; `None` if only rules can be searched for.
    pub predicate: Option<&'static str>,
    /// Whether a file of formulas can be checked on its models.
    pub has_formulas: bool,
}

/// All languages, in the order in which they are listed to users. The first is the default.
pub const LANGUAGES: &[Language] = &[murphi::LANGUAGE, promela::LANGUAGE, mcrl2::LANGUAGE, pnml::LANGUAGE, aut::LANGUAGE];

/// The options for reading a model.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Values that replace those of the model's constants, by name.
    pub constants: Vec<(String, String)>,
    /// A predicate on states in the model's own language. It is added as a reachability property named by its text.
    pub find: Option<String>,
    /// A file of formulas about the model, which are all answered in one run.
    pub formulas: Option<Source>,
    /// Whether copying an undefined value is a fault.
    pub strict_undefined: bool,
    /// The rewrite steps that one evaluation may take before it counts as endless; none for the usual limit.
    pub rewrite_limit: Option<u64>,
    /// Whether diagnostics are coloured.
    pub colour: bool,
}

/// A model that was read, in any language.
#[derive(Clone)]
pub struct Opened {
    /// The subject of a run.
    pub subject: Arc<dyn Subject>,
    /// Warnings, ready to print; often empty.
    pub warnings: String,
}

impl fmt::Debug for Opened {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.debug_struct("Opened").field("subject", &self.subject.source()).field("warnings", &self.warnings).finish()
    }
}

/// The reason why a model could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadError {
    /// The file cannot be read, or is not text.
    Read(String),
    /// The model has errors.
    Invalid(Rejection),
}

/// The errors that make a text invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The diagnostics, ready to print.
    pub text: String,
    /// The same as a list.
    pub findings: Vec<Finding>,
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

/// Reads the model at `path`, `-` for the standard input. The language is the one with the file's ending, or the
/// first one whose texts begin like this one.
pub fn open(path: &str, options: &LoadOptions) -> Result<Opened, LoadError> {
    let source = read(path)?;
    let (language, is_guess) = language_of(path, source.text());
    if !language.has_formulas
        && let Some(file) = &options.formulas
    {
        let message = format!("`{}` has formulas about a Petri net, and `{}` is a model in {}", file.name(), source.name(), language.name);
        return Err(LoadError::Read(message));
    }
    (language.read)(&source, options).map_err(|error| if is_guess { guessed(error, path, language) } else { error })
}

/// The error of a text whose language was guessed, with a sentence that says so.
fn guessed(error: LoadError, path: &str, language: &Language) -> LoadError {
    let LoadError::Invalid(mut rejection) = error else { return error };
    let endings: Vec<String> = LANGUAGES.iter().map(|language| format!("{} for {}", endings(language), language.name)).collect();
    let why =
        if path == "-" { "the standard input was read".to_string() } else { format!("the ending of `{path}` names no language, so it was read") };
    rejection.text.push_str(&format!("note: {why} as {}, by how it begins; files end in {}\n", language.name, endings.join(", ")));
    LoadError::Invalid(rejection)
}

/// The endings of a language's files, with the dot.
fn endings(language: &Language) -> String {
    language.endings.iter().map(|ending| format!(".{ending}")).collect::<Vec<_>>().join(" or ")
}

/// Reads a model from its text. The language is that of a file of this name.
pub fn open_text(name: &str, text: String, options: &LoadOptions) -> Result<Opened, LoadError> {
    let (language, _) = language_of(name, &text);
    (language.read)(&Source::new(name, text), options)
}

/// The language of the text of a file, and whether it is a guess from its beginning.
fn language_of(path: &str, text: &str) -> (&'static Language, bool) {
    let ending = Path::new(path).extension().map(|ending| ending.to_string_lossy().to_lowercase());
    let by_ending = LANGUAGES.iter().find(|language| ending.as_deref().is_some_and(|ending| language.endings.contains(&ending)));
    match by_ending {
        Some(language) => (language, false),
        None => (LANGUAGES.iter().find(|language| (language.begins)(text)).unwrap_or(&LANGUAGES[0]), true),
    }
}

/// Reads a file of formulas.
pub fn open_formulas(path: &str) -> Result<Source, LoadError> {
    read(path)
}

/// The error for a text that is not a valid model; `at` gives the position of a diagnostic.
pub(crate) fn rejected(diagnostics: &Diagnostics, source: &Source, colour: bool, at: &dyn Fn(&Diagnostic) -> String) -> LoadError {
    let findings = diagnostics.iter().map(|diagnostic| Finding {
        error: diagnostic.severity == Severity::Error,
        message: diagnostic.message.clone(),
        help: diagnostic.help.clone(),
        at: at(diagnostic),
    });
    LoadError::Invalid(Rejection { text: diagnostics.render(source, colour), findings: findings.collect() })
}

/// The same, for diagnostics about the source's file.
pub(crate) fn rejected_there(diagnostics: &Diagnostics, source: &Source, colour: bool) -> LoadError {
    rejected(diagnostics, source, colour, &|diagnostic| {
        let position = source.position(diagnostic.span.start);
        format!("{}:{}:{}", source.name(), position.line, position.column)
    })
}

/// The same, for diagnostics about the predicate to search for.
pub(crate) fn rejected_predicate(diagnostics: &Diagnostics, predicate: &str, colour: bool) -> LoadError {
    rejected(diagnostics, &Source::new("--find", predicate), colour, &|_| String::new())
}

/// The error for options that a language does not support; `what` names the kind of model: `a graph`.
pub(crate) fn refuse_constants(source: &Source, options: &LoadOptions, what: &str) -> Result<(), LoadError> {
    match options.constants.first() {
        Some((name, _)) => Err(LoadError::Read(format!("`{}` is {what}, which has no constant `{name}`", source.name()))),
        None => Ok(()),
    }
}

/// The largest file that is read: positions in the text have 32 bits, and nobody writes models of this size by hand.
const MAX_FILE: u64 = 64 << 20;

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

fn read_file(path: &str) -> Result<Vec<u8>, LoadError> {
    let cannot = |why: String| LoadError::Read(format!("cannot read `{path}`: {why}"));
    let about = std::fs::metadata(Path::new(path)).map_err(|error| cannot(io_words(&error)))?;
    if about.is_dir() {
        return Err(cannot("it is a folder, not a model".to_string()));
    }
    if about.len() > MAX_FILE {
        return Err(LoadError::Read(format!("`{path}` is larger than 64 MiB")));
    }
    // A device has no size and may have no end.
    let file = std::fs::File::open(path).map_err(|error| cannot(io_words(&error)))?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(|error| cannot(io_words(&error)))?;
    Ok(bytes)
}

/// An error of the system without its number.
pub fn io_words(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_string(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_string(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_languages_share_an_ending() {
        let mut endings: Vec<&str> = LANGUAGES.iter().flat_map(|language| language.endings).copied().collect();
        let all = endings.len();
        endings.sort_unstable();
        endings.dedup();
        assert_eq!(endings.len(), all);
        assert!(endings.iter().all(|ending| !ending.contains('.') && ending.to_lowercase() == **ending));
    }

    #[test]
    fn the_ending_decides_and_then_the_beginning() {
        let name = |path: &str, text: &str| language_of(path, text).0.name;
        assert_eq!(name("graph.AUT", ""), "Aldebaran");
        assert_eq!(name("german.m", "des (0, 0, 1)"), "Murphi");
        assert_eq!(name("-", " des (0, 0, 1)"), "Aldebaran");
        assert_eq!(name("-", "var x: boolean;"), "Murphi");
    }
}
