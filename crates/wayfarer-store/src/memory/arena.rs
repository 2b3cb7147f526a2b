//! Memory for tables: blocks whose sizes are powers of two, cut from large chunks. Free halves are joined again when no free block is large enough.
//!
//! The index rebuilds its shares one by one, each into twice the room, so what one share leaves behind becomes room for another. Chunks of 2 MiB are
//! offered to the system as large pages, because a table is read at random and would otherwise miss the address cache at every visit.
#![allow(unsafe_code)] // Memory is taken from and given back to the global allocator by hand.

use crate::Account;
use std::alloc::{Layout, alloc, dealloc};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::atomic::AtomicPtr;

/// Gives free memory that the allocator keeps in small blocks back to the system. Otherwise a dropped store would count until the end.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the allocator takes care of itself.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// The smallest block, a cache line.
pub(crate) const LINE: usize = 64;
/// The size from which memory is offered as large pages.
const LARGE_PAGE: usize = 2 << 20;

/// Asks for the cache line at an address, which need not be valid.
#[inline]
pub(crate) fn prefetch_line(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching is a hint; it reads nothing and is allowed on any address, valid or not.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// The same for a line that will be written: no other core keeps a copy, which would have to be called back at the write.
#[inline]
pub(crate) fn prefetch_to_write(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: as for `prefetch_line`. Processors that do not know this hint do nothing.
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    prefetch_line(address);
}

/// Numbers of this many fill a block that comes from the system, zeroed, rather than from memory that was used before.
const MAPPED: usize = (1 << 20) / size_of::<usize>();

/// A list of addresses, none of which is set at first. Most of a long one is never touched.
pub(crate) struct Addresses<T> {
    all: Box<[AtomicPtr<T>]>,
    len: usize,
}

impl<T> Addresses<T> {
    /// So many addresses. A long list is made so long that the allocator maps it, and does not clear it page by page.
    pub(crate) fn new(len: usize) -> Self {
        let zeros = Box::into_raw(vec![0usize; if len >= MAPPED / 8 { len.max(MAPPED) } else { len }].into_boxed_slice());
        // SAFETY: an atomic pointer is as large and aligned as a number of this size, and all its bits are zero if it is null.
        Addresses { all: unsafe { Box::from_raw(zeros as *mut [AtomicPtr<T>]) }, len }
    }
}

impl<T> Deref for Addresses<T> {
    type Target = [AtomicPtr<T>];

    #[inline]
    fn deref(&self) -> &[AtomicPtr<T>] {
        // SAFETY: the list is at least as long.
        unsafe { self.all.get_unchecked(..self.len) }
    }
}

impl<T> DerefMut for Addresses<T> {
    fn deref_mut(&mut self) -> &mut [AtomicPtr<T>] {
        &mut self.all[..self.len]
    }
}

/// The least that an arena takes at once.
const SMALLEST: usize = 1 << 16;

/// A chunk of raw memory, given back on drop.
pub(crate) struct Chunk {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: a chunk is plain memory that no thread owns; who may touch which part of it is the business of its user.
unsafe impl Send for Chunk {}
// SAFETY: as above; the chunk itself only hands out its address.
unsafe impl Sync for Chunk {}

impl Chunk {
    /// Takes `bytes` of memory, a multiple of [`LINE`]; none if the account or the system refuses.
    pub(crate) fn take(bytes: usize, account: &dyn Account) -> Option<Chunk> {
        if !account.allows(bytes) {
            return None;
        }
        let align = if bytes.is_multiple_of(LARGE_PAGE) { LARGE_PAGE } else { LINE };
        let layout = Layout::from_size_align(bytes.max(LINE), align).ok()?;
        // SAFETY: the layout has a size above zero.
        let start = NonNull::new(unsafe { alloc(layout) })?;
        #[cfg(target_os = "linux")]
        if align == LARGE_PAGE {
            // SAFETY: the range is ours, and the advice changes nothing but how the system backs it. Its answer does not matter.
            unsafe { libc::madvise(start.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE) };
        }
        Some(Chunk { start, layout })
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.layout.size()
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        // SAFETY: it was taken with this layout and is given back once.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

/// Blocks of memory by size.
pub(crate) struct Arena {
    chunk: usize,
    chunks: Vec<Chunk>,
    /// The addresses of free blocks, by the logarithm of their size.
    free: [Vec<usize>; usize::BITS as usize],
    /// Bytes that came back since free blocks were last joined.
    unjoined: usize,
    bytes: usize,
}

impl Arena {
    /// No memory yet; blocks share chunks of up to `chunk` bytes, a power of two.
    pub(crate) fn new(chunk: usize) -> Self {
        Arena { chunk, chunks: Vec::new(), free: [const { Vec::new() }; usize::BITS as usize], unjoined: 0, bytes: 0 }
    }

    /// Bytes taken from the account.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// A block of `size` bytes, a power of two and at least a line. It is not cleared: its user touches it first.
    pub(crate) fn take(&mut self, size: usize, account: &dyn Account) -> Option<*mut u8> {
        if let Some(address) = self.take_free(size) {
            return Some(address as *mut u8);
        }
        if self.unjoined >= size {
            self.join();
            if let Some(address) = self.take_free(size) {
                return Some(address as *mut u8);
            }
        }
        // While there is little, less is taken at once, so that what lies empty stays a small share.
        let chunk = (self.bytes / 8).next_power_of_two().clamp(SMALLEST.min(self.chunk), self.chunk);
        let chunk = Chunk::take(size.max(chunk), account)?;
        self.bytes += chunk.bytes();
        self.keep(chunk.start() as usize, chunk.bytes());
        self.chunks.push(chunk);
        self.take_free(size).map(|address| address as *mut u8)
    }

    /// A block out of the smallest free one that is large enough. Its lower part is taken.
    fn take_free(&mut self, size: usize) -> Option<usize> {
        let class = size.ilog2() as usize;
        let found = (class..self.free.len()).find(|class| !self.free[*class].is_empty())?;
        let address = self.free[found].pop()?;
        for upper in class..found {
            self.free[upper].push(address + (1 << upper));
        }
        Some(address)
    }

    fn keep(&mut self, address: usize, size: usize) {
        self.free[size.ilog2() as usize].push(address);
    }

    /// Gives a block back.
    pub(crate) fn give_back(&mut self, block: *mut u8, size: usize) {
        if size > self.chunk {
            // A chunk of its own goes back to the system.
            self.chunks.retain(|chunk| chunk.start() != block);
            self.bytes -= size;
        } else {
            self.keep(block as usize, size);
            self.unjoined += size;
        }
    }

    /// Joins free halves.
    fn join(&mut self) {
        self.unjoined = 0;
        let sized =
            |(class, blocks): (usize, &mut Vec<usize>)| -> Vec<(usize, usize)> { blocks.drain(..).map(|block| (block, 1 << class)).collect() };
        let mut blocks: Vec<(usize, usize)> = self.free.iter_mut().enumerate().flat_map(sized).collect();
        blocks.sort_unstable();
        let mut starts: Vec<usize> = self.chunks.iter().map(|chunk| chunk.start() as usize).collect();
        starts.sort_unstable();
        let mut joined: Vec<(usize, usize)> = Vec::new();
        for (mut address, mut size) in blocks {
            // Chunks are aligned to a line only, so halves are told from their chunk's start.
            let start = starts[..starts.partition_point(|start| *start <= address)].last().copied().unwrap_or(0);
            while let Some((lower, _)) =
                joined.pop_if(|lower| *lower == (address.wrapping_sub(size), size) && lower.0 >= start && (lower.0 - start) % (2 * size) == 0)
            {
                (address, size) = (lower, 2 * size);
            }
            joined.push((address, size));
        }
        joined.into_iter().for_each(|(address, size)| self.keep(address, size));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unlimited;

    #[test]
    fn blocks_do_not_overlap_and_come_back_whole() {
        let mut arena = Arena::new(1 << 12);
        let sizes = [64usize, 128, 64, 1024, 256, 64, 8192, 2048];
        let blocks: Vec<_> = sizes.iter().map(|size| (arena.take(*size, &Unlimited).unwrap(), *size)).collect();
        for (index, (block, size)) in blocks.iter().enumerate() {
            for (other, length) in &blocks[index + 1..] {
                let (a, b) = (*block as usize, *other as usize);
                assert!(a + size <= b || b + length <= a);
            }
        }
        for (block, size) in blocks {
            arena.give_back(block, size);
        }
        arena.join();
        assert!(arena.free.iter().enumerate().all(|(class, blocks)| class == 12 || blocks.is_empty()), "{:?}", arena.free);
        assert_eq!(arena.bytes(), arena.free[12].len() << 12);
    }

    #[test]
    fn no_memory_is_taken_while_joined_blocks_have_room() {
        let mut arena = Arena::new(1 << 12);
        let blocks: Vec<_> = (0..128).map(|_| arena.take(64, &Unlimited).unwrap()).collect();
        let bytes = arena.bytes();
        blocks.into_iter().for_each(|block| arena.give_back(block, 64));
        for _ in 0..bytes >> 11 {
            assert!(arena.take(1 << 11, &Unlimited).is_some());
        }
        assert_eq!(arena.bytes(), bytes);
    }
}
