//! Aldebaran files (`.aut`), as CADP and mCRL2 write them: a labelled graph, one transition on each line.
//!
//! ```text
//! des (0, 2, 3)
//! (0, "send !1", 1)
//! (1, i, 2)
//! ```
//!
//! The header gives the first state, the number of transitions and the number of states. Labels may be quoted. An
//! unquoted label reaches from the first comma to the last, so that it may contain commas itself.

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::{Source, Span};
use std::collections::HashMap;
use wayfarer_space::Graph;

/// A labelled graph as read from a file.
#[derive(Clone, Debug, Default)]
pub struct Aut {
    /// The states and transitions, in the order of the file; the start state is the header's first state.
    pub graph: Graph,
    /// The first state.
    pub first: u32,
    /// The distinct labels, in the order of their first use.
    pub labels: Vec<String>,
    /// For each state, the index in `labels` of each of its transitions, in the order of the graph's successors.
    pub labelled: Vec<Vec<u32>>,
}

/// The most states a graph may have: each takes memory whether or not a transition mentions it, and a file of 64 MiB
/// cannot reach more.
const MOST_STATES: u32 = 1 << 23;

/// The number of diagnostics after which reading stops.
const MOST_FINDINGS: usize = 200;

/// Reads a graph, or returns the errors in the text.
///
/// ```
/// use wayfarer_lang::{aut, source::Source};
/// let read = aut::read(&Source::new("two.aut", "des (0, 2, 2)\n(0, \"there\", 1)\n(1, back, 0)\n")).unwrap();
/// assert_eq!(read.labels, ["there", "back"]);
/// assert_eq!(read.graph.successors(1), [0]);
/// ```
pub fn read(source: &Source) -> Result<Aut, Diagnostics> {
    let mut findings = Diagnostics::new();
    let mut lines = lines(source.text()).filter(|(_, line)| !line.trim().is_empty());
    let Some((header_at, header_text)) = lines.next() else {
        findings.push(with_form(Diagnostic::error(Span::default(), "the file is empty")));
        return Err(findings);
    };
    let header_span = span(header_at, header_text);
    let header = match header(header_text) {
        Ok(header) => header,
        Err(message) => {
            findings.push(with_form(Diagnostic::error(header_span, message)));
            return Err(findings);
        }
    };
    let mut edges = vec![Vec::new(); header.states as usize];
    let mut labelled = vec![Vec::new(); header.states as usize];
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let mut transitions = 0u64;
    for (at, line) in lines {
        transitions += 1;
        match transition(line, header.states) {
            Ok((from, label, to)) => {
                let next = numbers.len() as u32;
                edges[from as usize].push(to);
                labelled[from as usize].push(*numbers.entry(label).or_insert(next));
            }
            Err(message) => findings.push(Diagnostic::error(span(at, line), message)),
        }
        if findings.len() >= MOST_FINDINGS {
            return Err(findings);
        }
    }
    if transitions != header.transitions {
        let message = format!("the header announces {} transitions, but the file has {transitions}", header.transitions);
        findings.push(Diagnostic::error(header_span, message).with_help(format!("des ({}, {transitions}, {})", header.first, header.states)));
    }
    if findings.has_errors() {
        return Err(findings);
    }
    let mut labels = vec![String::new(); numbers.len()];
    for (label, number) in numbers {
        labels[number as usize] = label.to_string();
    }
    Ok(Aut { graph: Graph::new(edges, vec![header.first]), first: header.first, labels, labelled })
}

struct Header {
    first: u32,
    transitions: u64,
    states: u32,
}

fn header(line: &str) -> Result<Header, String> {
    let inside = line.trim().strip_prefix("des").and_then(|rest| rest.trim().strip_prefix('(')).and_then(|rest| rest.strip_suffix(')'));
    let parts: Vec<&str> = inside.ok_or("this is not the header of an Aldebaran file")?.split(',').map(str::trim).collect();
    let [first, transitions, states] = parts[..] else {
        return Err(format!("the header has three numbers, not {}", parts.len()));
    };
    let number = |text: &str, what: &str| text.parse::<u64>().map_err(|_| format!("`{text}` is not a number of {what}"));
    let (first, transitions, states) = (number(first, "a state")?, number(transitions, "transitions")?, number(states, "states")?);
    if states > u64::from(MOST_STATES) {
        return Err(format!("{states} states are too many; the most is {MOST_STATES}"));
    }
    if first >= states {
        return Err(out_of_range(first, states as u32));
    }
    Ok(Header { first: first as u32, transitions, states: states as u32 })
}

fn transition(line: &str, states: u32) -> Result<(u32, &str, u32), String> {
    let wrong = || "this is not a transition; write (FROM, \"LABEL\", TO)".to_string();
    let inside = line.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).ok_or_else(wrong)?;
    let (from, rest) = inside.split_once(',').ok_or_else(wrong)?;
    let (label, to) = rest.rsplit_once(',').ok_or_else(wrong)?;
    let state = |text: &str| {
        let text = text.trim();
        let number: u64 = text.parse().map_err(|_| format!("`{text}` is not the number of a state"))?;
        if number < u64::from(states) { Ok(number as u32) } else { Err(out_of_range(number, states)) }
    };
    let label = label.trim();
    let label = match label.strip_prefix('"') {
        Some(rest) => rest.strip_suffix('"').ok_or("the label's closing quote is missing")?,
        None => label,
    };
    Ok((state(from)?, label, state(to)?))
}

fn out_of_range(state: u64, states: u32) -> String {
    match states.checked_sub(1) {
        Some(last) => format!("there is no state {state}: the header announces {states}, numbered 0 to {last}"),
        None => "a graph needs at least one state".to_string(),
    }
}

fn with_form(diagnostic: Diagnostic) -> Diagnostic {
    diagnostic.with_help("the first line is des (FIRST STATE, TRANSITIONS, STATES), for example des (0, 2, 3)")
}

/// The lines with the offsets at which they begin.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let here = at;
        at += line.len();
        (here, line)
    })
}

/// The span of a line's text, without surrounding blanks.
fn span(at: usize, line: &str) -> Span {
    let start = at + line.len() - line.trim_start().len();
    Span::new(start as u32, (start + line.trim().len()) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Aut, String> {
        let source = Source::new("t.aut", text);
        read(&source).map_err(|findings| findings.render(&source, false))
    }

    #[test]
    fn labels_may_hold_anything() {
        let text = "\n des(1,4,3) \r\n(1, \"a, (b) \"c\"\", 0)\n\n(1,send(1,2),2)\n(0, i , 0)\n( 2 ,\"\", 1 )";
        let aut = read_text(text).unwrap();
        assert_eq!(aut.labels, ["a, (b) \"c\"", "send(1,2)", "i", ""]);
        assert_eq!((aut.graph.nodes(), aut.graph.successors(1)), (3, &[0, 2][..]));
        assert_eq!(aut.labelled, [vec![2], vec![0, 1], vec![3]]);
    }

    #[test]
    fn what_is_wrong_is_said_at_its_line() {
        for (text, message, place) in [
            ("", "the file is empty", "t.aut:1:1"),
            ("\n  dot (0, 0, 1)\n", "not the header", "t.aut:2:3"),
            ("des (0, 0)\n", "three numbers, not 2", "t.aut:1:1"),
            ("des (0, x, 1)\n", "`x` is not a number of transitions", "t.aut:1:1"),
            ("des (-1, 0, 1)\n", "`-1` is not a number", "t.aut:1:1"),
            ("des (1, 0, 1)\n", "there is no state 1", "t.aut:1:1"),
            ("des (0, 0, 0)\n", "at least one state", "t.aut:1:1"),
            ("des (0, 0, 99999999999)\n", "too many", "t.aut:1:1"),
            ("des (0, 1, 2)\n(0, a, 2)\n", "there is no state 2", "t.aut:2:1"),
            ("des (0, 1, 2)\n(0, \"a, 1)\n", "closing quote", "t.aut:2:1"),
            ("des (0, 1, 2)\n(0, \", 1)\n", "closing quote", "t.aut:2:1"),
            ("des (0, 1, 2)\n0 -> 1\n", "not a transition", "t.aut:2:1"),
            ("des (0, 1, 2)\n(0, 1)\n", "not a transition", "t.aut:2:1"),
            ("des (0, 2, 2)\n(0, a, 1)\n", "announces 2 transitions, but the file has 1", "t.aut:1:1"),
        ] {
            let rendered = read_text(text).unwrap_err();
            assert!(rendered.contains(message) && rendered.contains(place), "{text}: {rendered}");
        }
    }

    #[test]
    fn mangled_text_is_refused_without_a_panic() {
        let text = "des (0, 3, 3)\n(0, \"é, x\", 1)\n(1, b, 2)\n(2, \"c\", 0)\n";
        for cut in (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            let _ = read_text(&text[..cut]);
            let _ = read_text(&text[cut..]);
            let _ = read_text(&format!("{}\"({},\n{}", &text[..cut], cut, &text[cut..]));
        }
    }
}
