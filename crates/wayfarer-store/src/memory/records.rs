//! Tight states with their links, in segments that are never moved. A worker writes into a run of handles of its own, so that appending touches nothing
//! that is shared; a record becomes visible to others when its handle is published by the index.
#![allow(unsafe_code)] // Records are written through raw pointers, each by the one worker that owns its handle.

use crate::Account;
use crate::memory::arena::{Addresses, Chunk, LINE, prefetch_line};
use crate::memory::own_line::OwnLine;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const LINK: usize = 4;
/// The link of a state that was not reached from another.
const NO_PARENT: u32 = u32::MAX;
/// Handles that a worker takes at once: at least, and at most if segments hold many. A segment holds a multiple of the least. Longer runs keep apart what
/// different workers write, and leave the lock alone.
const RUN: usize = 64;
const LONG_RUN: usize = 1024;
/// Runs in a segment, at least, if they are longer than the shortest.
const RUNS: usize = 12;
/// Tight states of at most this many whole words are copied word by word: a call to copy would take longer.
const FEW: usize = 3;
/// Lines of a record, after the first, that are asked for before it is compared. The processor itself asks for those behind them.
const LINES: usize = 8;
/// The most segments that are taken together. While there are few records they are taken in smaller groups, so that what lies
/// empty stays a small share.
const GROUP: usize = 8;
/// With so many bytes to come, and so many for each worker, what lies empty matters little. One worker then takes segments together from the second on: as
/// large pages, which the system gives much faster than small ones. Of several workers each keeps such a group for itself, or they would wait for each other
/// until a large page is cleared.
const ROOMY: usize = 1 << 30;
const ROOMY_EACH: usize = 128 << 20;

/// A growing array of records: a tight state and the handle of the state it was reached from.
pub(crate) struct Records {
    /// The segments' addresses; the room for them is fixed, so that readers need no lock.
    table: Addresses<u8>,
    /// The memory of the segments, with the number of the first segment behind it; what was given back leaves its place.
    chunks: OwnLine<Mutex<Chunks>>,
    /// Bytes of a tight state.
    tight: usize,
    /// The bits of a tight state that is shorter than a word.
    short: u64,
    record: usize,
    /// Bytes of a segment.
    segment: usize,
    /// Records of a segment, a multiple of [`RUN`].
    per_segment: u64,
    /// 2⁶⁴ / `per_segment`, rounded up: multiplying by it divides any handle exactly.
    reciprocal: u64,
    /// Handles that a worker takes at once.
    run: usize,
    /// The most workers for which what lies empty matters little.
    roomy_for: usize,
    /// Workers that have come so far.
    workers: AtomicUsize,
    /// Handles given out to workers.
    next: OwnLine<AtomicUsize>,
}

/// Pieces of memory, each with the number of the first segment behind it.
type Chunks = Vec<(usize, Option<Chunk>)>;

/// Handles that a worker may write.
#[derive(Debug, Default)]
pub(crate) struct Run {
    next: usize,
    end: usize,
    /// The end of the handles behind them that are kept for the worker, too.
    until: usize,
    /// The address of the next handle's record. All records of a run lie in one segment.
    at: usize,
}

impl Records {
    /// No records yet. Memory is taken in pieces of `segment` bytes at most, and there may be as many as `most` bytes allow.
    pub(crate) fn new(tight: usize, segment: usize, most: usize) -> Self {
        Self::of(tight, tight + LINK, segment, most)
    }

    /// No records yet, of words without links.
    pub(crate) fn of_words(segment: usize, most: usize) -> Self {
        Self::of(8, 8, segment, most)
    }

    fn of(tight: usize, record: usize, segment: usize, most: usize) -> Self {
        // A record has at least eight bytes, so that a short state can be compared with one load.
        let record = record.max(8);
        let roomy_for = if most >= ROOMY { most / ROOMY_EACH } else { 0 };
        let segment = segment / GROUP;
        let per_segment = (segment / record / RUN * RUN).max(RUN);
        let segment = segment.max((per_segment * record).next_multiple_of(64));
        let most = (most / segment).saturating_add(2 + GROUP).min(u32::MAX as usize / per_segment + 1).min(1 << 22);
        Records {
            table: Addresses::new(most),
            chunks: OwnLine::default(),
            tight,
            short: 1u64.checked_shl(8 * tight as u32).unwrap_or(0).wrapping_sub(1),
            record,
            segment,
            per_segment: per_segment as u64,
            reciprocal: u64::MAX / per_segment as u64 + 1,
            run: (per_segment / RUNS / RUN * RUN).clamp(RUN, LONG_RUN),
            roomy_for,
            workers: AtomicUsize::new(0),
            next: OwnLine::default(),
        }
    }

    /// One more worker comes.
    pub(crate) fn join(&self) {
        self.workers.fetch_add(1, Ordering::Relaxed);
    }

    /// Bytes taken by segments.
    pub(crate) fn bytes(&self) -> usize {
        self.chunks.lock().map_or(0, |chunks| chunks.iter().filter_map(|(_, chunk)| chunk.as_ref()).map(Chunk::bytes).sum())
    }

    /// The address of a record.
    #[inline]
    pub(crate) fn address(&self, handle: u32) -> *const u8 {
        let (segment, place) = self.split(handle);
        self.table[segment].load(Ordering::Relaxed).wrapping_add(place * self.record)
    }

    /// Asks for the memory of a record that will be compared.
    #[inline]
    pub(crate) fn fetch(&self, handle: u32) {
        let at = self.address(handle);
        prefetch_line(at);
        if self.tight > LINE {
            self.fetch_more(at);
        }
    }

    /// Asks for more lines of a long record: a comparison reads all of them, and goes on while it waits for the first.
    #[inline(never)]
    fn fetch_more(&self, at: *const u8) {
        for line in 1..=(self.tight / LINE).min(LINES) {
            prefetch_line(at.wrapping_add((line * LINE).min(self.tight - 1)));
        }
    }

    /// A handle's segment and its place there.
    #[inline]
    fn split(&self, handle: u32) -> (usize, usize) {
        let segment = (u128::from(handle) * u128::from(self.reciprocal)) >> 64;
        (segment as usize, (u64::from(handle) - segment as u64 * self.per_segment) as usize)
    }

    /// Whether a published record holds this tight state. Bits past the state's end in the last word of `tight` are zero.
    #[inline]
    pub(crate) fn same(&self, handle: u32, tight: &[u64]) -> bool {
        let at = self.address(handle);
        let bytes = self.tight;
        assert!(tight.len() * 8 >= bytes);
        let from = tight.as_ptr().cast::<u8>();
        // SAFETY: a published handle has its record written, `record` bytes at this address, and all loads stay inside it: a short state's single load
        // because records have at least eight bytes, a longer one's last load because it ends where the state ends. The words of `tight` are as long by the
        // assertion. They lie in memory as a record does.
        unsafe {
            let differ = |place: usize| at.add(place).cast::<u64>().read_unaligned() ^ from.add(place).cast::<u64>().read_unaligned();
            match bytes {
                0 => true,
                1..8 => at.cast::<u64>().read_unaligned() & self.short == tight[0],
                // The last load overlaps the one before.
                8..=16 => differ(0) | differ(bytes - 8) == 0,
                17..=32 => differ(0) | differ(8) | differ(bytes - 16) | differ(bytes - 8) == 0,
                _ => self.same_bytes(at, tight),
            }
        }
    }

    /// The same for states of many words, all bytes at once.
    ///
    /// # Safety
    /// There must be a published record at the address.
    #[inline(never)]
    unsafe fn same_bytes(&self, at: *const u8, tight: &[u64]) -> bool {
        assert!(tight.len() * 8 >= self.tight);
        // SAFETY: both have this many bytes: a record by the caller's promise, and the other state by the assertion.
        unsafe { std::slice::from_raw_parts(at, self.tight) == std::slice::from_raw_parts(tight.as_ptr().cast::<u8>(), self.tight) }
    }

    /// Copies the tight state of a published record.
    #[inline]
    pub(crate) fn read(&self, handle: u32, tight: &mut [u64]) {
        let at = self.address(handle);
        // SAFETY: the record is written and has at least `tight` bytes and eight, unless its segment was given back, which the assertion excludes; the
        // destination has room for them by the assertion.
        unsafe {
            assert!(tight.len() * 8 >= self.tight && !self.table[self.split(handle).0].load(Ordering::Relaxed).is_null());
            if self.tight < 8 && !tight.is_empty() {
                tight[0] = at.cast::<u64>().read_unaligned() & self.short;
                return;
            }
            let (whole, rest) = (self.tight / 8, self.tight % 8);
            if whole > FEW {
                std::ptr::copy_nonoverlapping(at, tight.as_mut_ptr().cast::<u8>(), self.tight);
                return;
            }
            // Not a loop: the compiler would make it a call again.
            tight[0] = at.cast::<u64>().read_unaligned();
            if whole > 1 {
                tight[1] = at.add(8).cast::<u64>().read_unaligned();
            }
            if whole > 2 {
                tight[2] = at.add(16).cast::<u64>().read_unaligned();
            }
            if rest > 0 {
                tight[whole] = at.add(self.tight - 8).cast::<u64>().read_unaligned() >> (64 - 8 * rest);
            }
        }
    }

    /// The tight state of a published record, if it is not longer than a word.
    #[inline]
    pub(crate) fn read_word(&self, handle: u32) -> u64 {
        let (segment, place) = self.split(handle);
        let base = self.table[segment].load(Ordering::Relaxed);
        assert!(self.tight <= 8 && !base.is_null(), "a record of a word that was not given back");
        // SAFETY: the record is written and has at least eight bytes.
        unsafe { base.add(place * self.record).cast::<u64>().read_unaligned() & self.short }
    }

    /// The word of a published record of words.
    #[inline]
    pub(crate) fn word(&self, handle: u32) -> u64 {
        // SAFETY: the record is written and has eight bytes.
        unsafe { self.address(handle).cast::<u64>().read_unaligned() }
    }

    /// The state from which a published state was reached.
    pub(crate) fn parent(&self, handle: u32) -> Option<u32> {
        // SAFETY: the record is written and ends with the link.
        let link = unsafe { self.address(handle).add(self.record - LINK).cast::<u32>().read_unaligned() };
        (link != NO_PARENT).then_some(link)
    }

    /// The handle that the worker's next record will have; none if there is no room for one.
    #[inline]
    pub(crate) fn next(&self, run: &mut Run, account: &dyn Account) -> Option<u32> {
        if run.next == run.end && !self.extend(run, account) {
            return None;
        }
        Some(run.next as u32)
    }

    /// Writes the record of the worker's next handle, given by [`next`](Records::next) and used up by [`keep`](Records::keep).
    #[inline(always)]
    pub(crate) fn write(&self, run: &Run, tight: &[u64], parent: Option<u32>) {
        assert!(run.next < run.end && tight.len() * 8 >= self.tight, "a record without a place");
        let at = run.at as *mut u8;
        let (bytes, from) = (self.tight, tight.as_ptr().cast::<u8>());
        // SAFETY: the handle belongs to this worker alone until it is published, and its segment exists because the run
        // was handed out. A short state is written as a whole word; the link then overwrites the end of that word. A longer
        // one is as long as the words of `tight` by the assertion, which lie in memory as a record does.
        unsafe {
            let copy = |place: usize| at.add(place).cast::<u64>().write_unaligned(from.add(place).cast::<u64>().read_unaligned());
            match bytes {
                0 => {}
                1..=8 => copy(0),
                // The last word overlaps the one before.
                9..=16 => [0, bytes - 8].into_iter().for_each(copy),
                17..=32 => [0, 8, bytes - 16, bytes - 8].into_iter().for_each(copy),
                _ => std::ptr::copy_nonoverlapping(from, at, bytes),
            }
            at.add(self.record - LINK).cast::<u32>().write_unaligned(parent.unwrap_or(NO_PARENT));
        }
    }

    /// The record of the worker's next handle is now part of the store.
    #[inline]
    pub(crate) fn keep(&self, run: &mut Run) {
        run.next += 1;
        run.at += self.record;
    }

    /// Writes the worker's next record of words.
    #[inline]
    pub(crate) fn write_word(&self, run: &Run, word: u64) {
        assert!(run.next < run.end, "a record without a place");
        // SAFETY: as for `write`; a record has eight bytes.
        unsafe { (run.at as *mut u64).write_unaligned(word) };
    }

    /// All handles that were given out lie below this.
    pub(crate) fn end(&self) -> u32 {
        self.next.load(Ordering::Relaxed) as u32
    }

    /// Gives back the segments that hold only records below a handle; these cannot be read any more.
    pub(crate) fn release(&mut self, below: u32) {
        let whole = self.split(below).0;
        let Ok(chunks) = self.chunks.get_mut() else { return };
        let mut first = 0;
        for (end, chunk) in chunks.iter_mut().take_while(|(end, _)| *end <= whole) {
            *chunk = None;
            self.table[first..*end].iter_mut().for_each(|address| *address.get_mut() = std::ptr::null_mut());
            first = *end;
        }
    }

    /// Hands out the next handles and takes the segment they lie in, if it is not there yet.
    #[cold]
    fn extend(&self, run: &mut Run, account: &dyn Account) -> bool {
        if run.end == run.until && !self.extend_with_more(run, account) {
            return false;
        }
        // A run does not go past the end of its segment.
        let (next, per_segment) = (run.end, self.per_segment as usize);
        let end = next + self.run.min(per_segment - next % per_segment).min(run.until - next);
        *run = Run { next, end, at: self.address(next as u32) as usize, until: run.until };
        true
    }

    /// Hands out handles that nobody has yet: a run, or all of a group of segments that is taken for it.
    fn extend_with_more(&self, run: &mut Run, account: &dyn Account) -> bool {
        let Ok(mut chunks) = self.chunks.lock() else { return false };
        let per_segment = self.per_segment as usize;
        let next = self.next.load(Ordering::Relaxed);
        let segment = next / per_segment;
        let mut until = next + self.run.min(per_segment - next % per_segment);
        if segment >= self.table.len() {
            return false;
        }
        if self.table[segment].load(Ordering::Relaxed).is_null() {
            // A sixteenth of what there is, so that little lies empty; one alone if there is no room for more.
            let workers = self.workers.load(Ordering::Relaxed).max(1);
            let is_roomy = workers <= self.roomy_for;
            let share = if is_roomy && workers < 2 && segment > 0 { GROUP } else { segment / (2 * GROUP) };
            let group = 1 << share.clamp(1, GROUP).ilog2();
            let group = group.min(self.table.len() - segment);
            let taken = Chunk::take(self.segment * group, account).map(|chunk| (group, chunk));
            let Some((group, chunk)) = taken.or_else(|| Some((1, Chunk::take(self.segment, account)?))) else { return false };
            for number in 0..group {
                self.table[segment + number].store(chunk.start().wrapping_add(number * self.segment), Ordering::Release);
            }
            chunks.push((segment + group, Some(chunk)));
            if is_roomy && group == GROUP {
                until = (segment + group) * per_segment;
            }
        }
        if until >= u32::MAX as usize - 1 {
            return false;
        }
        self.next.store(until, Ordering::Relaxed);
        *run = Run { next, end: next, at: 0, until };
        true
    }
}

impl Run {
    /// Handles that were given out and not used.
    pub(crate) fn unused(&self) -> std::ops::Range<u32> {
        self.next as u32..self.until as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unlimited;

    #[test]
    fn handles_are_split_exactly() {
        for tight in [1, 5, 9, 55, 300] {
            let records = Records::new(tight, 1 << 16, 1 << 30);
            let per_segment = records.per_segment as u32;
            for handle in [0, 1, per_segment - 1, per_segment, per_segment + 1, 7 * per_segment - 1, 7 * per_segment, u32::MAX / 2, u32::MAX - 2] {
                assert_eq!(records.split(handle), ((handle / per_segment) as usize, (handle % per_segment) as usize));
            }
        }
    }

    #[test]
    fn each_of_several_workers_keeps_a_large_page_for_itself() {
        let records = Records::new(16, 2 << 20, 4 << 30);
        let mut runs = [Run::default(), Run::default()];
        runs.iter().for_each(|_| records.join());
        let (mut given, mut follows) = (Vec::new(), 0);
        for turn in 0..6_000 {
            let run = &mut runs[turn % 2];
            let before = run.end;
            assert!(records.extend(run, &Unlimited) && run.next < run.end && run.end <= run.until);
            assert_eq!(run.at, records.address(run.next as u32) as usize);
            assert_eq!(records.split(run.next as u32).0, records.split(run.end as u32 - 1).0, "a run lies in one segment");
            follows += usize::from(turn >= 5_000 && run.next == before);
            given.push(run.next..run.end);
            // What was handed out is used up, as if each handle were kept.
            run.next = run.end;
        }
        assert!(follows > 950, "{follows} of 1,000 runs go on where the worker's last one ended");
        given.extend(runs.iter().map(|run| run.next..run.until));
        given.sort_unstable_by_key(|range| range.start);
        assert!(given.windows(2).all(|two| two[0].end == two[1].start), "every handle is given out once");
        assert_eq!(given.last().map(|last| last.end), Some(records.end() as usize));
    }
}
