//! The command from the user's side: the built program on small models, tested by its output and exit code.

mod bad_input;
mod book;
mod budgets;
mod ci;
mod confidence;
mod corpus;
mod graphs;
mod lab;
mod models;
mod nets;
mod phases;
mod predict;
mod promela;
mod searches;
mod signals;
mod symmetry;
mod tidy;
mod verdicts;
mod walks;

use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that is deleted after the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("wayfarer-it-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The result of a run of the program.
#[derive(Debug)]
struct Done {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Done {
    fn new(output: &Output) -> Done {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Done { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    #[track_caller]
    fn exits(self, code: i32) -> Done {
        assert_eq!(self.code, Some(code), "{self:#?}");
        assert!(!self.err.contains("panicked"), "{self:#?}");
        self
    }

    #[track_caller]
    fn prints(self, text: &str) -> Done {
        assert!(self.out.contains(text), "no `{text}` in\n{}\nstderr:\n{}", self.out, self.err);
        self
    }

    #[track_caller]
    fn complains(self, text: &str) -> Done {
        assert!(self.err.contains(text), "no `{text}` in\n{}\nstdout:\n{}", self.err, self.out);
        self
    }

    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error} in {self:#?}"))
    }
}

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wayfarer"));
    // Not the user's own cache folder.
    command.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR")).env_remove("NO_COLOR").stdin(Stdio::null());
    command
}

fn wayfarer(arguments: &[&str]) -> Done {
    Done::new(&program().args(arguments).output().unwrap())
}

fn wayfarer_with_input(arguments: &[&str], input: &str) -> Done {
    let mut child = program().args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A program that ends before it has read everything does not fail the test.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    Done::new(&child.wait_with_output().unwrap())
}

/// Runs `wayfarer check` on a model given as text.
fn check(model: &str, arguments: &[&str]) -> Done {
    let folder = Folder::new();
    let file = folder.file("model.m", model);
    let mut all = vec!["check", file.as_str()];
    all.extend(arguments);
    wayfarer(&all)
}

/// The same, for the JSON report.
#[track_caller]
fn report(model: &str, arguments: &[&str]) -> Value {
    let mut all = vec!["--json"];
    all.extend(arguments);
    check(model, &all).json()
}

/// Forecasts depend on the wall clock.
fn forget_the_forecast(report: &mut Value) {
    if let Some(forecast) = report.pointer_mut("/confidence/forecast") {
        *forecast = Value::Null;
    }
}

/// `name.m:line:column` of an absolute location.
fn short(place: &Value) -> String {
    let place = place.as_str().unwrap();
    Path::new(place).file_name().unwrap().to_str().unwrap().to_string()
}
