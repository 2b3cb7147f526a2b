//! Answers to a file of formulas, for a person and in the form of the Model Checking Contest.

use crate::output::Paint;
use crate::sizes::counted;
use wayfarer::{CheckReport, Report};

/// Whether the run was about formulas.
pub(crate) fn asked(report: &Report) -> bool {
    answers(report).next().is_some()
}

/// Whether some formula is neither true nor false.
pub(crate) fn some_open(report: &Report) -> bool {
    answers(report).any(|(_, answer)| answer == "open")
}

fn answers(report: &Report) -> impl Iterator<Item = (&CheckReport, &'static str)> {
    report.checks.iter().filter_map(|check| Some((check, check.answer?)))
}

/// How many formulas have which answer, and the answer to each.
pub(crate) fn text(report: &Report, paint: Paint) -> String {
    let number = |wanted: &str| answers(report).filter(|(_, answer)| *answer == wanted).count();
    let parts: Vec<String> = ["true", "false", "open"].iter().map(|word| (word, number(word))).filter(|(_, count)| *count > 0).map(|(word, count)| format!("{count} {word}")).collect();
    let all = counted(answers(report).count() as u64, "formula");
    let mut out = format!("{} {all}: {}\n\n", report.model, parts.join(", "));
    for (check, answer) in answers(report) {
        let word = match answer {
            "true" => paint.good("true "),
            "false" => paint.bad("false"),
            _ => paint.doubt("open "),
        };
        let witness = check.violations.first().and_then(|index| report.violations.get(*index)?.witness.as_ref());
        let witness = witness.map_or_else(String::new, |witness| paint.faint(&format!("  witness of {}", counted(witness.length as u64, "step"))));
        out.push_str(&format!("  {word}  {}{witness}\n", check.name));
    }
    if some_open(report) {
        out.push_str(&format!("\nOpen formulas are neither true nor false: {}.\n", wayfarer::stop_words(report.stop)));
    }
    out
}

/// The lines that the contest reads.
pub(crate) fn contest(report: &Report) -> String {
    let line = |(check, answer): (&CheckReport, &str)| match answer {
        "true" => format!("FORMULA {} TRUE TECHNIQUES EXPLICIT\n", check.name),
        "false" => format!("FORMULA {} FALSE TECHNIQUES EXPLICIT\n", check.name),
        _ => format!("FORMULA {} CANNOT_COMPUTE\n", check.name),
    };
    answers(report).map(line).collect()
}
