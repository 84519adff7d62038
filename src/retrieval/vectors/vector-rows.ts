/** Vectors of one dimension in one array, which doubles when it is full. */
export class VectorRows {
  readonly dimension: number;
  #values: Float32Array;
  #length = 0;

  constructor(dimension: number) {
    this.dimension = dimension;
    this.#values = new Float32Array(dimension * 16);
  }

  /** Number of rows. */
  get length(): number {
    return this.#length;
  }

  append(vectors: readonly Float32Array[]): void {
    const needed = (this.#length + vectors.length) * this.dimension;
    if (needed > this.#values.length) {
      const grown = new Float32Array(Math.max(needed, this.#values.length * 2));
      grown.set(this.#values);
      this.#values = grown;
    }
    for (const vector of vectors) this.#values.set(vector, this.#length++ * this.dimension);
  }

  /** Returns all rows in one view, valid until the next `append`. */
  values(): Float32Array {
    return this.#values.subarray(0, this.#length * this.dimension);
  }
}
