//! mCRL2: processes with data, explored without linearising them.

use super::{Language, LoadError, LoadOptions, Opened, refuse_constants, rejected_there};
use crate::sizes::{count, counted};
use crate::subject::{Facts, FaultFacts, Plain, PropertyFacts, Replaying, RuleFacts, Running, Subject, Table, Used, ValueFacts, Words};
use crate::{Kind, Plan, RunError, SymmetryChoice};
use serde_json::json;
use std::sync::Arc;
use wayfarer_algebra::{AlgebraSpace, FUEL, Layout, Place, PlainSpace, System};
use wayfarer_lang::diagnostics::{Diagnostic, Diagnostics};
use wayfarer_lang::mcrl2;
use wayfarer_lang::source::{Source, Span};
use wayfarer_search::Deadlock;
use wayfarer_space::{Fault, Firing, Space, Word};

/// The rule of successful termination.
const TERMINATE: &str = "Terminate";

pub(super) const LANGUAGE: Language = Language { name: "mCRL2", endings: &["mcrl2"], begins, read: open, predicate: None, has_formulas: false };

/// Texts begin with a comment or a section.
fn begins(text: &str) -> bool {
    let first = text.lines().map(str::trim_start).find(|line| !line.is_empty() && !line.starts_with('%'));
    let word = first.and_then(|line| line.split_whitespace().next()).unwrap_or("");
    matches!(word, "sort" | "map" | "act" | "proc" | "init" | "glob" | "cons") || text.trim_start().starts_with('%')
}

fn open(source: &Source, options: &LoadOptions) -> Result<Opened, LoadError> {
    refuse_constants(source, options, "an mCRL2 specification")?;
    if options.find.is_some() {
        let message = format!(
            "`{}` has processes, whose states have no predicates; the option `find-rule` looks for an action: 'name(arguments)'",
            source.name()
        );
        return Err(LoadError::Read(message));
    }
    let (specification, mut diagnostics) = mcrl2::load(source);
    let Some(specification) = specification else { return Err(rejected_there(&diagnostics, source, options.colour)) };
    let system = match System::limited(specification, options.rewrite_limit.unwrap_or(FUEL)) {
        Ok(system) => system,
        Err(wrong) => {
            let mut diagnostic = Diagnostic::error(Span::new(wrong.place.start, wrong.place.end), wrong.message);
            diagnostic.help = wrong.help;
            let mut all = Diagnostics::new();
            all.push(diagnostic);
            diagnostics.extend(all);
            return Err(rejected_there(&diagnostics, source, options.colour));
        }
    };
    let warnings = diagnostics.render(source, options.colour);
    let layout = system.layout();
    Ok(Opened { subject: Arc::new(Processes { source: Arc::new(source.clone()), system: Arc::new(system), layout }), warnings })
}

/// A specification as what a run is about. Wider forms of it share all that was found out about its components.
struct Processes {
    source: Arc<Source>,
    system: Arc<System>,
    layout: Layout,
}

impl Processes {
    fn space(&self) -> AlgebraSpace<'_> {
        AlgebraSpace::new(&self.system, self.layout.clone())
    }

    fn at(&self, place: Place) -> String {
        let position = self.source.position(place.start);
        format!("{}:{}:{}", self.source.name(), position.line, position.column)
    }
}

/// The space of the components. Its tables consist of many small blocks.
struct Exploring<'a>(AlgebraSpace<'a>);

impl Running for Exploring<'_> {
    fn space(&self) -> &dyn Space {
        &self.0
    }

    fn code_bytes(&self) -> usize {
        self.0.system().uncounted_bytes()
    }
}

impl Subject for Processes {
    fn source(&self) -> &str {
        self.source.name()
    }

    fn words(&self) -> &dyn Words {
        self
    }

    fn running<'a>(&'a self, plan: &Plan, _memory: usize) -> Box<dyn Running + 'a> {
        Box::new(Exploring(self.space().looking_for(&plan.find_rules)))
    }

    fn replaying<'a>(&'a self, plan: &Plan) -> Box<dyn Replaying + 'a> {
        Box::new(Plain(PlainSpace::new(self.space().looking_for(&plan.find_rules))))
    }

    fn symmetry<'a>(&'a self, plan: &Plan) -> Result<Used<'a>, RunError> {
        let on = plan.symmetry == SymmetryChoice::On;
        Ok((None, on.then(|| "mCRL2 has no scalarsets, so there is no symmetry to use".to_string())))
    }

    fn rules(&self) -> Vec<RuleFacts> {
        let rule = |rule| RuleFacts { name: self.system.rule_name(rule), at: self.source.name().to_string(), instances: 1 };
        (0..self.system.rule_count()).map(rule).collect()
    }

    fn is_counted(&self, rule: u32) -> bool {
        // Most processes never terminate, and the rule for what is looked for is seldom used.
        rule != self.system.wanted_rule() && self.system.rule_name(rule) != TERMINATE
    }

    fn properties(&self) -> Vec<PropertyFacts> {
        Vec::new()
    }

    fn is_called(&self, rule: u32, name: &str) -> bool {
        // Firings of what is looked for have a rule of their own.
        let name: String = name.split('(').next().unwrap_or("").split_whitespace().collect();
        rule == self.system.wanted_rule() && (0..self.system.rule_count()).any(|rule| self.system.is_label_of(rule, &name))
    }

    fn deadlock(&self) -> Deadlock {
        Deadlock::Stuck
    }

    fn widened(&self, limit: Fault) -> Option<Arc<dyn Subject>> {
        if limit != System::TOO_NARROW {
            return None;
        }
        let layout = self.system.layout().at_least(&self.layout);
        (layout != self.layout).then(|| Arc::new(Processes { source: self.source.clone(), system: self.system.clone(), layout }) as Arc<dyn Subject>)
    }

    fn can_widen(&self) -> bool {
        true
    }

    fn facts(&self) -> Facts {
        let mut facts = Facts::of_rules(self.rules(), self.properties());
        let components = self.system.component_facts();
        facts.summary = format!("{} in parallel", counted(components.len() as u64, "component"));
        let row = |(name, locations, summands): &(String, u64, u64)| vec![name.clone(), count(*locations), count(*summands)];
        let rows = components.iter().map(row).collect();
        facts.tables.insert(0, Table { heading: "components".to_string(), columns: vec!["name", "locations", "summands"], rows });
        let json_row = |(name, locations, summands): &(String, u64, u64)| json!({ "name": name, "locations": locations, "summands": summands });
        facts.json.insert("components".to_string(), components.iter().map(json_row).collect());
        facts
    }
}

impl Words for Processes {
    fn firing(&self, from: Option<&[Word]>, firing: Firing) -> (String, String) {
        let label = from.and_then(|state| self.space().label(state, firing));
        (label.unwrap_or_else(|| self.system.rule_name(firing.rule)), self.source.name().to_string())
    }

    fn start(&self, _number: u32) -> String {
        "init".to_string()
    }

    fn fault(&self, fault: Fault, _plan: &Plan) -> FaultFacts {
        let (message, place) = self.system.explain_fault(fault);
        let fuel = count(self.system.fuel());
        let note = self
            .system
            .is_out_of_fuel(fault)
            .then(|| format!("one evaluation may take {fuel} rewrite steps; the option `rewrite-limit` changes that"));
        let unbounded = "bound its variables by a condition, such as `n < 10`, or give them a sort with finitely many values";
        let note = note.or_else(|| self.system.is_unbounded(fault).then(|| unbounded.to_string()));
        FaultFacts { kind: Kind::Fault, message, at: self.at(place), note }
    }

    fn values(&self, state: &[Word]) -> Vec<ValueFacts> {
        let mut values = Vec::new();
        for component in self.space().show(state) {
            let path = |depth: usize| if depth == 0 { component.component.clone() } else { format!("{}.{}", component.component, depth + 1) };
            if component.frames.is_empty() {
                values.push(ValueFacts { path: path(0), value: "ended".to_string(), defined: true });
            }
            for (depth, frame) in component.frames.iter().enumerate() {
                let line = self.source.position(frame.place.start).line;
                let process = if frame.is_whole { frame.process.clone() } else { format!("{}, line {line}", frame.process) };
                values.push(ValueFacts { path: path(depth), value: process, defined: true });
                let named = frame.variables.iter().map(|(name, value)| ValueFacts {
                    path: format!("{}.{name}", path(depth)),
                    value: value.clone(),
                    defined: true,
                });
                values.extend(named);
            }
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_known_by_how_they_begin() {
        assert!(begins("% a comment\nact a;\ninit a;"));
        assert!(begins("init delta;") && begins("\n sort D = struct d1;"));
        assert!(!begins("var x: boolean;") && !begins("des (0, 0, 1)"));
    }

    #[test]
    fn a_specification_has_rules_and_components() {
        let source = Source::new("t.mcrl2", "act a: Bool; b; init allow({a, b}, (sum x: Bool. a(x)) || b);");
        let opened = open(&source, &LoadOptions::default()).unwrap();
        let names: Vec<String> = opened.subject.rules().into_iter().map(|rule| rule.name).collect();
        assert!(names.starts_with(&["a".to_string(), "b".to_string(), "Terminate".to_string()]), "{names:?}");
        assert!(opened.subject.facts().summary.starts_with("2 components"));
        assert!(wayfarer_space::Space::rules(opened.subject.running(&Plan::default(), 0).space()) == 4);
    }
}
