//! The tables of sixty-four guards, and the order in which they are looked up.

use super::analysis::Analysed;
use crate::probe::Field;

/// Neighbouring fields are consulted together up to this many bits.
const WINDOW_BITS: u32 = 7;

/// Sixty-four guards, ready to be emitted.
pub(super) struct Group<'a> {
    pub(super) guards: Vec<Analysed<'a>>,
}

/// One lookup in a table: for each value of the field, the rules that remain, and the rules that fault.
pub(super) struct Lookup {
    pub(super) field: Field,
    /// The start of the first table in [`Guards::tables`](super::Guards::tables).
    pub(super) table: usize,
    pub(super) faults: bool,
}

/// Groups the fields that guards read into windows of few bits, each inside one word.
pub(super) fn windows(groups: &[Group]) -> Vec<Field> {
    let mut fields: Vec<Field> = groups.iter().flat_map(|group| &group.guards).flat_map(|guard| &guard.columns).map(|column| column.field).collect();
    fields.sort_unstable();
    fields.dedup();
    let mut windows: Vec<Field> = Vec::new();
    for field in fields {
        let end = field.offset + field.bits;
        match windows.last_mut() {
            Some(last) if last.offset / 64 == field.offset / 64 && end <= last.offset + WINDOW_BITS.max(last.bits) => {
                last.bits = last.bits.max(end - last.offset);
            }
            _ => windows.push(field),
        }
    }
    windows
}

impl Group<'_> {
    /// Fills one table for each window that some guard reads.
    pub(super) fn merge(&self, windows: &[Field], tables: &mut Vec<u64>) -> Vec<Lookup> {
        let mut lookups = Vec::new();
        for window in windows {
            let inside = |field: &Field| window.offset <= field.offset && field.offset + field.bits <= window.offset + window.bits;
            let table = tables.len();
            let mut any = false;
            for (bit, guard) in self.guards.iter().enumerate() {
                for column in guard.columns.iter().filter(|column| inside(&column.field)) {
                    if !std::mem::replace(&mut any, true) {
                        tables.resize(table + (1 << window.bits), u64::MAX);
                    }
                    let (shift, ones) = (column.field.offset - window.offset, (1usize << column.field.bits) - 1);
                    for (index, entry) in tables[table..].iter_mut().enumerate() {
                        let value = index >> shift & ones;
                        if column.holds[value / 64] >> (value % 64) & 1 == 0 {
                            *entry &= !(1 << bit);
                        }
                    }
                }
            }
            if any {
                lookups.push(Lookup { field: *window, table, faults: false });
            }
        }
        lookups
    }

    /// Finds a sequence of fields in which every guard finds its columns in order, and fills the tables for it. Each
    /// step takes the field that is next for some guard and that the fewest others still need later.
    pub(super) fn schedule(&self, tables: &mut Vec<u64>) -> Vec<Lookup> {
        let mut next = vec![0usize; self.guards.len()];
        let mut lookups = Vec::new();
        loop {
            let mut candidates: Vec<(Field, usize, usize)> = Vec::new(); // field, guards for which it is next, guards that need it later
            for (guard, next) in self.guards.iter().zip(&next) {
                if let Some(column) = guard.columns.get(*next) {
                    match candidates.iter_mut().find(|(field, _, _)| *field == column.field) {
                        Some((_, count, _)) => *count += 1,
                        None => candidates.push((column.field, 1, 0)),
                    }
                }
            }
            for (guard, next) in self.guards.iter().zip(&next) {
                for column in guard.columns.iter().skip(next + 1) {
                    if let Some((_, _, later)) = candidates.iter_mut().find(|(field, _, _)| *field == column.field) {
                        *later += 1;
                    }
                }
            }
            let Some((field, _, _)) = candidates.into_iter().min_by_key(|(field, count, later)| (*later, usize::MAX - *count, *field)) else { break };
            let values = 1usize << field.bits;
            let table = tables.len();
            tables.resize(table + values, u64::MAX);
            tables.resize(table + 2 * values, 0);
            let mut any_fault = false;
            for (bit, (guard, next)) in self.guards.iter().zip(&mut next).enumerate() {
                let Some(column) = guard.columns.get(*next).filter(|column| column.field == field) else { continue };
                *next += 1;
                for value in 0..values {
                    let (word, at) = (value / 64, value % 64);
                    if column.holds[word] >> at & 1 == 0 {
                        tables[table + value] &= !(1 << bit);
                    }
                    if column.faults[word] >> at & 1 == 1 {
                        tables[table + values + value] |= 1 << bit;
                        any_fault = true;
                    }
                }
            }
            if !any_fault {
                tables.truncate(table + values);
            }
            lookups.push(Lookup { field, table, faults: any_fault });
        }
        lookups
    }
}
