import type { Engine } from '../../engine/engine.ts';
import type { EngineSession } from '../../engine/engine-session.ts';
import type { TokenId } from '../../engine/token-id.ts';
import type { DiskTiming } from '../../kv/block-store.ts';
import type { Eviction } from '../../kv/eviction.ts';
import type { KvStore } from '../../kv/kv-store.ts';
import type { KvOperations } from '../../kv/kv-operations.ts';
import type { PrefillRecord, StoreType } from '../../store/records/prefill-record.ts';
import type { TurnAccount } from '../../store/records/turn-record.ts';
import { type BuiltPrompt, type MemoryLines } from '../prompt/build-prompt.ts';

/** The session and the user of one turn. */
export interface TurnContext {
  /** Its content before the turn is unknown, unless the arm keeps its session. */
  readonly session: EngineSession;
  readonly userId: string;
  /** Multiplies the values of injected memories; 1 leaves them as they are. Memories given as text have no values to scale. */
  readonly alpha: number;
  /** Cancels the prefill: it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** What a strategy claims for one turn, in tokens. */
export type PrefillAccount = Pick<
  TurnAccount,
  'cache' | 'built' | 'remainder' | 'recomputed' | 'selection' | 'selector' | 'resident' | 'positions' | 'found'
>;

/** A session that holds the prefix of a prompt, and what remains to be evaluated. */
export interface Prefilled {
  readonly suffix: readonly TokenId[];
  /** Null where nothing was injected. */
  readonly record: PrefillRecord | null;
  readonly account: PrefillAccount;
  /** Milliseconds for loading KV, and for computing KV that was not in the store. */
  readonly kvLoadMs: number;
  readonly kvComputeMs: number;
  /**
   * Stores KV for later turns, on disk too. It is called after the answer, so that it counts in `total` and not in TTFT. It may
   * truncate the session to the prefix. Returns the bytes of the recorded KV where they are known only now.
   */
  readonly keep?: (() => Promise<number | undefined>) | undefined;
}

/** Puts the memories of a prompt in front of the question: as text, cached text, an exact KV prefix or joined blocks. */
export interface PrefillStrategy {
  /** Fills the session with the prefix, up to the suffix; never generates. */
  prefill(prompt: BuiltPrompt, turn: TurnContext): Promise<Prefilled>;
  /** Computes and stores KV of lines that later turns may use; missing if KV depends on what precedes a line. */
  prepare?(lines: MemoryLines, turn: TurnContext): Promise<void>;
  /** Deletes all KV that contains a memory of the user before it returns; gives the number of entries. */
  forget(userId: string, memoryId: string): Promise<number>;
  /** Deletes all stored KV. */
  reset(): Promise<void>;
  /** Statistics of its store; null if it has none. */
  stats(): Readonly<Record<string, unknown>> | null;
  /** Frees memory; what is on disk stays. */
  dispose?(): void;
}

export interface KvParts<Store> {
  readonly engine: Engine;
  readonly store: Store;
  readonly kv: KvOperations;
  /** Template and labels, part of each key. */
  readonly template: string;
  /** Drops tokens of memories before their KV is stored, never of the header; null for none. */
  readonly evict: Eviction | null;
  readonly keptAs: StoreType;
}

/** A KV store of one arm. */
export interface ArmStore {
  readonly store: KvStore;
  /** `when-evicted` where no other process opens the store's folder. */
  readonly diskTiming: DiskTiming;
}

/** Opens the store of an arm, whose checkpoints the engine keeps. */
export type OpenStore = (engine: Engine) => Promise<ArmStore>;
