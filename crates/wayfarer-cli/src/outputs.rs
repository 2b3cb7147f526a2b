//! Files that a command writes. They are checked to be writable before a long run, written whole or not at all, and
//! never one of the input files.

use crate::Failure;
use crate::options::CheckOptions;
use std::path::Path;
use wayfarer::{FORMATS, Format, Outlet, Report};

/// Checks that `option` can write `path`. The inputs of the command must not be overwritten.
pub(crate) fn outlet(path: &Path, option: &str, inputs: &[&str]) -> Result<Outlet, Failure> {
    if let Some(input) = inputs.iter().find(|input| **input != "-" && is_same(Path::new(input), path)) {
        return Err(Failure::wrong(format!("{option} would overwrite `{input}`, which the command reads; name another file")));
    }
    Outlet::new(path).map_err(|error| cannot(path, option, &error))
}

/// Checks that no two outputs of a command are the same file: the last one would replace the others.
pub(crate) fn all_different(outputs: &[(String, &Path)]) -> Result<(), Failure> {
    for (at, (option, path)) in outputs.iter().enumerate() {
        if let Some((other, _)) = outputs[..at].iter().find(|(_, other)| is_same(other, path)) {
            return Err(Failure::wrong(match other == option {
                true => format!("{option} names `{}` twice", path.display()),
                false => format!("{other} and {option} name the same file, `{}`", path.display()),
            }));
        }
    }
    Ok(())
}

/// Whether two names mean the same file, which need not exist. Devices, such as `/dev/null`, are not files.
fn is_same(one: &Path, other: &Path) -> bool {
    let whole = |path: &Path| {
        std::fs::canonicalize(path).or_else(|_| {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Ok::<_, std::io::Error>(std::fs::canonicalize(folder)?.join(path.file_name().unwrap_or_default()))
        })
    };
    let is_device = std::fs::metadata(one).is_ok_and(|facts| !facts.is_file() && !facts.is_dir());
    !is_device && whole(one).is_ok_and(|one| whole(other).is_ok_and(|other| one == other))
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
            files.push((format, outlet(path, &option, &options.inputs())?));
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
