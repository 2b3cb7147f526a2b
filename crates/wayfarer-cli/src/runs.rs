//! A summary of several runs of one plan, as text.

use crate::Failure;
use crate::options::CheckOptions;
use crate::output::{Paint, print};
use crate::sizes::{count, counted};
use wayfarer::repeated::{Interval, Repeated, length, raw_length, states, steps};
use wayfarer::{Report, Stop};

/// Prints the results of the runs.
pub(crate) fn show(options: &CheckOptions, done: &Repeated) -> Result<(), Failure> {
    if options.json {
        return print(&format!("{}\n", done.to_json())).map_err(Failure::failed);
    }
    let paint = Paint::stdout();
    let found = done.successes().count();
    let rate = done.success_rate();
    let runs = counted(done.runs.len() as u64, "run");
    let mut out = format!(
        "{}: {} of {runs} found something: {:.1} % ({:.1} to {:.1} at 95 %)\n",
        options.model.model,
        found,
        100.0 * rate.value,
        100.0 * rate.low,
        100.0 * rate.high
    );
    out.push_str(&format!(
        "  {}\n",
        paint.faint(&format!(
            "{}, seeds {} to {}",
            options.run.plan.strategy,
            options.run.plan.seed,
            options.run.plan.seed + done.runs.len() as u64 - 1
        ))
    ));
    if found > 0 {
        out.push_str(&format!("\n  {:<32} {:>12}  {:<25} {:>12}  {}\n", "in those that did", "mean", "95 %", "median", "95 %"));
        let figures_of = [states, steps, length, raw_length];
        let names = ["states", "steps", "witness length", "witness length before shortening"];
        for (name, figure) in names.into_iter().zip(figures_of) {
            let (mean, median) = (done.mean(figure), done.median(figure));
            if let (Some(mean), Some(median)) = (mean, median) {
                out.push_str(&format!(
                    "  {name:<32} {:>12}  {:<25} {:>12}  {}\n",
                    figures(mean.value),
                    span(mean),
                    figures(median.value),
                    span(median)
                ));
            }
        }
    }
    if found < done.runs.len() {
        let others: Vec<&Report> = done.runs.iter().filter(|report| !report.is_violated()).collect();
        let covered = others.iter().map(|report| report.states as f64).sum::<f64>() / others.len() as f64;
        let most = others.iter().map(|report| report.stop).max_by_key(|stop| others.iter().filter(|report| report.stop == *stop).count());
        out.push_str(&format!(
            "\n  {} found nothing; they covered {} states on average; most ended because {}\n",
            counted(others.len() as u64, "run"),
            count(covered.round() as u64),
            most.map_or("", |stop| if stop == Stop::Exhausted { "nothing was left to expand" } else { wayfarer::stop_words(stop) })
        ));
    }
    print(&out).map_err(Failure::failed)
}

fn figures(value: f64) -> String {
    if value >= 1000.0 { count(value.round() as u64) } else { format!("{value:.1}") }
}

fn span(interval: Interval) -> String {
    if interval.low.is_finite() { format!("{} to {}", figures(interval.low.max(0.0)), figures(interval.high)) } else { "one run only".to_string() }
}
