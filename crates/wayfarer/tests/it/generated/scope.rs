//! Builds expressions and statements out of genes, from the names that are visible.

use super::build::contains_bag;
use super::gene::Gene;
use super::tree::{
    Argument, Arithmetic, Comparison, Domain, Expr, FunctionId, Local, LocalId, LocalType, Model, Place, Root, Step, Stmt, Type, TypeId,
};

/// Whether a call that is part of a comparison with a union, or an argument of another call, runs once. The elaborator writes some of them out twice;
/// once it does not, this is to be set.
pub(crate) const CALLS_RUN_ONCE: bool = false;

/// What may be done with a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Access {
    Read,
    Write,
}

#[derive(Clone)]
struct Visible {
    local: LocalId,
    access: Access,
}

/// A position in a bag, with the bag it belongs to.
#[derive(Clone)]
struct Slot {
    local: LocalId,
    bag: Place,
    element: TypeId,
    /// Bound by `choose`, so that the element can be changed and removed.
    chosen: bool,
}

pub(crate) struct Scope<'m> {
    pub(crate) model: &'m Model,
    pub(crate) locals: Vec<Local>,
    /// Locals that were declared in the body that is being built.
    pub(crate) variables: Vec<LocalId>,
    pub(crate) returns: Option<TypeId>,
    pub(crate) in_function: bool,
    /// Whether globals may be written and impure functions called.
    effects: bool,
    visible: Vec<Visible>,
    slots: Vec<Slot>,
    marks: Vec<(usize, usize)>,
}

/// The way from a name to a part of it; indices are filled in later.
#[derive(Clone)]
enum Part {
    Field(usize),
    Index(TypeId),
}

#[derive(Clone)]
struct Shape {
    root: Root,
    slot: Option<usize>,
    parts: Vec<Part>,
    ty: TypeId,
}

impl<'m> Scope<'m> {
    pub(crate) fn new(model: &'m Model, effects: bool) -> Self {
        Scope {
            model,
            locals: Vec::new(),
            variables: Vec::new(),
            returns: None,
            in_function: false,
            effects,
            visible: Vec::new(),
            slots: Vec::new(),
            marks: Vec::new(),
        }
    }

    pub(crate) fn open(&mut self) {
        self.marks.push((self.visible.len(), self.slots.len()));
    }

    pub(crate) fn close(&mut self) {
        let (visible, slots) = self.marks.pop().expect("opened before");
        self.visible.truncate(visible);
        self.slots.truncate(slots);
    }

    pub(crate) fn named(&mut self, name: String, ty: LocalType, access: Access) -> LocalId {
        self.locals.push(Local { name, ty });
        let local = self.locals.len() - 1;
        self.visible.push(Visible { local, access });
        local
    }

    /// A name bound by a loop, ruleset or alias. Names are used again once they are out of sight.
    pub(crate) fn bound(&mut self, ty: LocalType, access: Access) -> LocalId {
        let name = format!("v{}", self.visible.len() + self.slots.len());
        self.named(name, ty, access)
    }

    /// A variable declared in the body.
    pub(crate) fn variable(&mut self, ty: TypeId) -> LocalId {
        let name = format!("w{}", self.locals.len());
        let local = self.named(name, LocalType::Of(ty), Access::Write);
        self.variables.push(local);
        local
    }

    /// A position in the bag at a place.
    pub(crate) fn slot(&mut self, bag: TypeId, place: &Place, chosen: bool) -> LocalId {
        let name = format!("v{}", self.visible.len() + self.slots.len());
        self.locals.push(Local { name, ty: LocalType::Slot(bag) });
        let local = self.locals.len() - 1;
        let Type::Bag(_, element) = self.model.types[bag].ty else { unreachable!("a bag") };
        self.slots.push(Slot { local, bag: place.clone(), element, chosen });
        local
    }

    fn ty(&self, ty: TypeId) -> &'m Type {
        &self.model.types[ty].ty
    }

    fn is_range(&self, ty: TypeId) -> bool {
        matches!(self.ty(ty), Type::Range(..))
    }

    /// One or two parameters of a ruleset.
    pub(crate) fn ruleset(&mut self, gene: &Gene) -> Vec<(LocalId, Domain)> {
        let mut binders = vec![self.parameter(gene)];
        if gene.children.len() > 2 {
            binders.push(self.parameter(gene.child(1)));
        }
        binders
    }

    fn parameter(&mut self, gene: &Gene) -> (LocalId, Domain) {
        let simple = self.narrow_types();
        if gene.pick % 8 == 7 {
            let (from, by) = (gene.child(0).below(2) as i64, 1 + gene.child(1).below(2) as i64);
            let span = Domain::Span(Box::new(Expr::Number(from)), Box::new(Expr::Number(2)), by);
            return (self.bound(LocalType::Number, Access::Read), span);
        }
        let ty = simple[simple.len() - 1 - gene.below(simple.len())];
        (self.bound(LocalType::Of(ty), Access::Read), Domain::Type(ty))
    }

    /// Types that a loop or ruleset can run over.
    fn narrow_types(&self) -> Vec<TypeId> {
        let declared = |ty: &TypeId| !(self.model.types[*ty].inline && matches!(self.ty(*ty), Type::Enum(_)));
        (0..self.model.types.len()).filter(declared).filter(|ty| self.ty(*ty).is_simple() && !self.ty(*ty).is_wide()).collect()
    }

    // Places

    fn shapes(&self, wanted: &dyn Fn(&Model, TypeId) -> bool, write: bool) -> Vec<Shape> {
        let mut shapes = Vec::new();
        for visible in &self.visible {
            if let LocalType::Of(ty) = self.locals[visible.local].ty
                && (!write || visible.access == Access::Write)
            {
                self.parts(Shape { root: Root::Local(visible.local), slot: None, parts: Vec::new(), ty }, wanted, &mut shapes);
            }
        }
        for (number, slot) in self.slots.iter().enumerate() {
            if !write || slot.chosen {
                self.parts(Shape { root: slot.bag.root, slot: Some(number), parts: Vec::new(), ty: slot.element }, wanted, &mut shapes);
            }
        }
        if !write || self.effects {
            for (number, (_, ty)) in self.model.globals.iter().enumerate() {
                self.parts(Shape { root: Root::Global(number), slot: None, parts: Vec::new(), ty: *ty }, wanted, &mut shapes);
            }
        }
        shapes
    }

    fn parts(&self, shape: Shape, wanted: &dyn Fn(&Model, TypeId) -> bool, out: &mut Vec<Shape>) {
        if wanted(self.model, shape.ty) {
            out.push(shape.clone());
        }
        match self.ty(shape.ty) {
            Type::Record(fields) => {
                for (number, (_, ty)) in fields.iter().enumerate() {
                    let mut part = Shape { ty: *ty, ..shape.clone() };
                    part.parts.push(Part::Field(number));
                    self.parts(part, wanted, out);
                }
            }
            Type::Array(index, element) => {
                let mut part = Shape { ty: *element, ..shape };
                part.parts.push(Part::Index(*index));
                self.parts(part, wanted, out);
            }
            _ => {}
        }
    }

    fn fill(&mut self, shape: &Shape, gene: &Gene, steady: bool) -> Option<(Place, TypeId)> {
        let mut place = match shape.slot {
            Some(number) => {
                let slot = self.slots[number].clone();
                let mut place = slot.bag;
                place.path.push(Step::Slot(slot.local));
                place
            }
            None => Place { root: shape.root, path: Vec::new() },
        };
        for (number, part) in shape.parts.iter().enumerate() {
            place.path.push(match part {
                Part::Field(field) => Step::Field(*field),
                Part::Index(ty) => {
                    let gene = gene.child(number);
                    let index = if steady || gene.is_leaf() { self.plain(*ty, gene, steady)? } else { self.index(*ty, gene)? };
                    Step::Index(Box::new(index))
                }
            });
        }
        Some((place, shape.ty))
    }

    pub(crate) fn place(&mut self, wanted: &dyn Fn(&Model, TypeId) -> bool, write: bool, gene: &Gene) -> Option<(Place, TypeId)> {
        let shapes = self.shapes(wanted, write);
        self.first_filled(shapes, gene, false)
    }

    /// A place whose indices are literals or bound by a loop or ruleset, so that it stays where it is.
    pub(crate) fn steady_place(&mut self, wanted: &dyn Fn(&Model, TypeId) -> bool, gene: &Gene) -> Option<(Place, TypeId)> {
        let mut shapes = self.shapes(wanted, true);
        shapes.retain(|shape| shape.slot.is_none());
        self.first_filled(shapes, gene, true)
    }

    fn first_filled(&mut self, shapes: Vec<Shape>, gene: &Gene, steady: bool) -> Option<(Place, TypeId)> {
        let from = gene.below(shapes.len().max(1));
        (0..shapes.len()).find_map(|number| self.fill(&shapes[(from + number) % shapes.len()], gene, steady))
    }

    /// A value without parts: a literal or a name. Scalarsets have no literals, so there may be none.
    fn plain(&self, ty: TypeId, gene: &Gene, steady: bool) -> Option<Expr> {
        let mut choices = Vec::new();
        for visible in &self.visible {
            let local = &self.locals[visible.local];
            if (!steady || visible.access == Access::Read) && local.ty == LocalType::Of(ty) && !self.variables.contains(&visible.local) {
                choices.push(Expr::Read(Place { root: Root::Local(visible.local), path: Vec::new() }));
            }
        }
        self.literals(ty, &mut choices);
        if !steady {
            for (number, (_, other)) in self.model.globals.iter().enumerate() {
                if *other == ty {
                    choices.push(Expr::Read(Place { root: Root::Global(number), path: Vec::new() }));
                }
            }
        }
        (!choices.is_empty()).then(|| choices.swap_remove(gene.below(choices.len())))
    }

    fn literals(&self, ty: TypeId, out: &mut Vec<Expr>) {
        match self.ty(ty) {
            Type::Boolean => out.extend([Expr::Boolean(false), Expr::Boolean(true)]),
            Type::Range(low, high) if high - low > 16 => out.extend([0, 1, *high, *low, high - 1].map(Expr::Number)),
            Type::Range(low, high) => out.extend((*low..=*high).map(Expr::Number)),
            Type::Enum(names) => out.extend((0..names.len()).map(|number| Expr::Member(ty, number))),
            Type::Union(members) => members.iter().for_each(|member| self.literals(*member, out)),
            _ => {}
        }
    }

    /// An index that may miss the array where it is a number.
    fn index(&mut self, ty: TypeId, gene: &Gene) -> Option<Expr> {
        if self.is_range(ty) && gene.pick >= 200 { Some(self.number(gene.child(0))) } else { self.simple(ty, gene) }
    }

    // Expressions

    /// A value to be stored in a variable of a simple type; where it is a number it may leave the range.
    pub(crate) fn assignable(&mut self, ty: TypeId, gene: &Gene) -> Option<Expr> {
        if gene.is_leaf() {
            return self.plain(ty, gene, false).or_else(|| self.simple(ty, gene));
        }
        let Type::Range(low, high) = *self.ty(ty) else { return self.simple(ty, gene) };
        match gene.below(8) {
            0 | 1 => self.simple(ty, gene),
            2..=4 => {
                // Round and round.
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
    fn simple(&mut self, ty: TypeId, gene: &Gene) -> Option<Expr> {
        if gene.is_leaf() {
            return self.plain(ty, gene, false);
        }
        match self.ty(ty) {
            Type::Boolean => Some(self.boolean(gene)),
            _ => match gene.below(6) {
                0 | 1 => self.plain(ty, gene, false),
                5 => self.call(&|_, result| result == ty, gene).or_else(|| self.plain(ty, gene, false)),
                _ => {
                    // A union takes the values of its members, and gives them back where it happens to hold one.
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

    fn numeric_local(&self, gene: &Gene) -> Option<Expr> {
        let names: Vec<LocalId> =
            self.visible.iter().map(|visible| visible.local).filter(|local| self.locals[*local].ty == LocalType::Number).collect();
        (!names.is_empty()).then(|| Expr::Read(Place { root: Root::Local(names[gene.below(names.len())]), path: Vec::new() }))
    }

    fn count(&mut self, gene: &Gene) -> Option<Expr> {
        let (bag, ty) = self.steady_reading(gene.child(0))?;
        self.open();
        let slot = self.slot(ty, &bag, false);
        let condition = self.boolean(gene.child(1));
        self.close();
        Some(Expr::Count(slot, bag, Box::new(condition)))
    }

    /// A bag that stays where it is.
    fn steady_reading(&mut self, gene: &Gene) -> Option<(Place, TypeId)> {
        let mut shapes = self.shapes(&|model, ty| matches!(model.types[ty].ty, Type::Bag(..)), false);
        shapes.retain(|shape| shape.slot.is_none());
        self.first_filled(shapes, gene, true)
    }

    pub(crate) fn boolean(&mut self, gene: &Gene) -> Expr {
        if gene.is_leaf() {
            return match gene.below(8) {
                0..=2 => Expr::Boolean(true),
                3 => Expr::Boolean(gene.pick % 4 != 0),
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
                Expr::Quantified { all: gene.pick % 2 == 0, binders, body: Box::new(body) }
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
                // What `ismember` says of an undefined value is a decision of the elaborator, tested there.
                if self.is_bound(&place) { question } else { Expr::And(vec![Expr::Not(Box::new(Expr::IsUndefined(place))), question]) }
            }
            _ => self.call(&|_, ty| ty == 0, gene).unwrap_or(Expr::Boolean(false)),
        }
    }

    /// Whether a place is a name bound by a loop or ruleset, or a parameter by value.
    fn is_bound(&self, place: &Place) -> bool {
        let Root::Local(local) = place.root else { return false };
        self.visible.iter().any(|visible| visible.local == local && visible.access == Access::Read)
    }

    fn operands(&mut self, gene: &Gene) -> Vec<Expr> {
        let count = gene.children.len().clamp(2, 3);
        (0..count).map(|number| self.boolean(gene.child(number))).collect()
    }

    fn equality(&mut self, gene: &Gene) -> Expr {
        let whole = |model: &Model, ty: TypeId| !model.types[ty].ty.is_simple() && !contains_bag(model, ty);
        if gene.pick % 8 == 5
            && let Some((left, ty)) = self.place(&whole, false, gene.child(0))
            && let Some((right, _)) = self.place(&|_, other| other == ty, false, gene.child(1))
        {
            return Expr::Same(gene.child(2).pick % 2 == 0, left, right);
        }
        let operator = if gene.child(2).pick % 2 == 0 { Comparison::Equal } else { Comparison::NotEqual };
        let found = self.place(&|model, ty| model.types[ty].ty.is_simple(), false, gene.child(0));
        let Some((place, ty)) = found else { return Expr::Boolean(true) };
        let right = if self.is_range(ty) && gene.child(1).pick >= 128 { Some(self.number(gene.child(1))) } else { self.simple(ty, gene.child(1)) };
        match right {
            Some(right) => Expr::Compare(operator, Box::new(Expr::Read(place)), Box::new(right)),
            None => Expr::Boolean(true),
        }
    }

    /// What a loop or quantifier runs over.
    fn binders(&mut self, gene: &Gene) -> Vec<(LocalId, Domain)> {
        let mut binders = vec![self.binder(gene)];
        if gene.children.len() == 1 {
            binders.push(self.binder(gene.child(0)));
        }
        binders
    }

    fn binder(&mut self, gene: &Gene) -> (LocalId, Domain) {
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
    fn bound_number(&mut self, gene: &Gene) -> Expr {
        let narrow = |model: &Model, ty: TypeId| matches!(model.types[ty].ty, Type::Range(..)) && !model.types[ty].ty.is_wide();
        match gene.below(3) {
            0 => Expr::Number(gene.pick as i64 % 4),
            1 => Expr::Constant(0),
            _ => self.place(&narrow, false, gene).map_or(Expr::Number(1), |(place, _)| Expr::Read(place)),
        }
    }

    /// A call of a function that changes nothing.
    fn call(&mut self, wanted: &dyn Fn(&Model, TypeId) -> bool, gene: &Gene) -> Option<Expr> {
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

    fn arguments(&mut self, function: FunctionId, gene: &Gene) -> Option<Vec<Argument>> {
        let called = &self.model.functions[function];
        let mut arguments = Vec::new();
        for (number, parameter) in called.parameters.iter().enumerate() {
            let LocalType::Of(ty) = called.locals[parameter.local].ty else { unreachable!("parameters have types") };
            let gene = gene.child(number);
            arguments.push(if parameter.by_reference {
                // What a function may write must be something that may be written here, even where it does not.
                Argument::Place(self.place(&|_, other| other == ty, true, gene)?.0)
            } else if self.ty(ty).is_simple() {
                Argument::Value(self.changing_call(ty, gene).map_or_else(|| self.assignable(ty, gene), Some)?)
            } else {
                Argument::Place(self.place(&|_, other| other == ty, false, gene)?.0)
            });
        }
        Some(arguments)
    }

    /// Now and then, as the only argument that depends on the state, a call of a function that changes something and takes nothing.
    fn changing_call(&mut self, ty: TypeId, gene: &Gene) -> Option<Expr> {
        if !CALLS_RUN_ONCE || !self.effects || gene.pick % 8 != 3 {
            return None;
        }
        let goes = |result: TypeId| result == ty || (self.is_range(result) && self.is_range(ty));
        let function =
            self.model.functions.iter().position(|function| !function.pure && function.parameters.is_empty() && function.result.is_some_and(goes))?;
        Some(Expr::Call(function, Vec::new()))
    }

    // Statements

    pub(crate) fn statements(&mut self, gene: &Gene) -> Vec<Stmt> {
        if gene.is_leaf() && gene.pick >= 64 {
            return self.statement(gene).into_iter().collect();
        }
        gene.children.iter().filter_map(|child| self.statement(child)).collect()
    }

    /// Whether bags must keep their elements where they are, because a position in one is in sight.
    fn bags_are_fixed(&self) -> bool {
        !self.slots.is_empty()
    }

    /// The wish to write an object, refused where that could empty a bag whose positions are in sight.
    fn target(&mut self, wanted: &dyn Fn(&Model, TypeId) -> bool, gene: &Gene) -> Option<(Place, TypeId)> {
        let fixed = self.bags_are_fixed();
        let mut shapes = self.shapes(&|model, ty| wanted(model, ty) && !(fixed && contains_bag(model, ty)), true);
        // Writing only local variables leads nowhere.
        let outlives = |shape: &Shape| !matches!(shape.root, Root::Local(local) if self.variables.contains(&local));
        if gene.pick % 4 != 3 && shapes.iter().any(outlives) {
            shapes.retain(outlives);
        }
        self.first_filled(shapes, gene, false)
    }

    pub(crate) fn statement(&mut self, gene: &Gene) -> Option<Stmt> {
        if gene.is_leaf() {
            return match gene.below(8) {
                6 => self.bag_statement(gene),
                7 => self.procedure_call(gene),
                _ => self.assignment(gene),
            };
        }
        match gene.below(32) {
            0..=8 => self.assignment(gene),
            9..=11 => {
                let mut branches = vec![(self.boolean(gene.child(0)), self.statements(gene.child(1)))];
                if gene.children.len() > 3 {
                    branches.push((self.boolean(gene.child(3)), self.statements(gene.child(2))));
                }
                let otherwise = (gene.children.len() > 2).then(|| self.statements(gene.child(2)));
                Some(Stmt::If(branches, otherwise))
            }
            12 | 13 => self.switch(gene),
            14..=16 => {
                self.open();
                let binders = self.binders(gene.child(0));
                let mut body = self.statements(gene.child(1));
                body.extend(self.statement(gene.child(2)));
                self.close();
                Some(Stmt::For(binders, body))
            }
            17 => {
                let rounds = 1 + gene.child(0).below(3) as i64;
                // The counter is of the range 0 .. 2 that every model has, or of none where that is too small.
                if rounds > 2 {
                    return self.assignment(gene);
                }
                self.open();
                let name = format!("w{}", self.locals.len());
                self.locals.push(Local { name, ty: LocalType::Of(1) });
                let counter = self.locals.len() - 1;
                self.variables.push(counter);
                let condition = self.boolean(gene.child(1));
                let body = self.statements(gene.child(2));
                self.close();
                Some(Stmt::While { counter, rounds, condition, body })
            }
            18 | 19 => {
                let (place, ty) = self.target(&|_, _| true, gene.child(0))?;
                if !self.surely_inside(&place) {
                    return None;
                }
                self.open();
                let local = self.bound(LocalType::Of(ty), Access::Write);
                let mut body = self.statements(gene.child(1));
                body.extend(self.statement(gene.child(2)));
                self.close();
                Some(Stmt::Alias(vec![(local, place)], body))
            }
            20 | 21 => self.procedure_call(gene),
            22 => Some(Stmt::Clear(self.target(&|_, _| true, gene.child(0))?.0)),
            23 => Some(Stmt::Undefine(self.target(&|_, _| true, gene.child(0))?.0)),
            24 | 25 => self.copy(gene),
            26 => match gene.child(0).pick {
                0..=150 => Some(Stmt::Assert(self.boolean(gene.child(1)), "claim".to_string())),
                151..=180 => Some(Stmt::Error("stop".to_string())),
                181..=200 => match (self.in_function, self.returns) {
                    (true, Some(ty)) => self.result(ty, gene.child(1)),
                    _ => Some(Stmt::Return(None)),
                },
                _ => Some(Stmt::Put(self.number(gene.child(1)))),
            },
            27..=29 => self.bag_statement(gene),
            _ if gene.pick % 2 == 0 => self.impure_condition(gene),
            _ => self.impure_result(gene),
        }
    }

    /// Whether no index of a place misses its array. An alias of a place outside that is never used is a fault in CMurphi and none in rumur.
    fn surely_inside(&self, place: &Place) -> bool {
        let mut ty = match place.root {
            Root::Global(number) => self.model.globals[number].1,
            Root::Local(local) => match self.locals[local].ty {
                LocalType::Of(ty) => ty,
                LocalType::Number | LocalType::Slot(_) => return true,
            },
        };
        for step in &place.path {
            match (step, self.ty(ty)) {
                (Step::Field(number), Type::Record(fields)) => ty = fields[*number].1,
                (Step::Slot(_), Type::Bag(_, element)) => ty = *element,
                (Step::Index(index), Type::Array(domain, element)) => {
                    let inside = match (&**index, self.ty(*domain)) {
                        (Expr::Number(value), Type::Range(low, high)) => (low..=high).contains(&value),
                        (Expr::Read(place), Type::Range(..)) => match place.root {
                            Root::Local(local) => self.locals[local].ty == LocalType::Of(*domain),
                            Root::Global(number) => self.model.globals[number].1 == *domain,
                        },
                        (Expr::Read(_) | Expr::Member(..) | Expr::Boolean(_), _) => true,
                        _ => false,
                    };
                    if !inside {
                        return false;
                    }
                    ty = *element;
                }
                _ => return false,
            }
        }
        true
    }

    fn assignment(&mut self, gene: &Gene) -> Option<Stmt> {
        let (place, ty) = self.target(&|model, ty| model.types[ty].ty.is_simple(), gene.child(0))?;
        let value = self.assignable(ty, gene.child(1));
        // A scalarset of which no value is in sight.
        Some(value.map_or(Stmt::Undefine(place.clone()), |value| Stmt::Assign(place, value)))
    }

    fn copy(&mut self, gene: &Gene) -> Option<Stmt> {
        let (to, ty) = self.target(&|model, ty| !model.types[ty].ty.is_simple(), gene.child(0))?;
        let (from, _) = self.place(&|_, other| other == ty, false, gene.child(1))?;
        Some(Stmt::Copy(to, from))
    }

    /// `return` with a value.
    pub(crate) fn result(&mut self, ty: TypeId, gene: &Gene) -> Option<Stmt> {
        let value = if self.ty(ty).is_simple() {
            Argument::Value(self.assignable(ty, gene)?)
        } else {
            Argument::Place(self.place(&|_, other| other == ty, false, gene)?.0)
        };
        Some(Stmt::Return(Some(value)))
    }

    fn switch(&mut self, gene: &Gene) -> Option<Stmt> {
        let (place, ty) = self.place(&|model, ty| model.types[ty].ty.is_simple(), false, gene.child(0))?;
        let mut labels = Vec::new();
        self.literals(ty, &mut labels);
        if labels.is_empty() {
            return None;
        }
        let (first, rest) = labels.split_at(1 + gene.child(1).below(labels.len()));
        let mut cases = vec![(first.to_vec(), self.statements(gene.child(1)))];
        if !rest.is_empty() {
            cases.push((rest[..1].to_vec(), self.statements(gene.child(2))));
        }
        let otherwise = (gene.children.len() > 3).then(|| self.statements(gene.child(3)));
        Some(Stmt::Switch(Expr::Read(place), cases, otherwise))
    }

    fn procedure_call(&mut self, gene: &Gene) -> Option<Stmt> {
        if !self.effects || self.bags_are_fixed() {
            return None;
        }
        let procedures: Vec<FunctionId> =
            (0..self.model.functions.len()).filter(|function| self.model.functions[*function].result.is_none()).collect();
        if procedures.is_empty() {
            return None;
        }
        let function = procedures[gene.child(3).below(procedures.len())];
        Some(Stmt::Call(function, self.arguments(function, gene)?))
    }

    /// `x := f(…)` where the function changes more than its result. Which of index and call goes first is nowhere said, so `x` has no index.
    fn impure_result(&mut self, gene: &Gene) -> Option<Stmt> {
        if !self.effects || self.bags_are_fixed() {
            return None;
        }
        let functions: Vec<FunctionId> = (0..self.model.functions.len())
            .filter(|function| !self.model.functions[*function].pure && self.model.functions[*function].result.is_some())
            .collect();
        if functions.is_empty() {
            return None;
        }
        let function = functions[gene.child(3).below(functions.len())];
        let result = self.model.functions[function].result?;
        let (place, _) = self.target(&|_, ty| ty == result, gene.child(2))?;
        if place.path.iter().any(|step| matches!(step, Step::Index(_))) {
            return None;
        }
        let arguments = self.arguments(function, gene)?;
        Some(match self.ty(result).is_simple() {
            true => Stmt::Assign(place, Expr::Call(function, arguments)),
            false => Stmt::CopyResult(place, function, arguments),
        })
    }

    /// `if f(…) = x then … end` where the function changes something, so that it matters how often it is called.
    fn impure_condition(&mut self, gene: &Gene) -> Option<Stmt> {
        let Some(Stmt::Assign(_, call @ Expr::Call(function, _))) = self.impure_result(gene) else { return None };
        let result = self.model.functions[function].result?;
        // A name bound by a loop, or a literal: nothing that the function could change.
        let mut others: Vec<Expr> = self.plain(result, gene.child(1), true).into_iter().collect();
        if CALLS_RUN_ONCE {
            let holds = |ty: &TypeId| matches!(self.ty(*ty), Type::Union(members) if members.contains(&result));
            for ty in (0..self.model.types.len()).filter(holds) {
                others.extend(self.plain(ty, gene.child(1), true).filter(|other| matches!(other, Expr::Read(_))));
            }
        }
        if others.is_empty() {
            return None;
        }
        let other = others.swap_remove(gene.child(0).below(others.len()));
        let test = Expr::Compare(Comparison::Equal, Box::new(call), Box::new(other));
        Some(Stmt::If(vec![(test, self.statements(gene.child(1)))], None))
    }

    fn bag_statement(&mut self, gene: &Gene) -> Option<Stmt> {
        let mut shapes = self.shapes(&|model, ty| matches!(model.types[ty].ty, Type::Bag(..)), true);
        shapes.retain(|shape| shape.slot.is_none());
        let (bag, ty) = self.first_filled(shapes, gene.child(0), true)?;
        let Type::Bag(_, element) = *self.ty(ty) else { unreachable!("a bag") };
        if gene.child(1).pick >= 190 && !self.bags_are_fixed() {
            self.open();
            let slot = self.slot(ty, &bag, false);
            let condition = self.boolean(gene.child(1));
            self.close();
            return Some(Stmt::BagRemoveIf(slot, bag, condition));
        }
        let value = if self.ty(element).is_simple() {
            Argument::Value(self.assignable(element, gene.child(1))?)
        } else {
            Argument::Place(self.place(&|_, other| other == element, false, gene.child(1))?.0)
        };
        Some(Stmt::BagAdd(value, bag))
    }

    /// Removes a chosen element, as the last act of a rule under `choose`.
    pub(crate) fn removal(&mut self, gene: &Gene) -> Option<Stmt> {
        let slot = self.slots.iter().rev().find(|slot| slot.chosen)?;
        (gene.pick % 4 != 3).then(|| Stmt::BagRemove(slot.local, slot.bag.clone()))
    }
}
