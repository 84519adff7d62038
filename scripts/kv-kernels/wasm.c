// The kernels as a WebAssembly module, which runs where no native addon was compiled; the kernels that no addon has are here
// alone. Addresses point into the memory that the module imports, and lengths are in bytes.
#include "rotate.h"
#include "spread-rows.h"

#define EXPORT(NAME) __attribute__((export_name(#NAME)))

typedef int8_t int8x8 __attribute__((vector_size(8)));
typedef int32_t int32x4 __attribute__((vector_size(16)));

enum { QUANTISED_BLOCK = 32, SCALE_BYTES = 2 };

static const int16_t INFINITE_HALF = 0x7c00;

#define EXPORT_ROTATION(NAME, FUNCTION)                                                                                \
  EXPORT(NAME)                                                                                                         \
  bool FUNCTION##_keys(const uint8_t *source, const uint8_t *source_end, uint8_t *target, const uint8_t *angles,       \
                       size_t dimensions, size_t head_dimension) {                                                     \
    const struct vectors vectors = {source, source_end, target, angles, dimensions, head_dimension};                   \
    return FUNCTION(&vectors);                                                                                         \
  }
EXPORT_ROTATION(rotateNormF16, rotate_norm_f16)
EXPORT_ROTATION(rotateNormF32, rotate_norm_f32)
EXPORT_ROTATION(rotateNeoxF16, rotate_neox_f16)
EXPORT_ROTATION(rotateNeoxF32, rotate_neox_f32)

EXPORT(spreadRows)
void spread(const uint8_t *source, size_t count, size_t row_bytes, uint8_t *target, size_t target_row_bytes) {
  spread_rows((struct rows){source, count, row_bytes, target, target_row_bytes});
}

// Copies rows that lie apart to where they lie one behind the other.
EXPORT(gatherRows)
void gather_rows(const uint8_t *source, size_t count, size_t source_row_bytes, uint8_t *target, size_t row_bytes) {
  for (; count > 0; count--, source += source_row_bytes, target += row_bytes) memcpy(target, source, row_bytes);
}

// True where a half is infinite or not a number.
INLINE bool any_infinite(int16x8 halves) {
  int16x8 infinite = (halves & 0x7fff) >= INFINITE_HALF;
  return __builtin_reduce_or(infinite) != 0;
}

// Multiplies halves, one rounding each. True where a number or a product is not finite.
EXPORT(scaleF16)
bool scale_f16(const uint8_t *source, const uint8_t *source_end, uint8_t *target, float factor) {
  bool exceeded = false;
  for (; source < source_end; source += sizeof(int16x8), target += sizeof(int16x8)) {
    const size_t left = source_end - source, bytes = left < sizeof(int16x8) ? left : sizeof(int16x8);
    int16x8 numbers = {0};
    if (bytes == sizeof numbers) memcpy(&numbers, source, sizeof numbers);
    else for (size_t i = 0; i < bytes / sizeof(int16_t); i++) numbers[i] = ((const int16_t *)source)[i];
    int16x8 products = halves_of(load_halves((const uint8_t *)&numbers) * factor);
    exceeded |= any_infinite(numbers) || any_infinite(products);
    if (bytes == sizeof products) memcpy(target, &products, sizeof products);
    else for (size_t i = 0; i < bytes / sizeof(int16_t); i++) ((int16_t *)target)[i] = products[i];
  }
  return exceeded;
}

// The same for 32-bit floats.
EXPORT(scaleF32)
bool scale_f32(const float *source, const float *source_end, float *target, float factor) {
  bool exceeded = false;
  for (; source < source_end; source++, target++) {
    *target = *source * factor;
    exceeded |= !(__builtin_fabsf(*target) <= __FLT_MAX__);
  }
  return exceeded;
}

// Eight whole numbers times a scale, rounded to a half or a float; what is too large becomes the largest half.
INLINE void store_scaled(enum number_type type, uint8_t *target, int8x8 levels, float scale) {
  const float8 numbers = __builtin_convertvector(levels, float8) * scale;
  if (type == F16) {
    const int16x8 halves = halves_of(numbers);
    const int16x8 finite = __builtin_elementwise_min((int16x8)(halves & 0x7fff), (int16x8){0} + (INFINITE_HALF - 1));
    const int16x8 result = finite | (halves & (int16_t)0x8000);
    memcpy(target, &result, sizeof result);
  } else {
    memcpy(target, &numbers, sizeof numbers);
  }
}

// Restores blocks of 32 numbers in ggml's formats: `q8_0` has 8 bits a number; `q4_0` has 4, stored 8 above the number, the
// second sixteen in the upper halves of bytes. True where a scale is not finite.
INLINE bool restore(bool is_q8, enum number_type type, const uint8_t *source, const uint8_t *source_end, uint8_t *target) {
  bool exceeded = false;
  for (; source < source_end; source += SCALE_BYTES + (is_q8 ? QUANTISED_BLOCK : QUANTISED_BLOCK / 2)) {
    int16_t half;
    memcpy(&half, source, sizeof half);
    const int16x8 halves = (int16x8){0} + half;
    exceeded |= any_infinite(halves);
    const float scale = load_halves((const uint8_t *)&halves)[0];
    for (size_t at = 0; at < QUANTISED_BLOCK; at += AT_ONCE, target += AT_ONCE * NUMBER_BYTES[type]) {
      int8x8 bytes;
      memcpy(&bytes, source + SCALE_BYTES + (is_q8 ? at : at % (QUANTISED_BLOCK / 2)), sizeof bytes);
      if (is_q8) store_scaled(type, target, bytes, scale);
      else store_scaled(type, target, (at < QUANTISED_BLOCK / 2 ? bytes & 0xf : (bytes >> 4) & 0xf) - 8, scale);
    }
  }
  return exceeded;
}

#define EXPORT_RESTORE(NAME, IS_Q8, TYPE)                                                                              \
  EXPORT(NAME) bool NAME(const uint8_t *source, const uint8_t *source_end, uint8_t *target) {                          \
    return restore(IS_Q8, TYPE, source, source_end, target);                                                           \
  }
EXPORT_RESTORE(restore_q8_0_F16, true, F16)
EXPORT_RESTORE(restore_q8_0_F32, true, F32)
EXPORT_RESTORE(restore_q4_0_F16, false, F16)
EXPORT_RESTORE(restore_q4_0_F32, false, F32)

// Writes the columns of a matrix as rows, a square of numbers at a time; numbers beyond the last whole squares one by one.
#define EXPORT_TRANSPOSE(NAME, NUMBER, VECTOR, SIDE, LOW, HIGH)                                                        \
  EXPORT(NAME) void NAME(const NUMBER *source, size_t rows, size_t columns, NUMBER *target) {                          \
    const size_t whole_rows = rows - rows % SIDE, whole_columns = columns - columns % SIDE;                            \
    for (size_t column = 0; column < whole_columns; column += SIDE) {                                                  \
      for (size_t row = 0; row < whole_rows; row += SIDE) {                                                            \
        VECTOR lines[SIDE], others[SIDE];                                                                              \
        for (int i = 0; i < SIDE; i++) memcpy(&lines[i], source + (row + i) * columns + column, sizeof(VECTOR));       \
        /* Each step brings the lines together that are half the square apart. */                                      \
        for (int step = 1; step < SIDE; step *= 2) {                                                                   \
          for (int i = 0; i < SIDE / 2; i++) {                                                                         \
            others[2 * i] = LOW(lines[i], lines[i + SIDE / 2]);                                                        \
            others[2 * i + 1] = HIGH(lines[i], lines[i + SIDE / 2]);                                                   \
          }                                                                                                            \
          for (int i = 0; i < SIDE; i++) lines[i] = others[i];                                                         \
        }                                                                                                              \
        for (int i = 0; i < SIDE; i++) memcpy(target + (column + i) * rows + row, &lines[i], sizeof(VECTOR));          \
      }                                                                                                                \
    }                                                                                                                  \
    for (size_t row = 0; row < rows; row++) {                                                                          \
      for (size_t column = row < whole_rows ? whole_columns : 0; column < columns; column++) {                         \
        target[column * rows + row] = source[row * columns + column];                                                  \
      }                                                                                                                \
    }                                                                                                                  \
  }
#define LOW_HALVES(A, B) __builtin_shufflevector(A, B, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH_HALVES(A, B) __builtin_shufflevector(A, B, 4, 12, 5, 13, 6, 14, 7, 15)
#define LOW_FLOATS(A, B) __builtin_shufflevector(A, B, 0, 4, 1, 5)
#define HIGH_FLOATS(A, B) __builtin_shufflevector(A, B, 2, 6, 3, 7)
EXPORT_TRANSPOSE(transposeF16, int16_t, int16x8, 8, LOW_HALVES, HIGH_HALVES)
EXPORT_TRANSPOSE(transposeF32, int32_t, int32x4, 4, LOW_FLOATS, HIGH_FLOATS)
