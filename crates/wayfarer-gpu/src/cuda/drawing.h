
// Random numbers and random steps, with the generator of the rest of the program.

WF_INLINE u64 scramble(u64 value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ull;
  value = (value ^ value >> 27) * 0x94d049bb133111ebull;
  return value ^ value >> 31;
}
struct Stream {
  u64 key, counter;
};
WF_INLINE u64 draw(Stream& stream) {
  stream.counter += 0x9e3779b97f4a7c15ull;
  return scramble(stream.key ^ scramble(stream.counter));
}
// A number below the bound, all equally likely.
WF_INLINE u64 below(Stream& stream, u64 bound) {
  u64 word = draw(stream);
  if (word * bound < bound) {
    u64 threshold = (0 - bound) % bound;
    while (word * bound < threshold) word = draw(stream);
  }
  return mul_high(word, bound);
}
// The stream of a lane.
WF_INLINE Stream stream_of(const Params& p, u64 number, u64 counter) { return Stream{scramble(p.seed ^ scramble(number + 0x3c6ef372fe94f82bull)), counter}; }

// The rule of this place among those that are enabled.
WF_INLINE u32 nth_rule(const u64* mask, u32 place) {
  u32 rule = 0;
  bool found = false;
#pragma unroll
  for (u32 word = 0; word < MASK_WORDS; word++) {
    u32 ones = count_ones(mask[word]);
    if (!found && place < ones) {
      u64 rest = mask[word];
      for (; place > 0; place--) rest &= rest - 1;
      rule = word * 64 + lowest_one(rest);
      found = true;
    } else if (!found) {
      place -= ones;
    }
  }
  return rule;
}

// Whether no rule leads to another state.
WF_OUTLINE bool stutters(u64* s, const u64* mask, bool faulty) {
  for (u32 rule = 0; rule < RULES; rule++) {
    if (!(mask[rule >> 6] >> (rule & 63) & 1)) continue;
    u64 n[WORDS];
    Scene x;
    copy_words(n, s, WORDS);
    if (faulty && guard_again(n, rule) > TRUE) return false;
    int ended = fire(n, x, rule);
    // A fault and a state that an assumption excludes are elsewhere, too.
    if (ended != DONE) return false;
    for (u32 word = 0; word < WORDS; word++)
      if (n[word] != s[word]) return false;
  }
  return true;
}

// A firing that was drawn.
struct Drawn {
  u32 rule, enabled;
  int ended;     // what it ended with; DISCARDED if nothing is enabled
  bool moves;    // whether it leads to another state
  bool stuck;    // whether no firing does
};

// Fires one of the enabled rules, all equally likely. `n` is where it leads.
WF_INLINE Drawn draw_firing(const Params& p, Stream& stream, u64* s, u64* n, u64& discarded) {
  u64 mask[MASK_WORDS];
  bool faulty = enabled(s, mask);
  Drawn drawn = {0, 0, DISCARDED, false, true};
#pragma unroll
  for (u32 word = 0; word < MASK_WORDS; word++) drawn.enabled += count_ones(mask[word]);
  if (drawn.enabled == 0) return drawn;
  drawn.rule = nth_rule(mask, (u32)below(stream, drawn.enabled));
  drawn.stuck = false;
  Scene x;
  copy_words(n, s, WORDS);
  drawn.ended = fire_asked(n, x, drawn.rule, faulty);
  if (drawn.ended == DISCARDED) {
    discarded++;
    return drawn;
  }
  count_firing(p, drawn.rule);
  if (COVERS) reach(p, x.covered);
  if (drawn.ended != DONE) return drawn;
#pragma unroll
  for (u32 word = 0; word < WORDS; word++) drawn.moves = drawn.moves || n[word] != s[word];
  if (!drawn.moves) {
    u64 state[WORDS], rules[MASK_WORDS];
    copy_words(state, s, WORDS);
    copy_words(rules, mask, MASK_WORDS);
    drawn.stuck = stutters(state, rules, faulty);
  }
  return drawn;
}

// Whether a state from which a firing was drawn is a deadlock.
WF_INLINE bool is_deadlock(const Params& p, const Drawn& drawn, const u64* s) {
  return drawn.stuck && (p.deadlock == 2 || (p.deadlock == 1 && drawn.enabled == 0)) && !is_end(s);
}
