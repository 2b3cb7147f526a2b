//! Difference storage: space and time against δ, in the paper's accounting and in actual bytes.

use super::scanning;
use crate::desk::{Desk, LabError};
use crate::judging::{ABOUT, Figure, Verdict, exactly};
use crate::nets::{Costs, DELTAS, NETS, Net};
use crate::{Cell, Column, Experiment, Findings, Form, Line, Plot, Settings, Table, grouped};
use wayfarer::Interval;
use wayfarer::theory::TableOne;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "difference",
    title: "Storing states as differences: space and time against δ",
    source: "Mukherjee, Tari, Bertok: Memory Efficient State-Space Analysis in Software Model-Checking (2010), Tables 1 to 3, Figures 8 to 10",
    question: "What does storing every δ-th state whole and the others as differences save, and what does it cost in time?",
    seconds: (2.5, 120.0),
    alone: true,
    reads: &[],
    settings,
    run,
};

/// Table 1: bytes of the first 500 states without the algorithm and at δ = 1, 2, 3, 7, 20.
const SPACE: [[u64; 6]; 6] = [
    [9_980, 9_980, 5_996, 4_668, 3_148, 2_396],
    [179_640, 179_640, 90_996, 61_448, 27_628, 10_896],
    [798_400, 798_400, 400_996, 268_528, 116_908, 41_896],
    [1_397_200, 1_397_200, 700_996, 468_928, 203_308, 71_896],
    [1_996_000, 1_996_000, 1_000_996, 669_328, 289_708, 101_896],
    [3_992_000, 3_992_000, 2_000_996, 1_337_328, 577_708, 201_896],
];

/// Table 2: milliseconds for them.
pub(super) const TIME: [[f64; 6]; 6] = [
    [0.0, 20.0, 90.0, 160.0, 430.0, 1490.0],
    [20.0, 40.0, 80.0, 100.0, 210.0, 570.0],
    [80.0, 130.0, 170.0, 200.0, 320.0, 680.0],
    [140.0, 220.0, 260.0, 290.0, 410.0, 770.0],
    [200.0, 310.0, 350.0, 380.0, 500.0, 850.0],
    [400.0, 620.0, 660.0, 680.0, 820.0, 1200.0],
];

/// Table 3: the figures that the paper quotes for other methods and states for its own: time and memory
/// relative to storing states whole.
const OTHERS: [(&str, f64, f64); 4] = [
    ("Schmidt 2003", 1.30, 0.60),
    ("Evangelista, Pradat-Peyre 2005", 3.00, 0.05),
    ("Holzmann 1997", 2.80, 0.183),
    ("differences, as the paper says", 2.00, 0.05),
];

fn steps(quick: bool) -> usize {
    if quick { 25_600 } else { 102_400 }
}

/// Interleaved runs: a median has an interval from six on.
fn runs(quick: bool) -> usize {
    if quick { 3 } else { 8 }
}

/// Passes of a run over the same visits. The shortest time of each batch of visits counts, so that a run is disturbed only if all its passes
/// are disturbed in the same batch.
fn passes(quick: bool) -> usize {
    if quick { 1 } else { 5 }
}

fn settings(quick: bool) -> Settings {
    vec![
        ("nets", NETS.iter().map(|(places, tokens)| format!("{places} places and {tokens} tokens")).collect::<Vec<_>>().join(", ")),
        ("paper", "the first 500 states of a depth-first search".to_string()),
        (
            "measured",
            format!(
                "{} visits by 64 walks side by side; {} interleaved runs, the best of {} passes in each batch of visits",
                grouped(steps(quick) as i64),
                runs(quick),
                passes(quick)
            ),
        ),
    ]
}

fn run(desk: &Desk, findings: &mut Findings) -> Result<(), LabError> {
    desk.expect(NETS.len());
    let mut all: All = Vec::new();
    for (at, (places, tokens)) in NETS.into_iter().enumerate() {
        // Sequentially, because this measures time.
        let net = Net::new(places, tokens, steps(desk.quick));
        let costs =
            net.repeated(runs(desk.quick), passes(desk.quick)).ok_or_else(|| LabError::Failed("there is no room for the store".to_string()))?;
        desk.tick()?;
        all.push((at, costs));
    }
    space(findings, &all);
    time(findings, &all);
    scanning::explain(findings, desk.quick);
    others(findings, &all);
    plots(findings, &all);
    Ok(())
}

/// A net of [`NETS`] with its costs in each run.
type All = Vec<(usize, Vec<Costs>)>;

/// Time as a multiple of keeping states whole, in the same run.
fn ratio(costs: &[Costs], index: usize) -> Figure {
    Figure::median(&costs.iter().map(|costs| costs.difference[index].nanoseconds() / costs.explicit.nanoseconds()).collect::<Vec<_>>())
}

/// Time at δ = 20 as a multiple of that at δ = 1, in the same run.
fn growth(costs: &[Costs]) -> Figure {
    Figure::median(&costs.iter().map(|costs| costs.difference[4].nanoseconds() / costs.difference[0].nanoseconds()).collect::<Vec<_>>())
}

fn name(at: usize) -> String {
    format!("{} places, {} tokens", NETS[at].0, NETS[at].1)
}

fn space(findings: &mut Findings, all: &All) {
    let columns = vec![
        Column::new("net"),
        Column::new("δ"),
        Column::paper("Λ, bytes").form(Form::Count),
        Column::new("Λ by the formula").form(Form::Count),
        Column::paper("saved").form(Form::Percent),
        Column::new("bytes a state, true"),
        Column::new("saved, true").form(Form::Percent),
    ];
    let mut table =
        Table::new("Table 1: space in the paper's accounting (4 bytes a token, 4 a difference, no links, no table) and in actual bytes", columns);
    let mut equal = 0;
    for (at, costs) in all {
        let costs = &costs[0];
        let formula = TableOne::new(NETS[*at].1 as u64);
        table.row([
            Cell::from(name(*at)),
            "whole".into(),
            SPACE[*at][0].into(),
            Cell::Empty,
            Cell::Empty,
            (costs.explicit.states >= 10_000).then_some(costs.explicit.bytes).into(),
        ]);
        for (index, delta) in DELTAS.into_iter().enumerate() {
            let (paper, computed) = (SPACE[*at][index + 1], formula.bytes(u64::from(delta)));
            equal += usize::from(paper == computed);
            let ours = &costs.difference[index];
            let saved = 1.0 - paper as f64 / SPACE[*at][0] as f64;
            // Stores allocate memory in segments: with so few states the figure would mean nothing.
            let (bytes, less) = match ours.states < 10_000 {
                true => (Cell::from("too few states"), Cell::Empty),
                false => (ours.bytes.into(), (1.0 - ours.bytes / costs.explicit.bytes).into()),
            };
            table.row([Cell::from(name(*at)), delta.into(), paper.into(), computed.into(), saved.into(), bytes, less]);
        }
    }
    findings.tables.push(table);
    let cells = all.len() * DELTAS.len();
    findings.judge(
        "Table 1 is the accounting of whole states every δ steps",
        &[exactly(equal == cells)],
        format!("{equal} of {cells} printed values equal ⌈499/δ⌉ whole states and 4 bytes for each of the others."),
    );
    let true_savings: Vec<f64> = all.iter().map(|(_, costs)| 1.0 - costs[0].difference[4].bytes / costs[0].explicit.bytes).collect();
    let listed: Vec<String> =
        all.iter().zip(&true_savings).skip(1).map(|((at, _), saved)| format!("{} {:.1} %", NETS[*at].1, 100.0 * saved)).collect();
    findings.judge(
        "At δ = 20 large models need 95 % less memory",
        // About a twentieth remains; bytes are counted and not measured.
        &true_savings.iter().skip(2).map(|saved| exactly(1.0 - saved < 0.05 * ABOUT)).collect::<Vec<_>>(),
        format!(
            "In true bytes, links and table included, against a store that packs whole states to the bit: by tokens {}. Judged from 400 tokens on.",
            listed.join(", ")
        ),
    );
    let fixed: Vec<(f64, f64)> = all
        .iter()
        .skip(1)
        .map(|(_, costs)| {
            // bytes(δ) = fixed + (whole − fixed)/δ through δ = 7 and δ = 20.
            let (seven, twenty) = (costs[0].difference[3].bytes, costs[0].difference[4].bytes);
            let slope = (seven - twenty) / (1.0 / 7.0 - 1.0 / 20.0);
            (twenty - slope / 20.0, costs[0].explicit.bytes)
        })
        .collect();
    findings.because(
        fixed.iter().all(|(fixed, whole)| *fixed > 4.0 && *fixed < *whole),
        "The paper counts four bytes for a token and nothing for links and table; packed to the bit, a state is a third as large, and what every state costs besides weighs more.",
        format!(
            "From δ = 7 and 20, what remains for each state if δ grows without bound, against a whole one: {}.",
            all.iter().skip(1).zip(&fixed).map(|((at, _), (fixed, whole))| format!("{fixed:.0} of {whole:.0} bytes ({} tokens)", NETS[*at].1)).collect::<Vec<_>>().join(", ")
        ),
    );
    let more: Vec<f64> = all.iter().skip(1).map(|(_, costs)| costs[0].explicit.bytes / costs[0].difference[4].bytes).collect();
    findings.judge(
        "More states fit into a memory of the same size",
        &more.iter().map(|factor| exactly(*factor > 1.0)).collect::<Vec<_>>(),
        format!(
            "At δ = 20, in true bytes, this many times as many: {}.",
            all.iter().skip(1).zip(&more).map(|((at, _), factor)| format!("{factor:.1} ({} tokens)", NETS[*at].1)).collect::<Vec<_>>().join(", ")
        ),
    );
    findings.judge(
        "The reduction is larger for larger models",
        &true_savings[1..].windows(2).map(|pair| exactly(pair[1] > pair[0])).collect::<Vec<_>>(),
        format!("In true bytes by tokens: {}.", listed.join(", ")),
    );
}

fn time(findings: &mut Findings, all: &All) {
    let mut columns = vec![Column::new("net")];
    columns.extend(DELTAS.iter().map(|delta| Column::paper(format!("δ = {delta}"))));
    columns.extend(DELTAS.iter().map(|delta| Column::new(format!("δ = {delta}, ours"))));
    columns.push(Column::new("whole, ns a visit"));
    let mut table = Table::new("Table 2: time as a multiple of keeping states whole", columns);
    for (at, costs) in all {
        let paper = (1..6).map(|index| if TIME[*at][0] > 0.0 { Cell::from(TIME[*at][index] / TIME[*at][0]) } else { Cell::from("∞") });
        let ours = (0..DELTAS.len()).map(|index| Cell::from(ratio(costs, index).interval));
        let whole = Figure::mean(&costs.iter().map(|costs| costs.explicit.nanoseconds()).collect::<Vec<_>>());
        table.row(std::iter::once(Cell::from(name(*at))).chain(paper).chain(ours).chain([Cell::from(whole.interval)]));
    }
    findings.tables.push(table);
    findings.judge(
        "The delay grows with δ",
        // The smallest net has no more than 1,024 states, which are all in the table before long.
        &all.iter().skip(1).map(|(_, costs)| growth(costs).outdoes(&Figure::exact(1.0))).collect::<Vec<_>>(),
        format!(
            "From δ = 1 to 20 the time against whole states goes {}. Judged by the median of the ratio of both in the same run.",
            all.iter()
                .skip(1)
                .map(|(at, costs)| {
                    let Interval { value, low, high } = growth(costs).interval;
                    format!(
                        "from {:.2} to {:.2}, ratio {value:.2} ({low:.2} to {high:.2} at 95 %, {} tokens)",
                        ratio(costs, 0).interval.value,
                        ratio(costs, 4).interval.value,
                        NETS[*at].1
                    )
                })
                .collect::<Vec<_>>()
                .join(", ")
        ),
    );
    let stalls: Vec<String> = all
        .iter()
        .map(|(at, costs)| {
            format!(
                "{} of {} bytes a state ({} tokens)",
                crate::plain(costs[0].difference[4].bytes),
                crate::plain(costs[0].explicit.bytes),
                NETS[*at].1
            )
        })
        .collect();
    findings.because(
        true,
        "Our store compares only where a fingerprint of 64 bits is equal, so that it hardly ever goes back; what is left of the delay is less than what smaller states save in memory traffic.",
        format!("δ = 20 writes {}.", stalls.join(", ")),
    );
    let slower: Vec<Verdict> = all.iter().skip(1).map(|(_, costs)| ratio(costs, 4).outdoes(&Figure::exact(1.0))).collect();
    findings.judge(
        "With the algorithm the delay is higher than without it, for every model",
        &slower,
        format!(
            "At δ = 20 against whole states, by the median of the runs: {}. What is less than a quarter more is about the same.",
            all.iter()
                .skip(1)
                .map(|(at, costs)| format!("{:.2} ({} tokens)", ratio(costs, 4).interval.value, NETS[*at].1))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    );
    findings.because(
        true,
        "The same: no comparison with states that are not equal, and less memory to write.",
        "See the reading with a list below, which has the paper's delays.",
    );
    let (first, last) = (ratio(&all[1].1, 4), all.last().map_or(Figure::mean(&[]), |(_, costs)| ratio(costs, 4)));
    findings.judge(
        "The delay is massive for small models and doubles the time of the largest at δ = 20",
        &[first.about(28.5), last.about(3.0)],
        format!(
            "At δ = 20 the paper's times are 28.5 and 3.0 of whole states' for 90 and 2,000 tokens (its text says twice, its table three times); ours are {:.2} and {:.2}.",
            first.interval.value, last.interval.value
        ),
    );
}

fn others(findings: &mut Findings, all: &All) {
    let mut table = Table::new(
        "Table 3: against keeping states whole; others' figures are quoted",
        vec![Column::new("method"), Column::new("run time").form(Form::Percent), Column::new("memory").form(Form::Percent), Column::new("origin")],
    );
    OTHERS.iter().for_each(|(name, time, memory)| table.row([Cell::from(*name), (*time).into(), (*memory).into(), "quoted from the paper".into()]));
    if let Some((at, costs)) = all.last() {
        let costs = &costs[0];
        let whole = &costs.explicit;
        for index in [3, 4] {
            let (visits, store) = (&costs.difference[index], format!("difference, δ = {}", DELTAS[index]));
            let origin = format!("measured here, {} tokens", NETS[*at].1);
            table.row([
                Cell::from(format!("Wayfarer, {store}")),
                (visits.nanoseconds() / whole.nanoseconds()).into(),
                (visits.bytes / whole.bytes).into(),
                Cell::from(origin),
            ]);
        }
    }
    findings.tables.push(table);
}

fn plots(findings: &mut Findings, all: &All) {
    // The smallest net has too few states to be measured.
    let all = &all[1..];
    let deltas = || DELTAS.iter().map(|delta| f64::from(*delta));
    let space = all
        .iter()
        .map(|(at, costs)| Line::new(format!("{} tokens", NETS[*at].1), deltas().zip(costs[0].difference.iter().map(|visits| visits.bytes))));
    findings.plots.push(Plot {
        title: "True bytes a state (Figure 8)".into(),
        across: "δ".into(),
        up: "bytes a state".into(),
        log: (false, true),
        lines: space.collect(),
    });
    let time = all.iter().map(|(at, costs)| {
        Line::new(format!("{} tokens", NETS[*at].1), deltas().zip((0..DELTAS.len()).map(|index| ratio(costs, index).interval.value)))
    });
    let mut lines: Vec<Line> = time.collect();
    lines.push(Line::new("2,000 tokens, the paper", deltas().zip((1..6).map(|index| TIME[5][index] / TIME[5][0]))));
    findings.plots.push(Plot {
        title: "Time against whole states (Figure 9)".into(),
        across: "δ".into(),
        up: "times as long".into(),
        log: (false, false),
        lines,
    });
    let both = DELTAS.iter().enumerate().skip(1).map(|(index, delta)| {
        let point = |(_, costs): &(usize, Vec<Costs>)| {
            (100.0 * (1.0 - costs[0].difference[index].bytes / costs[0].explicit.bytes).max(0.0), ratio(costs, index).interval.value)
        };
        Line::new(format!("δ = {delta}"), all.iter().map(point))
    });
    findings.plots.push(Plot {
        title: "Time against memory saved (Figure 10)".into(),
        across: "memory saved, per cent".into(),
        up: "times as long".into(),
        log: (false, false),
        lines: both.collect(),
    });
}
