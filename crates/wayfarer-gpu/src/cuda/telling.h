
// What all searches count and tell.

// Small tables of counters are summed up in each block.
enum { TALLIED = RULES <= 8192 };
#if defined(__CUDACC__)
extern __shared__ u32 tally[];
WF_INLINE void open_tally() {
  if (TALLIED) {
    for (u32 rule = threadIdx.x; rule < RULES; rule += blockDim.x) tally[rule] = 0;
    meet();
  }
}
WF_INLINE void count_firing(const Params& p, u32 rule) {
  if (TALLIED) atomicAdd(tally + rule, 1u);
  else atomicAdd(p.firings + rule, 1ull);
}
WF_INLINE void close_tally(const Params& p) {
  if (TALLIED) {
    meet();
    for (u32 rule = threadIdx.x; rule < RULES; rule += blockDim.x)
      if (tally[rule]) atomicAdd(p.firings + rule, (u64)tally[rule]);
  }
}
#else
WF_INLINE void open_tally() {}
WF_INLINE void count_firing(const Params& p, u32 rule) { p.firings[rule]++; }
WF_INLINE void close_tally(const Params& p) {}
#endif

// Whether a rule is looked for.
WF_INLINE bool is_sought(const Params& p, u32 rule) { return p.seeks && (p.judged[2 * PROPERTY_WORDS + (rule >> 6)] >> (rule & 63) & 1); }

// Notes properties that are reached.
WF_INLINE void reach(const Params& p, const u64* bits) {
  for (u32 word = 0; word < PROPERTY_WORDS; word++)
    if (bits[word] & ~peek(p.counts + REACHED + word)) atomic_or(p.counts + REACHED + word, bits[word]);
}

// Whether a state without steps is a valid end. The state is copied, because what is handed on by address lies in memory.
WF_INLINE bool is_end(const u64* s) {
  if (!ENDS) return false;
  u64 state[WORDS];
  copy_words(state, s, WORDS);
  return may_end(state);
}
