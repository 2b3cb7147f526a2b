//! `wayfarer corpus`: checks a folder of models against recorded results and prints each difference. Every model is
//! checked by `wayfarer check` in a process of its own, so that the whole program is tested, and one crash is one
//! difference.

mod expect;

use crate::options::CorpusOptions;
use crate::output::{Paint, print};
use crate::{Exit, Failure, sizes};
use expect::{Case, Judgement, Ran};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Runs `wayfarer corpus`.
pub(crate) fn corpus(options: &CorpusOptions) -> Result<Exit, Failure> {
    let mut cases = expect::read(&options.folder, options.limit_states).map_err(Failure::wrong)?;
    if cases.is_empty() {
        let folder = options.folder.display();
        return Err(Failure::wrong(format!("`{folder}` records no results that can be compared: those of Murphi models and of Petri nets can")));
    }
    cases.retain(|case| options.only.is_empty() || options.only.iter().any(|text| case.file.contains(text)));
    if cases.is_empty() {
        return Err(Failure::wrong("no file name of the folder contains a text of --only"));
    }
    let known = known(options.known.as_deref())?;
    let program = std::env::current_exe().map_err(|error| Failure::failed(format!("cannot find the program itself: {error}")))?;
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get());
    let jobs = options.jobs.map_or(processors, |jobs| jobs as usize).min(cases.len()).max(1);
    let memory = options.memory.unwrap_or_else(|| crate::free().default_budget() / jobs);

    let shows = if options.json {
        Shows::Nothing
    } else if options.quiet {
        Shows::Differences
    } else {
        Shows::All
    };
    let mut tally = Tally { paint: Paint::stdout(), shows, agree: 0, differ: 0, skipped: 0, known: 0, models: Vec::new() };
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            let (sender, next, cases, program) = (sender.clone(), &next, &cases, &program);
            scope.spawn(move || {
                while let Some((index, case)) = Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|index| Some((index, cases.get(index)?))) {
                    let started = Instant::now();
                    let ran = run(program, &options.folder, case, options, memory);
                    if sender.send((index, ran, started.elapsed())).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        // Results arrive in any order and are shown in that of the folder.
        let mut waiting = HashMap::new();
        let mut shown = 0;
        for (index, ran, time) in receiver {
            waiting.insert(index, (ran, time));
            while let Some((ran, time)) = waiting.remove(&shown) {
                tally.take(&cases[shown], &ran, time, &known)?;
                shown += 1;
            }
        }
        Ok(())
    })?;
    tally.finish(options.json)
}

/// File names with the reasons why they are known to differ.
fn known(file: Option<&Path>) -> Result<HashMap<String, String>, Failure> {
    let Some(file) = file else { return Ok(HashMap::new()) };
    let text = std::fs::read_to_string(file).map_err(|error| Failure::wrong(format!("cannot read `{}`: {error}", file.display())))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    Ok(lines
        .map(|line| line.split_once(char::is_whitespace).map_or((line, ""), |(name, reason)| (name, reason.trim())))
        .map(|(name, reason)| (name.to_string(), reason.to_string()))
        .collect())
}

/// Checks one model.
fn run(program: &Path, folder: &Path, case: &Case, options: &CorpusOptions, memory: usize) -> Ran {
    let mut command = Command::new(program);
    command.arg("check").arg(folder.join(&case.file)).args(["--json", "--quiet"]);
    command.arg("--memory").arg(memory.to_string()).arg("--time").arg(format!("{}ms", options.time_per_model.as_millis().max(1)));
    command.args(&case.arguments);
    if options.interpret {
        command.arg("--interpret");
    }
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    match child {
        // Parsing and compiling are not part of the time budget; a model that hangs there is stopped all the same.
        Ok(child) => match collect(child, options.time_per_model * 2 + Duration::from_secs(30)) {
            // Locations in messages would repeat the folder on every line.
            Ran::Rejected(message) => Ran::Rejected(message.replace(&format!("{}/", folder.display().to_string().trim_end_matches('/')), "")),
            ran => ran,
        },
        Err(error) => Ran::Failed(format!("cannot be started: {error}")),
    }
}

fn collect(mut child: Child, patience: Duration) -> Ran {
    let started = Instant::now();
    let (mut stdout, mut stderr) = (child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        // Both pipes must be drained while the process runs, or it would wait for us.
        let out = scope.spawn(move || drain(stdout.as_mut()));
        let errors = scope.spawn(move || drain(stderr.as_mut()));
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if started.elapsed() < patience => std::thread::sleep(Duration::from_millis(5)),
                _ => {
                    let _ = child.kill();
                    let _ = child.wait();
                    break None;
                }
            }
        };
        let (out, errors) = (out.join().unwrap_or_default(), errors.join().unwrap_or_default());
        let first = errors.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("").to_string();
        match status.map(|status| status.code()) {
            None => Ran::Failed(format!("did not end within {}", sizes::seconds(patience.as_secs_f64()))),
            Some(Some(2)) => Ran::Rejected(first),
            Some(Some(0 | 1 | 4)) => match serde_json::from_str(&out) {
                Ok(report) => Ran::Report(report),
                Err(error) => Ran::Failed(format!("printed no report: {error}")),
            },
            Some(Some(code)) => Ran::Failed(format!("ended with exit code {code}: {first}")),
            Some(None) => Ran::Failed(format!("crashed: {first}")),
        }
    })
}

fn drain(pipe: Option<&mut impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        let _ = pipe.read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The results that get a line of text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shows {
    Nothing,
    Differences,
    All,
}

/// The results of the models so far.
struct Tally {
    paint: Paint,
    shows: Shows,
    agree: u64,
    differ: u64,
    skipped: u64,
    known: u64,
    models: Vec<Value>,
}

impl Tally {
    fn take(&mut self, case: &Case, ran: &Ran, time: Duration, known: &HashMap<String, String>) -> Result<(), Failure> {
        let judgement = case.judge(ran);
        let (word, painted, detail, loud) = match (&judgement, known.get(&case.file)) {
            (Judgement::Differs(detail), Some(reason)) => {
                self.known += 1;
                ("known", self.paint.doubt("known  "), format!("{detail} (known: {reason})"), false)
            }
            (Judgement::Differs(detail), None) => {
                self.differ += 1;
                ("differs", self.paint.bad("differs"), detail.clone(), true)
            }
            (Judgement::Agrees(detail), _) => {
                self.agree += 1;
                ("agrees", self.paint.good("agrees "), detail.clone(), false)
            }
            (Judgement::Skipped(detail), _) => {
                self.skipped += 1;
                ("skipped", self.paint.doubt("skipped"), detail.clone(), false)
            }
        };
        self.models.push(json!({ "file": case.file, "run": case.label, "result": word, "detail": detail, "seconds": time.as_secs_f64() }));
        if self.shows == Shows::Nothing || (self.shows == Shows::Differences && !loud) {
            return Ok(());
        }
        let name = if case.label.is_empty() { case.file.clone() } else { format!("{} ({})", case.file, case.label) };
        print(&format!("{painted}  {name:<40}  {detail}  {}\n", self.paint.faint(&sizes::seconds(time.as_secs_f64())))).map_err(Failure::failed)
    }

    fn finish(self, as_json: bool) -> Result<Exit, Failure> {
        let text = if as_json {
            let object = json!({
                "schema": 1, "agree": self.agree, "differ": self.differ, "skipped": self.skipped, "known": self.known, "models": self.models,
            });
            format!("{object}\n")
        } else {
            let known = if self.known > 0 { format!(", {} known to differ", self.known) } else { String::new() };
            format!("{} agree, {} differ, {} skipped{known}\n", self.agree, self.differ, self.skipped)
        };
        print(&text).map_err(Failure::failed)?;
        Ok(if self.differ > 0 { Exit::Found } else { Exit::Well })
    }
}
