
// Counters and reports of all searches.

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

// Whether something is noted: always, or, if each thing is noted once, when it is met for the first time. Faults count as the same whichever rule meets them.
// A table that is full forgets none: what finds no place in it is noted.
WF_OUTLINE bool is_news(const Params& p, u32 kind, u32 about, u64 fault) {
  if (p.known == 0) return true;
  if (kind == NOTE_FAULT) about = 0;
  if (kind == NOTE_RULE) fault = 0;
  u64 key = (u64)kind << 60 | (u64)(about & 0xfffffff) << 32 | (u32)fault;
  u64 at = key * 0x9e3779b97f4a7c15ull >> 51;
  for (u32 probe = 0; probe < KNOWN; probe++, at = (at + 1) & (KNOWN - 1)) {
    u64 found = peek(p.known + at);
    if (found == 0) found = atomic_swap_if(p.known + at, 0, key);
    if (found == 0) return true;
    if (found == key) return false;
  }
  return true;
}

// A place for a note of so many words, whose first two are written; none if there is no room.
WF_INLINE u64* place_of_note(const Params& p, u32 kind, u32 about, u64 fault, u32 words) {
  u64 at = atomic_add(p.counts + NOTED, 1);
  if (at >= p.notes_room) return 0;
  u64* to = p.notes + at * words;
  to[0] = (u64)kind << 32 | about;
  to[1] = fault;
  return to;
}

// The first firing that meets a limit is remembered.
WF_INLINE void meet_limit(const Params& p, u32 rule, int fault) { atomic_swap_if(p.counts + LIMITED, 0, (u64)(rule + 1) << 32 | (u32)(fault - 2)); }

// Tells what a state shows: properties that fail or are reached, and the fault of one that could not be judged. `note` is given what, about which property and
// which fault, and says whether it was noted.
template <class Note>
WF_INLINE bool tell_each(const Params& p, u64* told, u32 property, u32 fault, u32 rule, Note note) {
  bool noted = false;
  for (u32 word = 0; word < PROPERTY_WORDS; word++) {
    for (u64 rest = told[word] & ~reachable[word] & p.judged[word]; rest; rest &= rest - 1) noted |= note(NOTE_PROPERTY, word * 64 + lowest_one(rest), 0u);
    told[word] &= reachable[word];
    for (u64 rest = told[word] & p.judged[PROPERTY_WORDS + word]; rest; rest &= rest - 1) noted |= note(NOTE_FOUND, word * 64 + lowest_one(rest), 0u);
  }
  reach(p, told);
  if (fault && is_limit((int)fault)) meet_limit(p, rule, (int)fault);
  else if (fault && p.faults) noted |= note(NOTE_PROPERTY_FAULT, property, fault - 2);
  return noted;
}

// Fires a rule that is enabled, in place. One whose guard may have met a fault is asked again.
WF_INLINE int fire_asked(u64* n, Scene& x, u32 rule, bool asks_again) {
  zero_words(x.covered, COVER_WORDS);
  int ended = TRUE;
  if (asks_again) {
    u64 again[WORDS];
    copy_words(again, n, WORDS);
    ended = guard_again(again, rule);
  }
  return ended <= TRUE ? fire(n, x, rule) : ended;
}
