//! Petri nets: what is refused and where, and that everything that is made of a net means the same. The measure is the plain token game on the net without
//! colours, and for colours a plain walk through all bindings.

mod bad;
mod colours;

use expect_test::Expect;
use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use wayfarer_ir::{Interpreter, Limits, verify};
use wayfarer_lang::pnml::{self, Flat, Loaded};
use wayfarer_lang::source::Source;
use wayfarer_space::{Firing, Rng, Space, States, Steps};

/// A place/transition net around some elements.
fn net(body: &str) -> String {
    format!("<pnml><net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"g\">\n{body}\n</page></net></pnml>")
}

/// A coloured net with some declarations and elements.
fn coloured(declarations: &str, body: &str) -> String {
    let declaration = format!("<declaration><structure><declarations>{declarations}</declarations></structure></declaration>");
    format!(
        "<pnml><net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/symmetricnet\">{declaration}<page id=\"g\">\n{body}\n</page></net></pnml>"
    )
}

fn load(text: &str) -> Loaded {
    let source = Source::new("net.pnml", text);
    let (loaded, diagnostics) = pnml::load(&source);
    assert!(!diagnostics.has_errors(), "{}\n{text}", diagnostics.render(&source, false));
    loaded.expect("a net without errors")
}

/// The message about a text that is no net.
fn refused(text: &str, expected: Expect) {
    let source = Source::new("net.pnml", text);
    let (loaded, diagnostics) = pnml::load(&source);
    assert!(loaded.is_none() && diagnostics.has_errors());
    let lines: Vec<String> = diagnostics
        .iter()
        .map(|found| {
            let at = source.position(found.span.start);
            format!("{}:{}: {}\n", at.line, at.column, found.message)
        })
        .collect();
    expected.assert_eq(&lines.concat());
}

/// All markings and firings, by the plain token game.
fn token_game(flat: &Flat, most: usize) -> Option<(usize, usize, HashMap<Vec<u64>, usize>)> {
    let mut known = HashMap::from([(flat.initial.clone(), 0)]);
    let mut open = VecDeque::from([flat.initial.clone()]);
    let mut firings = 0;
    while let Some(marking) = open.pop_front() {
        for transition in flat.transitions.iter().filter(|transition| transition.is_enabled(&marking)) {
            firings += 1;
            let mut next = marking.clone();
            transition.inputs.iter().for_each(|(place, count)| next[*place as usize] -= count);
            transition.outputs.iter().for_each(|(place, count)| next[*place as usize] += count);
            let number = known.len();
            if let std::collections::hash_map::Entry::Vacant(place) = known.entry(next.clone()) {
                place.insert(number);
                open.push_back(next);
            }
        }
        if known.len() > most {
            return None;
        }
    }
    Some((known.len(), firings, known))
}

/// Explores the program of a net by interpretation, widening where a guess was wrong, and compares every marking with the token game.
fn agrees_with_token_game(mut loaded: Loaded, most: usize) -> Option<(usize, usize)> {
    let (markings, firings, known) = token_game(&loaded.flat, most)?;
    'again: loop {
        assert_eq!(verify(&loaded.lowered.program), vec![], "the program of a net is a verified one");
        let space = Interpreter::new(loaded.lowered.program.clone(), Limits::default());
        let mut steps = Steps::new(space.width());
        space.initial(&mut steps);
        let mut found = HashMap::from([(steps.states.get(0).to_vec(), ())]);
        let mut open = vec![steps.states.get(0).to_vec()];
        let mut fired = 0;
        while let Some(state) = open.pop() {
            assert!(known.contains_key(&loaded.lowered.encoding.marking(&state)), "a marking that the token game does not reach");
            let mut batch = States::new(space.width());
            batch.push(&state);
            space.expand(&batch, Firing::of(0), &mut steps);
            if let Some(fault) = steps.faults.first() {
                loaded = loaded.widened(fault.fault, "net.pnml").expect("more room");
                continue 'again;
            }
            fired += steps.len();
            for index in 0..steps.len() {
                let next = steps.states.get(index).to_vec();
                if found.insert(next.clone(), ()).is_none() {
                    open.push(next);
                }
            }
        }
        assert_eq!((found.len(), fired), (markings, firings));
        return Some((markings, firings));
    }
}

#[test]
fn our_nets_give_what_their_headers_say() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/pnml");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the nets are there") {
        let path = entry.expect("readable").path();
        let text = std::fs::read_to_string(&path).expect("readable");
        let number =
            |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<usize>().ok()).expect("a number in the header");
        let found = agrees_with_token_game(load(&text), usize::MAX);
        assert_eq!(found, Some((number("states:"), number("rules:"))), "{}", path.display());
        count += 1;
    }
    assert_eq!(count, 6);
}

/// A random place/transition net of a few places.
fn random_net(rng: &mut Rng) -> String {
    let (places, transitions) = (2 + rng.below(6), 1 + rng.below(7));
    let mut body = String::new();
    for place in 0..places {
        let tokens = if rng.below(2) == 0 { rng.below(3) } else { 0 };
        body.push_str(&format!("<place id='p{place}'><initialMarking><text>{tokens}</text></initialMarking></place>\n"));
    }
    let mut arcs = 0;
    for transition in 0..transitions {
        body.push_str(&format!("<transition id='t{transition}'/>\n"));
        // Mostly as many tokens go in as come out, so that many nets are bounded.
        let balance = 1 + rng.below(3);
        for input in [true, false] {
            let ends = if rng.below(8) == 0 { rng.below(4) } else { balance };
            for _ in 0..ends {
                let place = rng.below(places);
                let (source, target) =
                    if input { (format!("p{place}"), format!("t{transition}")) } else { (format!("t{transition}"), format!("p{place}")) };
                let weight = if rng.below(12) == 0 { 2 } else { 1 };
                body.push_str(&format!(
                    "<arc id='a{arcs}' source='{source}' target='{target}'><inscription><text>{weight}</text></inscription></arc>\n"
                ));
                arcs += 1;
            }
        }
    }
    // Claims, some of which are false.
    if rng.below(3) == 0 {
        let unit = |number: u64| format!("<unit id='u{number}'><places>p{number} p{}</places><subunits/></unit>", number + 1);
        body.push_str(&format!(
            "<toolspecific tool='nupn' version='1.1'><structure units='1' root='u0' safe='true'>{}</structure></toolspecific>\n",
            unit(0)
        ));
    }
    net(&body)
}

#[test]
fn programs_of_random_nets_play_the_token_game() {
    let mut rng = Rng::new(7, "random nets");
    let (mut compared, mut widened) = (0, 0);
    for _ in 0..1_500 {
        let text = random_net(&mut rng);
        let loaded = load(&text);
        widened += usize::from(loaded.is_guessed());
        compared += usize::from(agrees_with_token_game(loaded, 3_000).is_some());
    }
    assert!(compared > 800 && widened > 100, "{compared} compared, {widened} with guesses");
}

#[test]
fn invariants_hold_and_bounds_bound_in_random_nets() {
    let mut rng = Rng::new(8, "random nets");
    let mut flows = 0;
    for _ in 0..1_000 {
        let loaded = load(&random_net(&mut rng));
        let flat = &loaded.flat;
        let found: Vec<_> = [false, true].into_iter().flat_map(|decreasing| pnml::semiflows(flat, decreasing)).collect();
        flows += found.len();
        for flow in &found {
            for transition in &flat.transitions {
                let weight = |side: &[(u32, u64)]| -> u64 {
                    side.iter()
                        .map(|(place, count)| count * flow.weights.iter().find(|(other, _)| other == place).map_or(0, |(_, weight)| *weight))
                        .sum()
                };
                let (taken, put) = (weight(&transition.inputs), weight(&transition.outputs));
                assert!(if flow.is_kept { taken == put } else { put <= taken }, "{flow:?} {transition:?}");
            }
        }
        let Some((_, _, markings)) = token_game(flat, 3_000) else { continue };
        for marking in markings.keys() {
            for (tokens, bound) in marking.iter().zip(&loaded.bounds.proved) {
                assert!(bound.is_none_or(|bound| *tokens <= bound));
            }
            for set in loaded.bounds.sets.iter().filter(|set| set.is_proved) {
                let tokens: u64 = set.places.iter().map(|place| marking[*place as usize]).sum();
                assert!(if set.can_be_empty { tokens <= 1 } else { tokens == 1 });
            }
        }
    }
    assert!(flows > 1_000, "{flows}");
}

#[test]
fn conditions_on_markings_mean_the_same_in_the_program() {
    let mut rng = Rng::new(10, "conditions");
    let mut judged = [0, 0];
    for _ in 0..400 {
        let loaded = load(&random_net(&mut rng));
        let places = loaded.flat.places.len() as u64;
        let condition = |rng: &mut Rng| match rng.below(5) {
            0 => format!("fireable(t{})", rng.below(loaded.flat.transitions.len() as u64)),
            1 => "deadlock".to_string(),
            _ => {
                let sign = ["<", "<=", "=", "!=", ">=", ">"][rng.below(6) as usize];
                format!("p{} + p{} {sign} p{} + {}", rng.below(places), rng.below(places), rng.below(places), rng.below(3))
            }
        };
        let text = format!("not ({} or {}) and ({} or not {})", condition(&mut rng), condition(&mut rng), condition(&mut rng), condition(&mut rng));
        let (formula, diagnostics) = pnml::find(&loaded.flat, &text);
        let formula = formula.unwrap_or_else(|| panic!("{text}: {:?}", diagnostics.iter().collect::<Vec<_>>()));
        let Some((_, _, markings)) = token_game(&loaded.flat, 300) else { continue };
        let asking = loaded.asking(vec![formula.clone()]);
        let space = Interpreter::new(asking.lowered.program.clone(), Limits::default());
        let mut steps = Steps::new(space.width());
        space.initial(&mut steps);
        let (mut open, mut known) = (vec![steps.states.get(0).to_vec()], HashMap::new());
        while let Some(state) = open.pop() {
            if known.insert(state.clone(), ()).is_some() {
                continue;
            }
            let marking = asking.lowered.encoding.marking(&state);
            assert!(markings.contains_key(&marking));
            let mut bits = wayfarer_space::PropertyBits::default();
            space.check(&state, &mut bits).expect("no fault");
            let holds = formula.condition.holds(&asking.flat, &marking);
            assert_eq!(bits.contains(0), holds, "{text} in {marking:?}");
            judged[usize::from(holds)] += 1;
            let mut batch = States::new(space.width());
            batch.push(&state);
            space.expand(&batch, Firing::of(0), &mut steps);
            open.extend((0..steps.len()).map(|index| steps.states.get(index).to_vec()));
        }
    }
    assert!(judged.iter().all(|count| *count > 300), "{judged:?}");
}

#[test]
fn conditions_that_say_nothing_are_refused() {
    let loaded = load(&net("<place id='p'/><place id='q-1'/><transition id='t'/>"));
    let message = |text: &str| {
        let (formula, diagnostics) = pnml::find(&loaded.flat, text);
        assert!(formula.is_none(), "{text}");
        diagnostics.iter().map(|found| format!("{}: {}", found.span.start, found.message)).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(message("p"), "1: a comparison is wanted here");
    assert_eq!(message("r = 1"), "0: no place is called `r`");
    assert_eq!(message("p = "), "4: a place or a number is wanted here");
    assert_eq!(message("p = 1 q-1 = 2"), "6: the condition ended before this");
    assert_eq!(message("fireable(u)"), "9: no transition is called `u`");
    assert_eq!(message("p[1] = 1"), "2: `1` is no value of the sort `dot`");
    assert_eq!(message("p = ~"), "4: `~` has no meaning here");
    assert_eq!(message("'p = 1"), "0: this name has no closing quote");
    assert_eq!(message(&"(".repeat(10_000)), "200: conditions are nested more than 200 levels deep");
    assert!(pnml::find(&loaded.flat, "('q-1' + 2) >= p and ((p < 1) or not (q-1 = 0))").0.is_some());
}
