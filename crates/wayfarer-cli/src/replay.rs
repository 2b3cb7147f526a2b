//! `wayfarer replay`: fires a recorded witness again, on a model that may have changed since, and names the step at
//! which the two differ.

use crate::model::{self, Walked};
use crate::options::ReplayOptions;
use crate::output::{Paint, print};
use crate::{Exit, Failure, sizes, suggest};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::io::Read;
use wayfarer::itf::{self, Trace};
use wayfarer::search::Deadlock;
use wayfarer::space::{Fired, Firing, Word};

/// Runs `wayfarer replay`.
pub(crate) fn replay(options: &ReplayOptions) -> Result<Exit, Failure> {
    if options.model.model == "-" && options.witness == "-" {
        return Err(Failure::wrong("model and witness cannot both come from the standard input"));
    }
    let trace = read(&options.witness)?;
    let opened = model::open(&options.model)?;
    let walked = Walked::new(&opened, &options.loops);
    let replay = Replay { walked: &walked, trace: &trace, deadlock: options.deadlock.of(walked.subject()) };
    let paint = Paint::stdout();
    let (text, exit) = match replay.run() {
        Ok(ending) => {
            let steps = sizes::counted(trace.rules.len() as u64, "step");
            (format!("{}: all {steps} do what was recorded, and {ending}\n", paint.strong("replays")), Exit::Well)
        }
        Err(departure) => (format!("{} {departure}\n", paint.strong("departs")), Exit::Found),
    };
    print(&text).map_err(Failure::failed)?;
    Ok(exit)
}

fn read(file: &str) -> Result<Trace, Failure> {
    let bytes = if file == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(file)
    };
    let bytes = bytes.map_err(|error| Failure::wrong(format!("cannot read the witness `{file}`: {}", wayfarer::io_words(&error))))?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|error| Failure::wrong(format!("the witness `{file}` is not JSON: {error}")))?;
    itf::read(&value).map_err(|error| Failure::wrong(format!("the witness `{file}` cannot be used: {error}")))
}

struct Replay<'a> {
    walked: &'a Walked<'a>,
    trace: &'a Trace,
    deadlock: Deadlock,
}

impl Replay<'_> {
    /// Replays everything. Returns the violation at the end, or the point at which the model differs.
    fn run(&self) -> Result<String, String> {
        let numbers = self.numbers();
        let Some(mut state) = self.start()? else {
            return Ok("its start state still fails".to_string());
        };
        for (index, rule) in self.trace.rules.iter().enumerate() {
            let step = format!("at step {} ({rule})", index + 1);
            let recorded = self.trace.states.get(index + 1);
            match self.step(&state, &self.named(&state, rule, &numbers), recorded) {
                Ok(Some(next)) => state = next,
                Ok(None) => return Ok(format!("its last step still fails: {rule}")),
                Err(why) => return Err(format!("{step}: {why}")),
            }
        }
        self.end(&state)
    }

    /// The numbers of the rules that the trace names. Several rules may have one name.
    fn numbers(&self) -> HashMap<String, Vec<u32>> {
        let subject = self.walked.subject();
        let wanted: HashSet<&str> = self.trace.rules.iter().map(String::as_str).collect();
        let mut numbers: HashMap<String, Vec<u32>> = HashMap::new();
        for number in 0..self.walked.space().rules() {
            let (name, _) = subject.words().firing(None, Firing::of(number));
            if wanted.contains(name.as_str()) {
                numbers.entry(name).or_default().push(number);
            }
        }
        numbers
    }

    /// The firings that a step of this name may mean: every outcome of the rules with this name, or the first outcome
    /// of each if none is enabled.
    fn named(&self, state: &[Word], rule: &str, numbers: &HashMap<String, Vec<u32>>) -> Vec<Firing> {
        let numbers = numbers.get(rule).map_or(&[] as &[u32], Vec::as_slice);
        let mut firings: Vec<Firing> = numbers.iter().map(|number| Firing::of(*number)).collect();
        firings.extend(self.walked.enabled(state).into_iter().filter(|firing| firing.outcome > 0 && numbers.contains(&firing.rule)));
        firings
    }

    /// The start state; `None` if it fails, as it did.
    fn start(&self) -> Result<Option<Vec<Word>>, String> {
        let subject = self.walked.subject();
        let name = &self.trace.start;
        let starts: Vec<(u32, String)> = self.walked.starts().into_iter().map(|start| (start, subject.words().start(start))).collect();
        let mut why = None;
        for (number, _) in starts.iter().filter(|(_, start)| start == name) {
            let mut state = Vec::new();
            match (self.walked.start(*number, &mut state, &mut Vec::new()), self.trace.states.first()) {
                (Fired::To, Some(recorded)) => match self.differences(recorded, &state) {
                    None => return Ok(Some(state)),
                    Some(differences) => why = why.or(Some(format!("it has other values\n{differences}"))),
                },
                (Fired::Fault(_), None) => return Ok(None),
                (Fired::To, None) => why = why.or(Some("it failed when recorded, and does not now".to_string())),
                (Fired::Fault(fault), Some(_)) => why = why.or(Some(format!("it fails now: {}", self.walked.fault(fault)))),
                _ => {}
            }
        }
        let known: Vec<&str> = starts.iter().map(|(_, start)| start.as_str()).collect();
        let why = why.unwrap_or_else(|| suggest::unknown("start state", name, &known));
        Err(format!("at the start ({name}): {why}"))
    }

    /// One step by any of the rules of its name. `None` if it fails, as it did.
    fn step(&self, state: &[Word], rules: &[Firing], recorded: Option<&Value>) -> Result<Option<Vec<Word>>, String> {
        if rules.is_empty() {
            return Err("the rule does not exist any more".to_string());
        }
        let mut why = String::new();
        for rule in rules {
            let mut next = Vec::new();
            let other = match (self.walked.fire(state, *rule, &mut next, &mut Vec::new()), recorded) {
                (Fired::To, Some(recorded)) => match self.differences(recorded, &next) {
                    None => return Ok(Some(next)),
                    Some(differences) => format!("it leads to other values\n{differences}"),
                },
                (Fired::Fault(_), None) => return Ok(None),
                (Fired::To, None) => "it failed when recorded, and does not now".to_string(),
                (Fired::Fault(fault), Some(_)) => format!("it fails now: {}", self.walked.fault(fault)),
                (Fired::Disabled, _) => "the rule is not enabled any more".to_string(),
                (Fired::Discarded, _) => "an assumption of the model excludes it now".to_string(),
            };
            // Of several rules with one name, one that fires is more informative than one that does not.
            if why.is_empty() || why.starts_with("the rule is not enabled") {
                why = other;
            }
        }
        Err(why)
    }

    /// Whether the violation at the end still exists.
    fn end(&self, state: &[Word]) -> Result<String, String> {
        let recorded = self.trace.violation.as_deref().unwrap_or("");
        let wrong = self.walked.wrong_in(state, self.deadlock);
        let same = |sentence: &&String| match recorded.split_once(": ") {
            Some(("deadlock", _)) => sentence.starts_with("deadlock"),
            Some(("invariant", name)) => sentence.starts_with(&format!("invariant `{name}`")),
            Some(("fault", message)) => sentence.starts_with("judging") && sentence.contains(message),
            // A trace of another tool does not describe the violation in comparable terms.
            _ => true,
        };
        match wrong.iter().find(same) {
            Some(sentence) => Ok(sentence.clone()),
            None if wrong.is_empty() => {
                Err(format!("at the end: every step does what was recorded, but nothing is wrong there any more ({recorded})"))
            }
            None => Err(format!("at the end: something else is wrong there now: {}\n  recorded: {recorded}", wrong.join("; "))),
        }
    }

    /// The differences between a state and the recorded one, one line each. Variables that only one side has are not
    /// compared: adding one does not count as a difference.
    fn differences(&self, recorded: &Value, state: &[Word]) -> Option<String> {
        let now = self.walked.subject().words().itf(state);
        let mut lines = Vec::new();
        for (name, recorded) in recorded.as_object().into_iter().flatten() {
            if let Some(now) = now.get(name) {
                compare(name, recorded, now, &mut lines);
            }
        }
        let more = lines.len().saturating_sub(20);
        lines.truncate(20);
        if more > 0 {
            lines.push(format!("    and {more} more"));
        }
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

fn compare(path: &str, recorded: &Value, now: &Value, lines: &mut Vec<String>) {
    if recorded == now {
        return;
    }
    let pairs = |value: &Value| value.get("#map").and_then(Value::as_array).cloned();
    match (recorded, now, pairs(recorded), pairs(now)) {
        (_, _, Some(recorded), Some(now)) => {
            let key = |pair: &Value| pair.get(0).cloned().unwrap_or_default();
            for pair in &recorded {
                match now.iter().find(|other| key(other) == key(pair)) {
                    Some(other) => compare(&format!("{path}[{}]", plain(&key(pair))), &pair[1], &other[1], lines),
                    None => lines.push(format!("    {path}[{}]: recorded {}, does not exist now", plain(&key(pair)), plain(&pair[1]))),
                }
            }
        }
        (Value::Object(recorded), Value::Object(now), None, None) if !special(recorded) && !special(now) => {
            for (field, recorded) in recorded {
                match now.get(field) {
                    Some(now) => compare(&format!("{path}.{field}"), recorded, now, lines),
                    None => lines.push(format!("    {path}.{field}: recorded {}, does not exist now", plain(recorded))),
                }
            }
        }
        _ => lines.push(format!("    {path}: recorded {}, now {}", plain(recorded), plain(now))),
    }
}

/// Whether an object represents a value that JSON cannot write.
fn special(object: &serde_json::Map<String, Value>) -> bool {
    object.keys().any(|key| key.starts_with('#'))
}

/// A value as text.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(object) => match object.get("#unserializable").or(object.get("#bigint")) {
            Some(Value::String(text)) => text.clone(),
            _ => value.to_string(),
        },
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn differences_are_named_by_path() {
        let recorded = json!({ "#map": [[1, { "cmd": "Inv" }], [2, { "cmd": { "#unserializable": "undefined" } }]] });
        let now = json!({ "#map": [[1, { "cmd": "Inv" }], [2, { "cmd": "Gnt" }]] });
        let mut lines = Vec::new();
        compare("chan", &recorded, &now, &mut lines);
        assert_eq!(lines, ["    chan[2].cmd: recorded undefined, now Gnt"]);
    }
}
