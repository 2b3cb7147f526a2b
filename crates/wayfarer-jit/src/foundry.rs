//! Compiles machine code and owns it: a Cranelift module over one contiguous area of executable memory.
//!
//! Commands are compiled one at a time, on their first firing. Giving each its own page would put all their
//! beginnings into the same few sets of the instruction cache, so they are placed one after another into an `Arena`.
//!
//! Code names what it refers to outside of itself ([`Symbol`]), so it can be kept and used by a later run (`kept`).

#![allow(unsafe_code)]

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod arena;
mod kept;

use crate::runtime;
use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, Function, Signature, UserExternalName, UserFuncName, types};
use cranelift_codegen::isa::{OwnedTargetIsa, TargetFrontendConfig};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleError, ModuleReloc};
use kept::{Kept, Written};
use std::sync::atomic::AtomicUsize;

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

/// Something that code refers to outside of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symbol {
    /// The table through which code calls functions of the model that have code of their own.
    Functions,
    /// [`runtime::sort`].
    Sort,
    /// [`runtime::sort_again`].
    SortAgain,
    /// [`runtime::real`].
    Real,
}

impl Symbol {
    /// All of them, in the order of their numbers.
    const ALL: [Symbol; 4] = [Symbol::Functions, Symbol::Sort, Symbol::SortAgain, Symbol::Real];
    /// Cranelift's name space of data.
    const NAMESPACE: u32 = 1;

    /// Its name in a function's code.
    pub(crate) fn name(self) -> UserExternalName {
        UserExternalName::new(Self::NAMESPACE, self as u32)
    }

    fn address(self, functions: &[AtomicUsize]) -> *const u8 {
        match self {
            Symbol::Functions => functions.as_ptr().cast(),
            Symbol::Sort => runtime::sort as *const u8,
            Symbol::SortAgain => runtime::sort_again as *const u8,
            Symbol::Real => runtime::real as *const u8,
        }
    }
}

/// A function's code.
#[derive(Clone, Copy)]
pub(crate) struct Code {
    pub(crate) address: *const u8,
    /// What was noted about it while it was emitted.
    pub(crate) note: u64,
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
    /// Functions that an earlier run compiled.
    kept: Kept,
    /// Functions that were compiled here and can be kept.
    written: Vec<Written>,
    /// The executable mapping of the emitted code.
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    views: arena::Views,
}

/// Measures the memory of compiling: the first function returns the bytes in use; the second receives that earlier
/// value after a function was compiled.
pub type Meter = (fn() -> usize, fn(usize));

impl Foundry {
    /// A foundry for code that calls the functions of this table.
    pub(crate) fn new(functions: &[AtomicUsize]) -> Result<Self, JitError> {
        let quick = [generator("none", "single_pass")?, generator("none", "backtracking")?];
        let mut builder = JITBuilder::with_isa(best_generator()?, cranelift_module::default_libcall_names());
        for symbol in Symbol::ALL {
            builder.symbol(format!("{symbol:?}"), symbol.address(functions));
        }
        #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
        let views = {
            let arena = arena::Arena::default();
            let views = arena.views();
            builder.memory_provider(Box::new(arena));
            views
        };
        let _ = &mut builder;
        let mut module = JITModule::new(builder);
        for symbol in Symbol::ALL {
            let declared =
                module.declare_data(&format!("{symbol:?}"), Linkage::Import, false, false).map_err(|error| JitError::Codegen(error.to_string()))?;
            assert_eq!(declared.as_u32(), symbol as u32, "symbols are declared in the order of their numbers");
        }
        let context = module.make_context();
        Ok(Foundry {
            module: Some(module),
            context,
            quick,
            builder_context: FunctionBuilderContext::new(),
            bytes: 0,
            functions: 0,
            meter: None,
            kept: Kept::default(),
            written: Vec::new(),
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

    /// Uses code that [`kept_code`](Self::kept_code) gave in an earlier run.
    pub(crate) fn use_kept(&mut self, code: Vec<u8>) {
        self.kept = Kept::read(code).unwrap_or_default();
    }

    /// Whether an earlier run compiled the function of this name.
    pub(crate) fn keeps(&self, name: &str) -> bool {
        self.kept.function(name).is_some()
    }

    /// All functions, for a later run; `None` if that run would find nothing new in them.
    pub(crate) fn kept_code(&self) -> Option<Vec<u8>> {
        (!self.written.is_empty()).then(|| self.kept.with(&self.written))
    }

    /// Compiles a function of `parameters` words that returns `results` words, or takes the code that was kept under
    /// its name. `build` emits its body and returns what is to be noted about it. It may give up, which has no effect.
    pub(crate) fn make<E>(
        &mut self,
        name: &str,
        (parameters, results): (usize, usize),
        effort: Effort,
        build: impl FnOnce(FunctionBuilder) -> Result<u64, E>,
    ) -> Result<Result<Code, E>, JitError> {
        let metered = self.meter.map(|(now, done)| (now(), done));
        let made = match self.take_kept(name) {
            Ok(Some(code)) => Ok(Ok(code)),
            Ok(None) => match self.write((parameters, results), build) {
                Ok(note) => self.compile(name, effort, note).map(Ok),
                Err(error) => Ok(Err(error)),
            },
            Err(error) => Err(error),
        };
        if let Some((before, done)) = metered {
            done(before);
        }
        made
    }

    /// Puts the signature and the body of a function into the context, which stays empty if `build` gives up.
    fn write<E>(&mut self, (parameters, results): (usize, usize), build: impl FnOnce(FunctionBuilder) -> Result<u64, E>) -> Result<u64, E> {
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
    fn compile(&mut self, name: &str, effort: Effort, note: u64) -> Result<Code, JitError> {
        if cfg!(feature = "dump") {
            eprintln!("{name}: {}", self.context.func.display());
            self.context.set_disasm(true);
        }
        let module = self.module.as_mut().expect("a foundry has its module until it is dropped");
        let generator = match effort {
            Effort::Much => module.isa(),
            Effort::Least => &*self.quick[0],
            Effort::Little => &*self.quick[1],
        };
        let code =
            self.context.compile(generator, &mut Default::default()).map_err(|error| JitError::Codegen(format!("{name}: {:?}", error.inner)))?;
        let (alignment, bytes, relocations) = (code.buffer.alignment, code.buffer.data().to_vec(), code.buffer.relocs().to_vec());
        if let Some(text) = &code.vcode {
            eprintln!("{text}");
        }
        let relocations: Vec<ModuleReloc> =
            relocations.iter().map(|relocation| ModuleReloc::from_mach_reloc(relocation, &self.context.func, FuncId::from_u32(0))).collect();
        self.context.clear();
        let address = self.place(name, alignment, &bytes, &relocations)?;
        self.written.extend(Written::new(name, note, alignment, &relocations, address, bytes.len()));
        Ok(Code { address, note })
    }

    /// The code that was kept under a name.
    fn take_kept(&mut self, name: &str) -> Result<Option<Code>, JitError> {
        let Some(function) = self.kept.function(name) else { return Ok(None) };
        let (note, alignment, relocations) = (function.note, function.alignment, function.relocations());
        let bytes = self.kept.code(function).to_vec();
        let address = self.place(name, alignment, &bytes, &relocations)?;
        Ok(Some(Code { address, note }))
    }

    /// Puts code where it can be executed.
    fn place(&mut self, name: &str, alignment: u32, bytes: &[u8], relocations: &[ModuleReloc]) -> Result<*const u8, JitError> {
        let codegen = |error: ModuleError| JitError::Codegen(format!("{name}: {error}"));
        let module = self.module.as_mut().expect("a foundry has its module until it is dropped");
        // The signature is known to the callers alone.
        let id = module.declare_function(name, Linkage::Local, &module.make_signature()).map_err(codegen)?;
        module.define_function_bytes(id, u64::from(alignment), bytes, relocations).map_err(codegen)?;
        module.finalize_definitions().map_err(codegen)?;
        self.bytes += bytes.len();
        self.functions += 1;
        let written = module.get_finalized_function(id);
        #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
        let written = self.views.executable(written);
        Ok(written)
    }

    fn module(&self) -> &JITModule {
        self.module.as_ref().expect("a foundry has its module until it is dropped")
    }
}

/// A code generator for this processor.
fn generator(level: &str, allocation: &str) -> Result<OwnedTargetIsa, JitError> {
    let unsupported = |why: &dyn std::fmt::Display| JitError::Unsupported(why.to_string());
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
}

/// The code generator for the most effort.
fn best_generator() -> Result<OwnedTargetIsa, JitError> {
    generator("speed", "backtracking")
}

/// The processor that code is compiled for, with its features. Code that was kept runs only on the same one.
pub(crate) fn processor() -> Option<String> {
    let generator = best_generator().ok()?;
    let features: Vec<String> = generator.isa_flags().iter().map(|flag| flag.to_string()).collect();
    Some(format!("{} {}", generator.triple(), features.join(" ")))
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
