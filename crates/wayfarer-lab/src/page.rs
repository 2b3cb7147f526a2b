//! Findings as one self-contained HTML page: style and plots are inside it, and there is no script.

use crate::plot::escape;
use crate::{Cell, Findings, Judgement, Plot, Table};
use std::fmt::Write as _;

const STYLE: &str = include_str!("page.css");

/// The page with this title and introduction, with a section for each of the findings.
pub fn page(title: &str, introduction: &str, all: &[Findings]) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n\
         <title>{0}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{0}</h1>\n<p>{1}</p>\n</header>\n",
        escape(title),
        escape(introduction)
    );
    if all.len() > 1 {
        out.push_str("<nav aria-label=\"Experiments\">\n<ol>\n");
        for findings in all {
            let _ =
                writeln!(out, "<li><a href=\"#{}\">{}</a> <span>{}</span></li>", escape(&findings.name), escape(&findings.title), marks(findings));
        }
        out.push_str("</ol>\n</nav>\n");
    }
    out.push_str("<main>\n");
    // A page about one thing has its title already.
    all.iter().for_each(|findings| section(&mut out, findings, findings.title != title));
    let _ = writeln!(
        out,
        "</main>\n<footer><p class=\"soft\">Made by Wayfarer {}. {}Intervals are 95 %.</p></footer>\n</body>\n</html>",
        env!("CARGO_PKG_VERSION"),
        if all.iter().any(Findings::quotes) { "Shaded columns quote the paper; the others were measured or computed here. " } else { "" }
    );
    out
}

/// The number of claims that were confirmed, and the number that were not.
fn marks(findings: &Findings) -> String {
    let counted = |judgement: Judgement| (judgement, findings.claims.iter().filter(|claim| claim.judgement == judgement).count());
    let all = [Judgement::Agrees, Judgement::Partly, Judgement::Differs, Judgement::Open].map(counted);
    let shown =
        all.iter().filter(|(_, count)| *count > 0).map(|(judgement, count)| format!("<span class=\"mark {0}\">{count} {0}</span>", judgement.word()));
    shown.collect::<Vec<_>>().join(" ")
}

fn section(out: &mut String, findings: &Findings, titled: bool) {
    let name = escape(&findings.name);
    let _ = match titled {
        true => writeln!(out, "<section id=\"{name}\" aria-labelledby=\"{name}-title\">\n<h2 id=\"{name}-title\">{}</h2>", escape(&findings.title)),
        false => writeln!(out, "<section id=\"{name}\">"),
    };
    let _ = writeln!(out, "<p class=\"soft\">{}</p>\n<p>{}</p>", escape(&findings.source), prose(&findings.question));
    if !findings.claims.is_empty() {
        out.push_str("<ul class=\"claims\">\n");
        for claim in &findings.claims {
            let word = claim.judgement.word();
            let remarks: Vec<String> = claim.remarks().iter().map(|remark| format!("<p class=\"soft\">{}</p>", prose(remark))).collect();
            let _ = writeln!(
                out,
                "<li class=\"{word}\"><p><span class=\"mark\">{word}</span>{}</p><p class=\"soft\">{}</p>{}</li>",
                prose(&claim.claim),
                prose(&claim.finding),
                remarks.concat()
            );
        }
        out.push_str("</ul>\n");
    }
    if !findings.plots.is_empty() {
        out.push_str("<div class=\"plots\">\n");
        findings.plots.iter().for_each(|plot| figure(out, plot));
        out.push_str("</div>\n");
    }
    findings.tables.iter().for_each(|table| grid(out, table));
    findings.notes.iter().for_each(|note| {
        let _ = writeln!(out, "<p class=\"soft\">{}</p>", prose(note));
    });
    out.push_str("<dl>\n");
    let how = findings.quick.map_or("", |quick| if quick { "quick settings, " } else { "full settings, " });
    let run = format!("{how}seed {}, {}", findings.seed, wayfarer::sizes::seconds(findings.seconds));
    for (name, value) in findings.settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).chain([("run", run.as_str())]) {
        let _ = writeln!(out, "<dt>{}</dt><dd>{}</dd>", escape(name), escape(value));
    }
    out.push_str("</dl>\n</section>\n");
}

fn figure(out: &mut String, plot: &Plot) {
    let svg = plot.untitled().svg();
    // The drawing scales with the page, and has a text for screen readers.
    let body = svg.find('>').map_or(svg.as_str(), |end| &svg[end + 1..]);
    let head = svg.find("viewBox=\"").and_then(|from| svg[from + 9..].split('"').next()).unwrap_or("0 0 480 340");
    let _ = writeln!(
        out,
        "<figure><figcaption>{}</figcaption><svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{head}\" role=\"img\" aria-label=\"{}\">{}</figure>",
        escape(&plot.title),
        escape(&plot.words()),
        body.trim()
    );
}

fn grid(out: &mut String, table: &Table) {
    let _ = writeln!(
        out,
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\">\n<table>\n<caption>{0}</caption>\n<thead><tr>",
        escape(&table.caption)
    );
    for column in &table.columns {
        let _ = writeln!(out, "<th scope=\"col\"{}>{}</th>", class(column.quoted), escape(&column.name));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for (index, (cell, column)) in row.iter().zip(&table.columns).enumerate() {
            let content = shown(cell, column.form);
            let _ = match index {
                0 => write!(out, "<th scope=\"row\"{}>{}</th>", class(column.quoted), breakable(&content)),
                _ => write!(out, "<td{}>{content}</td>", class(column.quoted)),
            };
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
}

/// A name in the first column. It may be broken after a comma or a colon, and between words if it is long.
fn breakable(name: &str) -> String {
    let name = if name.chars().count() <= 14 { name.replace(' ', "&nbsp;") } else { name.to_string() };
    name.replace(',', ",<wbr>").replace(':', ":<wbr>")
}

/// Escaped text in which a number stays beside its sign.
fn prose(text: &str) -> String {
    escape(text).replace(" %", "&nbsp;%")
}

fn class(quoted: bool) -> &'static str {
    if quoted { " class=\"quoted\"" } else { "" }
}

fn shown(cell: &Cell, form: crate::Form) -> String {
    let (value, beside) = cell.parts(form);
    if beside.is_empty() { escape(&value) } else { format!("{} <small>{}</small>", escape(&value), escape(&beside)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, Line};

    #[test]
    fn a_page_stands_alone_and_escapes_what_it_shows() {
        let mut findings = Findings { name: "a".into(), title: "x < y & \"z\"".into(), ..Findings::default() };
        let mut table = Table::new("caption", vec![Column::new("n"), Column::paper("m")]);
        table.row([Cell::from("<b>"), Cell::from(2.5)]);
        findings.tables.push(table);
        findings.plots.push(Plot { title: "p".into(), lines: vec![Line::new("l", [(0.0, 0.0), (1.0, 1.0)])], ..Plot::default() });
        findings.claim("c", Judgement::Partly, "f");
        let page = page("t", "i", &[findings.clone(), findings]);
        assert!(page.contains("x &lt; y &amp; &quot;z&quot;") && page.contains("&lt;b&gt;") && page.contains("class=\"quoted\">2.5"));
        assert!(!page.contains("<script") && !page.contains("src="));
        assert!(page.contains("Shaded columns quote the paper") && page.contains("<figcaption>p</figcaption>"));
        let outside = page.match_indices("://").filter(|(at, _)| !page[*at..].starts_with("://www.w3.org/2000/svg"));
        assert_eq!(outside.count(), 0, "nothing is asked for");
    }

    #[test]
    fn a_page_speaks_of_settings_and_papers_only_if_it_has_them() {
        let mut findings = Findings { name: "a".into(), title: "t".into(), seconds: 2.5, ..Findings::default() };
        findings.tables.push(Table::new("caption", vec![Column::new("n")]));
        let own = page("t", "i", std::slice::from_ref(&findings));
        assert!(!own.contains("paper;") && !own.contains("settings") && own.contains("<dd>seed 0, 2.500 s<"), "{own}");
        assert_eq!(own.matches(">t<").count(), 2, "the title of the page, in its head and in its body, is not repeated over the section");
        findings.quick = Some(true);
        assert!(page("other", "i", &[findings]).contains("<dd>quick settings, seed 0, 2.500 s<"));
    }

    #[test]
    fn captions_do_not_widen_the_first_column() {
        // A caption that is a block is wrapped into a cell of the first column.
        let rule = |name: &str| STYLE.lines().find(|line| line.starts_with(name)).unwrap();
        assert!(!rule("caption").contains("display: block"));
        assert!(rule("th:first-child").contains("position: sticky") && rule("tbody th").contains("max-width"), "names leave room for figures");
    }
}
