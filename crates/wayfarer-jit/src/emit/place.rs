//! Memory: the state and the frames, places in them, and moves of bits.
//!
//! The words of a small area are held in variables as long as the word accessed is known statically. If it is known
//! only at run time, the words that may be accessed are first written to the area's memory, and read back afterwards.

use super::value::Held;
use super::{Condition, Emitter, Outcome, Val};
use crate::foundry::Symbol;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::Variable;
use wayfarer_ir::{Place, Root};

/// Areas of at most this many words are held in variables.
pub(crate) const WORDS_IN_VARIABLES: u32 = 8;
/// Multisets of at most this many words are compared before they are sorted again: most commands change one of several.
const COMPARED_WORDS: u32 = 8;
/// Moves of at most this many words are emitted one by one.
const MOVES_IN_A_ROW: u32 = 16;

/// The location of an area's memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Home {
    Nowhere,
    /// At this address.
    At(Value),
    /// Among the locals of the function, from this word on.
    Local(u32),
}

/// The state, a frame, or the target of a reference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    home: Home,
    /// The variable of the first word, if the words are held in variables.
    first: Option<Variable>,
    words: u32,
    /// Whether it is only read.
    fixed: bool,
    /// Whether it is the state.
    state: bool,
}

/// A place whose indices were evaluated and tested.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    area: Area,
    /// The constant part, in bits.
    offset: u32,
    /// The variable part in steps of whole words, in bytes, and its largest extent in words.
    bytes: Option<Val>,
    reach_words: u32,
    /// The other variable part, in bits, and its largest extent in bits.
    bits: Option<Val>,
    reach_bits: u32,
}

impl Area {
    pub(crate) fn nowhere() -> Self {
        Area { home: Home::Nowhere, first: None, words: 0, fixed: true, state: false }
    }

    /// Memory that is only read while the function runs.
    pub(crate) fn fixed(address: Value, words: u32) -> Self {
        Area { home: Home::At(address), first: None, words, fixed: true, state: false }
    }

    /// Memory that is read and written.
    pub(crate) fn memory(address: Value, words: u32) -> Self {
        Area { home: Home::At(address), first: None, words, fixed: false, state: false }
    }

    /// Its address, if it is not among the locals.
    pub(crate) fn far(self) -> Option<Value> {
        match self.home {
            Home::At(address) => Some(address),
            _ => None,
        }
    }

    /// The same area as the state of a command.
    pub(crate) fn as_state(self) -> Self {
        Area { state: true, ..self }
    }

    pub(crate) fn words(self) -> u32 {
        self.words
    }

    /// Words among the function's locals, not held in variables.
    pub(crate) fn local(word: u32, words: u32) -> Self {
        Area { home: Home::Local(word), first: None, words, fixed: false, state: false }
    }
}

impl Spot {
    pub(crate) fn of(area: Area) -> Self {
        Spot { area, offset: 0, bytes: None, reach_words: 0, bits: None, reach_bits: 0 }
    }

    /// The target of a reference of `bits` bits, given the address of its word and its distance from the word's
    /// start.
    pub(crate) fn far(address: Value, shift: Value, bits: u32) -> Self {
        let area = Area::memory(address, bits.div_ceil(64));
        if bits >= 64 {
            return Spot::of(area);
        }
        Spot { bits: Some(Val::within(shift, 0, i64::from(64 - bits))), reach_bits: 64 - bits, ..Spot::of(area) }
    }

    /// Whether everything at this spot lies inside one word.
    fn inside_word(&self, bits: u32) -> bool {
        self.offset % 64 + self.reach_bits + bits <= 64
    }

    /// The first and the last word that may be accessed.
    fn range(&self, bits: u32) -> (u32, u32) {
        let last = (self.offset + self.reach_bits + bits - 1) / 64 + self.reach_words;
        (self.offset / 64, last.min(self.area.words.max(1) - 1))
    }

    /// The word accessed, if it is known.
    fn known_word(&self, bits: u32) -> Option<u32> {
        (self.bytes.is_none() && self.inside_word(bits)).then_some(self.offset / 64)
    }
}

impl Emitter<'_, '_> {
    /// An area whose words are held in variables that are still to be defined.
    pub(crate) fn area_in_variables(&mut self, home: Home, words: u32) -> Area {
        let first = self.builder.declare_var(types::I64);
        for _ in 1..words {
            self.builder.declare_var(types::I64);
        }
        Area { home, first: Some(first), words, fixed: false, state: false }
    }

    /// A constant place in the state.
    pub(crate) fn state_spot(&self, offset: u32) -> Spot {
        Spot { offset, ..Spot::of(self.state) }
    }

    /// Resolves a place: evaluates its indices and tests each.
    pub(crate) fn spot(&mut self, place: &Place) -> Outcome<Spot> {
        let mut spot = match place.root {
            Root::State => Spot::of(self.state),
            Root::Frame => Spot::of(self.activation().frame.unwrap_or(Area::nowhere())),
            Root::Reference(number) => self.activation().references[number as usize],
        };
        spot.offset += place.offset;
        // An index that is out of bounds then only shifts bits of a word.
        let reach: u64 = place.indices.iter().map(|index| u64::from(index.stride) * u64::from(index.count.saturating_sub(1))).sum();
        let element = place.indices.iter().map(|index| index.stride).min().unwrap_or(0);
        let one_word = spot.bits.is_none() && u64::from(spot.offset % 64) + reach + u64::from(element) <= 64;
        for index in &place.indices {
            let value = self.expression(&index.value)?;
            if let Some(known) = value.known() {
                if known < 0 || known >= i64::from(index.count) {
                    self.always_fault(index.fault)?;
                } else {
                    spot.offset += known as u32 * index.stride;
                }
                continue;
            }
            let count = i64::from(index.count);
            let outside = self.outside(value, count);
            self.fault_if(outside, index.fault)?;
            let mut value = value.narrowed(0, count - 1);
            if self.faults_are_noted() && !one_word {
                // The load still happens if the index is out of bounds, and must stay inside memory.
                let word = self.word(value);
                let limit = self.builder.ins().iconst(types::I64, count);
                let inside = self.builder.ins().icmp(IntCC::UnsignedLessThan, word, limit);
                let zero = self.builder.ins().iconst(types::I64, 0);
                let clamped = self.builder.ins().select(inside, word, zero);
                value = Val { held: Held::Sum(clamped, 0), low: 0, high: count - 1 };
            }
            let reach = (index.count - 1).saturating_mul(index.stride);
            if index.stride.is_multiple_of(64) {
                let step = self.product(value, Val::constant(i64::from(index.stride / 8)));
                spot.bytes = Some(self.plus(spot.bytes, step));
                spot.reach_words += reach / 64;
            } else {
                let step = self.product(value, Val::constant(i64::from(index.stride)));
                spot.bits = Some(self.plus(spot.bits, step));
                spot.reach_bits += reach;
            }
        }
        Ok(spot)
    }

    fn plus(&mut self, sum: Option<Val>, more: Val) -> Val {
        match sum {
            Some(sum) => self.sum(sum, more),
            None => more,
        }
    }

    /// Whether a value is not below `count` or is negative.
    fn outside(&mut self, value: Val, count: i64) -> Condition {
        if value.low >= 0 && value.high < count {
            return Condition::Known(false);
        }
        let word = self.word(value);
        let limit = self.builder.ins().iconst(types::I64, count);
        Condition::Flag(self.builder.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, word, limit))
    }

    /// The bits at a spot, at most 64, zero-extended.
    pub(crate) fn load(&mut self, spot: Spot, bits: u32) -> Val {
        let (word, shift) = self.fetch(spot, bits);
        self.extract(word, shift, bits)
    }

    /// Writes the low bits of a value, at most 64.
    pub(crate) fn store(&mut self, spot: Spot, bits: u32, value: Val) {
        if spot.area.words == 0 {
            return;
        }
        if let Some(index) = spot.known_word(bits) {
            let old = self.read_word(spot.area, index);
            let shift = self.shift(spot);
            let new = self.insert(old, shift, bits, value);
            self.write_word(spot.area, index, new);
            return;
        }
        let range = spot.range(bits);
        self.put_into_memory(spot.area, range);
        let (address, offset, shift) = self.address(spot, bits);
        let flags = self.flags(spot.area);
        let old = self.builder.ins().load(types::I64, flags, address, offset);
        let new = self.insert(old, shift, bits, value);
        self.builder.ins().store(flags, new, address, offset);
        self.touch(spot.area, range);
        self.take_from_memory(spot.area, range);
    }

    /// Copies a run of bits: at most 64, or whole words.
    pub(crate) fn copy(&mut self, to: Spot, from: Spot, bits: u32) {
        if bits <= 64 {
            let value = self.load(from, bits);
            self.store(to, bits, value);
            return;
        }
        let words = bits / 64;
        if words <= MOVES_IN_A_ROW {
            let values: Vec<Value> = (0..words).map(|word| self.fetch(from.after_words(word), 64).0).collect();
            for (word, value) in (0..words).zip(values) {
                self.store(to.after_words(word), 64, Val::any(value));
            }
            return;
        }
        self.put_into_memory(from.area, from.range(bits));
        self.put_into_memory(to.area, to.range(bits));
        let source = self.word_address(from);
        let target = self.word_address(to);
        let (read, write) = (self.flags(from.area), self.flags(to.area));
        self.for_each_word(words, |emitter, at| {
            let source = emitter.builder.ins().iadd(source, at);
            let target = emitter.builder.ins().iadd(target, at);
            let value = emitter.builder.ins().load(types::I64, read, source, 0);
            emitter.builder.ins().store(write, value, target, 0);
        });
        self.touch(to.area, to.range(bits));
        self.take_from_memory(to.area, to.range(bits));
    }

    /// Zeroes a run of bits: at most 64, or whole words.
    pub(crate) fn zero(&mut self, spot: Spot, bits: u32) {
        if bits <= 64 {
            self.store(spot, bits, Val::constant(0));
            return;
        }
        let words = bits / 64;
        if words <= MOVES_IN_A_ROW {
            for word in 0..words {
                self.store(spot.after_words(word), 64, Val::constant(0));
            }
            return;
        }
        self.put_into_memory(spot.area, spot.range(bits));
        let target = self.word_address(spot);
        let flags = self.flags(spot.area);
        self.for_each_word(words, |emitter, at| {
            let target = emitter.builder.ins().iadd(target, at);
            let zero = emitter.builder.ins().iconst(types::I64, 0);
            emitter.builder.ins().store(flags, zero, target, 0);
        });
        self.touch(spot.area, spot.range(bits));
        self.take_from_memory(spot.area, spot.range(bits));
    }

    /// Sorts elements in descending order, by calling the runtime. With `again`, only if they differ from those of the
    /// state that the command was given.
    pub(crate) fn sort(&mut self, spot: Spot, stride: u32, count: u32, bits: u32, again: bool) {
        if count < 2 || spot.area.words == 0 {
            return;
        }
        let whole = (count - 1) * stride + bits;
        let range = spot.range(whole);
        self.put_into_memory(spot.area, range);
        let (address, shift) = self.reference(spot, whole);
        let numbers = [stride, count, bits].map(|number| self.builder.ins().iconst(types::I64, i64::from(number)));
        let [stride, count, bits] = numbers;
        match (self.source, spot.area.far()) {
            (Some(source), Some(home)) if again && spot.area.state => {
                let distance = self.builder.ins().isub(address, home);
                let before = self.builder.ins().iadd(source, distance);
                let (changed, end) = (self.block(), self.block());
                let words = if spot.bits.is_some() && whole <= 64 { 1 } else { (spot.offset % 64 + whole).div_ceil(64) };
                if words <= COMPARED_WORDS {
                    let differs = self.differs(address, before, words);
                    self.branch(differs, changed, end);
                } else {
                    self.jump(changed);
                }
                self.enter(changed);
                self.call_out(Symbol::SortAgain, &[address, shift, stride, count, bits, before]);
                self.jump(end);
                self.enter(end);
            }
            _ => self.call_out(Symbol::Sort, &[address, shift, stride, count, bits]),
        }
        self.touch(spot.area, range);
        self.take_from_memory(spot.area, range);
    }

    /// Whether some of so many words differ from those of another place.
    fn differs(&mut self, address: Value, before: Value, words: u32) -> Value {
        let mut differs = None;
        for word in 0..words {
            let [new, old] = [address, before].map(|address| self.builder.ins().load(types::I64, Self::trusted(), address, (word * 8) as i32));
            let here = self.builder.ins().bxor(new, old);
            differs = Some(match differs {
                Some(before) => self.builder.ins().bor(before, here),
                None => here,
            });
        }
        differs.unwrap_or_else(|| self.builder.ins().iconst(types::I64, 1))
    }

    /// The address of a spot's word and the distance from the word's start, for a reference to `bits` bits. The area must be in memory.
    pub(crate) fn reference(&mut self, spot: Spot, bits: u32) -> (Value, Value) {
        if bits > 64 || (bits == 64 && spot.bits.is_none()) {
            let address = self.word_address(spot);
            let start = self.builder.ins().iconst(types::I64, i64::from(spot.offset % 64));
            return (address, start);
        }
        let (address, offset, shift) = self.address(spot, bits);
        let address = self.builder.ins().iadd_imm_s(address, i64::from(offset));
        let shift = self.word(shift);
        let shift = self.builder.ins().band_imm_s(shift, 63);
        (address, shift)
    }

    /// Writes the words of an area that may be accessed to its memory.
    pub(crate) fn put_spot_into_memory(&mut self, spot: Spot, bits: u32) {
        self.put_into_memory(spot.area, spot.range(bits));
    }

    /// Reads the words of an area back from its memory.
    pub(crate) fn take_spot_from_memory(&mut self, spot: Spot, bits: u32) {
        self.take_from_memory(spot.area, spot.range(bits));
    }

    pub(crate) fn put_area_into_memory(&mut self, area: Area) {
        if area.words > 0 {
            self.put_into_memory(area, (0, area.words - 1));
        }
    }

    /// Reads an area back after others may have written its memory.
    pub(crate) fn take_area_from_memory(&mut self, area: Area) {
        if area.words > 0 {
            self.touch(area, (0, area.words - 1));
            self.take_from_memory(area, (0, area.words - 1));
        }
    }

    /// The address of an area's memory.
    pub(crate) fn home(&mut self, area: Area) -> Value {
        match area.home {
            Home::At(address) => address,
            Home::Local(word) => {
                let address = self.local_address(word);
                // All of it must be there.
                self.local_address(word + area.words.max(1) - 1);
                address
            }
            Home::Nowhere => self.builder.ins().iconst(types::I64, 0),
        }
    }

    pub(crate) fn read_word(&mut self, area: Area, index: u32) -> Value {
        if index >= area.words {
            return self.builder.ins().iconst(types::I64, 0);
        }
        match area.first {
            Some(first) => self.builder.use_var(nth(first, index)),
            None => {
                let address = self.home(area);
                let flags = self.flags(area);
                self.builder.ins().load(types::I64, flags, address, (index * 8) as i32)
            }
        }
    }

    pub(crate) fn write_word(&mut self, area: Area, index: u32, value: Value) {
        if index >= area.words {
            return;
        }
        self.touch(area, (index, index));
        match area.first {
            Some(first) => self.builder.def_var(nth(first, index), value),
            None => {
                let address = self.home(area);
                let flags = self.flags(area);
                self.builder.ins().store(flags, value, address, (index * 8) as i32);
            }
        }
    }

    fn flags(&self, area: Area) -> MemFlagsData {
        let flags = MemFlagsData::trusted();
        if area.fixed { flags.with_readonly().with_can_move() } else { flags }
    }

    fn touch(&mut self, area: Area, (from, to): (u32, u32)) {
        if area.state {
            (from..=to).for_each(|word| self.touched[word as usize] = true);
        }
    }

    fn put_into_memory(&mut self, area: Area, (from, to): (u32, u32)) {
        let Some(first) = area.first else { return };
        let address = self.home(area);
        for index in from..=to {
            let value = self.builder.use_var(nth(first, index));
            self.builder.ins().store(MemFlagsData::trusted(), value, address, (index * 8) as i32);
        }
    }

    fn take_from_memory(&mut self, area: Area, (from, to): (u32, u32)) {
        let Some(first) = area.first else { return };
        let address = self.home(area);
        for index in from..=to {
            let value = self.builder.ins().load(types::I64, MemFlagsData::trusted(), address, (index * 8) as i32);
            self.builder.def_var(nth(first, index), value);
        }
    }

    /// The word a spot lies in and the distance from the word's start.
    fn fetch(&mut self, spot: Spot, bits: u32) -> (Value, Val) {
        if spot.area.words == 0 {
            return (self.builder.ins().iconst(types::I64, 0), Val::constant(0));
        }
        if let Some(index) = spot.known_word(bits) {
            return (self.read_word(spot.area, index), self.shift(spot));
        }
        self.put_into_memory(spot.area, spot.range(bits));
        let (address, offset, shift) = self.address(spot, bits);
        let flags = self.flags(spot.area);
        (self.builder.ins().load(types::I64, flags, address, offset), shift)
    }

    /// The distance from the word's start, for a spot inside one word.
    fn shift(&mut self, spot: Spot) -> Val {
        let start = Val::constant(i64::from(spot.offset % 64));
        self.plus(spot.bits, start)
    }

    /// The address of a spot's word, in two parts, and the distance from the word's start (only its low six bits
    /// count).
    fn address(&mut self, spot: Spot, bits: u32) -> (Value, i32, Val) {
        let mut address = self.home(spot.area);
        let mut offset = i64::from(spot.offset / 64 * 8);
        if let Some(bytes) = spot.bytes {
            let step = match bytes.held {
                Held::Sum(value, add) => {
                    offset += add;
                    value
                }
                _ => self.word(bytes),
            };
            address = self.builder.ins().iadd(address, step);
        }
        let shift = if spot.inside_word(bits) {
            self.shift(spot)
        } else {
            let start = Val::constant(i64::from(spot.offset % 64));
            let distance = self.plus(spot.bits, start);
            let distance = self.word(distance);
            let word = self.builder.ins().ushr_imm_s(distance, 6);
            let step = self.builder.ins().ishl_imm_s(word, 3);
            address = self.builder.ins().iadd(address, step);
            Val::any(distance)
        };
        match i32::try_from(offset) {
            Ok(offset) => (address, offset, shift),
            Err(_) => (self.builder.ins().iadd_imm_s(address, offset), 0, shift),
        }
    }

    /// The address of the word at which a run of whole words begins.
    fn word_address(&mut self, spot: Spot) -> Value {
        let (address, offset, _) = self.address(spot, 64);
        self.builder.ins().iadd_imm_s(address, i64::from(offset))
    }

    fn extract(&mut self, word: Value, shift: Val, bits: u32) -> Val {
        let value = match shift.known() {
            Some(0) => word,
            Some(shift) => self.builder.ins().ushr_imm_s(word, shift),
            None => {
                let shift = self.word(shift);
                self.builder.ins().ushr(word, shift)
            }
        };
        if bits >= 64 {
            return Val::any(value);
        }
        let ones = (1i64 << bits).wrapping_sub(1);
        let value = if shift.known().is_some_and(|shift| shift + i64::from(bits) == 64) { value } else { self.builder.ins().band_imm_s(value, ones) };
        Val::within(value, 0, ones)
    }

    fn insert(&mut self, old: Value, shift: Val, bits: u32, value: Val) -> Value {
        if bits >= 64 {
            return self.word(value);
        }
        let ones = (1i64 << bits).wrapping_sub(1);
        let low = match value.known() {
            Some(known) => Val::constant(known & ones),
            None if value.low >= 0 && value.high <= ones => value,
            None => {
                let word = self.word(value);
                Val::within(self.builder.ins().band_imm_s(word, ones), 0, ones)
            }
        };
        match shift.known() {
            Some(shift) => {
                let cleared = self.builder.ins().band_imm_s(old, !(ones << shift));
                match low.known() {
                    Some(0) => cleared,
                    Some(known) if known == ones => self.builder.ins().bor_imm_s(old, ones << shift),
                    Some(known) => self.builder.ins().bor_imm_s(cleared, known << shift),
                    None => {
                        let word = self.word(low);
                        let placed = self.builder.ins().ishl_imm_s(word, shift);
                        self.builder.ins().bor(cleared, placed)
                    }
                }
            }
            None => {
                let shift = self.word(shift);
                let ones = self.builder.ins().iconst(types::I64, ones);
                let mask = self.builder.ins().ishl(ones, shift);
                let cleared = self.builder.ins().band_not(old, mask);
                let word = self.word(low);
                let placed = self.builder.ins().ishl(word, shift);
                self.builder.ins().bor(cleared, placed)
            }
        }
    }

    /// A loop over word distances 0, 8, … in bytes.
    fn for_each_word(&mut self, words: u32, write: impl FnOnce(&mut Self, Value)) {
        let counter = self.builder.declare_var(types::I64);
        let zero = self.builder.ins().iconst(types::I64, 0);
        self.builder.def_var(counter, zero);
        let (body, done) = (self.block(), self.block());
        self.jump(body);
        self.builder.switch_to_block(body);
        let at = self.builder.use_var(counter);
        write(self, at);
        let next = self.builder.ins().iadd_imm_s(at, 8);
        self.builder.def_var(counter, next);
        let more = self.builder.ins().icmp_imm_s(IntCC::UnsignedLessThan, next, i64::from(words) * 8);
        self.branch(more, body, done);
        self.builder.seal_block(body);
        self.enter(done);
    }
}

impl Spot {
    /// The spot `words` whole words later.
    fn after_words(self, words: u32) -> Spot {
        Spot { offset: self.offset + words * 64, ..self }
    }
}

fn nth(first: Variable, index: u32) -> Variable {
    Variable::from_u32(first.as_u32() + index)
}
