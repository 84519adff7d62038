// The kernels that move KV blocks, as functions of Node-API on the memory of the WebAssembly kernels, a Uint8Array. Addresses
// and lengths are in bytes from its beginning; a call moves one range of each layer, of equal length, since the way into
// a call of its own for each costs a third of the time.
#include <node_api.h>

#include "restore.h"
#include "rotate.h"
#include "scale.h"
#include "spread-rows.h"

enum { MAX_NUMBERS = 4 };

// The arguments of a call: the memory, where the ranges begin and go, their length, and numbers.
struct call {
  uint8_t *memory;
  uint64_t memory_bytes;
  const uint32_t *sources;
  const uint32_t *targets;
  size_t ranges;
  uint64_t range_bytes;
  uint64_t numbers[MAX_NUMBERS];
};

static bool read_array(napi_env env, napi_value value, napi_typedarray_type expected, void **data, size_t *length) {
  bool is_typed = false;
  napi_typedarray_type type;
  return napi_is_typedarray(env, value, &is_typed) == napi_ok && is_typed &&
         napi_get_typedarray_info(env, value, &type, length, data, NULL, NULL) == napi_ok && type == expected;
}

static bool read_number(napi_env env, napi_value value, uint64_t *number) {
  uint32_t read;
  if (napi_get_value_uint32(env, value, &read) != napi_ok) return false;
  *number = read;
  return true;
}

// (memory, sources, targets, rangeBytes, and so many numbers)
static bool read_call(napi_env env, napi_callback_info info, size_t numbers, struct call *call) {
  napi_value values[4 + MAX_NUMBERS];
  size_t given = 4 + numbers, memory_bytes, targets;
  void *memory, *source, *target;
  if (napi_get_cb_info(env, info, &given, values, NULL, NULL) != napi_ok || given < 4 + numbers) return false;
  if (!read_array(env, values[0], napi_uint8_array, &memory, &memory_bytes)) return false;
  if (!read_array(env, values[1], napi_uint32_array, &source, &call->ranges)) return false;
  if (!read_array(env, values[2], napi_uint32_array, &target, &targets) || targets != call->ranges) return false;
  if (!read_number(env, values[3], &call->range_bytes)) return false;
  for (size_t i = 0; i < numbers; i++) {
    if (!read_number(env, values[4 + i], &call->numbers[i])) return false;
  }
  call->memory = memory;
  call->memory_bytes = memory_bytes;
  call->sources = source;
  call->targets = target;
  return true;
}

// True where all ranges lie in the memory, before and after they were moved.
static bool ranges_are_inside(const struct call *call, uint64_t target_bytes) {
  for (size_t i = 0; i < call->ranges; i++) {
    if (call->sources[i] + call->range_bytes > call->memory_bytes) return false;
    if (call->targets[i] + target_bytes > call->memory_bytes) return false;
  }
  return true;
}

static napi_value refuse(napi_env env, const char *message) {
  napi_throw_range_error(env, NULL, message);
  return NULL;
}

static napi_value number(napi_env env, uint32_t value) {
  napi_value result;
  return napi_create_uint32(env, value, &result) == napi_ok ? result : NULL;
}

typedef bool (*rotation)(const struct vectors *);

// (…, angles, dimensions, headDimension): 1 where a number cannot be rotated
static napi_value call_rotation(napi_env env, napi_callback_info info, rotation rotation, enum pairing pairing,
                                enum number_type type) {
  struct call call;
  if (!read_call(env, info, 3, &call)) return refuse(env, "a rotation takes memory, ranges and three numbers");
  const uint64_t angles = call.numbers[0], dimensions = call.numbers[1], head_dimension = call.numbers[2];
  const uint64_t angle_bytes = (pairing == NORM ? 2 : 1) * dimensions * sizeof(float);
  if (dimensions % AT_ONCE != 0 || dimensions < 2 * AT_ONCE || dimensions > head_dimension) {
    return refuse(env, "a rotation of so many dimensions is not known");
  }
  if (call.range_bytes % (head_dimension * NUMBER_BYTES[type]) != 0) return refuse(env, "keys are no whole vectors");
  if (!ranges_are_inside(&call, call.range_bytes) || angles + angle_bytes > call.memory_bytes) {
    return refuse(env, "keys lie outside of the memory");
  }
  bool exceeded = false;
  for (size_t i = 0; i < call.ranges; i++) {
    const uint8_t *source = call.memory + call.sources[i];
    const struct vectors vectors = {
        .source = source,
        .source_end = source + call.range_bytes,
        .target = call.memory + call.targets[i],
        .angles = call.memory + angles,
        .dimensions = dimensions,
        .head_dimension = head_dimension,
    };
    if (rotation(&vectors)) exceeded = true;
  }
  return number(env, exceeded ? 1 : 0);
}

#define CALL_ROTATION(FUNCTION, PAIRING, TYPE)                                                                         \
  static napi_value call_##FUNCTION(napi_env env, napi_callback_info info) {                                           \
    return call_rotation(env, info, FUNCTION, PAIRING, TYPE);                                                          \
  }
CALL_ROTATION(rotate_norm_f16, NORM, F16)
CALL_ROTATION(rotate_norm_f32, NORM, F32)
CALL_ROTATION(rotate_neox_f16, NEOX, F16)
CALL_ROTATION(rotate_neox_f32, NEOX, F32)

// (…, rowBytes, targetRowBytes): 0
static napi_value call_spread_rows(napi_env env, napi_callback_info info) {
  struct call call;
  if (!read_call(env, info, 2, &call)) return refuse(env, "spreading rows takes memory, ranges and two numbers");
  const uint64_t row_bytes = call.numbers[0], target_row_bytes = call.numbers[1];
  if (row_bytes == 0 || call.range_bytes == 0 || call.range_bytes % row_bytes != 0) {
    return refuse(env, "values are no whole rows");
  }
  const uint64_t count = call.range_bytes / row_bytes;
  if (!ranges_are_inside(&call, (count - 1) * target_row_bytes + row_bytes)) {
    return refuse(env, "values lie outside of the memory");
  }
  for (size_t i = 0; i < call.ranges; i++) {
    const struct rows rows = {
        .source = call.memory + call.sources[i],
        .count = count,
        .row_bytes = row_bytes,
        .target = call.memory + call.targets[i],
        .target_row_bytes = target_row_bytes,
    };
    spread_rows(rows);
  }
  return number(env, 0);
}

typedef bool (*scaling)(const uint8_t *source, const uint8_t *source_end, uint8_t *target, float factor);

// (…, the bits of the factor as a 32-bit float): 1 where a number or a product is not finite
static napi_value call_scaling(napi_env env, napi_callback_info info, scaling scaling, enum number_type type) {
  struct call call;
  if (!read_call(env, info, 1, &call)) return refuse(env, "scaling takes memory, ranges and a number");
  if (call.range_bytes % NUMBER_BYTES[type] != 0) return refuse(env, "values are no whole numbers");
  if (!ranges_are_inside(&call, call.range_bytes)) return refuse(env, "values lie outside of the memory");
  const uint32_t bits = (uint32_t)call.numbers[0];
  float factor;
  memcpy(&factor, &bits, sizeof factor);
  bool exceeded = false;
  for (size_t i = 0; i < call.ranges; i++) {
    const uint8_t *source = call.memory + call.sources[i];
    if (scaling(source, source + call.range_bytes, call.memory + call.targets[i], factor)) exceeded = true;
  }
  return number(env, exceeded ? 1 : 0);
}

#define CALL_SCALING(FUNCTION, TYPE)                                                                                   \
  static napi_value call_##FUNCTION(napi_env env, napi_callback_info info) {                                           \
    return call_scaling(env, info, FUNCTION, TYPE);                                                                    \
  }
CALL_SCALING(scale_halves, F16)
CALL_SCALING(scale_floats, F32)

typedef bool (*restoring)(const uint8_t *source, const uint8_t *source_end, uint8_t *target);

// (…): 1 where a scale is not finite
static napi_value call_restoring(napi_env env, napi_callback_info info, restoring restoring,
                                 enum quantised_type quantised, enum number_type type) {
  struct call call;
  if (!read_call(env, info, 0, &call)) return refuse(env, "restoring takes memory and ranges");
  if (call.range_bytes % GROUP_BYTES[quantised] != 0) return refuse(env, "quantised numbers are no whole groups");
  if (!ranges_are_inside(&call, call.range_bytes / GROUP_BYTES[quantised] * GROUP * NUMBER_BYTES[type])) {
    return refuse(env, "quantised numbers lie outside of the memory");
  }
  bool exceeded = false;
  for (size_t i = 0; i < call.ranges; i++) {
    const uint8_t *source = call.memory + call.sources[i];
    if (restoring(source, source + call.range_bytes, call.memory + call.targets[i])) exceeded = true;
  }
  return number(env, exceeded ? 1 : 0);
}

#define CALL_RESTORING(FUNCTION, QUANTISED, TYPE)                                                                      \
  static napi_value call_##FUNCTION(napi_env env, napi_callback_info info) {                                           \
    return call_restoring(env, info, FUNCTION, QUANTISED, TYPE);                                                       \
  }
CALL_RESTORING(restore_q8_0_halves, Q8_0, F16)
CALL_RESTORING(restore_q8_0_floats, Q8_0, F32)
CALL_RESTORING(restore_q4_0_halves, Q4_0, F16)
CALL_RESTORING(restore_q4_0_floats, Q4_0, F32)

static bool processor_has_instructions(void) {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2");
#else
  return true;
#endif
}

NAPI_MODULE_INIT() {
  if (!processor_has_instructions()) {
    napi_throw_error(env, NULL, "this processor has no AVX2");
    return NULL;
  }
  const napi_property_descriptor functions[] = {
      {.utf8name = "rotateNormF16", .method = call_rotate_norm_f16, .attributes = napi_enumerable},
      {.utf8name = "rotateNormF32", .method = call_rotate_norm_f32, .attributes = napi_enumerable},
      {.utf8name = "rotateNeoxF16", .method = call_rotate_neox_f16, .attributes = napi_enumerable},
      {.utf8name = "rotateNeoxF32", .method = call_rotate_neox_f32, .attributes = napi_enumerable},
      {.utf8name = "scaleF16", .method = call_scale_halves, .attributes = napi_enumerable},
      {.utf8name = "scaleF32", .method = call_scale_floats, .attributes = napi_enumerable},
      {.utf8name = "restore_q8_0_F16", .method = call_restore_q8_0_halves, .attributes = napi_enumerable},
      {.utf8name = "restore_q8_0_F32", .method = call_restore_q8_0_floats, .attributes = napi_enumerable},
      {.utf8name = "restore_q4_0_F16", .method = call_restore_q4_0_halves, .attributes = napi_enumerable},
      {.utf8name = "restore_q4_0_F32", .method = call_restore_q4_0_floats, .attributes = napi_enumerable},
      {.utf8name = "spreadRows", .method = call_spread_rows, .attributes = napi_enumerable},
  };
  napi_define_properties(env, exports, sizeof functions / sizeof functions[0], functions);
  return exports;
}
