//! Values in cache lines of their own.

use std::ops::{Deref, DerefMut};

/// A value that shares no cache line with others. What one worker writes beside a value takes that value out of the caches of all others, who then wait
/// for it; processors fetch lines in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct OwnLine<T>(pub T);

impl<T> Deref for OwnLine<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for OwnLine<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}
