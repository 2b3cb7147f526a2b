//! The sensitivity of randomised breadth-first search to its parameters, and its errors of both types.

use super::rbfs::{Known, SHARING_LIST, is_accepted, mean, overhead};
use crate::desk::{Desk, LabError};
use crate::{Cell, Column, Experiment, Findings, Form, Judgement, Settings, Table};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "rbfs-sensitivity",
    title: "Randomised breadth-first search: maxpom, samples, g, and errors of both types",
    source: "Tronci, Della Penna, Intrigila, Venturini Zilli (2001), section 4",
    question: "Do MAXPOM (0.01, 0.05, 0.1), the number of samples (Reach/100, Reach/1000) and g (0.1, 0.8) matter, and how often is a run wrongly accepted or wrongly refused?",
    seconds: (6.0, 100.0),
    settings,
    run,
};

const MEMORY: [f64; 5] = [1.0, 0.9, 0.85, 0.8, 0.7];
/// maxpom, the divisor of Reach that gives the number of samples, g.
const CHOICES: [(f64, u64, f64); 5] = [(0.01, 100, 0.8), (0.05, 100, 0.8), (0.1, 100, 0.8), (0.01, 1000, 0.8), (0.01, 100, 0.1)];

fn runs(quick: bool) -> u32 {
    if quick { 2 } else { 20 }
}

fn settings(quick: bool) -> Settings {
    vec![
        ("model", "sharing_list.m, with symmetry".to_string()),
        ("memory", format!("{MEMORY:?} of M")),
        ("chosen", "shares up to 1.0, after a first look at 0.8 and below had next to no accepted run at g = 0.8".to_string()),
        ("repetitions", runs(quick).to_string()),
    ]
}

/// The results of all runs of one choice.
#[derive(Default)]
struct Tally {
    accepted: usize,
    wrongly_accepted: usize,
    wrongly_refused: usize,
    /// The smallest share of memory at which every run was accepted.
    least: f64,
}

fn run(desk: &Desk, findings: &mut Findings) -> Result<(), LabError> {
    let known = Known::of(desk, &SHARING_LIST)?;
    desk.expect(CHOICES.len() * MEMORY.len() * runs(desk.quick) as usize);
    let columns = vec![
        Column::new("maxpom"),
        Column::new("samples").form(Form::Count),
        Column::new("g"),
        Column::new("memory"),
        Column::new("overhead").form(Form::Fixed),
        Column::new("accepted"),
        Column::new("accepted, a state missed (type 1)"),
        Column::new("refused, none missed (type 2)"),
    ];
    let mut table = Table::new("Errors of both types", columns);
    let mut tallies = Vec::new();
    for (maxpom, part, queue) in CHOICES {
        let samples = (known.reach / part).max(1);
        let mut tally = Tally { least: f64::INFINITY, ..Tally::default() };
        for share in MEMORY {
            let slots = known.slots(share, queue);
            let reports =
                known.repeat(desk, &format!("rbfs:slots={slots},queue={queue},samples={samples},maxpom={maxpom},levels=40"), runs(desk.quick))?;
            let accepted = reports.iter().filter(|report| is_accepted(report)).count();
            let first = reports.iter().filter(|report| is_accepted(report) && known.missed(report)).count();
            let second = reports.iter().filter(|report| !is_accepted(report) && !known.missed(report)).count();
            table.row([
                maxpom.into(),
                samples.into(),
                queue.into(),
                share.into(),
                Cell::from(mean(&reports, overhead)),
                accepted.into(),
                first.into(),
                second.into(),
            ]);
            tally = Tally {
                accepted: tally.accepted + accepted,
                wrongly_accepted: tally.wrongly_accepted + first,
                wrongly_refused: tally.wrongly_refused + second,
                least: if accepted == reports.len() { tally.least.min(share) } else { tally.least },
            };
        }
        tallies.push(tally);
    }
    findings.tables.push(table);
    let down_to = |at: usize| match tallies[at].least.is_finite() {
        true => format!("down to {} of the memory", tallies[at].least),
        false => "at none of these shares".to_string(),
    };
    let wrong = |at: &[usize]| at.iter().map(|at| tallies[*at].wrongly_accepted).sum::<usize>();
    let counts: Vec<String> =
        [0, 1, 2].iter().map(|at| format!("{} of {} at {}", tallies[*at].wrongly_accepted, tallies[*at].accepted, CHOICES[*at].0)).collect();
    findings.claim(
        "MAXPOM is not critical: 0.05 works as well as 0.01, and 0.1 nearly always",
        match wrong(&[0, 1]) {
            0 if tallies[0].accepted > 0 => Judgement::Agrees,
            0 => Judgement::Open,
            _ => Judgement::Differs,
        },
        format!("Accepted runs that had missed a state: {}.", counts.join(", ")),
    );
    findings.claim(
        "A thousandth of the states is enough as samples",
        if tallies[3].wrongly_accepted == 0 && tallies[3].least == tallies[0].least { Judgement::Agrees } else { Judgement::Partly },
        format!(
            "With Reach/1000 samples every run is accepted {}, with Reach/100 {}; wrongly accepted: {} and {}.",
            down_to(3),
            down_to(0),
            tallies[3].wrongly_accepted,
            tallies[0].wrongly_accepted
        ),
    );
    findings.claim(
        "A queue of g = 0.8 performs better than one of 0.1",
        if tallies[0].least < tallies[4].least { Judgement::Agrees } else { Judgement::Differs },
        format!(
            "With g = 0.8 every run is accepted {}, with g = 0.1 {}. In the same bytes a small queue leaves more slots to the cache.",
            down_to(0),
            down_to(4)
        ),
    );
    let refused: usize = tallies.iter().map(|tally| tally.wrongly_refused).sum();
    findings.claim(
        "Errors of type 2 occur if memory is just too small",
        if refused > 0 { Judgement::Agrees } else { Judgement::Differs },
        format!("{refused} runs that had visited every state were refused."),
    );
    Ok(())
}
