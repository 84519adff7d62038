import type { CutLimits } from '../../engine/engine-capabilities.ts';
import type { TokenId } from '../../engine/token-id.ts';
import type { EvictionPolicy } from '../../kv/eviction-queue.ts';
import type { Trace, TraceSegment } from '../../kv/traffic/trace.ts';

/** Some tokens of a prompt, and their ids where they are known. */
export interface PromptSpan {
  readonly tokens: number;
  readonly tokenIds?: readonly TokenId[];
}

/**
 * What a prompt consists of, without its text. Either all its token ids are known, or none. Without them, a prefix cache
 * finds whole segments only, not a common prefix of two different segments.
 */
export interface PromptShape {
  readonly userId: string;
  /** The same in all prompts of all users. */
  readonly header: PromptSpan;
  /** Memories, in the order of the prompt. */
  readonly segments: readonly (TraceSegment & PromptSpan)[];
  readonly query: PromptSpan;
}

/** The prompts of a trace, in order. */
export function* promptShapes({ headerTokens, turns }: Trace): Generator<PromptShape> {
  const header = { tokens: headerTokens };
  for (const { userId, segments, queryTokens } of turns)
    yield { userId, header, segments, query: { tokens: queryTokens } };
}

/** KV that a turn used, from one tier. */
export interface LoadedKv {
  tokens: number;
  bytes: number;
  /** Separately stored parts. */
  parts: number;
}

/** What a turn evaluates and loads up to its first token. */
export interface TurnAccess {
  /** Engine calls: `tokens` evaluated after `behind` others. */
  readonly evaluations: readonly { readonly tokens: number; readonly behind: number }[];
  readonly memory: LoadedKv;
  readonly disk: LoadedKv;
  /** Blocks that were computed and copied out of the session before the query. */
  readonly made: Omit<LoadedKv, 'tokens'>;
  /** Bytes of KV that are imported into the session before the query, whether found or just computed. */
  readonly importedBytes: number;
  /** True if all KV that the arm needed was found; for a prefix cache, if any was. */
  readonly hit: boolean;
}

export function evaluatedTokens({ evaluations }: TurnAccess): number {
  return evaluations.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** An arm's use of caches, turn by turn, without a model. */
export interface SimulatedArm {
  answer(prompt: PromptShape): Promise<TurnAccess>;
  stats(): CacheStats;
}

/** What is in an arm's caches at the end. */
export interface CacheStats {
  readonly memory: TierStats;
  readonly disk: TierStats & { readonly writtenBytes: number };
}

type TierStats = Readonly<Record<'entries' | 'evicted' | 'sizeBytes', number>>;

export const emptyTier: TierStats = { entries: 0, evicted: 0, sizeBytes: 0 };
export const noDisk = { ...emptyTier, writtenBytes: 0 };

/** The engine and the caches that are simulated. */
export interface SimulatedMachine {
  readonly limits: CutLimits & { readonly leastTokens: number };
  /** Bounds of an arm's caches. `diskBytes` 0: no disk. */
  readonly memoryBytes: number;
  readonly diskBytes: number;
  /** Bytes of stored KV by its tokens, in memory and on disk. */
  readonly kvBytes: (tokens: number) => number;
  readonly fileBytes: (tokens: number) => number;
  /** Of all caches. Default: `cost-recency`. */
  readonly policy?: EvictionPolicy;
}

export const nothingLoaded = (): LoadedKv => ({ tokens: 0, bytes: 0, parts: 0 });
export const nothingMade: TurnAccess['made'] = { bytes: 0, parts: 0 };

/** A turn that does nothing. */
export const noAccess = (): TurnAccess => ({
  evaluations: [],
  memory: nothingLoaded(),
  disk: nothingLoaded(),
  made: nothingMade,
  importedBytes: 0,
  hit: false,
});

/** Tokens of the header and the memories. */
export function prefixTokens({ header, segments }: PromptShape): number {
  return segments.reduce((sum, { tokens }) => sum + tokens, header.tokens);
}

/** A turn that evaluates its whole prompt. */
export function asText(prompt: PromptShape): TurnAccess {
  return { ...noAccess(), evaluations: [{ tokens: prefixTokens(prompt) + prompt.query.tokens, behind: 0 }] };
}
