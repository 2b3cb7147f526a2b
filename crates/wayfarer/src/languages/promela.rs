//! Promela models.

use super::{Language, LoadError, LoadOptions, Opened, rejected_predicate, rejected_there};
use crate::report::Change;
use crate::subject::{FaultFacts, Programmed, Subject, ValueFacts, Words};
use crate::{Kind, Plan};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use wayfarer_ir::passing::Passing;
use wayfarer_ir::{Interpreter, Limits, Program};
use wayfarer_lang::promela::learned::{Learned, Limit};
use wayfarer_lang::promela::lower::{Lowered, RuleOf, lower, lower_telling};
use wayfarer_lang::promela::{self, Model};
use wayfarer_lang::source::Source;
use wayfarer_search::Deadlock;
use wayfarer_space::{Fault, Firing, Word};

pub(super) const LANGUAGE: Language = Language {
    name: "Promela",
    endings: &["pml", "prom", "promela", "spin"],
    begins,
    read: open,
    predicate: Some("an expression of Promela over global variables, such as `x == 3 && P[1]@crit`"),
    has_formulas: false,
};

fn begins(text: &str) -> bool {
    text.contains("proctype ") || (text.contains("init") && (text.contains("::") || text.contains("mtype")))
}

fn open(source: &Source, options: &LoadOptions) -> Result<Opened, LoadError> {
    let folder = Path::new(source.name()).parent().map(Path::to_path_buf).unwrap_or_else(|| PathBuf::from("."));
    let include = |name: &str| super::read_file(&folder.join(name).to_string_lossy()).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let reading = promela::read_finding(source, options.find.as_deref(), &options.constants, &include);
    if reading.condition.has_errors() {
        return Err(rejected_predicate(&reading.condition, options.find.as_deref().unwrap_or_default(), options.colour));
    }
    let Some(model) = reading.model else { return Err(rejected_there(&reading.diagnostics, source, options.colour)) };
    let learned = Learned::look_ahead(&model).map_err(|trouble| LoadError::Read(format!("`{}` cannot begin: {}", source.name(), trouble.words())))?;
    let subject = Compiled::new(Arc::new(model), learned).map_err(|message| LoadError::Read(format!("`{}`: {message}", source.name())))?;
    Ok(Opened { subject: Arc::new(subject), warnings: reading.diagnostics.render(source, options.colour) })
}

/// The variable that says which process goes on alone.
const ALONE: &str = "goes on alone";

/// Of a step with more statements than this, those in the middle are left out.
const MOST_TOLD: usize = 200;

/// A model compiled with what was learned of it so far.
struct Compiled {
    model: Arc<Model>,
    learned: Learned,
    program: Arc<Program>,
    limits: std::collections::HashMap<u32, Limit>,
    rules: Vec<RuleOf>,
    /// The same rules, whose commands print the statements that they execute. Made when the first step is described.
    telling: OnceLock<Option<Arc<Program>>>,
}

impl Compiled {
    fn new(model: Arc<Model>, learned: Learned) -> Result<Self, String> {
        let Lowered { program, limits, rules } = lower(&model, &learned)?;
        Ok(Compiled { program: Arc::new(program), limits, rules, model, learned, telling: OnceLock::new() })
    }
}

impl Programmed for Compiled {
    fn program(&self) -> &Arc<Program> {
        &self.program
    }

    fn words(&self) -> &dyn Words {
        self
    }

    fn deadlock(&self) -> Deadlock {
        Deadlock::Stuck
    }

    fn widened(&self, limit: Fault) -> Option<Arc<dyn Subject>> {
        let limit = self.limits.get(&limit.0)?;
        let mut learned = self.learned.clone();
        if !learned.widen(&self.model, *limit) {
            return None;
        }
        let wider = Compiled::new(self.model.clone(), learned).ok()?;
        Some(Arc::new(wider))
    }

    fn can_widen(&self) -> bool {
        true
    }

    fn is_counted(&self, rule: u32) -> bool {
        self.rules.get(rule as usize).is_none_or(|of| !of.passed)
    }

    fn statements(&self, rule: u32) -> (&[u32], &[u32]) {
        self.rules.get(rule as usize).map_or((&[], &[]), |of| (&of.begins, &of.follow))
    }

    fn unjudged(&self) -> Vec<(Kind, String)> {
        self.model.claims.iter().map(|claim| (Kind::Claim, claim.clone())).collect()
    }

    /// `P`, `P[2]`, `P line 34`, `P[2] line 34`, `line 34`, or the whole name of a rule.
    fn is_called(&self, rule: u32, name: &str) -> bool {
        let Some(of) = self.rules.get(rule as usize) else { return false };
        // A statement inside an atomic sequence happens on the way to a state, where no search sees it: such a name is refused.
        if of.passed && name.contains("line ") {
            return false;
        }
        let called = |slot: usize, ty: usize, line: u32| {
            let ty = &self.model.types[ty].name;
            let (process, at) = match name.split_once("line ") {
                Some((process, at)) => (process.trim(), Some(at.trim())),
                None => (name.trim(), None),
            };
            let is_process = process == ty || process == format!("{ty}[{slot}]") || (process.is_empty() && at.is_some());
            is_process && at.is_none_or(|at| at == line.to_string())
        };
        let partner = of.partner.is_some_and(|(slot, ty, line)| called(slot, ty, line));
        called(of.slot, of.ty, of.line) || partner || self.program.describe_rule(rule) == name
    }
}

impl Words for Compiled {
    fn firing(&self, from: Option<&[Word]>, firing: Firing) -> (String, String) {
        let (name, at) = self.program.firing(from, firing);
        let Some(from) = from else { return (name, at) };
        let telling = self.telling.get_or_init(|| lower_telling(&self.model, &self.learned).ok().map(|lowered| Arc::new(lowered.program)));
        let Some(telling) = telling else { return (name, at) };
        // The statements of an atomic sequence are told one after the other.
        let interpreter = Interpreter::new(telling.clone(), Limits::default());
        let mut told: Vec<String> = Vec::new();
        let mut tell = |interpreter: &Interpreter, from: &[Word], firing: Firing| {
            told.push(telling.describe_rule(firing.rule));
            interpreter.fire_printing(from, firing, &mut Vec::new(), &mut told);
        };
        match self.program.passing {
            None => tell(&interpreter, from, firing),
            Some(field) => {
                let passing = Passing::new(Box::new(interpreter), field);
                let Some(way) = passing.way(from, firing) else { return (name, at) };
                let mut here = from.to_vec();
                for (firing, next) in way {
                    tell(passing.inner(), &here, firing);
                    here = next;
                }
            }
        }
        if told.len() > MOST_TOLD {
            let left_out = told.len() - MOST_TOLD;
            told.splice(MOST_TOLD / 2..MOST_TOLD / 2 + left_out, [format!("({left_out} more statements)")]);
        }
        let mut words: Vec<String> = Vec::new();
        let mut before = String::new();
        for name in told {
            let process = name.split(" line ").next().unwrap_or_default().to_string();
            words.push(match name.strip_prefix(&process) {
                Some(rest) if process == before => rest.trim_start().to_string(),
                _ => name,
            });
            before = process;
        }
        (words.join("; "), at)
    }

    fn start(&self, number: u32) -> String {
        self.program.start(number)
    }

    fn stuck(&self) -> &'static str {
        "invalid end state: no statement is executable"
    }

    fn fault(&self, fault: Fault, plan: &Plan) -> FaultFacts {
        self.program.fault(fault, plan)
    }

    fn values(&self, state: &[Word]) -> Vec<ValueFacts> {
        // Processes that are not there have no variables, and no state is one in which a process goes on alone.
        let mut values = self.program.values(state);
        let gone: Vec<String> = values.iter().filter(|value| value.value == "-").map(|value| format!("{}.", value.path)).collect();
        values.retain(|value| value.path != ALONE && !gone.iter().any(|process| value.path.starts_with(process)));
        values
    }

    fn changes(&self, old: &[Word], new: &[Word]) -> Vec<Change> {
        self.program.changes(old, new)
    }

    fn itf(&self, state: &[Word]) -> Map<String, Value> {
        self.program.itf(state)
    }
}
