//! Compiles machine code and owns it: a Cranelift module over one contiguous area of executable memory.
//!
//! Commands are compiled one at a time, on their first firing. Giving each its own page would put all their
//! beginnings into the same few sets of the instruction cache, so they are placed one after another into an `Arena`.

#![allow(unsafe_code)]

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod arena;

use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, Function, Signature, UserFuncName, types};
use cranelift_codegen::isa::{OwnedTargetIsa, TargetFrontendConfig, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleError, ModuleReloc};

/// The reason why no machine code can be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JitError {
    /// There is no code generator for this processor; the interpreter still works.
    Unsupported(String),
    /// The code generator refused a function: a defect of Wayfarer, never of a model.
    Codegen(String),
}

impl std::fmt::Display for JitError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            JitError::Unsupported(why) => write!(formatter, "no machine code for this processor: {why}"),
            JitError::Codegen(why) => write!(formatter, "machine code could not be made: {why}"),
        }
    }
}

impl std::error::Error for JitError {}

/// The time that is spent on the code of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// The least, for code that is replaced if it runs often.
    Least,
    /// Little, for large code that may not run often.
    Little,
    Much,
}

/// Compiles functions, one at a time, and owns their code.
pub(crate) struct Foundry {
    module: Option<JITModule>,
    context: Context,
    /// The code generators for the least effort and for little.
    quick: [OwnedTargetIsa; 2],
    builder_context: FunctionBuilderContext,
    bytes: usize,
    functions: usize,
    /// Called before and after each function is compiled.
    meter: Option<Meter>,
    /// The executable mapping of the emitted code.
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    views: arena::Views,
}

/// Measures the memory of compiling: the first function returns the bytes in use; the second receives that earlier
/// value after a function was compiled.
pub type Meter = (fn() -> usize, fn(usize));

impl Foundry {
    pub(crate) fn new() -> Result<Self, JitError> {
        let unsupported = |why: &dyn std::fmt::Display| JitError::Unsupported(why.to_string());
        let isa = |level: &str, allocation: &str| -> Result<OwnedTargetIsa, JitError> {
            let mut flags = settings::builder();
            let options = [
                ("use_colocated_libcalls", "false"),
                ("is_pic", "false"),
                ("unwind_info", "false"),
                ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
                ("probestack_strategy", "inline"),
                ("opt_level", level),
                ("regalloc_algorithm", allocation),
            ];
            for (name, value) in options {
                flags.set(name, value).map_err(|error| unsupported(&error))?;
            }
            cranelift_native::builder().map_err(|why| unsupported(&why))?.finish(settings::Flags::new(flags)).map_err(|error| unsupported(&error))
        };
        let quick = [isa("none", "single_pass")?, isa("none", "backtracking")?];
        let isa = isa("speed", "backtracking")?;
        let mut builder = JITBuilder::with_isa(isa, cranelift_module::default_libcall_names());
        #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
        let views = {
            let arena = arena::Arena::default();
            let views = arena.views();
            builder.memory_provider(Box::new(arena));
            views
        };
        let _ = &mut builder;
        let module = JITModule::new(builder);
        let context = module.make_context();
        Ok(Foundry {
            module: Some(module),
            context,
            quick,
            builder_context: FunctionBuilderContext::new(),
            bytes: 0,
            functions: 0,
            meter: None,
            #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
            views,
        })
    }

    /// Bytes of machine code so far.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The number of functions compiled so far.
    pub(crate) fn functions(&self) -> usize {
        self.functions
    }

    /// The emitter's information about the machine.
    pub(crate) fn target(&self) -> TargetFrontendConfig {
        self.module().target_config()
    }

    /// Sets the functions that measure the memory of compiling.
    pub(crate) fn set_meter(&mut self, meter: Meter) {
        self.meter = Some(meter);
    }

    /// Compiles a function of `parameters` words that returns `results` words. `build` emits its body and may give
    /// up, which has no effect.
    pub(crate) fn make<E>(
        &mut self,
        name: &str,
        (parameters, results): (usize, usize),
        effort: Effort,
        build: impl FnOnce(FunctionBuilder) -> Result<(), E>,
    ) -> Result<Result<*const u8, E>, JitError> {
        let metered = self.meter.map(|(now, done)| (now(), done));
        let made = match self.write((parameters, results), build) {
            Ok(()) => self.compile(name, effort).map(Ok),
            Err(error) => Ok(Err(error)),
        };
        if let Some((before, done)) = metered {
            done(before);
        }
        made
    }

    /// Puts the signature and the body of a function into the context, which stays empty if `build` gives up.
    fn write<E>(&mut self, (parameters, results): (usize, usize), build: impl FnOnce(FunctionBuilder) -> Result<(), E>) -> Result<(), E> {
        let mut signature = Signature::new(self.target().default_call_conv);
        signature.params.resize(parameters, AbiParam::new(types::I64));
        signature.returns.resize(results, AbiParam::new(types::I64));
        self.context.func = Function::with_name_signature(UserFuncName::default(), signature);
        let built = build(FunctionBuilder::new(&mut self.context.func, &mut self.builder_context));
        if built.is_err() {
            self.context.clear();
            self.builder_context = FunctionBuilderContext::new();
        }
        built
    }

    /// Compiles the function in the context.
    fn compile(&mut self, name: &str, effort: Effort) -> Result<*const u8, JitError> {
        if cfg!(feature = "dump") {
            eprintln!("{name}: {}", self.context.func.display());
            self.context.set_disasm(true);
        }
        let codegen = |error: &dyn std::fmt::Display| JitError::Codegen(format!("{name}: {error}"));
        let module = self.module.as_mut().expect("a foundry has its module until it is dropped");
        let id = module.declare_function(name, Linkage::Local, &self.context.func.signature).map_err(|error| codegen(&error))?;
        let defined = match effort {
            Effort::Much => module.define_function(id, &mut self.context).map_err(Box::new),
            Effort::Least => define_quickly(module, &*self.quick[0], id, &mut self.context),
            Effort::Little => define_quickly(module, &*self.quick[1], id, &mut self.context),
        };
        defined.map_err(|error| match *error {
            cranelift_module::ModuleError::Compilation(error) => codegen(&format!("{error:?}")),
            error => codegen(&error),
        })?;
        if let Some(code) = self.context.compiled_code() {
            self.bytes += code.buffer.data().len();
            if let Some(text) = &code.vcode {
                eprintln!("{text}");
            }
        }
        self.functions += 1;
        self.context.clear();
        module.finalize_definitions().map_err(|error| codegen(&error))?;
        let written = module.get_finalized_function(id);
        #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
        let written = self.views.executable(written);
        Ok(written)
    }

    fn module(&self) -> &JITModule {
        self.module.as_ref().expect("a foundry has its module until it is dropped")
    }
}

/// Defines a function by another code generator than the module's.
fn define_quickly(module: &mut JITModule, quick: &dyn TargetIsa, id: FuncId, context: &mut Context) -> Result<(), Box<ModuleError>> {
    let code = context.compile(quick, &mut Default::default()).map_err(|error| ModuleError::Compilation(error.inner))?;
    let (alignment, bytes, relocations) = (u64::from(code.buffer.alignment), code.buffer.data().to_vec(), code.buffer.relocs().to_vec());
    let relocations: Vec<ModuleReloc> = relocations.iter().map(|relocation| ModuleReloc::from_mach_reloc(relocation, &context.func, id)).collect();
    module.define_function_bytes(id, alignment, &bytes, &relocations).map_err(Box::new)
}

impl Drop for Foundry {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: the pointers into this code live only in the `Compiled` that owns the foundry, are called only
            // while it is borrowed, and it is being dropped.
            unsafe { module.free_memory() };
        }
    }
}
