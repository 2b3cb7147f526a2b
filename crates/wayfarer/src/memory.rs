//! Counts what a run takes, where it is taken: an allocator that keeps a sum, and the account that compares it with the budget.
//!
//! A program that wants its budget kept to the byte installs [`Counting`] as its global allocator. Without it a run keeps a ledger: what stores and frontiers
//! ask for and hold is counted, what a model's own code takes is not.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use wayfarer_search::Account;

static TAKEN: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
/// What compiling models has taken and kept.
static COMPILING: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator with a count of the bytes that are taken.
pub struct Counting;

fn count(bytes: usize) {
    let now = TAKEN.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(now, Ordering::Relaxed);
}

#[allow(unsafe_code)]
// SAFETY: every call goes to the system's allocator unchanged; counting touches nothing but two atomics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        TAKEN.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > layout.size() {
            count(size - layout.size());
        } else {
            TAKEN.fetch_sub(layout.size() - size, Ordering::Relaxed);
        }
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Bytes taken through [`Counting`] now.
pub fn taken() -> usize {
    TAKEN.load(Ordering::Relaxed)
}

/// Has the system's allocator give large blocks back as soon as they are free, and all threads share its small ones. Left to itself it raises the size from which it
/// does so with every block that is freed, and keeps what a store gives up for the next one; and what one thread frees of another's, the other alone may use again.
pub fn give_back_at_once() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[allow(unsafe_code)]
    // SAFETY: sets numbers in the allocator; called before there are other threads.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 128 << 10);
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// The most bytes that were taken through [`Counting`] at once.
pub fn peak() -> usize {
    PEAK.load(Ordering::Relaxed)
}

/// A model was compiled a little further since so much was taken.
#[cfg(feature = "jit")]
pub(crate) fn compiled_since(before: usize) {
    // Less than before where what an earlier function needed was given back.
    COMPILING.fetch_add(taken().wrapping_sub(before), Ordering::Relaxed);
}

/// The account of a run: what is taken through [`Counting`], and a fixed sum for what the process holds besides.
#[derive(Debug)]
pub struct Budget {
    limit: usize,
    besides: usize,
    /// Machine code that was compiled for the run, which goes past the allocator.
    code: AtomicUsize,
    reserve: usize,
    /// What was taken through [`Counting`] before the run, which is not the run's.
    before: usize,
    /// Kept where nothing is taken through [`Counting`].
    ledger: Option<Ledger>,
    /// What does not count: in a small budget, what the model needs in any case to run.
    excused: AtomicUsize,
}

/// What was allowed and what is held.
#[derive(Debug, Default)]
struct Ledger {
    /// Held when it was last settled.
    held: AtomicUsize,
    /// Allowed since then.
    allowed: AtomicUsize,
    peak: AtomicUsize,
}

impl Ledger {
    fn used(&self) -> usize {
        self.held.load(Ordering::Relaxed).saturating_add(self.allowed.load(Ordering::Relaxed))
    }
}

/// From this budget on, the whole process counts; below, what it needs in any case comes on top.
pub const WHOLE_PROCESS: usize = 64 << 20;

/// Kept free for what grows between two questions: batches, their successors, the witness.
const RESERVE_SHARE: usize = 64;

fn reserve(limit: usize) -> usize {
    (limit / RESERVE_SHARE).min(8 << 20)
}

impl Budget {
    /// A budget of `limit` bytes, of which `besides` are held outside the allocator (code, stacks, tables of the system).
    pub fn new(limit: usize, besides: usize) -> Self {
        Budget { limit, besides, code: AtomicUsize::new(0), reserve: reserve(limit), before: 0, ledger: None, excused: AtomicUsize::new(0) }
    }

    /// A budget of `limit` bytes for a run inside a program that does other things, too: what was taken before is not counted. Keeps a ledger where the
    /// program's allocator does not count.
    pub fn of_run(limit: usize) -> Self {
        let before = taken();
        Budget { before, ledger: (before == 0).then(Ledger::default), ..Budget::new(limit, 0) }
    }

    /// Whether a budget of another size would allow so much now.
    pub(crate) fn would_allow(&self, limit: usize, bytes: usize) -> bool {
        self.used().saturating_add(bytes).saturating_add(reserve(limit)) <= limit
    }

    /// The limit in bytes.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// What is left for a run now.
    pub(crate) fn free(&self) -> usize {
        self.limit.saturating_sub(self.used()).saturating_sub(self.reserve)
    }

    /// What is kept free.
    pub(crate) fn reserve(&self) -> usize {
        self.reserve
    }

    /// The most that was used at once.
    pub fn peak(&self) -> usize {
        let peak =
            self.ledger.as_ref().map_or_else(|| peak().saturating_sub(self.before), |ledger| ledger.peak.load(Ordering::Relaxed).max(ledger.used()));
        (peak + self.besides + self.code.load(Ordering::Relaxed)).saturating_sub(self.excused())
    }

    /// Notes how much machine code there is now.
    pub(crate) fn note_code(&self, bytes: usize) {
        if self.limit >= WHOLE_PROCESS {
            self.code.store(bytes, Ordering::Relaxed);
        }
    }

    /// In a budget below [`WHOLE_PROCESS`], what was taken until now comes on top of it: the model, and what it needs to run.
    pub fn excuse(&self) {
        if self.limit < WHOLE_PROCESS && self.ledger.is_none() {
            // What is compiled from here on comes on top, too.
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
        let fits = self.used().saturating_add(bytes).saturating_add(self.reserve) <= self.limit;
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

    // A ledger knows what was allowed, and hears what is held.
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
