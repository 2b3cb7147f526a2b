//! A GPU, and a program loaded onto it.

use crate::driver::{Driver, Handle};
use crate::machine::{Address, DeviceError, Kernel, Machine, Params};
use crate::source::{Search, Source};
use crate::unsupported::Unsupported;
use crate::{apart, cache};
use std::cell::OnceCell;
use std::ffi::CString;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Lanes of a block.
const THREADS: u32 = 128;
/// Blocks share counters of firings up to so many rules.
const TALLIED: u32 = 8192;
/// Bytes of stack for each level of recursion, generously, and the most for all.
const STACK_OF_CALL: u64 = 512;
const MOST_STACK: u64 = 64 << 10;

/// A GPU.
pub struct Device {
    driver: Driver,
    number: u32,
    name: String,
    capability: (u32, u32),
    multiprocessors: u32,
    /// Whether a context was made. That takes a while, so it is not done before it is needed.
    opened: OnceCell<Result<(), DeviceError>>,
}

impl fmt::Debug for Device {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.debug_struct("Device").field("number", &self.number).field("name", &self.name).finish_non_exhaustive()
    }
}

impl Device {
    /// Opens the GPU of this number. The driver's library is looked for here.
    pub fn open(number: u32) -> Result<Self, DeviceError> {
        let driver = Driver::new()?;
        let devices = driver.devices()?;
        if number >= devices {
            return Err(DeviceError::NoDevice { devices, asked: number });
        }
        let (name, (capability, multiprocessors)) = (driver.name(number)?, driver.capability(number)?);
        Ok(Device { driver, number, name, capability, multiprocessors, opened: OnceCell::new() })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its number.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Memory that is free, in bytes.
    pub fn free(&self) -> u64 {
        self.ready().and_then(|()| self.driver.memory()).map_or(0, |(free, _)| free)
    }

    /// Whether it has a compare-and-swap of 128 bits.
    pub fn has_wide_swap(&self) -> bool {
        self.capability >= (9, 0)
    }

    /// Makes a context for this thread, once.
    fn ready(&self) -> Result<(), DeviceError> {
        self.opened.get_or_init(|| self.driver.open(self.number)).clone()
    }

    /// Compiles a program's kernels, unless they are kept compiled. The device itself is not needed for that.
    pub fn prepare(&self, source: &Source, search: Search) -> Result<(), DeviceError> {
        let text = source.with_kernels(search);
        if cache::look_up(&text, self.capability).is_none() {
            let compiled = apart::compile_watched(&text, self.capability, &mut || true).unwrap_or(Err(DeviceError::CompilerCrashed));
            cache::keep(&text, self.capability, &compiled?);
        }
        Ok(())
    }

    /// Compiles a text while a context is made, and for as long as `goes_on` says so.
    fn compile(&self, text: &str, goes_on: &mut dyn FnMut() -> bool) -> Result<Vec<u8>, LoadError> {
        let (sender, receiver) = channel();
        let (own, capability, ended) = (text.to_string(), self.capability, Arc::new(AtomicBool::new(false)));
        let told = ended.clone();
        // Without a process of its own the compiler cannot be stopped. A run that does not wait for it leaves it to itself.
        std::thread::spawn(move || sender.send(apart::compile_watched(&own, capability, &mut || !told.load(Ordering::Relaxed))));
        let ready = self.ready();
        loop {
            match receiver.recv_timeout(Duration::from_millis(20)) {
                Ok(Some(code)) => {
                    ready?;
                    return Ok(code?);
                }
                Err(RecvTimeoutError::Timeout) if goes_on() => {}
                Ok(None) | Err(RecvTimeoutError::Timeout) => {
                    ended.store(true, Ordering::Relaxed);
                    return Err(LoadError::Ended);
                }
                Err(RecvTimeoutError::Disconnected) => return Err(DeviceError::Compile("the compiler failed".to_string()).into()),
            }
        }
    }

    /// Compiles a program's kernels, or finds them compiled, and loads them. `depth` bounds how deep functions may call themselves. `goes_on` is asked while the
    /// compiler works.
    pub fn load(&self, source: &Source, search: Search, depth: u32, goes_on: &mut dyn FnMut() -> bool) -> Result<Loaded<'_>, LoadError> {
        let begun = Instant::now();
        if source.passes && !search.passes() {
            return Err(LoadError::Unsupported(Unsupported::Passing));
        }
        if source.recursive {
            let stack = 2048 + u64::from(depth) * STACK_OF_CALL;
            if stack > MOST_STACK {
                return Err(LoadError::Unsupported(Unsupported::Recursion));
            }
            self.ready()?;
            self.driver.raise_stack(stack)?;
        }
        let text = source.with_kernels(search);
        let kept = cache::look_up(&text, self.capability);
        // Kept code that cannot be loaded is compiled again.
        let kept = kept.and_then(|code| self.ready().and_then(|()| self.driver.load(&code)).ok());
        let is_compiled = kept.is_none();
        let module = match kept {
            Some(module) => module,
            None => {
                let code = self.compile(&text, goes_on)?;
                let module = self.driver.load(&code)?;
                cache::keep(&text, self.capability, &code);
                module
            }
        };
        let mut loaded = Loaded { device: self, module, kernels: Vec::new(), rules: source.rules, lanes: 0, took: Duration::ZERO, is_compiled };
        let kernels = search.kernels();
        for kernel in kernels.iter().copied() {
            let name = CString::new(kernel.name()).unwrap_or_default();
            let handle = self.driver.kernel(module, &name)?;
            let blocks = self.driver.blocks(handle, THREADS, loaded.shared(kernel))?;
            loaded.kernels.push((kernel, handle, blocks));
        }
        loaded.lanes = u64::from(loaded.blocks(kernels[0])) * u64::from(THREADS);
        loaded.took = begun.elapsed();
        Ok(loaded)
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        if let Some(Ok(())) = self.opened.get() {
            self.driver.close(self.number);
        }
    }
}

/// Why a program could not be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// Something of the program cannot run there.
    Unsupported(Unsupported),
    /// Something of the device, or of what compiles for it, failed.
    Device(DeviceError),
    /// It was ended before the program was compiled.
    Ended,
}

impl From<DeviceError> for LoadError {
    fn from(error: DeviceError) -> Self {
        LoadError::Device(error)
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            LoadError::Unsupported(error) => error.fmt(out),
            LoadError::Device(error) => error.fmt(out),
            LoadError::Ended => write!(out, "the run was ended while the model was compiled for the GPU"),
        }
    }
}

impl std::error::Error for LoadError {}

/// A program on a GPU.
pub struct Loaded<'d> {
    device: &'d Device,
    module: Handle,
    /// Kernels, and how many blocks of each run side by side on a multiprocessor.
    kernels: Vec<(Kernel, Handle, u32)>,
    rules: u32,
    lanes: u64,
    took: Duration,
    is_compiled: bool,
}

impl Loaded<'_> {
    /// How long loading took, and whether the program had to be compiled.
    pub fn took(&self) -> (Duration, bool) {
        (self.took, self.is_compiled)
    }

    /// Bytes of memory that the blocks of a kernel share.
    fn shared(&self, kernel: Kernel) -> u32 {
        if matches!(kernel, Kernel::Expand | Kernel::Walk | Kernel::Own | Kernel::Audit) && self.rules <= TALLIED { self.rules * 4 } else { 0 }
    }

    fn kernel(&self, kernel: Kernel) -> Option<(Handle, u32)> {
        self.kernels.iter().find(|(known, ..)| *known == kernel).map(|(_, handle, blocks)| (*handle, *blocks))
    }

    /// Blocks of a kernel that run side by side.
    fn blocks(&self, kernel: Kernel) -> u32 {
        self.kernel(kernel).map_or(1, |(_, blocks)| blocks) * self.device.multiprocessors
    }
}

impl Machine for Loaded<'_> {
    fn allocate(&self, bytes: u64) -> Result<Address, DeviceError> {
        self.device.driver.allocate(bytes).map(Address)
    }

    fn release(&self, at: Address) {
        self.device.driver.release(at.0);
    }

    fn zero(&self, at: Address, bytes: u64) -> Result<(), DeviceError> {
        self.device.driver.zero(at.0, bytes)
    }

    fn write(&self, at: Address, words: &[u64]) -> Result<(), DeviceError> {
        if words.is_empty() { Ok(()) } else { self.device.driver.write(at.0, words) }
    }

    fn read(&self, at: Address, words: &mut [u64]) -> Result<(), DeviceError> {
        if words.is_empty() { Ok(()) } else { self.device.driver.read(at.0, words) }
    }

    fn pin(&self, bytes: u64) -> Result<Address, DeviceError> {
        self.device.driver.pin(bytes).map(Address)
    }

    fn unpin(&self, at: Address) {
        self.device.driver.unpin(at.0);
    }

    fn copy(&self, from: Address, to: Address, words: u64) -> Result<(), DeviceError> {
        if words == 0 { Ok(()) } else { self.device.driver.copy(from.0, to.0, words * 8) }
    }

    fn run(&self, kernel: Kernel, params: &Params, items: u64) -> Result<(), DeviceError> {
        let Some((handle, _)) = self.kernel(kernel) else { return Ok(()) };
        let blocks = items.div_ceil(u64::from(THREADS)).min(u64::from(self.blocks(kernel))).max(1) as u32;
        self.device.driver.run(handle, blocks, THREADS, self.shared(kernel), std::ptr::from_ref(params).cast())
    }

    fn lanes(&self) -> u64 {
        self.lanes
    }

    fn free(&self) -> u64 {
        self.device.free()
    }
}

impl Drop for Loaded<'_> {
    fn drop(&mut self) {
        self.device.driver.unload(self.module);
    }
}
