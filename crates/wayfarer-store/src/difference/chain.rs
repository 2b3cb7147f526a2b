//! Records of varying length in segments that are never moved, found by handle. A worker writes into a run of sixteen handles of its own, whose records lie
//! one after another; what finds them is the run's address and two bytes for each record.
#![allow(unsafe_code)] // Records are bytes in raw memory, each written by the one worker that owns its handle.

use crate::Account;
use crate::memory::arena::{Addresses, Chunk};
use std::sync::Mutex;
use std::sync::atomic::Ordering;

/// Handles that a worker takes at once.
const RUN: usize = 16;
/// Runs of one block of the directory.
const BLOCK: usize = 1024;
/// Bytes of a run in the directory: its address, and the offset of each record.
const HEAD: usize = 8 + 2 * RUN;
/// Room after every record, so that a reader may load more than it needs.
const SLACK: usize = 16;

/// Records by handle.
pub(super) struct Chain {
    directory: Addresses<u8>,
    grounds: Mutex<Grounds>,
    /// The longest record.
    longest: usize,
    /// Records begin at multiples of two to this power, so that two bytes can hold their place.
    shift: u32,
    segment: usize,
}

struct Grounds {
    chunks: Vec<Chunk>,
    /// Runs given out.
    runs: usize,
}

/// A worker's place: its run and its segment.
#[derive(Default)]
pub(super) struct Place {
    next: usize,
    end: usize,
    /// The place of the next record, and the end of the segment.
    at: usize,
    segment_end: usize,
}

impl Chain {
    /// No records yet, none longer than `longest` bytes; at most about `most` bytes in all.
    pub(super) fn new(longest: usize, most: usize) -> Self {
        let longest = longest + SLACK;
        let shift = (0..).find(|shift| (RUN * (longest + (1 << shift))) >> shift < 1 << 16).unwrap_or(0);
        let blocks = (most / (RUN * BLOCK * 4)).saturating_add(2).min(u32::MAX as usize / (RUN * BLOCK) + 1);
        Chain {
            directory: Addresses::new(blocks),
            grounds: Mutex::new(Grounds { chunks: Vec::new(), runs: 0 }),
            longest,
            shift,
            segment: Self::segment(longest, most),
        }
    }

    /// A segment holds several runs of the longest records, so that little is wasted at its end.
    fn segment(longest: usize, most: usize) -> usize {
        ((most / 256).clamp(1 << 12, 1 << 19)).max(4 * RUN * (longest + SLACK)).next_multiple_of(64)
    }

    /// The bytes that the first record needs.
    pub(super) fn least(longest: usize, most: usize) -> usize {
        Self::segment(longest + SLACK, most) + BLOCK * HEAD
    }

    pub(super) fn bytes(&self) -> usize {
        self.grounds.lock().map_or(0, |grounds| grounds.chunks.iter().map(Chunk::bytes).sum())
    }

    /// The handle that the worker's next record will have; none if there is no room for one.
    #[inline]
    pub(super) fn next(&self, place: &mut Place, account: &dyn Account) -> Option<u32> {
        if place.next == place.end && !self.extend(place, account) {
            return None;
        }
        Some(place.next as u32)
    }

    /// Writes the record of the worker's next handle, given by [`next`](Chain::next) and used up by [`keep`](Chain::keep).
    #[inline]
    pub(super) fn write(&self, place: &Place, record: &[u8]) {
        assert!(
            place.next < place.end && record.len() + SLACK <= self.longest && place.at + self.longest <= place.segment_end,
            "a record without a place"
        );
        let (head, number) = self.head(place.next as u32);
        // SAFETY: the handle belongs to this worker alone until it is published, and so do its place in the segment and in the run's head.
        unsafe {
            std::ptr::copy_nonoverlapping(record.as_ptr(), place.at as *mut u8, record.len());
            if number == 0 {
                head.cast::<u64>().write(place.at as u64);
            }
            let start = head.cast::<u64>().read();
            head.add(8).cast::<u16>().add(number).write(((place.at as u64 - start) >> self.shift) as u16);
        }
    }

    /// The record just written is now part of the store.
    #[inline]
    pub(super) fn keep(&self, place: &mut Place, record: &[u8]) {
        place.next += 1;
        place.at = (place.at + record.len()).next_multiple_of(1 << self.shift);
    }

    /// A run's head and a handle's number in the run.
    #[inline]
    pub(super) fn head(&self, handle: u32) -> (*mut u8, usize) {
        let run = handle as usize / RUN;
        let block = self.directory[run / BLOCK].load(Ordering::Acquire);
        (block.wrapping_add(run % BLOCK * HEAD), handle as usize % RUN)
    }

    /// The address of a published record.
    #[inline]
    pub(super) fn address(&self, handle: u32) -> *const u8 {
        let (head, number) = self.head(handle);
        // SAFETY: a published handle has its run's head written up to its own number.
        unsafe {
            let start = head.cast::<u64>().read();
            (start as *const u8).wrapping_add(usize::from(head.add(8).cast::<u16>().add(number).read()) << self.shift)
        }
    }

    /// A published record and what follows it in memory, to be read by [`Cursor`].
    #[inline]
    pub(super) fn record(&self, handle: u32) -> Cursor {
        Cursor(self.address(handle))
    }

    /// Hands out the next run, with room for its records.
    #[cold]
    fn extend(&self, place: &mut Place, account: &dyn Account) -> bool {
        let Ok(mut grounds) = self.grounds.lock() else { return false };
        let run = grounds.runs;
        if (run + 2) * RUN >= u32::MAX as usize || run / BLOCK >= self.directory.len() {
            return false;
        }
        if self.directory[run / BLOCK].load(Ordering::Relaxed).is_null() {
            let Some(block) = Chunk::take((BLOCK * HEAD).next_multiple_of(64), account) else { return false };
            self.directory[run / BLOCK].store(block.start(), Ordering::Release);
            grounds.chunks.push(block);
        }
        if place.at + RUN * (self.longest + (1 << self.shift)) > place.segment_end {
            let Some(segment) = Chunk::take(self.segment, account) else { return false };
            place.at = segment.start() as usize;
            place.segment_end = place.at + segment.bytes();
            grounds.chunks.push(segment);
        }
        grounds.runs += 1;
        place.next = run * RUN;
        place.end = place.next + RUN;
        true
    }
}

/// Reads a record from its beginning.
#[derive(Clone, Copy)]
pub(super) struct Cursor(*const u8);

impl Cursor {
    /// The next byte.
    #[inline]
    pub(super) fn byte(&mut self) -> u8 {
        // SAFETY: a cursor begins at a published record and is moved only by lengths that the record itself holds.
        unsafe {
            let byte = self.0.read();
            self.0 = self.0.add(1);
            byte
        }
    }

    /// The next number: seven bits to a byte, the lowest first.
    #[inline]
    pub(super) fn number(&mut self) -> u32 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            number |= u32::from(byte & 127) << shift;
            if byte < 128 {
                return number;
            }
            shift += 7;
        }
    }

    /// The next `bytes` bytes, into words.
    #[inline]
    pub(super) fn words(&mut self, bytes: usize, words: &mut [u64]) {
        assert!(words.len() * 8 >= bytes);
        // SAFETY: as for `byte`; the words have room by the assertion.
        unsafe {
            std::ptr::copy_nonoverlapping(self.0, words.as_mut_ptr().cast::<u8>(), bytes);
            self.0 = self.0.add(bytes);
        }
    }
}

/// Appends a number as [`Cursor::number`] reads it.
pub(super) fn push_number(record: &mut Vec<u8>, mut number: u32) {
    while number >= 128 {
        record.push(number as u8 | 128);
        number >>= 7;
    }
    record.push(number as u8);
}
