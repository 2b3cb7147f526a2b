//! Answers to a file of formulas, as text and in the format of the Model Checking Contest.

use crate::output::Paint;
use crate::sizes::counted;
use wayfarer::{Answer, CheckReport, Report};

/// Whether the run was about formulas.
pub(crate) fn asked(report: &Report) -> bool {
    answers(report).next().is_some()
}

/// Whether some formula is neither true nor false.
pub(crate) fn some_open(report: &Report) -> bool {
    answers(report).any(|(_, answer)| answer == Answer::Open)
}

fn answers(report: &Report) -> impl Iterator<Item = (&CheckReport, Answer)> {
    report.checks.iter().filter_map(|check| Some((check, check.answer?)))
}

/// The number of formulas with each answer, and the answer to each.
pub(crate) fn text(report: &Report, paint: Paint) -> String {
    let number = |wanted: Answer| answers(report).filter(|(_, answer)| *answer == wanted).count();
    let numbers = [Answer::True, Answer::False, Answer::Open].map(|answer| (answer.word(), number(answer)));
    let parts: Vec<String> = numbers.iter().filter(|(_, count)| *count > 0).map(|(word, count)| format!("{count} {word}")).collect();
    let all = counted(answers(report).count() as u64, "formula");
    let mut out = format!("{} {all}: {}\n\n", report.model, parts.join(", "));
    for (check, answer) in answers(report) {
        let word = match answer {
            Answer::True => paint.good("true "),
            Answer::False => paint.bad("false"),
            Answer::Open => paint.doubt("open "),
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
    let line = |(check, answer): (&CheckReport, Answer)| match answer {
        Answer::True => format!("FORMULA {} TRUE TECHNIQUES EXPLICIT\n", check.name),
        Answer::False => format!("FORMULA {} FALSE TECHNIQUES EXPLICIT\n", check.name),
        Answer::Open => format!("FORMULA {} CANNOT_COMPUTE\n", check.name),
    };
    answers(report).map(line).collect()
}
