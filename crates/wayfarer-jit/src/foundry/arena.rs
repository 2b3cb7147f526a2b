//! Memory for machine code that is never writable and executable at once. Each chunk is mapped twice: code is written
//! through one view and executed through the other. So fresh code can be appended while other threads execute
//! existing code.

use cranelift_jit::{BranchProtection, JITMemoryKind, JITMemoryProvider};
use cranelift_module::ModuleResult;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

/// The bytes allocated from the system at once; pages that are never touched cost nothing.
const CHUNK: usize = 1 << 20;

/// Code memory, allocated without gaps. Processors of this family see new code without a flush, and code that runs on
/// other threads is never changed: only fresh bytes are written. Code refers to itself by distances, and to
/// everything else by addresses outside the arena, so it may be executed at other addresses than it was written to.
#[derive(Default)]
pub(super) struct Arena {
    chunks: Views,
    used: usize,
}

/// The chunks of an arena, shared with code that executes its contents.
#[derive(Clone, Default)]
pub(super) struct Views(Arc<Mutex<Vec<Chunk>>>);

/// Two views of the same memory.
struct Chunk {
    writable: *mut u8,
    executable: *mut u8,
    length: usize,
}

// SAFETY: a chunk is plain memory that belongs to its holder.
unsafe impl Send for Chunk {}

impl Arena {
    /// The chunks of this arena, including later ones.
    pub(super) fn views(&self) -> Views {
        self.chunks.clone()
    }
}

impl Views {
    fn chunks(&self) -> MutexGuard<'_, Vec<Chunk>> {
        self.0.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// The executable address of code that was written to this address.
    pub(super) fn executable(&self, written: *const u8) -> *const u8 {
        let at = written as usize;
        let chunks = self.chunks();
        let chunk = chunks.iter().find(|chunk| (chunk.writable as usize..chunk.writable as usize + chunk.length).contains(&at));
        chunk.map_or(written, |chunk| chunk.executable.wrapping_add(at - chunk.writable as usize).cast_const())
    }
}

impl Chunk {
    fn new(length: usize) -> io::Result<Chunk> {
        // SAFETY: the name is a terminated string; the descriptor is checked, sized, mapped twice and closed, and is used nowhere else. Both mappings are new.
        unsafe {
            let file = libc::memfd_create(c"wayfarer-code".as_ptr(), libc::MFD_CLOEXEC);
            if file < 0 {
                return Err(io::Error::last_os_error());
            }
            let map = |protection| libc::mmap(std::ptr::null_mut(), length, protection, libc::MAP_SHARED, file, 0);
            let sized = libc::ftruncate(file, length as libc::off_t) == 0;
            let writable = if sized { map(libc::PROT_READ | libc::PROT_WRITE) } else { libc::MAP_FAILED };
            let executable = if writable == libc::MAP_FAILED { libc::MAP_FAILED } else { map(libc::PROT_READ | libc::PROT_EXEC) };
            let failed = (executable == libc::MAP_FAILED).then(io::Error::last_os_error);
            libc::close(file);
            if let Some(error) = failed {
                if writable != libc::MAP_FAILED {
                    libc::munmap(writable, length);
                }
                return Err(error);
            }
            Ok(Chunk { writable: writable.cast(), executable: executable.cast(), length })
        }
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        // SAFETY: both views were mapped with this length and are not used any more: the foundry that made the code is being dropped.
        unsafe {
            libc::munmap(self.writable.cast(), self.length);
            libc::munmap(self.executable.cast(), self.length);
        }
    }
}

impl JITMemoryProvider for Arena {
    fn allocate(&mut self, size: usize, align: u64, _kind: JITMemoryKind) -> io::Result<*mut u8> {
        let align = (align as usize).max(16);
        let mut chunks = self.chunks.chunks();
        let mut start = self.used.next_multiple_of(align);
        if chunks.last().is_none_or(|chunk| start + size > chunk.length) {
            chunks.push(Chunk::new(size.max(CHUNK).next_multiple_of(4096))?);
            start = 0;
        }
        self.used = start + size;
        let chunk = chunks.last().ok_or_else(|| io::Error::other("no memory for code"))?;
        Ok(chunk.writable.wrapping_add(start))
    }

    unsafe fn free_memory(&mut self) {
        self.chunks.chunks().clear();
        self.used = 0;
    }

    fn finalize(&mut self, _branch_protection: BranchProtection) -> ModuleResult<()> {
        Ok(())
    }
}
