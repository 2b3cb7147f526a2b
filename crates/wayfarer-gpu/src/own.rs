//! Searches that lanes make for themselves, a hundred thousand side by side, each over a part of the device's memory: the random searches of the papers, highways,
//! and a swarm of depth-first searches. Kernels do the work; here is only where the lanes' memory lies, and what is read from it.

use crate::levels::{Asked, NOTES, count};
use crate::machine::{Address, DeviceError, Kernel, Machine, Params};
use crate::notes::{Reached, What, what};
use crate::room::Room;
use crate::sketch;
use crate::source::Source;
use std::time::{Duration, Instant};
use wayfarer_space::Word;

/// How long a kernel should take.
const SPAN: Duration = Duration::from_millis(60);
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
    /// What the kernel's text asks for.
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

/// What lanes are asked to do.
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
    /// What it is.
    pub what: What,
    /// The place in the lane's memory.
    place: u64,
    /// The tight successor of the state at that place in which it shows, if it is not that state.
    successor: Option<Vec<Word>>,
}

/// What all lanes did together.
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
    machine: &'m dyn Machine,
    own: Own,
    tight: usize,
    params: Params,
    counts: Vec<u64>,
    firings_at: usize,
    sketch: Vec<u64>,
    taken: Vec<Address>,
    rounds: u64,
    /// Whether a kernel ran.
    ran: bool,
}

impl<'m> Lanes<'m> {
    /// Lanes that begin in start states in the working layout.
    pub fn new(machine: &'m dyn Machine, source: &Source, starts: &[Word], order: &Order, asked: &Asked) -> Result<Self, DeviceError> {
        let (rules, words, tight) = (source.rules as usize, (source.properties as usize).div_ceil(64).max(1), source.tight as u64);
        let firings_at = count::REACHED + words;
        let start_count = (starts.len() / source.words.max(1)) as u64;
        let bytes = order.bytes.min(machine.free());
        let room = Room::divide(order, tight, start_count, bytes).ok_or(DeviceError::Memory { needed: 1 << 24, free: bytes })?;
        let (judged, seeks) = asked.words(words, rules);
        let counts = vec![0; firings_at + rules];
        let sketch = vec![0; sketch::GROUPS];
        let params = Params::default();
        let mut lanes =
            Lanes { machine, own: order.own, tight: source.tight, params, counts, firings_at, sketch, taken: Vec::new(), rounds: 16, ran: false };
        let kept_words = room.lanes * (KEPT + tight);
        let (counts, kept, notes) = (lanes.take(lanes.counts.len() as u64)?, lanes.take(kept_words)?, lanes.take(NOTES * (NOTE as u64 + tight))?);
        let (given, from, groups) = (lanes.take(judged.len() as u64)?, lanes.take(starts.len() as u64)?, lanes.take(sketch::GROUPS as u64)?);
        let own = lanes.take(room.lanes * room.words)?;
        machine.zero(kept, kept_words * 8)?;
        machine.zero(counts, lanes.counts.len() as u64 * 8)?;
        machine.zero(groups, sketch::GROUPS as u64 * 8)?;
        machine.write(given, &judged)?;
        machine.write(from, starts)?;
        lanes.params = Params {
            counts,
            firings: counts.plus(firings_at as u64),
            notes,
            notes_room: NOTES,
            judged: given,
            deadlock: asked.deadlock,
            faults: u64::from(asked.faults),
            seeks,
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
            ..Params::default()
        };
        Ok(lanes)
    }

    fn take(&mut self, words: u64) -> Result<Address, DeviceError> {
        let address = self.machine.allocate(words.max(1) * 8)?;
        self.taken.push(address);
        Ok(address)
    }

    /// How many lanes there are, and how many states find room in each.
    pub fn size(&self) -> (u64, u64) {
        (self.params.lane_count, self.params.capacity)
    }

    /// Bytes of the device's memory that the lanes have.
    pub fn bytes(&self) -> u64 {
        self.params.lane_count * self.params.own_words * 8
    }

    /// Goes on, for at most so many steps of all lanes together, rounded up to one of each; gives what was met, the first first. The ways to it can be read until
    /// the next round.
    pub fn round(&mut self, most: u64) -> Result<Vec<Shown>, DeviceError> {
        let begun = Instant::now();
        let rounds = self.rounds.min(most.div_ceil(self.params.lane_count)).max(1);
        self.machine.write(self.params.counts.plus(count::ACTIVE as u64), &[0])?;
        self.machine.run(Kernel::Own, &Params { rounds, ..self.params }, self.params.lane_count)?;
        self.machine.read(self.params.counts, &mut self.counts)?;
        self.machine.read(self.params.sketch, &mut self.sketch)?;
        self.ran = true;
        let took = begun.elapsed();
        if took < SPAN / 2 && rounds == self.rounds {
            self.rounds = (self.rounds * 2).min(1 << 20);
        } else if took > SPAN * 2 {
            self.rounds = (self.rounds / 2).max(1);
        }
        let noted = self.counts[count::NOTED].min(NOTES) as usize;
        let mut words = vec![0; noted * (NOTE + self.tight)];
        if noted > 0 {
            self.machine.read(self.params.notes, &mut words)?;
            self.machine.write(self.params.counts.plus(count::NOTED as u64), &[0])?;
        }
        let shown = |note: &[u64]| Shown {
            what: what(note[0], note[1]),
            round: note[2],
            lane: note[3],
            place: note[4],
            successor: (note[5] != 0).then(|| note[NOTE..].to_vec()),
        };
        let mut shown: Vec<Shown> = words.chunks_exact(NOTE + self.tight).map(shown).collect();
        shown.sort_by_key(|shown| (shown.round, shown.lane, shown.what));
        Ok(shown)
    }

    /// The tight states on the way to what was met in the last round, from a start state to the one in which it shows; only that one if the lane's memory does not
    /// have the way. None if it has not even that.
    pub fn way(&self, shown: &Shown) -> Result<Option<Vec<Vec<Word>>>, DeviceError> {
        let tight = self.tight as u64;
        let own = self.params.own.plus(shown.lane * self.params.own_words);
        let successor = shown.successor.iter().cloned();
        if shown.place >= self.params.capacity {
            return Ok(shown.successor.clone().map(|state| vec![state]));
        }
        if !self.own.has_parents() {
            let mut words = vec![0; (shown.place as usize + 1) * self.tight];
            self.machine.read(own, &mut words)?;
            return Ok(Some(words.chunks_exact(self.tight).map(<[Word]>::to_vec).chain(successor).collect()));
        }
        let mut way: Vec<Vec<Word>> = successor.collect();
        let mut place = shown.place;
        // A way cannot be longer than the memory, whatever it holds.
        for _ in 0..=self.params.capacity {
            let mut state = vec![0; self.tight];
            self.machine.read(own.plus(place * tight), &mut state)?;
            way.push(state);
            let mut parents = [0];
            self.machine.read(own.plus(self.params.capacity * tight + place / 2), &mut parents)?;
            place = parents[0] >> (place % 2 * 32) & 0xffff_ffff;
            if place >= self.params.capacity {
                break;
            }
        }
        way.reverse();
        Ok(Some(way))
    }

    /// What all lanes did together.
    pub fn did(&self) -> Did {
        let limit = self.counts[count::LIMITED];
        Did {
            steps: self.counts[count::STEPS],
            ended: self.counts[count::ENDED],
            stuck: self.counts[count::STUCK],
            inserted: self.counts[count::INSERTED],
            distinct: sketch::estimate(&self.sketch),
            longest: self.counts[count::LONGEST],
            firings: self.counts[self.firings_at..].to_vec(),
            discarded: self.counts[count::SKIPPED],
            limit: (limit != 0).then(|| ((limit >> 32) as u32 - 1, limit as u32)),
            reached: Reached(self.counts[count::REACHED..self.firings_at].to_vec()),
            done: self.ran && self.counts[count::ACTIVE] == 0,
        }
    }
}

impl Drop for Lanes<'_> {
    fn drop(&mut self) {
        self.taken.iter().for_each(|address| self.machine.release(*address));
    }
}
