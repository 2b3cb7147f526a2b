//! Files for continuous integration: `--junit` and `--sarif`.

use crate::Failure;
use crate::options::CheckOptions;
use std::path::Path;
use wayfarer::{Outlet, Report, junit_failure, sarif_failure};

/// The files that were asked for.
pub(crate) struct Files {
    junit: Option<Outlet>,
    sarif: Option<Outlet>,
}

impl Files {
    /// Makes sure that they can be written, so that a wrong name is noticed before the run.
    pub(crate) fn new(options: &CheckOptions) -> Result<Files, Failure> {
        if options.runs > 1 && (options.junit.is_some() || options.sarif.is_some()) {
            return Err(Failure::wrong("--junit and --sarif tell of one run, so they do not go with --runs".to_string()));
        }
        if options.junit.is_some() && options.junit == options.sarif {
            return Err(Failure::wrong("--junit and --sarif name the same file".to_string()));
        }
        let open = |path: &Option<_>, option| path.as_deref().map(|path| outlet(path, option)).transpose();
        Ok(Files { junit: open(&options.junit, "--junit")?, sarif: open(&options.sarif, "--sarif")? })
    }

    /// Writes what came of a run.
    pub(crate) fn write(&self, report: &Report) -> Result<(), Failure> {
        self.put(|| report.junit(), || report.sarif())
    }

    /// Writes why there was no run.
    pub(crate) fn write_failure(&self, model: &str, failure: &Failure) -> Result<(), Failure> {
        let (message, findings) = (&failure.message, &failure.findings);
        let model = if model == "-" { "<stdin>" } else { model };
        self.put(|| junit_failure(model, message, findings), || sarif_failure(model, message, findings))
    }

    fn put(&self, junit: impl FnOnce() -> String, sarif: impl FnOnce() -> String) -> Result<(), Failure> {
        if let Some(outlet) = &self.junit {
            outlet.write(&junit()).map_err(|error| cannot(outlet.path(), "--junit", &error))?;
        }
        if let Some(outlet) = &self.sarif {
            outlet.write(&sarif()).map_err(|error| cannot(outlet.path(), "--sarif", &error))?;
        }
        Ok(())
    }
}

fn outlet(path: &Path, option: &str) -> Result<Outlet, Failure> {
    Outlet::new(path).map_err(|error| cannot(path, option, &error))
}

fn cannot(path: &Path, option: &str, error: &std::io::Error) -> Failure {
    Failure::failed(format!("{option} cannot write `{}`: {error}", path.display()))
}
