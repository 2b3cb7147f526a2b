//! A lock-free queue in a ring of slots, for several producers and several consumers, in the manner of Dmitry
//! Vyukov's bounded queue: each slot carries a turn that says who may use it next, positions are claimed by a
//! compare-and-swap, and writing the turn hands the slot over.
//!
//! The mistake to find: a producer that hands its slot over before it has written the value.

use wayfarer::prelude::*;

const SLOTS: usize = 2;
const PRODUCERS: usize = 2;
const CONSUMERS: usize = 2;
/// The number of values that each producer sends.
const EACH: u8 = 2;
const VALUES: usize = PRODUCERS * EACH as usize;

/// The queue.
struct RingBuffer {
    /// Whether producers hand the slot over before they write: a mistake.
    early: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Packed)]
struct Slot {
    /// A producer's turn at this position, and a consumer's at the one before.
    turn: u8,
    /// Zero if there is none.
    value: u8,
}

/// The program counter of a thread; each step touches shared memory once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Packed)]
enum At {
    /// It reads the next position.
    Look,
    /// It claims the position, if that is still the next one and the slot's turn is right.
    Claim,
    /// It copies the value.
    Copy,
    /// It hands the slot over.
    Hand,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Packed)]
struct Thread {
    at: At,
    position: u8,
    /// The value it holds.
    value: u8,
    /// The number of values it has sent or received.
    done: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Packed)]
struct State {
    slots: [Slot; SLOTS],
    tail: u8,
    head: u8,
    producers: [Thread; PRODUCERS],
    consumers: [Thread; CONSUMERS],
    /// The number of times each value came out, up to two; first those that were never put in.
    received: [u8; VALUES + 1],
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Produce(usize),
    Consume(usize),
}

impl Model for RingBuffer {
    type State = State;
    type Action = Action;

    fn initial(&self) -> Vec<State> {
        let thread = Thread { at: At::Look, position: 0, value: 0, done: 0 };
        let mut slots = [Slot { turn: 0, value: 0 }; SLOTS];
        (0..).zip(&mut slots).for_each(|(position, slot)| slot.turn = position);
        vec![State { slots, tail: 0, head: 0, producers: [thread; PRODUCERS], consumers: [thread; CONSUMERS], received: [0; VALUES + 1] }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        actions.extend((0..PRODUCERS).filter(|number| state.producers[*number].done < EACH).map(Action::Produce));
        let received: u8 = state.consumers.iter().map(|consumer| consumer.done).sum();
        let waits = |number: &usize| state.consumers[*number].at != At::Look || usize::from(received) < VALUES;
        actions.extend((0..CONSUMERS).filter(waits).map(Action::Consume));
    }

    fn next(&self, state: &State, action: &Action) -> Option<State> {
        let mut next = state.clone();
        match *action {
            Action::Produce(number) => {
                let thread = state.producers[number];
                let slot = &mut next.slots[usize::from(thread.position) % SLOTS];
                let value = number as u8 * EACH + thread.done + 1;
                let hand_over = (thread.at == At::Hand) != self.early;
                next.producers[number] = match thread.at {
                    At::Look => Thread { at: At::Claim, position: state.tail, ..thread },
                    At::Claim if state.tail == thread.position && slot.turn == thread.position => {
                        next.tail += 1;
                        Thread { at: At::Copy, ..thread }
                    }
                    At::Claim => Thread { at: At::Look, position: 0, ..thread },
                    At::Copy | At::Hand => {
                        match hand_over {
                            true => slot.turn = thread.position + 1,
                            false => slot.value = value,
                        }
                        match thread.at {
                            At::Copy => Thread { at: At::Hand, ..thread },
                            _ => Thread { at: At::Look, position: 0, value: 0, done: thread.done + 1 },
                        }
                    }
                };
            }
            Action::Consume(number) => {
                let thread = state.consumers[number];
                let slot = &mut next.slots[usize::from(thread.position) % SLOTS];
                next.consumers[number] = match thread.at {
                    At::Look => Thread { at: At::Claim, position: state.head, ..thread },
                    At::Claim if state.head == thread.position && slot.turn == thread.position + 1 => {
                        next.head += 1;
                        Thread { at: At::Copy, ..thread }
                    }
                    At::Claim => Thread { at: At::Look, position: 0, ..thread },
                    At::Copy => Thread { at: At::Hand, value: std::mem::take(&mut slot.value), ..thread },
                    At::Hand => {
                        slot.turn = thread.position + SLOTS as u8;
                        let times = &mut next.received[usize::from(thread.value)];
                        *times = (*times + 1).min(2);
                        Thread { at: At::Look, position: 0, value: 0, done: thread.done + 1 }
                    }
                };
            }
        }
        Some(next)
    }

    fn properties(&self, properties: &mut Properties<Self>) {
        properties.always("what comes out was put in", |_, state| state.received[0] == 0);
        properties.always("nothing comes out twice", |_, state| state.received[1..].iter().all(|times| *times < 2));
        properties.sometimes("everything comes out", |_, state| state.received[1..].iter().all(|times| *times > 0));
    }
}

pub(crate) fn main() -> Result<(), RunError> {
    // At the end everything was received: this is not a deadlock.
    let report = Plan::new(RingBuffer { early: false }).deadlock("off").run()?;
    println!("{report}");
    report.assert_holds();
    assert_eq!(report.states, 9_409);

    let early = Plan::new(RingBuffer { early: true }).deadlock("off").run()?;
    println!("{early}");
    early.assert_violated("what comes out was put in");
    assert_eq!(early.violations[0].witness.as_ref().map(|witness| witness.length), Some(7));
    Ok(())
}
