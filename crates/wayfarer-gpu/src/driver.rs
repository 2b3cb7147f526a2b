//! The CUDA driver, looked for when it is needed. Only the functions that searches use are known here.
#![allow(unsafe_code)] // Calling functions of a library that was found at run time.

use crate::machine::DeviceError;
use libloading::{Library, Symbol};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

/// A handle of the driver: a context, module or function.
pub(crate) type Handle = *mut c_void;

const LIBRARY: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };
const PURPOSE: &str = "it comes with NVIDIA's driver, without which no GPU can be used";

/// Attributes of a device, as the driver numbers them.
const MULTIPROCESSORS: c_int = 16;
const MAJOR: c_int = 75;
const MINOR: c_int = 76;

/// The driver.
pub(crate) struct Driver {
    library: Library,
}

macro_rules! call {
    ($driver:expr, $doing:expr, $name:literal, ($($ty:ty),*), ($($argument:expr),*)) => {{
        let function: Symbol<unsafe extern "C" fn($($ty),*) -> c_int> = $driver.function($name)?;
        // SAFETY: the signature is the driver's, and pointers outlive the call.
        let code = unsafe { function($($argument),*) };
        $driver.judge(code, $doing)
    }};
}

impl Driver {
    /// Looks for the driver and wakes it.
    pub(crate) fn new() -> Result<Self, DeviceError> {
        // SAFETY: the driver's library may run what it needs to run when it is loaded.
        let library = unsafe { Library::new(LIBRARY) }.map_err(|_| DeviceError::Missing { library: LIBRARY, purpose: PURPOSE })?;
        let driver = Driver { library };
        call!(driver, "waking the GPU's driver", "cuInit", (c_uint), (0))?;
        Ok(driver)
    }

    fn function<T>(&self, name: &'static str) -> Result<Symbol<'_, T>, DeviceError> {
        // SAFETY: callers give the driver's own signatures.
        unsafe { self.library.get(name.as_bytes()) }.map_err(|_| DeviceError::Old { library: LIBRARY, function: name })
    }

    fn judge(&self, code: c_int, doing: &'static str) -> Result<(), DeviceError> {
        if code == 0 {
            return Ok(());
        }
        let mut text: *const c_char = std::ptr::null();
        if let Ok(describe) = self.function::<unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int>("cuGetErrorString") {
            // SAFETY: the driver gives a text that lives as long as it does, or none.
            unsafe { describe(code, &mut text) };
        }
        // SAFETY: as above.
        let said = if text.is_null() { format!("error {code}") } else { unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned() };
        Err(DeviceError::Call { doing, said })
    }

    /// How many devices there are.
    pub(crate) fn devices(&self) -> Result<u32, DeviceError> {
        let mut count = 0;
        call!(self, "counting GPUs", "cuDeviceGetCount", (*mut c_int), (&mut count))?;
        Ok(count.max(0) as u32)
    }

    /// The name of a device.
    pub(crate) fn name(&self, device: u32) -> Result<String, DeviceError> {
        let mut name = [0u8; 256];
        let doing = "asking for the GPU's name";
        call!(self, doing, "cuDeviceGetName", (*mut c_char, c_int, c_int), (name.as_mut_ptr().cast(), 255, device as c_int))?;
        Ok(CStr::from_bytes_until_nul(&name).map_or_else(|_| String::new(), |name| name.to_string_lossy().into_owned()))
    }

    fn attribute(&self, device: u32, attribute: c_int) -> Result<u32, DeviceError> {
        let mut value = 0;
        let doing = "asking what the GPU can do";
        call!(self, doing, "cuDeviceGetAttribute", (*mut c_int, c_int, c_int), (&mut value, attribute, device as c_int))?;
        Ok(value.max(0) as u32)
    }

    /// Its compute capability, such as (9, 0), and how many multiprocessors it has.
    pub(crate) fn capability(&self, device: u32) -> Result<((u32, u32), u32), DeviceError> {
        Ok(((self.attribute(device, MAJOR)?, self.attribute(device, MINOR)?), self.attribute(device, MULTIPROCESSORS)?))
    }

    /// Opens a device for this thread.
    pub(crate) fn open(&self, device: u32) -> Result<(), DeviceError> {
        let mut context: Handle = null_mut();
        call!(self, "opening the GPU", "cuDevicePrimaryCtxRetain", (*mut Handle, c_int), (&mut context, device as c_int))?;
        call!(self, "opening the GPU", "cuCtxSetCurrent", (Handle), (context))
    }

    /// Gives a device back.
    pub(crate) fn close(&self, device: u32) {
        let closed: Result<(), DeviceError> = (|| call!(self, "closing the GPU", "cuDevicePrimaryCtxRelease_v2", (c_int), (device as c_int)))();
        // There is nothing left to do where that fails.
        let _ = closed;
    }

    /// Bytes that are free, and all bytes.
    pub(crate) fn memory(&self) -> Result<(u64, u64), DeviceError> {
        let (mut free, mut all) = (0usize, 0usize);
        call!(self, "asking for the GPU's memory", "cuMemGetInfo_v2", (*mut usize, *mut usize), (&mut free, &mut all))?;
        Ok((free as u64, all as u64))
    }

    pub(crate) fn allocate(&self, bytes: u64) -> Result<u64, DeviceError> {
        let mut address = 0u64;
        call!(self, "taking memory of the GPU", "cuMemAlloc_v2", (*mut u64, usize), (&mut address, bytes as usize))?;
        Ok(address)
    }

    pub(crate) fn release(&self, address: u64) {
        let released: Result<(), DeviceError> = (|| call!(self, "giving memory back", "cuMemFree_v2", (u64), (address)))();
        let _ = released;
    }

    /// Zeroes whole half words.
    pub(crate) fn zero(&self, address: u64, bytes: u64) -> Result<(), DeviceError> {
        call!(self, "zeroing memory of the GPU", "cuMemsetD32_v2", (u64, c_uint, usize), (address, 0, bytes as usize / 4))
    }

    pub(crate) fn write(&self, address: u64, words: &[u64]) -> Result<(), DeviceError> {
        let (from, bytes) = (words.as_ptr().cast::<c_void>(), size_of_val(words));
        call!(self, "copying to the GPU", "cuMemcpyHtoD_v2", (u64, *const c_void, usize), (address, from, bytes))
    }

    pub(crate) fn read(&self, address: u64, words: &mut [u64]) -> Result<(), DeviceError> {
        let (to, bytes) = (words.as_mut_ptr().cast::<c_void>(), size_of_val(words));
        call!(self, "copying from the GPU", "cuMemcpyDtoH_v2", (*mut c_void, u64, usize), (to, address, bytes))
    }

    /// Takes memory of the host that stays where it is, under an address that the GPU knows, too.
    pub(crate) fn pin(&self, bytes: u64) -> Result<u64, DeviceError> {
        let mut address: *mut c_void = null_mut();
        // One is the flag for memory that all contexts know.
        call!(self, "taking memory of the host", "cuMemHostAlloc", (*mut *mut c_void, usize, c_uint), (&mut address, bytes as usize, 1))?;
        Ok(address as u64)
    }

    pub(crate) fn unpin(&self, address: u64) {
        let released: Result<(), DeviceError> = (|| call!(self, "giving memory back", "cuMemFreeHost", (*mut c_void), (address as *mut c_void)))();
        let _ = released;
    }

    /// Copies between the memory of the GPU and memory of the host that was taken here, whichever way.
    pub(crate) fn copy(&self, from: u64, to: u64, bytes: u64) -> Result<(), DeviceError> {
        call!(self, "copying between the GPU and the host", "cuMemcpy", (u64, u64, usize), (to, from, bytes as usize))
    }

    /// Loads compiled code.
    pub(crate) fn load(&self, code: &[u8]) -> Result<Handle, DeviceError> {
        let mut module: Handle = null_mut();
        call!(self, "loading compiled code", "cuModuleLoadData", (*mut Handle, *const c_void), (&mut module, code.as_ptr().cast()))?;
        Ok(module)
    }

    pub(crate) fn unload(&self, module: Handle) {
        let unloaded: Result<(), DeviceError> = (|| call!(self, "unloading code", "cuModuleUnload", (Handle), (module)))();
        let _ = unloaded;
    }

    /// A kernel of loaded code; the name ends in a zero.
    pub(crate) fn kernel(&self, module: Handle, name: &CStr) -> Result<Handle, DeviceError> {
        let mut kernel: Handle = null_mut();
        let doing = "looking for a kernel";
        call!(self, doing, "cuModuleGetFunction", (*mut Handle, Handle, *const c_char), (&mut kernel, module, name.as_ptr()))?;
        Ok(kernel)
    }

    /// How many blocks of a kernel run side by side on a multiprocessor.
    pub(crate) fn blocks(&self, kernel: Handle, threads: u32, shared: u32) -> Result<u32, DeviceError> {
        let mut blocks = 0;
        let doing = "asking how many blocks fit";
        call!(
            self,
            doing,
            "cuOccupancyMaxActiveBlocksPerMultiprocessor",
            (*mut c_int, Handle, c_int, usize),
            (&mut blocks, kernel, threads as c_int, shared as usize)
        )?;
        Ok(blocks.max(1) as u32)
    }

    /// Gives each lane at least this many bytes of stack. All searches of a process share the limit, so it is never lowered: another search may run that
    /// needs more.
    pub(crate) fn raise_stack(&self, bytes: u64) -> Result<(), DeviceError> {
        static RAISING: Mutex<()> = Mutex::new(());
        const STACK: c_int = 0;
        let doing = "making room for the stack";
        let _alone = RAISING.lock().unwrap_or_else(PoisonError::into_inner);
        let mut now = 0usize;
        call!(self, doing, "cuCtxGetLimit", (*mut usize, c_int), (&mut now, STACK))?;
        if now as u64 >= bytes {
            return Ok(());
        }
        call!(self, doing, "cuCtxSetLimit", (c_int, usize), (STACK, bytes as usize))
    }

    /// Runs a kernel that takes one parameter, and waits for its end.
    pub(crate) fn run(&self, kernel: Handle, blocks: u32, threads: u32, shared: u32, parameter: *const c_void) -> Result<(), DeviceError> {
        let mut parameters = [parameter.cast_mut()];
        call!(
            self,
            "starting a kernel",
            "cuLaunchKernel",
            (Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void),
            (kernel, blocks, 1, 1, threads, 1, 1, shared, null_mut(), parameters.as_mut_ptr(), null_mut())
        )?;
        let synchronize: Symbol<unsafe extern "C" fn() -> c_int> = self.function("cuCtxSynchronize")?;
        // SAFETY: it takes nothing.
        let code = unsafe { synchronize() };
        self.judge(code, "running a kernel")
    }
}
