//! Records of one size in a list of segments. Growing takes one segment more and moves nothing.

use crate::Account;

/// A growing array of equally long byte records.
pub(crate) struct Segments {
    segments: Vec<Box<[u8]>>,
    record: usize,
    /// Records per segment: a power of two, so that a record is found with a shift and a mask.
    shift: u32,
    len: usize,
}

impl Segments {
    /// No records of `record` bytes each, in segments of about `segment` bytes. Reads may touch up to seven bytes past a record, so every segment has
    /// that much room after its last.
    pub(crate) fn new(record: usize, segment: usize) -> Self {
        let per_segment = (segment / record.max(1)).max(1);
        Segments { segments: Vec::new(), record, shift: per_segment.ilog2(), len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes taken.
    pub(crate) fn bytes(&self) -> usize {
        self.segments.len() * self.segment_bytes()
    }

    /// The record at `index`.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> &[u8] {
        let at = (index & ((1 << self.shift) - 1)) * self.record;
        &self.segments[index >> self.shift][at..at + self.record]
    }

    /// The address of a record, for prefetching; null where there is none.
    #[inline]
    pub(crate) fn address(&self, index: usize) -> *const u8 {
        match self.segments.get(index >> self.shift) {
            Some(segment) => segment.as_ptr().wrapping_add((index & ((1 << self.shift) - 1)) * self.record),
            None => std::ptr::null(),
        }
    }

    /// Appends a record and gives access to it; none where the account has no room for another segment.
    #[inline]
    pub(crate) fn push(&mut self, account: &dyn Account) -> Option<&mut [u8]> {
        let at = (self.len & ((1 << self.shift) - 1)) * self.record;
        if self.len >> self.shift == self.segments.len() {
            if !account.allows(self.segment_bytes()) {
                return None;
            }
            self.segments.push(vec![0; self.segment_bytes()].into_boxed_slice());
        }
        let segment = self.len >> self.shift;
        self.len += 1;
        Some(&mut self.segments[segment][at..at + self.record])
    }

    /// Takes the last record back.
    pub(crate) fn pop(&mut self) {
        self.len -= 1;
    }

    fn segment_bytes(&self) -> usize {
        (self.record << self.shift) + 8
    }
}
