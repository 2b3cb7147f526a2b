//! Coloured nets against a token game that is played with colours.

use super::{coloured, load, token_game};
use std::collections::{BTreeMap, HashMap};
use wayfarer_lang::pnml;
use wayfarer_space::Rng;

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
