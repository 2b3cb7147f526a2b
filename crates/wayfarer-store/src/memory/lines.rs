//! A table's memory as cache lines of atomic words, for the stores whose size is fixed at the start.
//!
//! The memory is reserved at once and reads as zero; the system backs a page when it is first touched, so a large table costs little until it is used.
#![allow(unsafe_code)] // Memory is taken from and given back to the global allocator by hand.

use crate::Account;
use std::alloc::{GlobalAlloc, Layout, System, alloc_zeroed, dealloc};
use std::ops::Range;
use std::ptr::NonNull;
use sync::AtomicU64;

/// The atomics of shared memory. In a build with `--cfg loom` they are loom's, which tries the interleavings of threads.
pub(crate) mod sync {
    #[cfg(loom)]
    pub(crate) use loom::{
        hint::spin_loop,
        sync::Mutex,
        sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, fence},
        thread::yield_now,
    };
    #[cfg(not(loom))]
    pub(crate) use std::{
        hint::spin_loop,
        sync::Mutex,
        sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, fence},
        thread::yield_now,
    };
}

/// Words in a cache line.
pub(crate) const WORDS: usize = 8;
const LINE: usize = 64;
const LARGE_PAGE: usize = 2 << 20;
/// Lines in a small page.
const PAGE_LINES: usize = 64;
/// States for each small page from which on a table lies in large pages. With the first state of each page all memory is touched, but copying it into large
/// pages takes as long as finding a few states for each.
const GATHERED: usize = 8;

/// A cache line.
pub(crate) type Line = [AtomicU64; WORDS];

/// Zeroed cache lines, given back on drop.
pub(crate) struct Lines {
    memory: NonNull<u8>,
    layout: Layout,
    start: NonNull<Line>,
    len: usize,
    /// Whether the memory went past the program's allocator.
    reserved: bool,
}

// SAFETY: the memory is only ever reached as atomic words, which any thread may use.
unsafe impl Send for Lines {}
// SAFETY: as above.
unsafe impl Sync for Lines {}

impl Lines {
    /// The bytes that `len` lines take from the account, with the padding to start at a line's edge.
    pub(crate) fn bytes_for(len: usize) -> usize {
        len.saturating_mul(size_of::<Line>()).saturating_add(LINE)
    }

    /// Takes `len` lines (at least one); none if the account or the system refuses.
    pub(crate) fn take(len: usize, account: &dyn Account) -> Option<Lines> {
        let len = len.max(1);
        let bytes = Lines::bytes_for(len);
        if account.allows(bytes) { Lines::of(len, false) } else { None }
    }

    /// Reserves `len` lines (at least one) outside the program's allocator, so that they are not counted there. Their
    /// user tells the account how many it uses. None if the system refuses, or would refuse everything else then.
    pub(crate) fn reserve(len: usize) -> Option<Lines> {
        let lines = Lines::of(len.max(1), true)?;
        // Where addresses are limited, a failed allocation elsewhere ends the program.
        let others = Layout::from_size_align(lines.layout.size() / 4 + 4 * LARGE_PAGE, 16).ok()?;
        // The compiler would leave out memory that nobody looks at.
        // SAFETY: the layout has a size above zero; the memory is not used and given back at once.
        let probe = std::hint::black_box(unsafe { System.alloc(others) });
        if probe.is_null() {
            return None;
        }
        // SAFETY: it was taken with this layout from the same allocator and is given back once.
        unsafe { System.dealloc(probe, others) };
        Some(lines)
    }

    fn of(len: usize, reserved: bool) -> Option<Lines> {
        // Asked for more than the allocator's usual alignment, the standard library would zero the memory itself and touch all of it; so lines are
        // aligned by hand.
        let layout = Layout::from_size_align(Lines::bytes_for(len), 16).ok()?;
        // SAFETY: the layout has a size above zero.
        let memory = NonNull::new(unsafe { if reserved { System.alloc_zeroed(layout) } else { alloc_zeroed(layout) } })?;
        let skip = memory.align_offset(LINE).min(LINE);
        // SAFETY: `skip` is at most one line, and the block is one line longer than the lines.
        let start: NonNull<Line> = unsafe { memory.add(skip) }.cast();
        #[cfg(loom)]
        // The checker's words are not plain zeros.
        for index in 0..len {
            // SAFETY: the block has room for the lines, including loom's larger ones.
            unsafe { start.add(index).write(std::array::from_fn(|_| AtomicU64::new(0))) };
        }
        Some(Lines { memory, layout, start, len, reserved })
    }

    /// The line at `index`.
    #[inline]
    pub(crate) fn line(&self, index: usize) -> &Line {
        assert!(index < self.len, "line {index} of {}", self.len);
        // SAFETY: the index was checked; the memory is zeroed, aligned, lives as long as `self` and is reached as atomics only.
        unsafe { &*self.start.as_ptr().add(index) }
    }

    /// All words.
    #[inline]
    pub(crate) fn words(&self) -> &[AtomicU64] {
        // SAFETY: as for `line`; the lines lie side by side.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.len * WORDS) }
    }

    /// Brings a line into the cache; `index` may be anything.
    #[inline]
    pub(crate) fn prefetch(&self, index: usize) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: prefetching is a hint; it reads nothing and is allowed on any address, valid or not.
        unsafe {
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(self.start.as_ptr().wrapping_add(index).cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = index;
    }

    /// How many lines.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes taken from the account.
    pub(crate) fn bytes(&self) -> usize {
        self.layout.size()
    }

    /// Whether a table that states are scattered over holds enough of them for large pages to pay.
    pub(crate) fn is_crowded(&self, states: u64) -> bool {
        states as usize / GATHERED > self.len / PAGE_LINES
    }

    /// Offers the whole large pages among these lines to the system as large pages, so that random reads miss the address cache less often.
    pub(crate) fn offer_large_pages(&self, lines: Range<usize>) {
        #[cfg(target_os = "linux")]
        self.advise(lines, libc::MADV_HUGEPAGE);
        #[cfg(not(target_os = "linux"))]
        let _ = lines;
    }

    /// Asks the system to put the pages touched so far into large pages.
    pub(crate) fn gather_large_pages(&self) {
        // MADV_COLLAPSE, from Linux 6.1 on; older systems refuse it.
        #[cfg(target_os = "linux")]
        self.advise(0..self.len, 25);
    }

    #[cfg(target_os = "linux")]
    fn advise(&self, lines: Range<usize>, advice: libc::c_int) {
        let start = self.start.as_ptr() as usize;
        let from = (start + lines.start * LINE).next_multiple_of(LARGE_PAGE);
        let until = (start + lines.end.min(self.len) * LINE) & !(LARGE_PAGE - 1);
        if from < until {
            // SAFETY: the range lies inside our block, and the advice changes nothing but how the system backs it. Its answer does not matter.
            unsafe { libc::madvise(from as *mut libc::c_void, until - from, advice) };
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        #[cfg(loom)]
        for index in 0..self.len {
            // SAFETY: the words were made by `take` and are not used again.
            unsafe { self.start.add(index).drop_in_place() };
        }
        // SAFETY: it was taken with this layout from the same allocator and is given back once.
        unsafe { if self.reserved { System.dealloc(self.memory.as_ptr(), self.layout) } else { dealloc(self.memory.as_ptr(), self.layout) } }
    }
}
