// Copies rows that lie one behind the other to where they lie apart.
#ifndef SPREAD_ROWS_H
#define SPREAD_ROWS_H

#include "eight-numbers.h"

struct rows {
  const uint8_t *source;
  size_t count;
  size_t row_bytes;
  uint8_t *target;
  size_t target_row_bytes;
};

enum { LINE_BYTES = 64, ROWS_AHEAD = 8 };

// Longer rows are fetched ahead by the processor itself; WebAssembly has no instruction to fetch any.
#if defined(__wasm_simd128__)
typedef int16x8 longest_vector;
static const size_t LONGEST_FETCHED_BYTES = 0;
#else
typedef float8 longest_vector;
static const size_t LONGEST_FETCHED_BYTES = 1024;
#endif

#define COPY(TYPE, AT)                                                         \
  do {                                                                         \
    TYPE bytes;                                                                \
    memcpy(&bytes, source + (AT), sizeof bytes);                               \
    memcpy(target + (AT), &bytes, sizeof bytes);                               \
  } while (false)

// Whole vectors from the beginning of the row, and one that ends with it; shorter rows by what is shorter.
INLINE void copy_row(const uint8_t *source, size_t row_bytes, uint8_t *target) {
  if (row_bytes >= sizeof(longest_vector)) {
    const size_t last = row_bytes - sizeof(longest_vector);
// Unrolled, WebAssembly takes a quarter longer for rows of a hundred bytes.
#if defined(__wasm_simd128__)
#pragma clang loop unroll(disable)
#endif
    for (size_t i = 0; i < last; i += sizeof(longest_vector)) COPY(longest_vector, i);
    COPY(longest_vector, last);
  } else if (row_bytes >= sizeof(int16x8)) {
    COPY(int16x8, 0);
    COPY(int16x8, row_bytes - sizeof(int16x8));
  } else if (row_bytes >= sizeof(uint64_t)) {
    COPY(uint64_t, 0);
    COPY(uint64_t, row_bytes - sizeof(uint64_t));
  } else {
    for (size_t i = 0; i < row_bytes; i++) COPY(uint8_t, i);
  }
}

// Asks for the lines of a row that is written soon, of which others hold a part: a processor reads them first.
INLINE void fetch(const uint8_t *row, size_t row_bytes) {
  for (size_t i = 0; i < row_bytes; i += LINE_BYTES) __builtin_prefetch(row + i, 1);
  __builtin_prefetch(row + row_bytes - 1, 1);
}

KERNEL static void spread_rows(struct rows rows) {
  const bool fetches = rows.row_bytes <= LONGEST_FETCHED_BYTES;
  for (size_t left = rows.count; left > 0; left--) {
    if (fetches && left > ROWS_AHEAD) fetch(rows.target + ROWS_AHEAD * rows.target_row_bytes, rows.row_bytes);
    copy_row(rows.source, rows.row_bytes, rows.target);
    rows.source += rows.row_bytes;
    rows.target += rows.target_row_bytes;
  }
}

#endif
