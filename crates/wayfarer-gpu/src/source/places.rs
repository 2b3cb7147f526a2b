//! Places as C: a pointer to words, and a bit that is known or computed.

use super::code::Coder;
use crate::bounds;
use wayfarer_ir::{Index, Place, Region, Root};

/// The memory location of a place.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    /// A C pointer to the first word of the region.
    pub(crate) base: String,
    /// The part of the bit that is known.
    offset: u64,
    /// The part that is computed, of type `u32`.
    computed: Option<String>,
    /// The largest value of the computed part; none where it is not known.
    most: Option<u64>,
}

impl Spot {
    /// The bit as a C expression.
    pub(crate) fn bit(&self) -> String {
        match &self.computed {
            None => format!("{}u", self.offset),
            Some(computed) if self.offset == 0 => computed.clone(),
            Some(computed) => format!("({}u + {computed})", self.offset),
        }
    }

    /// The first of whole words.
    pub(crate) fn words(&self) -> String {
        match &self.computed {
            None => format!("{} + {}", self.base, self.offset / 64),
            Some(_) => format!("{} + {} / 64", self.base, self.bit()),
        }
    }

    /// The word, and the shift inside it, of a run of at most 64 bits.
    fn word(&self, bits: u32) -> (String, Option<String>) {
        let word = |number: u64| format!("{}[{number}]", self.base);
        match (&self.computed, self.most) {
            (None, _) => (word(self.offset / 64), (!self.offset.is_multiple_of(64)).then(|| (self.offset % 64).to_string())),
            (Some(computed), Some(most)) if self.offset / 64 == (self.offset + most + u64::from(bits) - 1) / 64 => {
                let shift = if self.offset.is_multiple_of(64) { computed.clone() } else { format!("({}u + {computed})", self.offset % 64) };
                (word(self.offset / 64), Some(shift))
            }
            _ => {
                let bit = self.bit();
                (format!("{}[{bit} >> 6]", self.base), (bits < 64).then(|| format!("({bit} & 63)")))
            }
        }
    }
}

impl Coder<'_> {
    /// The memory location of a place. Each index is tested as soon as it is known. `keeps` says that what follows may change what the indices read.
    pub(crate) fn spot(&mut self, place: &Place, keeps: bool) -> Spot {
        let mut spot = match place.root {
            Root::State => Spot { base: "s".into(), offset: 0, computed: None, most: Some(0) },
            Root::Frame => Spot { base: "f".into(), offset: 0, computed: None, most: Some(0) },
            Root::Reference(number) => {
                let base = if self.references[number as usize] == Region::State { "s".to_string() } else { format!("m{number}") };
                Spot { base, offset: 0, computed: Some(format!("b{number}")), most: None }
            }
        };
        spot.offset += u64::from(place.offset);
        for (at, index) in place.indices.iter().enumerate() {
            let keeps = keeps || place.indices[at + 1..].iter().any(|later| bounds::has_effect(&later.value));
            self.index(&mut spot, index, keeps);
        }
        if spot.computed.as_ref().is_some_and(|computed| computed.len() > 24) {
            // It is named more than once.
            let (name, computed) = (self.fresh('q'), spot.computed.take().unwrap_or_default());
            self.line(&format!("u32 {name} = {computed};"));
            spot.computed = Some(name);
        }
        spot
    }

    fn index(&mut self, spot: &mut Spot, index: &Index, keeps: bool) {
        let mut value = self.value(&index.value);
        let inside = value.range.0 >= 0 && value.range.1 < i64::from(index.count);
        if let Some(constant) = value.constant {
            if inside {
                spot.offset += constant as u64 * u64::from(index.stride);
            } else {
                let end = self.fault(index.fault);
                self.line(&end);
            }
            return;
        }
        if !inside || keeps {
            value = self.kept(value);
        }
        if !inside {
            let end = self.fault(index.fault);
            self.line(&format!("if ((u64){} >= {}) {end}", value.text, index.count));
        }
        let scaled = if index.stride == 1 { format!("(u32){}", value.text) } else { format!("(u32){} * {}u", value.text, index.stride) };
        spot.computed = Some(match spot.computed.take() {
            None => scaled,
            Some(before) => format!("({before} + {scaled})"),
        });
        let most = if inside { value.range.1 as u64 } else { u64::from(index.count.max(1) - 1) };
        spot.most = spot.most.map(|before| before + most * u64::from(index.stride));
    }

    /// Reads at most 64 bits.
    pub(crate) fn load(&self, spot: &Spot, bits: u32) -> String {
        let (word, shift) = spot.word(bits);
        let shifted = match shift {
            Some(shift) => format!("{word} >> {shift}"),
            None => word,
        };
        match bits {
            64 => format!("(i64)({shifted})"),
            bits => format!("(i64)({shifted} & {:#x}ull)", ones(bits)),
        }
    }

    /// Writes at most 64 bits of a value.
    pub(crate) fn store(&mut self, spot: &Spot, bits: u32, value: &str) {
        let (word, shift) = spot.word(bits);
        match (bits, shift) {
            (64, None) => self.line(&format!("{word} = (u64){value};")),
            (bits, shift) => {
                let shift = shift.unwrap_or_else(|| "0".to_string());
                self.line(&format!("put({word}, {shift}, {:#x}ull, (u64){value});", ones(bits)));
            }
        }
    }
}

/// A mask of the low `bits`, 1 to 64.
pub(crate) fn ones(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}
