
// Random walks, one in each lane. A walk can be walked again anywhere, from its lane's number and from where its stream stood when it began. No path is kept.

// What is kept of a lane between two kernels, each at its own place among those of all lanes; then its state.
enum { LANE_COUNTER, LANE_ORIGIN, LANE_LENGTH, LANE_ROUND, LANE_STATE };
enum { WALK_NOTE = 6 };

// Notes what, about what, which fault, in which round and lane, where the walk began and how many steps lead to where it shows.
WF_OUTLINE void note_walk(const Params& p, u32 kind, u32 about, u32 fault, u64 round, u64 number, u64 origin, u64 length) {
  u64 at = atomic_add(p.counts + NOTED, 1);
  if (at >= p.notes_room) return;
  u64* to = p.notes + at * WALK_NOTE;
  to[0] = (u64)kind << 32 | about;
  to[1] = fault;
  to[2] = round;
  to[3] = number;
  to[4] = origin;
  to[5] = length;
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
    u64 s[WORDS], mask[MASK_WORDS];
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
      bool faulty = enabled(s, mask), stuck = true;
      u32 count = 0;
#pragma unroll
      for (u32 word = 0; word < MASK_WORDS; word++) count += count_ones(mask[word]);
      if (count > 0) {
        u32 rule = nth_rule(mask, (u32)below(stream, count));
        u64 n[WORDS];
        Scene x;
        copy_words(n, s, WORDS);
        zero_words(x.covered, COVER_WORDS);
        int ended = TRUE;
        if (faulty) {
          u64 again[WORDS];
          copy_words(again, s, WORDS);
          ended = guard_again(again, rule);
        }
        if (ended <= TRUE) ended = fire(n, x, rule);
        stuck = false;
        if (ended == DISCARDED) {
          discarded++;
        } else {
          count_firing(p, rule);
          if (COVERS) reach(p, x.covered);
        }
        if (ended == DONE) {
          if (is_sought(p, rule)) note_walk(p, NOTE_RULE, rule, 0, round, number, origin, length);
          bool same = true;
#pragma unroll
          for (u32 word = 0; word < WORDS; word++) same = same && n[word] == s[word];
          if (same) {
            u64 state[WORDS], rules[MASK_WORDS];
            copy_words(state, s, WORDS);
            copy_words(rules, mask, MASK_WORDS);
            stuck = stutters(state, rules, faulty);
          } else {
            copy_words(s, n, WORDS);
            u64 told[PROPERTY_WORDS];
            u32 property = 0, fault = 0;
            if (check(s, told, property, fault)) {
              for (u32 word = 0; word < PROPERTY_WORDS; word++) {
                for (u64 rest = told[word] & ~reachable[word] & p.judged[word]; rest; rest &= rest - 1)
                  note_walk(p, NOTE_PROPERTY, word * 64 + lowest_one(rest), 0, round, number, origin, length + 1);
                for (u64 rest = told[word] & reachable[word] & p.judged[PROPERTY_WORDS + word]; rest; rest &= rest - 1)
                  note_walk(p, NOTE_FOUND, word * 64 + lowest_one(rest), 0, round, number, origin, length + 1);
                told[word] &= reachable[word];
              }
              reach(p, told);
              if (fault && is_limit((int)fault)) atomic_swap_if(p.counts + LIMITED, 0, (u64)(rule + 1) << 32 | (fault - 2));
              else if (fault && p.faults) note_walk(p, NOTE_PROPERTY_FAULT, property, fault - 2, round, number, origin, length + 1);
            }
          }
        } else if (ended != DISCARDED) {
          if (is_limit(ended)) atomic_swap_if(p.counts + LIMITED, 0, (u64)(rule + 1) << 32 | (u32)(ended - 2));
          else if (p.faults) note_walk(p, NOTE_FAULT, rule, (u32)(ended - 2), round, number, origin, length);
        }
      }
      if (stuck && (p.deadlock == 2 || (p.deadlock == 1 && count == 0)) && !is_end(s)) note_walk(p, NOTE_DEADLOCK, 0, 0, round, number, origin, length);
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
