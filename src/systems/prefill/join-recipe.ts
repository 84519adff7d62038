/** The placement of blocks: one after the other, all from one position on, or with their first tokens evaluated again. */
export interface JoinRecipe {
  /** `contiguous`: one behind the other; `parallel`: all right behind the header, at the same positions. */
  readonly positions: 'contiguous' | 'parallel';
  /**
   * First tokens of each block evaluated again at their final place, in sight of what precedes them: LegoLink-style
   * recomputation. 0 is plain joining, Infinity all of them: the prefix of the text again, computed block by block.
   * @see EPIC, arXiv 2410.15332
   */
  readonly recomputedTokens: number;
}

/** A recipe as records and keys name it. */
export type RecipeName = 'blocks' | 'parallel' | 'link:all' | `link:${number}`;

/** The number of recomputed tokens behind `link:`, as arms and recipes spell it. */
export function recomputedNamed(name: string): number {
  return name === 'all' ? Infinity : Number(name);
}

export function recipeName({ positions, recomputedTokens }: JoinRecipe): RecipeName {
  if (positions === 'parallel') return 'parallel';
  if (recomputedTokens === 0) return 'blocks';
  return recomputedTokens === Infinity ? 'link:all' : `link:${recomputedTokens}`;
}

/** The recipe of a name that `recipeName` gave. */
export function recipeNamed(name: RecipeName): JoinRecipe {
  if (name === 'parallel') return { positions: 'parallel', recomputedTokens: 0 };
  const recomputedTokens = name === 'blocks' ? 0 : recomputedNamed(name.slice('link:'.length));
  return { positions: 'contiguous', recomputedTokens };
}
