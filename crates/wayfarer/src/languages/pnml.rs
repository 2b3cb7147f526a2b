//! Petri nets in PNML, and formulas of the Model Checking Contest about them.

use super::{Language, LoadError, LoadOptions, Opened, refuse_constants, rejected_predicate, rejected_there};
use crate::Plan;
use crate::report::Change;
use crate::sizes::{count, counted};
use crate::subject::{Facts, FaultFacts, Programmed, PropertyFacts, RuleFacts, Subject, Table, ValueFacts, Words};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use wayfarer_ir::{At, Program};
use wayfarer_lang::pnml::{self, Holds, Loaded};
use wayfarer_lang::source::Source;
use wayfarer_search::Deadlock;
use wayfarer_space::{Fault, Firing, PropertyKind, Word};

pub(super) const LANGUAGE: Language = Language {
    name: "PNML",
    endings: &["pnml"],
    begins: |text| {
        let text = text.trim_start();
        text.starts_with('<') && text.chars().take(4096).collect::<String>().contains("<pnml")
    },
    read: open,
    predicate: Some("a condition on tokens: p3 >= 2 and Fork[4] = 0, fireable(eat), deadlock"),
    has_formulas: true,
};

fn open(source: &Source, options: &LoadOptions) -> Result<Opened, LoadError> {
    refuse_constants(source, options, "a Petri net")?;
    let (loaded, diagnostics) = pnml::load(source);
    let Some(mut loaded) = loaded else { return Err(rejected_there(&diagnostics, source, options.colour)) };
    if let Some(text) = &options.find {
        let (formula, findings) = pnml::find(&loaded.flat, text);
        let Some(formula) = formula else { return Err(rejected_predicate(&findings, text, options.colour)) };
        loaded = loaded.asking(vec![formula]);
    }
    let mut formulas = None;
    if let Some(file) = &options.formulas {
        let (read, findings) = pnml::properties(&loaded.flat, file);
        let Some(read) = read else { return Err(rejected_there(&findings, file, options.colour)) };
        formulas = Some(file.name().to_string());
        loaded = loaded.asking(read);
    }
    let warnings = diagnostics.render(source, options.colour);
    let typed = usize::from(options.find.is_some());
    Ok(Opened { subject: Arc::new(Net::new(loaded, formulas, typed)), warnings })
}

/// A net as what a run is about.
struct Net {
    program: Arc<Program>,
    loaded: Loaded,
    /// The file in which formulas were written.
    formulas: Option<String>,
    /// How many of the formulas come before those of the file.
    typed: usize,
}

impl Net {
    fn new(mut loaded: Loaded, formulas: Option<String>, typed: usize) -> Self {
        let program = Arc::new(std::mem::take(&mut loaded.lowered.program));
        Net { program, loaded, formulas, typed }
    }

    fn place(&self, at: At) -> String {
        if at.line == 0 { self.program.source.clone() } else { format!("{}:{}:{}", self.program.source, at.line, at.column) }
    }

    fn family(&self, rule: u32) -> Option<usize> {
        self.loaded.flat.transitions.get(rule as usize).map(|flat| flat.transition)
    }
}

impl Programmed for Net {
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
        let wider = self.loaded.widened(limit, &self.program.source)?;
        Some(Arc::new(Net::new(wider, self.formulas.clone(), self.typed)))
    }

    fn can_widen(&self) -> bool {
        self.loaded.is_guessed()
    }

    fn rules(&self) -> Vec<RuleFacts> {
        let flat = &self.loaded.flat;
        let facts = flat.net.transitions.iter().enumerate().map(|(number, transition)| RuleFacts {
            name: transition.name.clone(),
            at: self.place(transition.at),
            instances: flat.transitions_of(number).len() as u32,
        });
        facts.collect()
    }

    fn properties(&self) -> Vec<PropertyFacts> {
        let facts = self.loaded.formulas.iter().enumerate().map(|(number, formula)| {
            let file = self.formulas.as_ref().filter(|_| number >= self.typed);
            let at = file.map_or_else(String::new, |file| format!("{file}:{}:{}", formula.at.line, formula.at.column));
            let kind = match (file, formula.is_universal) {
                (None, _) => PropertyKind::Reachable,
                (_, false) => PropertyKind::Exists,
                (_, true) => PropertyKind::Forall,
            };
            PropertyFacts { name: formula.name.clone(), at, kind }
        });
        facts.collect()
    }

    fn same_rule(&self, one: Firing, other: Firing) -> bool {
        self.family(one.rule) == self.family(other.rule)
    }

    fn is_called(&self, rule: u32, name: &str) -> bool {
        let Some(family) = self.family(rule) else { return false };
        let transition = &self.loaded.flat.net.transitions[family];
        transition.name == name
            || transition.id == name
            || name.starts_with(&transition.name) && self.loaded.flat.transition_name(rule as usize) == name
    }

    fn facts(&self) -> Facts {
        facts(self)
    }
}

impl Words for Net {
    fn firing(&self, _from: Option<&[Word]>, firing: Firing) -> (String, String) {
        match self.family(firing.rule) {
            Some(family) => (self.loaded.flat.transition_name(firing.rule as usize), self.place(self.loaded.flat.net.transitions[family].at)),
            None => (format!("?{}", firing.rule), String::new()),
        }
    }

    fn start(&self, _number: u32) -> String {
        "initial marking".to_string()
    }

    fn fault(&self, fault: Fault, plan: &Plan) -> FaultFacts {
        self.program.fault(fault, plan)
    }

    /// The places that have tokens.
    fn values(&self, state: &[Word]) -> Vec<ValueFacts> {
        let encoding = &self.loaded.lowered.encoding;
        let marked = (0..encoding.kept.len()).map(|place| (place, encoding.tokens(state, place))).filter(|(_, tokens)| *tokens > 0);
        marked.map(|(place, tokens)| ValueFacts { path: self.loaded.flat.place_name(place), value: tokens.to_string(), defined: true }).collect()
    }

    fn changes(&self, old: &[Word], new: &[Word]) -> Vec<Change> {
        let encoding = &self.loaded.lowered.encoding;
        let both = (0..encoding.kept.len()).map(|place| (place, encoding.tokens(old, place), encoding.tokens(new, place)));
        let changed = both.filter(|(_, from, to)| from != to);
        changed.map(|(place, from, to)| Change { path: self.loaded.flat.place_name(place), from: from.to_string(), to: to.to_string() }).collect()
    }

    /// All places, so that every state of a trace has the same variables.
    fn itf(&self, state: &[Word]) -> Map<String, Value> {
        let marking = self.loaded.lowered.encoding.marking(state);
        let value = |tokens: u64| if tokens >= 1 << 53 { json!({ "#bigint": tokens.to_string() }) } else { json!(tokens) };
        marking.into_iter().enumerate().map(|(place, tokens)| (self.loaded.flat.place_name(place), value(tokens))).collect()
    }
}

/// Places, transitions and how tokens are kept.
fn facts(net: &Net) -> Facts {
    let (flat, lowered, bounds) = (&net.loaded.flat, &net.loaded.lowered, &net.loaded.bounds);
    let mut facts = Facts::of_rules(Programmed::rules(net), Programmed::properties(net));
    let bits = lowered.encoding.bits;
    let guessed = lowered.encoding.fields.iter().filter(|field| matches!(field.holds, Holds::Count { is_proved: false, .. })).count();
    let claimed = bounds.sets.iter().filter(|set| !set.is_proved).map(|set| set.places.len()).sum::<usize>();
    let kind = if flat.net.coloured { "a coloured net" } else { "a place/transition net" };
    let mut summary = format!(
        "{kind} of {} and {}; a marking has {}",
        counted(flat.net.places.len() as u64, "place"),
        counted(flat.net.transitions.len() as u64, "transition"),
        counted(u64::from(bits), "bit")
    );
    if flat.net.coloured {
        let (places, transitions) = (count(flat.places.len() as u64), count(flat.transitions.len() as u64));
        summary.push_str(&format!("; without colours it has {places} places and {transitions} transitions"));
    }
    if guessed > 0 {
        summary.push_str(&format!("; the bounds of {} are guessed", counted(guessed as u64, "place")));
    }
    if claimed > 0 {
        summary.push_str(&format!("; the bounds of {} are claimed by its NUPN section", counted(claimed as u64, "place")));
    }
    facts.summary = summary;
    let place = |number: usize| {
        let place = &flat.net.places[number];
        let range = flat.places_of(number);
        let initial: u64 = flat.initial[range.clone()].iter().sum();
        let most = range.clone().map(|flat| bounds.proved[flat]).try_fold(0, |most: u64, bound| bound.map(|bound| most.max(bound)));
        let most = if range.is_empty() { Some(0) } else { most };
        (place.name.clone(), flat.net.sorts[place.sort.0 as usize].name.clone(), initial, most, net.place(place.at))
    };
    let rows: Vec<_> = (0..flat.net.places.len()).map(place).collect();
    let json_row = |(name, sort, initial, most, at): &(String, String, u64, Option<u64>, String)| json!({ "name": name, "sort": sort, "initial": initial, "bound": most, "at": at });
    facts.json.insert("state_bits".to_string(), json!(bits));
    facts.json.insert("words".to_string(), json!(lowered.encoding.words));
    facts.json.insert("places".to_string(), rows.iter().map(json_row).collect());
    facts.json.insert("unfolded_places".to_string(), json!(flat.places.len()));
    facts.json.insert("unfolded_transitions".to_string(), json!(flat.transitions.len()));
    let table = Table {
        heading: "places".to_string(),
        columns: vec!["name", "sort", "tokens", "at most", "at"],
        rows: rows
            .into_iter()
            .map(|(name, sort, initial, most, at)| vec![name, sort, count(initial), most.map_or_else(|| "?".to_string(), count), at])
            .collect(),
    };
    facts.tables.insert(0, table);
    facts
}
