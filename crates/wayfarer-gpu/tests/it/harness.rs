//! Compiles generated source as C++ and calls it.
#![allow(unsafe_code)] // Calling what a C++ compiler made.

use libloading::{Library, Symbol};
use std::ffi::c_int;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use wayfarer_gpu::Source;

/// Says that a test did not run, and why.
pub(crate) fn not_run(why: &str) {
    eprintln!("this test did not run: {why}");
}

/// The C++ compiler, if there is one.
pub(crate) fn compiler() -> Option<&'static str> {
    let found = ["c++", "g++", "clang++"].into_iter().find(|name| Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success()));
    if found.is_none() {
        not_run("there is no C++ compiler");
    }
    found
}

/// Several programs in one library.
pub(crate) struct Built {
    library: Library,
}

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A file of this process's own.
pub(crate) fn scratch(ending: &str) -> PathBuf {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("gpu-{}-{number}.{ending}", std::process::id()))
}

/// What a compiler says of variables that may be read before they are set; nothing if it finds none.
pub(crate) fn unset_variables(compiler: &str, text: &str) -> String {
    let (source, target) = (scratch("cpp"), scratch("o"));
    std::fs::write(&source, text).expect("the scratch folder can be written");
    let output = Command::new(compiler)
        .args(["-x", "c++", "-std=c++17", "-O2", "-Wuninitialized", "-Wmaybe-uninitialized", "-c", "-o"])
        .arg(&target)
        .arg(&source)
        .output()
        .expect("the compiler runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{} does not compile:\n{said}", source.display());
    for path in [source, target] {
        let _ = std::fs::remove_file(path);
    }
    said.lines().filter(|line| line.contains("uninitialized]")).collect::<Vec<_>>().join("\n")
}

/// Compiles a text to a library.
pub(crate) fn compile(compiler: &str, text: &str, optimise: &str) -> Library {
    let (source, target) = (scratch("cpp"), scratch("so"));
    std::fs::write(&source, text).expect("the scratch folder can be written");
    let output = Command::new(compiler)
        .args(["-x", "c++", "-std=c++17", "-w", "-fPIC", "-shared", optimise, "-o"])
        .arg(&target)
        .arg(&source)
        .output()
        .expect("the compiler runs");
    assert!(output.status.success(), "{} does not compile:\n{}", source.display(), String::from_utf8_lossy(&output.stderr));
    // SAFETY: the library was just made from generated source, and has no initialisers.
    let library = unsafe { Library::new(&target) }.expect("the library loads");
    let _ = (std::fs::remove_file(&source), std::fs::remove_file(&target));
    library
}

impl Built {
    /// Compiles programs, each under its number.
    pub(crate) fn new(compiler: &str, sources: &[Source]) -> Self {
        let mut text = String::new();
        for (number, source) in sources.iter().enumerate() {
            let (prelude, program) = source.parts();
            if number == 0 {
                text.push_str(prelude);
            }
            let _ = writeln!(text, "namespace p{number} {{\n{program}\n}}");
            let _ = writeln!(
                text,
                "extern \"C\" int p{number}_enabled(u64* s, u64* mask) {{ return p{number}::enabled(s, mask); }}\n\
                 extern \"C\" int p{number}_guard(u64* s, u32 rule) {{ return p{number}::guard_again(s, rule); }}\n\
                 extern \"C\" int p{number}_fire(u64* s, u64* covered, u32 rule) {{\n\
                 p{number}::Scene x; int ended = p{number}::fire(s, x, rule); copy_words(covered, x.covered, p{number}::COVER_WORDS); return ended; }}\n\
                 extern \"C\" int p{number}_check(u64* s, u64* told, u32* found) {{ return p{number}::check(s, told, found[0], found[1]); }}\n\
                 extern \"C\" void p{number}_pack(u64* s, u64* t) {{ p{number}::pack(s, t); }}\n\
                 extern \"C\" void p{number}_unpack(u64* t, u64* s) {{ p{number}::unpack(t, s); }}"
            );
        }
        Built { library: compile(compiler, &text, "-O0") }
    }

    fn symbol<T>(&self, program: usize, name: &str) -> Symbol<'_, T> {
        // SAFETY: the signatures are those written above.
        unsafe { self.library.get(format!("p{program}_{name}").as_bytes()) }.expect("the function exists")
    }

    /// The rules whose guard is true or faults, and whether some guard faults.
    pub(crate) fn enabled(&self, program: usize, state: &mut [u64], mask: &mut [u64]) -> bool {
        let call: Symbol<unsafe extern "C" fn(*mut u64, *mut u64) -> c_int> = self.symbol(program, "enabled");
        // SAFETY: the slices are as long as the source says.
        unsafe { call(state.as_mut_ptr(), mask.as_mut_ptr()) != 0 }
    }

    /// What a guard ends with.
    pub(crate) fn guard(&self, program: usize, state: &mut [u64], rule: u32) -> i32 {
        let call: Symbol<unsafe extern "C" fn(*mut u64, u32) -> c_int> = self.symbol(program, "guard");
        // SAFETY: as above.
        unsafe { call(state.as_mut_ptr(), rule) }
    }

    /// What a command ends with.
    pub(crate) fn fire(&self, program: usize, state: &mut [u64], covered: &mut [u64], rule: u32) -> i32 {
        let call: Symbol<unsafe extern "C" fn(*mut u64, *mut u64, u32) -> c_int> = self.symbol(program, "fire");
        // SAFETY: as above.
        unsafe { call(state.as_mut_ptr(), covered.as_mut_ptr(), rule) }
    }

    /// What is told of a state, and the property and fault that were met.
    pub(crate) fn check(&self, program: usize, state: &mut [u64], told: &mut [u64]) -> [u32; 2] {
        let call: Symbol<unsafe extern "C" fn(*mut u64, *mut u64, *mut u32) -> c_int> = self.symbol(program, "check");
        let mut found = [0; 2];
        // SAFETY: as above.
        unsafe { call(state.as_mut_ptr(), told.as_mut_ptr(), found.as_mut_ptr()) };
        found
    }

    /// The tight form of a state.
    pub(crate) fn pack(&self, program: usize, state: &mut [u64], tight: &mut [u64]) {
        let call: Symbol<unsafe extern "C" fn(*mut u64, *mut u64)> = self.symbol(program, "pack");
        // SAFETY: as above.
        unsafe { call(state.as_mut_ptr(), tight.as_mut_ptr()) }
    }

    /// The state of a tight form.
    pub(crate) fn unpack(&self, program: usize, tight: &mut [u64], state: &mut [u64]) {
        let call: Symbol<unsafe extern "C" fn(*mut u64, *mut u64)> = self.symbol(program, "unpack");
        // SAFETY: as above.
        unsafe { call(tight.as_mut_ptr(), state.as_mut_ptr()) }
    }
}
