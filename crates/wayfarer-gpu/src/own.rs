//! Searches that lanes make for themselves, a hundred thousand side by side, each over a part of the device's memory: the random searches of the papers, highways,
//! and a swarm of depth-first searches. Kernels do the work; here is only where the lanes' memory lies, and what is read from it.

use crate::levels::{Asked, count};
use crate::machine::{DeviceError, Kernel, Machine, Params};
use crate::notes::{Reached, What, what};
use crate::room::Room;
use crate::running::Running;
use crate::sketch;
use crate::source::Source;
use wayfarer_space::Word;

/// Words of a note besides the state.
const NOTE: usize = 6;
/// Words that are kept of a lane besides a state.
const KEPT: u64 = 12;

/// A search that a lane makes for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Own {
    /// Uniform random search.
    Uniform {
        /// Whether a step is uniform over the set of successors, and not over the firings.
        by_states: bool,
    },
    /// Simplified deep random search.
    Deep {
        /// The same.
        by_states: bool,
    },
    /// A random walk that looks at all successors.
    Random,
    /// Breadth-first search with a bounded number of states to a level.
    Highway {
        /// Whether a level is drawn uniformly.
        ideal: bool,
    },
    /// Depth-first search in random order over a Bloom filter.
    DepthFirst,
}

impl Own {
    /// The preprocessor definitions that the kernel's text needs.
    pub(crate) fn definitions(self) -> &'static str {
        match self {
            Own::Uniform { by_states: false } => "#undef DEEP\n#undef BY_STATES\n#define DEEP 0\n#define BY_STATES 0\n",
            Own::Uniform { by_states: true } => "#undef DEEP\n#undef BY_STATES\n#define DEEP 0\n#define BY_STATES 1\n",
            Own::Deep { by_states: false } => "#undef DEEP\n#undef BY_STATES\n#define DEEP 1\n#define BY_STATES 0\n",
            Own::Deep { by_states: true } => "#undef DEEP\n#undef BY_STATES\n#define DEEP 1\n#define BY_STATES 1\n",
            Own::Highway { ideal: false } => "#undef IDEAL\n#define IDEAL 0\n",
            Own::Highway { ideal: true } => "#undef IDEAL\n#define IDEAL 1\n",
            Own::Random | Own::DepthFirst => "",
        }
    }

    /// Whether the lane's memory says of each state from where it was reached. Otherwise states lie there in the order of the way.
    pub(crate) fn has_parents(self) -> bool {
        !matches!(self, Own::Random | Own::DepthFirst)
    }
}

/// The parameters of the searches in the lanes.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    /// The search that each makes.
    pub own: Own,
    /// How many lanes there are at most.
    pub lanes: u64,
    /// Bytes of the device's memory for all of them.
    pub bytes: u64,
    /// The most states that a lane holds, if that is given.
    pub capacity: Option<u64>,
    /// The most states of a level.
    pub width: u64,
    /// Whether a search that ended begins anew.
    pub renews: bool,
    /// How many searches all lanes make together, if they do not begin anew.
    pub searches: u64,
    /// The most steps, or levels, of a search.
    pub longest: u64,
    /// The key of the stream from which the lanes' streams are split.
    pub key: u64,
}

/// Something that a lane met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// In which step of the lane.
    pub round: u64,
    /// The number of the lane.
    pub lane: u64,
    /// The finding.
    pub what: What,
    /// The place in the lane's memory.
    place: u64,
    /// The tight successor of the state at that place in which it shows, if it is not that state.
    successor: Option<Vec<Word>>,
}

/// The totals of all lanes.
#[derive(Clone, Debug, Default)]
pub struct Did {
    /// Steps, or states expanded.
    pub steps: u64,
    /// Searches that ended.
    pub ended: u64,
    /// Steps that led nowhere; in a swarm, states that lay too deep to be expanded.
    pub stuck: u64,
    /// States that were new to the lane that visited them.
    pub inserted: u64,
    /// About how many distinct states all lanes met, and the relative standard error.
    pub distinct: (f64, f64),
    /// The longest search.
    pub longest: u64,
    /// How often each rule fired.
    pub firings: Vec<u64>,
    /// Firings that an assumption discarded.
    pub discarded: u64,
    /// A rule and a fault that is a limit of representation.
    pub limit: Option<(u32, u32)>,
    /// Properties that were reached.
    pub reached: Reached,
    /// Whether all lanes are done.
    pub done: bool,
}

/// Lanes that search for themselves.
pub struct Lanes<'m> {
    running: Running<'m>,
    own: Own,
    tight: usize,
    sketch: Vec<u64>,
    /// Whether a kernel ran.
    ran: bool,
}

impl<'m> Lanes<'m> {
    /// Lanes that begin in start states in the working layout.
    pub fn new(machine: &'m dyn Machine, source: &Source, starts: &[Word], order: &Order, asked: &Asked) -> Result<Self, DeviceError> {
        let tight = source.tight as u64;
        let start_count = (starts.len() / source.words.max(1)) as u64;
        let bytes = order.bytes.min(machine.free());
        let room = Room::divide(order, tight, start_count, bytes).ok_or(DeviceError::Memory { needed: 1 << 24, free: bytes })?;
        let mut running = Running::new(machine, source, Kernel::Own, asked, NOTE + source.tight, 16)?;
        let (kept, from) = (running.zeroed(room.lanes * (KEPT + tight))?, running.given(starts)?);
        let (groups, own) = (running.zeroed(sketch::GROUPS as u64)?, running.take(room.lanes * room.words)?);
        running.params = Params {
            starts: from,
            start_count,
            lanes: kept,
            lane_count: room.lanes,
            seed: order.key,
            restart: order.longest,
            own,
            own_words: room.words,
            capacity: room.capacity,
            slots: room.slots,
            width: order.width,
            width_slots: room.width_slots,
            renews: u64::from(order.renews),
            searches: order.searches,
            sketch: groups,
            ..running.params
        };
        Ok(Lanes { running, own: order.own, tight: source.tight, sketch: vec![0; sketch::GROUPS], ran: false })
    }

    /// How many lanes there are, and how many states find room in each.
    pub fn size(&self) -> (u64, u64) {
        (self.running.params.lane_count, self.running.params.capacity)
    }

    /// Bytes of the device's memory that the lanes have.
    pub fn bytes(&self) -> u64 {
        self.running.params.lane_count * self.running.params.own_words * 8
    }

    /// Goes on, for at most so many steps of all lanes together, rounded up to one of each; gives what was met, the first first. The ways to it can be read until
    /// the next round.
    pub fn round(&mut self, most: u64) -> Result<Vec<Shown>, DeviceError> {
        let Params { counts, sketch, .. } = self.running.params;
        self.running.machine.write(counts.plus(count::ACTIVE as u64), &[0])?;
        let notes = self.running.round(most)?;
        self.running.machine.read(sketch, &mut self.sketch)?;
        self.ran = true;
        let shown = |note: &Vec<u64>| Shown {
            what: what(note[0], note[1]),
            round: note[2],
            lane: note[3],
            place: note[4],
            successor: (note[5] != 0).then(|| note[NOTE..].to_vec()),
        };
        let mut shown: Vec<Shown> = notes.iter().map(shown).collect();
        shown.sort_by_key(|shown| (shown.round, shown.lane, shown.what));
        Ok(shown)
    }

    /// The tight states on the way to what was met in the last round, from a start state to the one in which it shows; only that one if the lane's memory does not
    /// have the way. None if it has not even that.
    pub fn way(&self, shown: &Shown) -> Result<Option<Vec<Vec<Word>>>, DeviceError> {
        let (tight, params, machine) = (self.tight as u64, &self.running.params, self.running.machine);
        let own = params.own.plus(shown.lane * params.own_words);
        let successor = shown.successor.iter().cloned();
        if shown.place >= params.capacity {
            return Ok(shown.successor.clone().map(|state| vec![state]));
        }
        if !self.own.has_parents() {
            let mut words = vec![0; (shown.place as usize + 1) * self.tight];
            machine.read(own, &mut words)?;
            return Ok(Some(words.chunks_exact(self.tight).map(<[Word]>::to_vec).chain(successor).collect()));
        }
        let mut way: Vec<Vec<Word>> = successor.collect();
        let mut place = shown.place;
        // A way cannot be longer than the memory, whatever it holds.
        for _ in 0..=params.capacity {
            let mut state = vec![0; self.tight];
            machine.read(own.plus(place * tight), &mut state)?;
            way.push(state);
            let mut parents = [0];
            machine.read(own.plus(params.capacity * tight + place / 2), &mut parents)?;
            place = parents[0] >> (place % 2 * 32) & 0xffff_ffff;
            if place >= params.capacity {
                break;
            }
        }
        way.reverse();
        Ok(Some(way))
    }

    /// The totals of all lanes.
    pub fn did(&self) -> Did {
        let running = &self.running;
        Did {
            steps: running.count(count::STEPS),
            ended: running.count(count::ENDED),
            stuck: running.count(count::STUCK),
            inserted: running.count(count::INSERTED),
            distinct: sketch::estimate(&self.sketch),
            longest: running.count(count::LONGEST),
            firings: running.firings(),
            discarded: running.count(count::SKIPPED),
            limit: running.limit(),
            reached: running.reached(),
            done: self.ran && running.count(count::ACTIVE) == 0,
        }
    }
}
