//! Covered states against steps and time, for `--curve`.

use crate::{Failure, outputs};
use std::fmt::Write as _;
use std::time::Instant;
use wayfarer::search::{Control, Progress, Stop};
use wayfarer::{Outlet, Report};

/// The distance between points of a curve, as a share of the steps so far: about 470 points to a factor of ten
/// thousand.
const APART: f64 = 0.02;

/// The points of all runs, and their file.
pub(crate) struct Curve {
    file: Option<Outlet>,
    text: String,
    seed: u64,
    started: Instant,
    next: u64,
}

impl Curve {
    /// A curve that is written to `file`.
    pub(crate) fn new(file: Option<Outlet>) -> Curve {
        Curve { file, text: String::from("seed,steps,seconds,states\n"), seed: 0, started: Instant::now(), next: 0 }
    }

    /// A control that records points and forwards the question.
    pub(crate) fn watching<'a>(&'a mut self, inner: &'a mut dyn Control, seed: u64) -> Watching<'a> {
        self.seed = seed;
        self.started = Instant::now();
        self.next = 0;
        Watching { curve: self, inner }
    }

    /// The last point of a run.
    pub(crate) fn end(&mut self, report: &Report) {
        self.point(report.steps, report.times.exploring, report.states);
    }

    fn point(&mut self, steps: u64, seconds: f64, states: u64) {
        if self.file.is_some() {
            let _ = writeln!(self.text, "{},{steps},{seconds:.6},{states}", self.seed);
        }
    }

    pub(crate) fn write(&self) -> Result<(), Failure> {
        let Some(file) = &self.file else { return Ok(()) };
        outputs::write(file, "--curve", &self.text)
    }
}

/// A control that records points.
pub(crate) struct Watching<'a> {
    curve: &'a mut Curve,
    inner: &'a mut dyn Control,
}

impl Control for Watching<'_> {
    fn ask(&mut self, progress: &Progress) -> Option<Stop> {
        if progress.steps >= self.curve.next {
            let seconds = self.curve.started.elapsed().as_secs_f64();
            self.curve.point(progress.steps, seconds, progress.states);
            self.curve.next = progress.steps + 1 + (progress.steps as f64 * APART) as u64;
        }
        self.inner.ask(progress)
    }
}
