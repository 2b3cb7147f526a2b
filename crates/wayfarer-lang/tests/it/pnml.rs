//! Petri nets: what is refused and where, and that everything that is made of a net means the same. The measure is the plain token game on the net without
//! colours, and for colours a plain walk through all bindings.

use expect_test::{Expect, expect};
use std::collections::{BTreeMap, HashMap, VecDeque};
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

/// What is said about a text that is no net.
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

#[test]
fn bad_nets_are_refused_where_they_are_wrong() {
    refused(
        "",
        expect![[r#"
        1:1: this is not well-formed XML: the document does not have a root node
    "#]],
    );
    refused(
        "<pnml><net></pnml>",
        expect![[r#"
        1:12: this is not well-formed XML: expected 'net' tag, not 'pnml'
    "#]],
    );
    refused(
        "<!DOCTYPE x [<!ENTITY a 'b'>]><pnml>&a;</pnml>",
        expect![[r#"
        1:1: this is not well-formed XML: XML with DTD detected
    "#]],
    );
    refused(
        "<html/>",
        expect![[r#"
        1:1: a Petri net begins with the element `pnml`, and this with `html`
    "#]],
    );
    refused(
        "<pnml/>",
        expect![[r#"
        1:1: there is no net in this file
    "#]],
    );
    refused(
        "<pnml><net id='n' type='http://www.pnml.org/version-2009/grammar/hlpnng'/></pnml>",
        expect![[r#"
        1:25: the net type `http://www.pnml.org/version-2009/grammar/hlpnng` is not known
    "#]],
    );
    refused(
        &net("<place id='p'/><place id='p'/>"),
        expect![[r#"
        2:27: `p` is the identifier of two nodes
    "#]],
    );
    refused(
        &net("<place id='p'/><place id='q'/><arc id='a' source='p' target='q'/>"),
        expect![[r#"
        2:31: an arc between two places: it must join a place and a transition
    "#]],
    );
    refused(
        &net("<transition id='t'/><arc id='a' source='p' target='t'/>"),
        expect![[r#"
        2:41: no node is called `p`
    "#]],
    );
    refused(
        &net("<referencePlace id='r' ref='p'/>"),
        expect![[r#"
        2:21: a reference to `p`, and no node is called so
    "#]],
    );
    refused(
        &net("<referencePlace id='r' ref='s'/><referencePlace id='s' ref='r'/><transition id='t'/><arc id='a' source='r' target='t'/>"),
        expect![[r#"
        2:105: the reference `s` refers to itself
    "#]],
    );
    refused(
        &net("<place id='p'><initialMarking><text>-1</text></initialMarking></place>"),
        expect![[r#"
        2:37: -1 is too small: at least 0 is wanted
    "#]],
    );
    let weight = |text: &str| {
        net(&format!("<place id='p'/><transition id='t'/>\n<arc id='a' source='p' target='t'><inscription><text>{text}</text></inscription></arc>"))
    };
    refused(
        &weight("-3"),
        expect![[r#"
        3:54: -3 is too small: at least 1 is wanted
    "#]],
    );
    refused(
        &weight("1000000000000000000"),
        expect![[r#"
        3:54: 1000000000000000000 is too large: at most 2147483647 tokens are supported
    "#]],
    );
    refused(
        &weight("1 000"),
        expect![[r#"
        3:54: a number of tokens is wanted here, and not `1 000`
    "#]],
    );
    for kind in ["inhibitor", "reset"] {
        let text = net(&format!("<place id='p'/><transition id='t'/><arc id='a' source='p' target='t'><type value='{kind}'/></arc>"));
        let (loaded, diagnostics) = pnml::load(&Source::new("net.pnml", text));
        assert!(loaded.is_none());
        assert_eq!(diagnostics.iter().next().map(|found| found.message.clone()), Some(format!("arcs of the kind `{kind}` are not supported")));
    }
    refused(
        &net("<inhibitorArc id='a'/>"),
        expect![[r#"
        2:1: `inhibitorArc` is not part of a net
    "#]],
    );
}

#[test]
fn bad_colours_are_refused_where_they_are_wrong() {
    let place = "<place id='p'><type><structure><usersort declaration='s'/></structure></type></place>";
    refused(
        &coloured("", place),
        expect![[r#"
        2:55: no sort is called `s`
    "#]],
    );
    refused(
        &coloured("<namedsort id='s' name='s'><usersort declaration='s'/></namedsort>", place),
        expect![[r#"
        1:168: no sort is called `s`, or it is defined by itself
        2:55: no sort is called `s`
    "#]],
    );
    refused(
        &coloured("<namedsort id='s' name='s'><finiteintrange start='1' end='99999999999'/></namedsort>", place),
        expect![[r#"
        1:145: a range of 99999999999 values: it must have 1 to 2147483648
        2:55: no sort is called `s`
    "#]],
    );
    let sort = "<namedsort id='s' name='s'><finiteintrange start='1' end='3'/></namedsort>";
    let arc = |term: &str| {
        format!("{place}<transition id='t'/>\n<arc id='a' source='p' target='t'><hlinscription><structure>{term}</structure></hlinscription></arc>")
    };
    refused(
        &coloured(sort, &arc("<variable refvariable='x'/>")),
        expect![[r#"
        3:84: no variable is called `x`
    "#]],
    );
    refused(
        &coloured(sort, &arc("<dotconstant/>")),
        expect![[r#"
        3:61: this has the sort `dot`, and `s` is wanted
    "#]],
    );
    refused(
        &coloured(sort, &arc("<string/>")),
        expect![[r#"
        3:61: `string` is no term of a symmetric net that is supported here
    "#]],
    );
    // Ten variables of a thousand values each, of which no arc says anything.
    let variables: String =
        (0..10).map(|number| format!("<variabledecl id='x{number}' name='x{number}'><usersort declaration='s'/></variabledecl>")).collect();
    let large = format!("<namedsort id='s' name='s'><finiteintrange start='1' end='1000'/></namedsort>{variables}");
    let guard: String = (0..10).map(|number| format!("<subterm><equality><subterm><variable refvariable='x{number}'/></subterm><subterm><variable refvariable='x{number}'/></subterm></equality></subterm>")).collect();
    refused(
        &coloured(&large, &format!("<transition id='t'><condition><structure><and>{guard}</and></structure></condition></transition>")),
        expect![[r#"
        2:1: transition `t`: the variables of `t` have 1.00e30 values together, more than can be tried
    "#]],
    );
}

#[test]
fn deep_and_long_texts_are_refused_or_read_in_time() {
    let deep = format!("{}{}", "<page id='g'>".repeat(100_000), "</page>".repeat(100_000));
    refused(
        &deep,
        expect![[r#"
        1:13001: elements are nested more than 1000 levels deep
    "#]],
    );
    // Many places on one line: positions must not be counted from the beginning for each.
    let places: String = (0..20_000).map(|number| format!("<place id='p{number}'/>")).collect();
    assert_eq!(load(&net(&places)).flat.places.len(), 20_000);
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

/// A random coloured net with one variable per part of its tuples.
fn random_coloured(rng: &mut Rng) -> String {
    let values = 2 + rng.below(3);
    let constants: String = (0..values).map(|value| format!("<feconstant id='c{value}' name='{value}'/>")).collect();
    let mut declarations = format!("<namedsort id='s' name='s'><cyclicenumeration>{constants}</cyclicenumeration></namedsort>");
    declarations
        .push_str("<namedsort id='pair' name='pair'><productsort><usersort declaration='s'/><usersort declaration='s'/></productsort></namedsort>");
    for variable in ["x", "y", "z"] {
        declarations.push_str(&format!("<variabledecl id='{variable}' name='{variable}'><usersort declaration='s'/></variabledecl>"));
    }
    let basic = |rng: &mut Rng| {
        let variable = format!("<variable refvariable='{}'/>", ["x", "y", "z"][rng.below(3) as usize]);
        match rng.below(6) {
            0 => format!("<successor><subterm>{variable}</subterm></successor>"),
            1 => format!("<predecessor><subterm>{variable}</subterm></predecessor>"),
            2 => format!("<useroperator declaration='c{}'/>", rng.below(values)),
            _ => variable,
        }
    };
    let term = |rng: &mut Rng, pair: bool, open: bool| {
        let part = |rng: &mut Rng| match (open, rng.below(4)) {
            (false, 0) => "<all><usersort declaration='s'/></all>".to_string(),
            (false, _) => format!("<useroperator declaration='c{}'/>", rng.below(values)),
            (true, 0) if rng.below(4) == 0 => "<all><usersort declaration='s'/></all>".to_string(),
            (true, _) => basic(rng),
        };
        if pair { format!("<tuple><subterm>{}</subterm><subterm>{}</subterm></tuple>", part(rng), part(rng)) } else { part(rng) }
    };
    let counted = |rng: &mut Rng, term: String| {
        format!("<numberof><subterm><numberconstant value='{}'/></subterm><subterm>{term}</subterm></numberof>", 1 + rng.below(8) / 7)
    };
    let mut body = String::new();
    let places = 2 + rng.below(3);
    let kinds: Vec<bool> = (0..places).map(|_| rng.below(2) == 0).collect();
    for (place, pair) in kinds.iter().enumerate() {
        let inside = term(rng, *pair, false);
        let initial = if rng.below(3) > 0 { counted(rng, inside) } else { String::new() };
        let sort = if *pair { "pair" } else { "s" };
        body.push_str(&format!(
            "<place id='p{place}'><type><structure><usersort declaration='{sort}'/></structure></type><hlinitialMarking><structure>{initial}</structure></hlinitialMarking></place>\n"
        ));
    }
    for transition in 0..1 + rng.below(3) {
        let guard = match rng.below(4) {
            0 => {
                let (left, right) = (basic(rng), basic(rng));
                let op = ["equality", "inequality", "lessthan", "greaterthanorequal"][rng.below(4) as usize];
                format!("<condition><structure><{op}><subterm>{left}</subterm><subterm>{right}</subterm></{op}></structure></condition>")
            }
            _ => String::new(),
        };
        body.push_str(&format!("<transition id='t{transition}'>{guard}</transition>\n"));
        for (number, input) in [true, true, false, false].into_iter().enumerate() {
            if rng.below(4) == 0 {
                continue;
            }
            let place = rng.below(places) as usize;
            let inside = term(rng, kinds[place], true);
            let inscription = counted(rng, inside);
            let (source, target) =
                if input { (format!("p{place}"), format!("t{transition}")) } else { (format!("t{transition}"), format!("p{place}")) };
            body.push_str(&format!(
                "<arc id='a{transition}.{number}' source='{source}' target='{target}'><hlinscription><structure>{inscription}</structure></hlinscription></arc>\n"
            ));
        }
    }
    coloured(&declarations, &body)
}

type Tokens = BTreeMap<(usize, Vec<u32>), u64>;

/// The tokens of an inscription under values of variables.
fn tokens(place: usize, bag: &pnml::Bag, values: &[u32]) -> Tokens {
    let mut all = Tokens::new();
    for (count, colour) in &bag.plus {
        let mut list: Vec<Vec<u32>> = vec![Vec::new()];
        for part in colour {
            let choices: Vec<u32> = match part {
                pnml::Part::Constant(value) => vec![*value],
                pnml::Part::Variable { variable, shift, count, .. } => vec![(values[*variable as usize] + shift) % count],
                pnml::Part::All(count) => (0..*count).collect(),
            };
            list = list.into_iter().flat_map(|colour| choices.iter().map(move |value| [colour.clone(), vec![*value]].concat())).collect();
        }
        list.into_iter().for_each(|colour| *all.entry((place, colour)).or_default() += count);
    }
    all
}

fn sum(arcs: &[(usize, pnml::Bag)], values: &[u32]) -> Tokens {
    let mut all = Tokens::new();
    for (place, bag) in arcs {
        tokens(*place, bag, values).into_iter().for_each(|(token, count)| *all.entry(token).or_default() += count);
    }
    all
}

/// Markings and firings of a coloured net by going through all values of all variables.
fn coloured_game(net: &pnml::Net, most: usize) -> Option<(usize, usize)> {
    let mut initial = Tokens::new();
    for (number, place) in net.places.iter().enumerate() {
        initial.extend(tokens(number, &place.initial, &[]));
    }
    let mut known = HashMap::from([(initial.clone(), ())]);
    let mut open = vec![initial];
    let mut firings = 0;
    while let Some(marking) = open.pop() {
        for transition in &net.transitions {
            let counts: Vec<u32> = transition.variables.iter().map(|variable| net.count(net.variables[*variable].sort)).collect();
            for number in 0..counts.iter().product::<u32>() {
                let mut values = vec![0; net.variables.len()];
                let mut rest = number;
                for (variable, count) in transition.variables.iter().zip(&counts) {
                    values[*variable] = rest % count;
                    rest /= count;
                }
                let taken = sum(&transition.inputs, &values);
                let enabled = transition.guard.holds(&|variable, _| Some(values[variable as usize])) == Some(true)
                    && taken.iter().all(|(token, count)| marking.get(token).is_some_and(|there| there >= count));
                if !enabled {
                    continue;
                }
                firings += 1;
                let mut next = marking.clone();
                taken.into_iter().for_each(|(token, count)| *next.entry(token).or_default() -= count);
                sum(&transition.outputs, &values).into_iter().for_each(|(token, count)| *next.entry(token).or_default() += count);
                next.retain(|_, count| *count > 0);
                if known.insert(next.clone(), ()).is_none() {
                    open.push(next);
                }
            }
        }
        if known.len() > most {
            return None;
        }
    }
    Some((known.len(), firings))
}

#[test]
fn removing_colours_keeps_markings_and_firings() {
    let mut rng = Rng::new(9, "random coloured nets");
    let (mut compared, mut moving) = (0, 0);
    for _ in 0..1_500 {
        let text = random_coloured(&mut rng);
        let loaded = load(&text);
        let Some(expected) = coloured_game(&loaded.flat.net, 300) else { continue };
        let found = token_game(&loaded.flat, 100_000).map(|(markings, firings, _)| (markings, firings));
        assert_eq!(found, Some(expected), "{text}");
        compared += 1;
        moving += usize::from(expected.0 > 1);
    }
    assert!(compared > 700 && moving > 200, "{compared} compared, {moving} with more than one marking");
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

/// Pieces that are put in or left out of damaged nets.
const PIECES: [&str; 24] = [
    "<place id='x'/>",
    "<transition id='x'/>",
    "<arc id='x' source='p' target='t'/>",
    "<page id='y'>",
    "</page>",
    "<subterm>",
    "</subterm>",
    "<tuple>",
    "<all>",
    "<variable refvariable='p'/>",
    "<successor>",
    "<numberof>",
    "<subtract>",
    "value=\"-1\"",
    "value=\"99999999999999999999\"",
    "<dot/>",
    "<text>3</text>",
    "<!--",
    "]]>",
    "&amp;",
    "é",
    "\"",
    ">",
    "",
];

/// `WAYFARER_MUTATIONS` asks for more than every day's number.
#[test]
fn damaged_nets_are_refused_or_run_and_never_panic() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/pnml");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).expect("the nets are there").map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    let texts: Vec<String> = paths.iter().map(|path| std::fs::read_to_string(path).expect("readable")).collect();
    let mut rng = Rng::new(11, "mutations");
    let number = std::env::var("WAYFARER_MUTATIONS").ok().and_then(|number| number.parse().ok()).unwrap_or(3_000);
    let mut loaded = 0;
    for _ in 0..number {
        let mut text = texts[rng.below(texts.len() as u64) as usize].clone();
        for _ in 0..1 + rng.below(3) {
            let place =
                |rng: &mut Rng, text: &str| (0..=rng.below(text.len() as u64) as usize).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            let from = place(&mut rng, &text);
            let to = if rng.below(2) == 0 { from } else { place(&mut rng, &text).clamp(from, (from + 60).min(text.len())) };
            let to = (from..=to).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(from);
            // Whole attribute values and tags are exchanged as well: most other damage is no XML.
            let piece = match rng.below(3) {
                0 => PIECES[rng.below(PIECES.len() as u64) as usize].to_string(),
                1 => {
                    let start = place(&mut rng, &text);
                    let piece: String = text[start..].chars().skip_while(|letter| *letter != '<').take(80).collect();
                    piece.split_inclusive('>').next().unwrap_or("").to_string()
                }
                _ => rng.below(10).to_string(),
            };
            text.replace_range(from..to, &piece);
        }
        let source = Source::new("net.pnml", text.as_str());
        let (net, diagnostics) = pnml::load(&source);
        assert_eq!(net.is_none(), diagnostics.has_errors());
        diagnostics.render(&source, true);
        for found in &diagnostics {
            assert!(found.span.start <= found.span.end && found.span.start as usize <= text.len());
        }
        if let Some(net) = net {
            assert_eq!(verify(&net.lowered.program), vec![]);
            let space = Interpreter::new(net.lowered.program.clone(), Limits::default());
            let mut steps = Steps::new(space.width());
            space.initial(&mut steps);
            loaded += 1;
        }
    }
    assert!(loaded * 20 > number, "{loaded} of {number} are still nets");
}
