//! The representation of states in a store on the device.

/// The contents of the slots of a store's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slots {
    /// States of up to 63 bits, one word each.
    Word,
    /// States of up to 127 bits, two words each: needs a compare-and-swap of 128 bits, which cards have from Hopper on.
    Pair,
    /// Places of states of any width in an arena.
    Arena,
    /// Fingerprints of 64 bits.
    Fingerprint,
    /// Fingerprints of 32 bits.
    HalfFingerprint,
    /// Bits of a Bloom filter.
    Bits,
}

impl Slots {
    /// The exact store that suits states of so many bits.
    pub fn exact(bits: usize, has_wide_swap: bool) -> Self {
        match bits {
            0..=63 => Slots::Word,
            64..=127 if has_wide_swap => Slots::Pair,
            _ => Slots::Arena,
        }
    }

    /// Whether every state is kept whole.
    pub fn is_exact(self) -> bool {
        matches!(self, Slots::Word | Slots::Pair | Slots::Arena)
    }

    /// Slots in a bucket of 64 bytes.
    pub(crate) fn per_bucket(self) -> u64 {
        match self {
            Slots::Pair => 4,
            Slots::Word | Slots::Arena | Slots::Fingerprint => 8,
            Slots::HalfFingerprint => 16,
            Slots::Bits => 512,
        }
    }

    /// How many states are expected to have been taken for others, where so many were stored in so many buckets: each new state was compared with what lay
    /// in the buckets on its way, on average half as full as at the end.
    pub fn expected_omissions(self, states: u64, buckets: u64) -> f64 {
        let states = states as f64;
        let load = states / (buckets as f64 * self.per_bucket() as f64);
        let compared = self.per_bucket() as f64 * load / 2.0 * (1.0 / (1.0 - load.min(0.95)));
        match self {
            Slots::Word | Slots::Pair | Slots::Arena => 0.0,
            Slots::Fingerprint => states * compared / 2f64.powi(64),
            Slots::HalfFingerprint => states * compared / 2f64.powi(32),
            Slots::Bits => {
                // Three bits of one word of 64. While the filter fills, a word holds Poisson many states; each sets about three bits.
                let words = buckets as f64 * 8.0;
                let parts = 64;
                let omitted = |mean: f64| {
                    let mut odds = (-mean).exp();
                    let mut sum = 0.0;
                    for held in 0..200 {
                        let set = 1.0 - (1.0 - 1.0 / 64f64).powi(3 * held);
                        sum += odds * set.powi(3);
                        odds *= mean / f64::from(held + 1);
                    }
                    sum
                };
                let average =
                    (0..parts).map(|part| omitted(states / words * (f64::from(part) + 0.5) / f64::from(parts))).sum::<f64>() / f64::from(parts);
                states * average
            }
        }
    }

    pub(crate) fn number(self) -> u32 {
        match self {
            Slots::Word => 0,
            Slots::Pair => 1,
            Slots::Arena => 2,
            Slots::Fingerprint => 3,
            Slots::HalfFingerprint => 4,
            Slots::Bits => 5,
        }
    }
}
