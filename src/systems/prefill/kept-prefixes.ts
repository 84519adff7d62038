import type { Engine } from '../../engine/engine.ts';
import type { TokenId } from '../../engine/token-id.ts';
import type { Eviction } from '../../kv/eviction-scores.ts';
import type { KvStore } from '../../kv/kv-store.ts';
import type { KvTools } from '../../kv/kv-tools.ts';
import type { StoreType } from '../../store/records/store-type.ts';
import { requireInSession } from './exact-tokens.ts';
import type { Loaded } from './prefix-record.ts';
import type { Prefilled, TurnContext } from './prefill-strategy.ts';

/** Header and memories as one token sequence, and the key under which its KV is kept. */
export interface ExactPrefix {
  readonly key: string;
  readonly tokenIds: readonly TokenId[];
  /** Those ahead of the first memory. */
  readonly headerTokens: number;
  /** The memories that it contains, for forgetting. */
  readonly memoryIds: readonly string[];
}

/** A prefix that was computed in the session of a turn, and is kept behind its answer. */
export interface ComputedPrefix {
  readonly loaded: Loaded;
  readonly computeMs: number;
  readonly keep: NonNullable<Prefilled['keep']>;
}

/** The store of prefixes, and the keeper of their checkpoints. */
export interface KeptPrefixParts {
  readonly engine: Engine;
  readonly store: KvStore;
  readonly kv: KvTools;
  /** Tokens that are dropped from the memories before they are kept, never from what precedes them; null for none. */
  readonly evict: Eviction | null;
  /** The type in which cells are kept. */
  readonly keptAs: StoreType;
}

/** One form in which the KV of exact prefixes is kept; its values are never scaled there. */
export interface KeptPrefixes {
  /** Brings a prefix into the session, scaled; undefined where none is kept, or what is kept cannot be used. */
  load(prefix: ExactPrefix, turn: TurnContext): Promise<Loaded | undefined>;
  /**
   * Evaluates a prefix in the session and scales it there.
   * @throws BenchError `bad-state` where the engine twice evaluates other tokens
   */
  compute(prefix: ExactPrefix, turn: TurnContext): Promise<ComputedPrefix>;
}

/** Evaluates a prefix in an empty session. @throws BenchError `bad-state` where it has other tokens then */
export async function evaluatePrefix({ tokenIds }: ExactPrefix, { session, signal }: TurnContext): Promise<void> {
  await session.clear();
  await session.evaluate(tokenIds, { signal });
  await requireInSession(session, tokenIds);
}
