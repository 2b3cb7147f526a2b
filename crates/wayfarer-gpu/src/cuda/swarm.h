
// A swarm: depth-first searches with successors in random order, one in each lane, each over a Bloom filter, a hash function and a stack of its own. With
// `renews` a search that ended begins anew with another hash function.
WF_INLINE bool is_marked(const u64* filter, u64 mask, const u64* t, u64 salt, bool marks) {
  u64 hash = hash_second(t, salt);
  u64 bits = 1ull << (hash & 63) | 1ull << (hash >> 6 & 63) | 1ull << (hash >> 12 & 63);
  u64* word = (u64*)filter + (hash >> 18 & mask);
  u64 found = *word;
  if (marks) *word = found | bits;
  return (found & bits) == bits;
}

WF_KERNEL(wf_own) {
  open_tally();
  Sums sums = {0, 0, 0, 0, 0, 0, 0};
  for (u64 number = thread(); number < p.lane_count; number += threads()) {
    u64 *stack = p.own + number * p.own_words, *filter = stack + p.capacity * TIGHT, mask = p.slots - 1;
    Stream stream = stream_of(p, number, KEPT(KEPT_COUNTER));
    u64 round = KEPT(KEPT_ROUND), begun = KEPT(KEPT_BEGUN), size = KEPT(KEPT_SIZE), start = KEPT(KEPT_AT), salt = KEPT(KEPT_SALT), leaves = KEPT(KEPT_CHOSEN);
    bool done = KEPT(KEPT_DONE) != 0, noted = false;
    for (u64 left = p.rounds; left > 0 && !done && !noted; left--, round++) {
      u64 s[WORDS], t[TIGHT], key[TIGHT];
      // A state whose way the host has read is left.
      size -= leaves;
      leaves = 0;
      while (size == 0 && !done) {
        if (begun == 0 || start >= p.start_count) {
          done = p.start_count == 0 || (begun > 0 && !p.renews);
          if (done) break;
          sums.ended += begun > 0;
          begun++;
          start = 0;
          salt = draw(stream);
          for (u64 word = 0; word <= mask; word++) filter[word] = 0;
        }
        copy_words(s, p.starts + start * WORDS, WORDS);
        pack(s, t);
        start++;
        if (is_marked(filter, mask, t, salt, true)) continue;
        copy_words(stack, t, TIGHT);
        sketch(p, hash_address(t, p.salt));
        sums.inserted++;
        size = 1;
      }
      if (done) break;
      copy_words(t, stack + (size - 1) * TIGHT, TIGHT);
      unpack(t, s);
      u64 order = draw(stream), least = ~0ull;
      u32 drawn_rule = 0;
      bool leads = false;
      copy_words(key, t, TIGHT);
      Made made = each_successor(p, s, t, round, number, size - 1, sums.discarded, [&](u32 rule, u64* n, const u64* made_key, bool same) {
        u64 number_of = scramble(order ^ hash_address(made_key, 0));
        if (same || (leads && number_of >= least) || is_marked(filter, mask, made_key, salt, false)) return;
        least = number_of;
        leads = true;
        drawn_rule = rule;
        copy_words(key, made_key, TIGHT);
      });
      noted = made.noted;
      sums.steps++;
      if (leads) {
        is_marked(filter, mask, key, salt, true);
        sketch(p, hash_address(key, p.salt));
        sums.inserted++;
        u64 n[WORDS];
        unpack(key, n);
        noted |= judge_own(p, n, drawn_rule, round, number, size - 1, key);
        // A state deeper than the stack goes is entered and not expanded.
        if (size < p.capacity && size < p.restart) {
          copy_words(stack + size * TIGHT, key, TIGHT);
          size++;
        } else {
          sums.stuck++;
        }
        sums.longest = size > sums.longest ? size : sums.longest;
      } else {
        leaves = 1;
      }
    }
    rest(p, number, Kept{stream.counter, round, begun, size, start, done}, sums);
    KEPT(KEPT_SALT) = salt;
    KEPT(KEPT_CHOSEN) = leaves;
  }
  add_up(p, sums);
  close_tally(p);
}
