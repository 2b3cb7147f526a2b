//! The CPU's cores beside a GPU. A GPU searches by levels and comes to deep states late; meanwhile the cores walk at random, which leads deep at once and takes no
//! memory. A violation that they meet ends the search. If neither finds anything, rules that they fired and covers that they reached count.

use super::{Attempt, Refused};
use crate::report::{CheckVerdict, Report};
use crate::{DeviceChoice, Plan};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};
use wayfarer_search::{Control, Progress, Stop, StrategySpec, Verdict};

/// The time for which a GPU searches alone: most searches end before that.
const ALONE: Duration = Duration::from_secs(1);

impl Plan {
    /// Runs the plan on a GPU, with the CPU's cores beside it if the plan leaves the strategy open.
    pub(super) fn on_device_and_cores(&self, number: u32, attempt: Attempt, control: &mut dyn Control) -> Result<Report, Refused> {
        let Some(plan) = self.beside() else { return self.on_device(number, attempt, control) };
        let (halt, found) = (AtomicBool::new(false), AtomicBool::new(false));
        let search = || {
            let report = plan.attempt(attempt, &mut Halted(&halt)).ok();
            found.store(report.as_ref().is_some_and(|report| report.verdict == Verdict::Violated), Ordering::Relaxed);
            report
        };
        std::thread::scope(|scope| {
            let mut both = Both { inner: control, scope, search: &search, begun: None, runs: None, found: &found };
            let there = self.on_device(number, attempt, &mut both);
            halt.store(true, Ordering::Relaxed);
            let here = both.runs.and_then(|thread| thread.join().ok()).flatten();
            let (Ok(there), Some(here)) = (&there, here) else { return there };
            Ok(together(there.clone(), here, plan.threads))
        })
    }

    /// The search of the cores beside a GPU, if there is one.
    fn beside(&self) -> Option<Plan> {
        // A limit of the logical clock ends a run at the same place each time only if nothing runs beside it.
        let limited = self.states.is_some() || self.steps.is_some() || self.depth.is_some() || self.profile || self.all_violations;
        if limited || self.strategy != StrategySpec::default() || self.threads == 1 {
            return None;
        }
        let cores = if self.threads == 0 { std::thread::available_parallelism().map_or(1, std::num::NonZero::get) } else { self.threads };
        let threads = cores - 1;
        let strategy = StrategySpec::parse("walk").ok()?;
        let plan = Plan { strategy, store: None, device: DeviceChoice::Cpu, threads, time: None, audit: Some(0), size: None, ..self.clone() };
        (threads > 0).then_some(plan)
    }
}

/// One report of both. If the search on the GPU visited everything or found something itself, its own.
fn together(there: Report, here: Report, threads: usize) -> Report {
    let cores = if threads == 1 { "one core".to_string() } else { format!("{threads} cores") };
    let device = there.device.clone();
    match (there.verdict, here.verdict) {
        (Verdict::NotFound, Verdict::Violated) => {
            let mut report = Report { device: None, seconds: there.seconds.max(here.seconds), repeatable: false, ..here };
            report.remarks.push(format!(
                "{cores} of the CPU met this on random walks beside {}, which had visited {} states by levels",
                device.unwrap_or_default(),
                there.states
            ));
            report
        }
        (Verdict::NotFound, _) => {
            let mut report = there;
            for rule in &here.rules {
                match report.rules.iter_mut().find(|known| known.rule == rule.rule && known.at == rule.at) {
                    Some(known) => known.fired += rule.fired,
                    None => report.rules.push(rule.clone()),
                }
            }
            for (check, other) in report.checks.iter_mut().zip(&here.checks) {
                if check.name == other.name
                    && check.verdict == CheckVerdict::Judged(Verdict::NotFound)
                    && other.verdict == CheckVerdict::Judged(Verdict::Holds)
                {
                    check.verdict = other.verdict;
                }
            }
            report.remarks.push(format!(
                "beside the GPU {cores} of the CPU walked at random: {} steps met nothing; the rules they fired are counted in those of the model",
                here.steps
            ));
            report
        }
        _ => there,
    }
}

/// Ends the search of the cores when that of the GPU has ended.
struct Halted<'a>(&'a AtomicBool);

impl Control for Halted<'_> {
    fn ask(&mut self, _progress: &Progress) -> Option<Stop> {
        self.0.load(Ordering::Relaxed).then_some(Stop::Interrupted)
    }
}

/// Starts the cores when a search on the GPU has gone on for a while, and ends it when they have found something.
struct Both<'scope, 'env, 'c, F> {
    inner: &'c mut dyn Control,
    scope: &'scope Scope<'scope, 'env>,
    search: &'scope F,
    /// When the first states were found: compiling comes before that.
    begun: Option<Instant>,
    runs: Option<ScopedJoinHandle<'scope, Option<Report>>>,
    found: &'c AtomicBool,
}

impl<'scope, F: Fn() -> Option<Report> + Sync> Control for Both<'scope, '_, '_, F> {
    fn ask(&mut self, progress: &Progress) -> Option<Stop> {
        if let Some(stop) = self.inner.ask(progress) {
            return Some(stop);
        }
        if progress.states > 0 && self.runs.is_none() && self.begun.get_or_insert_with(Instant::now).elapsed() > ALONE {
            let search = self.search;
            self.runs = Some(self.scope.spawn(search));
        }
        // A witness that is being made is not given up for a longer one.
        let idle = progress.violations == 0 && progress.phase.is_empty();
        (idle && self.found.load(Ordering::Relaxed)).then_some(Stop::Interrupted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Budget;
    use crate::{LoadOptions, open_text};
    use wayfarer_search::Unbounded;

    const MODEL: &str = "var n: 0..40; startstate n := 0; end;
        rule \"up\" n < 40 ==> n := n + 1; end; rule \"round\" n = 40 ==> n := 0; end;
        cover \"far\" n = 30; invariant \"near\" n != 40;";

    fn ran(plan: &Plan) -> Report {
        let opened = open_text("model.m", MODEL.to_string(), &LoadOptions::default()).expect("a model");
        let budget = Budget::of_run(64 << 20);
        plan.check(&*opened.subject, &budget, &mut Unbounded).expect("a run")
    }

    fn plan(strategy: &str) -> Plan {
        let strategy = StrategySpec::parse(strategy).expect("a strategy");
        Plan { strategy, device: DeviceChoice::Cpu, audit: Some(0), properties: vec!["far".to_string()], ..Plan::default() }
    }

    #[test]
    fn reports_of_both_are_put_together() {
        // The search by levels ended early, and does not know that the cover is reached.
        let there = ran(&Plan { states: Some(10), ..plan("bfs") });
        let here = ran(&Plan { steps: Some(2000), ..plan("walk") });
        let verdicts = |report: &Report| report.checks.iter().map(|check| check.verdict).collect::<Vec<_>>();
        let (covered, open) = (CheckVerdict::Judged(Verdict::Holds), CheckVerdict::Judged(Verdict::NotFound));
        assert_eq!((there.verdict, verdicts(&there)[0], verdicts(&here)[0]), (Verdict::NotFound, open, covered));
        let fired = |report: &Report, name: &str| report.rules.iter().find(|rule| rule.rule.contains(name)).map_or(0, |rule| rule.fired);
        let both = together(there.clone(), here.clone(), 3);
        assert_eq!((both.states, both.rules_fired, verdicts(&both)[0]), (there.states, there.rules_fired, covered));
        assert_eq!(fired(&both, "up"), fired(&there, "up") + fired(&here, "up"));
        assert!(both.remarks.iter().any(|remark| remark.contains("3 cores")), "{:?}", both.remarks);
        // A violation that the cores find is the result; a violation or a complete visit by the GPU stays.
        let found = ran(&Plan { steps: Some(2000), properties: Vec::new(), ..plan("walk") });
        assert_eq!(found.verdict, Verdict::Violated);
        let both = together(there, found.clone(), 1);
        assert!(both.verdict == Verdict::Violated && !both.repeatable && both.remarks.iter().any(|remark| remark.contains("one core")));
        let whole = ran(&plan("bfs"));
        assert_eq!((whole.verdict, together(whole.clone(), found, 1).remarks), (Verdict::Holds, whole.remarks));
    }

    #[test]
    fn cores_search_only_if_the_plan_leaves_it_open() {
        let open = Plan { threads: 4, ..Plan::default() };
        let beside = |plan: &Plan| plan.beside().map(|plan| (plan.threads, plan.strategy.name() == "walk"));
        assert_eq!(beside(&open), Some((3, true)));
        for closed in [Plan { threads: 1, ..open.clone() }, Plan { steps: Some(9), ..open.clone() }, Plan { strategy: plan("bfs").strategy, ..open }]
        {
            assert_eq!(beside(&closed), None);
        }
    }
}
