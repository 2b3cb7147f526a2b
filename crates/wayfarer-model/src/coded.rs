//! How a typed state becomes words: packed into a fixed number of bits, or written by `serde` into as many as it needs.

use crate::bits::{Growing, Packer, Unpacker};
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

/// A state that becomes words, in the way that `How` names: [`Tight`] or [`BySerde`]. Implemented for all types that can be either; a type that can be both
/// needs to be told which is meant.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the state of a model: there is no encoding for it",
    note = "derive `Packed` for plain types of fixed size, or serde's `Serialize` and `Deserialize` for any others"
)]
pub trait Coded<How>: Sized {
    /// How many words a state takes.
    fn width() -> Width;

    /// Which bits of them carry information.
    fn packing() -> Packing;

    /// Appends the words of a state.
    fn encode(&self, states: &mut States, scratch: &mut Scratch);

    /// The state of these words.
    fn decode(words: &[Word]) -> Self;

    /// The state for a person.
    fn shape(&self) -> Shape;
}

/// Memory that encoding uses again and again.
#[derive(Clone, Debug, Default)]
pub struct Scratch(Growing);

impl<S: Packed> Coded<Tight> for S {
    fn width() -> Width {
        Width::Fixed(words::<S>())
    }

    fn packing() -> Packing {
        let bits = S::BITS.max(1);
        let mask = |word: u32| if bits - 64 * word >= 64 { Word::MAX } else { (1 << (bits - 64 * word)) - 1 };
        Packing::new((0..words::<S>() as u32).map(mask).collect())
    }

    #[inline]
    fn encode(&self, states: &mut States, _scratch: &mut Scratch) {
        if S::BITS <= 64 {
            // Judged before room is taken: a value outside of its range does not leave half a state behind.
            let word = self.word();
            states.push_dirty(1)[0] = word;
            return;
        }
        let mut packer = Packer::new(states.push_dirty(words::<S>()));
        self.pack(&mut packer);
        packer.finish();
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
    fn width() -> Width {
        Width::Varying
    }

    fn packing() -> Packing {
        Packing::varying()
    }

    #[inline]
    fn encode(&self, states: &mut States, Scratch(scratch): &mut Scratch) {
        scratch.clear();
        if let Err(trouble) = serial::encode(self, scratch) {
            panic!("the state cannot be written: {trouble}");
        }
        states.push(scratch.finish());
    }

    #[inline]
    fn decode(words: &[Word]) -> Self {
        serial::decode(words).unwrap_or_else(|trouble| panic!("the state cannot be read back: {trouble}"))
    }

    fn shape(&self) -> Shape {
        serial::list(self)
    }
}
