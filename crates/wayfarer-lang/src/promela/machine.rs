//! Runs a model as it is, one transition at a time, on states that grow as they must.
//!
//! This is the look-ahead from which slots and widths are learned, and an oracle for what the compiled program does. It knows nothing of the IR.

mod acts;
mod values;

pub(super) use acts::reception;

use super::flow::Transition;
use super::learned::Origin;
use super::model::{ActKind, LeafId, Model, Start};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};

/// A state of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct State {
    /// The cells of all global variables.
    pub globals: Vec<i64>,
    /// The processes by number.
    pub processes: Vec<Process>,
    /// The channels, the oldest first.
    pub channels: Vec<Channel>,
    /// The process that goes on alone.
    pub control: Option<usize>,
}

/// A process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Process {
    /// Its type.
    pub ty: usize,
    /// Its control state.
    pub state: usize,
    /// The cells of its variables.
    pub cells: Vec<i64>,
    /// How many channels there were before it.
    pub channels: usize,
}

/// A channel.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Channel {
    /// Its maker: variables hold the number of this, so that one that is gone is not taken for another.
    pub origin: Origin,
    /// The messages, the oldest first.
    pub messages: VecDeque<Vec<i64>>,
}

/// Why a statement could not be executed to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// An index left its array.
    Index,
    /// Division by zero.
    Division,
    /// A channel without an initialiser.
    NoChannel,
    /// A channel whose maker has ended.
    Gone,
    /// A message with another number of fields.
    Arity,
    /// A `d_step` blocks, or does not end.
    Blocked,
    /// A process that is not there.
    NoProcess,
    /// More processes or channels than there can be.
    TooMany,
}

/// The result of a transition.
#[derive(Clone, Debug)]
pub struct Taken {
    /// The process that moved, or sent.
    pub process: usize,
    /// Which transition of its control state it took.
    pub transition: usize,
    /// The receiver of a rendezvous and its transition.
    pub partner: Option<(usize, usize)>,
    /// An assertion failed on the way.
    pub failed: bool,
    /// The state it led to.
    pub result: Result<State, Trouble>,
}

/// A variable and the number of the process that has it; none for a global one.
pub type Owned = (Option<usize>, LeafId);

/// Runs a model.
pub struct Machine<'a> {
    model: &'a Model,
    /// Statements executed so far.
    work: Cell<usize>,
    /// The values stored in variables so far, also on the way to a state: a `d_step` may end where it began.
    stored: RefCell<HashMap<Owned, (i64, i64)>>,
    /// The channels made so far, also on other paths: channel k is number k + 1.
    origins: RefCell<Vec<Origin>>,
}

impl<'a> Machine<'a> {
    /// A machine for a model.
    pub fn new(model: &'a Model) -> Self {
        Machine { model, work: Cell::new(0), stored: RefCell::default(), origins: RefCell::default() }
    }

    /// The channel that a value names, whether it still exists or not; none for 0.
    pub(super) fn origin(&self, value: i64) -> Option<Origin> {
        self.origins.borrow().get(usize::try_from(value - 1).ok()?).copied()
    }

    /// The number of a channel.
    fn number(&self, origin: Origin) -> Result<i64, Trouble> {
        let mut origins = self.origins.borrow_mut();
        let known = origins.iter().position(|known| *known == origin).unwrap_or(origins.len());
        if known == origins.len() {
            origins.push(origin);
        }
        if known < 255 { Ok(known as i64 + 1) } else { Err(Trouble::TooMany) }
    }

    /// The least and the largest value stored in each variable so far, by the process it belongs to.
    pub fn stored(&self) -> Vec<(Owned, (i64, i64))> {
        self.stored.borrow().iter().map(|(key, range)| (*key, *range)).collect()
    }

    /// How many statements were executed so far.
    pub fn work(&self) -> usize {
        self.work.get()
    }

    /// The state in which the model begins.
    pub fn start(&self) -> Result<State, Trouble> {
        let mut state = State { globals: vec![0; self.model.global_cells() as usize], ..State::default() };
        for id in &self.model.globals {
            self.begin_leaf(&mut state, None, *id, &[])?;
        }
        for (ty, _) in &self.model.active {
            self.begin_process(&mut state, *ty, &[])?;
        }
        Ok(state)
    }

    /// Adds a process.
    fn begin_process(&self, state: &mut State, ty: usize, arguments: &[i64]) -> Result<(), Trouble> {
        if state.processes.len() >= 255 {
            return Err(Trouble::TooMany);
        }
        let process_type = &self.model.types[ty];
        let pid = state.processes.len();
        let start = process_type.automaton.start;
        let channels = state.channels.len();
        state.processes.push(Process { ty, state: start, cells: vec![0; process_type.cells as usize], channels });
        for id in &process_type.leaves {
            self.begin_leaf(state, Some(pid), *id, arguments)?;
        }
        Ok(())
    }

    fn begin_leaf(&self, state: &mut State, pid: Option<usize>, id: LeafId, arguments: &[i64]) -> Result<(), Trouble> {
        let leaf = self.model.leaf(id);
        for element in 0..leaf.cells() {
            let value = match &leaf.initial {
                Start::Zero => 0,
                Start::Value(value) => self.value(state, pid.unwrap_or(0), value, false)?,
                Start::List(values) => match values.get(element as usize).or(values.last()) {
                    Some(value) => self.value(state, pid.unwrap_or(0), value, false)?,
                    None => 0,
                },
                // An active process with parameters has zeros for them.
                Start::Parameter(number) => arguments.get(*number).copied().unwrap_or(0),
                Start::Channel(ty) => {
                    let origin = Origin { owner: pid, ty: *ty, member: element };
                    state.channels.push(Channel { origin, messages: VecDeque::new() });
                    self.number(origin)?
                }
            };
            let cells = match pid {
                Some(pid) => &mut state.processes[pid].cells,
                None => &mut state.globals,
            };
            cells[(leaf.cell + element) as usize] = leaf.ty.wrap(value);
        }
        Ok(())
    }

    /// All transitions out of a state, those with trouble included.
    pub fn expand(&self, state: &State) -> Vec<Taken> {
        let mut taken = Vec::new();
        let pids: Vec<usize> = match state.control {
            Some(pid) => vec![pid],
            None => (0..state.processes.len()).collect(),
        };
        for pid in &pids {
            self.expand_process(state, *pid, false, &mut taken);
        }
        if taken.is_empty() && self.model.has_timeout && state.control.is_none() {
            for pid in pids {
                self.expand_process(state, pid, true, &mut taken);
            }
        }
        taken
    }

    /// Whether nothing more need happen in a state.
    pub fn may_end(&self, state: &State) -> bool {
        state.processes.iter().all(|process| self.model.types[process.ty].automaton.states[process.state].may_end)
    }

    fn transitions(&self, state: &State, pid: usize) -> &'a [Transition] {
        let process = &state.processes[pid];
        &self.model.types[process.ty].automaton.states[process.state].transitions
    }

    /// Whether a process may move at all.
    fn provided(&self, state: &State, pid: usize, timeout: bool) -> bool {
        match &self.model.types[state.processes[pid].ty].provided {
            Some(condition) => self.value(state, pid, condition, timeout).is_ok_and(|value| value != 0),
            None => true,
        }
    }

    fn expand_process(&self, state: &State, pid: usize, timeout: bool, taken: &mut Vec<Taken>) {
        if !self.provided(state, pid, timeout) {
            return;
        }
        let mut escape = None;
        let mut some = false;
        for (number, transition) in self.transitions(state, pid).iter().enumerate() {
            if escape.is_some_and(|escape| escape != transition.escape) {
                break;
            }
            if matches!(transition.act.kind, ActKind::Else) && some {
                continue;
            }
            let before = taken.len();
            self.take(state, pid, number, transition, timeout, taken);
            if taken.len() > before {
                some = true;
                if transition.escape > 0 {
                    escape = Some(transition.escape);
                }
            }
        }
    }
}

impl Trouble {
    /// Its meaning in words.
    pub fn words(self) -> &'static str {
        match self {
            Trouble::Index => "an index is out of bounds",
            Trouble::Division => "division by zero",
            Trouble::NoChannel => "a channel without an initialiser is used",
            Trouble::Gone => "a channel is used whose process has ended",
            Trouble::Arity => "a message has another number of fields than its channel",
            Trouble::Blocked => "a `d_step` blocks or does not end",
            Trouble::NoProcess => "a process is named that is not there",
            Trouble::TooMany => "there are more than 255 processes or channels",
        }
    }
}
