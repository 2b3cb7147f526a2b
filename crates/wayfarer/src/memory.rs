//! Memory accounting: an allocator that keeps a sum, and the account that compares it with the budget.
//!
//! A program that wants its budget kept to the byte installs [`Counting`] as its global allocator. Without it, a run
//! keeps a ledger: it counts the memory of stores and frontiers, but not that of a model's own code.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use wayfarer_search::Account;

static TAKEN: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
/// Bytes allocated and kept by the compilation of models.
static COMPILING: AtomicUsize = AtomicUsize::new(0);

/// Bytes between small blocks, if several threads search and the budget is large. Blocks in one cache line make two threads slow if one writes to its own
/// while the other reads the one beside it.
static GAP: AtomicUsize = AtomicUsize::new(0);
/// The size of such a gap: the cache lines that a processor fetches together.
const LINES: usize = 128;
/// Blocks of at least this size are not small.
const LARGE: usize = 1 << 16;

/// The system's allocator with a count of the allocated bytes.
pub struct Counting;

/// The size of a block with the gap behind it.
#[inline]
fn spaced(bytes: usize) -> usize {
    if bytes < LARGE { bytes + GAP.load(Ordering::Relaxed) } else { bytes }
}

fn count(bytes: usize) {
    let now = TAKEN.fetch_add(bytes, Ordering::Relaxed) + bytes;
    // Mostly there was more before, and reading is much cheaper than exchanging.
    if now > PEAK.load(Ordering::Relaxed) {
        PEAK.fetch_max(now, Ordering::Relaxed);
    }
}

/// The layout of a block with the gap behind it.
#[inline]
fn layout_of(layout: Layout) -> Layout {
    Layout::from_size_align(spaced(layout.size()), layout.align()).unwrap_or(layout)
}

#[allow(unsafe_code)]
// SAFETY: every call goes to the system's allocator, for as many bytes or a few more; counting only touches two atomics. The system's allocator frees and
// moves a block by its address and alignment, so that it does not matter whether the block has a gap.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(spaced(layout.size()));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout_of(layout)) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(spaced(layout.size()));
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout_of(layout)) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        TAKEN.fetch_sub(spaced(layout.size()), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let (before, after) = (spaced(layout.size()), spaced(size));
        if after > before {
            count(after - before);
        } else {
            TAKEN.fetch_sub(before - after, Ordering::Relaxed);
        }
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, spaced(size)) }
    }
}

/// Bytes currently allocated through [`Counting`].
pub fn taken() -> usize {
    TAKEN.load(Ordering::Relaxed)
}

/// From this budget on, each thread takes its small blocks from memory of its own.
const APART: usize = 4 << 30;

/// Configures the system's allocator for a budget of `limit` bytes and for `threads` that search. It is to release large
/// blocks as soon as they are freed: by default it raises the threshold with every freed block, and keeps a store's freed
/// memory for the next one. In a small budget all threads share their small blocks, because memory that one thread frees
/// of another's can be reused only by the other. In a large one they do not, and there is a gap behind each small block: blocks that
/// lie side by side in a cache line make threads slow (random walks on 16 cores by a factor of two). A large budget also has room
/// for some freed memory, so that compiling one function after another does not ask the system each time.
pub fn give_back_at_once(limit: usize, threads: usize) {
    let shared = limit < APART || threads == 1;
    GAP.store(if shared { 0 } else { LINES }, Ordering::Relaxed);
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[allow(unsafe_code)]
    // SAFETY: sets numbers in the allocator; called before there are other threads.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, if limit < APART { 128 << 10 } else { 1 << 20 });
        if limit >= APART {
            libc::mallopt(libc::M_TRIM_THRESHOLD, 8 << 20);
            libc::mallopt(libc::M_TOP_PAD, 1 << 20);
        }
        libc::mallopt(libc::M_ARENA_MAX, if shared { 1 } else { threads.min(1 << 10) as libc::c_int + 2 });
        SHARED.store(shared, Ordering::Relaxed);
    }
}

/// Whether all threads take their small blocks from the same memory.
static SHARED: AtomicBool = AtomicBool::new(false);

pub(crate) fn threads_share() -> bool {
    SHARED.load(Ordering::Relaxed)
}

/// The peak of the bytes allocated through [`Counting`].
pub fn peak() -> usize {
    PEAK.load(Ordering::Relaxed)
}

/// Records that a model was compiled further since `before` bytes were allocated.
#[cfg(feature = "jit")]
pub(crate) fn compiled_since(before: usize) {
    // This is negative if memory of an earlier function was released.
    COMPILING.fetch_add(taken().wrapping_sub(before), Ordering::Relaxed);
}

/// The account of a run: the bytes allocated through [`Counting`], and a fixed sum for the rest of the process.
#[derive(Debug)]
pub struct Budget {
    limit: usize,
    besides: usize,
    /// Machine code compiled for the run, which bypasses the allocator.
    code: AtomicUsize,
    reserve: usize,
    /// Bytes allocated through [`Counting`] before the run, which are not the run's.
    before: usize,
    /// Used if nothing is allocated through [`Counting`].
    ledger: Option<Ledger>,
    /// Bytes that do not count: in a small budget, the memory that the model needs in any case.
    excused: AtomicUsize,
    /// Bytes that will be taken without asking. Nobody else is allowed them, and they are not in use.
    promised: AtomicUsize,
}

/// The bytes allowed and the bytes held.
#[derive(Debug, Default)]
struct Ledger {
    /// Bytes held when it was last settled.
    held: AtomicUsize,
    /// Bytes allowed since then.
    allowed: AtomicUsize,
    peak: AtomicUsize,
}

impl Ledger {
    fn used(&self) -> usize {
        self.held.load(Ordering::Relaxed).saturating_add(self.allowed.load(Ordering::Relaxed))
    }
}

/// From this budget on, the whole process counts; below it, the memory that it needs in any case comes on top.
pub const WHOLE_PROCESS: usize = 64 << 20;

/// The share reserved for data that grows between two checks: batches, their successors, the witness.
const RESERVE_SHARE: usize = 64;

fn reserve(limit: usize) -> usize {
    (limit / RESERVE_SHARE).min(8 << 20)
}

impl Budget {
    /// A budget of `limit` bytes, `besides` of which are held outside the allocator (code, stacks, system tables).
    pub fn new(limit: usize, besides: usize) -> Self {
        let (code, excused, promised) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        Budget { limit, besides, code, reserve: reserve(limit), before: 0, ledger: None, excused, promised }
    }

    /// A budget of `limit` bytes for a run inside a program that does other things, too: earlier allocations do not
    /// count. It keeps a ledger if the program's allocator does not count.
    pub fn of_run(limit: usize) -> Self {
        let before = taken();
        Budget { before, ledger: (before == 0).then(Ledger::default), ..Budget::new(limit, 0) }
    }

    /// Whether a budget of `limit` bytes would now allow `bytes` more.
    pub(crate) fn would_allow(&self, limit: usize, bytes: usize) -> bool {
        self.used().saturating_add(bytes).saturating_add(reserve(limit)) <= limit
    }

    /// The limit in bytes.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// The bytes still free for a run.
    pub(crate) fn free(&self) -> usize {
        self.limit.saturating_sub(self.used()).saturating_sub(self.reserve)
    }

    /// The bytes reserved.
    pub(crate) fn reserve(&self) -> usize {
        self.reserve
    }

    /// The peak usage.
    pub fn peak(&self) -> usize {
        let peak =
            self.ledger.as_ref().map_or_else(|| peak().saturating_sub(self.before), |ledger| ledger.peak.load(Ordering::Relaxed).max(ledger.used()));
        (peak + self.besides + self.code.load(Ordering::Relaxed)).saturating_sub(self.excused())
    }

    /// Records the current size of the machine code.
    pub(crate) fn note_code(&self, bytes: usize) {
        if self.limit >= WHOLE_PROCESS {
            self.code.store(bytes, Ordering::Relaxed);
        }
    }

    /// In a budget below [`WHOLE_PROCESS`], excludes the memory allocated until now: the model, and what it needs to
    /// run.
    pub fn excuse(&self) {
        if self.limit < WHOLE_PROCESS && self.ledger.is_none() {
            // Code compiled from here on is excluded, too.
            let taken = taken().saturating_sub(self.before);
            self.excused.store(taken.wrapping_sub(COMPILING.load(Ordering::Relaxed)), Ordering::Relaxed);
        }
    }

    fn excused(&self) -> usize {
        if self.limit >= WHOLE_PROCESS { 0 } else { self.excused.load(Ordering::Relaxed).wrapping_add(COMPILING.load(Ordering::Relaxed)) }
    }
}

impl Account for Budget {
    fn allows(&self, bytes: usize) -> bool {
        let promised = self.promised.load(Ordering::Relaxed);
        let fits = self.used().saturating_add(bytes).saturating_add(promised).saturating_add(self.reserve) <= self.limit;
        if let Some(ledger) = self.ledger.as_ref().filter(|_| fits) {
            ledger.allowed.fetch_add(bytes, Ordering::Relaxed);
            ledger.peak.fetch_max(ledger.used(), Ordering::Relaxed);
        }
        fits
    }

    fn used(&self) -> usize {
        let taken = self.ledger.as_ref().map_or_else(|| taken().saturating_sub(self.before), Ledger::used);
        (taken + self.besides + self.code.load(Ordering::Relaxed)).saturating_sub(self.excused())
    }

    // A ledger knows how much was allowed, and is told how much is held.
    fn charge(&self, bytes: usize) {
        if self.ledger.is_none() {
            count(bytes);
        }
    }

    fn refund(&self, bytes: usize) {
        if self.ledger.is_none() {
            TAKEN.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    fn promise(&self, bytes: usize) {
        self.promised.fetch_add(bytes, Ordering::Relaxed);
    }

    fn keep(&self, bytes: usize) {
        self.promised.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn wants_settling(&self, asked: u32) -> bool {
        let much = |ledger: &Ledger| ledger.allowed.load(Ordering::Relaxed) > self.limit / 64;
        self.ledger.as_ref().is_some_and(|ledger| asked % 4096 == 1 || much(ledger))
    }

    fn settle(&self, held: usize) {
        if let Some(ledger) = &self.ledger {
            ledger.held.store(held, Ordering::Relaxed);
            ledger.allowed.store(0, Ordering::Relaxed);
            ledger.peak.fetch_max(held, Ordering::Relaxed);
        }
    }
}
