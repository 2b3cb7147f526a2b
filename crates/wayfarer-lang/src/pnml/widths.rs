//! Guessed widths. If no bound is proved, a short random walk over the net says how many tokens a place may come to have; the guess is checked at every
//! firing, and whoever runs the net makes it larger where it was too small.

use super::bounds::{Bounds, bits_for};
use super::flat::Flat;
use wayfarer_space::Rng;

/// Arcs looked at while walking, in all.
const MOST_WORK: u64 = 3_000_000;
/// Steps of a walk before it begins anew.
const LONGEST: u32 = 20_000;

/// The widest field of a place.
pub(super) const WIDEST: u32 = 62;
/// Guessed bits up to which all guesses are doubled together.
const FEW_BITS: u32 = 512;

/// Guesses that the user never sees but as a remark that a run was repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Widths {
    /// Bits of each place whose bound is not proved, 0 where nothing is guessed.
    pub bits: Vec<u32>,
    /// Whether the claims of a NUPN section are believed.
    pub trusts_units: bool,
}

impl Widths {
    /// The first guess.
    pub fn guess(flat: &Flat, bounds: &Bounds) -> Self {
        let mut guessed: Vec<bool> = bounds.proved.iter().map(Option::is_none).collect();
        bounds.sets.iter().flat_map(|set| &set.places).for_each(|place| guessed[*place as usize] = false);
        let mut bits = vec![0; flat.places.len()];
        if guessed.contains(&true) {
            let most = look_ahead(flat);
            let mut claimed = vec![false; flat.places.len()];
            flat.units.iter().flatten().for_each(|place| claimed[*place] = true);
            for place in (0..bits.len()).filter(|place| guessed[*place]) {
                let needed = bits_for(most[place].saturating_add(1)).max(1);
                bits[place] = if claimed[place] && needed == 1 { 1 } else { needed.next_power_of_two().max(2) };
            }
        }
        Widths { bits, trusts_units: !flat.units.is_empty() }
    }

    /// Doubles the width of a place that turned out to be too narrow. Others that are as narrow were guessed by the same walk and double with it while that
    /// costs little, so that a run is not repeated for each of them.
    pub(super) fn widen(&mut self, place: usize) {
        let narrow = self.bits[place];
        let double = |bits: u32| (2 * bits).min(WIDEST);
        let together = |bits: u32| bits > 0 && bits <= narrow;
        let all: u32 = self.bits.iter().map(|bits| if together(*bits) { double(*bits) } else { *bits }).sum();
        if all <= FEW_BITS {
            self.bits.iter_mut().filter(|bits| together(**bits)).for_each(|bits| *bits = double(*bits));
        } else {
            self.bits[place] = double(narrow);
        }
    }
}

/// The most tokens that each place had on random walks.
fn look_ahead(flat: &Flat) -> Vec<u64> {
    let mut most = flat.initial.clone();
    let mut rng = Rng::new(0, "pnml look-ahead");
    let arcs: u64 = flat.transitions.iter().map(|transition| 1 + transition.inputs.len() as u64).sum();
    let mut work = 0;
    let mut enabled = Vec::new();
    let effects: Vec<Vec<(u32, i64)>> = flat.transitions.iter().map(|transition| transition.effect()).collect();
    while work < MOST_WORK {
        let mut marking = flat.initial.clone();
        for _ in 0..LONGEST {
            work += arcs;
            enabled.clear();
            enabled.extend((0..flat.transitions.len()).filter(|number| flat.transitions[*number].is_enabled(&marking)));
            if enabled.is_empty() || work > MOST_WORK {
                break;
            }
            let fired = enabled[rng.below(enabled.len() as u64) as usize];
            for (place, change) in &effects[fired] {
                let place = *place as usize;
                // A walk that leaves what numbers can say ends here; the guess is as good as any.
                let Some(tokens) = marking[place].checked_add_signed(*change) else { return most };
                marking[place] = tokens;
                most[place] = most[place].max(tokens);
            }
        }
        work += arcs;
    }
    most
}
