// The base of generated code: types, results and arithmetic. The same text compiles as CUDA C and as C++: there a warp has one lane, and a kernel is a function.

typedef unsigned long long u64;
typedef long long i64;
typedef unsigned int u32;

#if defined(__CUDACC__)
#define WF_INLINE static __device__ __forceinline__
#define WF_PLAIN static __device__
#define WF_OUTLINE static __device__ __noinline__
#define WF_TABLE static __device__ const
#define WF_LANES 32u
#define WF_ALL_LANES 0xffffffffu
WF_INLINE u64 mul_high(u64 a, u64 b) { return __umul64hi(a, b); }
WF_INLINE i64 signed_mul_high(i64 a, i64 b) { return __mul64hi(a, b); }
WF_INLINE u32 count_ones(u64 a) { return __popcll(a); }
WF_INLINE u32 lowest_one(u64 a) { return __ffsll((i64)a) - 1; }
#else
#define WF_INLINE static inline
#define WF_PLAIN static
#define WF_OUTLINE static
#define WF_TABLE static const
#define WF_LANES 1u
#define WF_ALL_LANES 1u
WF_INLINE u64 mul_high(u64 a, u64 b) { return (u64)((unsigned __int128)a * b >> 64); }
WF_INLINE i64 signed_mul_high(i64 a, i64 b) { return (i64)((__int128)a * b >> 64); }
WF_INLINE u32 count_ones(u64 a) { return (u32)__builtin_popcountll(a); }
WF_INLINE u32 lowest_one(u64 a) { return (u32)__builtin_ctzll(a); }
#endif

// The results of guards, commands and functions. A guard or a property also gives TRUE, which no command does.
#define DONE 0
#define FALSE 0
#define TRUE 1
#define DISCARDED 1
#define FAULT(number) ((number) + 2)

// Arithmetic on 64 bits that wraps.
WF_INLINE i64 add(i64 a, i64 b) { return (i64)((u64)a + (u64)b); }
WF_INLINE i64 sub(i64 a, i64 b) { return (i64)((u64)a - (u64)b); }
WF_INLINE i64 mul(i64 a, i64 b) { return (i64)((u64)a * (u64)b); }
WF_INLINE i64 shl(i64 a, i64 b) { return (i64)((u64)a << (b & 63)); }
WF_INLINE i64 shr(i64 a, i64 b) { return a >> (b & 63); }
WF_INLINE i64 ushr(i64 a, i64 b) { return (i64)((u64)a >> (b & 63)); }

// Arithmetic that says whether the result exists.
WF_INLINE bool checked_add(i64 a, i64 b, i64& to) { to = add(a, b); return ((a ^ to) & (b ^ to)) >= 0; }
WF_INLINE bool checked_sub(i64 a, i64 b, i64& to) { to = sub(a, b); return ((a ^ b) & (a ^ to)) >= 0; }
WF_INLINE bool checked_mul(i64 a, i64 b, i64& to) { to = mul(a, b); return signed_mul_high(a, b) == to >> 63; }
WF_INLINE bool checked_div(i64 a, i64 b, i64& to) {
  if (b == 0 || (b == -1 && a == (i64)1 << 63)) return false;
  to = a / b;
  return true;
}
WF_INLINE bool checked_rem(i64 a, i64 b, i64& to) {
  if (b == 0) return false;
  to = b == -1 ? 0 : a % b;
  return true;
}

// The same on numbers without sign.
WF_INLINE bool unsigned_add(i64 a, i64 b, i64& to) { to = add(a, b); return (u64)to >= (u64)a; }
WF_INLINE bool unsigned_sub(i64 a, i64 b, i64& to) { to = sub(a, b); return (u64)a >= (u64)b; }
WF_INLINE bool unsigned_mul(i64 a, i64 b, i64& to) { to = mul(a, b); return a == 0 || (u64)to / (u64)a == (u64)b; }
WF_INLINE bool unsigned_div(i64 a, i64 b, i64& to) {
  if (b == 0) return false;
  to = (i64)((u64)a / (u64)b);
  return true;
}
WF_INLINE bool unsigned_rem(i64 a, i64 b, i64& to) {
  if (b == 0) return false;
  to = (i64)((u64)a % (u64)b);
  return true;
}

// Writes the bits of `mask`, `shift` bits up in a word.
WF_INLINE void put(u64& word, u32 shift, u64 mask, u64 value) { word = (word & ~(mask << shift)) | ((value & mask) << shift); }

// Sorts elements of at most 64 bits, in descending order. What a command leaves behind is sorted but for one element or two.
WF_INLINE void sort_bits(u64* at, u32 bit, u32 stride, u32 count, u64 mask) {
  for (u32 end = 1; end < count; end++) {
    for (u32 index = end; index > 0; index--) {
      u32 left = bit + (index - 1) * stride, right = bit + index * stride;
      u64 first = at[left >> 6] >> (left & 63) & mask, second = at[right >> 6] >> (right & 63) & mask;
      if (first >= second) break;
      put(at[left >> 6], left & 63, mask, second);
      put(at[right >> 6], right & 63, mask, first);
    }
  }
}

// The same for elements of whole words, the last of which weighs most.
WF_INLINE void sort_words(u64* at, u32 bit, u32 stride, u32 count, u32 words) {
  for (u32 end = 1; end < count; end++) {
    for (u32 index = end; index > 0; index--) {
      u64 *left = at + (bit + (index - 1) * stride) / 64, *right = at + (bit + index * stride) / 64;
      u32 word = words;
      while (word > 0 && left[word - 1] == right[word - 1]) word--;
      if (word == 0 || left[word - 1] > right[word - 1]) break;
      for (word = 0; word < words; word++) { u64 kept = left[word]; left[word] = right[word]; right[word] = kept; }
    }
  }
}

// Exchanges two elements where a value is one of them, two runs of bits, or two runs of words.
WF_INLINE void exchange_value(u64* at, u32 bit, u64 mask, u64 element) {
  u64 value = at[bit >> 6] >> (bit & 63) & mask;
  if (value == element) put(at[bit >> 6], bit & 63, mask, element + 1);
  else if (value == element + 1) put(at[bit >> 6], bit & 63, mask, element);
}
WF_INLINE void exchange_bits(u64* at, u32 left, u32 right, u64 mask) {
  u64 first = at[left >> 6] >> (left & 63) & mask, second = at[right >> 6] >> (right & 63) & mask;
  put(at[left >> 6], left & 63, mask, second);
  put(at[right >> 6], right & 63, mask, first);
}
WF_INLINE void exchange_words(u64* at, u32 left, u32 right, u32 words) {
  for (u32 word = 0; word < words; word++) {
    u64 kept = at[left + word];
    at[left + word] = at[right + word];
    at[right + word] = kept;
  }
}

WF_INLINE void copy_words(u64* to, const u64* from, u32 words) {
#pragma unroll
  for (u32 word = 0; word < words; word++) to[word] = from[word];
}
WF_INLINE void zero_words(u64* at, u32 words) {
#pragma unroll
  for (u32 word = 0; word < words; word++) at[word] = 0;
}
