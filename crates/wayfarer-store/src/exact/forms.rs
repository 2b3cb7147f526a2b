//! The forms in which the exact store keeps states: tight records of one length, or strings of bytes.

use super::WIDE;
use super::strings::{Stretch, Strings};
use super::varying::{decode, encode, words};
use crate::memory::arena::prefetch_line;
use crate::memory::records::{Records, Run};
use crate::{Account, Candidates, Handle};
use std::ops::Range;
use wayfarer_space::{Hash, Packing, States, Steps, Word, hash};

/// Words of states that are read together.
const READ: usize = 128;
/// The form of a wide state is made from that of its source if at most one in so many words changed.
const FEW: usize = 3;

/// States under handles, with links.
pub(crate) trait Readable {
    /// Appends the states behind handles.
    fn read(&self, handles: &[Handle], out: &mut States);

    /// The state from which a handle's state was reached.
    fn parent(&self, handle: u32) -> Option<u32>;

    /// All handles that were given out lie below this.
    fn end(&self) -> u32;

    /// Bytes taken.
    fn bytes(&self) -> usize;

    /// Gives back what holds only states below a handle; they cannot be read any more.
    fn release(&mut self, below: u32);
}

/// A way to keep states under handles, with links.
pub(super) trait Form: Readable + Sync {
    /// The forms of a group of candidates, and the place that a worker writes to.
    type Group: Send + 'static;

    /// No candidates yet, and never more than `most`.
    fn group(&self, most: usize) -> Self::Group;

    /// Which bits of states carry information.
    fn packing(&self) -> &Packing;

    /// Makes the forms of some states, not more than the group was made for.
    fn gather(&self, group: &mut Self::Group, states: &States, indices: impl Iterator<Item = usize>);

    /// The same for steps of a batch, which may know their sources.
    #[inline]
    fn gather_steps(&self, group: &mut Self::Group, candidates: Candidates, indices: impl Iterator<Item = usize>) {
        self.gather(group, &candidates.steps.states, indices);
    }

    /// Whether a published handle has the state of the group's candidate `at`.
    fn same(&self, group: &Self::Group, at: usize, handle: u32) -> bool;

    /// The handle that candidate `at` would get; none if there is no room.
    fn next(&self, group: &mut Self::Group, at: usize, account: &dyn Account) -> Option<u32>;

    /// Writes candidate `at` under the handle that [`next`](Form::next) gave.
    fn write(&self, group: &Self::Group, at: usize, parent: Option<u32>);

    /// Makes the written form part of the store.
    fn keep(&self, group: &mut Self::Group, at: usize);

    /// The address that a comparison with a handle's state reads first.
    fn address(&self, handle: u32) -> *const u8;

    /// Asks for all that a comparison with a handle's state will read.
    #[inline]
    fn fetch(&self, handle: u32) {
        prefetch_line(self.address(handle));
    }

    /// The hash of a handle's state.
    fn hash_of(&self, handle: u32) -> Hash;

    /// Handles that a worker was given and has not used.
    fn unused(group: &Self::Group) -> Range<u32>;
}

/// States of one packing.
pub(super) struct Tight {
    pub(super) packing: Packing,
    pub(super) records: Records,
}

/// Tight forms, one after another, and a worker's run of handles.
pub(super) struct TightGroup {
    tight: Vec<Word>,
    /// Words of a form.
    words: usize,
    run: Run,
}

impl TightGroup {
    #[inline]
    fn of(&self, at: usize) -> &[Word] {
        &self.tight[at * self.words..][..self.words]
    }
}

impl Tight {
    /// Whether this is the tight form of a state, for assertions.
    fn is_form_of(&self, tight: &[Word], state: &[Word]) -> bool {
        let mut whole = vec![0; tight.len()];
        self.packing.pack(state, &mut whole);
        whole == *tight
    }
}

impl Form for Tight {
    type Group = TightGroup;

    fn group(&self, most: usize) -> TightGroup {
        self.records.join();
        let words = self.packing.words();
        TightGroup { tight: vec![0; most * words], words, run: Run::default() }
    }

    #[inline]
    fn packing(&self) -> &Packing {
        &self.packing
    }

    #[inline]
    fn gather(&self, group: &mut TightGroup, states: &States, indices: impl Iterator<Item = usize>) {
        self.packing.pack_some(states, indices, &mut group.tight);
    }

    #[inline]
    fn gather_steps(&self, group: &mut TightGroup, candidates: Candidates, indices: impl Iterator<Item = usize>) {
        let Steps { states, changed, .. } = candidates.steps;
        let (words, width) = (self.packing.words(), self.packing.masks().len());
        if width < WIDE || candidates.sources.is_empty() {
            return self.gather(group, states, indices);
        }
        // A successor of a wide state differs from it in few words. Most of its form is that of the source, which was read a moment ago.
        for (index, tight) in indices.zip(group.tight.chunks_exact_mut(words.max(1))) {
            let changed = changed[index];
            // The last bit stands for all further words.
            let gathered = changed.count_ones() as usize + if changed >> 63 == 1 { width - 64 } else { 0 };
            match candidates.parent(index) {
                Some(source) if gathered <= width / FEW => {
                    self.records.read(source.0, tight);
                    self.packing.repack(states.get(index), changed, tight);
                }
                _ => self.packing.pack(states.get(index), tight),
            }
            debug_assert!(self.is_form_of(tight, states.get(index)), "a step that changed words which it does not name");
        }
    }

    #[inline]
    fn same(&self, group: &TightGroup, at: usize, handle: u32) -> bool {
        self.records.same(handle, group.of(at))
    }

    #[inline]
    fn next(&self, group: &mut TightGroup, _at: usize, account: &dyn Account) -> Option<u32> {
        self.records.next(&mut group.run, account)
    }

    #[inline(always)]
    fn write(&self, group: &TightGroup, at: usize, parent: Option<u32>) {
        self.records.write(&group.run, group.of(at), parent);
    }

    #[inline]
    fn keep(&self, group: &mut TightGroup, _at: usize) {
        self.records.keep(&mut group.run);
    }

    #[inline]
    fn address(&self, handle: u32) -> *const u8 {
        self.records.address(handle)
    }

    #[inline]
    fn fetch(&self, handle: u32) {
        self.records.fetch(handle);
    }

    fn hash_of(&self, handle: u32) -> Hash {
        // Most states fit a buffer that needs no allocation.
        let (words, width) = (self.packing.words(), self.packing.masks().len());
        let (mut few, mut many);
        let buffer: &mut [Word] = if words + width <= 32 {
            few = [0; 32];
            &mut few[..words + width]
        } else {
            many = vec![0; words + width];
            &mut many
        };
        let (tight, state) = buffer.split_at_mut(words);
        self.records.read(handle, tight);
        self.packing.unpack(tight, state);
        hash(state)
    }

    fn unused(group: &TightGroup) -> Range<u32> {
        group.run.unused()
    }
}

impl Readable for Tight {
    fn read(&self, handles: &[Handle], out: &mut States) {
        if self.packing.is_plain_word() {
            let words = out.push_many_dirty(handles.len());
            handles.iter().zip(words).for_each(|(handle, word)| *word = self.records.read_word(handle.0));
            return;
        }
        let words = self.packing.words();
        if words == 0 {
            out.push_many_dirty(handles.len()).fill(0);
            return;
        }
        // Wide states one by one: what is copied out of a record is unpacked while it is near.
        let some = (READ / words).clamp(1, handles.len().max(1));
        let (mut few, mut many);
        let tight: &mut [Word] = if words <= READ {
            few = [0; READ];
            &mut few[..words * some]
        } else {
            many = vec![0; words];
            &mut many
        };
        for handles in handles.chunks(some) {
            handles.iter().zip(tight.chunks_exact_mut(words)).for_each(|(handle, tight)| self.records.read(handle.0, tight));
            self.packing.unpack_some(&tight[..words * handles.len()], out.push_many_dirty(handles.len()));
        }
    }

    fn parent(&self, handle: u32) -> Option<u32> {
        self.records.parent(handle)
    }

    fn bytes(&self) -> usize {
        self.records.bytes()
    }

    fn end(&self) -> u32 {
        self.records.end()
    }

    fn release(&mut self, below: u32) {
        self.records.release(below);
    }
}

/// Forms one after another, their ends, and the place that a worker writes to.
#[derive(Default)]
pub(super) struct StringGroup {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    stretch: Stretch,
}

impl StringGroup {
    #[inline]
    fn of(&self, at: usize) -> &[u8] {
        &self.bytes[if at == 0 { 0 } else { self.ends[at - 1] }..self.ends[at]]
    }
}

impl Form for Strings {
    type Group = StringGroup;

    fn group(&self, _most: usize) -> StringGroup {
        StringGroup::default()
    }

    fn packing(&self) -> &Packing {
        self.packing()
    }

    fn gather(&self, group: &mut StringGroup, states: &States, indices: impl Iterator<Item = usize>) {
        group.bytes.clear();
        group.ends.clear();
        for index in indices {
            encode(states.get(index), &mut group.bytes);
            group.ends.push(group.bytes.len());
        }
    }

    #[inline]
    fn same(&self, group: &StringGroup, at: usize, handle: u32) -> bool {
        self.get(handle) == group.of(at)
    }

    #[inline]
    fn next(&self, group: &mut StringGroup, at: usize, account: &dyn Account) -> Option<u32> {
        let bytes = group.of(at).len();
        self.next(&mut group.stretch, bytes, account)
    }

    #[inline]
    fn write(&self, group: &StringGroup, at: usize, parent: Option<u32>) {
        self.write(&group.stretch, group.of(at), parent);
    }

    #[inline]
    fn keep(&self, group: &mut StringGroup, at: usize) {
        let bytes = group.of(at).len();
        self.keep(&mut group.stretch, bytes);
    }

    #[inline]
    fn address(&self, handle: u32) -> *const u8 {
        self.address(handle)
    }

    fn hash_of(&self, handle: u32) -> Hash {
        let form = self.get(handle);
        let mut state = vec![0; words(form)];
        decode(form, &mut state);
        hash(&state)
    }

    fn unused(group: &StringGroup) -> Range<u32> {
        group.stretch.unused()
    }
}

impl Readable for Strings {
    fn read(&self, handles: &[Handle], out: &mut States) {
        for handle in handles {
            let form = self.get(handle.0);
            decode(form, out.push_dirty(words(form)));
        }
    }

    fn parent(&self, handle: u32) -> Option<u32> {
        self.parent(handle)
    }

    fn bytes(&self) -> usize {
        self.bytes()
    }

    fn end(&self) -> u32 {
        self.places().end()
    }

    fn release(&mut self, below: u32) {
        self.release_places(below);
    }
}
