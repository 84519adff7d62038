// Multiplies numbers by a factor.
#ifndef SCALE_H
#define SCALE_H

#include "eight-numbers.h"

INLINE void scale_eight(enum number_type type, const uint8_t *source, uint8_t *target, float factor,
                        struct largest *largest) {
  if (type == F16) {
    int16x8 halves;
    memcpy(&halves, source, sizeof halves);
    largest->halves = larger_halves(largest->halves, halves & 0x7fff);
  }
  store_numbers(type, target, load_numbers(type, source) * factor, largest);
}

// One rounding each. True where a number or a product is not finite. The target may be the source.
INLINE bool scale(enum number_type type, const uint8_t *source, const uint8_t *source_end, uint8_t *target, float factor) {
  const size_t step = AT_ONCE * NUMBER_BYTES[type], rest = (size_t)(source_end - source) % step;
  struct largest largest = {{0}, {0}};
  for (; source < source_end - rest; source += step, target += step) scale_eight(type, source, target, factor, &largest);
  uint8_t last[sizeof(float8)] = {0};
  memcpy(last, source, rest);
  scale_eight(type, last, last, factor, &largest);
  memcpy(target, last, rest);
  return exceeds(&largest, LARGEST_HALF);
}

KERNEL static bool scale_halves(const uint8_t *source, const uint8_t *source_end, uint8_t *target, float factor) {
  return scale(F16, source, source_end, target, factor);
}
KERNEL static bool scale_floats(const uint8_t *source, const uint8_t *source_end, uint8_t *target, float factor) {
  return scale(F32, source, source_end, target, factor);
}

#endif
