//! The header of a model file, and its comparison with a report.

use wayfarer::Report;
use wayfarer::ir::{FaultKind, Program};
use wayfarer::search::Ending;

/// The header of a model: `-- name: value` lines up to the first that is not one.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub(crate) verdict: String,
    /// A kind, and a name or sort of fault if one is given.
    pub(crate) violation: Option<(String, Option<String>)>,
    pub(crate) states: Option<u64>,
    pub(crate) rules: Option<u64>,
    /// States up to symmetry.
    pub(crate) orbits: Option<u64>,
    pub(crate) witness: Option<usize>,
    /// Other values of constants, each with the expected results.
    pub(crate) with: Vec<(Vec<(String, String)>, Header)>,
}

impl Header {
    pub(crate) fn read(text: &str) -> Header {
        let lines = text.lines().map_while(|line| line.strip_prefix("-- ")?.split_once(": "));
        let field = |name: &str| lines.clone().find(|(found, _)| *found == name).map(|(_, value)| value.trim().to_string());
        let number = |name: &str| field(name).map(|value| value.parse::<u64>().unwrap_or_else(|_| panic!("`{name}: {value}` is no number")));
        let violation = field("violation").map(|value| match value.split_once(' ') {
            Some((kind, rest)) => (kind.to_string(), Some(rest.trim_matches('"').to_string())),
            None => (value, None),
        });
        let mut header = Header {
            verdict: field("verdict").expect("a model's header gives its verdict"),
            violation,
            states: number("states"),
            rules: number("rules"),
            orbits: number("orbits"),
            witness: number("witness").map(|length| length as usize),
            with: Vec::new(),
        };
        header.with = lines.filter(|(name, _)| *name == "with").map(|(_, value)| header.other(value)).collect();
        header
    }

    /// A line such as `Size=4 states=62 rules=110`: constants, and their results.
    fn other(&self, line: &str) -> (Vec<(String, String)>, Header) {
        let mut constants = Vec::new();
        let mut other = Header { states: None, rules: None, orbits: None, witness: None, ..self.clone() };
        for (name, value) in line.split_whitespace().map(|word| word.split_once('=').unwrap_or_else(|| panic!("`{word}` lacks its value"))) {
            let number = || value.parse::<u64>().unwrap_or_else(|_| panic!("`{name}={value}` is no number"));
            match name {
                "verdict" => (other.verdict, other.violation) = (value.to_string(), None),
                "states" => other.states = Some(number()),
                "rules" => other.rules = Some(number()),
                "witness" => other.witness = Some(number() as usize),
                _ => constants.push((name.to_string(), value.to_string())),
            }
        }
        (constants, other)
    }

    /// All differences between a report and the header, one line each. The length of a witness is compared only if it
    /// is a shortest one, and counts only if the run was complete.
    pub(crate) fn differences(&self, report: &Report, program: &Program, shortest: bool) -> Vec<String> {
        let mut differences = Vec::new();
        let mut expect = |what: &str, expected: &str, found: &str| {
            if expected != found {
                differences.push(format!("{what}: expected {expected}, found {found}"));
            }
        };
        expect("verdict", &self.verdict, report.verdict.word());
        let found = report.violations.first();
        if let Some((kind, name)) = &self.violation {
            expect("violation", kind, found.map_or("none", |violation| violation.kind.word()));
            if let (Some(name), Some(violation)) = (name, found) {
                let sort = violation.witness.as_ref().and_then(|witness| fault_word(&witness.raw.ending, program));
                expect("violation", name, if kind == "fault" { sort.unwrap_or("no fault") } else { &violation.name });
            }
        }
        let length = found.and_then(|violation| violation.witness.as_ref()).map(|witness| witness.length);
        if shortest && self.witness.is_some() {
            expect("witness", &format!("{:?}", self.witness), &format!("{length:?}"));
        }
        if self.verdict == "holds" {
            expect("states", &self.states.map_or(String::new(), |states| states.to_string()), &report.states.to_string());
        }
        if let Some(rules) = self.rules {
            expect("rules", &rules.to_string(), &report.rules_fired.to_string());
        }
        differences
    }
}

/// The word for the sort of fault at the end of a witness.
fn fault_word(ending: &Ending, program: &Program) -> Option<&'static str> {
    let (Ending::Fault(_, fault) | Ending::PropertyFault(_, fault) | Ending::Start(fault)) = ending else { return None };
    let kind = program.faults[fault.0 as usize].kind;
    FaultKind::ALL.iter().find(|(other, _)| *other == kind).map(|(_, word)| *word)
}
