//! `wayfarer predict storage`: the formulas of the difference-storage paper, for several distances between whole states.

use super::{failure, give, plot_outlet};
use crate::options::StorageOptions;
use crate::{Exit, Failure, sizes};
use serde_json::json;
use std::fmt::Write as _;
use wayfarer::theory::StorageModel;
use wayfarer_lab::{Line, Plot};

/// Runs `wayfarer predict storage`.
pub(super) fn storage(options: &StorageOptions) -> Result<Exit, Failure> {
    let StorageOptions { branching, height, ratio, step_back, .. } = *options;
    let mut distances = options.distance.clone();
    distances.sort_unstable();
    distances.dedup();
    let mut rows = Vec::new();
    for distance in distances {
        let model = StorageModel::new(branching, height, distance, ratio).map_err(failure)?;
        rows.push((distance, model.whole_share(), model.saved(), model.time(step_back)));
    }
    let text = |paint: crate::output::Paint| {
        let mut out = format!(
            "{}: branching k = {branching}, height n = {}, a difference is x = {ratio} of a state\n\n",
            paint.strong("difference storage"),
            sizes::count(u64::from(height))
        );
        out.push_str("  distance δ   stored whole   memory saved Δ   comparison time π\n");
        for (distance, whole, saved, time) in &rows {
            let _ =
                writeln!(out, "  {:>10}   {:>10.2} %   {:>12.2} %   {time:>17.3}", sizes::count(u64::from(*distance)), 100.0 * whole, 100.0 * saved);
        }
        let levels = sizes::count(u64::from(height) + 1);
        let _ = writeln!(
            out,
            "\nexact, by the formula. π adds up one comparison at each of the {levels} levels, in units of comparing two whole states; a step back takes {step_back}"
        );
        out
    };
    let json = || {
        let row =
            |(distance, whole, saved, time): &(u32, f64, f64, f64)| json!({ "distance": distance, "whole": whole, "saved": saved, "time": time });
        json!({
            "schema": 1,
            "shape": { "kind": "storage", "branching": branching, "height": height, "ratio": ratio, "step_back": step_back },
            "method": "exact",
            "distances": rows.iter().map(row).collect::<Vec<_>>(),
        })
    };
    let plot = || {
        let points = rows.iter().map(|(distance, _, saved, _)| (f64::from(*distance), 100.0 * saved)).collect();
        Plot {
            title: format!("Memory saved by differences (k = {branching}, n = {height}, x = {ratio})"),
            across: "distance δ between whole states".to_string(),
            up: "memory saved Δ, per cent".to_string(),
            log: (false, false),
            lines: vec![Line { name: "Δ, exact".to_string(), points, band: Vec::new() }],
        }
    };
    give(&options.output, plot_outlet(&options.output, &[])?.as_ref(), text, json, plot)
}
