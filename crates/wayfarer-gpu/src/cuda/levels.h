
// Breadth-first search, a part of a level at a time. A warp takes as many sources as it has lanes. Each lane asks all guards of its source, and then all
// lanes fire one enabled rule after another, so that what costs most, the way to the store, is gone together.

// Notes something: what, about which property or rule, which fault, and a state.
WF_OUTLINE bool note(const Params& p, u32 kind, u32 about, u64 fault, const u64* t) {
  if (!is_news(p, kind, about, fault)) return false;
  u64* to = place_of_note(p, kind, about, fault, TIGHT + 2);
  if (to) copy_words(to + 2, t, TIGHT);
  return true;
}

WF_OUTLINE void note_fault(const Params& p, u32 rule, u32 outcome, int fault, const u64* t) {
  if (is_limit(fault)) meet_limit(p, rule, fault);
  else if (p.faults) note(p, NOTE_FAULT, rule, (u64)outcome << 32 | (u32)(fault - 2), t);
}

WF_OUTLINE void tell(const Params& p, u64* told, u32 property, u32 fault, u32 rule, const u64* t) {
  tell_each(p, told, property, fault, rule, [&](u32 kind, u32 about, u32 fault) { return note(p, kind, about, fault, t); });
}

// The entry of a state in a level: the state itself, or its place if it lies in the arena. A tag may follow.
#if STORE == 2
enum { ENTRY = 1 };
WF_INLINE const u64* state_of(const Params& p, const u64* entry) { return p.arena + entry[0] * TIGHT; }
WF_INLINE void write_entry(u64* to, const u64* t, u64 placed) { to[0] = placed; }
#else
enum { ENTRY = TIGHT };
WF_INLINE const u64* state_of(const Params& p, const u64* entry) { return entry; }
WF_INLINE void write_entry(u64* to, const u64* t, u64 placed) { copy_words(to, t, TIGHT); }
#endif

// Judges a state that is new.
WF_INLINE void judge(const Params& p, u64* s, u32 rule, const u64* t) {
  u64 told[PROPERTY_WORDS];
  u32 property = 0, fault = 0;
  if (check(s, told, property, fault)) {
    // Words that are passed by address must lie in memory; the originals need not.
    u64 shown[PROPERTY_WORDS], state[TIGHT];
    copy_words(shown, told, PROPERTY_WORDS);
    copy_words(state, t, TIGHT);
    tell(p, shown, property, fault, rule, state);
  }
}

WF_INLINE u64 mask_word(const u64* mask, u32 at) {
  if (MASK_WORDS > 4) return mask[at];
  u64 found = 0;
#pragma unroll
  for (u32 word = 0; word < MASK_WORDS; word++)
    if (word == at) found = mask[word];
  return found;
}

// Appends the states of the lanes that have one to the next level.
WF_INLINE void append(const Params& p, u64* out, bool has, const u64* t, u64 placed, u64 tag) {
  u32 some = votes(has);
  if (some == 0) return;
  u64 base = 0;
  if (lane() == 0) base = atomic_add(p.counts + FOUND, count_ones(some));
  base = from_lane(base, 0);
  if (!has) return;
  u64 at = base + count_ones(some & ((1u << lane()) - 1));
  if (at >= p.room) {
    atomic_add(p.counts + SPILLED, 1);
    return;
  }
  u64* to = out + at * p.out_stride;
  write_entry(to, t, placed);
  if (p.out_stride > ENTRY) to[ENTRY] = tag;
}

// Exchanges a level that is done for the next one, if there is one that is narrow enough and nothing is to be told. One block alone does that.
WF_INLINE bool goes_on(const Params& p, u64 levels, u64& end) {
  meet();
  u64 found = peek(p.counts + FOUND);
  bool told = peek(p.counts + NOTED) || peek(p.counts + NO_ROOM) || peek(p.counts + SPILLED) || peek(p.counts + LIMITED);
  bool further = found > 0 && found <= p.narrow && !told && levels < p.levels;
  meet();
  if (thread() == 0) {
    p.counts[LEVELS_DONE] = levels;
    if (further) {
      p.counts[FOUND_BEFORE] += found;
      p.counts[FOUND] = p.counts[NEXT] = 0;
    }
  }
  publish();
  meet();
  end = found;
  return further;
}

// The result of a firing that led to a state that is passed through.
#define PASSED (-1)

#if PASSES
// Passing through states: those in which something is left to fire, one after the other. One whose last rule fires makes room for the next, so that only choices
// take room.
enum { FRAMES = WORDS + MASK_WORDS >= 256 ? 8 : WORDS + MASK_WORDS >= 64 ? 16 : 48, LONGEST_PATH = 10000, MOST_PASSED = 1000000 };
struct Path {
  u32 frames, first, outcome, length, passed;
  bool within;
  u64 states[FRAMES][WORDS], masks[FRAMES][MASK_WORDS];
  u32 lengths[FRAMES];
  bool faulty[FRAMES];
};
WF_INLINE void begin_path(Path& path, u32 rule) {
  path.first = rule;
  path.outcome = path.length = path.passed = 0;
  path.within = false;
}
// The next rule of the last state, which is copied.
WF_OUTLINE u32 next_on(Path& path, u64* n, bool& faulty) {
  u32 last = path.frames - 1, word = 0;
  while (path.masks[last][word] == 0) word++;
  u32 rule = word * 64 + lowest_one(path.masks[last][word]);
  path.masks[last][word] &= path.masks[last][word] - 1;
  for (u32 at = 0; at < WORDS; at++) n[at] = path.states[last][at];
  faulty = path.faulty[last];
  path.length = path.lengths[last];
  u64 left = 0;
  for (u32 at = 0; at < MASK_WORDS; at++) left |= path.masks[last][at];
  if (left == 0) path.frames--;
  return rule;
}
// Goes on where a firing led to a state that is passed through. One in which nothing is enabled is no longer passed through.
WF_OUTLINE int pass_on(const Params& p, Path& path, u64* n) {
  path.within = true;
  path.length++;
  path.passed++;
  if (path.length > LONGEST_PATH || path.passed > MOST_PASSED) {
    path.frames = 0;
    return ENDLESS;
  }
  u64 mask[MASK_WORDS], some = 0;
  bool faulty = enabled(n, mask);
  for (u32 at = 0; at < MASK_WORDS; at++) some |= mask[at];
  if (some == 0) {
    n[PASSING_WORD] &= ~PASSING_BITS;
    return DONE;
  }
  if (path.frames == FRAMES) {
    // There is no room for another choice: the run must not end as if everything had been visited.
    atomic_add(p.counts + SPILLED, 1);
    return PASSED;
  }
  for (u32 at = 0; at < WORDS; at++) path.states[path.frames][at] = n[at];
  for (u32 at = 0; at < MASK_WORDS; at++) path.masks[path.frames][at] = mask[at];
  path.lengths[path.frames] = path.length;
  path.faulty[path.frames] = faulty;
  path.frames++;
  return PASSED;
}
WF_INLINE int pass(const Params& p, Path& path, u64* n, int ended) {
  if (ended == DONE && (n[PASSING_WORD] & PASSING_BITS)) {
    u64 state[WORDS];
    copy_words(state, n, WORDS);
    ended = pass_on(p, path, state);
    copy_words(n, state, WORDS);
  } else if (ended == DISCARDED && path.within && (path.frames > 0 || path.outcome > 0)) {
    // Only a path that leads nowhere at all counts as discarded.
    return PASSED;
  }
  return ended;
}
#endif

// Expands sources, and those that were found with them as long as levels are narrow.
WF_KERNEL(wf_expand) {
  open_tally();
  u64 discarded = 0, end = p.end;
  const u64* in = p.in;
  u64* out = p.out;
  for (u64 levels = 1;; levels++) {
  for (;;) {
    u64 base = 0;
    if (lane() == 0) base = peek(p.counts + FOUND) + p.reserve > p.room ? ~0ull : atomic_add(p.counts + NEXT, WF_LANES);
    base = from_lane(base, 0);
    if (base >= end) break;
    u64 at = base + lane(), tag = 0;
    u64 s[WORDS], t[TIGHT], mask[MASK_WORDS];
    bool active = at < end, faulty = false, changes = false, failed = false, any = false;
    zero_words(mask, MASK_WORDS);
    if (active) {
      const u64* entry = in + at * p.in_stride;
      copy_words(t, state_of(p, entry), TIGHT);
      if (p.out_stride > ENTRY) tag = p.in_stride > ENTRY ? entry[ENTRY] : p.origin + at;
      unpack(t, s);
      faulty = enabled(s, mask);
    }
    u32 word = 0;
    u64 rest = mask[0];
#if PASSES
    Path path;
    path.frames = 0;
#endif
    for (;;) {
      while (rest == 0 && word + 1 < MASK_WORDS) rest = mask_word(mask, ++word);
      bool has = rest != 0, fresh = false;
#if PASSES
      has = has || path.frames > 0;
#endif
      if (votes(has) == 0) break;
      u64 n[WORDS], key[TIGHT], placed = 0;
      if (has) {
        u32 rule, outcome = 0;
        bool asks_again = faulty;
#if PASSES
        if (path.frames > 0) {
          rule = next_on(path, n, asks_again);
        } else
#endif
        {
          rule = word * 64 + lowest_one(rest);
          rest &= rest - 1;
          copy_words(n, s, WORDS);
#if PASSES
          begin_path(path, rule);
#endif
        }
        any = true;
        Scene x;
        int ended = fire_asked(n, x, rule, asks_again);
#if PASSES
        // A path counts for the rule that it began with, and is numbered among those that began with it.
        ended = pass(p, path, n, ended);
        rule = path.first;
        outcome = path.outcome;
        path.outcome += ended != PASSED && ended != DISCARDED;
#endif
        if (ended == DISCARDED) {
          discarded++;
          // The excluded state is another one, so this is no deadlock.
          failed = true;
        } else if (ended != PASSED) {
          count_firing(p, rule);
          if (COVERS) reach(p, x.covered);
          if (ended == DONE) {
            if (is_sought(p, rule)) {
              u64 state[TIGHT];
              copy_words(state, t, TIGHT);
              note(p, NOTE_RULE, rule, (u64)outcome << 32, state);
            }
            pack(n, key);
            bool same = true;
#pragma unroll
            for (u32 k = 0; k < TIGHT; k++) same = same && key[k] == t[k];
            if (same && PROFILES) insert(p, key, placed);
            if (!same) {
              changes = true;
              if (SYMMETRIC) represent(n, key);
              u32 visit = insert(p, key, placed);
              fresh = visit == FRESH;
              if (visit == FULL) atomic_add(p.counts + NO_ROOM, 1);
              if (fresh) judge(p, n, rule, key);
            }
          } else {
            failed = true;
            u64 state[TIGHT];
            copy_words(state, t, TIGHT);
            note_fault(p, rule, outcome, ended, state);
          }
        } else if (COVERS) {
          reach(p, x.covered);
        }
      }
      append(p, out, fresh, key, placed, tag);
    }
    if (active && (p.deadlock == 1 ? !any : p.deadlock == 2 && !changes && !failed) && !is_end(s)) {
      u64 state[TIGHT];
      copy_words(state, t, TIGHT);
      note(p, NOTE_DEADLOCK, 0, 0, state);
    }
  }
  if (p.levels <= 1 || !goes_on(p, levels, end)) break;
  u64* done = (u64*)in;
  in = out;
  out = done;
  }
  discarded = sum_of_lanes(discarded);
  if (lane() == 0 && discarded) atomic_add(p.counts + SKIPPED, discarded);
  close_tally(p);
}

// Brings in states that are given, and judges those that are new.
WF_KERNEL(wf_start) {
  for (u64 at = thread(); at < p.end; at += threads()) {
    u64 t[TIGHT], s[WORDS], placed = 0;
    for (u32 word = 0; word < TIGHT; word++) t[word] = p.in[at * p.in_stride + word];
    unpack(t, s);
    if (SYMMETRIC) represent(s, t);
    u32 visit = insert(p, t, placed);
    if (visit == FULL) atomic_add(p.counts + NO_ROOM, 1);
    if (visit != FRESH) continue;
    judge(p, s, 0, t);
    u64 place = atomic_add(p.counts + FOUND, 1);
    if (place >= p.room) {
      atomic_add(p.counts + SPILLED, 1);
      continue;
    }
    write_entry(p.out + place * p.out_stride, t, placed);
  }
}

// Looks for a state in a level, and gives its tag.
WF_KERNEL(wf_find) {
  for (u64 at = thread(); at < p.end; at += threads()) {
    const u64 *entry = p.in + at * p.in_stride, *state = state_of(p, entry);
    bool same = true;
    for (u32 word = 0; word < TIGHT && same; word++) same = state[word] == p.goal[word];
    if (same) p.counts[GOAL_AT] = (p.in_stride > ENTRY ? entry[ENTRY] : p.origin + at) + 1;
  }
}

// Moves the states of a table to a larger one.
WF_KERNEL(wf_grow) {
#if STORE == 0
  for (u64 at = thread(); at < p.end; at += threads()) {
    u64 t[TIGHT], placed;
    if (p.in[at] == 0) continue;
    t[0] = p.in[at] & ~TAKEN;
    if (insert(p, t, placed) == FULL) atomic_add(p.counts + NO_ROOM, 1);
  }
#elif STORE == 1
  for (u64 at = thread() * 2; at < p.end; at += threads() * 2) {
    u64 t[2] = {p.in[at], p.in[at + 1] & ~TAKEN}, placed;
    if (p.in[at + 1] == 0) continue;
    if (insert(p, t, placed) == FULL) atomic_add(p.counts + NO_ROOM, 1);
  }
#elif STORE == 2
  for (u64 at = thread(); at < p.end; at += threads())
    if (p.in[at] != 0 && !move_place(p, p.in[at])) atomic_add(p.counts + NO_ROOM, 1);
#endif
}

// Gives up half of the bits of all fingerprints: eight words of a bucket become sixteen half words, eight of them free. The sequence of buckets stays the same.
WF_KERNEL(wf_halve) {
#if STORE == 4
  for (u64 at = thread(); at < p.buckets; at += threads()) {
    u64* bucket = p.table + at * 8;
    u64 halves[4] = {0, 0, 0, 0};
    u32 kept = 0;
    for (u32 slot = 0; slot < 8; slot++) {
      if (bucket[slot] == 0) continue;
      u64 half = bucket[slot] >> 32;
      if (half == 0) half = 1;
      halves[kept / 2] |= half << (kept % 2 * 32);
      kept++;
    }
    for (u32 word = 0; word < 8; word++) bucket[word] = word < 4 ? halves[word] : 0;
  }
#endif
}

// Counts the states that were visited at least 2^i and fewer than 2^(i+1) times, for each i.
WF_KERNEL(wf_profile) {
#if PROFILES
  for (u64 at = thread(); at < p.end; at += threads()) {
    u32 count = p.visits[at], bin = 0;
    if (count == 0) continue;
    while (count >>= 1) bin++;
    atomic_add(p.out + bin, 1);
  }
#endif
}
