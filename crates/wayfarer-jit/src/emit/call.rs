//! Calls: inlined while the caller stays small, otherwise to functions of their own.

use super::statement::Flow;
use super::{Activation, Area, Condition, DONE, Depth, Emitter, Environment, Fuel, NO_CODE, NO_STACK, Outcome, Register, Spot, Stop, Val};
use crate::foundry::Symbol;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, ExternalName, GlobalValueData, InstBuilder, Signature, Value, types};
use std::mem::offset_of;
use wayfarer_ir::{Argument, Expr, FaultId, Function, FunctionId, Parameter, Stmt};

/// Larger frames, in words, lie outside the stack, so that it stays small.
pub(crate) const LARGEST_LOCAL: u32 = 128;
/// The most words of all frames among a function's locals.
pub(crate) const LARGEST_LOCALS: u32 = 1 << 12;

/// Functions of at most this many nodes are inlined as long as any are.
const SMALL_FUNCTION: usize = 120;

impl Emitter<'_, '_> {
    /// Begins to emit code with the given registers and frame, all zero.
    pub(crate) fn begin(&mut self, registers: u32, leaking: Vec<bool>, frame: u32) -> Outcome<()> {
        let frame = self.new_frame(frame)?;
        let mut slots = Vec::with_capacity(registers as usize);
        for leaks in &leaking {
            slots.push(if *leaks {
                let variable = self.builder.declare_var(types::I64);
                let zero = self.builder.ins().iconst(types::I64, 0);
                self.builder.def_var(variable, zero);
                Register::Varies(variable)
            } else {
                Register::Holds(Val::constant(0))
            });
        }
        self.activations.push(Activation { registers: slots, leaking, frame, references: Vec::new(), nesting: 0, exit: None, result: None });
        Ok(())
    }

    /// Ends the code that was begun, after its statements. Returns its result. Control continues unless the flow is
    /// `Ended`.
    pub(crate) fn end(&mut self, flow: Flow, without_result: Option<FaultId>) -> Outcome<(Flow, Val)> {
        let mut flow = flow;
        let activation = self.activation();
        let (exit, result) = (activation.exit, activation.result);
        let value = match (exit, result) {
            (None, Some(value)) => {
                flow = Flow::Next;
                value
            }
            (None, None) if flow == Flow::Ended => Val::constant(0),
            (None, None) => match without_result {
                Some(fault) => self.always_fault(fault)?,
                None => Val::constant(0),
            },
            (Some((exit, variable)), _) => {
                if flow == Flow::Next {
                    if let Some(fault) = without_result {
                        self.always_fault(fault)?;
                    }
                    let zero = self.builder.ins().iconst(types::I64, 0);
                    self.builder.def_var(variable, zero);
                    self.jump(exit);
                }
                self.enter(exit);
                flow = Flow::Next;
                Val::any(self.builder.use_var(variable))
            }
        };
        let activation = self.activations.pop().expect("it was begun");
        if let Some(frame) = activation.frame {
            if flow == Flow::Next {
                self.drop_frame(frame);
            } else if frame.far().is_none() {
                self.local_words -= frame.words();
            }
        }
        Ok((flow, value))
    }

    fn new_frame(&mut self, words: u32) -> Outcome<Option<Area>> {
        if words == 0 {
            return Ok(None);
        }
        let start = self.local_words;
        if words > LARGEST_LOCAL || start + words > LARGEST_LOCALS {
            return self.new_far_frame(words).map(Some);
        }
        self.local_words += words;
        if words <= super::place::WORDS_IN_VARIABLES {
            let area = self.area_in_variables(super::place::Home::Local(start), words);
            let zero = self.builder.ins().iconst(types::I64, 0);
            for word in 0..words {
                self.write_word(area, word, zero);
            }
            return Ok(Some(area));
        }
        let area = Area::local(start, words);
        self.zero(Spot::of(area), words * 64);
        Ok(Some(area))
    }

    /// A frame outside the stack.
    fn new_far_frame(&mut self, words: u32) -> Outcome<Area> {
        let environment = self.environment.ok_or(Stop::Large)?;
        let offset = offset_of!(Environment, heap) as i32;
        let address = self.builder.ins().load(types::I64, Self::trusted(), environment, offset);
        let next = self.builder.ins().iadd_imm_s(address, i64::from(words) * 8);
        self.builder.ins().store(Self::trusted(), next, environment, offset);
        let area = Area::memory(address, words);
        self.zero(Spot::of(area), words * 64);
        Ok(area)
    }

    /// Releases a frame.
    fn drop_frame(&mut self, area: Area) {
        match (area.far(), self.environment) {
            (Some(address), Some(environment)) => {
                self.builder.ins().store(Self::trusted(), address, environment, offset_of!(Environment, heap) as i32);
            }
            _ => self.local_words -= area.words(),
        }
    }

    pub(crate) fn call(&mut self, function: FunctionId, arguments: &[Argument], fuel: FaultId) -> Outcome<Val> {
        let callee = &self.setting.program.functions[function.0 as usize];
        if let ([Stmt::Return(Some(expr))], 0) = (&callee.body.block[..], callee.body.frame)
            && self.may_inline(function)
        {
            return self.call_expression(function, callee, expr, arguments, fuel);
        }
        if self.faults_are_noted() {
            return Err(Stop::Branches);
        }
        if !self.may_inline(function) {
            return self.call_away(function, callee, arguments, fuel);
        }
        let (values, references) = self.arguments(arguments)?;
        self.burn(fuel)?;
        let words = callee.body.frame;
        let entered = self.enter_call(words, fuel)?;
        self.begin(callee.body.registers, self.setting.shape.leaking_in_function(function).to_vec(), words)?;
        self.bind(values, references);
        let flow = self.statements(&callee.body.block)?;
        let (flow, value) = self.end(flow, callee.result.then_some(callee.no_result))?;
        if flow == Flow::Ended {
            // Every path through it faulted. The following code is never run, but is emitted.
            let next = self.block();
            self.enter(next);
        }
        self.leave_call(entered);
        Ok(value)
    }

    /// Inlines a function that is only an expression.
    fn call_expression(&mut self, function: FunctionId, callee: &Function, expr: &Expr, arguments: &[Argument], fuel: FaultId) -> Outcome<Val> {
        let leaking = self.setting.shape.leaking_in_function(function).to_vec();
        if self.faults_are_noted() && (self.depth == Depth::Counted || leaking.contains(&true)) {
            return Err(Stop::Branches);
        }
        let (values, references) = self.arguments(arguments)?;
        self.burn(fuel)?;
        let entered = self.enter_call(0, fuel)?;
        self.begin(callee.body.registers, leaking, 0)?;
        self.bind(values, references);
        self.write_one()?;
        let value = self.expression(expr)?;
        self.activations.pop();
        self.leave_call(entered);
        Ok(value)
    }

    fn may_inline(&self, function: FunctionId) -> bool {
        let shape = self.setting.shape;
        let nodes = shape.nodes_in_function(function);
        let limit = if nodes <= SMALL_FUNCTION { self.inline_until } else { self.inline_until / 3 };
        !shape.is_recursive(function) && self.written + nodes <= limit
    }

    fn arguments(&mut self, arguments: &[Argument]) -> Outcome<(Vec<Val>, Vec<Spot>)> {
        let (mut values, mut references) = (Vec::new(), Vec::new());
        for argument in arguments {
            match argument {
                Argument::Value(expr) => values.push(self.expression(expr)?),
                Argument::Place(place) => references.push(self.spot(place)?),
            }
        }
        Ok((values, references))
    }

    fn bind(&mut self, values: Vec<Val>, references: Vec<Spot>) {
        for (index, value) in values.into_iter().enumerate() {
            self.set_register(wayfarer_ir::Reg(index as u32), value);
        }
        self.activation_mut().references = references;
    }

    /// Tests the limits on nested calls, if they are counted. Returns the words by which the frames grew.
    fn enter_call(&mut self, words: u32, fault: FaultId) -> Outcome<Option<u32>> {
        let (Depth::Counted, Some(environment)) = (self.depth, self.environment) else { return Ok(None) };
        let limits = self.setting.limits;
        for (offset, more, limit) in
            [(offset_of!(Environment, depth), 1, limits.call_depth), (offset_of!(Environment, frame_words), words, limits.frame_words)]
        {
            let count = self.builder.ins().load(types::I64, Self::trusted(), environment, offset as i32);
            let count = self.builder.ins().iadd_imm_s(count, i64::from(more));
            let above = self.builder.ins().icmp_imm_s(IntCC::UnsignedGreaterThan, count, i64::from(limit));
            self.fault_if(Condition::Flag(above), fault)?;
            self.builder.ins().store(Self::trusted(), count, environment, offset as i32);
        }
        Ok(Some(words))
    }

    fn leave_call(&mut self, entered: Option<u32>) {
        let (Some(words), Some(environment)) = (entered, self.environment) else { return };
        for (offset, less) in [(offset_of!(Environment, depth), 1), (offset_of!(Environment, frame_words), words)] {
            let count = self.builder.ins().load(types::I64, Self::trusted(), environment, offset as i32);
            let count = self.builder.ins().iadd_imm_s(count, -i64::from(less));
            self.builder.ins().store(Self::trusted(), count, environment, offset as i32);
        }
    }

    /// Calls a function that has code of its own. Everything it may access is in memory meanwhile.
    fn call_away(&mut self, function: FunctionId, callee: &Function, arguments: &[Argument], fuel: FaultId) -> Outcome<Val> {
        let Fuel::Counted(counter) = self.fuel else { return Err(Stop::Meter) };
        let Some(environment) = self.environment else { return Err(Stop::Large) };
        let (values, references) = self.arguments(arguments)?;
        self.burn(fuel)?;
        let entered = self.enter_call(callee.body.frame, fuel)?;
        let slot = crate::functions::slot(function.0, self.depth);
        let table = self.symbol(Symbol::Functions);
        let address = self.builder.ins().load(types::I64, Self::trusted(), table, (slot * size_of::<usize>()) as i32);
        self.expect_code(address, slot, environment);

        let sizes: Vec<u32> = callee
            .parameters
            .iter()
            .filter_map(|parameter| match parameter {
                Parameter::Reference { bits, .. } => Some(*bits),
                Parameter::Value => None,
            })
            .collect();
        let state = self.state;
        self.put_area_into_memory(state);
        for (spot, bits) in references.iter().zip(&sizes) {
            self.put_spot_into_memory(*spot, *bits);
        }
        let mut passed = vec![environment, self.home(state)];
        for value in values {
            passed.push(self.word(value));
        }
        for (spot, bits) in references.iter().zip(&sizes) {
            let (address, shift) = self.reference(*spot, *bits);
            passed.extend([address, shift]);
        }
        let left = self.builder.use_var(counter);
        self.builder.ins().store(Self::trusted(), left, environment, offset_of!(Environment, fuel) as i32);

        let results = self.call_address(address, &passed, 2);
        let (status, value) = (results[0], results[1]);

        let left = self.builder.ins().load(types::I64, Self::trusted(), environment, offset_of!(Environment, fuel) as i32);
        self.builder.def_var(counter, left);
        self.take_area_from_memory(state);
        for (spot, bits) in references.iter().zip(&sizes) {
            self.take_spot_from_memory(*spot, *bits);
        }
        let (bad, good) = (self.block(), self.block());
        self.builder.set_cold_block(bad);
        let done = self.builder.ins().icmp_imm_s(IntCC::Equal, status, DONE);
        self.branch(done, good, bad);
        self.enter(bad);
        self.pass_on(status);
        self.enter(good);
        self.leave_call(entered);
        Ok(if callee.result { Val::any(value) } else { Val::constant(0) })
    }

    /// Ends the function if a callee has no code yet, and records the callee.
    fn expect_code(&mut self, address: Value, slot: usize, environment: Value) {
        let (missing, there) = (self.block(), self.block());
        self.builder.set_cold_block(missing);
        self.branch(address, there, missing);
        self.enter(missing);
        let slot = self.builder.ins().iconst(types::I64, slot as i64);
        self.builder.ins().store(Self::trusted(), slot, environment, offset_of!(Environment, missing) as i32);
        let status = self.builder.ins().iconst(types::I64, NO_CODE);
        self.pass_on(status);
        self.enter(there);
    }

    /// Ends the function with the status of a callee.
    fn pass_on(&mut self, status: Value) {
        match self.faults {
            super::Faults::Go(block) => self.jump(block),
            _ if self.gives_result => {
                let zero = self.builder.ins().iconst(types::I64, 0);
                self.builder.ins().return_(&[status, zero]);
            }
            _ => {
                self.builder.ins().return_(&[status]);
            }
        }
    }

    /// Emits a function of the model as a function of its own: environment, state, values, references.
    pub(crate) fn function(&mut self, function: FunctionId) -> Outcome<()> {
        let program = self.setting.program;
        let callee = &program.functions[function.0 as usize];
        self.gives_result = true;
        let environment = self.parameter(0);
        self.environment = Some(environment);
        self.state = Area::memory(self.parameter(1), program.words);
        if self.setting.shape.is_recursive(function) {
            let pointer = self.builder.ins().get_stack_pointer(types::I64);
            let end = self.builder.ins().load(types::I64, Self::trusted(), environment, offset_of!(Environment, stack_end) as i32);
            let low = self.builder.ins().icmp(IntCC::UnsignedLessThan, pointer, end);
            let (bad, good) = (self.block(), self.block());
            self.builder.set_cold_block(bad);
            self.branch(low, bad, good);
            self.enter(bad);
            self.give(NO_STACK);
            self.enter(good);
        }
        let counter = self.builder.declare_var(types::I64);
        let left = self.builder.ins().load(types::I64, Self::trusted(), environment, offset_of!(Environment, fuel) as i32);
        self.builder.def_var(counter, left);
        self.fuel = Fuel::Counted(counter);

        self.begin(callee.body.registers, self.setting.shape.leaking_in_function(function).to_vec(), callee.body.frame)?;
        let mut next = 2;
        let (mut values, mut references) = (Vec::new(), Vec::new());
        for parameter in &callee.parameters {
            if let Parameter::Value = parameter {
                values.push(Val::any(self.parameter(next)));
                next += 1;
            }
        }
        for parameter in &callee.parameters {
            if let Parameter::Reference { bits, .. } = parameter {
                references.push(Spot::far(self.parameter(next), self.parameter(next + 1), *bits));
                next += 2;
            }
        }
        self.bind(values, references);
        let flow = self.statements(&callee.body.block)?;
        let (flow, value) = self.end(flow, callee.result.then_some(callee.no_result))?;
        if flow == Flow::Next {
            let left = self.builder.use_var(counter);
            self.builder.ins().store(Self::trusted(), left, environment, offset_of!(Environment, fuel) as i32);
            let done = self.builder.ins().iconst(types::I64, DONE);
            let value = self.word(value);
            self.builder.ins().return_(&[done, value]);
        }
        Ok(())
    }

    /// Calls a function of this crate.
    pub(crate) fn call_out(&mut self, symbol: Symbol, arguments: &[Value]) {
        let address = self.symbol(symbol);
        self.call_address(address, arguments, 0);
    }

    /// Calls a function of the runtime that gives a word and changes nothing.
    pub(crate) fn call_out_for_word(&mut self, symbol: Symbol, arguments: &[Value]) -> Value {
        let address = self.symbol(symbol);
        self.call_address(address, arguments, 1)[0]
    }

    /// The address of something outside the code.
    fn symbol(&mut self, symbol: Symbol) -> Value {
        let name = ExternalName::user(self.builder.func.declare_imported_user_function(symbol.name()));
        let symbol = GlobalValueData::Symbol { name, offset: 0.into(), colocated: false, tls: false };
        let symbol = self.builder.func.create_global_value(symbol);
        self.builder.ins().symbol_value(types::I64, symbol)
    }

    fn call_address(&mut self, address: Value, arguments: &[Value], results: usize) -> Vec<Value> {
        let mut signature = Signature::new(self.setting.target.default_call_conv);
        signature.params.resize(arguments.len(), AbiParam::new(types::I64));
        signature.returns.resize(results, AbiParam::new(types::I64));
        let signature = self.builder.import_signature(signature);
        let call = self.builder.ins().call_indirect(signature, address, arguments);
        self.builder.inst_results(call).to_vec()
    }
}

/// The number of words passed to a function that has code of its own.
pub(crate) fn parameters(function: &Function) -> usize {
    2 + function.parameters.iter().map(|parameter| if matches!(parameter, Parameter::Value) { 1 } else { 2 }).sum::<usize>()
}
