
// The features of the machine that kernels use. In C++ a warp has one lane, and nothing runs beside it.
struct alignas(16) Pair {
  u64 a, b;
};

#if defined(__CUDACC__)
#define WF_KERNEL(name) extern "C" __global__ void __launch_bounds__(128) name(const __grid_constant__ Params p)
WF_INLINE u32 lane() { return threadIdx.x & 31; }
WF_INLINE u64 thread() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }
WF_INLINE u64 threads() { return (u64)gridDim.x * blockDim.x; }
WF_INLINE u32 votes(bool own) { return __ballot_sync(WF_ALL_LANES, own); }
WF_INLINE u64 from_lane(u64 value, u32 lane) { return __shfl_sync(WF_ALL_LANES, value, lane); }
WF_INLINE u64 sum_of_lanes(u64 value) {
  for (u32 offset = 16; offset; offset >>= 1) value += __shfl_down_sync(WF_ALL_LANES, value, offset);
  return value;
}
WF_INLINE u64 peek(const u64* at) { return __ldcg(at); }
WF_INLINE Pair peek_pair(const u64* at) {
  ulonglong2 found = __ldcg((const ulonglong2*)at);
  return Pair{found.x, found.y};
}
WF_INLINE u64 atomic_add(u64* at, u64 value) { return atomicAdd(at, value); }
WF_INLINE void atomic_add32(u32* at, u32 value) { atomicAdd(at, value); }
WF_INLINE u64 atomic_max(u64* at, u64 value) { return atomicMax(at, value); }
WF_INLINE u64 atomic_or(u64* at, u64 value) { return atomicOr(at, value); }
WF_INLINE u64 atomic_swap_if(u64* at, u64 old, u64 value) { return atomicCAS(at, old, value); }
WF_INLINE u32 atomic_swap_if32(u32* at, u32 old, u32 value) { return atomicCAS(at, old, value); }
WF_INLINE void publish() { __threadfence(); }
WF_INLINE void meet() { __syncthreads(); }
#if STORE == 1
// Puts a pair where there is none, and gives what was there.
WF_INLINE Pair claim_pair(u64* at, Pair value) {
  Pair old;
  asm volatile(
      "{\n\t.reg .b128 none, wanted, found;\n\tmov.b128 none, {%4, %4};\n\tmov.b128 wanted, {%2, %3};\n\t"
      "atom.relaxed.gpu.global.cas.b128 found, [%5], none, wanted;\n\tmov.b128 {%0, %1}, found;\n\t}"
      : "=l"(old.a), "=l"(old.b)
      : "l"(value.a), "l"(value.b), "l"(0ull), "l"(at)
      : "memory");
  return old;
}
#endif
#else
#ifndef WF_NAME
#define WF_NAME(name) name
#endif
#define WF_KERNEL(name) extern "C" void WF_NAME(name)(const Params& p)
WF_INLINE u32 lane() { return 0; }
WF_INLINE u64 thread() { return 0; }
WF_INLINE u64 threads() { return 1; }
WF_INLINE u32 votes(bool own) { return own; }
WF_INLINE u64 from_lane(u64 value, u32 lane) { return value; }
WF_INLINE u64 sum_of_lanes(u64 value) { return value; }
WF_INLINE u64 peek(const u64* at) { return *at; }
WF_INLINE Pair peek_pair(const u64* at) { return Pair{at[0], at[1]}; }
WF_INLINE u64 atomic_add(u64* at, u64 value) { u64 old = *at; *at += value; return old; }
WF_INLINE void atomic_add32(u32* at, u32 value) { *at += value; }
WF_INLINE u64 atomic_max(u64* at, u64 value) { u64 old = *at; if (value > old) *at = value; return old; }
WF_INLINE u64 atomic_or(u64* at, u64 value) { u64 old = *at; *at |= value; return old; }
WF_INLINE u64 atomic_swap_if(u64* at, u64 old, u64 value) { u64 found = *at; if (found == old) *at = value; return found; }
WF_INLINE u32 atomic_swap_if32(u32* at, u32 old, u32 value) { u32 found = *at; if (found == old) *at = value; return found; }
WF_INLINE void publish() {}
WF_INLINE void meet() {}
WF_INLINE Pair claim_pair(u64* at, Pair value) {
  Pair old{at[0], at[1]};
  if (old.a == 0 && old.b == 0) { at[0] = value.a; at[1] = value.b; }
  return old;
}
#endif

// The parameters of a kernel. The host has the same list.
struct Params {
  const u64* in;      // sources, tight
  u64 in_stride;      // words from one to the next; one more than a tight state where each carries a tag
  u64 origin;         // the number of the first source in its level
  u64 end;            // how many sources
  u64* out;           // states found
  u64 out_stride;
  u64 room;           // how many find room
  u64 reserve;        // no more sources are taken where less room is left
  u64* table;
  u64 buckets;
  u64* arena;
  u64 arena_room;
  u64 salt;           // changes all hashes
  u64* counts;
  u64* firings;       // one for each rule
  u64* notes;
  u64 notes_room;
  const u64* judged;  // properties whose failure is noted, then those whose reaching is
  u64 deadlock;       // 0 never, 1 where no rule is enabled, 2 where none leads to another state
  u64 faults;         // whether faults are noted
  const u64* starts;  // start states of walks, in the working layout
  u64 start_count;
  u64* lanes;         // where walks stand
  u64 lane_count;
  u64 seed;           // the key of the walks' streams
  u64 rounds;         // steps of each walk
  u64 restart;        // after so many steps a walk ends
  const u64* goal;    // the state that is looked for
  u64* own;           // memory of lanes that search for themselves
  u64 own_words;      // words of each
  u64 capacity;       // states that find room there
  u64 slots;          // slots of the index there, or words of the filter: a power of two
  u64 width;          // the most states of a level
  u64 width_slots;    // slots of their index
  u64 renews;         // whether a search that ended begins anew
  u64 searches;       // how many searches all lanes make together
  u64* sketch;        // counts distinct states roughly
  u64 levels;         // the most levels that a kernel expands
  u64 narrow;         // and the most states of those it expands after the first
  u64 seeks;          // whether rules are looked for; their bits follow those of the properties
  u64* known;         // what was noted, if each thing is noted once
  u64 law;            // how the steps of an audit's walks are drawn
  u32* visits;        // how often the state of each slot was visited, if that is counted
};

// Places in `counts`.
enum {
  NEXT,       // the next source to be taken
  FOUND,      // states found
  NO_ROOM,    // states that found no room in the store
  SPILLED,    // states that found no room in the frontier
  NOTED,      // notes, those included that found no room
  LIMITED,    // the first firing that met a limit: rule + 1 and fault
  ARENA,      // states in the arena
  SKIPPED,    // firings that an assumption discarded
  STEPS,      // steps of walks
  ENDED,      // walks that ended
  STUCK,      // walks that ended in a deadlock
  LONGEST,    // the longest walk
  GOAL_AT,    // where the goal was found: its tag, plus one
  ACTIVE,     // lanes that still search for themselves
  INSERTED,   // states that were new to the lane that visited them
  LEVELS_DONE = ACTIVE,      // in a search by levels: levels that a kernel expanded
  FOUND_BEFORE = INSERTED,   // and states that it found in all of them but the last
  REACHED = 16,
};

// Places of a table of what was noted: a power of two.
enum { KNOWN = 8192 };

// Kinds of notes.
enum { NOTE_DEADLOCK = 1, NOTE_PROPERTY, NOTE_PROPERTY_FAULT, NOTE_FAULT, NOTE_FOUND, NOTE_RULE };
