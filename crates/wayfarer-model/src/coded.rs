//! The encoding of a typed state as words: packed into a fixed number of bits, or written by `serde` into as many as
//! it needs.

use crate::bits::{Packer, Unpacker};
use crate::caught;
use crate::packed::Packed;
use crate::serial;
use crate::shape::Shape;
use serde::Serialize;
use serde::de::DeserializeOwned;
use wayfarer_space::{Packing, States, Width, Word};

/// The encoding of a type that is [`Packed`].
#[derive(Clone, Copy, Debug)]
pub struct Tight;

/// The encoding of a type that `serde` writes and reads.
#[derive(Clone, Copy, Debug)]
pub struct BySerde;

/// A state that can be encoded as words, in the way that `How` selects: [`Tight`] or [`BySerde`]. Implemented for all
/// types that support either. For a type that supports both, `How` must be given.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the state of a model: there is no encoding for it",
    note = "derive `Packed` for plain types of fixed size, or serde's `Serialize` and `Deserialize` for any others"
)]
pub trait Coded<How>: Sized {
    /// The number of words of a state; `None` if that varies.
    const WORDS: Option<usize>;

    /// The same as a [`Width`].
    fn width() -> Width {
        Self::WORDS.map_or(Width::Varying, Width::Fixed)
    }

    /// The bits of the words that carry information.
    fn packing() -> Packing;

    /// Writes the words of a state over all of `words`, if their number is fixed.
    fn write(&self, words: &mut [Word]);

    /// Appends the words of a state.
    fn encode(&self, states: &mut States);

    /// Replaces `out` by the words of a state.
    fn encode_to(&self, out: &mut Vec<Word>);

    /// The state with these words.
    fn decode(words: &[Word]) -> Self;

    /// The state in a form to be shown.
    fn shape(&self) -> Shape;
}

impl<S: Packed> Coded<Tight> for S {
    const WORDS: Option<usize> = Some(words::<S>());

    fn packing() -> Packing {
        let bits = S::BITS.max(1);
        let mask = |word: u32| if bits - 64 * word >= 64 { Word::MAX } else { (1 << (bits - 64 * word)) - 1 };
        Packing::new((0..words::<S>() as u32).map(mask).collect())
    }

    #[inline(always)]
    fn write(&self, words: &mut [Word]) {
        if S::BITS <= 64 {
            words[0] = self.word();
            return;
        }
        let mut packer = Packer::new(words);
        self.pack(&mut packer);
        packer.finish();
    }

    #[inline]
    fn encode(&self, states: &mut States) {
        self.write(states.push_dirty(words::<S>()));
    }

    fn encode_to(&self, out: &mut Vec<Word>) {
        out.resize(words::<S>(), 0);
        self.write(out);
    }

    #[inline]
    fn decode(words: &[Word]) -> Self {
        if S::BITS <= 64 { S::from_word(words.first().copied().unwrap_or(0)) } else { S::unpack(&mut Unpacker::new(words)) }
    }

    fn shape(&self) -> Shape {
        Packed::shape(self)
    }
}

/// A state has at least one word.
const fn words<S: Packed>() -> usize {
    let words = S::BITS.div_ceil(64) as usize;
    if words == 0 { 1 } else { words }
}

impl<S: Serialize + DeserializeOwned> Coded<BySerde> for S {
    const WORDS: Option<usize> = None;

    fn packing() -> Packing {
        Packing::varying()
    }

    fn write(&self, words: &mut [Word]) {
        let mut out = Vec::new();
        self.encode_to(&mut out);
        words.copy_from_slice(&out);
    }

    #[inline]
    fn encode(&self, states: &mut States) {
        if let Err(trouble) = serial::encode(self, states.append()) {
            caught::misused(format!("the state cannot be written: {trouble}"));
        }
        states.appended();
    }

    fn encode_to(&self, out: &mut Vec<Word>) {
        out.clear();
        if let Err(trouble) = serial::encode(self, out) {
            caught::misused(format!("the state cannot be written: {trouble}"));
        }
    }

    #[inline]
    fn decode(words: &[Word]) -> Self {
        serial::decode(words).unwrap_or_else(|trouble| caught::misused(format!("the state cannot be read back: {trouble}")))
    }

    fn shape(&self) -> Shape {
        serial::list(self)
    }
}
