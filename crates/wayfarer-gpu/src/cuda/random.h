
// Random search: walks that look at all successors of every state on their way, and go on to one of the set of successors. The way lies in the lane's memory,
// as far as there is room.
WF_KERNEL(wf_own) {
  open_tally();
  Sums sums = {0, 0, 0, 0, 0, 0, 0};
  for (u64 number = thread(); number < p.lane_count; number += threads()) {
    u64* way = p.own + number * p.own_words;
    Stream stream = stream_of(p, number, KEPT(KEPT_COUNTER));
    u64 round = KEPT(KEPT_ROUND), begun = KEPT(KEPT_BEGUN), length = KEPT(KEPT_SIZE), live = KEPT(KEPT_AT);
    // The first lanes make one walk more where not all make as many.
    u64 walks = p.searches / p.lane_count + (number < p.searches % p.lane_count);
    bool done = KEPT(KEPT_DONE) != 0, noted = false;
    u64 t[TIGHT];
    for (u32 word = 0; word < TIGHT; word++) t[word] = KEPT(KEPT_STATE + word);
    for (u64 left = p.rounds; left > 0 && !noted; left--, round++) {
      u64 s[WORDS];
      if (!live) {
        done = begun >= walks || p.start_count == 0;
        if (done) break;
        begun++;
        live = 1;
        length = 0;
        copy_words(s, p.starts + below(stream, p.start_count) * WORDS, WORDS);
        pack(s, t);
        if (p.capacity > 0) copy_words(way, t, TIGHT);
        sketch(p, hash_address(t, p.salt));
        sums.inserted++;
      }
      unpack(t, s);
      u64 place = length < p.capacity ? length : ~0ull;
      u64 key[TIGHT], salt = draw(stream), least = ~0ull;
      bool leads = false, shown = false;
      copy_words(key, t, TIGHT);
      Made made = each_successor(p, s, t, round, number, place, sums.discarded, [&](u32 rule, u64* n, const u64* made_key, bool same) {
        u64 hash = hash_address(made_key, p.salt), number_of = scramble(salt ^ hash);
        if (!same) {
          sketch(p, hash);
          shown |= judge_own(p, n, rule, round, number, place, made_key);
        }
        if (leads && number_of >= least) return;
        least = number_of;
        leads = true;
        copy_words(key, made_key, TIGHT);
      });
      noted = made.noted || shown;
      sums.steps++;
      sums.stuck += !made.changes;
      length++;
      sums.longest = length > sums.longest ? length : sums.longest;
      if (made.changes) {
        copy_words(t, key, TIGHT);
        sums.inserted++;
        if (length < p.capacity) copy_words(way + length * TIGHT, t, TIGHT);
      }
      live = made.changes && length < p.restart;
      sums.ended += !live;
    }
    rest(p, number, Kept{stream.counter, round, begun, length, live, done}, sums);
    for (u32 word = 0; word < TIGHT; word++) KEPT(KEPT_STATE + word) = t[word];
  }
  add_up(p, sums);
  close_tally(p);
}
