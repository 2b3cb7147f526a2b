//! A device made of a C++ compiler: a warp has one lane, a kernel is a function, and memory is the process's own.
#![allow(unsafe_code)] // Calling what a C++ compiler made, on memory that it is given by address.

use crate::harness::compile;
use libloading::{Library, Symbol};
use std::alloc::{Layout, alloc, dealloc};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write;
use wayfarer_gpu::{Address, DeviceError, Kernel, Machine, Params, Search, Slots, Source};

/// Several programs with their kernels in one library.
pub(crate) struct Kernels {
    library: Library,
}

impl Kernels {
    pub(crate) fn new(compiler: &str, sources: &[(Source, Slots)]) -> Self {
        let mut text = String::new();
        let searches = |(source, slots): &(Source, Slots)| [(source.clone(), Search::Levels(*slots)), (source.clone(), Search::Walks)];
        for (number, (source, search)) in sources.iter().flat_map(searches).enumerate() {
            if number == 0 {
                text.push_str(source.parts().0);
            }
            let body = source.kernels(search);
            let (number, word) = (number / 2, if number % 2 == 0 { "p" } else { "w" });
            let _ = writeln!(text, "#undef WF_NAME\n#define WF_NAME(name) p{number}_##name\nnamespace {word}{number} {{\n{body}\n}}");
        }
        Kernels { library: compile(compiler, &text, "-O0") }
    }

    /// One search of each program.
    pub(crate) fn of(compiler: &str, searches: &[(Source, Search)]) -> Self {
        let mut text = searches.first().map_or_else(String::new, |(source, _)| source.parts().0.to_string());
        for (number, (source, search)) in searches.iter().enumerate() {
            let body = source.kernels(*search);
            let _ = writeln!(text, "#undef WF_NAME\n#define WF_NAME(name) p{number}_##name\nnamespace p{number} {{\n{body}\n}}");
        }
        Kernels { library: compile(compiler, &text, "-O0") }
    }

    /// The device on which one of the programs runs.
    pub(crate) fn device(&self, program: usize) -> Emulated<'_> {
        Emulated { kernels: self, program, taken: RefCell::default() }
    }
}

pub(crate) struct Emulated<'k> {
    kernels: &'k Kernels,
    program: usize,
    taken: RefCell<HashMap<u64, Layout>>,
}

impl Machine for Emulated<'_> {
    fn allocate(&self, bytes: u64) -> Result<Address, DeviceError> {
        let layout = Layout::from_size_align(bytes.max(1) as usize, 64).expect("a size");
        // SAFETY: the size is not zero.
        let address = unsafe { alloc(layout) } as u64;
        self.taken.borrow_mut().insert(address, layout);
        Ok(Address(address))
    }

    fn release(&self, at: Address) {
        let layout = self.taken.borrow_mut().remove(&at.0).expect("memory that was taken");
        // SAFETY: it was taken with this layout.
        unsafe { dealloc(at.0 as *mut u8, layout) };
    }

    fn zero(&self, at: Address, bytes: u64) -> Result<(), DeviceError> {
        // SAFETY: whoever asks has taken so many bytes there.
        unsafe { std::ptr::write_bytes(at.0 as *mut u8, 0, bytes as usize) };
        Ok(())
    }

    fn write(&self, at: Address, words: &[u64]) -> Result<(), DeviceError> {
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(words.as_ptr(), at.0 as *mut u64, words.len()) };
        Ok(())
    }

    fn read(&self, at: Address, words: &mut [u64]) -> Result<(), DeviceError> {
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(at.0 as *const u64, words.as_mut_ptr(), words.len()) };
        Ok(())
    }

    fn pin(&self, bytes: u64) -> Result<Address, DeviceError> {
        self.allocate(bytes)
    }

    fn unpin(&self, at: Address) {
        self.release(at);
    }

    fn copy(&self, from: Address, to: Address, words: u64) -> Result<(), DeviceError> {
        // SAFETY: as above; buffers and pieces do not overlap.
        unsafe { std::ptr::copy_nonoverlapping(from.0 as *const u64, to.0 as *mut u64, words as usize) };
        Ok(())
    }

    fn run(&self, kernel: Kernel, params: &Params, _items: u64) -> Result<(), DeviceError> {
        let name = kernel.name();
        // SAFETY: kernels have this signature.
        let call: Symbol<unsafe extern "C" fn(*const Params)> =
            unsafe { self.kernels.library.get(format!("p{}_{name}", self.program).as_bytes()) }.expect("the kernel exists");
        // SAFETY: the parameters name memory that was taken.
        unsafe { call(params) };
        Ok(())
    }

    fn lanes(&self) -> u64 {
        1
    }

    fn free(&self) -> u64 {
        1 << 30
    }
}
