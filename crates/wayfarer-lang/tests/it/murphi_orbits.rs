//! Generated models with scalarsets, explored state by state and orbit by orbit. Those that are reported to respect
//! their scalarsets must have as many orbits as brute force finds among their states, with the same firings, faults
//! and violations.

use std::collections::{BTreeMap, BTreeSet};
use wayfarer_ir::symmetry::brute::{permutations, permute};
use wayfarer_ir::symmetry::{Orbits, Symmetry};
use wayfarer_ir::{Interpreter, Limits};
use wayfarer_lang::murphi::{self, Options};
use wayfarer_lang::source::Source;
use wayfarer_space::{Firing, PropertyBits, Rng, Space, States, Steps, Word};

/// Larger systems are left out.
const MOST: usize = 1_500;

/// Variables that a model may have: their declarations, and the statements that define them for an element `p`, or
/// once.
const VARIABLES: [(&str, &str, &str, &str); 10] = [
    ("s", "array [pid] of st", "s[p] := A;", ""),
    ("d", "array [pid] of 0 .. 1", "d[p] := 0;", ""),
    ("nx", "array [pid] of node", "nx[p] := none;", ""),
    ("g", "array [pid] of array [pid] of boolean", "for q: pid do g[p][q] := false; end;", ""),
    ("v", "array [pid] of val", "for u: val do v[p] := u; end;", ""),
    ("h", "pid", "h := p;", ""),
    ("n", "node", "", "n := none;"),
    ("x", "0 .. 2", "", "x := 0;"),
    ("net", "multiset [2] of msg", "", ""),
    ("sh", "multiset [2] of pid", "", ""),
];

struct Writer<'r> {
    rng: &'r mut Rng,
    has: BTreeSet<&'static str>,
    /// Names of elements that are in scope.
    pids: Vec<&'static str>,
}

impl Writer<'_> {
    fn below(&mut self, bound: usize) -> usize {
        self.rng.below(bound as u64) as usize
    }

    fn pid(&mut self) -> &'static str {
        let number = self.below(self.pids.len());
        self.pids[number]
    }

    /// One of the texts whose variable the model has; the first is for all models.
    fn one_of(&mut self, choices: Vec<(&'static str, String)>) -> String {
        let fitting: Vec<String> = choices.into_iter().filter(|(name, _)| name.is_empty() || self.has.contains(name)).map(|(_, text)| text).collect();
        let number = self.below(fitting.len());
        fitting[number].clone()
    }

    fn condition(&mut self, depth: u32) -> String {
        let (p, q) = (self.pid(), self.pid());
        let mut choices = vec![
            ("", format!("{p} != {q}")),
            ("s", format!("s[{p}] = A")),
            ("d", format!("d[{p}] = 0")),
            ("nx", format!("nx[{p}] = {q}")),
            ("nx", format!("nx[{p}] = none")),
            ("g", format!("g[{p}][{q}]")),
            ("v", format!("v[{p}] = v[{q}]")),
            ("h", format!("h = {p}")),
            ("n", format!("n = {p}")),
            ("x", "x = 0".to_string()),
            ("net", format!("multisetcount(m: net, net[m].src = {p}) = 0")),
            ("sh", format!("multisetcount(m: sh, sh[m] = {p}) = 0")),
        ];
        if depth > 0 {
            let (one, other) = (self.condition(depth - 1), self.condition(depth - 1));
            choices.push(("", format!("!({one})")));
            choices.push(("", format!("({one} & {other})")));
            self.pids.push("r");
            let inner = self.condition(depth - 1);
            self.pids.pop();
            choices.push(("", format!("(forall r: pid do {inner} end)")));
            choices.push(("", format!("(exists r: pid do {inner} end)")));
        }
        self.one_of(choices)
    }

    fn statement(&mut self, depth: u32) -> String {
        let (p, q) = (self.pid(), self.pid());
        let condition = self.condition(1);
        let mut choices = vec![
            ("s", format!("s[{p}] := A;")),
            ("s", format!("s[{p}] := B;")),
            ("d", format!("d[{p}] := 1 - d[{q}];")),
            ("nx", format!("nx[{p}] := {q};")),
            ("nx", format!("nx[{p}] := nx[{q}];")),
            ("nx", format!("undefine nx[{p}];")),
            ("g", format!("g[{p}][{q}] := {condition};")),
            ("g", format!("g[{p}][{q}] := g[{q}][{p}];")),
            ("v", format!("v[{p}] := u;")),
            ("h", format!("h := {p};")),
            ("n", format!("n := {p};")),
            ("n", "n := none;".to_string()),
            ("x", "x := (x + 1) % 3;".to_string()),
            ("net", format!("if multisetcount(m: net, true) < 2 then k.src := {p}; k.dst := {q}; multisetadd(k, net); end;")),
            ("net", format!("multisetremovepred(m: net, net[m].src = {p});")),
            ("sh", format!("multisetremovepred(m: sh, sh[m] = {p});")),
            ("sh", format!("if multisetcount(m: sh, sh[m] = {p}) = 0 then multisetadd({p}, sh); end;")),
        ];
        if depth > 0 {
            let (one, other) = (self.statement(depth - 1), self.statement(depth - 1));
            choices.push(("", format!("if {condition} then {one} else {other} end;")));
            self.pids.push("r");
            let inner = self.statement(depth - 1);
            self.pids.pop();
            choices.push(("", format!("for r: pid do {inner} end;")));
            choices.push(("", format!("for r: pid do {inner} end;")));
        }
        self.one_of(choices)
    }
}

fn model(rng: &mut Rng) -> String {
    let count = 2 + rng.below(3);
    let mut has = BTreeSet::new();
    while has.len() < 3 {
        has.insert(VARIABLES[rng.below(VARIABLES.len() as u64) as usize].0);
    }
    let mut text = format!(
        "type pid: scalarset({count}); val: scalarset(2); other: enum {{ none }}; node: union {{ pid, other }}; st: enum {{ A, B }}; \
        msg: record src, dst: pid; end;\n"
    );
    let mut writer = Writer { rng, has, pids: vec!["p", "q"] };
    let chosen: Vec<_> = VARIABLES.iter().filter(|(name, ..)| writer.has.contains(name)).collect();
    chosen.iter().for_each(|(name, ty, ..)| text.push_str(&format!("var {name}: {ty};\n")));
    let each: String = chosen.iter().map(|(_, _, each, _)| *each).collect();
    let once: String = chosen.iter().map(|(_, _, _, once)| *once).collect();
    text.push_str(&format!("startstate for p: pid do {each} end; {once} end;\nruleset p: pid; q: pid; u: val do\n"));
    for _ in 0..1 + writer.below(3) {
        let guard = writer.condition(1);
        let body: String = (0..1 + writer.below(2)).map(|_| writer.statement(2)).collect();
        text.push_str(&format!("rule {guard} ==> var k: msg; begin {body} end;\n"));
    }
    let property = writer.condition(1);
    text.push_str(&format!("invariant {property};\nend;\n"));
    text
}

/// All states of a space with the facts about each: steps, faults, failed properties; `None` if there are too many.
fn explore(space: &dyn Space) -> Option<BTreeMap<Vec<Word>, (usize, usize, bool)>> {
    let mut found = BTreeMap::new();
    let mut steps = Steps::new(space.width());
    space.initial(&mut steps);
    let mut waiting: Vec<Vec<Word>> = steps.states.iter().map(<[Word]>::to_vec).collect();
    let mut batch = States::new(space.width());
    while let Some(state) = waiting.pop() {
        if found.contains_key(&state) {
            continue;
        }
        batch.clear();
        batch.push(&state);
        space.expand(&batch, Firing::of(0), &mut steps);
        let mut bits = PropertyBits::default();
        let judged = space.check(&state, &mut bits).is_err() || bits.contains(0);
        waiting.extend(steps.states.iter().filter(|next| !found.contains_key(*next)).map(<[Word]>::to_vec));
        found.insert(state, (steps.len(), steps.faults.len(), judged));
        if found.len() > MOST {
            return None;
        }
    }
    Some(found)
}

#[test]
fn models_have_as_many_orbits_as_brute_force_finds() {
    let (mut compared, mut refused, mut reduced) = (0, 0, 0);
    for seed in 0..600 {
        let text = model(&mut Rng::new(seed, "orbits"));
        let source = Source::new("m", text.as_str());
        let (program, diagnostics) = murphi::load(&source, &Options::default());
        let program = program.unwrap_or_else(|| panic!("seed {seed}: {}", diagnostics.render(&source, false)));
        if !program.asymmetries.is_empty() {
            refused += 1;
            continue;
        }
        let Ok(Some(symmetry)) = Symmetry::of(&program) else { continue };
        let space = Interpreter::new(program, Limits::default());
        let Some(states) = explore(&space) else { continue };
        let program = space.program();
        let all = permutations(program);
        let least = |state: &[Word]| all.iter().map(|by| permute(program, state, by)).min().unwrap_or_default();
        let mut orbits = BTreeMap::new();
        for (state, facts) in &states {
            assert_eq!(orbits.entry(least(state)).or_insert(*facts), facts, "seed {seed}: members of an orbit differ\n{text}");
        }
        let wrapped = Orbits::new(&space, &symmetry);
        let representatives = explore(&wrapped).unwrap_or_default();
        let found: BTreeMap<Vec<Word>, _> = representatives.iter().map(|(state, facts)| (least(state), *facts)).collect();
        assert_eq!(representatives.len(), orbits.len(), "seed {seed}: {} states\n{text}", states.len());
        assert_eq!(found, orbits, "seed {seed}\n{text}");
        compared += 1;
        reduced += usize::from(orbits.len() < states.len());
    }
    println!("{compared} compared, {reduced} of them reduced, {refused} tell elements apart");
    assert!(compared >= 200 && reduced >= 150 && refused >= 50, "{compared} compared, {reduced} reduced, {refused} refused");
}
