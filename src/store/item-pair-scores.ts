/** Items that two arms answered, as far as pairs are sorted and counted by them, in columns: in the order of A's first turns. */
export interface ItemPairScores {
  /** Items of each, those that the other lacks included. */
  readonly itemsA: number;
  readonly itemsB: number;
  readonly userOf: Uint32Array;
  /** Sorted; some may stand at no pair. */
  readonly userIds: readonly string[];
  /** Ids of the first turn of each. */
  readonly turnA: Float64Array;
  readonly turnB: Float64Array;
  /** Mean task success over repeats; NaN where nothing could be scored. */
  readonly successA: Float64Array;
  readonly successB: Float64Array;
  /** Marks of `pairMarks`, added. */
  readonly marks: Uint8Array;
}

export const pairMarks = {
  /** Each has one turn of the item alone. */
  single: 1,
  /** The first turns gave the same answer. */
  sameAnswer: 2,
  /** The first turns gave the gold answer the same probability. */
  sameGold: 4,
} as const;
