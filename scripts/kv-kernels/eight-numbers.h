// Reads and writes eight numbers of KV at once, as 32-bit floats.
#ifndef EIGHT_NUMBERS_H
#define EIGHT_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__wasm_simd128__)
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

// Lanes are not zero where a number that was written was too large.
struct excess {
  int16x8 halves;
  int32x8 floats;
};

// WebAssembly reads an infinite half as 65536. Rotating it with any other number gives one of at least 46341, which rounds
// to 46336 (0x79a8). Both kernels therefore refuse rotated halves from there on.
static const int16_t LARGEST_HALF = 0x79a8 - 1;
static const int32_t LARGEST_FLOAT = 0x7f800000 - 1;

INLINE float8 load_floats(const uint8_t *address) {
  float8 numbers;
  memcpy(&numbers, address, sizeof numbers);
  return numbers;
}

INLINE float8 load_halves(const uint8_t *address) {
#if defined(__wasm_simd128__)
  int16x8 halves;
  memcpy(&halves, address, sizeof halves);
  // Sign, exponent and mantissa at their places in a float stand for 2^-112 of the number, subnormal ones too.
  return (float8)((__builtin_convertvector(halves, int32x8) << 13) & (int32_t)0x8fffe000) * 0x1p112f;
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

// Rounds to the nearest, ties to even; what is too large becomes infinite.
INLINE int16x8 halves_of(float8 numbers) {
#if defined(__wasm_simd128__)
  const int32x8 bits = (int32x8)numbers;
  // 2^13 times the power of two of the number, at least that of the smallest normal half. Adding it leaves the eleven bits
  // of the mantissa, rounded by the addition itself, at the end of the sum.
  const int32x8 power = __builtin_elementwise_max(bits & 0x7f800000, (int32x8){0} + 0x38800000) + 0x06800000;
  const int32x8 sum = (int32x8)((float8)(bits & 0x7fffffff) + (float8)power);
  // Its exponent moves next to those bits, and the bias becomes that of a half.
  const int32x8 magnitude = (sum & 0xffff) + ((sum >> 16) << 3) - 0x1f800;
  const int32x8 finite = __builtin_elementwise_min(magnitude, (int32x8){0} + 0x7c00);
  return __builtin_convertvector(finite | ((bits >> 16) & 0x8000), int16x8);
#elif defined(__x86_64__)
  return (int16x8)_mm256_cvtps_ph((__m256)numbers, _MM_FROUND_TO_NEAREST_INT);
#else
  float32x4_t floats[2];
  memcpy(floats, &numbers, sizeof floats);
  const float16x4_t halves[] = {vcvt_f16_f32(floats[0]), vcvt_f16_f32(floats[1])};
  int16x8 bits;
  memcpy(&bits, halves, sizeof bits);
  return bits;
#endif
}

INLINE float8 load_numbers(enum number_type type, const uint8_t *address) {
  return type == F16 ? load_halves(address) : load_floats(address);
}

INLINE void store_numbers(enum number_type type, uint8_t *address, float8 numbers, struct excess *excess) {
  if (type == F16) {
    int16x8 halves = halves_of(numbers);
    excess->halves |= (halves & 0x7fff) > LARGEST_HALF;
    memcpy(address, &halves, sizeof halves);
  } else {
    excess->floats |= ((int32x8)numbers & 0x7fffffff) > LARGEST_FLOAT;
    memcpy(address, &numbers, sizeof numbers);
  }
}

INLINE bool any(const struct excess *excess) {
  for (int i = 0; i < AT_ONCE; i++) {
    if (excess->halves[i] != 0 || excess->floats[i] != 0) return true;
  }
  return false;
}

#endif
