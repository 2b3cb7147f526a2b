//! A program as something that runs: compiled where that is possible and wanted, else interpreted.

use crate::Plan;
use std::sync::Arc;
use wayfarer_ir::{Interpreter, Program};
use wayfarer_jit::Compiled;
use wayfarer_space::Space;

/// How a program runs.
pub(crate) enum Running {
    Compiled(Box<Compiled>),
    Interpreted(Box<Interpreter>),
}

/// Budgets below this are for experiments on small models, and compiling would spend much of them.
pub(crate) const LEAST_TO_COMPILE: usize = 8 << 20;

/// The share of the budget that machine code may take before commands are interpreted.
pub(crate) const CODE_SHARE: usize = 8;

impl Running {
    pub(crate) fn new(program: &Arc<Program>, plan: &Plan, memory: usize) -> Self {
        let limits = plan.code_limits();
        if !plan.interpret
            && memory >= LEAST_TO_COMPILE
            && let Ok(compiled) = Compiled::new(program.clone(), limits)
        {
            return Running::Compiled(Box::new(compiled.with_code_limit(memory / CODE_SHARE)));
        }
        Running::Interpreted(Box::new(Interpreter::new(program.clone(), limits)))
    }

    pub(crate) fn space(&self) -> &dyn Space {
        match self {
            Running::Compiled(compiled) => &**compiled,
            Running::Interpreted(interpreter) => &**interpreter,
        }
    }

    /// Bytes of machine code, which no allocator counts.
    pub(crate) fn code_bytes(&self) -> usize {
        match self {
            Running::Compiled(compiled) => compiled.code_bytes(),
            Running::Interpreted(_) => 0,
        }
    }
}
