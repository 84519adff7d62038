// Restores quantised numbers in ggml's formats: a scale in half precision, and 32 whole numbers of 8 bits (`q8_0`), or of 4 bits
// stored 8 above the number, the second sixteen in the upper halves of bytes (`q4_0`).
#ifndef RESTORE_H
#define RESTORE_H

#include "eight-numbers.h"

enum quantised_type { Q8_0, Q4_0 };

enum { GROUP = 32, SCALE_BYTES = 2 };

static const size_t GROUP_BYTES[] = {[Q8_0] = SCALE_BYTES + GROUP, [Q4_0] = SCALE_BYTES + GROUP / 2};

// Eight signed bytes.
INLINE int16x8 load_bytes(const uint8_t *address) {
#if defined(__wasm_simd128__)
  return (int16x8)wasm_i16x8_load8x8(address);
#elif defined(__x86_64__)
  return (int16x8)_mm_cvtepi8_epi16(_mm_loadl_epi64((const __m128i *)address));
#else
  return (int16x8)vmovl_s8(vld1_s8((const int8_t *)address));
#endif
}

INLINE float8 whole_floats(int16x8 numbers) {
#if defined(__wasm_simd128__)
  // Added to the bits of 3 * 2^22, whose last bit is worth 1: clang converts lane by lane.
  return (float8)(extend_halves((v128_t)numbers) + 0x4b400000) - 0x1.8p23f;
#elif defined(__x86_64__)
  return (float8)_mm256_cvtepi32_ps(_mm256_cvtepi16_epi32((__m128i)numbers));
#else
  const float32x4_t parts[] = {vcvtq_f32_s32(vmovl_s16(vget_low_s16((int16x8_t)numbers))),
                               vcvtq_f32_s32(vmovl_s16(vget_high_s16((int16x8_t)numbers)))};
  float8 floats;
  memcpy(&floats, parts, sizeof floats);
  return floats;
#endif
}

// Whole numbers times a scale, one rounding each; what is too large becomes the largest half.
INLINE void store_scaled(enum number_type type, uint8_t *target, int16x8 levels, float scale) {
  const float8 numbers = whole_floats(levels) * scale;
  if (type == F32) {
    memcpy(target, &numbers, sizeof numbers);
    return;
  }
  const struct halves halves = halves_of(numbers);
  const int16x8 finite = smaller_halves(halves.magnitudes, (int16x8){0} + LARGEST_HALF) | halves.signs;
  memcpy(target, &finite, sizeof finite);
}

// True where a scale is not finite.
INLINE bool restore(enum quantised_type quantised, enum number_type type, const uint8_t *source,
                    const uint8_t *source_end, uint8_t *target) {
  const size_t step = AT_ONCE * NUMBER_BYTES[type];
  int16x8 largest = {0};
  for (; source < source_end; source += GROUP_BYTES[quantised]) {
    int16_t half;
    memcpy(&half, source, sizeof half);
    const int16x8 scales = (int16x8){0} + half;
    largest = larger_halves(largest, scales & 0x7fff);
    const float scale = load_numbers(F16, (const uint8_t *)&scales)[0];
    for (size_t at = 0; at < GROUP; at += AT_ONCE, target += step) {
      if (quantised == Q8_0) {
        store_scaled(type, target, load_bytes(source + SCALE_BYTES + at), scale);
      } else {
        const int16x8 bytes = load_bytes(source + SCALE_BYTES + at % (GROUP / 2));
        store_scaled(type, target, ((at < GROUP / 2 ? bytes : bytes >> 4) & 0xf) - 8, scale);
      }
    }
  }
  return largest[0] > LARGEST_HALF;
}

KERNEL static bool restore_q8_0_halves(const uint8_t *source, const uint8_t *source_end, uint8_t *target) {
  return restore(Q8_0, F16, source, source_end, target);
}
KERNEL static bool restore_q8_0_floats(const uint8_t *source, const uint8_t *source_end, uint8_t *target) {
  return restore(Q8_0, F32, source, source_end, target);
}
KERNEL static bool restore_q4_0_halves(const uint8_t *source, const uint8_t *source_end, uint8_t *target) {
  return restore(Q4_0, F16, source, source_end, target);
}
KERNEL static bool restore_q4_0_floats(const uint8_t *source, const uint8_t *source_end, uint8_t *target) {
  return restore(Q4_0, F32, source, source_end, target);
}

#endif
