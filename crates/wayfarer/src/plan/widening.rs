//! *Widen and restart*: a subject may guess how many bits its values need. A run that finds the guess too small gives
//! no verdict; it starts again on a wider form of the subject, within the same budget. Widths at least double, so
//! restarts are few.

use crate::memory::Budget;
use crate::run::Attempt;
use crate::{Plan, Report, RunError, Subject};
use std::sync::Arc;
use std::time::{Duration, Instant};
use wayfarer_search::{Control, Stop};

impl Plan {
    /// Runs the plan on a subject that may turn out to be too narrow. If it does, `subject` is replaced by a wider
    /// one, to which the report then refers. Times include those of all attempts; all other figures are those of the
    /// last one.
    pub fn check_widening(&self, subject: &mut Arc<dyn Subject>, budget: &Budget, control: &mut dyn Control) -> Result<Report, RunError> {
        let started = Instant::now();
        let mut end_at_limit = subject.can_widen();
        let mut remarks = Vec::new();
        loop {
            let time = self.time.map(|time| time.saturating_sub(started.elapsed()).max(Duration::from_millis(1)));
            let mut report = Plan { time, ..self.clone() }.attempt(Attempt { subject: &**subject, end_at_limit, budget }, control)?;
            let limit = report.limit.filter(|_| end_at_limit && report.stop == Stop::Limit);
            let Some(limit) = limit else {
                report.restarts = remarks.len() as u32;
                report.remarks.splice(0..0, remarks);
                report.seconds = started.elapsed().as_secs_f64();
                return Ok(report);
            };
            let met = subject.words().fault(limit, self).message;
            match subject.widened(limit) {
                Some(wider) => {
                    *subject = wider;
                    remarks.push(format!("the run was started again with more room: {met}"));
                    end_at_limit = subject.can_widen();
                }
                // Nothing helps against this limit: continue as far as possible, and report it.
                None => end_at_limit = false,
            }
        }
    }
}
