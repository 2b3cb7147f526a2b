//! A program in executable form: compiled if that is possible and requested, otherwise interpreted.

use super::Running;
use crate::Plan;
use crate::memory::WHOLE_PROCESS;
#[cfg(feature = "jit")]
use crate::memory::{compiled_since, taken};
use std::sync::Arc;
#[cfg(feature = "jit")]
use wayfarer_ir::Limits;
use wayfarer_ir::passing::Passing;
use wayfarer_ir::{Interpreter, Program};
#[cfg(feature = "jit")]
use wayfarer_jit::{Compiled, JitError};
#[cfg(feature = "jit")]
use wayfarer_kept::Folder;
use wayfarer_space::Space;

/// A program in executable form.
pub(crate) enum Executable {
    #[cfg(feature = "jit")]
    Compiled(Box<Compiled>),
    #[cfg(feature = "jit")]
    CompiledPassing(Passing<Box<Compiled>>),
    Interpreted(Box<Interpreter>),
    InterpretedPassing(Passing<Box<Interpreter>>),
}

/// The share of the budget that machine code may take before commands are interpreted.
const CODE_SHARE: usize = 8;

/// The largest amount of machine code in a budget of `memory` bytes; in a budget that does not count the process
/// itself, as much as is worth compiling.
pub(crate) fn most_code(memory: usize) -> usize {
    memory.max(WHOLE_PROCESS) / CODE_SHARE
}

impl Executable {
    #[cfg_attr(not(feature = "jit"), allow(unused_variables))] // Only machine code takes a share of the memory.
    pub(crate) fn new(program: &Arc<Program>, plan: &Plan, memory: usize) -> Self {
        let limits = plan.code_limits();
        #[cfg(feature = "jit")]
        if !plan.interpret
            && let Ok(compiled) = compile(program, limits, plan.keep_code)
        {
            let compiled = Box::new(compiled.with_code_limit(most_code(memory)).with_meter((taken, compiled_since)));
            return match program.passing {
                Some(field) => Executable::CompiledPassing(Passing::new(compiled, field)),
                None => Executable::Compiled(compiled),
            };
        }
        let interpreter = Box::new(Interpreter::new(program.clone(), limits));
        match program.passing {
            Some(field) => Executable::InterpretedPassing(Passing::new(interpreter, field)),
            None => Executable::Interpreted(interpreter),
        }
    }
}

/// Compiles a program, or takes the code that an earlier run kept.
#[cfg(feature = "jit")]
fn compile(program: &Arc<Program>, limits: Limits, keep: bool) -> Result<Compiled, JitError> {
    match Folder::of("code").filter(|_| keep) {
        Some(folder) => Compiled::with_kept(program.clone(), limits, folder),
        None => Compiled::new(program.clone(), limits),
    }
}

impl Running for Executable {
    fn space(&self) -> &dyn Space {
        match self {
            #[cfg(feature = "jit")]
            Executable::Compiled(compiled) => &**compiled,
            #[cfg(feature = "jit")]
            Executable::CompiledPassing(passing) => passing,
            Executable::Interpreted(interpreter) => &**interpreter,
            Executable::InterpretedPassing(passing) => passing,
        }
    }

    fn code_bytes(&self) -> usize {
        match self {
            #[cfg(feature = "jit")]
            Executable::Compiled(compiled) => compiled.code_bytes(),
            #[cfg(feature = "jit")]
            Executable::CompiledPassing(passing) => passing.inner().code_bytes(),
            Executable::Interpreted(_) | Executable::InterpretedPassing(_) => 0,
        }
    }
}

/// The space of a program in the form that the plan requests: compiled, or interpreted if that is requested or
/// compiling is not possible here.
pub fn space_of(program: &Arc<Program>, plan: &Plan) -> Box<dyn Space> {
    match Executable::new(program, plan, usize::MAX) {
        #[cfg(feature = "jit")]
        Executable::Compiled(compiled) => compiled,
        #[cfg(feature = "jit")]
        Executable::CompiledPassing(passing) => Box::new(passing),
        Executable::Interpreted(interpreter) => interpreter,
        Executable::InterpretedPassing(passing) => Box::new(passing),
    }
}
