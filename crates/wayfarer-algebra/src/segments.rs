//! A table that only grows: entries never move, and are read without a lock while others are appended.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Entries double with every `1 << PIECES` segments, beginning with this many in the first of them together.
const FIRST: u32 = 10;
/// Each doubling is taken in pieces, so that a table never has much more room than it has entries.
const PIECES: u32 = 3;
/// Segments, enough for all handles of 31 bits.
const SEGMENTS: usize = 21 << PIECES;

/// The entries of a segment.
type Segment<T> = Box<[OnceLock<T>]>;

/// A growing table of entries that keep their places.
#[derive(Debug)]
pub(crate) struct Segments<T> {
    segments: [OnceLock<Segment<T>>; SEGMENTS],
    next: AtomicU32,
}

impl<T> Default for Segments<T> {
    fn default() -> Self {
        Segments { segments: [const { OnceLock::new() }; SEGMENTS], next: AtomicU32::new(0) }
    }
}

impl<T> Segments<T> {
    /// Appends an entry and gives its number; none if there is no number left.
    pub(crate) fn push(&self, entry: T) -> Option<u32> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (segment, place) = locate(number);
        let segment = self
            .segments
            .get(segment)?
            .get_or_init(|| (0..1usize << (FIRST as usize - PIECES as usize + (segment >> PIECES))).map(|_| OnceLock::new()).collect());
        let _ = segment.get(place)?.set(entry);
        Some(number)
    }

    /// The entry of a number that was given out.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        let (segment, place) = locate(number);
        self.segments.get(segment)?.get()?.get(place)?.get()
    }

    /// How many numbers were given out.
    pub(crate) fn len(&self) -> u32 {
        self.next.load(Ordering::Relaxed)
    }
}

/// The segment and the place in it of a number.
#[inline]
fn locate(number: u32) -> (usize, usize) {
    let shifted = u64::from(number) + (1 << FIRST);
    let bits = shifted.ilog2() - PIECES;
    let segment = u64::from(bits + PIECES - FIRST) << PIECES | shifted >> bits & ((1 << PIECES) - 1);
    (segment as usize, (shifted & ((1 << bits) - 1)) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_their_numbers() {
        let table = Segments::default();
        for number in 0..5000u32 {
            assert_eq!(table.push(number * 3), Some(number));
        }
        assert!((0..5000).all(|number| table.get(number) == Some(&(number * 3))));
        assert_eq!((table.get(5000), table.len()), (None, 5000));
        assert!(locate((1 << 31) - (1 << FIRST) - 1).0 < SEGMENTS);
    }
}
