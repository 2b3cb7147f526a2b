//! The index of a folder of finished experiments, in Markdown: every claim with its judgement, and links to the text, the
//! data and the plots beside it.

use crate::{Findings, Judgement};

/// One line on how many claims were judged how.
pub fn summary(all: &[Findings]) -> String {
    let counted = |judgement: Judgement| all.iter().flat_map(|findings| &findings.claims).filter(|claim| claim.judgement == judgement).count();
    let [agree, partly, differ, open] = [Judgement::Agrees, Judgement::Partly, Judgement::Differs, Judgement::Open].map(counted);
    format!("of {} claims {agree} agree, {partly} agree in part, {differ} differ and {open} stay open", agree + partly + differ + open)
}

/// The index.
pub(crate) fn index(all: &[Findings]) -> String {
    let mut out = format!(
        "# The laboratory's results\n\n{} experiments; {}.\n\nA case agrees or differs only if the 95 % interval of the measured difference lies on one side; else it is open. \
         The rule and all its thresholds are in `crates/wayfarer-lab/src/judging.rs`.\n",
        all.len(),
        summary(all)
    );
    for findings in all {
        let stem = if findings.quick == Some(true) { format!("{}.quick", findings.name) } else { findings.name.clone() };
        let mut links = vec![format!("[text]({stem}.txt)"), format!("[data]({stem}.json)")];
        links.extend((1..=findings.plots.len()).map(|plot| format!("[plot {plot}]({stem}.{plot}.svg)")));
        out.push_str(&format!("\n## {}\n\n`{}`, {}. {}\n\n", findings.title, findings.name, findings.source, links.join(", ")));
        for claim in &findings.claims {
            out.push_str(&format!("- **{}**: {}. {}\n", claim.judgement.word(), claim.claim, claim.finding));
            claim.remarks().iter().for_each(|remark| out.push_str(&format!("  - {remark}\n")));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_claim_stands_under_its_experiment() {
        let mut findings = Findings { name: "x".into(), title: "X".into(), source: "A 2001".into(), ..Findings::default() };
        findings.claim("It holds", Judgement::Agrees, "In 3 of 3.");
        let text = index(&[findings]);
        assert!(
            text.contains("of 1 claims 1 agree") && text.contains("[data](x.json)") && text.contains("- **agrees**: It holds. In 3 of 3."),
            "{text}"
        );
    }
}
