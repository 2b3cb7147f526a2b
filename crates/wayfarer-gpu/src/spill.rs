//! The part of a level that finds no room on the device: pieces of the host's memory that stay where they are, so that copies go at the speed of the bus.
//! Taking such memory is slow, so a piece is used again until the search ends. The keeper of the host's budget is asked before one is taken.

use crate::machine::{Address, DeviceError, Machine};

/// Words of a piece, at most: large enough for a fast copy, small enough to be taken quickly.
const PIECE: u64 = 1 << 25;

/// Asked before so many bytes of the host's memory are taken.
pub type Grant<'m> = &'m dyn Fn(u64) -> bool;

/// States that lie in a piece of the host's memory.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) at: Address,
    pub(crate) states: u64,
}

/// The host's memory of a search.
pub(crate) struct Spill<'m> {
    machine: &'m dyn Machine,
    words: u64,
    taken: Vec<Address>,
    free: Vec<Address>,
    grant: Option<Grant<'m>>,
}

impl<'m> Spill<'m> {
    /// No memory yet. A piece fits into a buffer of so many words.
    pub(crate) fn new(machine: &'m dyn Machine, buffer_words: u64) -> Self {
        Spill { machine, words: PIECE.min(buffer_words), taken: Vec::new(), free: Vec::new(), grant: None }
    }

    pub(crate) fn asks(&mut self, grant: Grant<'m>) {
        self.grant = Some(grant);
    }

    /// Bytes that were taken.
    pub(crate) fn bytes(&self) -> u64 {
        self.taken.len() as u64 * self.words * 8
    }

    /// Copies states from the device into pieces. Gives how many found no room.
    pub(crate) fn put(&mut self, from: Address, states: u64, stride: u64, pieces: &mut Vec<Piece>) -> Result<u64, DeviceError> {
        let most = self.words / stride;
        let mut done = 0;
        while done < states {
            let Some(at) = self.piece() else { return Ok(states - done) };
            let some = most.min(states - done);
            self.machine.copy(from.plus(done * stride), at, some * stride)?;
            pieces.push(Piece { at, states: some });
            done += some;
        }
        Ok(0)
    }

    /// Copies states to the device.
    pub(crate) fn fetch(&self, piece: &Piece, to: Address, stride: u64) -> Result<(), DeviceError> {
        self.machine.copy(piece.at, to, piece.states * stride)
    }

    /// A piece is no longer needed.
    pub(crate) fn give_back(&mut self, piece: Piece) {
        self.free.push(piece.at);
    }

    fn piece(&mut self) -> Option<Address> {
        if let Some(at) = self.free.pop() {
            return Some(at);
        }
        if self.words == 0 || self.grant.is_some_and(|grant| !grant(self.words * 8)) {
            return None;
        }
        // Memory that the system does not give is memory that is spent.
        let at = self.machine.pin(self.words * 8).ok()?;
        self.taken.push(at);
        Some(at)
    }
}

impl Drop for Spill<'_> {
    fn drop(&mut self) {
        self.taken.iter().for_each(|at| self.machine.unpin(*at));
    }
}
