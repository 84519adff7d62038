// Rotates keys. Products and sums are never fused, so that every compiler gives the same bits.
#ifndef ROTATE_H
#define ROTATE_H

#include "eight-numbers.h"

enum pairing { NORM, NEOX };

// WebAssembly reads an infinite half as 65536. Rotating it with any other number gives one of at least 46341, which rounds
// to 46336 (0x79a8). Both kernels therefore refuse rotated halves from there on.
static const int16_t LARGEST_ROTATED_HALF = 0x79a8 - 1;

// Vectors that lie one behind the other, and where they go.
struct vectors {
  const uint8_t *source;
  const uint8_t *source_end;
  uint8_t *target;
  // Cosines, and behind them sines: one a pair (NEOX), or one a number, the first sine of a pair negated (NORM).
  const uint8_t *angles;
  size_t dimensions;
  size_t head_dimension;
};

// Vectors of which the same eight numbers are rotated before the next eight. WebAssembly reads fewer angles with many, as long
// as they stay in the processor's first cache; native code is faster from vector to vector.
#if defined(__wasm_simd128__)
enum { VECTORS_AT_ONCE = 16 };
#else
enum { VECTORS_AT_ONCE = 1 };
#endif

// Exchanges the numbers of each pair.
INLINE float8 swap_pairs(float8 numbers) {
#if defined(__x86_64__)
  return (float8)_mm256_permute_ps((__m256)numbers, 0xb1);
#else
  return __builtin_shufflevector(numbers, numbers, 1, 0, 3, 2, 5, 4, 7, 6);
#endif
}

// Numbers from `i` on, of every vector: pairs (2i, 2i+1).
INLINE void rotate_norm(enum number_type type, const struct vectors *v, size_t i, struct largest *largest) {
  const size_t bytes = NUMBER_BYTES[type], vector_bytes = v->head_dimension * bytes;
  const float8 cosine = load_floats(v->angles + i * sizeof(float)) * UNIT[type];
  const float8 sine = load_floats(v->angles + (v->dimensions + i) * sizeof(float)) * UNIT[type];
  uint8_t *target = v->target + i * bytes;
  for (const uint8_t *x = v->source + i * bytes; x < v->source_end; x += vector_bytes, target += vector_bytes) {
    const float8 numbers = load_in_units(type, x);
    store_numbers(type, target, numbers * cosine + swap_pairs(numbers) * sine, largest);
  }
}

// Numbers from `i` and from `dimensions/2 + i` on, of every vector: pairs (i, i + dimensions/2).
INLINE void rotate_neox(enum number_type type, const struct vectors *v, size_t i, struct largest *largest) {
  const size_t bytes = NUMBER_BYTES[type], vector_bytes = v->head_dimension * bytes, half = v->dimensions / 2;
  const float8 cosine = load_floats(v->angles + i * sizeof(float)) * UNIT[type];
  const float8 sine = load_floats(v->angles + (half + i) * sizeof(float)) * UNIT[type];
  uint8_t *target = v->target + i * bytes;
  for (const uint8_t *source = v->source + i * bytes; source < v->source_end; source += vector_bytes, target += vector_bytes) {
    const float8 x = load_in_units(type, source), y = load_in_units(type, source + half * bytes);
    store_numbers(type, target, x * cosine - y * sine, largest);
    store_numbers(type, target + half * bytes, y * cosine + x * sine, largest);
  }
}

// True where a number is not finite, or too large to be rotated. Numbers of a vector beyond its dimensions are left alone.
INLINE bool rotate(enum pairing pairing, enum number_type type, const struct vectors *v) {
  const size_t count = pairing == NORM ? v->dimensions : v->dimensions / 2;
  const size_t part_bytes = VECTORS_AT_ONCE * v->head_dimension * NUMBER_BYTES[type];
  struct largest largest = {{0}, {0}};
  struct vectors part = *v;
  for (; part.source < v->source_end; part.source += part_bytes, part.target += part_bytes) {
    part.source_end = v->source_end - part.source > part_bytes ? part.source + part_bytes : v->source_end;
    for (size_t from = 0; from < count; from += AT_ONCE) {
      // The last eight may overlap those before.
      const size_t i = from + AT_ONCE <= count ? from : count - AT_ONCE;
      if (pairing == NORM) rotate_norm(type, &part, i, &largest);
      else rotate_neox(type, &part, i, &largest);
    }
  }
  return exceeds(&largest, LARGEST_ROTATED_HALF);
}

KERNEL static bool rotate_norm_f16(const struct vectors *v) { return rotate(NORM, F16, v); }
KERNEL static bool rotate_norm_f32(const struct vectors *v) { return rotate(NORM, F32, v); }
KERNEL static bool rotate_neox_f16(const struct vectors *v) { return rotate(NEOX, F16, v); }
KERNEL static bool rotate_neox_f32(const struct vectors *v) { return rotate(NEOX, F32, v); }

#endif
