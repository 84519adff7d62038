/** Inner product of two vectors of equal length; for unit vectors, their cosine. */
export function innerProduct(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += a[at]! * b[at]!;
  return sum;
}

/** Euclidean norm. */
export function norm(vector: ArrayLike<number>): number {
  return Math.sqrt(innerProduct(vector, vector));
}
