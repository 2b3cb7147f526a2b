//! Compiling in a process of its own. NVIDIA's compiler crashes on some programs, and it cannot be told to stop; a process
//! can end either way without ending the run.

use crate::compile::compile;
use crate::machine::DeviceError;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Between two looks at a process that compiles.
const NAP: Duration = Duration::from_millis(5);
/// The exit code of such a process if the compiler refused the text.
const REFUSED: u8 = 9;

/// A command that calls [`serve_compiler`] with the arguments that are appended to it.
#[derive(Clone, Debug)]
struct Apart {
    program: PathBuf,
    arguments: Vec<String>,
}

static APART: OnceLock<Apart> = OnceLock::new();

/// From now on, programs are compiled in a process of their own: this one, which must hand the arguments that follow to
/// [`serve_compiler`]. Without this call, they are compiled in the process of the run.
pub fn compile_apart(program: PathBuf, arguments: Vec<String>) {
    // The first call decides.
    let _ = APART.set(Apart { program, arguments });
}

/// Compiles for a device of this compute capability: in a process of its own if there is a command for that. `None` if
/// `goes_on` ended it.
pub(crate) fn compile_watched(text: &str, capability: (u32, u32), goes_on: &mut dyn FnMut() -> bool) -> Option<Result<Vec<u8>, DeviceError>> {
    match APART.get() {
        Some(apart) => apart.compile(text, capability, goes_on),
        None => Some(compile(text, capability)),
    }
}

/// The work of a process that compiles: reads the text in the first file that is named, and writes the code, or what the
/// compiler said, to the second. Two numbers that follow name the device. Returns the exit code. Code is there as soon as its
/// file is; the process may take longer to end. It ends with its caller, which holds its standard input.
pub fn serve_compiler(arguments: &[String]) -> u8 {
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(1);
    });
    let [text, code, major, minor] = arguments else { return 1 };
    let (Ok(source), Ok(major), Ok(minor)) = (fs::read_to_string(text), major.parse(), minor.parse()) else { return 1 };
    let (written, to, exit) = match compile(&source, (major, minor)) {
        Ok(bytes) => (bytes, code.clone(), 0),
        Err(DeviceError::Compile(log)) => (log.into_bytes(), refusal(code), REFUSED),
        Err(error) => (error.to_string().into_bytes(), refusal(code), 1),
    };
    // Its reader must not see half of it.
    let aside = format!("{code}.part");
    if fs::write(&aside, written).and_then(|()| fs::rename(aside, to)).is_ok() { exit } else { 1 }
}

/// The file for what the compiler said instead of writing code.
fn refusal(code: &str) -> String {
    format!("{code}.refused")
}

impl Apart {
    fn compile(&self, text: &str, capability: (u32, u32), goes_on: &mut dyn FnMut() -> bool) -> Option<Result<Vec<u8>, DeviceError>> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let folder = std::env::temp_dir().join(format!("wayfarer-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed)));
        let result = self.compile_in(&folder, text, capability, goes_on);
        // Nothing else lies there, and a folder that stays does no harm.
        let _ = fs::remove_dir_all(&folder);
        result
    }

    fn compile_in(
        &self,
        folder: &Path,
        text: &str,
        (major, minor): (u32, u32),
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Option<Result<Vec<u8>, DeviceError>> {
        let failed = |said: String| Some(Err(call_failed(said)));
        let (source, code) = (folder.join("model.cu"), folder.join("model.cubin"));
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&source, text));
        let child = written.and_then(|()| {
            let mut command = Command::new(&self.program);
            command.args(&self.arguments).arg(&source).arg(&code).args([major.to_string(), minor.to_string()]);
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
        });
        let mut running = match child {
            Ok(child) => Running(child),
            Err(error) => return failed(error.to_string()),
        };
        let status = loop {
            match running.0.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if code.exists() => return Some(fs::read(&code).map_err(|error| call_failed(error.to_string()))),
                Ok(None) if goes_on() => std::thread::sleep(NAP),
                Ok(None) => return None,
                Err(error) => return failed(error.to_string()),
            }
        };
        let said = fs::read(refusal(&code.to_string_lossy())).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        match (fs::read(&code), status.code(), said) {
            (Ok(bytes), Some(0), _) => Some(Ok(bytes)),
            (_, Some(exit), Some(said)) if exit == i32::from(REFUSED) => Some(Err(DeviceError::Compile(said))),
            (_, Some(_), Some(said)) => failed(said),
            _ => Some(Err(DeviceError::CompilerCrashed)),
        }
    }
}

fn call_failed(said: String) -> DeviceError {
    DeviceError::Call { doing: "compiling for the GPU", said }
}

/// A process that ends when it is no longer wanted.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::time::Instant;

    /// A shell in the compiler's place, which finds the text in `$1` and puts the code into `$2`.
    fn shell(script: &str) -> Apart {
        Apart { program: "sh".into(), arguments: vec!["-c".to_string(), script.to_string(), "sh".to_string()] }
    }

    fn compiled(script: &str) -> Option<Result<Vec<u8>, DeviceError>> {
        shell(script).compile("kernel", (9, 0), &mut || true)
    }

    #[test]
    fn code_and_refusals_come_back() {
        let copies = "(cat \"$1\"; echo $3$4) > \"$2.part\"; mv \"$2.part\" \"$2\"";
        assert_eq!(compiled(copies), Some(Ok(b"kernel90\n".to_vec())));
        assert_eq!(compiled(&format!("{copies}; sleep 600")), Some(Ok(b"kernel90\n".to_vec())), "the code is there before the process ends");
        assert_eq!(compiled("echo 'line 3: no' > \"$2.refused\"; exit 9"), Some(Err(DeviceError::Compile("line 3: no\n".to_string()))));
        assert!(matches!(compiled("echo 'no library' > \"$2.refused\"; exit 1"), Some(Err(DeviceError::Call { .. }))));
    }

    #[test]
    fn a_crash_of_the_compiler_is_an_error() {
        assert_eq!(compiled("kill -SEGV $$"), Some(Err(DeviceError::CompilerCrashed)));
        let missing = Apart { program: "/nowhere/compiler".into(), arguments: Vec::new() };
        assert!(matches!(missing.compile("kernel", (9, 0), &mut || true), Some(Err(DeviceError::Call { .. }))));
    }

    #[test]
    fn a_run_that_ends_ends_the_compiler() {
        let begun = Instant::now();
        let mut looks = 0;
        let ended = shell("sleep 600").compile("kernel", (9, 0), &mut || {
            looks += 1;
            looks < 3
        });
        assert_eq!(ended, None);
        assert!(begun.elapsed() < Duration::from_secs(300));
    }
}
