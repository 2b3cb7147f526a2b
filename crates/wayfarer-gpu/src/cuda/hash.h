
// Hashes of tight states, for stores of every kind.

WF_INLINE u64 mix(u64 value) {
  value ^= value >> 32;
  value *= 0xd6e8feb86659fd93ull;
  value ^= value >> 32;
  value *= 0xd6e8feb86659fd93ull;
  return value ^ value >> 32;
}

// The address of a state, and bits that tell states apart there.
WF_INLINE u64 hash_address(const u64* t, u64 salt) {
  u64 hash = 0x9e3779b97f4a7c15ull ^ salt;
#pragma unroll
  for (u32 word = 0; word < TIGHT; word++) hash = mix(hash ^ t[word]) + 0x9e3779b97f4a7c15ull;
  return mix(hash);
}
WF_INLINE u64 hash_second(const u64* t, u64 salt) {
  u64 hash = 0xc2b2ae3d27d4eb4full ^ salt;
#pragma unroll
  for (u32 word = 0; word < TIGHT; word++) hash = mix((hash << 23 | hash >> 41) + t[word] * 0xa0761d6478bd642full);
  return mix(hash ^ 0x6a09e667f3bcc908ull);
}
