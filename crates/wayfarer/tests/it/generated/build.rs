//! Reads a well-typed model out of a genome: declarations here, code in [`scope`](super::scope).

use super::gene::{Gene, Genome};
use super::scope::{Access, Scope};
use super::tree::{Block, Domain, Expr, Function, LocalId, LocalType, Model, Parameter, Place, Root, Step, Stmt, Type, TypeDecl, TypeId, Unit};

/// The model of a genome.
pub(crate) fn build(genome: &Genome) -> Model {
    let mut model = Model::default();
    model.constants.push(("C0".to_string(), 1 + genome.types.first().map_or(0, |gene| gene.below(3) as i64)));
    model.types.push(TypeDecl { name: "boolean".to_string(), ty: Type::Boolean, inline: false });
    model.types.push(TypeDecl { name: "R".to_string(), ty: Type::Range(0, 2), inline: false });
    for gene in &genome.types {
        add_type(&mut model, gene);
    }
    let mut room = 1e7;
    for gene in &genome.variables {
        let usable: Vec<TypeId> = (0..model.types.len()).filter(|ty| is_declared(&model, *ty)).collect();
        // The later types are built from the earlier ones, and more interesting.
        let ty = usable[usable.len() - 1 - gene.below(usable.len())];
        let size = values(&model, ty);
        if size <= room {
            room /= size;
            let name = format!("g{}", model.globals.len());
            model.globals.push((name, ty));
        }
    }
    if model.globals.is_empty() {
        model.globals.push(("g0".to_string(), 1));
    }
    for gene in &genome.functions {
        add_function(&mut model, gene);
    }
    for (number, gene) in genome.starts.iter().enumerate() {
        let unit = start(&model, gene, number);
        model.units.push(unit);
    }
    for (number, gene) in genome.rules.iter().enumerate() {
        let unit = rules(&model, gene, number);
        model.units.push(unit);
    }
    for (number, gene) in genome.movers.iter().enumerate() {
        let unit = mover(&model, gene, number);
        model.units.extend(unit);
    }
    // A clock keeps about half of the models from deadlock.
    if genome.rules.len() % 2 == 1 {
        add_clock(&mut model);
    }
    for (number, gene) in genome.invariants.iter().enumerate() {
        let unit = invariant(&model, gene, number);
        model.units.push(unit);
    }
    model
}

/// Whether variables can be of a type: enums written inside a union have no name of their own.
fn is_declared(model: &Model, ty: TypeId) -> bool {
    !(model.types[ty].inline && matches!(model.types[ty].ty, Type::Enum(_)))
}

/// The number of values of an object, including undefined ones.
fn values(model: &Model, ty: TypeId) -> f64 {
    match &model.types[ty].ty {
        Type::Record(fields) => fields.iter().map(|(_, ty)| values(model, *ty)).product(),
        Type::Array(index, element) => values(model, *element).powi(super::value::all_of(model, *index).len() as i32),
        Type::Bag(capacity, element) => (1.0 + values(model, *element)).powi(*capacity as i32),
        simple if simple.is_wide() => 4.0,
        _ => 1.0 + super::value::all_of(model, ty).len() as f64,
    }
}

fn add_type(model: &mut Model, gene: &Gene) {
    let number = model.types.len();
    let simple: Vec<TypeId> = (0..number).filter(|ty| is_declared(model, *ty) && model.types[*ty].ty.is_simple()).collect();
    let any: Vec<TypeId> = (0..number).filter(|ty| is_declared(model, *ty)).collect();
    let pick = |gene: &Gene, list: &[TypeId]| list[list.len() - 1 - gene.below(list.len())];
    let mut inline = gene.child(3).pick % 3 == 1;
    let ty = match gene.below(9) {
        0 if gene.child(2).pick >= 128 => {
            // Wide ones make large states of few values. (Fields of 63 bits make the compiler overflow where overflow is checked; `1 << 61` brings them.)
            let width = [100, 40_000, 5_000_000_000, 1 << 55][gene.child(0).below(4)];
            if gene.child(1).is_even() { Type::Range(0, width) } else { Type::Range(-width, width) }
        }
        0 => Type::Range(-(gene.child(0).below(3) as i64), 1 + gene.child(1).below(3) as i64),
        1 => {
            inline = false;
            Type::Enum((0..2 + gene.child(0).below(2)).map(|member| format!("e{number}_{member}")).collect())
        }
        2 | 3 => {
            inline = false;
            Type::Scalarset(2 + gene.child(0).below(2) as i64)
        }
        4 => {
            inline = false;
            let parts: Vec<TypeId> = simple.iter().copied().filter(|ty| matches!(model.types[*ty].ty, Type::Enum(_) | Type::Scalarset(_))).collect();
            let mut members = Vec::new();
            if !parts.is_empty() {
                members.push(pick(gene.child(0), &parts));
            }
            let more = pick(gene.child(1), if parts.is_empty() { &any } else { &parts });
            if !parts.is_empty() && !members.contains(&more) {
                members.push(more);
            }
            if members.len() < 2 {
                // An enum that is written inside the union.
                let names = (0..1 + gene.child(2).below(2)).map(|member| format!("u{number}_{member}")).collect();
                model.types.push(TypeDecl { name: String::new(), ty: Type::Enum(names), inline: true });
                members.push(model.types.len() - 1);
            }
            Type::Union(members)
        }
        5 => Type::Record((0..1 + gene.child(0).below(3)).map(|field| (format!("f{field}"), pick(gene.child(1 + field), &any))).collect()),
        6 | 7 => {
            let narrow: Vec<TypeId> = simple.iter().copied().filter(|ty| !model.types[*ty].ty.is_wide()).collect();
            Type::Array(pick(gene.child(0), &narrow), pick(gene.child(1), &any))
        }
        _ => {
            let elements: Vec<TypeId> = any.iter().copied().filter(|ty| !contains_bag(model, *ty)).collect();
            Type::Bag(1 + gene.child(0).below(3), pick(gene.child(1), &elements))
        }
    };
    let name = format!("T{}", model.types.len());
    model.types.push(TypeDecl { name, ty, inline });
    let last = model.types.len() - 1;
    if values(model, last) > 1e5 {
        model.types[last] = TypeDecl { name: format!("T{last}"), ty: Type::Range(0, 1), inline };
    }
}

pub(crate) fn contains_bag(model: &Model, ty: TypeId) -> bool {
    match &model.types[ty].ty {
        Type::Record(fields) => fields.iter().any(|(_, ty)| contains_bag(model, *ty)),
        Type::Array(_, element) => contains_bag(model, *element),
        Type::Bag(..) => true,
        _ => false,
    }
}

fn add_function(model: &mut Model, gene: &Gene) {
    let types: Vec<TypeId> = (0..model.types.len()).filter(|ty| is_declared(model, *ty)).collect();
    let simple: Vec<TypeId> = types.iter().copied().filter(|ty| model.types[*ty].ty.is_simple()).collect();
    let kind = gene.below(3);
    let pure = kind == 0;
    let result = (kind < 2).then(|| {
        // If there are effects, an object may be returned, of a type that some variable has.
        let global = model.globals[gene.child(0).below(model.globals.len())].1;
        if kind == 1 && !gene.child(0).is_even() && !contains_bag(model, global) { global } else { simple[gene.child(0).below(simple.len())] }
    });
    let mut scope = Scope::new(model, !pure);
    scope.returns = result;
    scope.in_function = true;
    let mut parameters = Vec::new();
    for (number, gene) in gene.child(1).children.iter().take(3).enumerate() {
        // A type that some variable has, so that there is something to pass.
        let global = model.globals[gene.below(model.globals.len())].1;
        let ty = if gene.child(0).is_even() { global } else { types[gene.child(0).below(types.len())] };
        let by_reference = !gene.is_even() || contains_bag(model, ty);
        let local = scope.named(format!("p{number}"), LocalType::Of(ty), if by_reference && !pure { Access::Write } else { Access::Read });
        parameters.push(Parameter { local, by_reference });
    }
    let mut body = Vec::new();
    for gene in gene.child(2).children.iter().take(2) {
        let local = scope.variable(types[gene.below(types.len())]);
        body.extend(first_value(local, gene));
    }
    body.extend(scope.statements(gene.child(3)));
    if let Some(ty) = result
        && gene.child(4).pick < 230
    {
        body.extend(scope.result(ty, gene.child(4)));
    }
    let name = format!("h{}", model.functions.len());
    let function = Function { name, parameters, result, pure, variables: scope.variables.clone(), locals: scope.locals, body };
    model.functions.push(function);
}

/// A variable that alternates and that no other code uses.
fn add_clock(model: &mut Model) {
    let clock = Place { root: Root::Global(model.globals.len()), path: Vec::new() };
    model.globals.push(("clock".to_string(), 0));
    for unit in &mut model.units {
        clear_at_start(&mut unit.block, &clock);
    }
    let turn = Stmt::Assign(clock.clone(), Expr::Not(Box::new(Expr::Read(clock))));
    let block = Block::Rule { name: "tick".to_string(), guard: None, variables: Vec::new(), body: vec![turn] };
    model.units.push(Unit { locals: Vec::new(), block });
}

fn clear_at_start(block: &mut Block, place: &Place) {
    match block {
        Block::Ruleset(_, inner) | Block::Alias(_, _, inner) | Block::Choose(_, _, inner) => {
            inner.iter_mut().for_each(|block| clear_at_start(block, place));
        }
        Block::Start { body, .. } => body.insert(0, Stmt::Clear(place.clone())),
        Block::Rule { .. } | Block::Invariant { .. } => {}
    }
}

fn start(model: &Model, gene: &Gene, number: usize) -> Unit {
    let mut scope = Scope::new(model, true);
    let mut binders = Vec::new();
    if gene.pick >= 170 {
        binders.extend(scope.ruleset(gene.child(0)));
    }
    // Most models begin with everything cleared, so that not every start state faults.
    let mut body = Vec::new();
    for global in (0..model.globals.len()).filter(|global| gene.child(1 + global).pick % 12 != 5) {
        body.push(Stmt::Clear(Place { root: Root::Global(global), path: Vec::new() }));
    }
    for (global, (_, ty)) in model.globals.iter().enumerate() {
        let place = Place { root: Root::Global(global), path: Vec::new() };
        let pick = gene.child(1 + global);
        match (&model.types[*ty].ty, pick.below(10)) {
            (_, 0) => {}
            (Type::Array(index, element), 3..=8) if model.types[*element].ty.is_simple() => {
                scope.open();
                let local = scope.bound(LocalType::Of(*index), Access::Read);
                let value = scope.assignable(*element, pick);
                scope.close();
                let position = Expr::Read(Place { root: Root::Local(local), path: Vec::new() });
                let element = Place { path: vec![Step::Index(Box::new(position))], ..place };
                body.extend(value.map(|value| Stmt::For(vec![(local, Domain::Type(*index))], vec![Stmt::Assign(element, value)])));
            }
            (simple, 3..=8) if simple.is_simple() => body.extend(scope.assignable(*ty, pick).map(|value| Stmt::Assign(place, value))),
            (_, 9) => body.push(Stmt::Undefine(place)),
            _ => {}
        }
    }
    body.extend(scope.statements(gene.child(6)).into_iter().take(2));
    let block = Block::Start { name: format!("s{number}"), variables: scope.variables.clone(), body };
    let block = if binders.is_empty() { block } else { Block::Ruleset(binders, vec![block]) };
    Unit { locals: scope.locals, block }
}

/// A rule that gives some simple part of the state any of its values.
fn mover(model: &Model, gene: &Gene, number: usize) -> Option<Unit> {
    let mut scope = Scope::new(model, true);
    let narrow = |model: &Model, ty: TypeId| model.types[ty].ty.is_simple() && !model.types[ty].ty.is_wide();
    let (_, ty) = scope.steady_place(&narrow, gene.child(0))?;
    let mut binders = if gene.is_even() { scope.ruleset(gene.child(1)) } else { Vec::new() };
    let value = scope.bound(LocalType::Of(ty), Access::Read);
    binders.push((value, Domain::Type(ty)));
    let (place, _) = scope.steady_place(&|_, other| other == ty, gene.child(0))?;
    let guard = (gene.pick >= 100).then(|| scope.boolean(gene.child(2)));
    let body = vec![Stmt::Assign(place, Expr::Read(Place { root: Root::Local(value), path: Vec::new() }))];
    let rule = Block::Rule { name: format!("m{number}"), guard, variables: Vec::new(), body };
    Some(Unit { block: Block::Ruleset(binders, vec![rule]), locals: scope.locals })
}

/// Most local variables are cleared before they are used.
fn first_value(local: LocalId, gene: &Gene) -> Option<Stmt> {
    (gene.pick % 5 != 4).then(|| Stmt::Clear(Place { root: Root::Local(local), path: Vec::new() }))
}

fn rules(model: &Model, gene: &Gene, number: usize) -> Unit {
    let mut scope = Scope::new(model, true);
    let mut count = 0;
    let block = rule_block(&mut scope, gene, number, &mut count, 0);
    Unit { locals: scope.locals, block }
}

fn rule_block(scope: &mut Scope, gene: &Gene, number: usize, count: &mut usize, depth: usize) -> Block {
    let nested = if depth < 2 { gene.below(10) } else { 0 };
    let inner = |scope: &mut Scope, gene: &Gene, count: &mut usize| {
        let mut blocks = vec![rule_block(scope, gene.child(1), number, count, depth + 1)];
        if gene.child(2).children.len() > 2 {
            blocks.push(rule_block(scope, gene.child(2), number, count, depth + 1));
        }
        blocks
    };
    match nested {
        5..=7 => {
            scope.open();
            let binders = scope.ruleset(gene.child(0));
            let blocks = inner(scope, gene, count);
            scope.close();
            return if binders.is_empty() { blocks.into_iter().next().expect("one block") } else { Block::Ruleset(binders, blocks) };
        }
        8 => {
            if let Some((place, ty)) = scope.steady_place(&|_, _| true, gene.child(0)) {
                scope.open();
                let local = scope.bound(LocalType::Of(ty), Access::Write);
                let blocks = inner(scope, gene, count);
                scope.close();
                return Block::Alias(local, place, blocks);
            }
        }
        9 => {
            if let Some((place, ty)) = scope.steady_place(&|model, ty| matches!(model.types[ty].ty, Type::Bag(..)), gene.child(0)) {
                scope.open();
                let local = scope.slot(ty, &place, true);
                let blocks = inner(scope, gene, count);
                scope.close();
                return Block::Choose(local, place, blocks);
            }
        }
        _ => {}
    }
    scope.variables.clear();
    scope.open();
    let guard = (gene.pick % 8 != 1).then(|| scope.boolean(gene.child(0)));
    let mut body = Vec::new();
    for gene in gene.child(1).children.iter().take(1) {
        if gene.pick < 128 {
            let declared: Vec<TypeId> = (0..scope.model.types.len()).filter(|ty| is_declared(scope.model, *ty)).collect();
            let local = scope.variable(declared[gene.below(declared.len())]);
            body.extend(first_value(local, gene));
        }
    }
    body.extend(scope.statement(gene.child(1)));
    for child in gene.children.iter().skip(2) {
        body.extend(scope.statement(child));
    }
    body.extend(scope.removal(gene.child(0)));
    scope.close();
    let name = format!("r{number}_{count}");
    *count += 1;
    Block::Rule { name, guard, variables: std::mem::take(&mut scope.variables), body }
}

fn invariant(model: &Model, gene: &Gene, number: usize) -> Unit {
    let mut scope = Scope::new(model, false);
    let binders = if gene.pick >= 200 { scope.ruleset(gene.child(1)) } else { Vec::new() };
    let condition = scope.boolean(gene.child(0));
    let block = Block::Invariant { name: format!("i{number}"), condition };
    let block = if binders.is_empty() { block } else { Block::Ruleset(binders, vec![block]) };
    Unit { locals: scope.locals, block }
}
