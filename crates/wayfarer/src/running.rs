//! A program as something that runs: compiled where that is possible and wanted, else interpreted.

use crate::Plan;
use crate::subject::Running;
use std::sync::Arc;
use wayfarer_ir::{Interpreter, Program};
#[cfg(feature = "jit")]
use wayfarer_jit::Compiled;
use wayfarer_space::Space;

/// A program that runs.
pub(crate) enum Executable {
    #[cfg(feature = "jit")]
    Compiled(Box<Compiled>),
    Interpreted(Box<Interpreter>),
}

/// Budgets below this are for experiments on small models, and compiling would spend much of them.
pub(crate) const LEAST_TO_COMPILE: usize = 8 << 20;

/// The share of the budget that machine code may take before commands are interpreted.
pub(crate) const CODE_SHARE: usize = 8;

impl Executable {
    pub(crate) fn new(program: &Arc<Program>, plan: &Plan, memory: usize) -> Self {
        let limits = plan.code_limits();
        #[cfg(feature = "jit")]
        if !plan.interpret
            && memory >= LEAST_TO_COMPILE
            && let Ok(compiled) = Compiled::new(program.clone(), limits)
        {
            return Executable::Compiled(Box::new(compiled.with_code_limit(memory / CODE_SHARE)));
        }
        Executable::Interpreted(Box::new(Interpreter::new(program.clone(), limits)))
    }
}

impl Running for Executable {
    fn space(&self) -> &dyn Space {
        match self {
            #[cfg(feature = "jit")]
            Executable::Compiled(compiled) => &**compiled,
            Executable::Interpreted(interpreter) => &**interpreter,
        }
    }

    fn code_bytes(&self) -> usize {
        match self {
            #[cfg(feature = "jit")]
            Executable::Compiled(compiled) => compiled.code_bytes(),
            Executable::Interpreted(_) => 0,
        }
    }
}

/// The space of a program as the plan wants it: compiled, or interpreted where that is asked for or compiling is not possible here.
pub fn space_of(program: &Arc<Program>, plan: &Plan) -> Box<dyn Space> {
    match Executable::new(program, plan, usize::MAX) {
        #[cfg(feature = "jit")]
        Executable::Compiled(compiled) => compiled,
        Executable::Interpreted(interpreter) => interpreter,
    }
}
