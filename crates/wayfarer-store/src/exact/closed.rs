//! The rest of an exact store whose states are being moved elsewhere.

use super::forms::Readable;
use crate::Handle;
use std::ops::Range;
use wayfarer_space::{States, Width};

/// States that are given at once.
const DRAINED: u32 = 1024;

/// The states of an exact store that no longer finds them: to be read, and then given up from the first on.
pub struct Closed {
    pub(super) form: Box<dyn Readable>,
    /// Handles behind which there is nothing, in order.
    pub(super) unused: Vec<Range<u32>>,
}

impl Closed {
    /// Appends the states behind handles.
    pub fn read(&self, handles: &[Handle], out: &mut States) {
        self.form.read(handles, out);
    }

    /// The state from which a state was first reached.
    pub fn parent(&self, handle: Handle) -> Option<Handle> {
        self.form.parent(handle.0).map(Handle)
    }

    /// The bytes it holds.
    pub fn bytes(&self) -> usize {
        self.form.bytes()
    }

    /// Gives every state once, some at a time with the bytes that are held, and gives up the memory of those that were given; as long as `take` wants more.
    pub fn drain(mut self, width: Width, mut take: impl FnMut(&States, usize) -> bool) {
        let mut states = States::new(width);
        let mut handles = Vec::with_capacity(DRAINED as usize);
        let end = self.form.end();
        let mut from = 0;
        while from < end {
            let until = end.min(from + DRAINED);
            handles.clear();
            handles.extend((from..until).filter(|handle| !self.unused.iter().any(|range| range.contains(handle))).map(Handle));
            states.clear();
            self.form.read(&handles, &mut states);
            if !take(&states, self.form.bytes()) {
                return;
            }
            self.form.release(until);
            from = until;
        }
    }
}
