//! Execution of statements.

use super::{Machine, State, Taken, Trouble};
use crate::promela::flow::Transition;
use crate::promela::model::{ActKind, Match, Node, Place, Tree, Value};

/// Statements that a `d_step` may execute.
const FUEL: usize = 100_000;

/// How a statement of a `d_step` ended.
enum Flow {
    On,
    Break,
    Jump(std::sync::Arc<str>, u32),
}

/// A channel, the fields of a message, and statements that follow.
type Reception<'a> = (&'a Place, &'a [Match], Vec<&'a [Node]>);

/// The channel and fields of a transition that begins with a reception, and the rest of its `d_step`, from the inside out.
pub(in crate::promela) fn reception(act: &ActKind) -> Option<Reception<'_>> {
    let mut nodes = match act {
        ActKind::Receive { channel, fields, .. } => return Some((channel, fields, Vec::new())),
        ActKind::Indivisible(nodes) => &nodes[..],
        _ => return None,
    };
    let mut rest = Vec::new();
    loop {
        let (first, after) = nodes.split_first()?;
        rest.insert(0, after);
        match &first.tree {
            Tree::Act(act) => match &act.kind {
                ActKind::Receive { channel, fields, .. } => return Some((channel, fields, rest)),
                _ => return None,
            },
            Tree::Block(inner) | Tree::Atomic(inner) => nodes = inner,
            Tree::Indivisible(inner, _) => nodes = inner,
            _ => return None,
        }
    }
}

impl Machine<'_> {
    /// Takes a transition in all ways in which it can be taken.
    pub(super) fn take(&self, state: &State, pid: usize, number: usize, transition: &Transition, timeout: bool, taken: &mut Vec<Taken>) {
        let mut note = |partner, failed, result| taken.push(Taken { process: pid, transition: number, partner, failed, result });
        if let ActKind::Send { channel, values, .. } = &transition.act.kind {
            match self.channel(state, pid, channel) {
                Err(trouble) => return note(None, false, Err(trouble)),
                Ok(found) if self.model.channels[found.origin.ty].capacity == 0 => {
                    return self.handshake(state, pid, number, transition, channel, values, timeout, taken);
                }
                Ok(_) => {}
            }
        }
        // Most statements that block are found without a copy of the state.
        match self.blocks(state, pid, &transition.act.kind, timeout) {
            Ok(true) => return,
            Ok(false) => {}
            Err(trouble) => return note(None, false, Err(trouble)),
        }
        self.work.set(self.work.get() + 1);
        let mut next = state.clone();
        match self.execute(&mut next, pid, &transition.act.kind, timeout) {
            Ok(None) => {}
            Err(trouble) => note(None, false, Err(trouble)),
            Ok(Some(failed)) => {
                self.arrive(&mut next, pid, transition);
                note(None, failed, Ok(next));
            }
        }
    }

    /// Whether a statement is certainly not executable.
    fn blocks(&self, state: &State, pid: usize, act: &ActKind, timeout: bool) -> Result<bool, Trouble> {
        Ok(match act {
            ActKind::Condition(value) => self.value(state, pid, value, timeout)? == 0,
            ActKind::Receive { channel, .. } => self.to_receive(self.channel(state, pid, channel))?.is_none_or(|channel| channel.messages.is_empty()),
            ActKind::End => pid + 1 != state.processes.len(),
            ActKind::Indivisible(nodes) => match nodes.first().map(|node| &node.tree) {
                Some(Tree::Act(act)) => self.blocks(state, pid, &act.kind, timeout)?,
                _ => false,
            },
            _ => false,
        })
    }

    /// Moves a process to where its transition leads.
    fn arrive(&self, state: &mut State, pid: usize, transition: &Transition) {
        match transition.to {
            Some(to) => state.processes[pid].state = to,
            None => {
                if let Some(process) = state.processes.pop() {
                    state.channels.truncate(process.channels);
                }
            }
        }
        state.control = transition.keeps_control.then_some(pid);
    }

    #[allow(clippy::too_many_arguments)]
    fn handshake(
        &self,
        state: &State,
        pid: usize,
        number: usize,
        sends: &Transition,
        channel: &Place,
        values: &[Value],
        timeout: bool,
        taken: &mut Vec<Taken>,
    ) {
        let Ok(wanted) = self.channel_number(state, pid, channel) else { return };
        let ty = &self.model.channels[state.channels[wanted].origin.ty];
        let mut message = Vec::new();
        for (value, field) in values.iter().zip(&ty.fields) {
            match self.value(state, pid, value, timeout) {
                Ok(value) => message.push(field.wrap(value)),
                Err(trouble) => return taken.push(Taken { process: pid, transition: number, partner: None, failed: false, result: Err(trouble) }),
            }
        }
        // Receivers see the sender where it will be.
        let mut sent = state.clone();
        if let Some(to) = sends.to {
            sent.processes[pid].state = to;
        }
        for other in (0..sent.processes.len()).filter(|other| *other != pid) {
            if !self.provided(&sent, other, timeout) {
                continue;
            }
            let mut escape = None;
            for (theirs, receives) in self.transitions(&sent, other).iter().enumerate() {
                if escape.is_some_and(|escape| escape != receives.escape) {
                    break;
                }
                let Some((channel, fields, rest)) = reception(&receives.act.kind) else { continue };
                if self.channel_number(&sent, other, channel) != Ok(wanted) || self.matches(&sent, other, &message, fields, timeout) != Ok(true) {
                    continue;
                }
                if receives.escape > 0 {
                    escape = Some(receives.escape);
                }
                let mut next = sent.clone();
                let (mut fuel, mut failed) = (FUEL, false);
                let mut result = self.keep_fields(&mut next, other, &message, fields);
                for nodes in rest {
                    result = result.and_then(|()| match self.run_nodes(&mut next, other, nodes, timeout, &mut fuel, &mut failed)? {
                        Flow::On | Flow::Break => Ok(()),
                        Flow::Jump(..) => Err(Trouble::Blocked),
                    });
                }
                let result = result.map(|()| {
                    self.arrive(&mut next, other, receives);
                    next
                });
                taken.push(Taken { process: pid, transition: number, partner: Some((other, theirs)), failed, result });
            }
        }
    }

    fn keep_fields(&self, state: &mut State, pid: usize, message: &[i64], fields: &[Match]) -> Result<(), Trouble> {
        for (value, field) in message.iter().zip(fields) {
            if let Match::Store(place) = field {
                self.store(state, pid, place, *value)?;
            }
        }
        Ok(())
    }

    /// Executes a statement; none where it is not executable, else whether an assertion failed.
    fn execute(&self, state: &mut State, pid: usize, act: &ActKind, timeout: bool) -> Result<Option<bool>, Trouble> {
        match act {
            ActKind::Skip | ActKind::Else | ActKind::Print(_) => {}
            ActKind::Condition(value) => {
                if self.value(state, pid, value, timeout)? == 0 {
                    return Ok(None);
                }
            }
            ActKind::Assign(place, value) => {
                let value = self.value(state, pid, value, timeout)?;
                self.store(state, pid, place, value)?;
            }
            ActKind::Assert(value) => return Ok(Some(self.value(state, pid, value, timeout)? == 0)),
            ActKind::Run { ty, arguments, result, .. } => {
                let mut values = Vec::new();
                for argument in arguments {
                    values.push(self.value(state, pid, argument, timeout)?);
                }
                self.begin_process(state, *ty, &values)?;
                if let Some((place, value)) = result.as_deref() {
                    let value = value.with_created(state.processes.len() as i64 - 1);
                    let value = self.value(state, pid, &value, timeout)?;
                    self.store(state, pid, place, value)?;
                }
            }
            ActKind::End => {
                if pid + 1 != state.processes.len() {
                    return Ok(None);
                }
            }
            ActKind::Send { channel, sorted, values } => return self.send(state, pid, channel, *sorted, values, timeout),
            ActKind::Receive { channel, random, keep, fields } => return self.receive(state, pid, channel, *random, *keep, fields, timeout),
            ActKind::Indivisible(nodes) => {
                if !self.first_executable(state, pid, nodes, timeout)? {
                    return Ok(None);
                }
                let (mut fuel, mut failed) = (FUEL, false);
                return match self.run_nodes(state, pid, nodes, timeout, &mut fuel, &mut failed)? {
                    Flow::On | Flow::Break => Ok(Some(failed)),
                    Flow::Jump(..) => Err(Trouble::Blocked),
                };
            }
        }
        Ok(Some(false))
    }

    fn send(&self, state: &mut State, pid: usize, channel: &Place, sorted: bool, values: &[Value], timeout: bool) -> Result<Option<bool>, Trouble> {
        let number = self.channel_number(state, pid, channel)?;
        let ty = &self.model.channels[state.channels[number].origin.ty];
        // Inside a `d_step` a rendezvous cannot happen.
        if state.channels[number].messages.len() >= ty.capacity as usize {
            return Ok(None);
        }
        if values.len() != ty.fields.len() {
            return Err(Trouble::Arity);
        }
        let mut message = Vec::new();
        for (value, field) in values.iter().zip(&ty.fields) {
            message.push(field.wrap(self.value(state, pid, value, timeout)?));
        }
        let messages = &mut state.channels[number].messages;
        let at = if sorted { messages.iter().position(|other| *other > message).unwrap_or(messages.len()) } else { messages.len() };
        messages.insert(at, message);
        Ok(Some(false))
    }

    #[allow(clippy::too_many_arguments)]
    fn receive(
        &self,
        state: &mut State,
        pid: usize,
        channel: &Place,
        random: bool,
        keep: bool,
        fields: &[Match],
        timeout: bool,
    ) -> Result<Option<bool>, Trouble> {
        let Some(number) = self.to_receive(self.channel_number(state, pid, channel))? else { return Ok(None) };
        let reach = if random { state.channels[number].messages.len() } else { 1 };
        let mut found = None;
        for (at, message) in state.channels[number].messages.iter().take(reach).enumerate() {
            if self.matches(state, pid, message, fields, timeout)? {
                found = Some(at);
                break;
            }
        }
        let Some(at) = found else { return Ok(None) };
        let message = if keep { state.channels[number].messages.get(at).cloned() } else { state.channels[number].messages.remove(at) };
        self.keep_fields(state, pid, &message.unwrap_or_default(), fields)?;
        Ok(Some(false))
    }

    /// Whether a sequence can begin.
    fn first_executable(&self, state: &State, pid: usize, nodes: &[Node], timeout: bool) -> Result<bool, Trouble> {
        match nodes.first().map(|node| &node.tree) {
            Some(Tree::Act(act)) if matches!(act.kind, ActKind::Condition(_) | ActKind::Assign(..)) => {
                Ok(!self.blocks(state, pid, &act.kind, timeout)?)
            }
            Some(Tree::Act(act)) if !matches!(act.kind, ActKind::Else) => {
                let mut copy = state.clone();
                Ok(self.execute(&mut copy, pid, &act.kind, timeout)?.is_some())
            }
            Some(Tree::If(options) | Tree::Do(options)) => {
                for option in options {
                    if self.first_executable(state, pid, option, timeout)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Some(Tree::Block(inner) | Tree::Atomic(inner)) => self.first_executable(state, pid, inner, timeout),
            Some(Tree::Indivisible(inner, _)) => self.first_executable(state, pid, inner, timeout),
            _ => Ok(true),
        }
    }

    fn run_nodes(&self, state: &mut State, pid: usize, nodes: &[Node], timeout: bool, fuel: &mut usize, failed: &mut bool) -> Result<Flow, Trouble> {
        let mut at = 0;
        while let Some(node) = nodes.get(at) {
            at += 1;
            *fuel = fuel.checked_sub(1).ok_or(Trouble::Blocked)?;
            let mut flow = match &node.tree {
                Tree::Act(act) => match self.execute(state, pid, &act.kind, timeout)? {
                    Some(bad) => {
                        *failed |= bad;
                        Flow::On
                    }
                    None => return Err(Trouble::Blocked),
                },
                Tree::Block(inner) | Tree::Atomic(inner) => self.run_nodes(state, pid, inner, timeout, fuel, failed)?,
                Tree::Indivisible(inner, _) => self.run_nodes(state, pid, inner, timeout, fuel, failed)?,
                Tree::If(options) => self.choose(state, pid, options, timeout, fuel, failed)?,
                Tree::Do(options) => loop {
                    *fuel = fuel.checked_sub(1).ok_or(Trouble::Blocked)?;
                    match self.choose(state, pid, options, timeout, fuel, failed)? {
                        Flow::On => {}
                        Flow::Break => break Flow::On,
                        jump => break jump,
                    }
                },
                Tree::Break => Flow::Break,
                Tree::Goto(label) => Flow::Jump(label.name.clone(), label.expansion),
                Tree::Unless(..) => return Err(Trouble::Blocked),
            };
            if let Flow::Jump(name, expansion) = &flow
                && let Some(to) = nodes.iter().position(|node| node.labels.iter().any(|label| label.name == *name && label.expansion == *expansion))
            {
                at = to;
                flow = Flow::On;
            }
            if !matches!(flow, Flow::On) {
                return Ok(flow);
            }
        }
        Ok(Flow::On)
    }

    /// The first option that can begin is taken.
    fn choose(
        &self,
        state: &mut State,
        pid: usize,
        options: &[Vec<Node>],
        timeout: bool,
        fuel: &mut usize,
        failed: &mut bool,
    ) -> Result<Flow, Trouble> {
        let is_else =
            |option: &&Vec<Node>| matches!(option.first().map(|node| &node.tree), Some(Tree::Act(act)) if matches!(act.kind, ActKind::Else));
        for option in options.iter().filter(|option| !is_else(option)).chain(options.iter().filter(is_else)) {
            if self.first_executable(state, pid, option, timeout)? {
                return self.run_nodes(state, pid, option, timeout, fuel, failed);
            }
        }
        Err(Trouble::Blocked)
    }
}
