
// Walks of an audit, one in each lane: each keeps one state, which is then looked for in the store. The law of a walk does not depend on the search. The last
// state of a walk that can go no further is the one it keeps.

// The words of a walk between two kernels, each at its own place among those of all walks; then its state. The host sets the position of its stream and the step
// that it keeps.
enum { AUDIT_COUNTER, AUDIT_KEEPS, AUDIT_STEPS, AUDIT_PRIORITIES, AUDIT_PHASE, AUDIT_STATE };
enum { PHASE_WAITS, PHASE_WALKS, PHASE_OVER };
// How a step is drawn: uniformly over the enabled firings, over the set of successors, or over the firings of the higher of two priorities that lead to another
// state (of the lower one if there are none).
enum { LAW_FIRINGS, LAW_STATES, LAW_PRIORITIES };
// Priorities are drawn anew once in so many steps, on average.
enum { CHANGE = 32 };

WF_INLINE bool is_preferred(u64 priorities, u32 rule) { return scramble(priorities ^ scramble(rule + 1)) & 1; }

// One step of a walk. Says whether it goes on.
WF_INLINE bool audit_step(const Params& p, Stream& stream, u64* s, u64& priorities, u64 steps, u64 number, u64& discarded) {
  u64 n[WORDS], t[TIGHT], key[TIGHT];
  pack(s, t);
  if (p.law == LAW_FIRINGS) {
    Drawn drawn = draw_firing(p, stream, s, n, discarded);
    if (drawn.ended == DONE && is_sought(p, drawn.rule)) note_own(p, NOTE_RULE, drawn.rule, 0, steps, number, 0, 0);
    if (drawn.ended != DONE && drawn.ended != DISCARDED) note_own_fault(p, drawn.rule, drawn.ended, steps, number, 0);
    if (is_deadlock(p, drawn, s)) note_own(p, NOTE_DEADLOCK, 0, 0, steps, number, 0, 0);
    if (drawn.moves) {
      copy_words(s, n, WORDS);
      pack(s, key);
      judge_own(p, n, drawn.rule, steps, number, 0, key);
    }
    return drawn.enabled > 0;
  }
  bool by_states = p.law == LAW_STATES;
  if (!by_states && below(stream, CHANGE) == 0) priorities = draw(stream);
  // The successor with the least of all random numbers. By states they are functions of the successors, so that it does not matter how many rules lead to one.
  u64 salt = draw(stream), least = ~0ull;
  copy_words(key, t, TIGHT);
  bool leads = false, preferred = false;
  Made made = each_successor(p, s, t, steps, number, 0, discarded, [&](u32 rule, u64* to, const u64* made_key, bool same) {
    if (!same) judge_own(p, to, rule, steps, number, 0, made_key);
    if (same && !by_states) return;
    bool prefers = !by_states && is_preferred(priorities, rule);
    u64 number_of = scramble(salt ^ (by_states ? hash_address(made_key, 0) : scramble(rule + 1)));
    if (leads && (prefers < preferred || (prefers == preferred && number_of >= least))) return;
    least = number_of;
    preferred = prefers;
    leads = true;
    copy_words(key, made_key, TIGHT);
  });
  if (made.changes) unpack(key, s);
  return made.changes;
}

// Goes on with walks. Where there is room for it, the way of each is written down.
WF_KERNEL(wf_audit) {
  open_tally();
  Sums sums = {0, 0, 0, 0, 0, 0, 0};
  for (u64 at = thread(); at < p.lane_count; at += threads()) {
    u64 *kept = p.lanes + at, all = p.lane_count, number = p.origin + at;
    u64 phase = kept[AUDIT_PHASE * all], keeps = kept[AUDIT_KEEPS * all], steps = kept[AUDIT_STEPS * all], priorities = kept[AUDIT_PRIORITIES * all];
    if (phase == PHASE_OVER) continue;
    Stream stream = stream_of(p, number, kept[AUDIT_COUNTER * all]);
    u64 s[WORDS];
    if (phase == PHASE_WAITS) {
      copy_words(s, p.starts + below(stream, p.start_count) * WORDS, WORDS);
      priorities = draw(stream);
      phase = PHASE_WALKS;
      if (p.capacity > 0) pack(s, p.own);
    } else {
      for (u32 word = 0; word < WORDS; word++) s[word] = kept[(AUDIT_STATE + word) * all];
    }
    for (u64 left = p.rounds; left > 0 && phase == PHASE_WALKS; left--) {
      bool goes_on = audit_step(p, stream, s, priorities, steps, number, sums.discarded);
      steps++;
      sums.steps++;
      if (steps < p.capacity) pack(s, p.own + steps * TIGHT);
      if (!goes_on || steps >= keeps) phase = PHASE_OVER;
    }
    sums.active += phase != PHASE_OVER;
    kept[AUDIT_COUNTER * all] = stream.counter;
    kept[AUDIT_STEPS * all] = steps;
    kept[AUDIT_PRIORITIES * all] = priorities;
    kept[AUDIT_PHASE * all] = phase;
    for (u32 word = 0; word < WORDS; word++) kept[(AUDIT_STATE + word) * all] = s[word];
  }
  add_up(p, sums);
  close_tally(p);
}

// Looks for the states that were kept, or for their representatives.
WF_KERNEL(wf_judge) {
  u64 over = 0, missing = 0;
  for (u64 at = thread(); at < p.lane_count; at += threads()) {
    if (p.lanes[AUDIT_PHASE * p.lane_count + at] != PHASE_OVER) continue;
    u64 s[WORDS], t[TIGHT], placed = 0;
    for (u32 word = 0; word < WORDS; word++) s[word] = p.lanes[(AUDIT_STATE + word) * p.lane_count + at];
    pack(s, t);
    if (SYMMETRIC) represent(s, t);
    over++;
    missing += visit<false>(p, t, placed) != SEEN;
  }
  over = sum_of_lanes(over);
  missing = sum_of_lanes(missing);
  if (lane() == 0 && over) atomic_add(p.counts + ENDED, over);
  if (lane() == 0 && missing) atomic_add(p.counts + STUCK, missing);
}
