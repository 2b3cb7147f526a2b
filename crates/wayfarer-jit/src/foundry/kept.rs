//! Machine code that outlives a run: functions by name, as bytes that a later run of the same program of the IR reads.
//!
//! Kept code has holes where the addresses of [`Symbol`]s belong; they are filled in when it is placed. Whoever keeps the bytes must give them only to the same
//! version of this program, on the same kind of processor, and whole: code cannot be checked.

use super::Symbol;
use cranelift_codegen::binemit::Reloc;
use cranelift_module::{ModuleReloc, ModuleRelocTarget};
use std::collections::HashMap;
use std::ops::Range;

/// The bytes of an address in code.
const HOLE: usize = 8;

/// Functions that an earlier run compiled.
#[derive(Default)]
pub(super) struct Kept {
    bytes: Vec<u8>,
    functions: HashMap<String, Function>,
}

/// A function in the bytes.
pub(super) struct Function {
    pub(super) note: u64,
    pub(super) alignment: u32,
    holes: Vec<Hole>,
    code: Range<usize>,
}

/// A place in code where an address belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hole {
    at: u32,
    symbol: Symbol,
    addend: i64,
}

/// A function that was compiled in this run, and lies in executable memory.
pub(super) struct Written {
    name: String,
    note: u64,
    alignment: u32,
    holes: Vec<Hole>,
    address: *const u8,
    length: usize,
}

// SAFETY: the address is that of code, which is only read.
unsafe impl Send for Written {}

impl Written {
    /// A function as it can be kept, if all that it refers to are symbols.
    pub(super) fn new(name: &str, note: u64, alignment: u32, relocations: &[ModuleReloc], address: *const u8, length: usize) -> Option<Self> {
        let holes = relocations.iter().map(Hole::of).collect::<Option<_>>()?;
        Some(Written { name: name.to_string(), note, alignment, holes, address, length })
    }
}

impl Hole {
    fn of(relocation: &ModuleReloc) -> Option<Self> {
        let ModuleRelocTarget::User { namespace: Symbol::NAMESPACE, index } = relocation.name else { return None };
        let symbol = *Symbol::ALL.get(index as usize)?;
        (relocation.kind == Reloc::Abs8).then_some(Hole { at: relocation.offset, symbol, addend: relocation.addend })
    }

    fn relocation(self) -> ModuleReloc {
        let name = ModuleRelocTarget::user(Symbol::NAMESPACE, self.symbol as u32);
        ModuleReloc { offset: self.at, kind: Reloc::Abs8, name, addend: self.addend }
    }
}

impl Function {
    /// The addresses that it needs.
    pub(super) fn relocations(&self) -> Vec<ModuleReloc> {
        self.holes.iter().map(|hole| hole.relocation()).collect()
    }
}

impl Kept {
    /// The functions in these bytes; `None` if they are not what [`with`](Self::with) wrote.
    pub(super) fn read(bytes: Vec<u8>) -> Option<Self> {
        let mut functions = HashMap::new();
        let mut reader = Reader { bytes: &bytes, at: 0 };
        while reader.at < bytes.len() {
            let name = reader.take_many()?;
            let name = std::str::from_utf8(&bytes[name]).ok()?.to_string();
            let (note, alignment) = (reader.number()?, u32::try_from(reader.number()?).ok()?);
            let count = reader.number()?;
            let mut holes = Vec::new();
            for _ in 0..count {
                let at = u32::try_from(reader.number()?).ok()?;
                let symbol = *Symbol::ALL.get(usize::try_from(reader.number()?).ok()?)?;
                holes.push(Hole { at, symbol, addend: reader.number()? as i64 });
            }
            let code = reader.take_many()?;
            if !alignment.is_power_of_two() || holes.iter().any(|hole| hole.at as usize + HOLE > code.len()) {
                return None;
            }
            functions.insert(name, Function { note, alignment, holes, code });
        }
        Some(Kept { bytes, functions })
    }

    pub(super) fn function(&self, name: &str) -> Option<&Function> {
        self.functions.get(name)
    }

    pub(super) fn code(&self, function: &Function) -> &[u8] {
        &self.bytes[function.code.clone()]
    }

    /// The bytes of these functions and of others.
    #[allow(unsafe_code)]
    pub(super) fn with(&self, others: &[Written]) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        for Written { name, note, alignment, holes, address, length } in others {
            // SAFETY: the foundry that wrote this code owns it, and placed so many bytes there.
            let code = unsafe { std::slice::from_raw_parts(*address, *length) };
            put_many(&mut bytes, name.as_bytes());
            for number in [*note, u64::from(*alignment), holes.len() as u64] {
                bytes.extend(number.to_le_bytes());
            }
            for Hole { at, symbol, addend } in holes {
                for number in [u64::from(*at), *symbol as u64, *addend as u64] {
                    bytes.extend(number.to_le_bytes());
                }
            }
            put_many(&mut bytes, code);
            // Where code was placed, the holes hold addresses of this run.
            let start = bytes.len() - code.len();
            holes.iter().for_each(|hole| bytes[start + hole.at as usize..][..HOLE].fill(0));
        }
        bytes
    }
}

/// Appends bytes and how many they are.
fn put_many(to: &mut Vec<u8>, bytes: &[u8]) {
    to.extend((bytes.len() as u64).to_le_bytes());
    to.extend(bytes);
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn take(&mut self, length: usize) -> Option<Range<usize>> {
        let end = self.at.checked_add(length).filter(|end| *end <= self.bytes.len())?;
        let start = std::mem::replace(&mut self.at, end);
        Some(start..end)
    }

    fn number(&mut self) -> Option<u64> {
        let range = self.take(8)?;
        Some(u64::from_le_bytes(self.bytes[range].try_into().ok()?))
    }

    fn take_many(&mut self) -> Option<Range<usize>> {
        let length = usize::try_from(self.number()?).ok()?;
        self.take(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(name: &str, code: &'static [u8], holes: Vec<Hole>) -> Written {
        Written { name: name.to_string(), note: 7, alignment: 16, holes, address: code.as_ptr(), length: code.len() }
    }

    #[test]
    fn what_is_kept_is_read_back() {
        let hole = Hole { at: 2, symbol: Symbol::Sort, addend: -8 };
        let first = Kept::default().with(&[written("one", &[1; 20], vec![hole]), written("two", &[], Vec::new())]);
        let both = Kept::read(first).unwrap().with(&[written("three", &[3; 5], Vec::new())]);
        let kept = Kept::read(both).unwrap();
        let [one, two, three] = ["one", "two", "three"].map(|name| kept.function(name).unwrap());
        // The address is left out.
        let code: Vec<u8> = (0..20).map(|at| u8::from(!(2..10).contains(&at))).collect();
        assert_eq!((one.note, one.alignment, &one.holes, kept.code(one)), (7, 16, &vec![hole], &code[..]));
        assert_eq!((kept.code(two), kept.code(three)), (&[][..], &[3; 5][..]));
        assert!(kept.function("four").is_none());
    }

    #[test]
    fn what_is_cut_short_or_changed_is_not_used_beyond_its_end() {
        let hole = Hole { at: 2, symbol: Symbol::Real, addend: 0 };
        let bytes = Kept::default().with(&[written("one", &[1; 20], vec![hole])]);
        for length in 1..bytes.len() {
            assert!(Kept::read(bytes[..length].to_vec()).is_none(), "{length} bytes");
        }
        for at in 0..bytes.len() {
            let mut other = bytes.clone();
            other[at] ^= 0x40;
            // Whatever is read lies inside.
            let Some(kept) = Kept::read(other) else { continue };
            for function in kept.functions.values() {
                assert!(function.holes.iter().all(|hole| hole.at as usize + HOLE <= kept.code(function).len()), "byte {at}");
            }
        }
    }
}
