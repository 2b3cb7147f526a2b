//! `--device auto` begins on the CPU. Most searches end there before a GPU would have started. While a longer one goes on, the model is compiled for the GPU
//! beside it; if the levels are wide enough to keep a GPU busy, the search then starts again there, which makes up for the lost time within a fraction of a second.
//! If there is no GPU, or it cannot run the model, or turns out to be slower, the search continues on the CPU.

use super::{Attempt, Refused, slots};
use crate::memory::Budget;
use crate::report::Report;
use crate::{DeviceChoice, Plan, RunError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use wayfarer_gpu::{Device, Search, Source};
use wayfarer_search::{Account, Control, OnDevice, Progress, Stop, StoreSpec, Verdict};

/// The time after which the model is compiled for a GPU, beside the search on the CPU.
const COMPILING: Duration = Duration::from_secs(2);
/// The least time that a search stays on the CPU.
const PATIENCE: Duration = Duration::from_secs(3);
/// The least number of states that wait to be expanded in a search that a GPU takes over. Narrower levels leave most of its lanes idle.
const WIDE: u64 = 100_000;
/// The memory of the host that the driver of a GPU takes: we measured 84 MiB with a small model, and larger ones take more.
const DRIVER: usize = 256 << 20;
/// The time after which a search on the GPU must have been faster than the CPU was.
const TRIAL: Duration = Duration::from_secs(3);

impl Plan {
    /// Begins on the CPU, and moves if the search takes long and its levels are wide.
    pub(super) fn moving(&self, attempt: Attempt, control: &mut dyn Control) -> Result<Option<Report>, RunError> {
        let subject = attempt.subject;
        let Some(program) = subject.for_device().filter(|_| self.store.is_none() && self.refusal(subject).is_none()) else { return Ok(None) };
        if self.strategy.nature().device != OnDevice::Levels || self.states.is_some() || self.steps.is_some() || self.profile {
            return Ok(None);
        }
        let started = Instant::now();
        let here = Plan { device: DeviceChoice::Cpu, ..self.clone() };
        let make = || self.source(subject, program).ok().map(|(source, _)| (source, self.store()));
        let mut watch = Moving {
            inner: control,
            make: &make,
            budget: attempt.budget,
            driver: None,
            started,
            asked: 0,
            compiling: Compiling::NotYet,
            moves: false,
        };
        let report = here.attempt(attempt, &mut watch)?;
        let Moving { moves, driver: _driver, .. } = watch;
        // If all violations are asked for, those found so far do not end the search.
        if !moves || report.verdict != Verdict::NotFound && !self.all_violations {
            return Ok(Some(report));
        }
        let rest = |started: Instant| self.time.map(|time| time.saturating_sub(started.elapsed()).max(Duration::from_millis(1)));
        let there = Plan { time: rest(started), ..self.clone() };
        let least = report.states as f64 / report.times.exploring.max(1e-3);
        drop(report);
        let mut pace = Pace { inner: control, begun: None, least, judged: false, slow: false };
        let message = match there.on_device_and_cores(0, attempt, &mut pace) {
            Ok(_) if pace.slow => "the GPU was slower".to_string(),
            Ok(mut report) => {
                // The time on the CPU is part of the time of the run.
                let before = started.elapsed().as_secs_f64() - report.seconds;
                report.seconds += before;
                report.times.exploring += before;
                return Ok(Some(report));
            }
            Err(Refused::Run(RunError::Device { message }) | Refused::Symmetry(message)) => message,
            Err(Refused::Run(other)) => return Err(other),
        };
        let mut report = Plan { time: rest(started), ..here }.attempt(attempt, control)?;
        report.remarks.push(format!("the search began again on the CPU: {message}"));
        Ok(Some(report))
    }
}

/// Compiling for a GPU, beside a search.
enum Compiling {
    NotYet,
    /// Says at its end whether a GPU can take the search over.
    Runs(JoinHandle<bool>),
    Done,
}

/// The driver's memory, as part of a budget.
struct Driver<'a>(&'a Budget);

impl Drop for Driver<'_> {
    fn drop(&mut self) {
        self.0.refund(DRIVER);
    }
}

/// Ends a search on the CPU when it has taken long enough and a GPU can take it over.
struct Moving<'a, 'b> {
    inner: &'a mut dyn Control,
    /// Makes the source of the model, if a GPU can run it.
    make: &'a dyn Fn() -> Option<(Source, StoreSpec)>,
    /// Must have room for the driver.
    budget: &'b Budget,
    driver: Option<Driver<'b>>,
    started: Instant,
    asked: u32,
    compiling: Compiling,
    moves: bool,
}

impl Moving<'_, '_> {
    /// Whether a GPU is ready to take over.
    fn is_ready(&mut self) -> bool {
        match &self.compiling {
            Compiling::NotYet => {
                self.compiling = match (self.make)() {
                    Some((source, store)) if self.budget.allows(DRIVER) => {
                        self.budget.charge(DRIVER);
                        self.driver = Some(Driver(self.budget));
                        Compiling::Runs(std::thread::spawn(move || prepares(&source, &store)))
                    }
                    _ => Compiling::Done,
                };
                false
            }
            Compiling::Runs(thread) if thread.is_finished() => match std::mem::replace(&mut self.compiling, Compiling::Done) {
                Compiling::Runs(thread) => thread.join().unwrap_or(false),
                _ => false,
            },
            _ => false,
        }
    }
}

/// Compiles a model for the first GPU. Says whether that went well.
fn prepares(source: &Source, store: &StoreSpec) -> bool {
    let Ok(device) = Device::open(0) else { return false };
    let Some(slots) = slots(store, source, device.has_wide_swap()) else { return false };
    device.prepare(source, Search::Levels(slots)).is_ok()
}

impl Control for Moving<'_, '_> {
    fn ask(&mut self, progress: &Progress) -> Option<Stop> {
        if let Some(stop) = self.inner.ask(progress) {
            return Some(stop);
        }
        self.asked = self.asked.wrapping_add(1);
        if !self.moves && self.asked.is_multiple_of(64) && progress.frontier >= WIDE && self.started.elapsed() > COMPILING {
            let waits = matches!(self.compiling, Compiling::NotYet) || self.started.elapsed() > PATIENCE;
            self.moves = waits && self.is_ready();
        }
        self.moves.then_some(Stop::Interrupted)
    }
}

/// Ends a search on the GPU that is slower than the CPU was.
struct Pace<'a> {
    inner: &'a mut dyn Control,
    /// When the search began, which is after compiling.
    begun: Option<Instant>,
    /// States in a second on the CPU.
    least: f64,
    judged: bool,
    slow: bool,
}

impl Control for Pace<'_> {
    fn ask(&mut self, progress: &Progress) -> Option<Stop> {
        if let Some(stop) = self.inner.ask(progress) {
            return Some(stop);
        }
        if progress.states > 0 && !self.judged {
            let took = self.begun.get_or_insert_with(Instant::now).elapsed();
            // Once: a search that begins again over fingerprints has few states for a moment.
            self.judged = took > TRIAL;
            self.slow = self.judged && (progress.states as f64) < self.least * took.as_secs_f64();
        }
        self.slow.then_some(Stop::Interrupted)
    }
}
