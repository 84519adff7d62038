import { BenchError } from '../../base/bench-error.ts';
import type { TokenId } from '../../engine/token-id.ts';
import type { PrefillName } from '../../store/records/arm-traits.ts';
import type { BlockMaking } from '../../store/records/prefill-record.ts';
import type { TokenSelection } from './select-tokens-to-recompute.ts';

/** How blocks are made and placed, and which of their tokens are recomputed. */
export interface JoinRecipe extends BlockMaking {
  /** `contiguous`: one after another. `parallel`: all directly after the header, at the same positions. */
  readonly positions: 'contiguous' | 'parallel';
  /** Tokens recomputed at their final place, attending to everything before them; null for none. */
  readonly recompute: TokenSelection | null;
}

/** Name of a recipe in records and keys. `first/16:.15` is the rule `first` with runs of 16 tokens and a share of 0.15. */
export type RecipeName = Exclude<PrefillName, 'prefix'>;

/** Pattern of a share in an arm's name: 0, 1, or decimals without a leading zero. */
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

/** Parses a name from `recipeName`. @param making how the blocks are made, which the name does not say */
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

/** How the blocks of a recipe are made; undefined if by default. */
export function makingOf({ positions: _, recompute: __, ...making }: JoinRecipe): BlockMaking | undefined {
  return Object.keys(making).length === 0 ? undefined : making;
}

/** The first header tokens, as attention sinks (StreamingLLM). @throws BenchError `bad-option` if there are too few */
export function sinkTokens({ sink }: BlockMaking, header: readonly TokenId[]): readonly TokenId[] {
  if (sink === undefined) return [];
  if (sink.tokens <= header.length) return header.slice(0, sink.tokens);
  const message = `@sink=${sink.tokens}: the prompt has only ${header.length} tokens before its memories`;
  throw new BenchError('bad-option', message, `choose at most ${header.length}`);
}

/** Extra sink tokens that stay before each block in the sequence; 0 if they are dropped. */
export function keptSinkTokens({ sink }: BlockMaking): number {
  return sink?.kept === true ? sink.tokens : 0;
}
