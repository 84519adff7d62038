// The kernels as a WebAssembly module, which runs where no native addon was compiled; the kernels that no addon has are here
// alone. Addresses point into the memory that the module imports, and lengths are in bytes.
#include "restore.h"
#include "rotate.h"
#include "scale.h"
#include "spread-rows.h"

#define EXPORT(NAME) __attribute__((export_name(#NAME)))

typedef int32_t int32x4 __attribute__((vector_size(16)));

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

#define EXPORT_SCALE(NAME, FUNCTION)                                                                                   \
  EXPORT(NAME) bool NAME(const uint8_t *source, const uint8_t *source_end, uint8_t *target, float factor) {            \
    return FUNCTION(source, source_end, target, factor);                                                               \
  }
EXPORT_SCALE(scaleF16, scale_halves)
EXPORT_SCALE(scaleF32, scale_floats)

#define EXPORT_RESTORE(NAME, FUNCTION)                                                                                 \
  EXPORT(NAME) bool NAME(const uint8_t *source, const uint8_t *source_end, uint8_t *target) {                          \
    return FUNCTION(source, source_end, target);                                                                       \
  }
EXPORT_RESTORE(restore_q8_0_F16, restore_q8_0_halves)
EXPORT_RESTORE(restore_q8_0_F32, restore_q8_0_floats)
EXPORT_RESTORE(restore_q4_0_F16, restore_q4_0_halves)
EXPORT_RESTORE(restore_q4_0_F32, restore_q4_0_floats)

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
