/** The placement of blocks: one after the other, all from one position on, or with their first tokens evaluated again. */
export interface JoinRecipe {
  /** `contiguous`: one behind the other; `parallel`: all right behind the header, at the same positions. */
  readonly positions: 'contiguous' | 'parallel';
  /**
   * First tokens of each block evaluated again at their final place, in sight of what precedes them: LegoLink-style
   * recomputation. 0 is plain joining, the longest block's length is the exact prefix.
   * @see EPIC, arXiv 2410.15332
   */
  readonly recomputedTokens: number;
}

/** `blocks`, `link:4`, `parallel`: the recipe as records and keys name it. */
export function recipeName({ positions, recomputedTokens }: JoinRecipe): 'blocks' | 'parallel' | `link:${number}` {
  if (positions === 'parallel') return 'parallel';
  return recomputedTokens === 0 ? 'blocks' : `link:${recomputedTokens}`;
}

/** The recipe of a name that `recipeName` gave. */
export function recipeNamed(name: 'blocks' | 'parallel' | `link:${number}`): JoinRecipe {
  if (name === 'parallel') return { positions: 'parallel', recomputedTokens: 0 };
  const recomputedTokens = name === 'blocks' ? 0 : Number(name.slice('link:'.length));
  return { positions: 'contiguous', recomputedTokens };
}
