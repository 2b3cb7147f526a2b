//! `wayfarer check`: plans a run from the options, watches it, and says what came of it.

use crate::curve::Curve;
use crate::options::CheckOptions;
use crate::output::{Paint, complain, print, warning};
use crate::progress::{Style, Watcher};
use crate::render::{self, View};
use crate::signals::Signals;
use crate::witness::Form;
use crate::{Exit, Failure, ci, formulas, memory, model, runs, sizes, suggest};
use std::path::{Path, PathBuf};
use wayfarer::memory::Budget;
use wayfarer::{Plan, Repeated, Report, RunError, Subject, itf};

/// Carries out `wayfarer check`.
pub(crate) fn check(options: &CheckOptions) -> Result<Exit, Failure> {
    let files = ci::Files::new(options)?;
    let done = check_writing(options, &files);
    if let Err(failure) = &done {
        files.write_failure(&options.model.model, failure)?;
    }
    done
}

fn check_writing(options: &CheckOptions, files: &ci::Files) -> Result<Exit, Failure> {
    let limit = options.memory.unwrap_or_else(memory::default_budget);
    warn_if_not_there(options.memory);
    let opened = model::open_asking(&options.model, options.target.find.as_deref(), options.formulas.as_deref())?;
    let mut subject = opened.subject;
    let plan = plan(options, &*subject, limit)?;
    let budget = Budget::new(limit, besides(limit));
    if options.plan {
        return show_plan(options, &plan, &*subject, &budget);
    }
    let mut curve = Curve::new(options.curve.as_deref())?;
    let signals = Signals::catch().map_err(|error| Failure::failed(format!("cannot catch signals: {error}")))?;
    let mut done = Repeated::default();
    for run in 0..options.runs {
        let plan = Plan { seed: options.seed.wrapping_add(u64::from(run)), ..plan.clone() };
        let mut watcher = Watcher::new(&signals, &budget, Style::fitting(options.quiet), options.time);
        let report = plan.check_widening(&mut subject, &budget, &mut curve.watching(&mut watcher, plan.seed));
        watcher.finish();
        let report = report.map_err(|error| failure(&error, limit))?;
        curve.end(&report);
        let interrupted = report.stop == "interrupted";
        done.runs.push(report);
        if interrupted {
            break;
        }
    }
    curve.write()?;
    if options.runs > 1 {
        runs::show(options, &done)?;
        return Ok(if done.successes().next().is_some() { Exit::Found } else { Exit::Well });
    }
    match done.runs.first_mut() {
        Some(report) => {
            report.again = Some(again(options, report));
            files.write(report)?;
            show(options, &*subject, report, limit)?;
            Ok(exit(options, report))
        }
        None => Err(Failure::failed("there was no run".to_string())),
    }
}

/// Prints what the budget would be allotted to.
fn show_plan(options: &CheckOptions, plan: &Plan, subject: &dyn Subject, budget: &Budget) -> Result<Exit, Failure> {
    plan.strategy
        .suits(&plan.store())
        .map_err(|needs| Failure::wrong(format!("`{}` needs {needs}, and `{}` is not one", plan.strategy, plan.store())))?;
    let parts = plan.allotments(subject, budget);
    if options.json {
        let parts: Vec<_> = parts.iter().map(|part| serde_json::json!({ "part": part.part, "bytes": part.bytes, "how": part.how })).collect();
        let object = serde_json::json!({ "schema": 1, "memory": budget.limit(), "strategy": plan.strategy.to_string(), "allotments": parts });
        print(&format!("{object}\n")).map_err(Failure::failed)?;
        return Ok(Exit::Well);
    }
    let paint = Paint::stdout();
    let mut out = format!("{} of memory for {}\n", sizes::bytes(budget.limit()), plan.strategy);
    for part in &parts {
        out.push_str(&format!("  {} {:>10}  {}\n", paint.faint(&format!("{:<16}", part.part)), sizes::bytes(part.bytes), part.how));
    }
    print(&out).map_err(Failure::failed)?;
    Ok(Exit::Well)
}

/// What the process holds besides what it takes through the allocator.
fn besides(limit: usize) -> usize {
    if limit >= wayfarer::memory::WHOLE_PROCESS { memory::besides(wayfarer::memory::taken()) } else { 0 }
}

fn warn_if_not_there(wanted: Option<usize>) {
    if let (Some(wanted), Some(free)) = (wanted, memory::free())
        && wanted > free
    {
        let (wanted, free) = (sizes::bytes(wanted), sizes::bytes(free));
        warning(&format!("--memory {wanted} is more than the {free} that are free: the system may end the run"));
    }
}

fn plan(options: &CheckOptions, subject: &dyn Subject, memory: usize) -> Result<Plan, Failure> {
    let properties = subject.properties();
    let known: Vec<&str> = properties.iter().map(|property| property.name.as_str()).collect();
    if let Some(name) = options.target.properties.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Failure::wrong(suggest::unknown("property", name, &known)));
    }
    let rules = subject.rules();
    let known: Vec<&str> = rules.iter().map(|rule| rule.name.as_str()).collect();
    let described = |name: &str| (0..rules.iter().map(|rule| rule.instances).sum()).any(|number| subject.is_called(number, name));
    if let Some(name) = options.target.find_rules.iter().find(|name| !known.contains(&name.as_str()) && !described(name)) {
        return Err(Failure::wrong(suggest::unknown("rule", name, &known)));
    }
    let asks = options.formulas.is_some();
    Ok(Plan {
        memory: Some(memory),
        time: options.time,
        states: options.states,
        steps: options.steps,
        depth: options.depth,
        threads: options.threads.map_or(0, |threads| threads as usize),
        seed: options.seed,
        strategy: options.strategy.clone(),
        confidence: options.confidence,
        store: options.store,
        symmetry: options.symmetry,
        find: if asks { properties.iter().map(|property| property.name.clone()).collect() } else { options.target.find.iter().cloned().collect() },
        find_rules: options.target.find_rules.clone(),
        size: options.size,
        // Answers are wanted, and the ways to them are long enough without being shortest.
        shorten: options.shorten == crate::options::Switch::On && !asks,
        profile: options.profile,
        record: None,
        // Many runs are an experiment with the strategy, not a verdict on the model.
        audit: options.audit.or((options.runs > 1 || asks).then_some(0)),
        deadlock: options.target.deadlock.rule.map(Into::into),
        properties: options.target.properties.clone(),
        max_errors: options.max_errors as usize,
        all_violations: options.all_violations || asks,
        exhaustive: options.exhaustive,
        loop_limit: options.model.loop_limit,
        interpret: options.interpret,
    }
    .settled())
}

fn failure(error: &RunError, limit: usize) -> Failure {
    match error {
        RunError::UnknownProperty { .. }
        | RunError::UnknownRule { .. }
        | RunError::Unsuited { .. }
        | RunError::Asymmetric { .. }
        | RunError::NoStartState => Failure::wrong(error.to_string()),
        RunError::TooLittleMemory { least } => {
            let least_kib = least.div_ceil(1024);
            let shown = if least_kib < 10 << 10 { format!("{least_kib}K") } else { format!("{}M", least_kib.div_ceil(1024)) };
            let limit = sizes::bytes(limit);
            Failure::failed(format!("a memory budget of {limit} is too small to begin\n  the least that works for this model is --memory {shown}"))
        }
        _ => Failure::failed(error.to_string()),
    }
}

/// Prints the report and writes the witnesses that were asked for.
fn show(options: &CheckOptions, subject: &dyn Subject, report: &Report, limit: usize) -> Result<(), Failure> {
    let (form, files) = witness_options(&options.witness);
    if options.json {
        print(&format!("{}\n", report.to_json())).map_err(Failure::failed)?;
    } else if options.mcc {
        print(&formulas::contest(report)).map_err(Failure::failed)?;
    } else {
        // A file of formulas has many witnesses, which are shown on request.
        let form = if formulas::asked(report) && options.witness.is_empty() { Form::None } else { form };
        let paint = Paint::stdout();
        let again = report.again.as_deref().unwrap_or_default();
        let view = View { paint, form, memory: limit, besides_on_top: limit < wayfarer::memory::WHOLE_PROCESS, again };
        print(&render::report(report, subject, &view)).map_err(Failure::failed)?;
    }
    for file in files {
        write_witnesses(&file, subject, report)?;
    }
    Ok(())
}

/// The form to show and the files to write.
fn witness_options(values: &[String]) -> (Form, Vec<PathBuf>) {
    let mut form = Form::default();
    let mut files = Vec::new();
    for value in values {
        match value.as_str() {
            "changes" => form = Form::Changes,
            "full" => form = Form::Full,
            "none" => form = Form::None,
            file => files.push(PathBuf::from(file)),
        }
    }
    (form, files)
}

/// Writes the first witness to `file`, and further ones beside it.
fn write_witnesses(file: &Path, subject: &dyn Subject, report: &Report) -> Result<(), Failure> {
    let with_way = report.violations.iter().filter_map(|violation| Some((violation, violation.witness.as_ref()?)));
    let mut written = 0;
    for (violation, witness) in with_way {
        written += 1;
        let file = if written == 1 { file.to_path_buf() } else { numbered(file, written) };
        let object = itf::write(subject, witness, &format!("{}: {}", violation.kind, violation.name));
        let text = format!("{object:#}\n");
        std::fs::write(&file, text).map_err(|error| Failure::failed(format!("cannot write the witness to `{}`: {error}", file.display())))?;
        complain(&format!("witness written to {}\n", file.display()));
    }
    if written == 0 {
        complain(&format!("there is no witness, so {} was not written\n", file.display()));
    }
    Ok(())
}

/// `trace.itf.json` becomes `trace.2.itf.json`.
fn numbered(file: &Path, number: usize) -> PathBuf {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (stem, rest) = name.split_once('.').map_or((name.as_str(), String::new()), |(stem, rest)| (stem, format!(".{rest}")));
    file.with_file_name(format!("{stem}.{number}{rest}"))
}

/// The command line that leads to the same run. The clock does not repeat itself, and signals do not; the number of steps does.
fn again(options: &CheckOptions, report: &Report) -> String {
    let mut words = vec!["wayfarer check".to_string(), quoted(&options.model.model)];
    words.extend(options.model.constants.iter().map(|(name, value)| format!("--const {}", quoted(&format!("{name}={value}")))));
    words.extend(options.target.properties.iter().map(|name| format!("--property {}", quoted(name))));
    words.extend(options.depth.map(|depth| format!("--depth {depth}")));
    let defaults = Plan::default();
    words.extend(options.target.deadlock.rule.map(|rule| format!("--deadlock {rule}")));
    if options.model.undefined != crate::options::Undefined::Copy {
        words.push("--undefined strict".to_string());
    }
    if options.model.loop_limit != defaults.loop_limit {
        words.push(format!("--loop-limit {}", options.model.loop_limit));
    }
    if options.max_errors != 1 {
        words.push(format!("--max-errors {}", options.max_errors));
    }
    if options.all_violations {
        words.push("--all-violations".to_string());
    }
    if options.strategy != defaults.strategy {
        words.push(format!("--strategy {}", options.strategy));
    }
    if options.confidence != defaults.confidence {
        words.push(format!("--confidence {}", options.confidence));
    }
    words.extend(options.store.map(|store| format!("--store {store}")));
    if options.symmetry != defaults.symmetry {
        words.push(format!("--symmetry {}", options.symmetry));
    }
    words.extend(options.target.find.iter().map(|predicate| format!("--find {}", quoted(predicate))));
    words.extend(options.formulas.iter().map(|file| format!("--properties {}", quoted(file))));
    words.extend(options.target.find_rules.iter().map(|name| format!("--find-rule {}", quoted(name))));
    if options.shorten == crate::options::Switch::Off {
        words.push("--shorten off".to_string());
    }
    let timed = matches!(report.stop, "time" | "interrupted") && report.threads == 1 && report.steps > 0;
    let audited = || report.confidence.as_ref().map(|confidence| confidence.walks()).filter(|walks| timed && *walks > 0);
    let audit = options.audit.or_else(audited);
    words.extend(audit.map(|walks| if walks == 0 { "--audit off".to_string() } else { format!("--audit {walks}") }));
    words.extend(options.memory.map(|bytes| format!("--memory {bytes}")));
    words.extend(options.states.map(|states| format!("--states {states}")));
    words.extend(if timed { Some(report.steps) } else { options.steps }.map(|steps| format!("--steps {steps}")));
    words.extend(options.time.filter(|_| !timed).map(|time| format!("--time {}ms", time.as_millis())));
    words.extend(options.threads.map(|threads| format!("--threads {threads}")));
    words.push(format!("--seed {}", options.seed));
    words.join(" ")
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_./=:+,@%".contains(letter);
    if !word.is_empty() && word.chars().all(plain) { word.to_string() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

fn exit(options: &CheckOptions, report: &Report) -> Exit {
    match report.verdict {
        _ if formulas::asked(report) => if options.exhaustive && formulas::some_open(report) { Exit::Cut } else { Exit::Well },
        "violated" => Exit::Found,
        "not-found" if options.exhaustive => Exit::Cut,
        _ => Exit::Well,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_witnesses_get_numbers() {
        assert_eq!(numbered(Path::new("a/trace.itf.json"), 2), Path::new("a/trace.2.itf.json"));
        assert_eq!(numbered(Path::new("trace"), 3), Path::new("trace.3"));
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("models/german.m"), "models/german.m");
        assert_eq!(quoted("it's x"), r"'it'\''s x'");
    }

    #[test]
    fn witness_values_are_forms_or_files() {
        let (form, files) = witness_options(&["full".to_string(), "out.json".to_string()]);
        assert_eq!((form, files), (Form::Full, vec![PathBuf::from("out.json")]));
    }
}
