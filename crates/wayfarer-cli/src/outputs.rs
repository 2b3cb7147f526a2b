//! Files that a command writes. They are checked to be writable before a long run, written whole or not at all, and
//! never one of the input files.

use crate::Failure;
use crate::options::CheckOptions;
use std::path::Path;
use wayfarer::{FORMATS, Format, Outlet, Report};

/// Checks that `option` can write `path`. The inputs of the command must not be overwritten.
pub(crate) fn outlet(path: &Path, option: &str, inputs: &[&str]) -> Result<Outlet, Failure> {
    let same =
        |input: &&&str| **input != "-" && std::fs::canonicalize(input).is_ok_and(|input| std::fs::canonicalize(path).is_ok_and(|path| path == input));
    if let Some(input) = inputs.iter().find(same) {
        return Err(Failure::wrong(format!("{option} would overwrite `{input}`, which the command reads; name another file")));
    }
    Outlet::new(path).map_err(|error| cannot(path, option, &error))
}

/// Writes a file that was checked before.
pub(crate) fn write(outlet: &Outlet, option: &str, text: &str) -> Result<(), Failure> {
    outlet.write(text).map_err(|error| cannot(outlet.path(), option, &error))
}

fn cannot(path: &Path, option: &str, error: &std::io::Error) -> Failure {
    Failure::failed(format!("{option} cannot write `{}`: {error}", path.display()))
}

/// The files that a report is written to, one for each requested format.
pub(crate) struct Files(Vec<(&'static Format, Outlet)>);

impl Files {
    /// Checks that they can be written.
    pub(crate) fn new(options: &CheckOptions) -> Result<Files, Failure> {
        let mut files: Vec<(&'static Format, Outlet)> = Vec::new();
        for format in FORMATS {
            let Some(path) = options.formats.file(format) else { continue };
            let option = format!("--{}", format.name);
            if options.runs > 1 {
                return Err(Failure::wrong(format!("{option} tells of one run, so it does not go with --runs")));
            }
            if let Some((other, _)) = files.iter().find(|(_, outlet)| outlet.path() == path) {
                return Err(Failure::wrong(format!("--{} and {option} name the same file", other.name)));
            }
            files.push((format, outlet(path, &option, &[&options.model.model])?));
        }
        Ok(Files(files))
    }

    /// Writes the report.
    pub(crate) fn write(&self, report: &Report) -> Result<(), Failure> {
        self.put(|format| (format.write)(report))
    }

    /// Writes the reason why there was no run.
    pub(crate) fn write_failure(&self, model: &str, failure: &Failure) -> Result<(), Failure> {
        let model = if model == "-" { "<stdin>" } else { model };
        self.put(|format| (format.failure)(model, &failure.message, &failure.findings))
    }

    fn put(&self, text: impl Fn(&Format) -> String) -> Result<(), Failure> {
        self.0.iter().try_for_each(|(format, outlet)| write(outlet, &format!("--{}", format.name), &text(format)))
    }
}
