//! Values of expressions in a state.

use super::{Channel, Machine, State, Trouble};
use crate::promela::model::{Match, Place, Probe, Value};
use crate::promela::operators;

impl Machine<'_> {
    /// The value of an expression of a process.
    pub(super) fn value(&self, state: &State, pid: usize, value: &Value, timeout: bool) -> Result<i64, Trouble> {
        use crate::promela::model::Binary;
        let of = |value: &Value| self.value(state, pid, value, timeout);
        Ok(match value {
            Value::Constant(value) => *value,
            Value::Load(place) => self.load(state, pid, place)?,
            Value::Unary(op, operand) => operators::unary(*op, of(operand)?),
            Value::Binary(Binary::And, left, right, _) => i64::from(of(left)? != 0 && of(right)? != 0),
            Value::Binary(Binary::Or, left, right, _) => i64::from(of(left)? != 0 || of(right)? != 0),
            Value::Binary(op, left, right, _) => operators::binary(*op, of(left)?, of(right)?).ok_or(Trouble::Division)?,
            Value::Conditional(condition, one, other) => {
                if of(condition)? != 0 {
                    of(one)?
                } else {
                    of(other)?
                }
            }
            Value::Len(place) => self.unless_gone(self.channel(state, pid, place))?.map_or(0, |channel| channel.messages.len() as i64),
            Value::Probe(probe @ (Probe::Empty | Probe::NotEmpty), place) => {
                let channel = self.unless_gone(self.channel(state, pid, place))?;
                i64::from(channel.is_none_or(|channel| channel.messages.is_empty()) == (*probe == Probe::Empty))
            }
            Value::Probe(probe, place) => {
                let channel = self.channel(state, pid, place)?;
                let (length, capacity) = (channel.messages.len(), self.model.channels[channel.origin.ty].capacity as usize);
                i64::from(if *probe == Probe::Full { length == capacity } else { length < capacity })
            }
            Value::Poll { channel, random, fields } => {
                let Some(found) = self.to_receive(self.channel(state, pid, channel))? else { return Ok(0) };
                let reach = if *random { found.messages.len() } else { 1 };
                let mut some = false;
                for message in found.messages.iter().take(reach) {
                    some |= self.matches(state, pid, message, fields, timeout)?;
                }
                i64::from(some)
            }
            Value::Timeout => i64::from(timeout),
            Value::Pid => pid as i64,
            Value::Processes => state.processes.len() as i64,
            // It was replaced by its number.
            Value::Created => 0,
            Value::RemoteLabel { ty, process, label } => {
                let pid = self.process(state, pid, *ty, process.as_deref(), timeout)?;
                let labels = &self.model.types[*ty].automaton.labels;
                let here = state.processes[pid].state;
                i64::from(labels.iter().any(|(name, at)| name == label && *at == Some(here)))
            }
            Value::RemoteLoad { ty, process, place } => {
                let pid = self.process(state, pid, *ty, process.as_deref(), timeout)?;
                self.load(state, pid, place)?
            }
        })
    }

    /// The process that a remote reference means: by number, or the first of its type.
    fn process(&self, state: &State, pid: usize, ty: usize, process: Option<&Value>, timeout: bool) -> Result<usize, Trouble> {
        let found = match process {
            Some(number) => usize::try_from(self.value(state, pid, number, timeout)?).ok(),
            None => state.processes.iter().position(|process| process.ty == ty),
        };
        found.filter(|pid| state.processes.get(*pid).is_some_and(|process| process.ty == ty)).ok_or(Trouble::NoProcess)
    }

    /// The cell of a place among those of its owner.
    pub(super) fn cell(&self, state: &State, pid: usize, place: &Place) -> Result<usize, Trouble> {
        let leaf = self.model.leaf(place.leaf);
        let mut cell = 0;
        for (index, count) in place.indices.iter().zip(&leaf.dimensions) {
            let index = self.value(state, pid, index, false)?;
            if !(0..i64::from(*count)).contains(&index) {
                return Err(Trouble::Index);
            }
            cell = cell * *count as usize + index as usize;
        }
        Ok(leaf.cell as usize + cell)
    }

    pub(super) fn load(&self, state: &State, pid: usize, place: &Place) -> Result<i64, Trouble> {
        let cell = self.cell(state, pid, place)?;
        Ok(match self.model.leaf(place.leaf).owner {
            Some(_) => state.processes[pid].cells[cell],
            None => state.globals[cell],
        })
    }

    pub(super) fn store(&self, state: &mut State, pid: usize, place: &Place, value: i64) -> Result<(), Trouble> {
        let cell = self.cell(state, pid, place)?;
        let leaf = self.model.leaf(place.leaf);
        let value = leaf.ty.wrap(value);
        let mut stored = self.stored.borrow_mut();
        let range = stored.entry((leaf.owner.map(|_| pid), place.leaf)).or_insert((value, value));
        *range = (range.0.min(value), range.1.max(value));
        drop(stored);
        match leaf.owner {
            Some(_) => state.processes[pid].cells[cell] = value,
            None => state.globals[cell] = value,
        }
        Ok(())
    }

    /// The place of the channel in a variable among those that exist.
    pub(super) fn channel_number(&self, state: &State, pid: usize, place: &Place) -> Result<usize, Trouble> {
        let number = self.load(state, pid, place)?;
        let origin = self.origin(number).ok_or(Trouble::NoChannel)?;
        state.channels.iter().position(|channel| channel.origin == origin).ok_or(Trouble::Gone)
    }

    /// A channel, or none where it is gone and that does not matter.
    fn unless_gone<T>(&self, found: Result<T, Trouble>) -> Result<Option<T>, Trouble> {
        match found {
            Err(Trouble::Gone) => Ok(None),
            found => found.map(Some),
        }
    }

    /// A channel to receive from, or none where it looks empty because it is gone.
    pub(super) fn to_receive<T>(&self, found: Result<T, Trouble>) -> Result<Option<T>, Trouble> {
        if self.model.notices_receiving_from_gone() { found.map(Some) } else { self.unless_gone(found) }
    }

    pub(super) fn channel<'s>(&self, state: &'s State, pid: usize, place: &Place) -> Result<&'s Channel, Trouble> {
        Ok(&state.channels[self.channel_number(state, pid, place)?])
    }

    /// Whether a message fits the fields it is to be received into.
    pub(super) fn matches(&self, state: &State, pid: usize, message: &[i64], fields: &[Match], timeout: bool) -> Result<bool, Trouble> {
        if message.len() != fields.len() {
            return Err(Trouble::Arity);
        }
        for (value, field) in message.iter().zip(fields) {
            if let Match::Equal(wanted) = field
                && self.value(state, pid, wanted, timeout)? != *value
            {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
