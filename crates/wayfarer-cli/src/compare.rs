//! `wayfarer compare`: several strategies on one model, one table, one page, and advice.

use crate::lab::{style, width};
use crate::options::CompareOptions;
use crate::output::{complain, print};
use crate::progress::Style;
use crate::signals::Signals;
use crate::{Exit, Failure, machine, model, outputs, sizes};
use serde_json::json;
use std::sync::Mutex;
use std::time::Instant;
use wayfarer::Plan;
use wayfarer::memory::Budget;
use wayfarer_lab::{Comparison, Desk, LabError, Watch, compare as carry_out, page};

/// Runs `wayfarer compare`.
pub(crate) fn compare(options: &CompareOptions) -> Result<Exit, Failure> {
    let given = &options.run.plan;
    let limit = given.memory.unwrap_or_else(|| crate::free().default_budget());
    let opened = model::open_finding(&options.model, given.find.first().map(String::as_str))?;
    for strategy in &options.strategies.0 {
        strategy.suits(&strategy.default_store()).map_err(|needs| Failure::wrong(format!("`{strategy}` needs {needs}")))?;
    }
    let page_file = options.output.html.as_deref().map(|file| outputs::outlet(file, "--html", &[&options.model.model])).transpose()?;
    let signals = Signals::catch().map_err(|error| Failure::failed(format!("cannot catch signals: {error}")))?;
    // One thread: parallel runs would share the memory, and their times would mean nothing.
    let plan = Plan { memory: Some(limit), threads: 1, ..given.clone() };
    let budget = Budget::new(limit, machine::besides(wayfarer::memory::taken()).min(limit / 2));
    let question = Comparison { subject: opened.subject, plan, strategies: options.strategies.0.clone(), runs: options.runs, budget };
    let watcher = Watcher::new(&signals, options.output.quiet);
    let done = carry_out(&Desk::new(false, given.seed, 1, &watcher), &question);
    watcher.finish();
    let findings = done.map_err(|error| match error {
        LabError::Interrupted => Failure { exit: signals.exit(), ..Failure::failed("interrupted") },
        LabError::Failed(message) => Failure::wrong(message),
    })?;
    if let Some(file) = &page_file {
        let introduction = "Strategies on one model, all within the same limits.";
        outputs::write(file, "--html", &page(&findings.title, introduction, std::slice::from_ref(&findings)))?;
        complain(&format!("page written to {}\n", file.path().display()));
    }
    let text = if options.output.json { format!("{}\n", json!({ "schema": 1, "comparison": findings })) } else { findings.text(width(), style()) };
    print(&text).map_err(Failure::failed)?;
    Ok(Exit::Well)
}

/// Shows the number of finished runs.
struct Watcher<'a> {
    signals: &'a Signals,
    style: Style,
    started: Instant,
    shown: Mutex<(Instant, bool)>,
}

impl<'a> Watcher<'a> {
    fn new(signals: &'a Signals, quiet: bool) -> Self {
        let now = Instant::now();
        Watcher { signals, style: Style::fitting(quiet), started: now, shown: Mutex::new((now, false)) }
    }

    fn finish(&self) {
        if self.shown.lock().is_ok_and(|shown| shown.1) && self.style == Style::Terminal {
            complain("\r\x1b[K");
        }
    }
}

impl Watch for Watcher<'_> {
    fn ended(&self) -> bool {
        self.signals.end()
    }

    fn progress(&self, share: f64) {
        let Ok(mut shown) = self.shown.lock() else { return };
        if self.style == Style::Quiet || shown.0.elapsed() < self.style.every() {
            return;
        }
        let seconds = self.started.elapsed().as_secs_f64();
        let line =
            format!("{:.0} % · {} · about {} left", 100.0 * share, sizes::clock(seconds), sizes::clock(seconds / share.max(0.001) * (1.0 - share)));
        complain(&if self.style == Style::Terminal { format!("\r\x1b[K{line}") } else { format!("{line}\n") });
        *shown = (Instant::now(), true);
    }
}
