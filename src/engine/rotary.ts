/**
 * Rotary position embedding of a model: pair j of a head's first `dimensions` numbers is rotated by
 * position · scale · base^(−2j/dimensions) ÷ factors[j] radians.
 * @see RoFormer, arXiv 2104.09864
 */
export interface Rotary {
  readonly base: number;
  /** Multiplies every angle: 1 ÷ factor of linear scaling, 1 without it. */
  readonly scale: number;
  /** `norm` rotates the pairs (2j, 2j+1), `neox` the pairs (j, j + dimensions/2). */
  readonly pairing: 'norm' | 'neox';
  /** Numbers of a head that are rotated, from the first on. */
  readonly dimensions: number;
  /** Divides the angle of pair j (Llama 3 has these); null where the model has none. */
  readonly factors: readonly number[] | null;
}
