//! Builds statements out of genes, from the names that are visible.

use super::build::contains_bag;
use super::gene::Gene;
use super::scope::{Access, CALLS_RUN_ONCE, Scope, Shape};
use super::tree::{Argument, Comparison, Expr, FunctionId, Local, LocalType, Model, Place, Root, Step, Stmt, Type, TypeId};

impl Scope<'_> {
    pub(crate) fn statements(&mut self, gene: &Gene) -> Vec<Stmt> {
        if gene.is_leaf() && gene.pick >= 64 {
            return self.statement(gene).into_iter().collect();
        }
        gene.children.iter().filter_map(|child| self.statement(child)).collect()
    }

    /// Whether bags must keep their elements in place, because a position in one is in scope.
    pub(super) fn bags_are_fixed(&self) -> bool {
        !self.slots.is_empty()
    }

    /// An object to write, unless that could empty a bag whose positions are in scope.
    pub(super) fn target(&mut self, wanted: &dyn Fn(&Model, TypeId) -> bool, gene: &Gene) -> Option<(Place, TypeId)> {
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
                // The counter is of the range 0 .. 2 that every model has, or of no type if that is too small.
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
            _ if gene.is_even() => self.impure_condition(gene),
            _ => self.impure_result(gene),
        }
    }

    /// Whether all indices of a place are in bounds. An unused alias of a place out of bounds is a fault in CMurphi
    /// but not in rumur.
    pub(super) fn surely_inside(&self, place: &Place) -> bool {
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

    pub(super) fn assignment(&mut self, gene: &Gene) -> Option<Stmt> {
        let (place, ty) = self.target(&|model, ty| model.types[ty].ty.is_simple(), gene.child(0))?;
        let value = self.assignable(ty, gene.child(1));
        // A scalarset of which no value is in scope.
        Some(value.map_or(Stmt::Undefine(place.clone()), |value| Stmt::Assign(place, value)))
    }

    pub(super) fn copy(&mut self, gene: &Gene) -> Option<Stmt> {
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

    pub(super) fn switch(&mut self, gene: &Gene) -> Option<Stmt> {
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

    pub(super) fn procedure_call(&mut self, gene: &Gene) -> Option<Stmt> {
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

    /// `x := f(…)` with a function that changes more than its result. The order of index and call is not defined, so
    /// `x` has no index.
    pub(super) fn impure_result(&mut self, gene: &Gene) -> Option<Stmt> {
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

    /// `if f(…) = x then … end` with a function that has effects, so that the number of calls matters.
    pub(super) fn impure_condition(&mut self, gene: &Gene) -> Option<Stmt> {
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

    pub(super) fn bag_statement(&mut self, gene: &Gene) -> Option<Stmt> {
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
