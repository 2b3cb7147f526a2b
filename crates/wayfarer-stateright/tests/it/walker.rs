//! A walker in an endless city: a model with a boundary, actions that lead nowhere, and its own texts.

use stateright::{Model, Property};

#[derive(Clone, Copy)]
pub(crate) struct Walker {
    /// The boundary of the city.
    pub(crate) limit: i32,
    /// The greatest distance that counts as near.
    pub(crate) near: i32,
    /// Whether there is a `sometimes` property that is never reached.
    pub(crate) hopes: bool,
    /// Whether there is a property about infinite behaviours.
    pub(crate) returns: bool,
    /// Whether the walker can sit down for good.
    pub(crate) ends: bool,
}

impl Walker {
    pub(crate) fn harmless() -> Self {
        Walker { limit: 4, near: 4, hopes: false, returns: false, ends: false }
    }

    pub(crate) fn lost() -> Self {
        Walker { near: 2, ..Walker::harmless() }
    }
}

/// The walker's position, and whether the walker has sat down.
pub(crate) type Place = (i32, i32, bool);

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Move {
    East(i32),
    North(i32),
    Sit,
}

impl Model for Walker {
    type State = Place;
    type Action = Move;

    fn init_states(&self) -> Vec<Place> {
        // One of them lies beyond the boundary.
        vec![(0, 0, false), (0, self.limit + 1, false)]
    }

    fn actions(&self, place: &Place, actions: &mut Vec<Move>) {
        if place.2 {
            return;
        }
        actions.extend([Move::East(1), Move::East(-1), Move::North(1), Move::North(-1)]);
        if self.ends {
            actions.push(Move::Sit);
        }
    }

    fn next_state(&self, &(east, north, _): &Place, action: Move) -> Option<Place> {
        match action {
            // The river.
            Move::East(_) if north == 1 => None,
            Move::East(by) => Some((east + by, north, false)),
            Move::North(by) => Some((east, north + by, false)),
            Move::Sit => Some((east, north, true)),
        }
    }

    fn format_action(&self, action: &Move) -> String {
        match action {
            Move::East(1) => "to the east".to_string(),
            Move::North(1) => "to the north".to_string(),
            other => format!("{other:?}"),
        }
    }

    fn format_step(&self, place: &Place, action: Move) -> Option<String> {
        self.next_state(place, action).map(|_| "one\n step".to_string())
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = vec![Property::<Self>::always("stays near", |walker, place| place.0 <= walker.near && place.1 <= walker.near)];
        if self.hopes {
            properties.push(Property::<Self>::sometimes("gets far", |_, place| place.0 > 100));
        }
        if self.returns {
            properties.push(Property::<Self>::eventually("comes home", |_, place| (place.0, place.1) == (0, 0)));
        }
        properties
    }

    fn within_boundary(&self, place: &Place) -> bool {
        place.0.abs() <= self.limit && place.1.abs() <= self.limit
    }
}
