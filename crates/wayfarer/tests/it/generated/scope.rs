//! The names that are in scope where code is built, and the places that can be reached from them.

use super::gene::Gene;
use super::tree::{Domain, Expr, Local, LocalId, LocalType, Model, Place, Root, Step, Type, TypeId};

/// Whether a call that is part of a comparison with a union, or an argument of another call, runs once. The
/// elaborator expands some of them twice; set this once it does not.
pub(crate) const CALLS_RUN_ONCE: bool = false;

/// The permitted uses of a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Access {
    Read,
    Write,
}

#[derive(Clone)]
pub(super) struct Visible {
    pub(super) local: LocalId,
    pub(super) access: Access,
}

/// A position in a bag, with the bag it belongs to.
#[derive(Clone)]
pub(super) struct Slot {
    pub(super) local: LocalId,
    pub(super) bag: Place,
    element: TypeId,
    /// Bound by `choose`, so that the element can be changed and removed.
    pub(super) chosen: bool,
}

pub(crate) struct Scope<'m> {
    pub(crate) model: &'m Model,
    pub(crate) locals: Vec<Local>,
    /// Locals that were declared in the body that is being built.
    pub(crate) variables: Vec<LocalId>,
    pub(crate) returns: Option<TypeId>,
    pub(crate) in_function: bool,
    /// Whether globals may be written and impure functions called.
    pub(super) effects: bool,
    pub(super) visible: Vec<Visible>,
    pub(super) slots: Vec<Slot>,
    marks: Vec<(usize, usize)>,
}

/// The path from a name to a part of it; indices are filled in later.
#[derive(Clone)]
pub(super) enum Part {
    Field(usize),
    Index(TypeId),
}

#[derive(Clone)]
pub(super) struct Shape {
    pub(super) root: Root,
    pub(super) slot: Option<usize>,
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

    /// A name bound by a loop, ruleset or alias. Names are reused once they are out of scope.
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

    pub(super) fn ty(&self, ty: TypeId) -> &'m Type {
        &self.model.types[ty].ty
    }

    pub(super) fn is_range(&self, ty: TypeId) -> bool {
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

    pub(super) fn parameter(&mut self, gene: &Gene) -> (LocalId, Domain) {
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
    pub(super) fn narrow_types(&self) -> Vec<TypeId> {
        let declared = |ty: &TypeId| !(self.model.types[*ty].inline && matches!(self.ty(*ty), Type::Enum(_)));
        (0..self.model.types.len()).filter(declared).filter(|ty| self.ty(*ty).is_simple() && !self.ty(*ty).is_wide()).collect()
    }

    // Places

    pub(super) fn shapes(&self, wanted: &dyn Fn(&Model, TypeId) -> bool, write: bool) -> Vec<Shape> {
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

    pub(super) fn parts(&self, shape: Shape, wanted: &dyn Fn(&Model, TypeId) -> bool, out: &mut Vec<Shape>) {
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

    pub(super) fn fill(&mut self, shape: &Shape, gene: &Gene, steady: bool) -> Option<(Place, TypeId)> {
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

    /// A place whose indices are literals or bound by a loop or ruleset, so that it does not change.
    pub(crate) fn steady_place(&mut self, wanted: &dyn Fn(&Model, TypeId) -> bool, gene: &Gene) -> Option<(Place, TypeId)> {
        let mut shapes = self.shapes(wanted, true);
        shapes.retain(|shape| shape.slot.is_none());
        self.first_filled(shapes, gene, true)
    }

    pub(super) fn first_filled(&mut self, shapes: Vec<Shape>, gene: &Gene, steady: bool) -> Option<(Place, TypeId)> {
        let from = gene.below(shapes.len().max(1));
        (0..shapes.len()).find_map(|number| self.fill(&shapes[(from + number) % shapes.len()], gene, steady))
    }

    /// A value without parts: a literal or a name. Scalarsets have no literals, so there may be none.
    pub(super) fn plain(&self, ty: TypeId, gene: &Gene, steady: bool) -> Option<Expr> {
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

    pub(super) fn literals(&self, ty: TypeId, out: &mut Vec<Expr>) {
        match self.ty(ty) {
            Type::Boolean => out.extend([Expr::Boolean(false), Expr::Boolean(true)]),
            Type::Range(low, high) if high - low > 16 => out.extend([0, 1, *high, *low, high - 1].map(Expr::Number)),
            Type::Range(low, high) => out.extend((*low..=*high).map(Expr::Number)),
            Type::Enum(names) => out.extend((0..names.len()).map(|number| Expr::Member(ty, number))),
            Type::Union(members) => members.iter().for_each(|member| self.literals(*member, out)),
            _ => {}
        }
    }

    /// An index, which may be out of bounds if it is a number.
    pub(super) fn index(&mut self, ty: TypeId, gene: &Gene) -> Option<Expr> {
        if self.is_range(ty) && gene.pick >= 200 { Some(self.number(gene.child(0))) } else { self.simple(ty, gene) }
    }
}
