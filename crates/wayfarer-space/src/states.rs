//! A flat buffer of states.

use std::fmt;

/// Sixty-four bits of a state.
pub type Word = u64;

/// The number of words of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// The same number for all states: the fast case.
    Fixed(usize),
    /// Each state has its own number.
    Varying,
}

/// States one after another in one buffer. If the width is fixed, a state is found by multiplication,
/// otherwise by its recorded end.
#[derive(Clone)]
pub struct States {
    width: Width,
    /// The words in use come first. Behind them lies memory that was used before and need not be cleared.
    words: Vec<Word>,
    used: usize,
    /// The end of each state in `words`; used only if the width varies.
    ends: Vec<usize>,
    len: usize,
}

impl States {
    /// An empty buffer.
    pub fn new(width: Width) -> Self {
        States { width, words: Vec::new(), used: 0, ends: Vec::new(), len: 0 }
    }

    /// The states' width.
    #[inline]
    pub fn width(&self) -> Width {
        self.width
    }

    /// The number of states.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no states.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Removes all states and keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.used = 0;
        self.ends.clear();
        self.len = 0;
    }

    /// Appends a copy of `state`.
    ///
    /// # Panics
    /// If the width is fixed and `state` has another: a mistake of the caller, never of a model.
    #[inline]
    pub fn push(&mut self, state: &[Word]) {
        let room = self.push_dirty(state.len());
        // A call to copy a word or two costs more than the words.
        match (room, state) {
            ([to], [from]) => *to = *from,
            ([to, more], [from, other]) => (*to, *more) = (*from, *other),
            (room, state) => room.copy_from_slice(state),
        }
    }

    /// Appends a state of `width` zero words and returns it.
    pub fn push_zero(&mut self, width: usize) -> &mut [Word] {
        let state = self.push_dirty(width);
        state.fill(0);
        state
    }

    /// Appends a state of `width` words with arbitrary contents, to be overwritten as a whole.
    ///
    /// # Panics
    /// If the width is fixed and `width` is another.
    #[inline]
    pub fn push_dirty(&mut self, width: usize) -> &mut [Word] {
        let start = self.used;
        let end = start + width;
        if end > self.words.len() {
            self.make_room(end);
        }
        match self.width {
            Width::Fixed(fixed) => assert_eq!(width, fixed, "a state of another width"),
            Width::Varying => self.ends.push(end),
        }
        self.used = end;
        self.len += 1;
        &mut self.words[start..end]
    }

    /// Appends `count` states of the fixed width with arbitrary contents, to be overwritten as a whole or
    /// truncated away.
    ///
    /// # Panics
    /// If the width varies.
    #[inline]
    pub fn push_many_dirty(&mut self, count: usize) -> &mut [Word] {
        let Width::Fixed(width) = self.width else { panic!("states of varying width") };
        let start = self.used;
        let end = start + count * width;
        if end > self.words.len() {
            self.make_room(end);
        }
        self.used = end;
        self.len += count;
        &mut self.words[start..end]
    }

    /// The number of states of the fixed width that can be appended without taking memory.
    #[inline]
    pub fn room(&self) -> usize {
        let Width::Fixed(width) = self.width else { return 0 };
        (self.words.len() - self.used).checked_div(width).unwrap_or(0)
    }

    /// The buffer behind the last state, to which the words of one more state are appended;
    /// [`appended`](States::appended) makes them a state.
    ///
    /// # Panics
    /// If the width is fixed.
    #[inline]
    pub fn append(&mut self) -> &mut Vec<Word> {
        assert!(self.width == Width::Varying, "states of a fixed width");
        self.words.truncate(self.used);
        &mut self.words
    }

    /// Makes the words written behind the last state a state.
    #[inline]
    pub fn appended(&mut self) {
        self.used = self.words.len();
        self.ends.push(self.used);
        self.len += 1;
    }

    #[cold]
    fn make_room(&mut self, end: usize) {
        self.words.resize((2 * self.words.len()).max(end).max(64), 0);
    }

    /// Removes the last state.
    pub fn pop(&mut self) {
        self.truncate(self.len.saturating_sub(1));
    }

    /// Keeps the first `len` states.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        let len = len.min(self.len);
        self.used = if len == 0 { 0 } else { self.range(len - 1).1 };
        self.len = len;
        if self.width == Width::Varying {
            self.ends.truncate(len);
        }
    }

    /// The state at `index`.
    #[inline]
    pub fn get(&self, index: usize) -> &[Word] {
        let (start, end) = self.range(index);
        &self.words[start..end]
    }

    /// The state at `index`, to be changed.
    #[inline]
    pub fn get_mut(&mut self, index: usize) -> &mut [Word] {
        let (start, end) = self.range(index);
        &mut self.words[start..end]
    }

    /// All states in order.
    pub fn iter(&self) -> impl Iterator<Item = &[Word]> {
        (0..self.len).map(|index| self.get(index))
    }

    /// The bytes allocated for this buffer.
    pub fn capacity_bytes(&self) -> usize {
        self.words.capacity() * size_of::<Word>() + self.ends.capacity() * size_of::<usize>()
    }

    /// All words, one state after another.
    #[inline]
    pub fn words(&self) -> &[Word] {
        &self.words[..self.used]
    }

    /// The same, to be overwritten.
    #[inline]
    pub fn words_mut(&mut self) -> &mut [Word] {
        &mut self.words[..self.used]
    }

    #[inline]
    fn range(&self, index: usize) -> (usize, usize) {
        match self.width {
            Width::Fixed(width) => {
                assert!(index < self.len, "no such state");
                (index * width, (index + 1) * width)
            }
            Width::Varying => (if index == 0 { 0 } else { self.ends[index - 1] }, self.ends[index]),
        }
    }
}

impl fmt::Debug for States {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.debug_list().entries(self.iter()).finish()
    }
}
