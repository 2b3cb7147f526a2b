//! Reading and writing bits in a sequence of words, for values of a fixed size.

use wayfarer_space::Word;

/// Writes bits one after another into a fixed number of words.
pub struct Packer<'a> {
    out: &'a mut [Word],
    at: usize,
    gathered: Word,
    filled: u32,
}

impl<'a> Packer<'a> {
    /// Writes into `out`, all of which is overwritten once [`finish`](Packer::finish) has been called.
    #[inline]
    pub fn new(out: &'a mut [Word]) -> Self {
        Packer { out, at: 0, gathered: 0, filled: 0 }
    }

    /// Appends the low `bits` bits of `value`; the other bits must be zero.
    #[inline]
    pub fn put(&mut self, value: Word, bits: u32) {
        if bits == 0 {
            return;
        }
        self.gathered |= value << self.filled;
        let filled = self.filled + bits;
        if filled >= 64 {
            self.out[self.at] = self.gathered;
            self.at += 1;
            // The bits that did not fit; none if the value ended with the word.
            self.gathered = value.checked_shr(64 - self.filled).unwrap_or(0);
            self.filled = filled - 64;
        } else {
            self.filled = filled;
        }
    }

    /// Appends zeros.
    #[inline]
    pub fn skip(&mut self, mut bits: u32) {
        while bits > 0 {
            let some = bits.min(64);
            self.put(0, some);
            bits -= some;
        }
    }

    /// Writes the remaining bits.
    #[inline]
    pub fn finish(self) {
        let Packer { out, at, gathered, filled } = self;
        let mut rest = &mut out[at..];
        if filled > 0 {
            rest[0] = gathered;
            rest = &mut rest[1..];
        }
        rest.fill(0);
    }
}

/// Reads bits one after another.
pub struct Unpacker<'a> {
    words: &'a [Word],
    at: usize,
}

impl<'a> Unpacker<'a> {
    /// Reads `words` from the first bit on; zeros follow past their end.
    #[inline]
    pub fn new(words: &'a [Word]) -> Self {
        Unpacker { words, at: 0 }
    }

    /// The next `bits` bits.
    #[inline]
    pub fn take(&mut self, bits: u32) -> Word {
        if bits == 0 {
            return 0;
        }
        let (index, shift) = (self.at / 64, (self.at % 64) as u32);
        self.at += bits as usize;
        let mut value = self.words.get(index).copied().unwrap_or(0) >> shift;
        if shift + bits > 64 {
            value |= self.words.get(index + 1).copied().unwrap_or(0) << (64 - shift);
        }
        value & (Word::MAX >> (64 - bits))
    }

    /// Skips bits.
    #[inline]
    pub fn skip(&mut self, bits: u32) {
        self.at += bits as usize;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayfarer_space::Rng;

    #[test]
    fn what_is_written_is_read() {
        let mut rng = Rng::new(3, "bits");
        for _ in 0..500 {
            let fields: Vec<(Word, u32)> = (0..rng.below(40))
                .map(|_| {
                    let bits = rng.below(65) as u32;
                    (if bits == 0 { 0 } else { rng.next_word() >> (64 - bits) }, bits)
                })
                .collect();
            let bits: u32 = fields.iter().map(|(_, bits)| bits).sum();
            let mut words = vec![Word::MAX; bits.div_ceil(64) as usize + 1];
            let mut packer = Packer::new(&mut words);
            for (value, bits) in &fields {
                packer.put(*value, *bits);
            }
            packer.finish();
            assert_eq!(words.last(), Some(&0));
            let mut reader = Unpacker::new(&words);
            assert!(fields.iter().all(|(value, bits)| reader.take(*bits) == *value));
        }
    }
}
