//! Representatives against brute force: all permutations, applied by walking the types.

use std::collections::BTreeSet;
use wayfarer_ir::symmetry::brute::{permutations, permute};
use wayfarer_ir::symmetry::{Scratch, Symmetry};
use wayfarer_ir::{Elements, Names, Program, Scalar, Type, TypeId, Variable, layout, text, verify};
use wayfarer_space::{Rng, Word};

fn store(words: &mut [Word], bit: usize, value: u64) {
    words[bit / 64] |= value << (bit % 64);
}

/// A program without rules: scalarsets, unions of them and plain values, and variables built of these in every way.
fn random_program(rng: &mut Rng) -> Program {
    let mut program = Program::default();
    let mut below = |bound: usize| rng.below(bound as u64) as usize;
    let sets: Vec<u64> = (0..1 + below(2)).map(|number| if number == 0 { 2 + below(3) as u64 } else { 1 + below(3) as u64 }).collect();
    let scalar = |count: u64, undefinable: bool, elements: Vec<Elements>| {
        Type::Scalar(Scalar { elements, ..layout::scalar(None, 0, count, undefinable, Names::Numbers) })
    };
    for (set, count) in sets.iter().enumerate() {
        program.types.push(scalar(*count, below(4) > 0, vec![Elements { set: set as u32, first: 0, count: *count }]));
    }
    // A union: some plain values, the first set, some plain values, and perhaps another set.
    let (before, between) = (below(2) as u64, below(3) as u64);
    let mut parts = vec![Elements { set: 0, first: before, count: sets[0] }];
    let mut end = before + sets[0] + between;
    if sets.len() > 1 {
        parts.push(Elements { set: 1, first: end, count: sets[1] });
        end += sets[1];
    }
    program.types.push(scalar(end, true, parts));
    program.types.push(scalar(2, true, Vec::new()));
    program.types.push(scalar(1 << 20, false, Vec::new()));
    let scalars = program.types.len();
    for _ in 0..3 + below(4) {
        let types = &program.types;
        let element = TypeId(below(types.len()) as u32);
        let made = match below(4) {
            0 => {
                let fields = (0..1 + below(3)).map(|number| (format!("f{number}"), TypeId(below(types.len()) as u32)));
                layout::record(types, fields.collect())
            }
            1 => layout::bag(types, element, 1 + below(3) as u32),
            _ => layout::array(types, TypeId(below(scalars - 1) as u32), element),
        };
        program.types.extend(made.filter(|ty| ty.bits() <= 64 * 24));
    }
    let types: Vec<TypeId> = (0..1 + below(4)).map(|_| TypeId((program.types.len() - 1 - below(5)) as u32)).collect();
    let sizes: Vec<u32> = types.iter().map(|ty| program.types[ty.0 as usize].bits()).collect();
    let (offsets, bits) = layout::arrange(&sizes).unwrap_or_default();
    for (number, (ty, offset)) in types.into_iter().zip(offsets).enumerate() {
        program.variables.push(Variable { name: format!("x{number}"), ty, offset, at: Default::default() });
    }
    program.words = bits.div_ceil(64);
    program
}

/// Fills an object with values; `spread` of 100 are not the smallest or undefined.
fn fill(program: &Program, ty: TypeId, state: &mut [Word], bit: usize, spread: u64, rng: &mut Rng) {
    match &program.types[ty.0 as usize] {
        Type::Scalar(scalar) => {
            let values = scalar.count + u64::from(scalar.undefinable);
            let value = if rng.below(100) < spread { rng.below(values.min(if scalar.elements.is_empty() { 3 } else { values })) } else { 0 };
            store(state, bit, value);
        }
        Type::Record { fields, .. } => fields.iter().for_each(|field| fill(program, field.ty, state, bit + field.offset as usize, spread, rng)),
        Type::Array { element, stride, count, .. } => {
            (0..*count as usize).for_each(|part| fill(program, *element, state, bit + part * *stride as usize, spread, rng));
        }
        Type::Bag { element, stride, capacity, element_at, .. } => {
            for slot in (0..*capacity as usize).map(|slot| bit + slot * *stride as usize) {
                if rng.below(100) < spread {
                    store(state, slot, 1);
                    fill(program, *element, state, slot + *element_at as usize, spread, rng);
                }
            }
        }
    }
}

/// Compares the representative of a state, whose bags are sorted, with all members of its orbit. Returns whether
/// there are several.
fn compare_with_orbit(program: &Program, state: &[Word], scratch: &mut Scratch) -> bool {
    let Ok(Some(symmetry)) = Symmetry::of(program) else { panic!("no symmetry") };
    symmetry.fit(scratch);
    let orbit: Vec<Vec<Word>> = permutations(program).iter().map(|by| permute(program, state, by)).collect();
    let mut representative = state.to_vec();
    symmetry.canonicalise(&mut representative, scratch);
    assert!(orbit.contains(&representative), "not in the orbit\n{}", program.listing(state));
    for member in &orbit {
        let mut own = member.clone();
        let moved = symmetry.canonicalise(&mut own, scratch);
        assert_eq!(moved, own != *member);
        assert_eq!(own, representative, "two representatives\n{}\n{}", program.listing(state), text::print(program));
    }
    orbit.iter().any(|member| member != state)
}

#[test]
fn representatives_are_one_for_each_orbit() {
    let mut rng = Rng::new(1, "symmetry");
    let (mut nontrivial, mut scratch) = (0, Scratch::default());
    for round in 0..3_000 {
        let program = random_program(&mut rng);
        assert!(verify(&program).is_empty(), "round {round}: {:?}", verify(&program));
        assert_eq!(text::read(&text::print(&program)).as_ref(), Ok(&program), "round {round}");
        if !matches!(Symmetry::of(&program), Ok(Some(_))) {
            continue;
        }
        let identity = &permutations(&program)[0];
        for spread in [20, 50, 90] {
            let mut state = vec![0; program.words as usize];
            program.variables.iter().for_each(|variable| fill(&program, variable.ty, &mut state, variable.offset as usize, spread, &mut rng));
            // The identity sorts the bags.
            let state = permute(&program, &state, identity);
            nontrivial += usize::from(compare_with_orbit(&program, &state, &mut scratch));
        }
    }
    assert!(nontrivial > 4_000, "{nontrivial}");
}

/// States full of references, in which many elements look alike.
#[test]
fn regular_structures_have_one_representative() {
    let plain = || Type::Scalar(layout::scalar(None, 0, 2, false, Names::Numbers));
    let mut types = vec![set_of(4), plain()];
    let mut add = |make: &dyn Fn(&[Type]) -> Option<Type>| {
        let made = make(&types).unwrap();
        types.push(made);
        TypeId(types.len() as u32 - 1)
    };
    let (set, bit) = (TypeId(0), TypeId(1));
    let pair = add(&|types| layout::record(types, vec![("a".into(), set), ("b".into(), set)]));
    let subset = add(&|types| layout::array(types, set, bit));
    let function = add(&|types| layout::array(types, set, set));
    let relation = add(&|types| layout::array(types, set, subset));
    let edges = add(&|types| layout::bag(types, pair, 4));
    let family = add(&|types| layout::bag(types, subset, 3));
    let few = add(&|types| layout::bag(types, set, 2));
    let groups = add(&|types| layout::array(types, set, few));
    let operation = add(&|types| layout::array(types, set, function));
    let mut rng = Rng::new(1, "regular");
    let mut scratch = Scratch::default();
    for ty in [function, relation, edges, family, groups, operation] {
        let words = types[ty.0 as usize].bits().div_ceil(64);
        let variables = vec![Variable { name: "x".into(), ty, offset: 0, at: Default::default() }];
        let program = Program { types: types.clone(), variables, words, ..Program::default() };
        assert!(verify(&program).is_empty(), "{:?}", verify(&program));
        let identity = &permutations(&program)[0];
        for spread in [30, 60, 100] {
            for _ in 0..150 {
                let mut state = vec![0; words as usize];
                fill(&program, ty, &mut state, 0, spread, &mut rng);
                let state = permute(&program, &state, identity);
                compare_with_orbit(&program, &state, &mut scratch);
            }
        }
    }
}

/// The number of representatives of the states of a program with one variable, each of whose scalars is stored as any
/// number below `values`.
fn representatives(types: Vec<Type>, values: u64) -> usize {
    let ty = TypeId(types.len() as u32 - 1);
    let words = types[ty.0 as usize].bits().div_ceil(64);
    let variables = vec![Variable { name: "x".into(), ty, offset: 0, at: Default::default() }];
    let program = Program { types, variables, words, ..Program::default() };
    assert!(verify(&program).is_empty(), "{:?}", verify(&program));
    let Ok(Some(symmetry)) = Symmetry::of(&program) else { panic!("no symmetry") };
    let leaves: Vec<usize> = program.scalars(&vec![0; words as usize]).map(|leaf| leaf.bit).collect();
    let mut scratch = Scratch::default();
    symmetry.fit(&mut scratch);
    let mut found = BTreeSet::new();
    for mut number in 0..values.pow(leaves.len() as u32) {
        let mut state = vec![0; words as usize];
        for bit in &leaves {
            store(&mut state, *bit, number % values);
            number /= values;
        }
        symmetry.canonicalise(&mut state, &mut scratch);
        found.insert(state);
    }
    found.len()
}

fn set_of(count: u64) -> Type {
    Type::Scalar(Scalar { elements: vec![Elements { set: 0, first: 0, count }], ..layout::scalar(None, 0, count, false, Names::Numbers) })
}

#[test]
fn functions_and_relations_are_counted_as_the_literature_counts_them() {
    // Functions from a set to itself, up to renaming: OEIS A001372. Relations on a set, up to renaming: OEIS A000595.
    for (count, functions) in [(2, 3), (3, 7), (4, 19), (5, 47), (6, 130)] {
        let mut types = vec![set_of(count)];
        types.push(layout::array(&types, TypeId(0), TypeId(0)).unwrap());
        assert_eq!(representatives(types, count), functions, "functions on {count}");
    }
    for (count, relations) in [(2, 10), (3, 104), (4, 3044)] {
        let mut types = vec![set_of(count), Type::Scalar(layout::scalar(None, 0, 2, false, Names::Numbers))];
        types.push(layout::array(&types, TypeId(0), TypeId(1)).unwrap());
        types.push(layout::array(&types, TypeId(0), TypeId(2)).unwrap());
        assert_eq!(representatives(types, 2), relations, "relations on {count}");
    }
}

#[test]
fn many_equal_components_are_no_obstacle() {
    // Eleven elements point to eleven of another set, each to one of its own: 11! choices look alike, and all of them
    // are.
    let set = |set: u32| {
        Type::Scalar(Scalar { elements: vec![Elements { set, first: 0, count: 11 }], ..layout::scalar(None, 0, 11, true, Names::Numbers) })
    };
    let mut types = vec![set(0), set(1)];
    types.push(layout::array(&types, TypeId(0), TypeId(1)).unwrap());
    let variables = vec![Variable { name: "x".into(), ty: TypeId(2), offset: 0, at: Default::default() }];
    let program = Program { types, variables, words: 1, ..Program::default() };
    let Ok(Some(symmetry)) = Symmetry::of(&program) else { panic!("no symmetry") };
    let mut scratch = Scratch::default();
    symmetry.fit(&mut scratch);
    let mut rng = Rng::new(1, "components");
    let mut found = BTreeSet::new();
    for _ in 0..20 {
        let mut targets: Vec<u64> = (1..=11).collect();
        (1..11).rev().for_each(|at| targets.swap(at, rng.below(at as u64 + 1) as usize));
        let mut state = vec![0];
        targets.iter().enumerate().for_each(|(element, target)| store(&mut state, 4 * element, *target));
        symmetry.canonicalise(&mut state, &mut scratch);
        found.insert(state);
    }
    assert_eq!(found.len(), 1);
}

/// Permutations of six elements, represented in several ways, up to renaming: as many as there are cycle types.
/// Refinement distinguishes none of the elements of one permutation, so the search must.
#[test]
fn permutations_are_told_apart_by_their_cycles() {
    let mut types = vec![set_of(6), Type::Scalar(layout::scalar(None, 0, 2, false, Names::Numbers))];
    types.push(layout::record(&types, vec![("a".into(), TypeId(0)), ("b".into(), TypeId(0))]).unwrap());
    types.push(layout::array(&types, TypeId(0), TypeId(1)).unwrap());
    types.push(layout::bag(&types, TypeId(0), 2).unwrap());
    let ways = [
        layout::array(&types, TypeId(0), TypeId(0)),
        layout::array(&types, TypeId(0), TypeId(3)),
        layout::bag(&types, TypeId(2), 6),
        layout::array(&types, TypeId(0), TypeId(4)),
    ];
    for (way, ty) in ways.into_iter().enumerate() {
        let types = types.iter().cloned().chain(ty).collect::<Vec<_>>();
        let (Type::Array { stride, bits, .. } | Type::Bag { stride, bits, .. }) = types[5] else { panic!("no array and no bag") };
        let variables = vec![Variable { name: "x".into(), ty: TypeId(5), offset: 0, at: Default::default() }];
        let program = Program { types, variables, words: bits.div_ceil(64), ..Program::default() };
        assert!(verify(&program).is_empty(), "{:?}", verify(&program));
        let Ok(Some(symmetry)) = Symmetry::of(&program) else { panic!("no symmetry") };
        let mut scratch = Scratch::default();
        symmetry.fit(&mut scratch);
        let all = permutations(&program);
        let mut found = BTreeSet::new();
        for order in all.iter().map(|by| &by[&0]) {
            let mut state = vec![0; program.words as usize];
            for (from, to) in order.iter().enumerate() {
                let at = from * stride as usize;
                match way {
                    0 => store(&mut state, at, *to),
                    1 => store(&mut state, at + *to as usize, 1),
                    2 => store(&mut state, at, 1 | (from as u64) << 1 | to << 4),
                    _ => store(&mut state, at, 1 | to << 1),
                }
            }
            let mut state = permute(&program, &state, &all[0]);
            symmetry.canonicalise(&mut state, &mut scratch);
            found.insert(state);
        }
        assert_eq!((all.len(), found.len()), (720, 11), "way {way}");
    }
}
