//! The pairs of a tree store in the order of insertion, with the links between them: what handles stand for.
//!
//! A worker writes into a run of 128 handles that lies open, three numbers to a record. A run that is complete is closed: its records are packed to the bit.
//! A number that was met a few records before (brothers share what their rule did not touch, cousins what theirs did) is told by the way back, one that was
//! never used before by two bits, and links, which hardly move from one record to the next in a breadth-first search, are written by Rice's code. Packed runs
//! are read from their beginning; a reader of many handles unpacks a run once.
#![allow(unsafe_code)] // Closed runs are plain words in raw memory that is never moved.

use crate::Account;
use crate::memory::arena::{Addresses, Chunk};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// Handles that a worker takes at once.
pub(super) const RUN: usize = 128;
/// The link of a state that was not reached from another.
pub(super) const NO_PARENT: u32 = u32::MAX;
/// Runs of one block of the directory.
const BLOCK: usize = 1024;
/// The most words that a closed run can take: three numbers of 32 bits, two bits for each, and its head.
const WORST: usize = RUN * (3 * 32 + 6) / 64 + 6;
/// Marks a run that lies open.
const OPEN: u64 = 1;

/// The pair and parent of a handle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) parent: u32,
}

/// The records of a run.
pub(super) type Unpacked = [Entry; RUN];

/// A run that is being written: three numbers a record, and how many records there are.
pub(super) struct OpenRun {
    numbers: Box<[AtomicU32]>,
    filled: AtomicU32,
}

/// Records in the order of insertion.
pub(super) struct Sequence {
    /// The address of each run, in blocks: that of an [`OpenRun`] with the mark [`OPEN`], or of a closed one; 0 if there is none yet.
    directory: Addresses<AtomicU64>,
    grounds: Mutex<Grounds>,
    /// Words of a segment.
    segment: usize,
}

struct Grounds {
    blocks: Vec<Chunk>,
    closed: Closed,
    /// Runs given out.
    runs: usize,
    /// Runs that lie open.
    open: usize,
    /// Every open run there ever was, for reuse.
    #[allow(clippy::vec_box)] // The directory has their addresses.
    areas: Vec<Box<OpenRun>>,
}

/// Memory for closed runs.
#[derive(Default)]
struct Closed {
    segments: Vec<Chunk>,
    /// Segments that are in use, the last of them in part; those after it are spare.
    current: usize,
    /// Words used of the current segment.
    used: usize,
}

/// A worker's place in the sequence.
#[derive(Default)]
pub(super) struct Place {
    area: Option<usize>,
    /// The open run's number and the records in it; none if no run is open.
    run: Option<(usize, usize)>,
    /// The first left and right number that this worker has never met.
    unused: (u32, u32),
}

impl Place {
    /// All numbers mean something else from now on.
    pub(super) fn renumbered(&mut self) {
        self.unused = (0, 0);
    }
}

impl Sequence {
    /// No records yet; at most about `most` bytes of them.
    pub(super) fn new(most: usize) -> Self {
        let blocks = (most / (RUN * BLOCK)).saturating_add(1).min(u32::MAX as usize / (RUN * BLOCK) + 1);
        Sequence {
            directory: Addresses::new(blocks),
            grounds: Mutex::new(Grounds { blocks: Vec::new(), closed: Closed::default(), runs: 0, open: 0, areas: Vec::new() }),
            segment: Self::segment(most),
        }
    }

    fn segment(most: usize) -> usize {
        ((most / 256).clamp(WORST * 16, 1 << 16) / 8).next_multiple_of(8)
    }

    /// The bytes that the first record needs.
    pub(super) fn least(most: usize) -> usize {
        8 * (BLOCK + Self::segment(most)) + 12 * RUN + size_of::<OpenRun>()
    }

    pub(super) fn bytes(&self) -> usize {
        self.grounds.lock().map_or(0, |grounds| {
            let chunks = grounds.blocks.iter().chain(&grounds.closed.segments).map(Chunk::bytes).sum::<usize>();
            chunks + grounds.areas.len() * (size_of::<OpenRun>() + 12 * RUN)
        })
    }

    /// The handle that the worker's next record will have; none if there is no room for one.
    #[inline]
    pub(super) fn next(&self, place: &mut Place, account: &dyn Account) -> Option<u32> {
        match place.run {
            Some((run, filled)) if filled < RUN => Some((run * RUN + filled) as u32),
            _ => self.open(place, account),
        }
    }

    /// Appends a record at the worker's next handle, given by [`next`](Sequence::next).
    #[inline]
    pub(super) fn append(&self, place: &mut Place, entry: Entry) {
        let Some((run, filled)) = &mut place.run else { return };
        let word = self.slot(*run).map_or(0, |slot| slot.load(Ordering::Relaxed));
        // SAFETY: an open run that this worker has is not closed by anyone else, and areas live as long as the sequence.
        let area = unsafe { &*((word & !OPEN) as *const OpenRun) };
        for (at, number) in [entry.left, entry.right, entry.parent].into_iter().enumerate() {
            area.numbers[3 * *filled + at].store(number, Ordering::Relaxed);
        }
        *filled += 1;
        area.filled.store(*filled as u32, Ordering::Release);
    }

    /// Closes the worker's run, if it has one, and opens the next.
    #[cold]
    fn open(&self, place: &mut Place, account: &dyn Account) -> Option<u32> {
        // Packing takes long, so it is done beside other workers.
        let complete = place.run.map(|(run, _)| {
            let mut entries = [Entry::default(); RUN];
            self.unpack(run, &mut entries);
            (run, packed(&entries, &mut place.unused))
        });
        let mut grounds = self.grounds.lock().ok()?;
        if let Some((run, words)) = complete {
            // There is room: it was made sure of when the run was opened.
            let slot = self.slot(run)?;
            slot.store(grounds.closed.put(&words, self.segment)?, Ordering::Release);
            // Later writes into the area are visible only to readers that see the run closed.
            fence(Ordering::Release);
            grounds.open -= 1;
            place.run = None;
        }
        let run = grounds.runs;
        if (run + 2) * RUN >= u32::MAX as usize || run / BLOCK >= self.directory.len() {
            return None;
        }
        if self.directory[run / BLOCK].load(Ordering::Relaxed).is_null() {
            let block = Chunk::take(8 * BLOCK, account)?;
            // SAFETY: the block has this many bytes and no other worker knows it yet.
            unsafe { block.start().write_bytes(0, 8 * BLOCK) };
            self.directory[run / BLOCK].store(block.start().cast(), Ordering::Release);
            grounds.blocks.push(block);
        }
        while grounds.closed.room(self.segment) <= grounds.open {
            let segment = Chunk::take(8 * self.segment, account)?;
            grounds.closed.segments.push(segment);
        }
        let area = match place.area {
            Some(area) => area,
            None => {
                if !account.allows(12 * RUN) {
                    return None;
                }
                grounds.areas.push(Box::new(OpenRun { numbers: (0..3 * RUN).map(|_| AtomicU32::new(0)).collect(), filled: AtomicU32::new(0) }));
                grounds.areas.len() - 1
            }
        };
        place.area = Some(area);
        grounds.areas[area].filled.store(0, Ordering::Relaxed);
        let address = std::ptr::from_ref::<OpenRun>(&grounds.areas[area]) as u64;
        self.slot(run)?.store(address | OPEN, Ordering::Release);
        grounds.runs += 1;
        grounds.open += 1;
        place.run = Some((run, 0));
        Some((run * RUN) as u32)
    }

    #[inline]
    fn slot(&self, run: usize) -> Option<&AtomicU64> {
        let block = self.directory.get(run / BLOCK)?.load(Ordering::Acquire);
        // SAFETY: a block that is there has room for all its runs, is only read and written through atomics, and lives as long as the sequence.
        (!block.is_null()).then(|| unsafe { &*block.add(run % BLOCK) })
    }

    /// Reads the records of a run as far as they are written, and says how many there are.
    pub(super) fn unpack(&self, run: usize, entries: &mut Unpacked) -> usize {
        self.unpack_until(run, RUN, entries)
    }

    /// Reads at least the first `until` records of a run as far as they are written.
    pub(super) fn unpack_until(&self, run: usize, until: usize, entries: &mut Unpacked) -> usize {
        let Some(slot) = self.slot(run) else { return 0 };
        loop {
            let word = slot.load(Ordering::Acquire);
            if word == 0 {
                return 0;
            }
            if word & OPEN == 0 {
                // SAFETY: a run that was published as closed is never written again and lives as long as the sequence.
                return unsafe { read_packed(word as *const u64, until, entries) };
            }
            // SAFETY: areas live as long as the sequence.
            let area = unsafe { &*((word & !OPEN) as *const OpenRun) };
            let filled = area.filled.load(Ordering::Acquire) as usize;
            for (at, entry) in entries.iter_mut().enumerate().take(filled.min(RUN)) {
                let [left, right, parent] = [0, 1, 2].map(|number| area.numbers[3 * at + number].load(Ordering::Relaxed));
                *entry = Entry { left, right, parent };
            }
            // The run may have been closed, and its area given to another, while it was read: then read it again.
            fence(Ordering::Acquire);
            if slot.load(Ordering::Relaxed) == word {
                return filled.min(RUN);
            }
        }
    }

    /// The record of a handle that was given out.
    pub(super) fn entry(&self, handle: u32) -> Option<Entry> {
        let (run, at) = (handle as usize / RUN, handle as usize % RUN);
        let mut entries = [Entry::default(); RUN];
        (self.unpack_until(run, at + 1, &mut entries) > at).then(|| entries[at])
    }

    /// Gives every pair another one; false, with nothing changed, if `change` or the account refuses. No other worker uses the sequence meanwhile.
    pub(super) fn rewrite(&mut self, account: &dyn Account, mut change: impl FnMut(&mut Entry) -> bool) -> bool {
        let Ok(grounds) = self.grounds.get_mut() else { return false };
        let (runs, open) = (grounds.runs, grounds.open);
        let mut closed = Closed::default();
        let mut words = Vec::new();
        let mut entries = [Entry::default(); RUN];
        let mut areas = Vec::new();
        let mut unused = (0, 0);
        for run in 0..runs {
            let filled = self.unpack(run, &mut entries);
            if !entries[..filled].iter_mut().all(&mut change) {
                return false;
            }
            let word = self.slot(run).map_or(0, |slot| slot.load(Ordering::Relaxed));
            if word & OPEN == OPEN {
                areas.push((word, filled, entries));
                continue;
            }
            while closed.room(self.segment) == 0 {
                let Some(segment) = Chunk::take(8 * self.segment, account) else { return false };
                closed.segments.push(segment);
            }
            let Some(address) = closed.put(&packed(&entries, &mut unused), self.segment) else { return false };
            words.push((run, address));
        }
        while closed.room(self.segment) <= open {
            let Some(segment) = Chunk::take(8 * self.segment, account) else { return false };
            closed.segments.push(segment);
        }
        for (run, address) in words {
            if let Some(slot) = self.slot(run) {
                slot.store(address, Ordering::Release);
            }
        }
        for (word, filled, entries) in areas {
            // SAFETY: areas live as long as the sequence.
            let area = unsafe { &*((word & !OPEN) as *const OpenRun) };
            for (at, entry) in entries.iter().enumerate().take(filled) {
                area.numbers[3 * at].store(entry.left, Ordering::Relaxed);
                area.numbers[3 * at + 1].store(entry.right, Ordering::Relaxed);
            }
        }
        if let Ok(grounds) = self.grounds.get_mut() {
            grounds.closed = closed;
        }
        true
    }

    /// How many runs were given out.
    pub(super) fn runs(&self) -> usize {
        self.grounds.lock().map_or(0, |grounds| grounds.runs)
    }
}

impl Closed {
    /// How many runs surely find room.
    fn room(&self, segment: usize) -> usize {
        match self.segments.len() {
            0 => 0,
            _ => (segment - self.used) / WORST + (self.segments.len() - 1 - self.current) * (segment / WORST),
        }
    }

    /// Keeps a packed run and gives its address.
    fn put(&mut self, words: &[u64], segment: usize) -> Option<u64> {
        if self.used + words.len() > segment {
            self.current += 1;
            self.used = 0;
        }
        let chunk = self.segments.get(self.current)?;
        // SAFETY: the segment has room for the words after those used, and no other worker writes there.
        let address = unsafe {
            let address = chunk.start().cast::<u64>().add(self.used);
            std::ptr::copy_nonoverlapping(words.as_ptr(), address, words.len());
            address
        };
        self.used += words.len();
        Some(address as u64)
    }
}

/// The words of a complete run.
fn packed(entries: &Unpacked, unused: &mut (u32, u32)) -> Vec<u64> {
    let mut bits = Writer::default();
    write_packed(entries, unused, &mut bits);
    bits.finish()
}

/// How the left or the right numbers of one run are written. A number is found a few records back, or is the next that was never used before, or is
/// written out; the most frequent of these is told by one bit and the others by two.
#[derive(Clone, Copy)]
struct Manner {
    /// Bits of a number that is written out.
    width: u32,
    /// Bits of a way back.
    back: u32,
    frequent: Kind,
    /// The first number that was never used before the run.
    unused: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Back,
    Fresh,
    Raw,
}

const KINDS: [Kind; 3] = [Kind::Back, Kind::Fresh, Kind::Raw];
/// Bits of a written manner.
const MANNER: u32 = 6 + 3 + 2 + 32;

impl Kind {
    /// The code of a kind beside the most frequent one: its bits and how many.
    #[inline]
    fn code(self, frequent: Kind) -> (u64, u32) {
        if self == frequent {
            return (0, 1);
        }
        let first = KINDS[usize::from(frequent == Kind::Back)];
        (if self == first { 1 } else { 3 }, 2)
    }
}

impl Manner {
    /// The cheapest manner for the numbers of a run, and the distance back to each number's last occurrence (0 if it is
    /// fresh or does not occur before).
    fn of(numbers: &[u32; RUN], unused: u32, ways: &mut [u8; RUN]) -> Self {
        let width = 32 - numbers.iter().max().map_or(32, |largest| largest.leading_zeros());
        let (mut next, mut fresh) = (unused, 0);
        let mut by_bits = [0usize; 8];
        // The last occurrence of numbers, by some of their bits. A number whose entry was overwritten is not found again, which is rare.
        let mut met = [0u8; 4 * RUN];
        let place = |number: u32| (number.wrapping_mul(0x9E37_79B1) >> 23) as usize;
        for (at, number) in numbers.iter().enumerate() {
            ways[at] = 0;
            if *number >= next {
                fresh += usize::from(*number == next);
                next = number.wrapping_add(1);
                met[place(*number)] = at as u8;
                continue;
            }
            let last = usize::from(met[place(*number)]);
            if numbers[last] == *number && last < at {
                let way = at - last - 1;
                ways[at] = way as u8 + 1;
                by_bits[(usize::BITS - way.leading_zeros()) as usize] += 1;
            }
            met[place(*number)] = at as u8;
        }
        let mut back_count = 0;
        let cheapest = (0..8u32).map(|back| {
            back_count += by_bits[back as usize];
            let raw = RUN - fresh - back_count;
            let most = back_count.max(fresh).max(raw);
            let frequent = if most == raw {
                Kind::Raw
            } else if most == fresh {
                Kind::Fresh
            } else {
                Kind::Back
            };
            (2 * RUN - most + back_count * back as usize + raw * width as usize, back, frequent)
        });
        let (_, back, frequent) = cheapest.min_by_key(|(cost, ..)| *cost).unwrap_or((0, 0, Kind::Raw));
        Manner { width, back, frequent, unused }
    }

    fn write(&self, bits: &mut Writer) {
        bits.write(u64::from(self.width), 6);
        bits.write(u64::from(self.back), 3);
        bits.write(self.frequent as u64, 2);
        bits.write(u64::from(self.unused), 32);
    }

    /// # Safety
    /// As for [`Reader::peek`].
    unsafe fn read(bits: &mut Reader) -> Self {
        // SAFETY: by the caller.
        let field = unsafe { bits.read(MANNER) };
        Manner {
            width: (field & 63) as u32,
            back: (field >> 6 & 7) as u32,
            frequent: KINDS[(field >> 9 & 3) as usize % 3],
            unused: (field >> 11) as u32,
        }
    }

    /// Writes one number that was met `way` records before.
    #[inline]
    fn write_number(&mut self, number: u32, way: u8, bits: &mut Writer) {
        let kind = match way {
            _ if number == self.unused => Kind::Fresh,
            0 => Kind::Raw,
            _ if u32::from(way) > 1 << self.back => Kind::Raw,
            _ => Kind::Back,
        };
        let (code, length) = kind.code(self.frequent);
        bits.write(code, length);
        match kind {
            Kind::Fresh => {}
            Kind::Back => bits.write(u64::from(way) - 1, self.back),
            Kind::Raw => bits.write(u64::from(number), self.width),
        }
        if number >= self.unused {
            self.unused = number.wrapping_add(1);
        }
    }

    /// Reads one number; `met` gives the number that many records before.
    ///
    /// # Safety
    /// As for [`Reader::peek`].
    #[inline]
    unsafe fn read_number(&mut self, bits: &mut Reader, met: impl Fn(usize) -> u32) -> u32 {
        // SAFETY: by the caller.
        unsafe {
            let window = bits.peek();
            let kind = if window & 1 == 0 { self.frequent } else { self.others()[(window >> 1 & 1) as usize] };
            bits.at += 1 + (window & 1) as usize;
            let number = match kind {
                Kind::Back => return met(bits.read(self.back) as usize + 1),
                Kind::Fresh => self.unused,
                Kind::Raw => bits.read(self.width) as u32,
            };
            if number >= self.unused {
                self.unused = number.wrapping_add(1);
            }
            number
        }
    }

    #[inline]
    fn others(&self) -> [Kind; 2] {
        match self.frequent {
            Kind::Back => [Kind::Fresh, Kind::Raw],
            Kind::Fresh => [Kind::Back, Kind::Raw],
            Kind::Raw => [Kind::Back, Kind::Fresh],
        }
    }
}

/// The head: how the numbers are written, the parameter of the links' code, and the link before the first. `unused` are the first numbers that were never
/// used before the run, and after it.
fn write_packed(entries: &Unpacked, unused: &mut (u32, u32), bits: &mut Writer) {
    let first = entries[0].parent;
    let mut steps = [0; RUN];
    let mut before = first;
    for (step, entry) in steps.iter_mut().zip(entries) {
        *step = zigzag(entry.parent, before);
        before = entry.parent;
    }
    let cost = |rice: u32| {
        let of = |step: &u64| if step >> rice < 15 { (step >> rice) + 1 + u64::from(rice) } else { 15 + 33 };
        steps.iter().map(of).sum::<u64>()
    };
    // The best parameter is near the logarithm of the mean. If a few long ways hide that, it is 0 to 2.
    let mean = 64 - (steps.iter().sum::<u64>() / RUN as u64).leading_zeros();
    let rice = [0, 1, 2, mean.saturating_sub(1), mean.min(32), 32].into_iter().min_by_key(|rice| cost(*rice)).unwrap_or(32);
    bits.write(u64::from(rice), 6);
    bits.write(u64::from(first), 32);
    let mut ways = [[0; RUN]; 2];
    let mut left = Manner::of(&entries.each_ref().map(|entry| entry.left), unused.0, &mut ways[0]);
    let mut right = Manner::of(&entries.each_ref().map(|entry| entry.right), unused.1, &mut ways[1]);
    left.write(bits);
    right.write(bits);
    let mut parent = first;
    for (at, entry) in entries.iter().enumerate() {
        left.write_number(entry.left, ways[0][at], bits);
        right.write_number(entry.right, ways[1][at], bits);
        let step = zigzag(entry.parent, parent);
        let high = step >> rice;
        if high < 15 {
            bits.write((1 << high) - 1, high as u32 + 1);
            bits.write(step & ((1 << rice) - 1), rice);
        } else {
            bits.write((1 << 15) - 1, 15);
            bits.write(step, 33);
        }
        parent = entry.parent;
    }
    *unused = (left.unused, right.unused);
}

/// The way from one link to the next, small for small ways in either direction.
#[inline]
fn zigzag(to: u32, from: u32) -> u64 {
    let step = i64::from(to) - i64::from(from);
    ((step << 1) ^ (step >> 63)) as u64
}

/// # Safety
/// `words` begins a packed run.
unsafe fn read_packed(words: *const u64, until: usize, entries: &mut Unpacked) -> usize {
    let mut bits = Reader { words, at: 0 };
    // SAFETY: the reader stays inside the run: it reads the bits that the writer wrote and at most one more word, for
    // which `WORST` and `finish` leave room.
    unsafe {
        let rice = bits.read(6) as u32;
        let mut parent = bits.read(32) as u32;
        let mut left = Manner::read(&mut bits);
        let mut right = Manner::read(&mut bits);
        for at in 0..until {
            let left = left.read_number(&mut bits, |way| entries[at - way].left);
            let right = right.read_number(&mut bits, |way| entries[at - way].right);
            let ones = (bits.peek() | 1 << 15).trailing_ones().min(15);
            let step = if ones < 15 {
                bits.at += ones as usize + 1;
                u64::from(ones) << rice | bits.read(rice)
            } else {
                bits.at += 15;
                bits.read(33)
            };
            parent = (i64::from(parent) + ((step >> 1) as i64 ^ -((step & 1) as i64))) as u32;
            entries[at] = Entry { left, right, parent };
        }
    }
    until
}

#[derive(Default)]
struct Writer {
    words: Vec<u64>,
    word: u64,
    filled: u32,
}

impl Writer {
    #[inline]
    fn write(&mut self, value: u64, bits: u32) {
        self.word |= value << self.filled;
        if self.filled + bits >= 64 {
            self.words.push(self.word);
            self.word = if self.filled == 0 { 0 } else { value >> (64 - self.filled) };
            self.filled = self.filled + bits - 64;
        } else {
            self.filled += bits;
        }
    }

    /// The words, and one more if there are bits in the last: readers look up to seven bytes ahead, which must not be another run's.
    fn finish(mut self) -> Vec<u64> {
        self.words.push(self.word);
        if self.filled > 0 {
            self.words.push(0);
        }
        self.words
    }
}

struct Reader {
    words: *const u64,
    at: usize,
}

impl Reader {
    /// The next 57 bits at least.
    ///
    /// # Safety
    /// The byte at `at` lies inside a packed run, which is followed by seven more bytes of its memory.
    #[inline]
    unsafe fn peek(&self) -> u64 {
        // SAFETY: by the caller; see there.
        unsafe { self.words.cast::<u8>().add(self.at / 8).cast::<u64>().read_unaligned() >> (self.at % 8) }
    }

    /// # Safety
    /// As for [`peek`](Reader::peek).
    #[inline]
    unsafe fn read(&mut self, bits: u32) -> u64 {
        // SAFETY: by the caller.
        let value = unsafe { self.peek() } & ((1 << bits) - 1);
        self.at += bits as usize;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unlimited;
    use wayfarer_space::Rng;

    #[test]
    fn records_come_back() {
        let mut rng = Rng::new(3, "sequence");
        for spread in [1, 2, 100, 1 << 20, 1 << 32] {
            let mut sequence = Sequence::new(1 << 26);
            let mut place = Place::default();
            let mut all = Vec::new();
            for number in 0..5_000u32 {
                assert_eq!(sequence.next(&mut place, &Unlimited), Some(number));
                let link = if number == 0 || number % 500 == 0 {
                    NO_PARENT
                } else if spread > 1 << 30 {
                    rng.below(1 << 32) as u32
                } else {
                    number / 2
                };
                let entry = Entry { left: rng.below(spread) as u32, right: rng.below(spread / 2 + 1) as u32, parent: link };
                sequence.append(&mut place, entry);
                all.push(entry);
            }
            for (handle, entry) in all.iter().enumerate() {
                assert_eq!(sequence.entry(handle as u32), Some(*entry));
            }
            assert!(sequence.rewrite(&Unlimited, |entry| {
                std::mem::swap(&mut entry.left, &mut entry.right);
                true
            }));
            for (handle, entry) in all.iter().enumerate() {
                let back = sequence.entry(handle as u32).unwrap();
                assert_eq!((back.left, back.right, back.parent), (entry.right, entry.left, entry.parent));
            }
        }
    }
}
