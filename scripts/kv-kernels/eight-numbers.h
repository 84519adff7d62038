// Reads and writes eight numbers of KV at once, as 32-bit floats.
#ifndef EIGHT_NUMBERS_H
#define EIGHT_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__wasm_simd128__)
#include <wasm_simd128.h>
#define memcpy __builtin_memcpy
#define KERNEL
#elif defined(__x86_64__)
#include <immintrin.h>
#include <string.h>
// Every processor with AVX2 converts half precision; the addon asks for AVX2 before it runs a kernel.
#define KERNEL __attribute__((target("avx2,f16c")))
#elif defined(__aarch64__)
#include <arm_neon.h>
#include <string.h>
#define KERNEL
#else
#error "no instructions for half precision are known on this processor"
#endif
#define INLINE KERNEL __attribute__((always_inline)) static inline

typedef float float8 __attribute__((vector_size(32)));
typedef int32_t int32x8 __attribute__((vector_size(32)));
typedef int16_t int16x8 __attribute__((vector_size(16)));

enum number_type { F16, F32 };

enum { AT_ONCE = 8 };

static const size_t NUMBER_BYTES[] = {[F16] = 2, [F32] = 4};

// What a number from `load_in_units` must be multiplied by.
#if defined(__wasm_simd128__)
static const float UNIT[] = {[F16] = 0x1p112f, [F32] = 1};
#else
static const float UNIT[] = {[F16] = 1, [F32] = 1};
#endif

// The largest halves that were written, lane by lane, and lanes that are not zero where a float was too large.
struct largest {
  int16x8 halves;
  int32x8 floats;
};

static const int16_t LARGEST_HALF = 0x7c00 - 1;
static const int32_t LARGEST_FLOAT = 0x7f800000 - 1;

INLINE float8 load_floats(const uint8_t *address) {
  float8 numbers;
  memcpy(&numbers, address, sizeof numbers);
  return numbers;
}

#if defined(__wasm_simd128__)
// clang extends and narrows vectors lane by lane where it is not told the instruction.
INLINE int32x8 both(v128_t low, v128_t high) {
  const v128_t parts[] = {low, high};
  int32x8 numbers;
  memcpy(&numbers, parts, sizeof numbers);
  return numbers;
}

INLINE int32x8 extend_halves(v128_t halves) {
  return both(wasm_i32x4_extend_low_i16x8(halves), wasm_i32x4_extend_high_i16x8(halves));
}
#endif

INLINE float8 load_halves_in_units(const uint8_t *address) {
#if defined(__wasm_simd128__)
  // Sign, exponent and mantissa at their places in a float stand for 2^-112 of the number, subnormal ones too.
  const v128_t halves = wasm_v128_load(address), low = wasm_i16x8_shl(halves, 13);
  const v128_t high = wasm_i16x8_shr(halves, 3) & wasm_i16x8_splat((int16_t)0x8fff);
  return (float8)both(wasm_i16x8_shuffle(low, high, 0, 8, 1, 9, 2, 10, 3, 11),
                      wasm_i16x8_shuffle(low, high, 4, 12, 5, 13, 6, 14, 7, 15));
#elif defined(__x86_64__)
  return (float8)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)address));
#else
  float16x4_t halves[2];
  memcpy(halves, address, sizeof halves);
  const float32x4_t floats[] = {vcvt_f32_f16(halves[0]), vcvt_f32_f16(halves[1])};
  float8 numbers;
  memcpy(&numbers, floats, sizeof numbers);
  return numbers;
#endif
}

// Numbers in half precision, without their signs. Rounds to the nearest, ties to even; what is too large is not finite.
struct halves {
  int16x8 magnitudes;
  int16x8 signs;
};

INLINE struct halves halves_of(float8 numbers) {
#if defined(__wasm_simd128__)
  const int32x8 bits = (int32x8)numbers;
  // 2^13 times the power of two of the number, at least that of the smallest normal half. Adding it leaves the eleven bits
  // of the mantissa, rounded by the addition itself, at the end of the sum.
  const int32x8 power = __builtin_elementwise_max(bits & 0x7f800000, (int32x8){0} + 0x38800000) + 0x06800000;
  const float8 sum = (float8)(bits & 0x7fffffff) + (float8)power;
  v128_t sums[2], signs[2];
  memcpy(sums, &sum, sizeof sums);
  memcpy(signs, &bits, sizeof signs);
  // Those are the lower 16 bits and the exponent the upper ones, 2^7 times: lower + 8 * upper is a half but for its bias.
  const v128_t weights = wasm_i32x4_const_splat(0x00080001), bias = wasm_i32x4_const_splat(0x1f800);
  for (int i = 0; i < 2; i++) sums[i] = wasm_i32x4_sub(wasm_i32x4_dot_i16x8(sums[i], weights), bias);
  // What is too large becomes 0x7fff, which is no finite half either; narrowing keeps the sign.
  return (struct halves){
      .magnitudes = (int16x8)wasm_i16x8_narrow_i32x4(sums[0], sums[1]),
      .signs = (int16x8)wasm_i16x8_narrow_i32x4(signs[0], signs[1]) & (int16_t)0x8000,
  };
#else
#if defined(__x86_64__)
  const int16x8 bits = (int16x8)_mm256_cvtps_ph((__m256)numbers, _MM_FROUND_TO_NEAREST_INT);
#else
  float32x4_t floats[2];
  memcpy(floats, &numbers, sizeof floats);
  const float16x4_t halves[] = {vcvt_f16_f32(floats[0]), vcvt_f16_f32(floats[1])};
  int16x8 bits;
  memcpy(&bits, halves, sizeof bits);
#endif
  return (struct halves){.magnitudes = bits & 0x7fff, .signs = bits & (int16_t)0x8000};
#endif
}

#if defined(__wasm_simd128__)
INLINE int16x8 larger_halves(int16x8 a, int16x8 b) { return (int16x8)wasm_i16x8_max((v128_t)a, (v128_t)b); }
INLINE int16x8 smaller_halves(int16x8 a, int16x8 b) { return (int16x8)wasm_i16x8_min((v128_t)a, (v128_t)b); }
#elif defined(__x86_64__)
INLINE int16x8 larger_halves(int16x8 a, int16x8 b) { return (int16x8)_mm_max_epi16((__m128i)a, (__m128i)b); }
INLINE int16x8 smaller_halves(int16x8 a, int16x8 b) { return (int16x8)_mm_min_epi16((__m128i)a, (__m128i)b); }
#else
INLINE int16x8 larger_halves(int16x8 a, int16x8 b) { return (int16x8)vmaxq_s16((int16x8_t)a, (int16x8_t)b); }
INLINE int16x8 smaller_halves(int16x8 a, int16x8 b) { return (int16x8)vminq_s16((int16x8_t)a, (int16x8_t)b); }
#endif

INLINE float8 load_in_units(enum number_type type, const uint8_t *address) {
  return type == F16 ? load_halves_in_units(address) : load_floats(address);
}

INLINE float8 load_numbers(enum number_type type, const uint8_t *address) {
  return load_in_units(type, address) * UNIT[type];
}

INLINE void store_numbers(enum number_type type, uint8_t *address, float8 numbers, struct largest *largest) {
  if (type == F16) {
    const struct halves halves = halves_of(numbers);
    const int16x8 bits = halves.magnitudes | halves.signs;
    largest->halves = larger_halves(largest->halves, halves.magnitudes);
    memcpy(address, &bits, sizeof bits);
  } else {
    largest->floats |= ((int32x8)numbers & 0x7fffffff) > LARGEST_FLOAT;
    memcpy(address, &numbers, sizeof numbers);
  }
}

// True where a half is larger than the limit, or a float is not finite.
INLINE bool exceeds(const struct largest *largest, int16_t limit) {
  for (int i = 0; i < AT_ONCE; i++) {
    if (largest->halves[i] > limit || largest->floats[i] != 0) return true;
  }
  return false;
}

#endif
