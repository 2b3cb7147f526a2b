//! An actor model: logical clocks that answer every message from the future.

use stateright::actor::{Actor, ActorModel, Id, Network, Out};
use stateright::{Expectation, Model};
use std::borrow::Cow;

/// An actor, and the peer to which it sends the first message.
pub(crate) struct Clock {
    pub(crate) first_to: Option<Id>,
}

impl Actor for Clock {
    type Msg = u32;
    type State = u32;
    type Timer = ();
    type Random = ();
    type Storage = ();

    fn on_start(&self, _: Id, _: &Option<()>, out: &mut Out<Self>) -> u32 {
        let Some(peer) = self.first_to else { return 0 };
        out.send(peer, 1);
        1
    }

    fn on_msg(&self, _: Id, state: &mut Cow<u32>, from: Id, time: u32, out: &mut Out<Self>) {
        if time > **state {
            out.send(from, time + 1);
            *state.to_mut() = time + 1;
        }
    }
}

/// Two clocks over a network that may deliver in any order and more than once.
pub(crate) fn clocks(
    limit: u32,
    bound: u32,
) -> impl Model<State = impl Clone + std::fmt::Debug + Eq + std::hash::Hash + Send + Sync + 'static, Action = impl Clone + PartialEq + std::fmt::Debug>
+ Send
+ Sync
+ 'static {
    ActorModel::<Clock, (u32, u32), ()>::new((limit, bound), ())
        .actor(Clock { first_to: None })
        .actor(Clock { first_to: Some(Id::from(0)) })
        .init_network(Network::new_unordered_duplicating([]))
        .property(Expectation::Always, "below the limit", |model, state| state.actor_states.iter().all(|time| **time < model.cfg.0))
        .within_boundary(|(_, bound), state| state.actor_states.iter().all(|time| **time <= *bound))
}
