//! The output formats of a report for other programs, one row each. A new format is one file in this folder and one
//! row in [`FORMATS`].

use super::{Finding, Report, junit, markdown, sarif};

/// A format in which a report is written to a file.
pub struct Format {
    /// Its name, which is also the flag of the command line.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// More help.
    pub more: &'static str,
    /// Writes a report.
    pub write: fn(&Report) -> String,
    /// Writes the reason why there is no report: the model's name, the message, and the diagnostics about the model
    /// if there are any.
    pub failure: fn(&str, &str, &[Finding]) -> String,
}

/// All formats, in the order in which they are listed to users.
pub const FORMATS: &[Format] = &[
    Format {
        name: "junit",
        help: "Write a JUnit XML file for continuous integration: one test case for each property, one for deadlocks and one for faults",
        more: "A case passes only if its property is proved. A property that the budget left open is skipped with the reason, and fails with --exhaustive. A \
               violation fails with its place and its witness; so does a state or rule that --find or --find-rule found. A model that cannot be read gives one case \
               that ends in an error.",
        write: Report::junit,
        failure: junit::junit_failure,
    },
    Format {
        name: "sarif",
        help: "Write a SARIF 2.1.0 file for code scanning: each violation at its place, with the witness as a code flow",
        more: "Paths are relative to the repository that holds the model. A property that the budget left open is a notification, and a result with --exhaustive; \
               errors in the model are results at their places.",
        write: Report::sarif,
        failure: sarif::sarif_failure,
    },
    Format {
        name: "markdown",
        help: "Write a Markdown file for the summary of a job: the verdict, a table of the checks, and each witness behind a fold",
        more: "In a GitHub workflow, --markdown \"$GITHUB_STEP_SUMMARY\" shows it on the page of the run.",
        write: Report::markdown,
        failure: markdown::failure,
    },
];
