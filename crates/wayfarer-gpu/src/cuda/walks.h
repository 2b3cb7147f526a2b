
// Random walks, one in each lane. A walk can be walked again anywhere, from its lane's number and from where its stream stood when it began. No path is kept.

// The words of a lane between two kernels, each at its own place among those of all lanes; then its state.
enum { LANE_COUNTER, LANE_ORIGIN, LANE_LENGTH, LANE_ROUND, LANE_STATE };
enum { WALK_NOTE = 6 };

// Notes what, about what, which fault, in which round and lane, where the walk began and how many steps lead to where it shows.
WF_OUTLINE bool note_walk(const Params& p, u32 kind, u32 about, u32 fault, u64 round, u64 number, u64 origin, u64 length) {
  if (!is_news(p, kind, about, fault)) return false;
  u64* to = place_of_note(p, kind, about, fault, WALK_NOTE);
  if (to == 0) return true;
  to[2] = round;
  to[3] = number;
  to[4] = origin;
  to[5] = length;
  return true;
}

WF_KERNEL(wf_walk) {
  open_tally();
  u64 steps = 0, ended_walks = 0, stuck_walks = 0, longest = 0, discarded = 0;
  for (u64 number = thread(); number < p.lane_count; number += threads()) {
    u64* kept = p.lanes + number;
    u64 all = p.lane_count;
    Stream stream = stream_of(p, number, kept[LANE_COUNTER * all]);
    u64 origin = kept[LANE_ORIGIN * all], length = kept[LANE_LENGTH * all], round = kept[LANE_ROUND * all];
    bool live = length != 0;
    u64 s[WORDS];
#pragma unroll
    for (u32 word = 0; word < WORDS; word++) s[word] = kept[(LANE_STATE + word) * all];
    for (u64 left = p.rounds; left > 0; left--, round++) {
      if (!live) {
        origin = stream.counter;
        length = 0;
        live = true;
        const u64* start = p.starts + below(stream, p.start_count) * WORDS;
#pragma unroll
        for (u32 word = 0; word < WORDS; word++) s[word] = start[word];
      }
      u64 n[WORDS];
      Drawn drawn = draw_firing(p, stream, s, n, discarded);
      if (drawn.ended == DONE) {
        if (is_sought(p, drawn.rule)) note_walk(p, NOTE_RULE, drawn.rule, 0, round, number, origin, length);
        if (drawn.moves) {
          copy_words(s, n, WORDS);
          u64 told[PROPERTY_WORDS];
          u32 property = 0, fault = 0;
          if (check(s, told, property, fault))
            tell_each(p, told, property, fault, drawn.rule, [&](u32 kind, u32 about, u32 fault) { return note_walk(p, kind, about, fault, round, number, origin, length + 1); });
        }
      } else if (drawn.ended != DISCARDED) {
        if (is_limit(drawn.ended)) meet_limit(p, drawn.rule, drawn.ended);
        else if (p.faults) note_walk(p, NOTE_FAULT, drawn.rule, (u32)(drawn.ended - 2), round, number, origin, length);
      }
      bool stuck = drawn.stuck;
      if (is_deadlock(p, drawn, s)) note_walk(p, NOTE_DEADLOCK, 0, 0, round, number, origin, length);
      steps++;
      length++;
      longest = length > longest ? length : longest;
      stuck_walks += stuck;
      live = !stuck && length < p.restart;
      ended_walks += !live;
      if (!live) length = 0;
    }
    kept[LANE_COUNTER * all] = stream.counter;
    kept[LANE_ORIGIN * all] = origin;
    kept[LANE_LENGTH * all] = length;
    kept[LANE_ROUND * all] = round;
#pragma unroll
    for (u32 word = 0; word < WORDS; word++) kept[(LANE_STATE + word) * all] = s[word];
  }
  u64 sums[4] = {steps, ended_walks, stuck_walks, discarded};
  u32 places[4] = {STEPS, ENDED, STUCK, SKIPPED};
#pragma unroll
  for (u32 k = 0; k < 4; k++) {
    u64 sum = sum_of_lanes(sums[k]);
    if (lane() == 0 && sum) atomic_add(p.counts + places[k], sum);
  }
  atomic_max(p.counts + LONGEST, longest);
  close_tally(p);
}
