
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
    if (ended == DISCARDED) continue;
    if (ended != DONE) return false;
    for (u32 word = 0; word < WORDS; word++)
      if (n[word] != s[word]) return false;
  }
  return true;
}
