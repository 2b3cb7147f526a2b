//! The stack of a depth-first search, in pieces: growing moves nothing and asks for one piece at a time.

use super::Level;
use crate::Account;
use wayfarer_space::{Packing, States, Word};
use wayfarer_store::Slab;

/// About how many bytes a piece has.
const PIECE: usize = 1 << 16;
/// A state of varying length lies apart, with its length and what an allocation takes besides.
const APART: usize = 32;

/// Levels and, if the store cannot give states back, the states themselves.
pub(super) struct Stack<'a> {
    account: &'a dyn Account,
    own: Option<Packing>,
    pieces: Vec<Piece>,
    /// Levels of a piece.
    each: usize,
    len: usize,
}

struct Piece {
    levels: Vec<Level>,
    states: Option<Slab>,
}

impl<'a> Stack<'a> {
    /// An empty stack. It keeps states if a packing is given.
    pub(super) fn new(own: Option<Packing>, account: &'a dyn Account) -> Self {
        let level = size_of::<Level>() + own.as_ref().map_or(0, slot);
        Stack { account, own, pieces: Vec::new(), each: (PIECE / level).max(16), len: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends a level; false if there is no memory for it.
    pub(super) fn push(&mut self, level: Level, state: &[Word]) -> bool {
        let (piece, at) = (self.len / self.each, self.len % self.each);
        if piece == self.pieces.len() && !self.add() {
            return false;
        }
        let apart = self.own.as_ref().is_some_and(Packing::is_varying);
        if apart && !self.account.allows(size_of_val(state) + APART) {
            return false;
        }
        let Piece { levels, states } = &mut self.pieces[piece];
        levels.push(level);
        if let Some(states) = states {
            states.put(at as u32, state);
        }
        self.len += 1;
        true
    }

    fn add(&mut self) -> bool {
        let slots = self.own.as_ref().map_or(0, slot);
        if !self.account.allows(self.each * (size_of::<Level>() + slots)) {
            return false;
        }
        let states = self.own.clone().map(|packing| {
            let mut states = Slab::new(packing);
            states.grow(self.each);
            states
        });
        self.pieces.push(Piece { levels: Vec::with_capacity(self.each), states });
        true
    }

    /// Takes the last level away. One empty piece is kept, so that going back and forth costs nothing.
    pub(super) fn pop(&mut self) {
        if let Some(last) = self.len.checked_sub(1) {
            self.pieces[last / self.each].levels.pop();
            self.pieces.truncate(last / self.each + 2);
            self.len = last;
        }
    }

    pub(super) fn last_mut(&mut self) -> Option<&mut Level> {
        let last = self.len.checked_sub(1)?;
        self.pieces[last / self.each].levels.last_mut()
    }

    /// Appends the state of a level to `out`; false if states are not kept.
    pub(super) fn state(&self, level: usize, out: &mut States) -> bool {
        let piece = self.pieces.get(level / self.each).and_then(|piece| piece.states.as_ref());
        level < self.len && piece.is_some_and(|states| states.get((level % self.each) as u32, out))
    }

    /// Whether it keeps states.
    pub(super) fn keeps_states(&self) -> bool {
        self.own.is_some()
    }
}

/// The bytes of a state's slot.
fn slot(packing: &Packing) -> usize {
    Slab::new(packing.clone()).growth(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Handle, Unlimited};
    use wayfarer_space::{Firing, Rng, Width};

    #[test]
    fn what_goes_in_last_comes_out_first() {
        for (packing, width) in [(Packing::whole(2), Width::Fixed(2)), (Packing::varying(), Width::Varying)] {
            let mut stack = Stack::new(Some(packing), &Unlimited);
            let (mut rng, mut model) = (Rng::new(4, "stack"), Vec::new());
            for round in 0..60_000u32 {
                // Up more often than down, then down more often than up.
                if rng.below(10) < if round < 30_000 { 7 } else { 4 } {
                    let state = vec![rng.next_word(), u64::from(round)];
                    assert!(stack.push(Level { state: Handle(round), next: Firing::of(0), again: false }, &state));
                    model.push((round, state));
                } else {
                    stack.pop();
                    model.pop();
                }
                assert_eq!((stack.len(), stack.is_empty()), (model.len(), model.is_empty()));
                assert_eq!(stack.last_mut().map(|level| level.state.0), model.last().map(|(number, _)| *number));
                if let Some((_, state)) = model.last() {
                    let mut out = States::new(width);
                    assert!(stack.state(model.len() - 1, &mut out) && !stack.state(model.len(), &mut out));
                    assert_eq!(out.get(0), state.as_slice());
                }
            }
        }
    }
}
