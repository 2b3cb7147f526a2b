//! Builds expressions out of genes, from the names that are visible.

use super::build::contains_bag;
use super::gene::Gene;
use super::scope::{Access, CALLS_RUN_ONCE, Scope};
use super::tree::{Argument, Arithmetic, Comparison, Domain, Expr, FunctionId, LocalId, LocalType, Model, Place, Root, Type, TypeId};

impl Scope<'_> {
    /// A value to be stored in a variable of a simple type; a number may be out of range.
    pub(crate) fn assignable(&mut self, ty: TypeId, gene: &Gene) -> Option<Expr> {
        if gene.is_leaf() {
            return self.plain(ty, gene, false).or_else(|| self.simple(ty, gene));
        }
        let Type::Range(low, high) = *self.ty(ty) else { return self.simple(ty, gene) };
        match gene.below(8) {
            0 | 1 => self.simple(ty, gene),
            2..=4 => {
                // Increments modulo the range.
                let (place, _) = self.place(&|_, other| other == ty, false, gene.child(0))?;
                let value = Expr::Read(place);
                let more = Expr::Arithmetic(Arithmetic::Add, Box::new(value.clone()), Box::new(Expr::Number(1)));
                let test = Expr::Compare(Comparison::Less, Box::new(value), Box::new(Expr::Number(high)));
                Some(Expr::Conditional(Box::new(test), Box::new(more), Box::new(Expr::Number(low))))
            }
            5 => {
                let size = Expr::Number(high - low + 1);
                let rest = Expr::Arithmetic(Arithmetic::Remainder, Box::new(self.number(gene.child(0))), Box::new(size));
                Some(if low <= 0 { rest } else { Expr::Arithmetic(Arithmetic::Add, Box::new(rest), Box::new(Expr::Number(low))) })
            }
            _ => Some(self.number(gene.child(0))),
        }
    }

    /// A value of a simple type.
    pub(super) fn simple(&mut self, ty: TypeId, gene: &Gene) -> Option<Expr> {
        if gene.is_leaf() {
            return self.plain(ty, gene, false);
        }
        match self.ty(ty) {
            Type::Boolean => Some(self.boolean(gene)),
            _ => match gene.below(6) {
                0 | 1 => self.plain(ty, gene, false),
                5 => self.call(&|_, result| result == ty, gene).or_else(|| self.plain(ty, gene, false)),
                _ => {
                    // A union takes the values of its members, and yields them if it happens to hold one.
                    let members = if let Type::Union(members) = self.ty(ty) { members.as_slice() } else { &[] };
                    let holds = |model: &Model, other: TypeId| matches!(&model.types[other].ty, Type::Union(members) if members.contains(&ty));
                    let wide = gene.pick % 4 == 3;
                    let fits = |model: &Model, other| other == ty || members.contains(&other) || (wide && holds(model, other));
                    let found = self.place(&fits, false, gene.child(0));
                    found.map(|(place, _)| Expr::Read(place)).or_else(|| self.plain(ty, gene, false))
                }
            },
        }
    }

    pub(crate) fn number(&mut self, gene: &Gene) -> Expr {
        let choice = if gene.is_leaf() { gene.below(6) } else { gene.below(14) };
        let pair = |scope: &mut Self, operator| {
            let (left, right) = (scope.number(gene.child(0)), scope.number(gene.child(1)));
            Expr::Arithmetic(operator, Box::new(left), Box::new(right))
        };
        match choice {
            0 | 1 => Expr::Number(gene.pick as i64 % 4),
            2 => Expr::Constant(0),
            3 => self.numeric_local(gene).unwrap_or(Expr::Number(1)),
            4 | 5 => {
                let found = self.place(&|model, ty| matches!(model.types[ty].ty, Type::Range(..)), false, gene);
                found.map_or(Expr::Number(1), |(place, _)| Expr::Read(place))
            }
            6 => pair(self, Arithmetic::Add),
            7 => pair(self, Arithmetic::Subtract),
            8 => pair(self, Arithmetic::Multiply),
            9 => pair(self, Arithmetic::Divide),
            10 => pair(self, Arithmetic::Remainder),
            11 => Expr::Negate(Box::new(self.number(gene.child(0)))),
            12 => self.count(gene).unwrap_or_else(|| {
                let (condition, then, otherwise) = (self.boolean(gene.child(0)), self.number(gene.child(1)), self.number(gene.child(2)));
                Expr::Conditional(Box::new(condition), Box::new(then), Box::new(otherwise))
            }),
            _ => self.call(&|model, ty| matches!(model.types[ty].ty, Type::Range(..)), gene).unwrap_or(Expr::Number(2)),
        }
    }

    pub(super) fn numeric_local(&self, gene: &Gene) -> Option<Expr> {
        let names: Vec<LocalId> =
            self.visible.iter().map(|visible| visible.local).filter(|local| self.locals[*local].ty == LocalType::Number).collect();
        (!names.is_empty()).then(|| Expr::Read(Place { root: Root::Local(names[gene.below(names.len())]), path: Vec::new() }))
    }

    pub(super) fn count(&mut self, gene: &Gene) -> Option<Expr> {
        let (bag, ty) = self.steady_reading(gene.child(0))?;
        self.open();
        let slot = self.slot(ty, &bag, false);
        let condition = self.boolean(gene.child(1));
        self.close();
        Some(Expr::Count(slot, bag, Box::new(condition)))
    }

    /// A bag that does not change.
    pub(super) fn steady_reading(&mut self, gene: &Gene) -> Option<(Place, TypeId)> {
        let mut shapes = self.shapes(&|model, ty| matches!(model.types[ty].ty, Type::Bag(..)), false);
        shapes.retain(|shape| shape.slot.is_none());
        self.first_filled(shapes, gene, true)
    }

    pub(crate) fn boolean(&mut self, gene: &Gene) -> Expr {
        if gene.is_leaf() {
            return match gene.below(8) {
                0..=2 => Expr::Boolean(true),
                3 => Expr::Boolean(gene.pick % 4 != 2),
                4 | 5 => self.place(&|_, ty| ty == 0, false, gene.child(0)).map_or(Expr::Boolean(true), |(place, _)| Expr::Read(place)),
                _ => self.equality(gene),
            };
        }
        match gene.below(16) {
            0 | 1 => self.place(&|_, ty| ty == 0, false, gene.child(0)).map_or(Expr::Boolean(true), |(place, _)| Expr::Read(place)),
            2..=5 => self.equality(gene),
            6 => {
                let operators = [Comparison::Less, Comparison::LessEqual, Comparison::Greater, Comparison::GreaterEqual];
                let operator = operators[gene.child(2).below(4)];
                let (left, right) = (self.number(gene.child(0)), self.number(gene.child(1)));
                Expr::Compare(operator, Box::new(left), Box::new(right))
            }
            7 => Expr::Not(Box::new(self.boolean(gene.child(0)))),
            8 => Expr::And(self.operands(gene)),
            9 => Expr::Or(self.operands(gene)),
            10 => {
                let (left, right) = (self.boolean(gene.child(0)), self.boolean(gene.child(1)));
                Expr::Implies(Box::new(left), Box::new(right))
            }
            11 | 12 => {
                self.open();
                let binders = self.binders(gene.child(1));
                let body = self.boolean(gene.child(0));
                self.close();
                Expr::Quantified { all: gene.is_even(), binders, body: Box::new(body) }
            }
            13 => {
                let found = self.place(&|model, ty| model.types[ty].ty.is_simple(), false, gene.child(0));
                match found {
                    // Only variables can be undefined.
                    Some((place, _)) if !self.is_bound(&place) => Expr::IsUndefined(place),
                    _ => Expr::Boolean(true),
                }
            }
            14 => {
                let unions = |model: &Model, ty: TypeId| matches!(model.types[ty].ty, Type::Union(_));
                let Some((place, ty)) = self.place(&unions, false, gene.child(0)) else { return Expr::Boolean(true) };
                let Type::Union(members) = self.ty(ty) else { unreachable!("a union") };
                let named = members.iter().find(|member| !self.model.types[**member].inline);
                let Some(member) = named else { return Expr::Boolean(true) };
                let question = Expr::IsMember(Box::new(Expr::Read(place.clone())), *member);
                // The meaning of `ismember` on an undefined value is a decision of the elaborator, tested there.
                if self.is_bound(&place) { question } else { Expr::And(vec![Expr::Not(Box::new(Expr::IsUndefined(place))), question]) }
            }
            _ => self.call(&|_, ty| ty == 0, gene).unwrap_or(Expr::Boolean(false)),
        }
    }

    /// Whether a place is a name bound by a loop or ruleset, or a parameter by value.
    pub(super) fn is_bound(&self, place: &Place) -> bool {
        let Root::Local(local) = place.root else { return false };
        self.visible.iter().any(|visible| visible.local == local && visible.access == Access::Read)
    }

    pub(super) fn operands(&mut self, gene: &Gene) -> Vec<Expr> {
        let count = gene.children.len().clamp(2, 3);
        (0..count).map(|number| self.boolean(gene.child(number))).collect()
    }

    pub(super) fn equality(&mut self, gene: &Gene) -> Expr {
        let whole = |model: &Model, ty: TypeId| !model.types[ty].ty.is_simple() && !contains_bag(model, ty);
        if gene.pick % 8 == 5
            && let Some((left, ty)) = self.place(&whole, false, gene.child(0))
            && let Some((right, _)) = self.place(&|_, other| other == ty, false, gene.child(1))
        {
            return Expr::Same(gene.child(2).is_even(), left, right);
        }
        let operator = if gene.child(2).is_even() { Comparison::Equal } else { Comparison::NotEqual };
        let found = self.place(&|model, ty| model.types[ty].ty.is_simple(), false, gene.child(0));
        let Some((place, ty)) = found else { return Expr::Boolean(true) };
        let right = if self.is_range(ty) && gene.child(1).pick >= 128 { Some(self.number(gene.child(1))) } else { self.simple(ty, gene.child(1)) };
        match right {
            Some(right) => Expr::Compare(operator, Box::new(Expr::Read(place)), Box::new(right)),
            None => Expr::Boolean(true),
        }
    }

    /// The domain of a loop or quantifier.
    pub(super) fn binders(&mut self, gene: &Gene) -> Vec<(LocalId, Domain)> {
        let mut binders = vec![self.binder(gene)];
        if gene.children.len() == 1 {
            binders.push(self.binder(gene.child(0)));
        }
        binders
    }

    pub(super) fn binder(&mut self, gene: &Gene) -> (LocalId, Domain) {
        let simple = self.narrow_types();
        if gene.children.len() > 1 {
            let by = [1, 1, 2, -1][gene.below(4)];
            let (mut from, mut to) = (self.bound_number(gene.child(0)), self.bound_number(gene.child(1)));
            if by != 1 && !matches!((&from, &to), (Expr::Read(_), Expr::Read(_))) {
                // A step away from a constant bound is refused.
                let start = gene.child(0).below(3) as i64;
                (from, to) = (Expr::Number(start), Expr::Number(if by > 0 { start + 2 } else { 0 }));
            }
            return (self.bound(LocalType::Number, Access::Read), Domain::Span(Box::new(from), Box::new(to), by));
        }
        let ty = simple[simple.len() - 1 - gene.below(simple.len())];
        (self.bound(LocalType::Of(ty), Access::Read), Domain::Type(ty))
    }

    /// A number that is small, so that loops are short.
    pub(super) fn bound_number(&mut self, gene: &Gene) -> Expr {
        let narrow = |model: &Model, ty: TypeId| matches!(model.types[ty].ty, Type::Range(..)) && !model.types[ty].ty.is_wide();
        match gene.below(3) {
            0 => Expr::Number(gene.pick as i64 % 4),
            1 => Expr::Constant(0),
            _ => self.place(&narrow, false, gene).map_or(Expr::Number(1), |(place, _)| Expr::Read(place)),
        }
    }

    /// A call of a function that changes nothing.
    pub(super) fn call(&mut self, wanted: &dyn Fn(&Model, TypeId) -> bool, gene: &Gene) -> Option<Expr> {
        let model = self.model;
        let fitting = |function: &FunctionId| {
            let function = &model.functions[*function];
            function.pure && function.result.is_some_and(|result| wanted(model, result))
        };
        let fitting: Vec<FunctionId> = (0..model.functions.len()).filter(fitting).collect();
        if fitting.is_empty() {
            return None;
        }
        let function = fitting[gene.child(0).below(fitting.len())];
        Some(Expr::Call(function, self.arguments(function, gene)?))
    }

    pub(super) fn arguments(&mut self, function: FunctionId, gene: &Gene) -> Option<Vec<Argument>> {
        let called = &self.model.functions[function];
        let mut arguments = Vec::new();
        for (number, parameter) in called.parameters.iter().enumerate() {
            let LocalType::Of(ty) = called.locals[parameter.local].ty else { unreachable!("parameters have types") };
            let gene = gene.child(number);
            arguments.push(if parameter.by_reference {
                // A place that a function may write must be writable here, even if the function does not write it.
                Argument::Place(self.place(&|_, other| other == ty, true, gene)?.0)
            } else if self.ty(ty).is_simple() {
                Argument::Value(self.changing_call(ty, gene).map_or_else(|| self.assignable(ty, gene), Some)?)
            } else {
                Argument::Place(self.place(&|_, other| other == ty, false, gene)?.0)
            });
        }
        Some(arguments)
    }

    /// Sometimes, as the only argument that depends on the state, a call of a function with effects and without
    /// parameters.
    pub(super) fn changing_call(&mut self, ty: TypeId, gene: &Gene) -> Option<Expr> {
        if !CALLS_RUN_ONCE || !self.effects || gene.pick % 8 != 3 {
            return None;
        }
        let goes = |result: TypeId| result == ty || (self.is_range(result) && self.is_range(ty));
        let function =
            self.model.functions.iter().position(|function| !function.pure && function.parameters.is_empty() && function.result.is_some_and(goes))?;
        Some(Expr::Call(function, Vec::new()))
    }
}
