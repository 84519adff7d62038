import type { Checkpoint } from '../../engine/checkpoint.ts';
import type { Engine } from '../../engine/engine.ts';
import type { TokenId } from '../../engine/token-id.ts';
import type { KvTools } from '../../kv/kv-tools.ts';
import type { KvStore } from '../../kv/kv-store.ts';
import type { BuiltPrompt } from '../prompt/build-prompt.ts';
import { computeExactly, isBadState, requireInSession, requireTokens } from './exact-tokens.ts';
import { type PrefixParts, prefixParts } from './prefix-parts.ts';
import { type Loaded, prefixRecord } from './prefix-record.ts';
import { prefillAsText, type Prefilled, type PrefillStrategy, type TurnContext } from './prefill-strategy.ts';
import { scalePrefix } from './scale-prefix.ts';

/** Settings of an exact prefix. */
export interface ExactPrefixOptions {
  readonly engine: Engine;
  readonly store: KvStore;
  readonly kv: KvTools;
  /** Template and labels, part of each key. */
  readonly template: string;
  /** Leaves the K/V of a turn in the session, so that the same set of memories is not even loaded. Default false. */
  readonly keepsSession?: boolean;
}

interface Resident extends Pick<Loaded, 'sizeBytes' | 'tokens'> {
  readonly key: string;
  readonly userId: string;
  readonly alpha: number;
}

/** K/V that was computed in the turn, and how it is kept where that waits for the answer. */
interface Computed extends Pick<Prefilled, 'keep'> {
  readonly loaded: Loaded;
  readonly computeMs: number;
}

/**
 * Header and memories as one contiguous K/V prefix: computed once for a set of memories, kept as a checkpoint, restored in
 * every turn, never evaluated again. The very token sequence of text, so that next-token probabilities are bitwise those of
 * text while values are not scaled.
 * @see Knowledge Packs, arXiv 2604.03270
 */
export class ExactPrefixPrefill implements PrefillStrategy {
  readonly #options: ExactPrefixOptions;
  /** The beginning of the session since the last turn, where it stays there. */
  #resident: Resident | undefined;

  constructor(options: ExactPrefixOptions) {
    this.#options = options;
  }

  async prefill(prompt: BuiltPrompt, turn: TurnContext): Promise<Prefilled> {
    const parts = prefixParts(prompt);
    const resident = this.#resident;
    this.#resident = undefined;
    if (parts.lines.length === 0) return prefillAsText(turn.session, parts.suffix);
    const start = performance.now();
    const prefix = prompt.tokenIds.slice(0, prompt.prefixTokens);
    const key = this.#key(prefix);
    const found =
      (await this.#goOn(resident, key, turn, prefix)) ?? (await this.#loadKept(key, turn, prefix, parts.header.length));
    const computed = found === undefined ? await this.#compute(key, turn, prefix, parts) : undefined;
    const loaded = found ?? computed!.loaded;
    const kvComputeMs = computed?.computeMs ?? 0;
    const { userId, alpha } = turn;
    if (this.#options.keepsSession === true) this.#resident = { ...loaded, key, userId, alpha };
    return {
      ...(computed?.keep === undefined ? {} : { keep: computed.keep }),
      suffix: parts.suffix,
      record: prefixRecord(key, loaded, turn, parts, kvComputeMs),
      account: {
        cache: found === undefined ? 'miss' : 'hit',
        built: found === undefined ? prefix.length : 0,
        recomputed: 0,
        resident: prefix.length,
        positions: prompt.tokenIds.length,
      },
      kvLoadMs: performance.now() - start - kvComputeMs,
      kvComputeMs,
    };
  }

  forget(userId: string, memoryId: string): Promise<number> {
    this.#resident = undefined;
    return this.#options.store.forgetMemory(userId, memoryId);
  }

  async reset(): Promise<void> {
    this.#resident = undefined;
    await this.#options.store.clear();
  }

  stats(): Readonly<Record<string, unknown>> {
    return { ...this.#options.store.stats() };
  }

  async dispose(): Promise<void> {
    this.#resident = undefined;
  }

  #key(tokenIds: readonly TokenId[]): string {
    const { engine, kv, template } = this.#options;
    return kv.key({ stateIdentity: engine.info.stateIdentity ?? '', template, tokenIds });
  }

  /** Goes on behind the prefix of the last turn; undefined where that was another. */
  async #goOn(
    resident: Resident | undefined,
    key: string,
    { session, userId, alpha }: TurnContext,
    prefix: readonly TokenId[],
  ): Promise<Loaded | undefined> {
    if (resident?.key !== key || resident.userId !== userId || resident.alpha !== alpha) return undefined;
    // Another may have used the session since.
    if (session.tokens.length < prefix.length) return undefined;
    await session.truncate(prefix.length);
    try {
      await requireInSession(session, prefix);
      return { ...resident, origin: 'resident' };
    } catch (error) {
      if (!isBadState(error)) throw error;
      this.#options.store.countRejected();
      return undefined;
    }
  }

  /** Undefined where nothing is kept; a checkpoint that the engine refuses counts as that. */
  async #loadKept(
    key: string,
    turn: TurnContext,
    prefix: readonly TokenId[],
    headerTokens: number,
  ): Promise<Loaded | undefined> {
    const { store } = this.#options;
    const checkpoint = await store.findCheckpoint(turn.userId, key);
    if (checkpoint === undefined) return undefined;
    try {
      await this.#load(checkpoint, turn, prefix, headerTokens);
      return { sizeBytes: checkpoint.bytes, tokens: checkpoint.tokens.length, origin: 'disk' };
    } catch (error) {
      if (!isBadState(error)) throw error;
      await store.reject(turn.userId, key);
      return undefined;
    }
  }

  /** @throws BenchError `bad-state` where the checkpoint, or the session behind it, has other tokens than the prefix */
  async #load(
    checkpoint: Checkpoint,
    { session, alpha }: TurnContext,
    prefix: readonly TokenId[],
    headerTokens: number,
  ): Promise<void> {
    const { engine, kv } = this.#options;
    requireTokens(checkpoint.tokens, prefix);
    await session.restore(checkpoint);
    await requireInSession(session, prefix);
    if (alpha !== 1) await scalePrefix(session, headerTokens, alpha, engine, kv);
  }

  /** Computes a prefix in the session. It is kept behind the answer, unless its values are to be scaled for that. */
  async #compute(key: string, turn: TurnContext, prefix: readonly TokenId[], parts: PrefixParts): Promise<Computed> {
    const start = performance.now();
    if (turn.alpha !== 1) return this.#computeScaled(key, turn, prefix, parts);
    await computeExactly(
      () => this.#evaluate(turn, prefix),
      () => this.#options.store.countRejected(),
    );
    return {
      loaded: { sizeBytes: 0, tokens: prefix.length, origin: 'computed' },
      computeMs: performance.now() - start,
      keep: () => this.#keep(key, turn, prefix, parts),
    };
  }

  async #evaluate({ session, signal }: TurnContext, prefix: readonly TokenId[]): Promise<void> {
    await session.clear();
    await session.evaluate(prefix, { signal });
    await requireInSession(session, prefix);
  }

  /** Cuts the session down to its prefix and keeps that; the answer is there, whatever becomes of it. */
  async #keep(
    key: string,
    { session, userId }: TurnContext,
    prefix: readonly TokenId[],
    parts: PrefixParts,
  ): Promise<number | undefined> {
    const { store } = this.#options;
    // Of a turn that was given up.
    if (session.tokens.length < prefix.length) return undefined;
    try {
      await session.truncate(prefix.length);
      await requireInSession(session, prefix);
      const { bytes } = await store.keepCheckpoint(userId, key, memoryIdsOf(parts), async (id) => {
        const checkpoint = await session.checkpoint({ id });
        requireTokens(checkpoint.tokens, prefix);
        return checkpoint;
      });
      if (this.#resident !== undefined) this.#resident = { ...this.#resident, sizeBytes: bytes };
      return bytes;
    } catch (error) {
      if (!isBadState(error)) throw error;
      store.countRejected();
      return undefined;
    }
  }

  /** Computes, keeps and scales a prefix: what is kept are values that were not scaled. */
  async #computeScaled(
    key: string,
    turn: TurnContext,
    prefix: readonly TokenId[],
    parts: PrefixParts,
  ): Promise<Computed> {
    const { session, userId, signal } = turn;
    const start = performance.now();
    let loadMs = 0;
    const { store } = this.#options;
    const make = async (id: string): Promise<Checkpoint> => {
      await this.#evaluate(turn, prefix);
      const checkpoint = await session.checkpoint({ id });
      const loadStart = performance.now();
      await this.#load(checkpoint, turn, prefix, parts.header.length);
      loadMs = performance.now() - loadStart;
      return checkpoint;
    };
    const { bytes } = await computeExactly(
      () => store.keepCheckpoint(userId, key, memoryIdsOf(parts), make),
      () => store.countRejected(),
    ).catch((error: unknown) => {
      // A store calls whatever ends the making of a checkpoint a fault of the disk.
      signal?.throwIfAborted();
      throw error;
    });
    return {
      loaded: { sizeBytes: bytes, tokens: prefix.length, origin: 'computed' },
      computeMs: performance.now() - start - loadMs,
    };
  }
}

function memoryIdsOf({ lines }: PrefixParts): string[] {
  return lines.map(({ memoryId }) => memoryId);
}
