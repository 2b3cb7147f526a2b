//! `wayfarer check`: plans a run from the options, watches it, and shows the result.

use crate::curve::Curve;
use crate::options::CheckOptions;
use crate::output::{Paint, complain, print, warning};
use crate::progress::{Style, Watcher};
use crate::render::{self, View};
use crate::signals::Signals;
use crate::witness::Form;
use crate::{Exit, Failure, formulas, machine, model, outputs, runs, sizes, suggest};
use std::path::{Path, PathBuf};
use wayfarer::memory::Budget;
use wayfarer::{Plan, Repeated, Report, RunError, Stop, Subject, Verdict, itf};

/// Runs `wayfarer check`.
pub(crate) fn check(options: &CheckOptions) -> Result<Exit, Failure> {
    let (form, traces) = witness_options(&options.witness)?;
    let reports = wayfarer::FORMATS.iter().filter_map(|format| Some((format!("--{}", format.name), options.formats.file(format)?)));
    let curves = options.curve.iter().map(|file| ("--curve".to_string(), file.as_path()));
    let witnesses = traces.iter().map(|file| ("--witness".to_string(), file.as_path()));
    outputs::all_different(&reports.chain(curves).chain(witnesses).collect::<Vec<_>>())?;
    let files = outputs::Files::new(options)?;
    let done = check_writing(options, &files, (form, &traces));
    if let Err(failure) = &done {
        files.write_failure(&options.model.model, failure)?;
    }
    done
}

fn check_writing(options: &CheckOptions, files: &outputs::Files, (form, traces): (Form, &[PathBuf])) -> Result<Exit, Failure> {
    let given = &options.run.plan;
    let limit = given.memory.unwrap_or_else(|| crate::free().default_budget());
    let bound = if given.memory.is_none() { crate::free().least().map(|(_, bound)| bound) } else { None };
    warn_if_not_there(given.memory);
    let opened = model::open_asking(&options.model, given.find.first().map(String::as_str), options.formulas.as_deref())?;
    let mut subject = opened.subject;
    let plan = plan(options, &*subject, limit)?;
    let budget = Budget::new(limit, besides(limit, plan.threads));
    if options.plan {
        return show_plan(options, &plan, &*subject, &budget);
    }
    let outlet = |file: &Path, option: &str| outputs::outlet(file, option, &options.inputs());
    let mut curve = Curve::new(options.curve.as_deref().map(|file| outlet(file, "--curve")).transpose()?);
    let traces = traces.iter().map(|file| outlet(file, "--witness")).collect::<Result<Vec<_>, _>>()?;
    let signals = Signals::catch().map_err(|error| Failure::failed(format!("cannot catch signals: {error}")))?;
    let mut done = Repeated::default();
    for run in 0..options.runs {
        let plan = Plan { seed: given.seed.wrapping_add(u64::from(run)), ..plan.clone() };
        let mut watcher = Watcher::new(&signals, &budget, Style::fitting(options.quiet), given.time);
        let report = plan.check_widening(&mut subject, &budget, &mut curve.watching(&mut watcher, plan.seed));
        watcher.finish();
        let report = report.map_err(|error| failure(&error, limit))?;
        curve.end(&report);
        let interrupted = report.stop == Stop::Interrupted;
        done.runs.push(report);
        if interrupted {
            break;
        }
    }
    curve.write()?;
    if options.runs > 1 {
        runs::show(options, &done)?;
        let stopped = done.runs.last().is_some_and(|report| report.stop == Stop::Interrupted);
        return Ok(match done.successes().next() {
            Some(_) => Exit::Found,
            None if stopped => signals.exit(),
            None => Exit::Well,
        });
    }
    match done.runs.first_mut() {
        Some(report) => {
            report.again = Some(again(options, report));
            files.write(report)?;
            show(options, &*subject, report, (limit, bound), form)?;
            traces.iter().try_for_each(|file| write_witnesses(file.path(), &*subject, report))?;
            Ok(exit(options, report, &signals))
        }
        None => Err(Failure::failed("there was no run".to_string())),
    }
}

/// Prints how the budget would be divided.
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

/// The memory that the process holds in addition to its allocations, with this many threads.
fn besides(limit: usize, threads: usize) -> usize {
    // Stacks, and memory between blocks that a phase left behind: with 64 threads up to 130 KiB each.
    let thread = (limit / 400).min(160 << 10);
    if limit >= wayfarer::memory::WHOLE_PROCESS { machine::besides(wayfarer::memory::taken()) + threads.saturating_sub(1) * thread } else { 0 }
}

fn warn_if_not_there(wanted: Option<usize>) {
    if let Some(wanted) = wanted
        && let Some((free, _)) = crate::free().least()
        && wanted > free
    {
        let (wanted, free) = (sizes::bytes(wanted), sizes::bytes(free));
        warning(&format!("--memory {wanted} is more than the {free} that are free: the system may end the run"));
    }
}

fn plan(options: &CheckOptions, subject: &dyn Subject, memory: usize) -> Result<Plan, Failure> {
    let given = &options.run.plan;
    let properties = subject.properties();
    let known: Vec<&str> = properties.iter().map(|property| property.name.as_str()).collect();
    if let Some(name) = given.properties.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Failure::wrong(suggest::unknown("property", name, &known)));
    }
    let rules = subject.rules();
    let known: Vec<&str> = rules.iter().map(|rule| rule.name.as_str()).collect();
    let described = |name: &str| (0..rules.iter().map(|rule| rule.instances).sum()).any(|number| subject.is_called(number, name));
    if let Some(name) = given.find_rules.iter().find(|name| !known.contains(&name.as_str()) && !described(name)) {
        return Err(Failure::wrong(suggest::unknown("rule", name, &known)));
    }
    if options.formulas.is_some() {
        // Only answers matter here, not shortest witnesses.
        let find = properties.iter().map(|property| property.name.clone()).collect();
        let audit = given.audit.or(Some(0));
        return Ok(Plan { memory: Some(memory), audit, find, shorten: false, all_violations: true, ..given.clone() }.settled());
    }
    // Many runs are an experiment with the strategy, not a verdict on the model.
    let audit = given.audit.or((options.runs > 1).then_some(0));
    Ok(Plan { memory: Some(memory), audit, ..given.clone() }.settled())
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

/// Prints the report.
fn show(
    options: &CheckOptions,
    subject: &dyn Subject,
    report: &Report,
    (limit, bound): (usize, Option<machine::Bound>),
    form: Form,
) -> Result<(), Failure> {
    if options.json {
        print(&format!("{}\n", report.to_json())).map_err(Failure::failed)?;
    } else if options.mcc {
        print(&formulas::contest(report)).map_err(Failure::failed)?;
    } else {
        // A file of formulas has many witnesses, which are shown on request.
        let form = if formulas::asked(report) && options.witness.is_empty() { Form::None } else { form };
        let paint = Paint::stdout();
        let again = report.again.as_deref().unwrap_or_default();
        let (only, verbose) = (options.show.as_slice(), options.verbose);
        let view = View { paint, form, only, verbose, memory: limit, bound, besides_on_top: limit < wayfarer::memory::WHOLE_PROCESS, again };
        print(&render::report(report, subject, &view)).map_err(Failure::failed)?;
    }
    Ok(())
}

/// The form to show and the files to write.
fn witness_options(values: &[String]) -> Result<(Form, Vec<PathBuf>), Failure> {
    let mut form = Form::default();
    let mut files = Vec::new();
    let words: Vec<&str> = FORMS.iter().map(|(word, _)| *word).collect();
    for value in values {
        match FORMS.iter().find(|(word, _)| word == value) {
            Some((_, known)) => form = *known,
            // A file has an ending or a folder; a bare word that resembles a form is a typing mistake.
            None if !value.contains(['.', '/']) && !suggest::near(value, &words).is_empty() => {
                let guess = suggest::near(value, &words)[0];
                return Err(Failure::wrong(format!("--witness {value}: did you mean `{guess}`? To write a file of that name, write ./{value}")));
            }
            None => files.push(PathBuf::from(value)),
        }
    }
    Ok((form, files))
}

/// The forms in which a witness is shown.
const FORMS: [(&str, Form); 4] = [("changes", Form::Changes), ("columns", Form::Columns), ("full", Form::Full), ("none", Form::None)];

/// Writes the first witness to `file`, and further ones beside it.
fn write_witnesses(file: &Path, subject: &dyn Subject, report: &Report) -> Result<(), Failure> {
    let with_way = report.violations.iter().filter_map(|violation| Some((violation, violation.witness.as_ref()?)));
    let mut written = 0;
    for (violation, witness) in with_way {
        written += 1;
        let file = if written == 1 { file.to_path_buf() } else { numbered(file, written) };
        let object = itf::write(subject, witness, &format!("{}: {}", violation.kind, violation.name));
        let text = format!("{object:#}\n");
        outputs::write(&outputs::outlet(&file, "--witness", &[])?, "--witness", &text)?;
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

/// The command line that repeats the run. Times and signals do not repeat exactly; the number of steps does.
fn again(options: &CheckOptions, report: &Report) -> String {
    let mut plan = options.run.plan.clone();
    if matches!(report.stop, Stop::Time | Stop::Interrupted) && report.threads == 1 && report.steps > 0 {
        (plan.time, plan.steps) = (None, Some(report.steps));
        let walks = report.confidence.as_ref().map(|confidence| confidence.walks()).filter(|walks| *walks > 0);
        plan.audit = plan.audit.or(walks);
    }
    let formulas = options.formulas.iter().map(|file| format!("--properties {}", wayfarer::options::quoted(file)));
    let words = ["wayfarer check".to_string()].into_iter().chain(options.model.words()).chain(formulas).chain(wayfarer::options::words(&plan));
    words.collect::<Vec<_>>().join(" ")
}

fn exit(options: &CheckOptions, report: &Report, signals: &Signals) -> Exit {
    match report.verdict {
        _ if formulas::asked(report) && report.stop == Stop::Interrupted => signals.exit(),
        _ if formulas::asked(report) && options.run.plan.exhaustive && formulas::some_open(report) => Exit::Cut,
        _ if formulas::asked(report) => Exit::Well,
        Verdict::Violated => Exit::Found,
        Verdict::NotFound if report.stop == Stop::Interrupted => signals.exit(),
        Verdict::NotFound if options.run.plan.exhaustive => Exit::Cut,
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
    fn witness_values_are_forms_or_files() {
        let read = |values: &[&str]| witness_options(&values.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(read(&["full", "out.json"]).unwrap(), (Form::Full, vec![PathBuf::from("out.json")]));
        assert!(read(&["ful"]).unwrap_err().message.contains("did you mean `full`?"));
        assert_eq!(read(&["./ful"]).unwrap().1, [PathBuf::from("./ful")]);
    }
}
