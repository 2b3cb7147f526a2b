//! Random programs from a seed, for fuzzing anything that reads, prints or runs programs. Every program verifies;
//! together they use every form of expression and statement, and their rules end in states, faults and discards in
//! fair shares. Loops and recursion may run until their fuel ends: run them with small [`Limits`](crate::Limits).

mod code;
mod places;

use crate::code::{FaultId, Root, Stmt, TypeId};
use crate::layout;
use crate::program::{At, Body, FaultKind, FaultSite, Formula, Function, Parameter, Program, Property, Region, Rule, RuleParameter, Variable};
use crate::types::{Names, Type};
use code::Writer;
use places::{Object, Scope};
use wayfarer_space::{FaultClass, PropertyKind, Rng};

/// The program of a seed.
pub fn generate(seed: u64) -> Program {
    generate_as(seed, false)
}

/// The program of a seed whose rules have up to five parameters, and guards of several conjuncts.
pub fn generate_deep(seed: u64) -> Program {
    generate_as(seed, true)
}

fn generate_as(seed: u64, deep: bool) -> Program {
    let stream = if deep { "generate deep" } else { "generate" };
    let mut generator = Generator { rng: Rng::new(seed, stream), program: Program::default(), calls: Vec::new(), deep };
    generator.program.source = format!("generated \"{seed}\"");
    generator.types();
    generator.variables();
    generator.faults();
    generator.heads();
    generator.bodies();
    generator.rules();
    generator.properties();
    generator.levels();
    generator.program
}

struct Generator {
    rng: Rng,
    program: Program,
    /// For each function, the types of its parameters, and whether it has no effects.
    calls: Vec<Callee>,
    deep: bool,
}

/// The signature of a function, for calls.
#[derive(Clone)]
struct Callee {
    references: Vec<Option<(Region, TypeId)>>,
    silent: bool,
}

impl Generator {
    /// In one program of four the rules have levels.
    fn levels(&mut self) {
        if self.chance(25) {
            self.program.levels = (0..self.program.rules.len()).map(|_| self.below(3) as u32).collect();
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        self.rng.below(bound as u64) as usize
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.rng.below(100) < percent
    }

    fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    fn at(&mut self) -> At {
        At { line: self.below(100) as u32, column: self.below(100) as u32 }
    }

    fn fault(&mut self) -> FaultId {
        FaultId(self.below(self.program.faults.len()) as u32)
    }

    fn types(&mut self) {
        for number in 0..self.between(3, 5) {
            let count = [1, 2, 3, 4, 5, 9, 200][self.below(7)];
            let names = if self.chance(50) { Names::Names((0..count).map(|value| format!("v{value}")).collect()) } else { Names::Numbers };
            let (low, undefinable) = (self.below(7) as i64 - 3, self.chance(50));
            let name = self.chance(50).then(|| format!("Scalar{number}"));
            self.program.types.push(Type::Scalar(layout::scalar(name, low, count, undefinable, names)));
        }
        // Full words make large objects likely.
        self.program.types.push(Type::Scalar(layout::scalar(None, i64::MIN, u64::MAX, false, Names::Numbers)));
        for _ in 0..self.between(2, 6) {
            let types = &self.program.types;
            let element = TypeId(self.rng.below(types.len() as u64) as u32);
            let made = match self.rng.below(3) {
                0 => {
                    let fields = (0..1 + self.rng.below(4)).map(|number| (format!("f{number}"), TypeId(self.rng.below(types.len() as u64) as u32)));
                    layout::record(types, fields.collect())
                }
                1 => {
                    let small = |ty: &Type| ty.scalar().is_some_and(|scalar| scalar.count <= 9);
                    let indices: Vec<u32> = (0..types.len() as u32).filter(|number| small(&types[*number as usize])).collect();
                    let index = indices.get(self.rng.below(indices.len().max(1) as u64) as usize);
                    index.and_then(|index| layout::array(types, TypeId(*index), element))
                }
                _ => layout::bag(types, element, 1 + self.rng.below(4) as u32),
            };
            // Objects stay small enough for copies of states to be cheap.
            self.program.types.extend(made.filter(|ty| ty.bits() <= 64 * 64));
        }
    }

    fn any_type(&mut self) -> TypeId {
        TypeId(self.below(self.program.types.len()) as u32)
    }

    fn variables(&mut self) {
        let types: Vec<TypeId> = (0..self.between(2, 6)).map(|_| self.any_type()).collect();
        let sizes: Vec<u32> = types.iter().map(|ty| self.program.types[ty.0 as usize].bits()).collect();
        let (offsets, bits) = layout::arrange(&sizes).unwrap_or_default();
        for (number, (ty, offset)) in types.into_iter().zip(offsets).enumerate() {
            let at = self.at();
            self.program.variables.push(Variable { name: format!("x{number}"), ty, offset, at });
        }
        self.program.words = bits.div_ceil(64);
    }

    fn faults(&mut self) {
        for (kind, word) in FaultKind::ALL {
            let class = FaultClass::ALL[self.below(3)].0;
            let at = self.at();
            self.program.faults.push(FaultSite { class, kind, message: format!("{word}\n\u{1b}\\ \"met\""), at });
        }
    }

    /// The signatures of all functions, so that bodies can call functions written later, or themselves.
    fn heads(&mut self) {
        for number in 0..self.between(2, 5) {
            let mut callee = Callee { references: Vec::new(), silent: self.chance(50) };
            for _ in 0..self.below(4) {
                let region = if self.chance(60) { Region::State } else { Region::Frame };
                let reference = self.chance(60).then(|| (region, self.part_of_state()));
                callee.references.push(reference);
            }
            let parameter = |reference: &Option<(Region, TypeId)>| match reference {
                None => Parameter::Value,
                Some((region, ty)) => Parameter::Reference { region: *region, bits: self.program.types[ty.0 as usize].bits() },
            };
            let parameters: Vec<Parameter> = callee.references.iter().map(parameter).collect();
            let (result, no_result, at) = (self.chance(60), self.fault(), self.at());
            let name = format!("function{number}");
            self.program.functions.push(Function { name, parameters, result, no_result, body: Body::default(), at });
            self.calls.push(callee);
        }
        // Properties must exist before code can cover them.
        for kind in [PropertyKind::Always, PropertyKind::Reachable, PropertyKind::Reachable, PropertyKind::Assumption] {
            let (name, at) = (format!("property{}", self.program.properties.len()), self.at());
            self.program.properties.push(Property { name, kind, registers: 3, conjuncts: Vec::new(), at });
        }
    }

    /// The type of a variable or of a part of one, so that places to refer to are easily found.
    fn part_of_state(&mut self) -> TypeId {
        let variable = self.below(self.program.variables.len());
        let mut ty = self.program.variables[variable].ty;
        while self.chance(50) {
            ty = match &self.program.types[ty.0 as usize] {
                Type::Scalar(_) => return ty,
                Type::Record { fields, .. } => fields[self.rng.below(fields.len() as u64) as usize].ty,
                Type::Array { element, .. } | Type::Bag { element, .. } => *element,
            };
        }
        ty
    }

    /// The state's variables and a frame of a few objects. Also returns the frame's words.
    fn objects(&mut self) -> (Vec<Object>, u32) {
        let variable = |variable: &Variable| Object { root: Root::State, offset: variable.offset, ty: variable.ty };
        let mut objects: Vec<Object> = self.program.variables.iter().map(variable).collect();
        let types: Vec<TypeId> = (0..self.between(1, 3)).map(|_| self.part_of_state()).collect();
        let sizes: Vec<u32> = types.iter().map(|ty| self.program.types[ty.0 as usize].bits()).collect();
        let (offsets, bits) = layout::arrange(&sizes).unwrap_or_default();
        objects.extend(types.into_iter().zip(offsets).map(|(ty, offset)| Object { root: Root::Frame, offset, ty }));
        (objects, bits.div_ceil(64))
    }

    fn formula_scope(&self, registers: u32) -> Scope {
        let variable = |variable: &Variable| Object { root: Root::State, offset: variable.offset, ty: variable.ty };
        Scope { registers, objects: self.program.variables.iter().map(variable).collect(), loops: Vec::new(), silent: true, result: false }
    }

    fn bodies(&mut self) {
        for number in 0..self.calls.len() {
            let Callee { references, silent } = self.calls[number].clone();
            let (mut objects, frame) = self.objects();
            let behind = references.iter().flatten().enumerate();
            objects.extend(behind.map(|(number, (_, ty))| Object { root: Root::Reference(number as u32), offset: 0, ty: *ty }));
            let registers = (references.len() + 3) as u32;
            let result = self.program.functions[number].result;
            let regions = references.iter().flatten().map(|(region, _)| *region).collect();
            let mut writer = Writer { generator: self, scope: Scope { registers, objects, loops: Vec::new(), silent, result }, regions };
            let mut block = writer.block(3);
            if result && writer.generator.chance(90) {
                block.push(Stmt::Return(Some(writer.expr(2))));
            }
            self.program.functions[number].body = Body { registers, frame, block };
        }
    }

    fn rules(&mut self) {
        for (word, count) in [("start", self.between(1, 3)), ("rule", self.between(3, 8))] {
            for number in 0..count {
                let rule = self.rule(format!("{word} {number}"), word == "start");
                let families = if word == "start" { &mut self.program.starts } else { &mut self.program.rules };
                families.push(rule);
            }
        }
    }

    fn rule(&mut self, name: String, start: bool) -> Rule {
        let mut parameters = Vec::new();
        let deep = self.deep && !start;
        for number in 0..if deep { self.between(2, 5) } else { self.below(3) } {
            let scalars: Vec<u32> = (0..self.program.types.len() as u32).filter(|ty| self.program.types[*ty as usize].scalar().is_some()).collect();
            let ty = TypeId(scalars[self.below(scalars.len())]);
            let from = self.below(5) as i64 - 2;
            let (by, mut count) = ([1, 1, 2, -1][self.below(4)], self.between(1, 3) as u32);
            if deep && number == 0 && self.chance(20) {
                count = [64, 65, 130][self.below(3)];
            }
            parameters.push(RuleParameter { name: format!("i{number}"), ty, from, by, count });
        }
        let registers = (parameters.len() + 3) as u32;
        let open = self.chance(if start { 80 } else { 40 });
        let mut writer = Writer { scope: self.formula_scope(registers), generator: self, regions: Vec::new() };
        let value = match (deep, open) {
            (true, _) => crate::code::Expr::All((0..writer.generator.between(2, 5)).map(|_| writer.condition(2)).collect()),
            (false, true) => crate::code::Expr::Const(1),
            (false, false) => writer.condition(3),
        };
        let (objects, frame) = self.objects();
        let scope = Scope { registers, objects, loops: Vec::new(), silent: false, result: false };
        let block = Writer { generator: self, scope, regions: Vec::new() }.block(4);
        Rule { name, parameters, guard: Formula { registers, value }, command: Body { registers, frame, block }, at: self.at() }
    }

    fn properties(&mut self) {
        for number in 0..self.program.properties.len() {
            let registers = self.program.properties[number].registers;
            let assumption = self.program.properties[number].kind == PropertyKind::Assumption;
            let count = if assumption && self.chance(50) { 0 } else { self.between(1, 3) };
            let scope = self.formula_scope(registers);
            for _ in 0..count {
                let at = self.at();
                let conjunct = Writer { generator: self, scope: scope.clone(), regions: Vec::new() }.condition(3);
                self.program.properties[number].conjuncts.push((at, conjunct));
            }
        }
    }
}
