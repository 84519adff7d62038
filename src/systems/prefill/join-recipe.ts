import type { BlockMaking } from '../../store/records/prefill-record.ts';
import type { TokenScorer, TokenSelection } from './select-tokens-to-recompute.ts';

/** How blocks are made and placed, and which of their tokens are evaluated again at their place. */
export interface JoinRecipe extends BlockMaking {
  /** `contiguous`: one behind the other; `parallel`: all right behind the header, at the same positions. */
  readonly positions: 'contiguous' | 'parallel';
  /** Tokens evaluated again at their final place, attending to what precedes them; null for plain joining. */
  readonly recompute: TokenSelection | null;
}

type Share = '0' | '1' | `.${number}`;
type SharedRule = 'first' | 'random' | 'random:ranked' | 'ranked' | TokenScorer;

/** A recipe as records and keys name it: a rule, tokens in a run where these are not single ones, and a share: `first/16:.15`. */
export type RecipeName =
  | 'blocks'
  | 'parallel'
  | 'link:all'
  | `link:${number}`
  | `${SharedRule}:${Share}`
  | `${Exclude<SharedRule, 'ranked'>}/${number}:${Share}`;

/** A share as arms spell it: 0, 1, or decimals without the zero in front of them. */
export const SHARE = '(?:0|1|\\.\\d{1,3})';

export function recipeName({ positions, recompute }: JoinRecipe): RecipeName {
  if (positions === 'parallel') return 'parallel';
  if (recompute === null) return 'blocks';
  if (recompute.by === 'link') return recompute.tokens === Infinity ? 'link:all' : `link:${recompute.tokens}`;
  const { by, share, run, asMany } = { run: undefined, asMany: undefined, ...recompute };
  const rule = `${by}${asMany === undefined ? '' : ':ranked'}${run === undefined ? '' : `/${run}`}`;
  return `${rule}:${String(share).replace(/^0(?=\.)/, '')}` as RecipeName;
}

const SHARED_RULE = /^(?<by>[a-z-]+)(?<asMany>:ranked)?(?:\/(?<run>\d+))?:(?<share>[.\d]+)$/;

/** The recipe of a name that `recipeName` gave, whose blocks are made in that way. */
export function parseRecipe(name: RecipeName, making: BlockMaking = {}): JoinRecipe {
  if (name === 'parallel') return { positions: 'parallel', recompute: null, ...making };
  return { positions: 'contiguous', recompute: name === 'blocks' ? null : parseSelection(name), ...making };
}

function parseSelection(name: string): TokenSelection {
  const [, tokens] = /^link:(.*)$/.exec(name) ?? [];
  if (tokens !== undefined) return { by: 'link', tokens: tokens === 'all' ? Infinity : Number(tokens) };
  const { by, asMany, run, share } = SHARED_RULE.exec(name)!.groups!;
  return {
    by: by as Exclude<TokenSelection['by'], 'link'>,
    share: Number(share),
    ...(asMany === undefined ? {} : { asMany: 'ranked' }),
    ...(run === undefined ? {} : { run: Number(run) }),
  };
}

/** How the blocks of a recipe are made; undefined where that is the default. */
export function makingOf({ positions: _, recompute: __, ...making }: JoinRecipe): BlockMaking | undefined {
  return Object.keys(making).length === 0 ? undefined : making;
}
