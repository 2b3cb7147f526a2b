//! States that vary in width, as bytes. The leading zero bytes of a word are left out if that is shorter.
//!
//! The form of a state is its own length in bytes, then twice the number of words (plus one if words are trimmed), both
//! with seven bits to a byte, then the words. Words are written whole, or trimmed: first half a byte for each word with
//! its number of bytes, then those bytes. Equal states have equal bytes, and no form is the beginning of another.

use wayfarer_space::Word;

/// Appends the form of a state.
pub fn encode(state: &[Word], bytes: &mut Vec<u8>) {
    let short: usize = state.iter().map(|word| significant(*word)).sum::<usize>() + state.len().div_ceil(2);
    let trimmed = short < 8 * state.len();
    let head = 2 * state.len() as u64 + u64::from(trimmed);
    push_number(bytes, length(head) as u64 + if trimmed { short } else { 8 * state.len() } as u64);
    push_number(bytes, head);
    if !trimmed {
        bytes.extend(state.iter().flat_map(|word| word.to_le_bytes()));
        return;
    }
    for pair in state.chunks(2) {
        let second = pair.get(1).map_or(0, |word| significant(*word));
        bytes.push((significant(pair[0]) | second << 4) as u8);
    }
    for word in state {
        bytes.extend_from_slice(&word.to_le_bytes()[..significant(*word)]);
    }
}

/// How many words the state of a form has.
pub fn words(form: &[u8]) -> usize {
    let (_, at) = number(form);
    (number(&form[at..]).0 / 2) as usize
}

/// Writes the words of a form into `state`, which has [`words`] of them.
pub fn decode(form: &[u8], state: &mut [Word]) {
    let (_, at) = number(form);
    let (head, more) = number(&form[at..]);
    let rest = &form[at + more..];
    if head & 1 == 0 {
        for (word, bytes) in state.iter_mut().zip(rest.chunks_exact(8)) {
            *word = gather(bytes);
        }
        return;
    }
    let (sizes, mut rest) = rest.split_at(state.len().div_ceil(2));
    for (index, word) in state.iter_mut().enumerate() {
        let size = usize::from(sizes[index / 2] >> (4 * (index % 2)) & 15);
        let (bytes, behind) = rest.split_at(size);
        *word = gather(bytes);
        rest = behind;
    }
}

fn gather(bytes: &[u8]) -> Word {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    Word::from_le_bytes(word)
}

/// The bytes of a word without its leading zeros.
fn significant(word: Word) -> usize {
    (64 - word.leading_zeros()).div_ceil(8) as usize
}

fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 128 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// The bytes of a number as [`push_number`] writes it.
fn length(number: u64) -> usize {
    (64 - number.leading_zeros()).div_ceil(7).max(1) as usize
}

/// The number at the beginning of some bytes, and how many of them it has.
fn number(bytes: &[u8]) -> (u64, usize) {
    let (mut number, mut at) = (0, 0);
    loop {
        let byte = bytes[at];
        number |= u64::from(byte & 127) << (7 * at);
        at += 1;
        if byte < 128 {
            return (number, at);
        }
    }
}

/// The longest a form's own length can be.
pub const LENGTH: usize = 10;

/// The length of a whole form, told from its first bytes; `byte` gives the byte at a place.
#[inline]
pub fn form_length(byte: impl Fn(usize) -> u8) -> usize {
    let (mut number, mut at) = (0, 0);
    loop {
        let byte = byte(at);
        number |= usize::from(byte & 127) << (7 * at);
        at += 1;
        if byte < 128 || at == LENGTH {
            return at + number;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayfarer_space::Rng;

    #[test]
    fn a_form_gives_its_state_back_and_no_other() {
        let mut rng = Rng::new(4, "varying");
        let mut forms = std::collections::HashMap::new();
        for round in 0..4_000u64 {
            let count = if round % 50 == 0 { rng.below(3_000) } else { rng.below(70) };
            let most = 1 + rng.below(64);
            let state: Vec<Word> = (0..count).map(|_| rng.next_word() >> rng.below(64) >> (64 - most)).collect();
            let mut form = Vec::new();
            encode(&state, &mut form);
            assert_eq!(form_length(|at| form[at]), form.len());
            assert!(form.len() <= 8 * state.len() + 2 * LENGTH);
            let mut back = vec![Word::MAX; words(&form)];
            decode(&form, &mut back);
            assert_eq!(back, state);
            assert_eq!(*forms.entry(form).or_insert_with(|| state.clone()), state);
        }
    }

    #[test]
    fn small_words_take_few_bytes() {
        let mut form = Vec::new();
        encode(&[1, 0, 200, 300], &mut form);
        assert_eq!(form, [7, 9, 0x01, 0x21, 1, 200, 44, 1]);
    }
}
