//! States in numbered slots, tight, each of which can be written again and again.

use crate::exact::varying;
use wayfarer_space::{Packing, States, Word};

/// Numbered slots for states.
#[derive(Clone, Debug)]
pub struct Slab {
    packing: Packing,
    /// The tight states, if all have the same width.
    tight: Vec<Word>,
    /// States that have each their own number of words.
    forms: Vec<Box<[u8]>>,
    slots: usize,
    scratch: Vec<Word>,
    bytes: Vec<u8>,
}

impl Slab {
    /// An empty slab of states of this packing.
    pub fn new(packing: Packing) -> Self {
        let scratch = vec![0; packing.words()];
        Slab { packing, tight: Vec::new(), forms: Vec::new(), slots: 0, scratch, bytes: Vec::new() }
    }

    /// How many slots there are.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The bytes that `more` slots would take while they are added, without the states' own bytes if they vary in width.
    pub fn growth(&self, more: usize) -> usize {
        let slot = if self.packing.is_varying() { size_of::<Box<[u8]>>() } else { self.packing.words() * size_of::<Word>() };
        (self.slots + more) * slot
    }

    /// Adds slots.
    pub fn grow(&mut self, more: usize) {
        self.resize(self.slots + more);
    }

    /// Keeps the first `slots`, or adds some.
    pub fn resize(&mut self, slots: usize) {
        self.slots = slots;
        if self.packing.is_varying() {
            self.forms.resize_with(slots, Box::default);
        } else {
            let words = slots * self.packing.words();
            self.tight.reserve(words.saturating_sub(self.tight.len()));
            self.tight.resize(words, 0);
        }
    }

    /// Writes a state into a slot.
    pub fn put(&mut self, slot: u32, state: &[Word]) {
        if self.packing.is_varying() {
            self.bytes.clear();
            varying::encode(state, &mut self.bytes);
            self.forms[slot as usize] = self.bytes.as_slice().into();
            return;
        }
        let words = self.packing.words();
        self.packing.pack(state, &mut self.tight[slot as usize * words..(slot as usize + 1) * words]);
    }

    /// Copies a slot of another slab of the same packing.
    pub fn copy(&mut self, slot: u32, other: &Slab, from: u32) {
        if self.packing.is_varying() {
            self.forms[slot as usize] = other.forms[from as usize].clone();
        } else {
            let words = self.packing.words();
            let (to, from) = (slot as usize * words, from as usize * words);
            self.tight[to..to + words].copy_from_slice(&other.tight[from..from + words]);
        }
    }

    /// Makes a state ready to be compared with slots.
    pub fn prepare(&mut self, state: &[Word]) {
        if self.packing.is_varying() {
            self.bytes.clear();
            varying::encode(state, &mut self.bytes);
        } else {
            self.packing.pack(state, &mut self.scratch);
        }
    }

    /// Whether a slot holds the state that was made ready.
    #[inline]
    pub fn holds_prepared(&self, slot: u32) -> bool {
        if self.packing.is_varying() {
            return *self.forms[slot as usize] == *self.bytes;
        }
        let words = self.packing.words();
        self.tight[slot as usize * words..(slot as usize + 1) * words] == *self.scratch
    }

    /// Appends the state in a slot; false if there is no such slot.
    pub fn get(&self, slot: u32, out: &mut States) -> bool {
        if slot as usize >= self.slots {
            return false;
        }
        if self.packing.is_varying() {
            let form = &self.forms[slot as usize];
            varying::decode(form, out.push_dirty(varying::words(form)));
        } else {
            let words = self.packing.words();
            let tight = &self.tight[slot as usize * words..(slot as usize + 1) * words];
            self.packing.unpack(tight, out.push_dirty(self.packing.masks().len()));
        }
        true
    }

    /// The bytes it holds.
    pub fn bytes(&self) -> usize {
        let forms: usize = self.forms.iter().map(|form| form.len() + size_of::<Box<[u8]>>()).sum();
        self.tight.capacity() * size_of::<Word>() + forms
    }
}
