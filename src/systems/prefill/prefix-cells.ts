import { BenchError } from '../../config/bench-error.ts';
import { writeBlockFile } from '../../kv/block-file.ts';
import { computeExactly, isBadState, isBlockOf, requireInSession, requireTokens } from './exact-tokens.ts';
import {
  type ComputedPrefix,
  evaluatePrefix,
  type ExactPrefix,
  type KeptPrefixes,
  type KeptPrefixParts,
} from './kept-prefixes.ts';
import type { Loaded } from './prefix-record.ts';
import type { TurnContext } from './prefill-strategy.ts';
import { cutPrefix, exportPrefix, importScaled, type PrefixCut, wholePrefix } from './scale-prefix.ts';

/**
 * Prefixes as cells, for every α but 1: a session whose values are scaled has nothing left to make a checkpoint of. The
 * cells are copied out to be scaled in any case; that copy waits for the answer and is written then, one write and no call
 * of the engine. A hit is one import.
 */
export class PrefixCells implements KeptPrefixes {
  readonly #parts: KeptPrefixParts;

  constructor(parts: KeptPrefixParts) {
    this.#parts = parts;
  }

  async load(prefix: ExactPrefix, turn: TurnContext): Promise<Loaded | undefined> {
    const { store, kv } = this.#parts;
    const { key, tokenIds, headerTokens } = prefix;
    const stored = await store.findBlock(turn.userId, key);
    if (stored === undefined) return undefined;
    try {
      const cells = kv.readBlock(stored.bytes, `K/V prefix ${key}`);
      if (!isBlockOf(cells, 0, tokenIds)) throw otherCells();
      await this.#inject(prefix, cutPrefix(cells, headerTokens, kv), turn);
      return { sizeBytes: stored.bytes.length, tokens: tokenIds.length, origin: 'disk' };
    } catch (error) {
      if (!isBadState(error)) throw error;
      await store.reject(turn.userId, key);
      return undefined;
    }
  }

  async compute(prefix: ExactPrefix, turn: TurnContext): Promise<ComputedPrefix> {
    let computeMs = 0;
    const compute = async (): Promise<PrefixCut> => {
      const start = performance.now();
      const unscaled = await this.#evaluate(prefix, turn);
      computeMs += performance.now() - start;
      await this.#inject(prefix, unscaled, turn);
      return unscaled;
    };
    const unscaled = await computeExactly(compute, () => this.#parts.store.countRejected());
    return {
      loaded: { sizeBytes: 0, tokens: prefix.tokenIds.length, origin: 'computed' },
      computeMs,
      keep: () => this.#keep(prefix, unscaled, turn),
    };
  }

  async #evaluate(prefix: ExactPrefix, turn: TurnContext): Promise<PrefixCut> {
    await evaluatePrefix(prefix, turn);
    const { tokenIds, headerTokens } = prefix;
    const cut = await exportPrefix(turn.session, headerTokens, this.#parts.kv);
    requireTokens([...cut.header.tokenIds, ...cut.memories.tokenIds], tokenIds);
    return cut;
  }

  async #inject({ tokenIds }: ExactPrefix, unscaled: PrefixCut, { session, alpha }: TurnContext): Promise<void> {
    const { engine, kv } = this.#parts;
    await importScaled(session, unscaled, alpha, engine, kv);
    await requireInSession(session, tokenIds);
  }

  /** Leaves the session as it is. */
  async #keep(
    { key, tokenIds, memoryIds }: ExactPrefix,
    unscaled: PrefixCut,
    { userId }: TurnContext,
  ): Promise<number> {
    const { engine, kv, store } = this.#parts;
    using cells = wholePrefix(unscaled, engine, kv);
    const bytes = writeBlockFile(cells);
    await store.keepBlock(userId, key, tokenIds.length, memoryIds, bytes);
    return bytes.length;
  }
}

function otherCells(): BenchError {
  return new BenchError(
    'bad-state',
    'kept K/V of other tokens or positions than its key says',
    'it will be computed again',
  );
}
