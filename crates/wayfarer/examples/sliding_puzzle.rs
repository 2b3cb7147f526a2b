//! Five tiles in a frame of two rows and three columns: slide them until they are in the order you want.
//!
//! The invariant says that it cannot be done, so a violation is a solution, and breadth-first search finds a shortest
//! one.

use wayfarer::prelude::*;

/// The puzzle: the initial and the desired positions of the tiles, row by row, with 0 for the gap.
struct Puzzle {
    from: [u8; 6],
    to: [u8; 6],
}

/// A tile slides into the gap.
#[derive(Clone, Copy, Debug)]
enum Action {
    Slide { tile: u8 },
}

/// The neighbours of each place.
const NEXT_TO: [&[usize]; 6] = [&[1, 3], &[0, 2, 4], &[1, 5], &[0, 4], &[1, 3, 5], &[2, 4]];

impl Model for Puzzle {
    type State = [u8; 6];
    type Action = Action;

    fn initial(&self) -> Vec<[u8; 6]> {
        vec![self.from]
    }

    fn actions(&self, tiles: &[u8; 6], actions: &mut Vec<Action>) {
        let gap = tiles.iter().position(|tile| *tile == 0);
        let neighbours = gap.map_or(&[] as &[usize], |gap| NEXT_TO[gap]);
        actions.extend(neighbours.iter().map(|place| Action::Slide { tile: tiles[*place] }));
    }

    fn next(&self, tiles: &[u8; 6], action: &Action) -> Option<[u8; 6]> {
        let Action::Slide { tile } = *action;
        let place = |wanted| tiles.iter().position(|tile| *tile == wanted);
        let mut next = *tiles;
        next.swap(place(tile)?, place(0)?);
        Some(next)
    }

    fn properties(&self, properties: &mut Properties<Self>) {
        properties.never("solved", |puzzle, tiles| *tiles == puzzle.to);
    }

    fn format_action(&self, action: &Action) -> String {
        let Action::Slide { tile } = action;
        format!("slide {tile}")
    }

    fn format_state(&self, tiles: &[u8; 6]) -> Option<String> {
        let row = |tiles: &[u8]| tiles.iter().map(|tile| if *tile == 0 { " ".to_string() } else { tile.to_string() }).collect::<Vec<_>>().join(" ");
        Some(format!("{} / {}", row(&tiles[..3]), row(&tiles[3..])))
    }
}

pub(crate) fn main() -> Result<(), RunError> {
    let from = [1, 2, 3, 4, 5, 0];
    // The one position that is farther from the start than any other.
    let hardest = Plan::packed(Puzzle { from, to: [4, 5, 0, 1, 2, 3] }).run()?;
    println!("{hardest}");
    hardest.assert_violated("solved");
    assert_eq!(hardest.violations[0].witness.as_ref().map(|witness| witness.length), Some(21));

    // Half of all positions cannot be reached: two tiles cannot be exchanged.
    let exchanged = Plan::packed(Puzzle { from, to: [2, 1, 3, 4, 5, 0] }).run()?;
    println!("{exchanged}");
    exchanged.assert_holds();
    assert_eq!((exchanged.states, exchanged.depth), (360, Some(21)));
    Ok(())
}
