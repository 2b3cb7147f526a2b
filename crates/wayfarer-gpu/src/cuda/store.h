
// The store of visited states. A state goes to the first free slot along its own sequence of buckets, and slots are never freed: so no state is stored
// twice, whoever comes first. A state that finds no room is counted, never lost in silence. `placed` is where a new state lies in the arena, if there is one.
// Without ADDS a state is only looked for: one that is FRESH is not there.
//   STORE 0  states of up to 63 bits, one word each
//   STORE 1  states of up to 127 bits, two words each, by 128-bit compare-and-swap
//   STORE 2  states of any width: 24 bits of hash and a place in an arena, where states are compared whole
//   STORE 3  fingerprints of 64 bits      STORE 4  fingerprints of 32 bits
//   STORE 5  three bits of one word in a Bloom filter

enum { SEEN, FRESH, FULL };
enum { MOST_PROBES = 512 };
#define TAKEN (1ull << 63)

// The sequence of buckets of a state. The number of buckets is prime, so that every step leads through all of them.
struct Way {
  u64 bucket, step, buckets;
};
WF_INLINE Way way(u64 hash, u64 buckets) { return Way{mul_high(hash, buckets), 1 + mul_high(hash * 0x9e3779b97f4a7c15ull, buckets - 1), buckets}; }
WF_INLINE void further(Way& way) {
  way.bucket += way.step;
  if (way.bucket >= way.buckets) way.bucket -= way.buckets;
}

#if PROFILES
WF_INLINE void count_visit(const Params& p, u64 slot) { atomic_add32(p.visits + slot, 1); }
#else
WF_INLINE void count_visit(const Params& p, u64 slot) {}
#endif

#if STORE == 0 || STORE == 3
// Buckets of eight words.
template <bool ADDS>
WF_INLINE u32 visit(const Params& p, const u64* t, u64& placed) {
  Way at = way(hash_address(t, p.salt), p.buckets);
#if STORE == 0
  u64 entry = t[0] | TAKEN;
#else
  u64 entry = hash_second(t, p.salt);
  if (entry == 0) entry = 1;
#endif
  for (u32 probe = 0; probe < MOST_PROBES; probe++, further(at)) {
    u64* bucket = p.table + at.bucket * 8;
    for (u32 slot = 0; slot < 8; slot += 4) {
      Pair one = peek_pair(bucket + slot), other = peek_pair(bucket + slot + 2);
      u64 found[4] = {one.a, one.b, other.a, other.b};
#pragma unroll
      for (u32 k = 0; k < 4; k++) {
        if (found[k] == 0) {
          if (!ADDS) return FRESH;
          u64 old = atomic_swap_if(bucket + slot + k, 0, entry);
          if (old == 0) return count_visit(p, at.bucket * 8 + slot + k), FRESH;
          found[k] = old;
        }
        if (found[k] == entry) return count_visit(p, at.bucket * 8 + slot + k), SEEN;
      }
    }
  }
  return FULL;
}
#elif STORE == 1
// Buckets of four pairs.
template <bool ADDS>
WF_INLINE u32 visit(const Params& p, const u64* t, u64& placed) {
  Way at = way(hash_address(t, p.salt), p.buckets);
  Pair entry = {t[0], t[1] | TAKEN};
  for (u32 probe = 0; probe < MOST_PROBES; probe++, further(at)) {
    u64* bucket = p.table + at.bucket * 8;
    for (u32 slot = 0; slot < 8; slot += 4) {
      Pair found[2] = {peek_pair(bucket + slot), peek_pair(bucket + slot + 2)};
#pragma unroll
      for (u32 k = 0; k < 2; k++) {
        if (found[k].b == 0) {
          if (!ADDS) return FRESH;
          Pair old = claim_pair(bucket + slot + 2 * k, entry);
          if (old.b == 0) return count_visit(p, at.bucket * 4 + slot / 2 + k), FRESH;
          found[k] = old;
        }
        if (found[k].a == entry.a && found[k].b == entry.b) return count_visit(p, at.bucket * 4 + slot / 2 + k), SEEN;
      }
    }
  }
  return FULL;
}
#elif STORE == 2
// Buckets of eight words: 24 bits of hash, and a place in the arena plus one.
template <bool ADDS>
WF_INLINE u32 visit(const Params& p, const u64* t, u64& placed) {
  u64 hash = hash_address(t, p.salt);
  Way at = way(hash, p.buckets);
  u64 mark = mix(hash ^ 0xc2b2ae3d27d4eb4full) >> 40 << 40, place = 0;
  for (u32 probe = 0; probe < MOST_PROBES; probe++, further(at)) {
    u64* bucket = p.table + at.bucket * 8;
    for (u32 slot = 0; slot < 8; slot++) {
      u64 found = peek(bucket + slot);
      if (found == 0) {
        if (!ADDS) return FRESH;
        if (place == 0) {
          // A place that is taken in vain, because someone else was faster with the same state, stays empty.
          place = atomic_add(p.counts + ARENA, 1) + 1;
          if (place > p.arena_room) return FULL;
          for (u32 word = 0; word < TIGHT; word++) p.arena[(place - 1) * TIGHT + word] = t[word];
          publish();
        }
        found = atomic_swap_if(bucket + slot, 0, mark | place);
        if (found == 0) {
          placed = place - 1;
          count_visit(p, at.bucket * 8 + slot);
          return FRESH;
        }
      }
      if ((found ^ mark) >> 40 == 0) {
        const u64* other = p.arena + ((found & 0xffffffffffull) - 1) * TIGHT;
        bool same = true;
        for (u32 word = 0; word < TIGHT && same; word++) same = peek(other + word) == t[word];
        if (same) return count_visit(p, at.bucket * 8 + slot), SEEN;
      }
    }
  }
  return FULL;
}
// Puts a slot of another table into this one.
WF_INLINE bool move_place(const Params& p, u64 entry) {
  u64 t[TIGHT];
  copy_words(t, p.arena + ((entry & 0xffffffffffull) - 1) * TIGHT, TIGHT);
  Way at = way(hash_address(t, p.salt), p.buckets);
  for (u32 probe = 0; probe < MOST_PROBES; probe++, further(at))
    for (u32 slot = 0; slot < 8; slot++)
      if (peek(p.table + at.bucket * 8 + slot) == 0 && atomic_swap_if(p.table + at.bucket * 8 + slot, 0, entry) == 0) return true;
  return false;
}
#elif STORE == 4
// Buckets of sixteen half words.
template <bool ADDS>
WF_INLINE u32 visit(const Params& p, const u64* t, u64& placed) {
  Way at = way(hash_address(t, p.salt), p.buckets);
  u32 entry = (u32)(hash_second(t, p.salt) >> 32);
  if (entry == 0) entry = 1;
  for (u32 probe = 0; probe < MOST_PROBES; probe++, further(at)) {
    u64* bucket = p.table + at.bucket * 8;
    for (u32 slot = 0; slot < 8; slot += 2) {
      Pair pair = peek_pair(bucket + slot);
      u32 found[4] = {(u32)pair.a, (u32)(pair.a >> 32), (u32)pair.b, (u32)(pair.b >> 32)};
#pragma unroll
      for (u32 k = 0; k < 4; k++) {
        if (found[k] == 0) {
          if (!ADDS) return FRESH;
          u32 old = atomic_swap_if32((u32*)(bucket + slot) + k, 0, entry);
          if (old == 0) return FRESH;
          found[k] = old;
        }
        if (found[k] == entry) return SEEN;
      }
    }
  }
  return FULL;
}
#else
// One word for each state, so that setting its bits is one step and only one lane finds it new.
template <bool ADDS>
WF_INLINE u32 visit(const Params& p, const u64* t, u64& placed) {
  u64 hash = hash_second(t, p.salt);
  u64 bits = 1ull << (hash & 63) | 1ull << (hash >> 6 & 63) | 1ull << (hash >> 12 & 63);
  u64* word = p.table + mul_high(hash_address(t, p.salt), p.buckets * 8);
  if ((peek(word) & bits) == bits) return SEEN;
  if (!ADDS) return FRESH;
  return (atomic_or(word, bits) & bits) == bits ? SEEN : FRESH;
}
#endif

WF_INLINE u32 insert(const Params& p, const u64* t, u64& placed) { return visit<true>(p, t, placed); }

// Replaces a state by the representative of its orbit.
WF_INLINE void represent(u64* n, u64* key) {
  u64 state[WORDS];
  copy_words(state, n, WORDS);
  canonicalise(state);
  copy_words(n, state, WORDS);
  pack(n, key);
}
