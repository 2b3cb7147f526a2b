//! The table of experiments: their names, their sources, and the functions that run them.

use crate::desk::{Desk, LabError};
use crate::experiments::ALL;
use crate::{Findings, models};
use std::time::Instant;

/// The names and values of an experiment's settings.
pub type Settings = Vec<(&'static str, String)>;

/// An experiment of one of the papers.
pub struct Experiment {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// The paper, and its table or figure.
    pub source: &'static str,
    /// The question it answers.
    pub question: &'static str,
    /// The approximate seconds it takes on two cores: quick, in full. Only the estimate of the remaining time
    /// uses it.
    pub(crate) seconds: (f64, f64),
    /// Whether it measures time, so that nothing else should run beside it.
    pub(crate) alone: bool,
    /// The files of the user's folder that it reads if they are there, by the ends of their paths.
    pub(crate) reads: &'static [&'static str],
    pub(crate) settings: fn(quick: bool) -> Settings,
    pub(crate) run: fn(&Desk, &mut Findings) -> Result<(), LabError>,
}

/// All experiments, in the order in which they are listed and run.
pub fn experiments() -> &'static [&'static Experiment] {
    ALL
}

impl Experiment {
    /// The experiment with this name.
    pub fn named(name: &str) -> Option<&'static Experiment> {
        experiments().iter().copied().find(|experiment| experiment.name == name)
    }

    /// The approximate seconds it takes on two cores.
    pub fn expected_seconds(&self, quick: bool) -> f64 {
        if quick { self.seconds.0 } else { self.seconds.1 }
    }

    /// Its settings.
    pub fn settings(&self, quick: bool) -> Settings {
        (self.settings)(quick)
    }

    /// Whether it measures time, so that nothing else should run beside it.
    pub fn runs_alone(&self) -> bool {
        self.alone
    }

    /// A key of everything that its findings depend on: the same key means the same findings, except times.
    pub fn key(&self, desk: &Desk) -> String {
        let settings: Vec<String> = self.settings(desk.quick).iter().map(|(name, value)| format!("{name}={value}")).collect();
        let corpus = desk
            .corpus()
            .filter(|_| !self.reads.is_empty())
            .map_or(String::new(), |corpus| format!(" corpus={:016x}", corpus.fingerprint(self.reads)));
        let models = models::fingerprint();
        format!("{} {} seed={} models={models:016x}{corpus} {}", self.name, env!("CARGO_PKG_VERSION"), desk.seed, settings.join(" "))
    }

    /// Runs the experiment.
    pub fn run(&self, desk: &Desk) -> Result<Findings, LabError> {
        let started = Instant::now();
        let mut findings = Findings {
            name: self.name.to_string(),
            title: self.title.to_string(),
            source: self.source.to_string(),
            question: self.question.to_string(),
            quick: Some(desk.quick),
            seed: desk.seed,
            settings: self.settings(desk.quick).into_iter().map(|(name, value)| (name.to_string(), value)).collect(),
            ..Findings::default()
        };
        (self.run)(desk, &mut findings)?;
        findings.seconds = started.elapsed().as_secs_f64();
        Ok(findings)
    }
}
