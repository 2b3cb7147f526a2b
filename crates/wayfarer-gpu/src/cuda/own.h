
// Many small searches side by side, one in each lane, each with memory of its own: the states it visited, or the way it went. What a search meets shows in a
// state to which the lane's memory still has the way, so a lane that noted something rests until the host has read it.

// The words of a lane between two kernels, each at its own place among those of all lanes.
enum { KEPT_COUNTER, KEPT_ROUND, KEPT_BEGUN, KEPT_SIZE, KEPT_AT, KEPT_FIRST, KEPT_LAST, KEPT_CHOSEN, KEPT_CONSIDERED, KEPT_DEPTH, KEPT_SALT, KEPT_DONE, KEPT_STATE };
#define KEPT(what) p.lanes[(u64)(what) * p.lane_count + number]

enum { OWN_NOTE = 6 };
enum { NOT_THERE = 0xffffffffu };

// Notes what, about what, which fault, and where: after so many rounds of a lane, in a state at a place of the lane's memory, or in a successor of it.
WF_OUTLINE bool note_own(const Params& p, u32 kind, u32 about, u32 fault, u64 round, u64 number, u64 place, const u64* successor) {
  if (!is_news(p, kind, about, fault)) return false;
  u64* to = place_of_note(p, kind, about, fault, OWN_NOTE + TIGHT);
  if (to == 0) return true;
  to[2] = round;
  to[3] = number;
  to[4] = place;
  to[5] = successor != 0;
  for (u32 word = 0; word < TIGHT; word++) to[OWN_NOTE + word] = successor ? successor[word] : 0;
  return true;
}

// The same for a fault. Says whether something was noted.
WF_OUTLINE bool note_own_fault(const Params& p, u32 rule, int fault, u64 round, u64 number, u64 place) {
  if (is_limit(fault)) meet_limit(p, rule, fault);
  else if (p.faults) return note_own(p, NOTE_FAULT, rule, (u32)(fault - 2), round, number, place, 0);
  return false;
}

WF_OUTLINE bool tell_own(const Params& p, u64* told, u32 property, u32 fault, u32 rule, u64 round, u64 number, u64 place, const u64* t) {
  return tell_each(p, told, property, fault, rule, [&](u32 kind, u32 about, u32 fault) { return note_own(p, kind, about, fault, round, number, place, t); });
}

// Judges a successor of the state at a place. Says whether something was noted.
WF_INLINE bool judge_own(const Params& p, u64* n, u32 rule, u64 round, u64 number, u64 place, const u64* t) {
  u64 told[PROPERTY_WORDS];
  u32 property = 0, fault = 0;
  if (!check(n, told, property, fault)) return false;
  u64 shown[PROPERTY_WORDS], state[TIGHT];
  copy_words(shown, told, PROPERTY_WORDS);
  copy_words(state, t, TIGHT);
  return tell_own(p, shown, property, fault, rule, round, number, place, state);
}

// The results of all firings of a state.
struct Made {
  bool any, changes, failed, noted;
};

// Fires all enabled rules of a state, and shows what each leads to: the rule, the state, its tight form, and whether it is the state itself.
// Whoever keeps one of the successors begins with a value for it. A compiler for GPUs (ptxas 12.9 and 13.0) takes words that are not set before the loop for those of the
// last successor, whichever one was kept, and so makes states of two halves that do not belong together.
template <class Visit>
WF_INLINE Made each_successor(const Params& p, u64* s, const u64* t, u64 round, u64 number, u64 place, u64& discarded, Visit visit) {
  u64 mask[MASK_WORDS];
  bool faulty = enabled(s, mask);
  Made made = {false, false, false, false};
  for (u32 word = 0; word < MASK_WORDS; word++) {
    for (u64 rest = mask[word]; rest; rest &= rest - 1) {
      u32 rule = word * 64 + lowest_one(rest);
      u64 n[WORDS], key[TIGHT];
      Scene x;
      made.any = true;
      copy_words(n, s, WORDS);
      int ended = fire_asked(n, x, rule, faulty);
      if (ended == DISCARDED) {
        discarded++;
        // The excluded state is another one, so this is no deadlock.
        made.failed = true;
        continue;
      }
      count_firing(p, rule);
      if (COVERS) reach(p, x.covered);
      if (ended != DONE) {
        made.failed = true;
        made.noted |= note_own_fault(p, rule, ended, round, number, place);
        continue;
      }
      if (is_sought(p, rule)) made.noted |= note_own(p, NOTE_RULE, rule, 0, round, number, place, 0);
      pack(n, key);
      bool same = true;
      for (u32 k = 0; k < TIGHT; k++) same = same && key[k] == t[k];
      made.changes |= !same;
      visit(rule, n, key, same);
    }
  }
  if ((p.deadlock == 1 ? !made.any : p.deadlock == 2 && !made.changes && !made.failed) && !is_end(s))
    made.noted |= note_own(p, NOTE_DEADLOCK, 0, 0, round, number, place, 0);
  return made;
}

// Counts distinct states roughly (HyperLogLog): the rarest hash among those of each group.
WF_INLINE void sketch(const Params& p, u64 hash) {
  u64* group = p.sketch + (hash >> 50);
  u64 rank = lowest_one(hash | 1ull << 50) + 1;
  if (peek(group) < rank) atomic_max(group, rank);
}

// An index of states by their hash: their places, plus one, and eight bits of hash.
struct Index {
  u32* slots;
  u64 mask;
};
WF_INLINE u32 look_up(const Index& index, u64 hash, const u64* states, const u64* t, u64& slot) {
  u32 tag = (u32)(hash >> 56) << 24;
  for (slot = hash & index.mask;; slot = (slot + 1) & index.mask) {
    u32 found = index.slots[slot];
    if (found == 0) return NOT_THERE;
    if (((found ^ tag) >> 24) != 0) continue;
    u32 place = (found & 0xffffff) - 1;
    bool same = true;
    for (u32 word = 0; word < TIGHT && same; word++) same = states[(u64)place * TIGHT + word] == t[word];
    if (same) return place;
  }
}
WF_INLINE void enter(const Index& index, u64 slot, u64 hash, u64 place) { index.slots[slot] = (u32)(hash >> 56) << 24 | (u32)(place + 1); }
WF_INLINE void empty(const Index& index) {
  for (u64 slot = 0; slot <= index.mask; slot++) index.slots[slot] = 0;
}

// The states that a lane visited, in the order in which they came, each with the place of the one it was reached from.
struct Visited {
  u64* states;
  u32* parents;
  Index index;
};
WF_INLINE Visited visited_of(const Params& p, u64 number) {
  u64* own = p.own + number * p.own_words;
  u64* parents = own + p.capacity * TIGHT;
  u64* slots = parents + (p.capacity + 1) / 2;
  return Visited{own, (u32*)parents, Index{(u32*)slots, p.slots - 1}};
}
// Adds a state. Gives its place, and says whether it is new.
WF_INLINE u32 add_visited(const Params& p, Visited& v, const u64* t, u64& size, u32 parent, bool& fresh) {
  u64 hash = hash_address(t, p.salt), slot;
  u32 place = look_up(v.index, hash, v.states, t, slot);
  fresh = place == NOT_THERE;
  if (!fresh) return place;
  enter(v.index, slot, hash, size);
  copy_words(v.states + size * TIGHT, t, TIGHT);
  v.parents[size] = parent;
  sketch(p, hash);
  return (u32)size++;
}

// Counts of all lanes of a kernel together.
struct Sums {
  u64 steps, ended, stuck, discarded, inserted, active, longest;
};
WF_INLINE void add_up(const Params& p, const Sums& sums) {
  u64 values[6] = {sums.steps, sums.ended, sums.stuck, sums.discarded, sums.inserted, sums.active};
  u32 places[6] = {STEPS, ENDED, STUCK, SKIPPED, INSERTED, ACTIVE};
  for (u32 k = 0; k < 6; k++) {
    u64 sum = sum_of_lanes(values[k]);
    if (lane() == 0 && sum) atomic_add(p.counts + places[k], sum);
  }
  atomic_max(p.counts + LONGEST, sums.longest);
}

// The values of a lane that all searches keep until the next kernel.
struct Kept {
  u64 counter, round, begun, size, at;
  bool done;
};
WF_INLINE void rest(const Params& p, u64 number, const Kept& kept, Sums& sums) {
  sums.active += !kept.done;
  KEPT(KEPT_COUNTER) = kept.counter;
  KEPT(KEPT_ROUND) = kept.round;
  KEPT(KEPT_BEGUN) = kept.begun;
  KEPT(KEPT_SIZE) = kept.size;
  KEPT(KEPT_AT) = kept.at;
  KEPT(KEPT_DONE) = kept.done;
}
