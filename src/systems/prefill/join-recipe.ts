import type { BlockMaking } from '../../store/records/prefill-record.ts';
import type { TokenScorer, TokenSelection } from './select-tokens.ts';

/** How blocks are made and placed, and what of them is evaluated again where it stands. */
export interface JoinRecipe extends BlockMaking {
  /** `contiguous`: one behind the other; `parallel`: all right behind the header, at the same positions. */
  readonly positions: 'contiguous' | 'parallel';
  /** Tokens evaluated again at their final place, in sight of what precedes them; null for plain joining. */
  readonly recompute: TokenSelection | null;
}

type Share = '0' | '1' | `.${number}`;

/** A recipe as records and keys name it: a rule, tokens in a run where these are not single ones, and a share: `first/16:.15`. */
export type RecipeName =
  | 'blocks'
  | 'parallel'
  | 'link:all'
  | `link:${number}`
  | `${SharedRule}:${Share}`
  | `${Exclude<SharedRule, 'ranked'>}/${number}:${Share}`;

type SharedRule = 'first' | 'random' | 'random:ranked' | 'ranked' | TokenScorer;

/** A share as arms spell it: 0, 1, or decimals without the zero in front of them. */
export const SHARE = '(?:0|1|\\.\\d{1,3})';

/** The number of recomputed tokens behind `link:`, as arms and recipes spell it. */
function parseTokens(name: string): number {
  return name === 'all' ? Infinity : Number(name);
}

function shareName(share: number): Share {
  if (share === 0 || share === 1) return `${share}`;
  return String(share).replace(/^0/, '') as Share;
}

/** The name of a selection: that of a recipe whose blocks stand one behind the other. */
function selectionName(selection: TokenSelection): RecipeName {
  if (selection.by === 'link') return selection.tokens === Infinity ? 'link:all' : `link:${selection.tokens}`;
  const share = shareName(selection.share);
  if (selection.by === 'ranked') return `ranked:${share}`;
  const rule = selection.by === 'random' && selection.asMany !== undefined ? 'random:ranked' : selection.by;
  return selection.run === undefined ? `${rule}:${share}` : `${rule}/${selection.run}:${share}`;
}

export function recipeName({ positions, recompute }: JoinRecipe): RecipeName {
  if (positions === 'parallel') return 'parallel';
  return recompute === null ? 'blocks' : selectionName(recompute);
}

/** The recipe of a name that `recipeName` gave, whose blocks are made in that way. */
export function parseRecipe(name: RecipeName, making: BlockMaking = {}): JoinRecipe {
  return { ...parsePlacement(name), ...making };
}

/** How the blocks of a recipe are made; undefined where that is the default. */
export function makingOf({ positions: _, recompute: __, ...making }: JoinRecipe): BlockMaking | undefined {
  return Object.keys(making).length === 0 ? undefined : making;
}

function parsePlacement(name: RecipeName): Pick<JoinRecipe, 'positions' | 'recompute'> {
  if (name === 'parallel' || name === 'blocks') {
    return { positions: name === 'parallel' ? 'parallel' : 'contiguous', recompute: null };
  }
  return { positions: 'contiguous', recompute: parseSelection(name) };
}

const SHARED_RULE = /^(?<by>[a-z-]+)(?<asMany>:ranked)?(?:\/(?<run>\d+))?:(?<share>[.\d]+)$/;

function parseSelection(name: string): TokenSelection {
  if (name.startsWith('link:')) return { by: 'link', tokens: parseTokens(name.slice('link:'.length)) };
  const { by, asMany, run, share } = SHARED_RULE.exec(name)!.groups as {
    readonly by: Exclude<TokenSelection['by'], 'link'>;
    readonly asMany?: string;
    readonly run?: string;
    readonly share: string;
  };
  return {
    ...{ by, share: Number(share) },
    ...(asMany === undefined ? {} : { asMany: 'ranked' }),
    ...(run === undefined ? {} : { run: Number(run) }),
  };
}
