//! Suggestions for a name that does not exist: the nearest ones that do.

/// The number of names listed; the rest are only counted.
const LISTED: usize = 20;

/// The known names that resemble `name`, the nearest first, at most three.
pub(crate) fn near<'a>(name: &str, known: &[&'a str]) -> Vec<&'a str> {
    let wanted = name.to_lowercase();
    let likeness = |known: &str| strsim::jaro_winkler(&wanted, &known.to_lowercase());
    let mut scored: Vec<(f64, &str)> = known.iter().map(|known| (likeness(known), *known)).filter(|(score, _)| *score > 0.75).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.dedup_by_key(|(_, known)| *known);
    scored.into_iter().take(3).map(|(_, known)| known).collect()
}

/// The sentence about an unknown name: `there is no property `CtrlPop`; did you mean `CtrlProp`? There are: …`.
pub(crate) fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    if known.is_empty() {
        return format!("there is no {what} `{name}`: there is none at all");
    }
    let quoted = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let near = near(name, known);
    let guess = if near.is_empty() { String::new() } else { format!("; did you mean {}?", quoted(&near).replace(", ", " or ")) };
    let mut list = quoted(&known[..known.len().min(LISTED)]);
    if known.len() > LISTED {
        list.push_str(&format!(" and {} more", known.len() - LISTED));
    }
    format!("there is no {what} `{name}`{guess}\n  there are: {list}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested_and_all_are_listed() {
        let text = unknown("property", "CtrlPop", &["CtrlProp", "DataProp", "x"]);
        assert_eq!(text, "there is no property `CtrlPop`; did you mean `CtrlProp`?\n  there are: `CtrlProp`, `DataProp`, `x`");
        assert_eq!(unknown("rule", "a", &[]), "there is no rule `a`: there is none at all");
    }
}
