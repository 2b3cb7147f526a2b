//! The way between the working layout and the tight one, as straight lines of shifts and masks.

use std::collections::BTreeMap;
use std::fmt::Write;
use wayfarer_space::Packing;

/// Bits of one word that go to another by the same shift: positive to the left.
type Moves = BTreeMap<(usize, usize, i32), u64>;

/// Writes `pack`, `unpack` and `clear_gaps`.
pub(crate) fn write(packing: &Packing, out: &mut String) {
    let moves = moves(packing.masks());
    let tight: Moves = moves.clone();
    let working: Moves = moves.iter().map(|(&(from, to, shift), mask)| ((to, from, -shift), shifted(*mask, shift))).collect();
    line(out, "// From the working layout, in which fields do not straddle words, to the tight one without gaps.");
    function(out, "WF_INLINE void pack(const u64* s, u64* t) {", "t", "s", packing.words(), &tight);
    line(out, "// And back.");
    function(out, "WF_INLINE void unpack(const u64* t, u64* s) {", "s", "t", packing.masks().len(), &working);
    line(out, "// Zeroes what belongs to no scalar.");
    line(out, "WF_INLINE void clear_gaps(u64* s) {");
    for (word, mask) in packing.masks().iter().enumerate().filter(|(_, mask)| **mask != u64::MAX) {
        let _ = writeln!(out, "  s[{word}] &= {mask:#x}ull;");
    }
    line(out, "}\n");
}

fn line(out: &mut String, text: &str) {
    let _ = writeln!(out, "{text}");
}

fn function(out: &mut String, head: &str, to: &str, from: &str, words: usize, moves: &Moves) {
    line(out, head);
    for word in 0..words {
        let parts = moves.iter().filter(|((_, target, _), _)| *target == word).map(|(&(source, _, shift), mask)| {
            let moved = match shift {
                0 => format!("{from}[{source}]"),
                shift if shift > 0 => format!("{from}[{source}] << {shift}"),
                shift => format!("{from}[{source}] >> {}", -shift),
            };
            let mask = shifted(*mask, shift);
            if mask == u64::MAX { moved } else { format!("({moved} & {mask:#x}ull)") }
        });
        let parts: Vec<String> = parts.collect();
        let _ = writeln!(out, "  {to}[{word}] = {};", if parts.is_empty() { "0".to_string() } else { parts.join(" | ") });
    }
    line(out, "}\n");
}

/// For each word and target word, which bits go there by which shift.
fn moves(masks: &[u64]) -> Moves {
    let mut moves = Moves::new();
    let mut at = 0usize;
    for (word, mask) in masks.iter().enumerate() {
        for bit in (0..64usize).filter(|bit| mask >> bit & 1 == 1) {
            let shift = (at % 64) as i32 - bit as i32;
            *moves.entry((word, at / 64, shift)).or_default() |= 1 << bit;
            at += 1;
        }
    }
    moves
}

fn shifted(mask: u64, shift: i32) -> u64 {
    if shift >= 0 { mask << shift } else { mask >> -shift }
}
