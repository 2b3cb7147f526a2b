//! Records of varying length with their links, in segments that never move. Each handle has one word with the place of
//! its bytes and its parent. A worker writes into handles and a stretch of bytes of its own, so that appending touches
//! no shared data.
#![allow(unsafe_code)] // Bytes are written through raw pointers, each by the one worker that owns its stretch.

use super::varying::form_length;
use crate::Account;
use crate::memory::arena::{Addresses, Chunk};
use crate::memory::records::{Records, Run};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use wayfarer_space::Packing;

/// The link of a state that was not reached from another.
const NO_PARENT: u32 = u32::MAX;

/// A growing array of forms (see [`super::varying`]), each with the handle of the state it was reached from.
pub(crate) struct Strings {
    /// The place of the bytes, in granules, above the link.
    places: Records,
    /// The segments' addresses; the room for them is fixed, so that readers need no lock.
    table: Addresses<u8>,
    grounds: Mutex<Grounds>,
    /// Forms begin at multiples of two to this power, so that 32 bits can hold their place.
    granule: u32,
    /// Segments have two to this power bytes.
    segment: u32,
    packing: Packing,
}

struct Grounds {
    chunks: Vec<Chunk>,
    /// The part of the last chunk that was not handed out. Chunks are numbered through, one behind another.
    next: usize,
    end: usize,
    /// The place of the last chunk.
    start: usize,
}

/// The handles and bytes that a worker may write.
#[derive(Debug, Default)]
pub(crate) struct Stretch {
    run: Run,
    at: usize,
    end: usize,
}

impl Stretch {
    /// Handles that were given out and not used.
    pub(crate) fn unused(&self) -> std::ops::Range<u32> {
        self.run.unused()
    }
}

impl Strings {
    /// No forms yet. Segments have `segment` bytes, a power of two, and there may be as many as `most` bytes allow.
    pub(crate) fn new(segment: usize, most: usize) -> Self {
        let granule = (2..16).find(|granule| most >> granule < u32::MAX as usize / 2).unwrap_or(16);
        let segments = (most / segment).saturating_add(2).min(1 << 20);
        Strings {
            places: Records::of_words(segment, most),
            table: Addresses::new(segments),
            grounds: Mutex::new(Grounds { chunks: Vec::new(), next: 0, end: 0, start: 0 }),
            granule,
            segment: segment.ilog2(),
            packing: Packing::varying(),
        }
    }

    /// Says that lengths vary.
    pub(crate) fn packing(&self) -> &Packing {
        &self.packing
    }

    /// Bytes taken by segments.
    pub(crate) fn bytes(&self) -> usize {
        self.places.bytes() + self.grounds.lock().map_or(0, |grounds| grounds.chunks.iter().map(Chunk::bytes).sum())
    }

    /// The address of the word that holds a form's place, for prefetching.
    #[inline]
    pub(crate) fn address(&self, handle: u32) -> *const u8 {
        self.places.address(handle)
    }

    /// The bytes of a published form.
    #[inline]
    pub(crate) fn get(&self, handle: u32) -> &[u8] {
        let at = self.byte((self.places.word(handle) >> 32) as usize);
        // SAFETY: a published form is written as a whole and never changes; its first bytes say how long it is.
        unsafe { std::slice::from_raw_parts(at, form_length(|place| at.add(place).read())) }
    }

    /// The state from which a published state was reached.
    pub(crate) fn parent(&self, handle: u32) -> Option<u32> {
        let link = self.places.word(handle) as u32;
        (link != NO_PARENT).then_some(link)
    }

    /// The handle that the worker's next form, of `bytes` bytes, will have; none if there is no room for it.
    #[inline]
    pub(crate) fn next(&self, stretch: &mut Stretch, bytes: usize, account: &dyn Account) -> Option<u32> {
        if stretch.at + bytes > stretch.end && !self.extend(stretch, bytes, account) {
            return None;
        }
        self.places.next(&mut stretch.run, account)
    }

    /// Writes the worker's next form, of the length that [`next`](Strings::next) was told; [`keep`](Strings::keep) makes it part of the store.
    #[inline]
    pub(crate) fn write(&self, stretch: &Stretch, form: &[u8], parent: Option<u32>) {
        assert!(stretch.at + form.len() <= stretch.end, "a form without a place");
        let place = stretch.at >> self.granule;
        // SAFETY: the stretch belongs to this worker alone, lies inside one chunk and has room by the assertion.
        unsafe { std::ptr::copy_nonoverlapping(form.as_ptr(), self.byte(place), form.len()) };
        self.places.write_word(&stretch.run, (place as u64) << 32 | u64::from(parent.unwrap_or(NO_PARENT)));
    }

    /// The words that hold the forms' places.
    pub(crate) fn places(&self) -> &Records {
        &self.places
    }

    /// Frees the words that hold the places of forms below a handle. The bytes stay until the end, because they are not in the order of handles.
    pub(crate) fn release_places(&mut self, below: u32) {
        self.places.release(below);
    }

    /// The form of this length that was just written is now part of the store.
    #[inline]
    pub(crate) fn keep(&self, stretch: &mut Stretch, bytes: usize) {
        self.places.keep(&mut stretch.run);
        stretch.at = (stretch.at + bytes).next_multiple_of(1 << self.granule);
    }

    /// The address of a granule.
    #[inline]
    fn byte(&self, granule: usize) -> *mut u8 {
        let at = granule << self.granule;
        self.table[at >> self.segment].load(Ordering::Relaxed).wrapping_add(at & ((1 << self.segment) - 1))
    }

    /// Makes room for a form in a worker's stretch, out of a new chunk if the last one is used up.
    #[cold]
    fn extend(&self, stretch: &mut Stretch, bytes: usize, account: &dyn Account) -> bool {
        let Ok(mut grounds) = self.grounds.lock() else { return false };
        // The rest of a stretch is used on if no other worker has taken the bytes behind it.
        let joins = stretch.end == grounds.next && grounds.next > grounds.start;
        let from = if joins { stretch.at.min(grounds.next) } else { grounds.next };
        if from + bytes > grounds.end {
            // A form longer than a segment gets several that lie side by side.
            let segments = bytes.div_ceil(1 << self.segment).max(1);
            let first = grounds.end >> self.segment;
            let until = (first + segments) << self.segment;
            if first + segments > self.table.len() || until >> self.granule > u32::MAX as usize {
                return false;
            }
            let Some(chunk) = Chunk::take(segments << self.segment, account) else { return false };
            for (number, address) in self.table[first..first + segments].iter().enumerate() {
                address.store(chunk.start().wrapping_add(number << self.segment), Ordering::Release);
            }
            grounds.chunks.push(chunk);
            grounds.start = grounds.end;
            (grounds.next, grounds.end) = (grounds.end, until);
            stretch.at = grounds.start;
        } else {
            stretch.at = from;
        }
        // A sixteenth of a segment at once, so that workers seldom meet here and small budgets are not split up.
        let end = (stretch.at + bytes).max(grounds.next + (1 << self.segment >> 4)).next_multiple_of(1 << self.granule).min(grounds.end);
        (stretch.end, grounds.next) = (end, end);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unlimited;
    use crate::exact::varying::encode;

    #[test]
    fn forms_of_all_lengths_come_back_from_two_workers() {
        let strings = Strings::new(1 << 12, 1 << 24);
        let mut workers = [Stretch::default(), Stretch::default()];
        let mut kept = Vec::new();
        for round in 0..600usize {
            // Now and then longer than a segment.
            let words = if round % 97 == 5 { 2_000 } else { round % 65 };
            let mut form = Vec::new();
            encode(&(0..words).map(|word| (word as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (round % 64)).collect::<Vec<_>>(), &mut form);
            let worker = &mut workers[round / 3 % 2];
            let handle = strings.next(worker, form.len(), &Unlimited).unwrap();
            strings.write(worker, &form, kept.last().map(|(handle, _): &(u32, _)| *handle));
            if round % 7 > 0 {
                strings.keep(worker, form.len());
                kept.push((handle, form));
            }
        }
        for (index, (handle, form)) in kept.iter().enumerate() {
            assert_eq!(strings.get(*handle), form);
            assert_eq!(strings.parent(*handle), index.checked_sub(1).map(|before| kept[before].0));
        }
    }
}
