
// The data of running code besides the state: the covers it reached, and the rest of its limits.
struct Scene {
  u64 fuel;
  u32 depth, frames;
  u64 covered[COVER_WORDS];
};

WF_INLINE void begin(Scene& x, u32 frame) {
  x.fuel = FUEL;
  x.depth = 0;
  x.frames = frame;
}
// Whether a state comes before another, the last word weighing most.
WF_INLINE bool is_less(const u64* a, const u64* b) {
  for (u32 word = WORDS; word > 0; word--)
    if (a[word - 1] != b[word - 1]) return a[word - 1] < b[word - 1];
  return false;
}
WF_INLINE bool burn(Scene& x) { return x.fuel == 0 ? false : (x.fuel--, true); }
WF_INLINE bool enter(Scene& x, u32 frame) {
  x.depth++;
  x.frames += frame;
  return x.depth <= CALL_DEPTH && x.frames <= FRAME_WORDS;
}
WF_INLINE void leave(Scene& x, u32 frame) {
  x.depth--;
  x.frames -= frame;
}
