//! `wayfarer lab`: runs experiments of the laboratory, shows their progress, and saves finished ones.

mod watch;

use crate::options::{Lab, LabOptions};
use crate::output::{Paint, complain, print};
use crate::signals::Signals;
use crate::{Exit, Failure, outputs, suggest};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use watch::Watcher;
use wayfarer::Outlet;
use wayfarer_lab::text::Style;
use wayfarer_lab::{Corpus, Desk, Experiment, Findings, Judgement, LabError, Permits, Shelf, experiments, page, summary};

/// Runs `wayfarer lab`.
pub(crate) fn lab(what: &Lab) -> Result<Exit, Failure> {
    match what {
        Lab::List { json } => list(*json),
        Lab::Run { names, options } => {
            let known: Vec<&str> = experiments().iter().map(|experiment| experiment.name).collect();
            let named = |name: &String| Experiment::named(name).ok_or_else(|| Failure::wrong(suggest::unknown("experiment", name, &known)));
            run(&names.iter().map(named).collect::<Result<Vec<_>, _>>()?, options, options.out.clone())
        }
        Lab::All { options } => run(experiments(), options, Some(options.out.clone().unwrap_or_else(|| PathBuf::from("wayfarer-lab")))),
    }
}

fn list(json: bool) -> Result<Exit, Failure> {
    let text = if json {
        let one = |experiment: &&Experiment| json!({ "name": experiment.name, "title": experiment.title, "source": experiment.source, "question": experiment.question });
        format!("{}\n", json!({ "schema": 1, "experiments": experiments().iter().map(one).collect::<Vec<_>>() }))
    } else {
        let paint = Paint::stdout();
        let width = experiments().iter().map(|experiment| experiment.name.len()).max().unwrap_or(0);
        let one = |experiment: &&Experiment| {
            let name = format!("{:<width$}", experiment.name);
            format!("{}  {}\n{}  {}\n", paint.strong(&name), experiment.title, " ".repeat(width), paint.faint(experiment.source))
        };
        experiments().iter().map(one).collect()
    };
    print(&text).map_err(Failure::failed)?;
    Ok(Exit::Well)
}

fn run(chosen: &[&'static Experiment], options: &LabOptions, folder: Option<PathBuf>) -> Result<Exit, Failure> {
    let page_file = options.output.html.as_deref().map(|file| outputs::outlet(file, "--html", &[])).transpose()?;
    let shelf = match &folder {
        Some(folder) => {
            Some(Shelf::open(folder).map_err(|error| Failure::failed(format!("cannot make the folder `{}`: {error}", folder.display())))?)
        }
        None => None,
    };
    let signals = Signals::catch().map_err(|error| Failure::failed(format!("cannot catch signals: {error}")))?;
    let threads = options.threads.map_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get), |threads| threads as usize);
    let corpus = options.corpus.as_deref().map(Corpus::open).transpose();
    let corpus = corpus.map_err(|error| {
        let folder = options.corpus.as_deref().unwrap_or(Path::new("")).display();
        Failure::wrong(format!("cannot read the folder `{folder}` of --corpus: {error}"))
    })?;
    let watcher = Watcher::new(&signals, options.output.quiet, chosen, options.quick);
    let bench = Bench {
        options,
        permits: Arc::new(Permits::new(threads)),
        corpus: corpus.map(Arc::new),
        shelf,
        folder: folder.as_deref(),
        watcher: &watcher,
        signals: &signals,
    };
    let all = bench.run(chosen, threads)?;
    if let Some(shelf) = &bench.shelf {
        shelf.list(&all).map_err(|error| Failure::failed(format!("cannot write to the folder: {error}")))?;
    }
    give(page_file.as_ref(), options.output.json, options.quick, options.seed, &all)?;
    if !options.output.json {
        print(&format!("{}\n", summary(&all))).map_err(Failure::failed)?;
    }
    Ok(Exit::Well)
}

/// Runs experiments: those that measure time one after the other, all others side by side.
struct Bench<'a> {
    options: &'a LabOptions,
    permits: Arc<Permits>,
    corpus: Option<Arc<Corpus>>,
    shelf: Option<Shelf>,
    folder: Option<&'a Path>,
    watcher: &'a Watcher<'a>,
    signals: &'a Signals,
}

impl Bench<'_> {
    fn run(&self, chosen: &[&'static Experiment], threads: usize) -> Result<Vec<Findings>, Failure> {
        let (alone, beside): (Vec<usize>, Vec<usize>) = (0..chosen.len()).partition(|at| chosen[*at].runs_alone());
        let done: Mutex<Vec<Option<Findings>>> = Mutex::new(vec![None; chosen.len()]);
        let failed: Mutex<Option<(&'static Experiment, LabError)>> = Mutex::new(None);
        let shown = AtomicUsize::new(0);
        let one = |at: usize| {
            if lock(&failed).is_some() {
                return;
            }
            match self.findings(chosen[at]) {
                Ok(findings) => {
                    let mut done = lock(&done);
                    done[at] = Some(findings);
                    // In the order of the list, each as soon as all before it are there.
                    while let Some(Some(findings)) = done.get(shown.load(Ordering::Relaxed)) {
                        shown.fetch_add(1, Ordering::Relaxed);
                        if !self.options.output.json {
                            self.watcher.clear();
                            let _ = print(&format!("{}\n", findings.text(width(), style())));
                        }
                    }
                }
                Err(error) => {
                    lock(&failed).get_or_insert((chosen[at], error));
                }
            }
        };
        alone.into_iter().for_each(one);
        let next = AtomicUsize::new(0);
        let hand = || {
            while let Some(at) = beside.get(next.fetch_add(1, Ordering::Relaxed)) {
                one(*at);
            }
        };
        std::thread::scope(|scope| {
            let hands = (1..side_by_side(threads)).filter_map(|_| std::thread::Builder::new().stack_size(64 << 20).spawn_scoped(scope, hand).ok());
            let hands: Vec<_> = hands.collect();
            hand();
            drop(hands);
        });
        self.watcher.clear();
        let all: Vec<Findings> = done.into_inner().unwrap_or_else(|poison| poison.into_inner()).into_iter().flatten().collect();
        match failed.into_inner().unwrap_or_else(|poison| poison.into_inner()) {
            Some((experiment, error)) => Err(failure(&error, experiment, (all.len(), chosen.len()), self.folder, self.signals)),
            None => Ok(all),
        }
    }

    /// The findings of an experiment: those in the folder, or new ones, which are saved there.
    fn findings(&self, experiment: &'static Experiment) -> Result<Findings, LabError> {
        let watch = self.watcher.of(experiment);
        let desk = Desk::sharing(self.options.quick, self.options.seed, self.permits.clone(), &watch).with_corpus(self.corpus.clone());
        if let Some(findings) = self.shelf.as_ref().filter(|_| !self.options.again).and_then(|shelf| shelf.find(experiment, &desk)) {
            self.watcher.skip(experiment);
            return self.show(findings);
        }
        self.watcher.begin(experiment);
        let findings = experiment.run(&desk)?;
        self.watcher.end(experiment);
        if let (Some(shelf), Some(folder)) = (&self.shelf, self.folder) {
            let unwritten = |error| LabError::Failed(format!("cannot write to `{}`: {error}", folder.display()));
            shelf.keep(experiment, &desk, &findings).map_err(unwritten)?;
        }
        self.show(findings)
    }

    /// Writes the text and the plots into the folder.
    fn show(&self, findings: Findings) -> Result<Findings, LabError> {
        let shown = self.shelf.as_ref().map_or(Ok(()), |shelf| shelf.show(&findings));
        shown.map_err(|error| LabError::Failed(format!("cannot write to the folder: {error}")))?;
        Ok(findings)
    }
}

/// The number of experiments that run at a time. Threads that one of them leaves idle are used by another, and finished ones come early. With
/// two threads it is two, because most experiments have parts that only one thread can do.
fn side_by_side(threads: usize) -> usize {
    threads.div_ceil(3).clamp(threads.clamp(1, 2), 6)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poison| poison.into_inner())
}

fn failure(error: &LabError, experiment: &Experiment, (done, chosen): (usize, usize), folder: Option<&Path>, signals: &Signals) -> Failure {
    let interrupted = |message: String| Failure { exit: signals.exit(), ..Failure::failed(message) };
    match (error, folder) {
        (LabError::Failed(message), _) => Failure::failed(format!("{}: {message}", experiment.name)),
        (LabError::Interrupted, Some(folder)) => interrupted(format!(
            "interrupted in `{}`; {done} of {chosen} experiments are done and kept in `{}`: the same command goes on from there",
            experiment.name,
            folder.display()
        )),
        (LabError::Interrupted, None) => {
            interrupted(format!("interrupted in `{}`, after {done} of {chosen} experiments (--out FOLDER keeps what is finished)", experiment.name))
        }
    }
}

fn give(html: Option<&Outlet>, json: bool, quick: bool, seed: u64, all: &[Findings]) -> Result<(), Failure> {
    if let Some(file) = html {
        let how = if quick { "quick settings: few repetitions" } else { "full settings" };
        let introduction = format!(
            "The experiments of five papers on random and memory-saving exploration, rerun with {how}. Each of the papers' claims is judged by the figures beside it: {}.",
            summary(all)
        );
        outputs::write(file, "--html", &page("Wayfarer laboratory", &introduction, all))?;
        complain(&format!("page written to {}\n", file.path().display()));
    }
    if json {
        let object = json!({ "schema": 1, "version": env!("CARGO_PKG_VERSION"), "quick": quick, "seed": seed, "experiments": all });
        print(&format!("{object}\n")).map_err(Failure::failed)?;
    }
    Ok(())
}

/// The width of the terminal.
pub(crate) fn width() -> usize {
    terminal_size::terminal_size().map_or(110, |(width, _)| usize::from(width.0).clamp(40, 140))
}

/// Colours, if the standard output supports them.
pub(crate) fn style() -> Style {
    if !Paint::stdout().colour {
        return wayfarer_lab::text::PLAIN;
    }
    const PAINT: Paint = Paint { colour: true };
    Style {
        strong: |text| PAINT.strong(text),
        faint: |text| PAINT.faint(text),
        judged: |judgement, word| match judgement {
            Judgement::Agrees => PAINT.good(word),
            Judgement::Differs => PAINT.bad(word),
            Judgement::Partly => PAINT.doubt(word),
            Judgement::Open => PAINT.faint(word),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_thread_is_idle_while_an_experiment_waits() {
        assert_eq!([1, 2, 3, 6, 9, 16, 64].map(side_by_side), [1, 2, 2, 2, 3, 6, 6]);
    }
}
