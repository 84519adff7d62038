import type { Engine } from '../../engine/engine.ts';
import type { EngineSession } from '../../engine/engine-session.ts';
import type { SequenceState } from '../../engine/sequence-state.ts';
import type { TokenId } from '../../engine/token-id.ts';
import type { DiskTiming } from '../../kv/block-store.ts';
import type { Eviction } from '../../kv/eviction-rule-and-share.ts';
import type { KvStore } from '../../kv/kv-disk-store.ts';
import type { KvOperations } from '../../kv/kv-operations.ts';
import type { PrefillRecord, StoreType } from '../../store/records/prefill-record.ts';
import type { TurnAccount } from '../../store/records/turn-record.ts';
import { type BuiltPrompt, type MemoryLines } from '../prompt/build-prompt.ts';

/** The session and the user of one turn. */
export interface TurnContext {
  /** Its content before the turn is unknown, unless the arm leaves its prefix there. */
  readonly session: EngineSession;
  readonly userId: string;
  /** Multiplies the values of injected memories. Strategies that give memories as text ignore it. */
  readonly alpha: number;
  /** Cancels the prefill: it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** What a strategy reports about one turn, in tokens. */
export type PrefillAccount = Omit<TurnAccount, 'gate' | 'evaluated' | 'sharesPositions' | 'ahead'>;

/** The result of a prefill: the session holds the prefix, and the suffix remains to be evaluated. */
export interface Prefilled {
  readonly suffix: readonly TokenId[];
  /** Null if nothing was injected. */
  readonly record: PrefillRecord | null;
  readonly account: PrefillAccount;
  /** Time to load KV, and to compute KV that was not in the store, in milliseconds. */
  readonly kvLoadMs: number;
  readonly kvComputeMs: number;
  /**
   * Stores KV for later turns, also on disk. Called after the answer, so it counts in `total` but not in TTFT. May truncate
   * the session to the prefix. Returns the size of the recorded KV in bytes if it was not known before.
   */
  readonly keep?: (() => Promise<number | undefined>) | undefined;
}

/** How memories get in front of the question: as text, cached text, an exact KV prefix or joined blocks. */
export interface PrefillStrategy {
  /** Fills the session with the prefix, up to the suffix; never generates. */
  prefill(prompt: BuiltPrompt, turn: TurnContext): Promise<Prefilled>;
  /**
   * Computes and stores the KV of lines for later turns; missing if that KV depends on the preceding memories.
   * @returns the time that earlier turns of other arms spent on some of it, as `ComputeBlock` charges it
   */
  prepare?(lines: MemoryLines, turn: TurnContext): Promise<number>;
  /** Deletes all KV that contains a memory of the user, and returns the number of deleted entries. */
  forget(userId: string, memoryId: string): Promise<number>;
  /** Deletes all stored KV. */
  reset(): Promise<void>;
  /** Statistics of the store; null without one. */
  stats(): Readonly<Record<string, unknown>> | null;
  /** Frees memory; files on disk stay. */
  dispose?(): void;
}

/**
 * Computes a block, or returns what an earlier turn of another arm computed for the same user and key. That turn's work is then
 * charged to this one: `chargedMs` is the time that it took, 0 for a block computed now. The caller owns the state.
 */
export type ComputeBlock = (
  userId: string,
  key: string,
  compute: () => Promise<SequenceState>,
) => Promise<{ readonly state: SequenceState; readonly chargedMs: number }>;

export interface KvParts<Store> {
  readonly engine: Engine;
  readonly store: Store;
  readonly kv: KvOperations;
  /** Prompt template and label style; part of each key. */
  readonly template: string;
  /** Evicts tokens of memories before their KV is stored; null for none. */
  readonly evict: Eviction | null;
  readonly keptAs: StoreType;
}

/** The KV store of one arm. */
export interface ArmStore {
  readonly store: KvStore;
  /** `when-evicted` if no other process opens the store's folder. */
  readonly diskTiming: DiskTiming;
}

/** Opens the store of an arm. @param engine holds the bytes of its checkpoints */
export type OpenStore = (engine: Engine) => Promise<ArmStore>;

/** Evaluates the whole prompt from the first token in every turn. Stores nothing. */
export const textPrefill: PrefillStrategy = {
  prefill: ({ tokenIds }, { session }) => prefillAsText(session, tokenIds),
  forget: () => Promise.resolve(0),
  reset: () => Promise.resolve(),
  stats: () => null,
};

/** Clears the session and puts the whole prompt into the suffix, to be evaluated as text. */
export async function prefillAsText(session: EngineSession, tokenIds: readonly TokenId[]): Promise<Prefilled> {
  await session.clear();
  return { suffix: tokenIds, record: null, account: textAccount(tokenIds, 0), kvLoadMs: 0, kvComputeMs: 0 };
}

/** The account of a text prompt. @param resident tokens found in a prefix cache */
export function textAccount({ length }: readonly TokenId[], resident: number): PrefillAccount {
  return { cache: 'bypass', built: 0, recomputed: 0, resident, positions: length };
}
