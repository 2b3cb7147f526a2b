//! How memory is divided among lanes that search for themselves.

use crate::own::{Order, Own};

/// The part of each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    /// How many lanes there are.
    pub(crate) lanes: u64,
    /// States that find room.
    pub(crate) capacity: u64,
    /// Slots of the index, or words of the filter.
    pub(crate) slots: u64,
    /// Slots of the index of a level.
    pub(crate) width_slots: u64,
    /// Words of a lane's memory.
    pub(crate) words: u64,
}

/// An index has 24 bits for a place.
const MOST_PLACES: u64 = (1 << 24) - 2;
/// A lane with room for fewer states is not worth having.
const LEAST: u64 = 64;

impl Room {
    /// Divides bytes among as many lanes as get enough each; none if not even one does.
    pub(crate) fn divide(order: &Order, tight: u64, starts: u64, bytes: u64) -> Option<Room> {
        let mut lanes = order.lanes.max(1);
        loop {
            let words = bytes / 8 * 15 / 16 / lanes;
            if let Some(room) = Room::of(order, tight, starts, words) {
                return Some(Room { lanes, ..room });
            }
            if lanes == 1 {
                return None;
            }
            lanes /= 2;
        }
    }

    /// A lane in at most so many words.
    fn of(order: &Order, tight: u64, starts: u64, most: u64) -> Option<Room> {
        let (slots, capacity, width_slots, words);
        match order.own {
            Own::Random => {
                (slots, width_slots) = (0, 0);
                capacity = (most / tight).min(order.longest.saturating_add(1));
                words = capacity * tight;
            }
            Own::DepthFirst => {
                width_slots = 0;
                capacity = (most / 4 / tight).min(order.longest);
                slots = power_up_to(most - capacity * tight)?;
                words = capacity * tight + slots;
            }
            _ => {
                let beside;
                (width_slots, beside) = if matches!(order.own, Own::Highway { .. }) {
                    let slots = (order.width * 2).next_power_of_two();
                    (slots, order.width * (tight + 1) + order.width.div_ceil(2) + slots / 2)
                } else {
                    (0, 0)
                };
                // A state takes its words, half a word for its parent, and one to two words of the index.
                let fitting = most.checked_sub(beside)? * 2 / (tight * 2 + 5);
                capacity = order.capacity.unwrap_or(fitting).min(MOST_PLACES);
                slots = (capacity * 2).next_power_of_two();
                words = capacity * tight + capacity.div_ceil(2) + slots / 2 + beside;
            }
        }
        let least = if order.capacity.is_some() { 1 } else { LEAST.min(order.longest).max(1) };
        let holds_starts = !order.own.has_parents() || order.capacity.is_some() || capacity > starts.min(1 << 20);
        (capacity >= least && holds_starts && words <= most).then_some(Room { lanes: 1, capacity, slots, width_slots, words })
    }
}

/// The largest power of two up to a number.
fn power_up_to(number: u64) -> Option<u64> {
    number.checked_ilog2().map(|bits| 1 << bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_keep_to_their_part() {
        for own in [Own::Uniform { by_states: false }, Own::Highway { ideal: true }, Own::Random, Own::DepthFirst] {
            for (bytes, tight) in [(1u64 << 20, 1u64), (1 << 24, 3), (1 << 33, 2), (1 << 36, 64)] {
                let order = Order { own, lanes: 1 << 17, bytes, capacity: None, width: 10, renews: true, searches: 5, longest: 1 << 40, key: 0 };
                let room = Room::divide(&order, tight, 3, bytes).expect("there is room");
                assert!(room.lanes * room.words * 8 <= bytes && room.capacity >= 64, "{own:?} {bytes} {tight}: {room:?}");
            }
        }
    }

    #[test]
    fn a_capacity_that_is_asked_for_is_given() {
        let own = Own::Deep { by_states: true };
        let order = Order { own, lanes: 1 << 17, bytes: 0, capacity: Some(1000), width: 0, renews: true, searches: 0, longest: u64::MAX, key: 0 };
        let room = Room::divide(&order, 2, 1, 1 << 30).expect("there is room");
        assert_eq!((room.capacity, room.lanes), (1000, 1 << 15));
        assert_eq!(Room::divide(&order, 2, 1, 1000), None);
    }
}
