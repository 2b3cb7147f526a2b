//! The effects of code: the parts of the state it may write, the references it may write, and whether it discards or
//! covers. Guards must have none, and a command must sort the bags that it may have written.

use super::Elaborator;
use wayfarer_ir::{Place, Region, Root};

/// The effects that code may have, itself or through calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Effects {
    /// Ranges of bits of the state that may be written: first bit, and one past the last.
    pub(super) spans: Vec<(u32, u32)>,
    /// References that may be written.
    pub(super) references: Vec<u32>,
    pub(super) discards: bool,
    pub(super) covers: bool,
}

/// More ranges than this are merged into one.
const MOST_SPANS: usize = 64;

impl Effects {
    pub(super) fn write(&mut self, from: u32, to: u32) {
        if self.spans.iter().any(|span| span.0 <= from && to <= span.1) {
            return;
        }
        self.spans.push((from, to));
        if self.spans.len() > MOST_SPANS {
            let hull = self.spans.iter().fold((u32::MAX, 0), |hull, span| (hull.0.min(span.0), hull.1.max(span.1)));
            self.spans = vec![hull];
        }
    }

    /// Whether a part of the state may be written.
    pub(super) fn touches(&self, from: u32, to: u32) -> bool {
        self.spans.iter().any(|span| span.0 < to && from < span.1)
    }
}

/// The range of bits that a place may cover, for all values of its indices.
pub(super) fn extent(place: &Place, bits: u32) -> (u32, u32) {
    let reach: u32 = place.indices.iter().map(|index| index.stride * index.count.saturating_sub(1)).sum();
    (place.offset, place.offset + reach + bits)
}

impl Elaborator<'_> {
    /// Records that the code being built writes a place.
    pub(super) fn note_write(&mut self, place: &Place, bits: u32) {
        match place.root {
            Root::State => {
                let (from, to) = extent(place, bits);
                self.code.effects.write(from, to);
            }
            Root::Reference(number) => {
                if !self.code.effects.references.contains(&number) {
                    self.code.effects.references.push(number);
                }
            }
            Root::Frame => {}
        }
    }

    /// Whether writing a place changes the state.
    pub(super) fn in_state(&self, place: &Place) -> bool {
        self.code.region(place) == Region::State
    }
}
