import { BenchError } from '../../base/bench-error.ts';
import { writeBlockFile } from '../../kv/block-file.ts';
import {
  computeExactly,
  isBadState,
  isBlockOf,
  isLeftOf,
  requireInSession,
  requireTokens,
  tokensByPosition,
} from './exact-tokens.ts';
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
 * Prefixes as cells, for every α but 1, and where tokens are evicted or numbers quantised: a session whose values are scaled has nothing left to make
 * a checkpoint of. The cells are copied out to be scaled, or packed, in any case; that copy waits for the answer and is written then, one write and no call
 * of the engine. A hit is one import.
 */
export class PrefixCells implements KeptPrefixes {
  readonly #parts: KeptPrefixParts;

  constructor(parts: KeptPrefixParts) {
    this.#parts = parts;
  }

  async load(prefix: ExactPrefix, turn: TurnContext): Promise<Loaded | undefined> {
    const { store, kv, keptAs } = this.#parts;
    const { key, headerTokens } = prefix;
    const stored = await store.findBlock(turn.userId, key);
    if (stored === undefined) return undefined;
    try {
      const read = keptAs === 'f16' ? kv.readBlock : kv.restore;
      const cells = read(stored.bytes, `KV prefix ${key}`);
      if (cells.positions.length <= headerTokens) throw otherCells();
      const cut = cutPrefix(cells, headerTokens, kv);
      if (!this.#isOf(prefix, cut)) throw otherCells();
      await this.#inject(cut, turn);
      return loadedFrom(prefix, cut, 'disk', stored.bytes.length);
    } catch (error) {
      if (!isBadState(error)) throw error;
      await store.reject(turn.userId, key);
      return undefined;
    }
  }

  async compute(prefix: ExactPrefix, turn: TurnContext): Promise<ComputedPrefix> {
    let computeMs = 0;
    const compute = async (): Promise<Evaluated> => {
      const start = performance.now();
      const evaluated = await this.#evaluate(prefix, turn);
      computeMs += performance.now() - start;
      await this.#inject(evaluated.cut, turn);
      return evaluated;
    };
    const { cut, bytes } = await computeExactly(compute, () => this.#parts.store.countRejected());
    return {
      loaded: loadedFrom(prefix, cut, 'computed', 0),
      computeMs,
      keep: () => this.#keep(prefix, cut, bytes, turn),
    };
  }

  /** Restores quantised cells at once: a turn that computes answers from what later turns find. */
  async #evaluate(prefix: ExactPrefix, turn: TurnContext): Promise<Evaluated> {
    await evaluatePrefix(prefix, turn);
    const { tokenIds, headerTokens } = prefix;
    const { engine, kv, evict, keptAs } = this.#parts;
    const cut = await exportPrefix(turn.session, headerTokens, kv);
    requireTokens([...cut.header.tokenIds, ...cut.memories.tokenIds], tokenIds);
    const left = evict === null ? cut : { ...cut, memories: kv.evict(cut.memories, evict) };
    if (keptAs === 'f16') return { cut: left, bytes: undefined };
    using cells = wholePrefix(left, engine, kv);
    const bytes = kv.quantise(cells, keptAs);
    return { cut: cutPrefix(kv.restore(bytes), headerTokens, kv), bytes };
  }

  async #inject(unscaled: PrefixCut, { session, alpha }: TurnContext): Promise<void> {
    const { engine, kv } = this.#parts;
    await importScaled(session, unscaled, alpha, engine, kv);
    await requireInSession(session, [
      ...unscaled.header.tokenIds,
      ...tokensByPosition(unscaled.memories).slice(unscaled.header.positions.length),
    ]);
  }

  /** True for the cells of a prefix, or what eviction leaves of them. */
  #isOf({ tokenIds, headerTokens }: ExactPrefix, { header, memories }: PrefixCut): boolean {
    const { evict } = this.#parts;
    const ids = tokenIds.slice(headerTokens);
    return (
      isBlockOf(header, 0, tokenIds.slice(0, headerTokens)) &&
      (evict === null ? isBlockOf(memories, headerTokens, ids) : isLeftOf(memories, headerTokens, ids, evict))
    );
  }

  /** Leaves the session as it is. */
  async #keep(
    { key, tokenIds, memoryIds }: ExactPrefix,
    cut: PrefixCut,
    quantised: Uint8Array | undefined,
    { userId }: TurnContext,
  ): Promise<number> {
    const bytes = quantised ?? this.#fileOf(cut);
    await this.#parts.store.keepBlock(userId, key, tokenIds.length, memoryIds, bytes);
    return bytes.length;
  }

  #fileOf(cut: PrefixCut): Uint8Array {
    const { engine, kv } = this.#parts;
    using cells = wholePrefix(cut, engine, kv);
    return writeBlockFile(cells);
  }
}

/** A prefix that was evaluated, and its bytes where these are not those of its cells. */
interface Evaluated {
  readonly cut: PrefixCut;
  readonly bytes: Uint8Array | undefined;
}

function loadedFrom(
  { tokenIds }: ExactPrefix,
  { header, memories }: PrefixCut,
  origin: Loaded['origin'],
  sizeBytes: number,
): Loaded {
  return {
    sizeBytes,
    tokens: tokenIds.length,
    cells: header.positions.length + memories.positions.length,
    origin,
  };
}

function otherCells(): BenchError {
  return new BenchError(
    'bad-state',
    'kept KV of other tokens or positions than its key says',
    'it will be computed again',
  );
}
