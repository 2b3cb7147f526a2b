//! Where machine code is made and kept: a Cranelift module over one stretch of executable memory.
//!
//! Commands are compiled one at a time, on their first firing. Giving each its own page would put all their beginnings into the same few sets of
//! the instruction cache, so they are laid one after another into memory that stays writable.

#![allow(unsafe_code)]

use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, Function, Signature, UserFuncName, types};
use cranelift_codegen::isa::{OwnedTargetIsa, TargetFrontendConfig};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module};

/// Why no machine code can be made.
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

/// Makes functions, one at a time, and owns their code.
pub(crate) struct Foundry {
    module: Option<JITModule>,
    context: Context,
    builder_context: FunctionBuilderContext,
    bytes: usize,
    functions: usize,
    /// Told before and after each function is made.
    meter: Option<Meter>,
}

/// Counts memory, for those who want to know what compiling takes: the first says how much is taken now, the second is told what the first said before a
/// function was made, when it has been.
pub type Meter = (fn() -> usize, fn(usize));

impl Foundry {
    pub(crate) fn new() -> Result<Self, JitError> {
        let unsupported = |why: &dyn std::fmt::Display| JitError::Unsupported(why.to_string());
        let mut flags = settings::builder();
        for (name, value) in [
            ("use_colocated_libcalls", "false"),
            ("is_pic", "false"),
            ("opt_level", "speed"),
            ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
            ("probestack_strategy", "inline"),
        ] {
            flags.set(name, value).map_err(|error| unsupported(&error))?;
        }
        let isa: OwnedTargetIsa =
            cranelift_native::builder().map_err(|why| unsupported(&why))?.finish(settings::Flags::new(flags)).map_err(|error| unsupported(&error))?;
        let mut builder = JITBuilder::with_isa(isa, cranelift_module::default_libcall_names());
        #[cfg(target_arch = "x86_64")]
        builder.memory_provider(Box::new(arena::Arena::default()));
        let _ = &mut builder;
        let module = JITModule::new(builder);
        let context = module.make_context();
        Ok(Foundry { module: Some(module), context, builder_context: FunctionBuilderContext::new(), bytes: 0, functions: 0, meter: None })
    }

    /// Bytes of machine code made so far.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Functions made so far.
    pub(crate) fn functions(&self) -> usize {
        self.functions
    }

    /// What the writer of functions must know of the machine.
    pub(crate) fn target(&self) -> TargetFrontendConfig {
        self.module().target_config()
    }

    /// From now on someone counts what making functions takes.
    pub(crate) fn set_meter(&mut self, meter: Meter) {
        self.meter = Some(meter);
    }

    /// Makes a function of `parameters` words that gives back `results` words. `build` writes its body and may give up, which leaves no trace.
    pub(crate) fn make<E>(
        &mut self,
        name: &str,
        parameters: usize,
        results: usize,
        build: impl FnOnce(FunctionBuilder) -> Result<(), E>,
    ) -> Result<Result<*const u8, E>, JitError> {
        let Some((now, done)) = self.meter else { return self.make_unmetered(name, parameters, results, build) };
        let before = now();
        let made = self.make_unmetered(name, parameters, results, build);
        done(before);
        made
    }

    fn make_unmetered<E>(
        &mut self,
        name: &str,
        parameters: usize,
        results: usize,
        build: impl FnOnce(FunctionBuilder) -> Result<(), E>,
    ) -> Result<Result<*const u8, E>, JitError> {
        let mut signature = Signature::new(self.target().default_call_conv);
        signature.params.resize(parameters, AbiParam::new(types::I64));
        signature.returns.resize(results, AbiParam::new(types::I64));
        self.context.func = Function::with_name_signature(UserFuncName::default(), signature);
        if let Err(error) = build(FunctionBuilder::new(&mut self.context.func, &mut self.builder_context)) {
            self.context.clear();
            self.builder_context = FunctionBuilderContext::new();
            return Ok(Err(error));
        }
        if cfg!(feature = "dump") {
            eprintln!("{name}: {}", self.context.func.display());
            self.context.set_disasm(true);
        }
        let codegen = |error: &dyn std::fmt::Display| JitError::Codegen(format!("{name}: {error}"));
        let module = self.module.as_mut().expect("a foundry has its module until it is dropped");
        let id = module.declare_function(name, Linkage::Local, &self.context.func.signature).map_err(|error| codegen(&error))?;
        module.define_function(id, &mut self.context).map_err(|error| match error {
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
        Ok(Ok(module.get_finalized_function(id)))
    }

    fn module(&self) -> &JITModule {
        self.module.as_ref().expect("a foundry has its module until it is dropped")
    }
}

impl Drop for Foundry {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: the pointers into this code live only in the `Compiled` that owns the foundry, are called only while it is borrowed, and
            // it is being dropped.
            unsafe { module.free_memory() };
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod arena {
    use cranelift_jit::{BranchProtection, JITMemoryKind, JITMemoryProvider};
    use cranelift_module::ModuleResult;
    use region::{Allocation, Protection};
    use std::io;

    /// Taken from the system at once; pages that are never touched cost nothing.
    const CHUNK: usize = 1 << 20;

    /// Memory that is writable and executable, handed out without gaps. Processors of this family see new code without being told, and code that
    /// runs on other threads is never changed: only fresh bytes are written.
    #[derive(Default)]
    pub(super) struct Arena {
        chunks: Vec<Allocation>,
        used: usize,
    }

    // SAFETY: an allocation is a plain stretch of memory that belongs to whoever holds it.
    unsafe impl Send for Arena {}

    impl JITMemoryProvider for Arena {
        fn allocate(&mut self, size: usize, align: u64, _kind: JITMemoryKind) -> io::Result<*mut u8> {
            let align = (align as usize).max(16);
            let start = self.used.next_multiple_of(align);
            if self.chunks.last().is_none_or(|chunk| start + size > chunk.len()) {
                let chunk = region::alloc(size.max(CHUNK), Protection::READ_WRITE_EXECUTE).map_err(io::Error::other)?;
                self.chunks.push(chunk);
                self.used = 0;
                return self.allocate(size, align as u64, JITMemoryKind::Executable);
            }
            self.used = start + size;
            let chunk = self.chunks.last_mut().expect("a chunk was just found or made");
            // SAFETY: `start + size` is within the chunk.
            Ok(unsafe { chunk.as_mut_ptr::<u8>().add(start) })
        }

        unsafe fn free_memory(&mut self) {
            self.chunks.clear();
            self.used = 0;
        }

        fn finalize(&mut self, _branch_protection: BranchProtection) -> ModuleResult<()> {
            Ok(())
        }
    }
}
