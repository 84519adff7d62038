/** Inner product of two vectors of one length. */
export function product(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, number, at) => sum + number * b[at]!, 0);
}

/** Euclidean norm. */
export function norm(vector: Float64Array): number {
  return Math.sqrt(product(vector, vector));
}
