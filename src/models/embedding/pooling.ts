/** Ways to pool token vectors: mean, first token, last token, or maximum of each number. */
export type Pooling = 'mean' | 'first' | 'last' | 'max';

/**
 * Pools the token vectors of one text, which has no padding.
 * @param values tokens × dimension numbers, row by row, one token at least
 */
export function pool(values: ArrayLike<number>, dimension: number, pooling: Pooling): Float32Array {
  const tokens = values.length / dimension;
  const token = (index: number): Float32Array =>
    Float32Array.from({ length: dimension }, (_, i) => values[index * dimension + i]!);
  if (pooling === 'first') return token(0);
  if (pooling === 'last') return token(tokens - 1);
  if (pooling === 'max') {
    const largest = new Float32Array(dimension).fill(-Infinity);
    for (let i = 0; i < values.length; i++) largest[i % dimension] = Math.max(largest[i % dimension]!, values[i]!);
    return largest;
  }
  const sum = new Float64Array(dimension);
  for (let i = 0; i < values.length; i++) sum[i % dimension]! += values[i]!;
  return Float32Array.from(sum, (value) => value / tokens);
}
