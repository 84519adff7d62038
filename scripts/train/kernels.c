/**
 * Attention with a segment mask and rotary positions, and its gradient, on the CPU.
 *
 * Written with GCC's vector extensions, so one source compiles to AVX-512, AVX2 or NEON. All arrays are dense,
 * row-major float32 unless said otherwise. `kernels.py` builds this file and is the only caller.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LANES 16
#define HEAD_DIM 32
#define HALF_DIM (HEAD_DIM / 2)
#define HEAD_VECTORS (HEAD_DIM / LANES)

/** A segment code is `document << 8 | segment`: 0 the header, 1-126 memories, 127 links, 128-255 questions; REPLACED is
 * added to the tokens of a memory that its link stands for (see packing.py). */
#define REPLACED (1 << 30)
#define DOCUMENT_OF(code) (((code) & ~REPLACED) >> 8)
#define SEGMENT_OF(code) ((code) & 255)
#define LINK 127

#define MASKED_SCORE (-1e30f)

typedef float Floats __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t Ints __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

static inline Floats load(const float *from) { return *(const Floats *)from; }
static inline void store(float *to, Floats value) { *(Floats *)to = value; }
static inline Floats splat(float value) { return (Floats){} + value; }
static inline Floats choose(Ints mask, Floats yes, Floats no) { return (Floats)(((Ints)yes & mask) | ((Ints)no & ~mask)); }
static inline Floats greater(Floats a, Floats b) { return choose(a > b, a, b); }

/** e^x to about 2e-7, relative. Exactly 0 below x = -88, so that a masked score weighs nothing. */
static inline Floats exponential(Floats x) {
  Floats scaled = greater(x * 1.44269504088896341f, splat(-127.f));
  Ints whole = __builtin_convertvector(scaled + 1024.5f, Ints) - 1024;
  Floats rest = scaled - __builtin_convertvector(whole, Floats);
  Floats power = splat(1.5403530e-4f);
  power = power * rest + 1.3333558e-3f;
  power = power * rest + 9.6181291e-3f;
  power = power * rest + 5.5504109e-2f;
  power = power * rest + 2.4022651e-1f;
  power = power * rest + 6.9314718e-1f;
  power = power * rest + 1.0f;
  return power * (Floats)((whole + 127) << 23);
}

/** Rotates pairs (2p, 2p + 1) of one head: `direction` 1 forwards, -1 back. llama.cpp's interleaved ("norm") RoPE. */
static inline void rotate(float *to, const float *from, const float *cosine, const float *sine, float scale, float direction) {
  for (int p = 0; p < HALF_DIM; p++) {
    float a = from[2 * p], b = from[2 * p + 1], c = cosine[p], s = direction * sine[p];
    to[2 * p] = (a * c - b * s) * scale;
    to[2 * p + 1] = (a * s + b * c) * scale;
  }
}

/**
 * Which keys do the queries first .. first + 15 of a row see? Writes the index of every key that one of them sees, and
 * for each a vector that is added to the scores: 0 where the query sees it, MASKED_SCORE where not. Returns their count.
 *
 * A query sees an earlier key of its own document that lies in the header, in its own segment, or, for a link and a
 * question, in a memory or link, where it is not replaced.
 */
static int visible_keys(const int32_t *codes, int first, int length, int32_t *keys, float *bias) {
  int last = first + LANES < length ? first + LANES : length, count = 0;
  Ints query_code, query_index;
  for (int r = 0; r < LANES; r++) {
    query_index[r] = first + r;
    query_code[r] = first + r < length ? codes[first + r] & ~REPLACED : -1;
  }
  Ints query_document = DOCUMENT_OF(query_code), reads_memories = SEGMENT_OF(query_code) >= LINK;
  int oldest_document = DOCUMENT_OF(codes[first]);
  for (int key = 0; key < last; key++) {
    int code = codes[key], document = DOCUMENT_OF(code), segment = SEGMENT_OF(code);
    if (document < oldest_document) continue;
    Ints seen = query_code == (code & ~REPLACED);
    if (segment == 0) seen = ~(Ints){};
    else if (segment <= LINK && !(code & REPLACED)) seen |= reads_memories;
    seen &= query_document == document;
    if (key > first) seen &= query_index >= key;
    int any = 0;
    for (int r = 0; r < LANES; r++) any |= seen[r];
    if (!any) continue;
    keys[count] = key;
    store(bias + (size_t)count * LANES, (Floats)(~seen & (Ints)splat(MASKED_SCORE)));
    count++;
  }
  return count;
}

/** scores[n][16] = bias[n][16] + rows[keys[n]] . transposed[.][16]; `bias` may be NULL. */
static inline void dot_products(const float *rows, int stride, const int32_t *keys, int count, const float *transposed,
                                const float *bias, float *scores) {
  int n = 0;
  for (; n + 4 <= count; n += 4) {
    const float *row[4];
    Floats sum[4];
    for (int u = 0; u < 4; u++) {
      row[u] = rows + (size_t)keys[n + u] * stride;
      sum[u] = bias ? load(bias + (size_t)(n + u) * LANES) : splat(0);
    }
    for (int d = 0; d < HEAD_DIM; d++) {
      Floats column = load(transposed + d * LANES);
#pragma GCC unroll 4
      for (int u = 0; u < 4; u++) sum[u] += row[u][d] * column;
    }
    for (int u = 0; u < 4; u++) store(scores + (size_t)(n + u) * LANES, sum[u]);
  }
  for (; n < count; n++) {
    const float *row = rows + (size_t)keys[n] * stride;
    Floats sum = bias ? load(bias + (size_t)n * LANES) : splat(0);
    for (int d = 0; d < HEAD_DIM; d++) sum += row[d] * load(transposed + d * LANES);
    store(scores + (size_t)n * LANES, sum);
  }
}

/** transposed[d][16] = sum over n of weights[n][16] * rows[keys[n]][d]. */
static inline void weighted_sum(const float *rows, int stride, const int32_t *keys, int count, const float *weights, float *transposed) {
  for (int start = 0; start < HEAD_DIM; start += LANES) {
    Floats sum[LANES];
    for (int d = 0; d < LANES; d++) sum[d] = splat(0);
    for (int n = 0; n < count; n++) {
      Floats weight = load(weights + (size_t)n * LANES);
      const float *row = rows + (size_t)keys[n] * stride + start;
#pragma GCC unroll 16
      for (int d = 0; d < LANES; d++) sum[d] += row[d] * weight;
    }
    for (int d = 0; d < LANES; d++) store(transposed + (start + d) * LANES, sum[d]);
  }
}

/** gradient[keys[n]][.] += sum over the 16 queries of weights[n][q] * rows[q][.]. */
static inline void scatter_outer(float *gradient, const int32_t *keys, int count, const float *weights, const float *rows) {
  int n = 0;
  for (; n + 4 <= count; n += 4) {
    Floats sum[4][HEAD_VECTORS];
    for (int u = 0; u < 4; u++)
      for (int v = 0; v < HEAD_VECTORS; v++) sum[u][v] = load(gradient + (size_t)keys[n + u] * HEAD_DIM + v * LANES);
    for (int q = 0; q < LANES; q++) {
      Floats row[HEAD_VECTORS];
      for (int v = 0; v < HEAD_VECTORS; v++) row[v] = load(rows + q * HEAD_DIM + v * LANES);
#pragma GCC unroll 4
      for (int u = 0; u < 4; u++)
#pragma GCC unroll 2
        for (int v = 0; v < HEAD_VECTORS; v++) sum[u][v] += weights[(size_t)(n + u) * LANES + q] * row[v];
    }
    for (int u = 0; u < 4; u++)
      for (int v = 0; v < HEAD_VECTORS; v++) store(gradient + (size_t)keys[n + u] * HEAD_DIM + v * LANES, sum[u][v]);
  }
  for (; n < count; n++)
    for (int v = 0; v < HEAD_VECTORS; v++) {
      float *to = gradient + (size_t)keys[n] * HEAD_DIM + v * LANES;
      Floats sum = load(to);
      for (int q = 0; q < LANES; q++) sum += weights[(size_t)n * LANES + q] * load(rows + q * HEAD_DIM + v * LANES);
      store(to, sum);
    }
}

static void *allocate(size_t bytes) { return aligned_alloc(64, (bytes + 63) / 64 * 64); }

/**
 * Grouped-query attention.
 *
 * qkv        [batch, length, (heads + 2 * kv_heads) * 32]  before rotation, in the order queries, keys, values
 * codes      [batch, length]  segment codes; positions [batch, length]; cosine, sine [positions, 16]
 * out        [batch, length, heads * 32];  log_sum [batch, heads, length] (kept for the backward pass)
 */
void attention_forward(const float *qkv, const int32_t *codes, const int32_t *positions, const float *cosine, const float *sine,
                       float *out, float *log_sum, int batch, int length, int heads, int kv_heads) {
  int width = (heads + 2 * kv_heads) * HEAD_DIM, group = heads / kv_heads;
  float scale = 1.f / sqrtf(HEAD_DIM);
#pragma omp parallel
  {
    size_t row_bytes = sizeof(float) * (size_t)length * HEAD_DIM, score_bytes = sizeof(float) * (size_t)length * LANES;
    float *rotated = allocate(row_bytes), *scores = allocate(score_bytes), *bias = allocate(score_bytes);
    int32_t *keys = allocate(sizeof(int32_t) * (size_t)length);
    float query[HEAD_DIM * LANES], result[HEAD_DIM * LANES], row[HEAD_DIM];
#pragma omp for schedule(dynamic, 1)
    for (int item = 0; item < batch * kv_heads; item++) {
      int b = item / kv_heads, kv = item % kv_heads;
      const int32_t *code = codes + (size_t)b * length, *position = positions + (size_t)b * length;
      const float *base = qkv + (size_t)b * length * width, *values = base + (heads + kv_heads + kv) * HEAD_DIM;
      for (int t = 0; t < length; t++) {
        size_t angle = (size_t)position[t] * HALF_DIM;
        rotate(rotated + (size_t)t * HEAD_DIM, base + (size_t)t * width + (heads + kv) * HEAD_DIM, cosine + angle, sine + angle, 1.f, 1.f);
      }
      for (int first = 0; first < length; first += LANES) {
        int count = visible_keys(code, first, length, keys, bias), queries = length - first < LANES ? length - first : LANES;
        for (int h = kv * group; h < (kv + 1) * group; h++) {
          if (queries < LANES) memset(query, 0, sizeof query);
          for (int r = 0; r < queries; r++) {
            int t = first + r;
            size_t angle = (size_t)position[t] * HALF_DIM;
            rotate(row, base + (size_t)t * width + h * HEAD_DIM, cosine + angle, sine + angle, scale, 1.f);
            for (int d = 0; d < HEAD_DIM; d++) query[d * LANES + r] = row[d];
          }
          dot_products(rotated, HEAD_DIM, keys, count, query, bias, scores);
          Floats largest = splat(MASKED_SCORE), sum = splat(0);
          for (int n = 0; n < count; n++) largest = greater(largest, load(scores + (size_t)n * LANES));
          for (int n = 0; n < count; n++) {
            Floats weight = exponential(load(scores + (size_t)n * LANES) - largest);
            sum += weight;
            store(scores + (size_t)n * LANES, weight);
          }
          weighted_sum(values, width, keys, count, scores, result);
          for (int r = 0; r < queries; r++) {
            int t = first + r;
            float *to = out + ((size_t)b * length + t) * heads * HEAD_DIM + h * HEAD_DIM, share = 1.f / sum[r];
            log_sum[((size_t)b * heads + h) * length + t] = largest[r] + logf(sum[r]);
            for (int d = 0; d < HEAD_DIM; d++) to[d] = result[d * LANES + r] * share;
          }
        }
      }
    }
    free(rotated), free(scores), free(bias), free(keys);
  }
}

/** The gradient of `attention_forward` with respect to `qkv`; shapes as there, `d_out` like `out`, `d_qkv` like `qkv`. */
void attention_backward(const float *qkv, const int32_t *codes, const int32_t *positions, const float *cosine, const float *sine,
                        const float *out, const float *log_sum, const float *d_out, float *d_qkv, int batch, int length,
                        int heads, int kv_heads) {
  int width = (heads + 2 * kv_heads) * HEAD_DIM, group = heads / kv_heads;
  float scale = 1.f / sqrtf(HEAD_DIM);
#pragma omp parallel
  {
    size_t row_bytes = sizeof(float) * (size_t)length * HEAD_DIM, score_bytes = sizeof(float) * (size_t)length * LANES;
    float *rotated = allocate(row_bytes), *d_key = allocate(row_bytes), *d_value = allocate(row_bytes);
    float *weights = allocate(score_bytes), *d_scores = allocate(score_bytes), *bias = allocate(score_bytes);
    int32_t *keys = allocate(sizeof(int32_t) * (size_t)length);
    float query[LANES * HEAD_DIM], query_columns[HEAD_DIM * LANES], d_row[LANES * HEAD_DIM], d_columns[HEAD_DIM * LANES];
#pragma omp for schedule(dynamic, 1)
    for (int item = 0; item < batch * kv_heads; item++) {
      int b = item / kv_heads, kv = item % kv_heads;
      const int32_t *code = codes + (size_t)b * length, *position = positions + (size_t)b * length;
      const float *base = qkv + (size_t)b * length * width, *values = base + (heads + kv_heads + kv) * HEAD_DIM;
      float *d_base = d_qkv + (size_t)b * length * width;
      for (int t = 0; t < length; t++) {
        size_t angle = (size_t)position[t] * HALF_DIM;
        rotate(rotated + (size_t)t * HEAD_DIM, base + (size_t)t * width + (heads + kv) * HEAD_DIM, cosine + angle, sine + angle, 1.f, 1.f);
      }
      memset(d_key, 0, row_bytes);
      memset(d_value, 0, row_bytes);
      for (int first = 0; first < length; first += LANES) {
        int count = visible_keys(code, first, length, keys, bias), queries = length - first < LANES ? length - first : LANES;
        for (int h = kv * group; h < (kv + 1) * group; h++) {
          Floats normaliser = splat(1e30f), inner = splat(0);
          if (queries < LANES) memset(query, 0, sizeof query), memset(d_row, 0, sizeof d_row);
          for (int r = 0; r < queries; r++) {
            int t = first + r;
            size_t angle = (size_t)position[t] * HALF_DIM, at = ((size_t)b * length + t) * heads * HEAD_DIM + h * HEAD_DIM;
            float sum = 0;
            rotate(query + r * HEAD_DIM, base + (size_t)t * width + h * HEAD_DIM, cosine + angle, sine + angle, scale, 1.f);
            for (int d = 0; d < HEAD_DIM; d++) {
              d_row[r * HEAD_DIM + d] = d_out[at + d];
              sum += d_out[at + d] * out[at + d];
            }
            inner[r] = sum;
            normaliser[r] = log_sum[((size_t)b * heads + h) * length + t];
          }
          for (int r = 0; r < LANES; r++)
            for (int d = 0; d < HEAD_DIM; d++) {
              query_columns[d * LANES + r] = query[r * HEAD_DIM + d];
              d_columns[d * LANES + r] = d_row[r * HEAD_DIM + d];
            }
          dot_products(rotated, HEAD_DIM, keys, count, query_columns, bias, weights);
          dot_products(values, width, keys, count, d_columns, NULL, d_scores);
          for (int n = 0; n < count; n++) {
            size_t at = (size_t)n * LANES;
            Floats weight = exponential(load(weights + at) - normaliser);
            store(weights + at, weight);
            store(d_scores + at, weight * (load(d_scores + at) - inner));
          }
          scatter_outer(d_value, keys, count, weights, d_row);
          scatter_outer(d_key, keys, count, d_scores, query);
          weighted_sum(rotated, HEAD_DIM, keys, count, d_scores, d_columns);
          for (int r = 0; r < queries; r++) {
            int t = first + r;
            size_t angle = (size_t)position[t] * HALF_DIM;
            float row[HEAD_DIM];
            for (int d = 0; d < HEAD_DIM; d++) row[d] = d_columns[d * LANES + r];
            rotate(d_base + (size_t)t * width + h * HEAD_DIM, row, cosine + angle, sine + angle, scale, -1.f);
          }
        }
      }
      for (int t = 0; t < length; t++) {
        size_t angle = (size_t)position[t] * HALF_DIM, row = (size_t)t * HEAD_DIM;
        float *to = d_base + (size_t)t * width + (heads + kv) * HEAD_DIM;
        rotate(to, d_key + row, cosine + angle, sine + angle, 1.f, -1.f);
        memcpy(to + kv_heads * HEAD_DIM, d_value + row, sizeof(float) * HEAD_DIM);
      }
    }
    free(rotated), free(d_key), free(d_value), free(weights), free(d_scores), free(bias), free(keys);
  }
}
