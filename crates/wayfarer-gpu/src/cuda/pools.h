
// Uniform random search and simplified deep random search, one in each lane, over a V of its own.
//   DEEP 0   each step leads out of a uniform state of V
//   DEEP 1   each step leads out of where the last one led, and out of a uniform state of V where none leads on
//   BY_STATES 1   a step is uniform over the set of successors, and not over the firings
// With `renews` a V that is full is emptied, and the search begins anew.
WF_KERNEL(wf_own) {
  open_tally();
  Sums sums = {0, 0, 0, 0, 0, 0, 0};
  for (u64 number = thread(); number < p.lane_count; number += threads()) {
    Visited v = visited_of(p, number);
    Stream stream = stream_of(p, number, KEPT(KEPT_COUNTER));
    u64 round = KEPT(KEPT_ROUND), begun = KEPT(KEPT_BEGUN), size = KEPT(KEPT_SIZE), at = KEPT(KEPT_AT);
    bool done = KEPT(KEPT_DONE) != 0, noted = false;
    for (u64 left = p.rounds; left > 0 && !done && !noted; left--, round++) {
      if (begun == 0 || size >= p.capacity) {
        if (begun > 0 && !p.renews) {
          done = true;
          break;
        }
        empty(v.index);
        size = at = 0;
        sums.ended += begun > 0;
        begun++;
        for (u64 start = 0; start < p.start_count && size < p.capacity; start++) {
          u64 s[WORDS], t[TIGHT];
          bool fresh;
          copy_words(s, p.starts + start * WORDS, WORDS);
          pack(s, t);
          add_visited(p, v, t, size, NOT_THERE, fresh);
          sums.inserted += fresh;
        }
        if (size == 0 || size >= p.capacity) {
          done = true;
          break;
        }
      }
      u64 place = DEEP && at > 0 ? at - 1 : below(stream, size);
      u64 s[WORDS], t[TIGHT], key[TIGHT];
      copy_words(t, v.states + place * TIGHT, TIGHT);
      copy_words(key, t, TIGHT);
      unpack(t, s);
      bool leads = false, stuck = true;
      u32 drawn_rule = 0;
#if BY_STATES
      // The successor with the least of all random numbers; they are functions of the successors, so that it does not matter how many rules lead to one.
      u64 salt = draw(stream), least = ~0ull;
      Made made = each_successor(p, s, t, round, number, place, sums.discarded, [&](u32 rule, u64* n, const u64* made_key, bool same) {
        u64 number_of = scramble(salt ^ hash_address(made_key, 0));
        if (leads && number_of >= least) return;
        least = number_of;
        leads = true;
        drawn_rule = rule;
        copy_words(key, made_key, TIGHT);
      });
      noted = made.noted;
      stuck = !made.changes;
      if (leads && !stuck) unpack(key, s);
      leads = leads && !stuck;
#else
      u64 n[WORDS];
      Drawn drawn = draw_firing(p, stream, s, n, sums.discarded);
      drawn_rule = drawn.rule;
      stuck = drawn.stuck;
      leads = drawn.moves;
      if (drawn.ended == DONE) {
        if (is_sought(p, drawn_rule)) noted |= note_own(p, NOTE_RULE, drawn_rule, 0, round, number, place, 0);
      } else if (drawn.ended != DISCARDED) {
        noted |= note_own_fault(p, drawn_rule, drawn.ended, round, number, place);
      }
      if (is_deadlock(p, drawn, s)) noted |= note_own(p, NOTE_DEADLOCK, 0, 0, round, number, place, 0);
      if (leads) {
        copy_words(s, n, WORDS);
        pack(s, key);
      }
#endif
      sums.steps++;
      sums.stuck += stuck;
      at = stuck ? 0 : place + 1;
      if (leads) {
        bool fresh;
        u32 reached = add_visited(p, v, key, size, (u32)place, fresh);
        at = (u64)reached + 1;
        sums.inserted += fresh;
        if (fresh) noted |= judge_own(p, s, drawn_rule, round, number, place, key);
      }
    }
    rest(p, number, Kept{stream.counter, round, begun, size, at, done}, sums);
  }
  add_up(p, sums);
  close_tally(p);
}
