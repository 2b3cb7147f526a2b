//! The command `wayfarer`: a thin layer over the library that parses the command line, shows the progress of a run
//! and prints its result.

mod check;
mod columns;
mod compare;
mod corpus;
mod curve;
mod formulas;
mod graph;
mod info;
mod lab;
mod manual;
mod model;
mod options;
mod output;
mod outputs;
mod predict;
mod progress;
mod render;
mod replay;
mod runs;
mod signals;
mod simulate;
mod step;
mod suggest;
mod witness;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use options::{Command, CommandLine};
use std::process::ExitCode;
use std::sync::OnceLock;
use wayfarer::{LoadError, Rejection};
use wayfarer::{machine, sizes};

/// Counts every allocated byte, so that a run can keep its budget.
#[global_allocator]
static ALLOCATOR: wayfarer::memory::Counting = wayfarer::memory::Counting;

/// The result of a command; the numbers are the exit codes that `--help` lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    /// No violation was found.
    Well = 0,
    /// A violation, or a difference, was found.
    Found = 1,
    /// The model or the command line is wrong.
    Wrong = 2,
    /// The run could not be carried out.
    Failed = 3,
    /// The budget ended before everything was visited, and an exhaustive run was requested.
    Cut = 4,
    /// Ctrl-C ended the run before anything was found.
    Interrupted = 130,
    /// SIGTERM ended the run before anything was found.
    Terminated = 143,
}

/// Nesting in a model becomes nesting of calls in some places; this much stack suffices for all of them. Only the
/// part that is used takes memory, but all of it takes addresses: if these are limited, a stack takes an eighth at most.
const STACKS: [usize; 3] = [256 << 20, 64 << 20, 8 << 20];

/// The first argument of a process that does nothing but compile a model for a GPU. The run that started it reads the result.
const COMPILER: &str = "compile-for-device";

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|first| first == COMPILER) {
        let files: Vec<String> = std::env::args_os().skip(2).filter_map(|argument| argument.into_string().ok()).collect();
        return ExitCode::from(wayfarer::serve_compiler(&files));
    }
    if let Ok(program) = std::env::current_exe() {
        wayfarer::compile_apart(program, vec![COMPILER.to_string()]);
    }
    let command = match CommandLine::try_parse() {
        Ok(line) => {
            output::set_colour(line.color);
            line.command
        }
        Err(error) => return usage(&error),
    };
    let (memory, threads) = if let Command::Check(options) = &command { (options.run.plan.memory, options.run.plan.threads) } else { (None, 0) };
    let threads = if threads > 0 { threads } else { std::thread::available_parallelism().map_or(1, std::num::NonZero::get) };
    wayfarer::memory::give_back_at_once(memory.unwrap_or_else(|| free().default_budget()), threads);
    let command = std::sync::Arc::new(command);
    let most = machine::addresses().map_or(usize::MAX, |addresses| (addresses / 8).max(STACKS[2]));
    for stack in STACKS.into_iter().filter(|stack| *stack <= most) {
        let command = command.clone();
        if let Ok(thread) = std::thread::Builder::new().name("main".to_string()).stack_size(stack).spawn(move || run(&command)) {
            let exit = thread.join().unwrap_or_else(|_| {
                output::error("this is a defect of wayfarer, not of the model: please report it with the message above");
                Exit::Failed
            });
            return ExitCode::from(exit as u8);
        }
    }
    output::error("cannot start a thread");
    ExitCode::from(Exit::Failed as u8)
}

/// The memory that was free when the program started.
fn free() -> &'static machine::Free {
    static FREE: OnceLock<machine::Free> = OnceLock::new();
    FREE.get_or_init(machine::Free::read)
}

fn run(command: &Command) -> Exit {
    let done = match command {
        Command::Check(options) => check::check(options),
        Command::Info(options) => info::info(options),
        Command::Simulate(options) => simulate::simulate(options),
        Command::Step(options) => step::step(options),
        Command::Replay(options) => replay::replay(options),
        Command::Corpus(options) => corpus::corpus(options),
        Command::Graph(options) => graph::graph(options),
        Command::Predict { shape } => predict::predict(shape),
        Command::Compare(options) => compare::compare(options),
        Command::Lab { what } => lab::lab(what),
        Command::Completions { shell } => manual::completions(*shell),
        Command::Man { command } => manual::man(command.as_deref()),
    };
    done.unwrap_or_else(|failure| {
        match failure.exit {
            // Diagnostics have their own headings.
            Exit::Wrong if failure.rendered => output::complain(&failure.message),
            _ => output::error(&failure.message),
        }
        failure.exit
    })
}

/// The reason why a command failed.
#[derive(Debug)]
struct Failure {
    exit: Exit,
    message: String,
    /// Whether the message is ready to print.
    rendered: bool,
    /// The errors in the model as a list, if they are the reason.
    findings: Vec<wayfarer::Finding>,
}

impl Failure {
    /// The model cannot be read.
    fn unread(error: LoadError) -> Failure {
        match error {
            LoadError::Invalid(Rejection { text, findings }) => Failure { exit: Exit::Wrong, message: text, rendered: true, findings },
            other => Failure::wrong(other.to_string()),
        }
    }

    /// The model or the command line is wrong.
    fn wrong(message: impl Into<String>) -> Failure {
        Failure { exit: Exit::Wrong, message: message.into(), rendered: false, findings: Vec::new() }
    }

    /// The run could not be carried out.
    fn failed(message: impl Into<String>) -> Failure {
        Failure { exit: Exit::Failed, message: message.into(), rendered: false, findings: Vec::new() }
    }
}

/// Help goes to the standard output and is not an error; anything else is.
fn usage(error: &clap::Error) -> ExitCode {
    let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if error.kind() == ErrorKind::InvalidSubcommand
        && let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
        && std::path::Path::new(word).is_file()
    {
        // The command whose name is nearest to that of a file is no help.
        output::complain(&format!("error: `{word}` is a file and not a command. To check it: wayfarer check {}\n", wayfarer::options::quoted(word)));
    } else {
        // A closed pipe is no reason to complain.
        let _ = error.print();
    }
    ExitCode::from(if asked { Exit::Well } else { Exit::Wrong } as u8)
}
