//! Functions and procedures: their declarations, and one instance for each combination of regions that calls pass to
//! their references.

use super::Elaborator;
use super::asymmetries::Owner;
use super::calls::reference_place;
use super::code::{Code, Kind};
use super::effects::Effects;
use super::locals;
use super::operand::{Object, Operand, Storage};
use super::scopes::{Scope, Symbol};
use super::types::Ty;
use crate::murphi::ast;
use crate::source::Span;
use wayfarer_ir::{Block, Body, Expr, FaultKind, Function, FunctionId, Parameter, Reg, Region, Stmt};

/// A function as it was declared.
pub(super) struct Declared<'a> {
    pub(super) ast: &'a ast::Function,
    pub(super) parameters: Vec<Declaration>,
    pub(super) result: Option<Ty>,
    /// The number of global names that its body sees.
    visible: usize,
    /// Names declared in its parameters' types.
    names: Scope,
    /// Its effects, known once it was checked. While it is checked, those found so far.
    pub(super) effects: Effects,
}

/// A parameter as it was declared.
#[derive(Clone)]
pub(super) struct Declaration {
    pub(super) name: String,
    pub(super) ty: Ty,
    pub(super) by_reference: bool,
}

/// A function that must still be elaborated for given regions of its references.
pub(super) struct Instance {
    function: usize,
    regions: Vec<Region>,
    id: FunctionId,
}

impl<'a> Elaborator<'a> {
    /// Enters a function's name and signature.
    pub(super) fn declare_function(&mut self, function: &'a ast::Function) {
        // Names of enums declared among the parameters belong to the function; its result is read before its
        // parameters' names are known.
        self.scopes.open();
        let mut parameters = Vec::new();
        for group in &function.params {
            let ty = self.type_expr(&group.ty, None);
            parameters.extend(group.names.iter().map(|name| Declaration { name: name.text.clone(), ty, by_reference: group.by_reference }));
        }
        let result = function.result.as_ref().map(|result| self.type_expr(result, None));
        let names = self.scopes.innermost();
        self.scopes.close();
        self.declare(&function.name, Symbol::Function(self.functions.len()));
        let visible = self.scopes.declared();
        self.functions.push(Declared { ast: function, parameters, result, visible, names, effects: Effects::default() });
    }

    /// Checks a function's body, and records its effects.
    ///
    /// A recursive call has the effects found so far. The body is read again, without reports, until it writes no
    /// further reference: a reference that only recursive calls could write is not written.
    pub(super) fn check_function(&mut self, function: &'a ast::Function) {
        let Some(number) = self.functions.iter().position(|declared| std::ptr::eq(declared.ast, function)) else { return };
        let checking = std::mem::replace(&mut self.checking, true);
        let references = self.reference_sizes(number).len();
        let (_, effects) = self.function(number, vec![Region::State; references]);
        let mut known = std::mem::replace(&mut self.functions[number].effects, effects).references.len();
        let muted = std::mem::replace(&mut self.muted, true);
        while self.functions[number].effects.references.len() > known {
            known = self.functions[number].effects.references.len();
            self.functions[number].effects = self.function(number, vec![Region::State; references]).1;
        }
        self.muted = muted;
        self.checking = checking;
        self.check_rounds(Owner::Function(number), &function.decls, &function.body);
    }

    /// The function to call for given regions of references.
    pub(super) fn instance(&mut self, function: usize, regions: Vec<Region>) -> FunctionId {
        if self.checking {
            return FunctionId(0);
        }
        let next = FunctionId(self.instances.len() as u32);
        let id = *self.instances.entry((function, regions.clone())).or_insert(next);
        if id == next {
            self.pending.push(Instance { function, regions, id });
        }
        id
    }

    /// Elaborates all functions that are called. They were checked before, so that nothing is reported again.
    pub(super) fn elaborate_pending(&mut self) {
        let muted = std::mem::replace(&mut self.muted, true);
        let mut made = std::mem::take(&mut self.wrapped);
        while let Some(Instance { function, regions, id }) = self.pending.pop() {
            made.push((id, self.function(function, regions).0));
        }
        self.muted = muted;
        made.sort_by_key(|(id, _)| *id);
        self.program.functions.extend(made.into_iter().map(|(_, function)| function));
    }

    /// Makes a function out of a formula that needs a frame or is used more than once.
    pub(super) fn wrap(&mut self, name: &str, code: Code, value: Expr, parameters: u32, span: Span) -> FunctionId {
        let id = FunctionId(self.instances.len() as u32);
        self.instances.insert((usize::MAX - self.wrapped.len(), Vec::new()), id);
        let no_result = self.fault(FaultKind::NoResult, span, format!("`{name}` ended without a result"));
        let body = Body { registers: code.registers, frame: code.frame.words, block: vec![Stmt::Return(Some(value))] };
        let parameters = vec![Parameter::Value; parameters as usize];
        self.wrapped.push((id, Function { name: name.to_string(), parameters, result: true, no_result, body, at: self.at(span) }));
        id
    }

    /// The sizes of a function's references, in order: the result if it is not a single value, `var` parameters, and
    /// parameters that are not single values.
    pub(super) fn reference_sizes(&self, function: usize) -> Vec<u32> {
        let declared = &self.functions[function];
        let result = declared.result.filter(|ty| !self.types.is_value(*ty));
        let parameters = declared.parameters.iter().filter(|parameter| parameter.by_reference || !self.types.is_value(parameter.ty));
        result.into_iter().chain(parameters.map(|parameter| parameter.ty)).map(|ty| self.types.bits(ty)).collect()
    }

    fn function(&mut self, number: usize, regions: Vec<Region>) -> (Function, Effects) {
        let (function, result, visible) = (self.functions[number].ast, self.functions[number].result, self.functions[number].visible);
        let aside = self.scopes.set_aside();
        let code = std::mem::replace(&mut self.code, Code::new(Kind::Function(number, result), 0));
        self.scopes.visible = visible;
        self.code.regions = regions.clone();
        self.scopes.open_with(self.functions[number].names.clone());
        self.scopes.open();

        let mut block = Block::new();
        let parameters = self.enter_parameters(number, &regions, &mut block);
        self.scopes.open();
        let addressed = locals::addressed(self, &function.body);
        self.local_declarations(&function.decls, &addressed);
        self.statements(&function.body, &mut block);

        let message = format!("`{}` ended without a result", function.name.text);
        let no_result = self.fault(FaultKind::NoResult, function.span, message);
        let whole = result.is_some_and(|ty| !self.types.is_value(ty));
        if whole {
            block.push(Stmt::Fault(no_result));
        }
        let code = std::mem::replace(&mut self.code, code);
        self.scopes.restore(aside);
        let body = Body { registers: code.registers, frame: code.frame.words, block };
        let at = self.at(function.span);
        let made = Function { name: function.name.text.clone(), parameters, result: result.is_some() && !whole, no_result, body, at };
        (made, code.effects)
    }

    /// Declares the parameters of a function in the innermost scope. Those passed by value cannot be written.
    fn enter_parameters(&mut self, number: usize, regions: &[Region], block: &mut Block) -> Vec<Parameter> {
        const FIXED: &str = "a parameter passed by value";
        let sizes = self.reference_sizes(number);
        let references: Vec<Parameter> =
            sizes.iter().zip(regions).map(|(bits, region)| Parameter::Reference { region: *region, bits: *bits }).collect();
        let mut next = u32::from(self.functions[number].result.is_some_and(|ty| !self.types.is_value(ty)));
        let mut parameters: Vec<Parameter> = references[..next as usize].to_vec();
        let declared = self.functions[number].parameters.clone();
        // Value parameters are the first registers.
        let values = declared.iter().filter(|parameter| !parameter.by_reference && self.types.is_value(parameter.ty)).count() as u32;
        let mut value = 0;
        self.code.reserve(values);
        let names = self.functions[number].ast.params.iter().flat_map(|group| &group.names);
        for (parameter, name) in declared.iter().zip(names) {
            let (ty, span) = (parameter.ty, name.span);
            let storage = if parameter.by_reference || !self.types.is_value(ty) {
                let place = reference_place(next);
                parameters.push(references[next as usize]);
                next += 1;
                if parameter.by_reference {
                    Storage::Memory(place)
                } else {
                    let own = self.frame_place(ty, span);
                    block.push(Stmt::Copy { to: own.clone(), from: place, bits: self.types.bits(ty) });
                    Storage::Memory(own)
                }
            } else {
                value += 1;
                parameters.push(Parameter::Value);
                Storage::Register(Reg(value - 1))
            };
            let fixed = (!parameter.by_reference).then_some(FIXED);
            let operand = if ty == Ty::ERROR { Operand::Error } else { Operand::Object(Object { storage, ty, fixed, span }) };
            self.declare(name, Symbol::Operand(operand));
        }
        parameters
    }
}
