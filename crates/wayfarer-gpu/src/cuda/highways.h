
// Highway search, one highway in each lane: breadth-first with at most `width` states to a level. Level d+1 is drawn from the successors of level d that lie in
// no level so far.
//   IDEAL 1   uniform over the set of eligible states: those with the least random numbers, which are functions of the states
//   IDEAL 0   a reservoir that counts a state again each time it comes back

// The states chosen for the next level so far.
struct Chosen {
  u64 *states, *hashes;
  u32* parents;
  Index index;
};
WF_INLINE Chosen chosen_of(const Params& p, u64 number) {
  u64* own = p.own + number * p.own_words + p.capacity * TIGHT + (p.capacity + 1) / 2 + p.slots / 2;
  u64* hashes = own + p.width * TIGHT;
  u64* parents = hashes + p.width;
  return Chosen{own, hashes, (u32*)parents, Index{(u32*)(parents + (p.width + 1) / 2), p.width_slots - 1}};
}

// Takes a place out of an index. Those behind it that were displaced move up.
WF_INLINE void take_out(const Chosen& c, u64 slot) {
  u64 mask = c.index.mask, hole = slot;
  for (u64 next = (hole + 1) & mask; c.index.slots[next] != 0; next = (next + 1) & mask) {
    u64 home = c.hashes[(c.index.slots[next] & 0xffffff) - 1] & mask;
    if (((next - home) & mask) >= ((next - hole) & mask)) {
      c.index.slots[hole] = c.index.slots[next];
      hole = next;
    }
  }
  c.index.slots[hole] = 0;
}

// Offers an eligible state for the next level.
WF_INLINE void consider(const Params& p, const Chosen& c, Stream& stream, u64 salt, const u64* t, u64 hash, u32 parent, u64& chosen, u64& considered) {
  u64 slot, place;
  if (look_up(c.index, hash, c.states, t, slot) != NOT_THERE) return;
  considered++;
  if (chosen < p.width) {
    place = chosen++;
  } else {
#if IDEAL
    place = 0;
    u64 most = 0;
    for (u64 other = 0; other < p.width; other++) {
      u64 number_of = scramble(salt ^ c.hashes[other]);
      if (number_of >= most) {
        most = number_of;
        place = other;
      }
    }
    if (scramble(salt ^ hash) >= most) return;
#else
    if (below(stream, considered) >= p.width) return;
    place = below(stream, p.width);
#endif
    u64 old[TIGHT], old_slot;
    copy_words(old, c.states + place * TIGHT, TIGHT);
    look_up(c.index, c.hashes[place], c.states, old, old_slot);
    take_out(c, old_slot);
    look_up(c.index, hash, c.states, t, slot);
  }
  copy_words(c.states + place * TIGHT, t, TIGHT);
  c.hashes[place] = hash;
  c.parents[place] = parent;
  enter(c.index, slot, hash, place);
}

WF_KERNEL(wf_own) {
  open_tally();
  Sums sums = {0, 0, 0, 0, 0, 0, 0};
  for (u64 number = thread(); number < p.lane_count; number += threads()) {
    Visited v = visited_of(p, number);
    Chosen c = chosen_of(p, number);
    Stream stream = stream_of(p, number, KEPT(KEPT_COUNTER));
    u64 round = KEPT(KEPT_ROUND), begun = KEPT(KEPT_BEGUN), size = KEPT(KEPT_SIZE), next = KEPT(KEPT_AT), last = KEPT(KEPT_LAST);
    u64 chosen = KEPT(KEPT_CHOSEN), considered = KEPT(KEPT_CONSIDERED), depth = KEPT(KEPT_DEPTH), salt = KEPT(KEPT_SALT);
    u64 highways = p.searches / p.lane_count + (number < p.searches % p.lane_count);
    bool done = KEPT(KEPT_DONE) != 0, noted = false;
    for (u64 left = p.rounds; left > 0 && !noted; left--, round++) {
      if (next == last || depth >= p.restart) {
        // The level is complete: what was chosen enters V.
        bool full = size + chosen > p.capacity, anew = chosen == 0 || full || depth >= p.restart;
        for (u64 place = 0; place < chosen && !anew; place++) {
          u64 t[TIGHT];
          bool fresh;
          copy_words(t, c.states + place * TIGHT, TIGHT);
          add_visited(p, v, t, size, c.parents[place], fresh);
          sums.inserted += fresh;
        }
        depth++;
        if (anew) {
          done = begun >= highways;
          if (done) break;
          sums.ended += begun > 0;
          begun++;
          empty(v.index);
          last = size = depth = 0;
          // Of several start states, at most as many as a level has are drawn.
          u64 wanted = p.width < p.start_count ? p.width : p.start_count;
          for (u64 start = 0; start < p.start_count && wanted > 0; start++) {
            if (below(stream, p.start_count - start) >= wanted) continue;
            u64 s[WORDS], t[TIGHT];
            bool fresh;
            wanted--;
            copy_words(s, p.starts + start * WORDS, WORDS);
            pack(s, t);
            add_visited(p, v, t, size, NOT_THERE, fresh);
            sums.inserted += fresh;
          }
        }
        sums.longest = depth > sums.longest ? depth : sums.longest;
        next = last;
        last = size;
        empty(c.index);
        chosen = considered = 0;
        salt = draw(stream);
        if (next == last) continue;
      }
      u64 s[WORDS], t[TIGHT];
      copy_words(t, v.states + next * TIGHT, TIGHT);
      unpack(t, s);
      bool shown = false;
      Made made = each_successor(p, s, t, round, number, next, sums.discarded, [&](u32 rule, u64* n, const u64* key, bool same) {
        u64 hash = hash_address(key, p.salt), slot;
        if (same) return;
        sketch(p, hash);
        shown |= judge_own(p, n, rule, round, number, next, key);
        if (look_up(v.index, hash, v.states, key, slot) == NOT_THERE) consider(p, c, stream, salt, key, hash, (u32)next, chosen, considered);
      });
      noted = made.noted || shown;
      sums.steps++;
      next++;
    }
    rest(p, number, Kept{stream.counter, round, begun, size, next, done}, sums);
    KEPT(KEPT_LAST) = last;
    KEPT(KEPT_CHOSEN) = chosen;
    KEPT(KEPT_CONSIDERED) = considered;
    KEPT(KEPT_DEPTH) = depth;
    KEPT(KEPT_SALT) = salt;
  }
  add_up(p, sums);
  close_tally(p);
}
