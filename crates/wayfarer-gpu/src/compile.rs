//! CUDA C to machine code by NVRTC, which is looked for when something has to be compiled.
#![allow(unsafe_code)] // Calling functions of a library that was found at run time.

use crate::machine::DeviceError;
use libloading::{Library, Symbol};
use std::ffi::{CString, c_char, c_int, c_void};
use std::path::PathBuf;
use std::ptr::null_mut;
use std::sync::OnceLock;

const LIBRARY: &str = "libnvrtc.so";
const PURPOSE: &str = "it compiles models for the GPU and comes with the CUDA toolkit; CUDA_PATH may name its folder";

/// How a text is compiled, besides for which device.
pub(crate) const OPTIONS: [&str; 3] = ["--std=c++17", "--extra-device-vectorization", "-w"];

/// Compiles a text for a device of this compute capability.
pub(crate) fn compile(text: &str, (major, minor): (u32, u32)) -> Result<Vec<u8>, DeviceError> {
    // The library stays: threads that compiled with it may end after the last of them has.
    static FOUND: OnceLock<Option<Library>> = OnceLock::new();
    let library = FOUND.get_or_init(find).as_ref().ok_or(DeviceError::Missing { library: LIBRARY, purpose: PURPOSE })?;
    let nvrtc = Nvrtc { library };
    let wrong = |_| DeviceError::Compile("it holds a zero byte".to_string());
    let source = CString::new(text).map_err(wrong)?;
    let options = std::iter::once(format!("--gpu-architecture=sm_{major}{minor}")).chain(OPTIONS.map(String::from));
    let options: Vec<CString> = options.map(CString::new).collect::<Result<_, _>>().map_err(wrong)?;
    let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
    let mut program: *mut c_void = null_mut();
    type Create = unsafe extern "C" fn(*mut *mut c_void, *const c_char, *const c_char, c_int, *const c_void, *const c_void) -> c_int;
    let create: Symbol<Create> = nvrtc.function("nvrtcCreateProgram")?;
    // SAFETY: NVRTC's own signature; the texts end in a zero and outlive the call.
    nvrtc.judge(unsafe { create(&mut program, source.as_ptr(), c"model.cu".as_ptr(), 0, null_mut(), null_mut()) })?;
    let result = nvrtc.build(program, &options);
    let destroy: Symbol<unsafe extern "C" fn(*mut *mut c_void) -> c_int> = nvrtc.function("nvrtcDestroyProgram")?;
    // SAFETY: the program was made above and is not used again.
    unsafe { destroy(&mut program) };
    result
}

struct Nvrtc {
    library: &'static Library,
}

impl Nvrtc {
    fn function<T>(&self, name: &'static str) -> Result<Symbol<'_, T>, DeviceError> {
        // SAFETY: callers give NVRTC's own signatures.
        unsafe { self.library.get(name.as_bytes()) }.map_err(|_| DeviceError::Old { library: LIBRARY, function: name })
    }

    fn judge(&self, code: c_int) -> Result<(), DeviceError> {
        if code == 0 { Ok(()) } else { Err(DeviceError::Call { doing: "compiling for the GPU", said: format!("NVRTC error {code}") }) }
    }

    fn build(&self, program: *mut c_void, options: &[*const c_char]) -> Result<Vec<u8>, DeviceError> {
        let compile: Symbol<unsafe extern "C" fn(*mut c_void, c_int, *const *const c_char) -> c_int> = self.function("nvrtcCompileProgram")?;
        // SAFETY: NVRTC's own signature; the options outlive the call.
        let code = unsafe { compile(program, options.len() as c_int, options.as_ptr()) };
        if code != 0 {
            let log = self.bytes(program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog")?;
            let log = String::from_utf8_lossy(&log).trim_end_matches('\0').chars().take(4000).collect();
            return Err(DeviceError::Compile(log));
        }
        self.bytes(program, "nvrtcGetCUBINSize", "nvrtcGetCUBIN")
    }

    /// Something that is asked for by its size and then as a whole.
    fn bytes(&self, program: *mut c_void, size: &'static str, content: &'static str) -> Result<Vec<u8>, DeviceError> {
        let ask: Symbol<unsafe extern "C" fn(*mut c_void, *mut usize) -> c_int> = self.function(size)?;
        let mut length = 0;
        // SAFETY: NVRTC's own signature.
        self.judge(unsafe { ask(program, &mut length) })?;
        let mut bytes = vec![0u8; length];
        let give: Symbol<unsafe extern "C" fn(*mut c_void, *mut c_char) -> c_int> = self.function(content)?;
        // SAFETY: NVRTC writes as many bytes as it said.
        self.judge(unsafe { give(program, bytes.as_mut_ptr().cast()) })?;
        Ok(bytes)
    }
}

/// The library, under the names it has had and in the folders where it is installed.
fn find() -> Option<Library> {
    let names: Vec<String> = if cfg!(windows) {
        ["nvrtc64_130_0.dll", "nvrtc64_120_0.dll", "nvrtc64_112_0.dll"].map(String::from).to_vec()
    } else {
        ["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"].map(String::from).to_vec()
    };
    let mut folders = vec![PathBuf::new()];
    for variable in ["CUDA_PATH", "CUDA_HOME"] {
        folders.extend(std::env::var_os(variable).map(|folder| PathBuf::from(folder).join("lib64")));
    }
    folders.push(PathBuf::from("/usr/local/cuda/lib64"));
    let paths = folders.iter().flat_map(|folder| names.iter().map(move |name| folder.join(name)));
    // SAFETY: NVRTC may run what it needs to run when it is loaded.
    paths.into_iter().find_map(|path| unsafe { Library::new(path) }.ok())
}
