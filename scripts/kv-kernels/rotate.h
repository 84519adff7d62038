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

// Exchanges the numbers of each pair.
INLINE float8 swap_pairs(float8 numbers) {
#if defined(__x86_64__)
  return (float8)_mm256_permute_ps((__m256)numbers, 0xb1);
#else
  return __builtin_shufflevector(numbers, numbers, 1, 0, 3, 2, 5, 4, 7, 6);
#endif
}

// Pairs (2i, 2i+1).
INLINE void rotate_norm(enum number_type type, const struct vectors *v, const uint8_t *source, uint8_t *target,
                        struct largest *largest) {
  const size_t bytes = NUMBER_BYTES[type];
  for (size_t i = 0; i < v->dimensions; i += AT_ONCE) {
    float8 x = load_numbers(type, source + i * bytes);
    float8 cosine = load_floats(v->angles + i * sizeof(float));
    float8 sine = load_floats(v->angles + (v->dimensions + i) * sizeof(float));
    store_numbers(type, target + i * bytes, x * cosine + swap_pairs(x) * sine, largest);
  }
}

// Pairs (i, i + dimensions/2).
INLINE void rotate_neox(enum number_type type, const struct vectors *v, const uint8_t *source, uint8_t *target,
                        struct largest *largest) {
  const size_t bytes = NUMBER_BYTES[type], pairs = v->dimensions / 2;
  for (size_t from = 0; from < pairs; from += AT_ONCE) {
    // The last eight may overlap those before.
    const size_t i = from + AT_ONCE <= pairs ? from : pairs - AT_ONCE;
    float8 x = load_numbers(type, source + i * bytes);
    float8 y = load_numbers(type, source + (pairs + i) * bytes);
    float8 cosine = load_floats(v->angles + i * sizeof(float));
    float8 sine = load_floats(v->angles + (pairs + i) * sizeof(float));
    store_numbers(type, target + i * bytes, x * cosine - y * sine, largest);
    store_numbers(type, target + (pairs + i) * bytes, y * cosine + x * sine, largest);
  }
}

// True where a number is not finite, or too large to be rotated. Numbers of a vector beyond its dimensions are left alone.
INLINE bool rotate(enum pairing pairing, enum number_type type, const struct vectors *v) {
  const size_t vector_bytes = v->head_dimension * NUMBER_BYTES[type];
  struct largest largest = {{0}, {0}};
  uint8_t *target = v->target;
  for (const uint8_t *source = v->source; source < v->source_end; source += vector_bytes, target += vector_bytes) {
    if (pairing == NORM) rotate_norm(type, v, source, target, &largest);
    else rotate_neox(type, v, source, target, &largest);
  }
  return exceeds(&largest, LARGEST_ROTATED_HALF);
}

KERNEL static bool rotate_norm_f16(const struct vectors *v) { return rotate(NORM, F16, v); }
KERNEL static bool rotate_norm_f32(const struct vectors *v) { return rotate(NORM, F32, v); }
KERNEL static bool rotate_neox_f16(const struct vectors *v) { return rotate(NEOX, F16, v); }
KERNEL static bool rotate_neox_f32(const struct vectors *v) { return rotate(NEOX, F32, v); }

#endif
