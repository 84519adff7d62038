import { BenchError } from '../../base/bench-error.ts';
import type { Engine } from '../../engine/engine.ts';
import { requireCells } from '../../engine/engine-capabilities.ts';
import type { EngineSession } from '../../engine/engine-session.ts';
import type { SequenceState } from '../../engine/sequence-state.ts';
import { writeBlockFile } from '../../kv/block-file.ts';
import type { KvStore } from '../../kv/kv-disk-store.ts';
import { type KvOperations, kvOperations } from '../../kv/kv-operations.ts';
import {
  type StoredTokens,
  computeExactly,
  holdsTokens,
  isBadState,
  requireTokens,
  tokensByPosition,
} from './verify-kv-tokens.ts';
import type { Selector } from '../../store/records/turn-record.ts';
import { evictTokens } from './evict-tokens.ts';
import type { KvParts, Prefilled, TurnContext } from './prefill-strategy.ts';
import type { PromptSuffix } from './question-attention.ts';

/** Header and memories as one token sequence, and the key of its KV. */
export interface ExactPrefix extends StoredTokens {
  /** Tokens before the first memory. */
  readonly headerTokens: number;
}

export interface LoadedPrefix {
  readonly sizeBytes: number;
  /** Fewer than the tokens if some were evicted. */
  readonly cells: number;
  readonly origin: 'resident' | 'disk' | 'computed';
}

export interface ComputedPrefix extends LoadedPrefix {
  readonly computeMs: number;
  /** What selecting the tokens to evict cost; null if nothing was evaluated for it. */
  readonly selector: Selector | null;
  readonly keep: NonNullable<Prefilled['keep']>;
}

/** The cells of a prefix, cut before the first memory, in plain memory, with unscaled values. */
export interface PrefixCut {
  readonly header: SequenceState;
  readonly memories: SequenceState;
}

export function cutPrefix(cells: SequenceState, headerTokens: number, { cut }: KvOperations = kvOperations): PrefixCut {
  return { header: cut(cells, 0, headerTokens), memories: cut(cells, headerTokens, cells.positions.length) };
}

export async function exportPrefix(
  session: EngineSession,
  headerTokens: number,
  kv?: KvOperations,
): Promise<PrefixCut> {
  using cells = await session.exportCells();
  return cutPrefix(cells, headerTokens, kv);
}

/** Joins both parts, with the memories' values times α. @throws BenchError `unsupported` without cells */
export function joinPrefix(
  { header, memories }: PrefixCut,
  alpha: number,
  engine: Engine,
  kv: KvOperations = kvOperations,
) {
  // The position stays the same, so keys are not rotated.
  const placement = { block: memories, position: memories.positions[0]!, alpha };
  return kv.join(header, [placement], { rotary: requireCells(engine).rotary });
}

/** Evaluates a prefix in the cleared session. @throws BenchError `bad-state` if the session then holds other tokens */
export async function evaluatePrefix({ tokenIds }: ExactPrefix, { session, signal }: TurnContext): Promise<void> {
  await session.clear();
  await session.evaluate(tokenIds, { signal });
  requireTokens(session.tokens, tokenIds);
}

/**
 * Stores exact prefixes that are scaled, evicted or quantised, for which the engine cannot make checkpoints, as cells. Values
 * are stored unscaled, after the answer, without calling the engine. A hit costs one import.
 */
export class PrefixCells {
  readonly #parts: KvParts<KvStore>;

  constructor(parts: KvParts<KvStore>) {
    this.#parts = parts;
  }

  /** Loads a prefix into the session and scales it; undefined if none is stored or the stored one is unusable. */
  async load(prefix: ExactPrefix, turn: TurnContext): Promise<LoadedPrefix | undefined> {
    const { store, kv, keptAs, evict } = this.#parts;
    const { key, tokenIds, headerTokens } = prefix;
    const stored = await store.findBlock(turn.userId, key);
    if (stored === undefined) return undefined;
    try {
      const cells = (keptAs === 'f16' ? kv.readBlock : kv.restore)(stored.bytes, `KV prefix ${key}`);
      if (cells.positions.length <= headerTokens) throw otherCells();
      const cut = cutPrefix(cells, headerTokens, kv);
      const isWhole =
        holdsTokens(cut.header, 0, tokenIds.slice(0, headerTokens), null) &&
        holdsTokens(cut.memories, headerTokens, tokenIds.slice(headerTokens), evict);
      if (!isWhole) throw otherCells();
      await this.#inject(cut, turn);
      return { sizeBytes: stored.bytes.length, cells: cells.positions.length, origin: 'disk' };
    } catch (error) {
      if (!isBadState(error)) throw error;
      await store.reject(turn.userId, key);
      return undefined;
    }
  }

  /**
   * Evaluates, edits and injects a prefix, also with quantisation losses.
   * @param rest the prompt after the prefix, for an eviction that sees the question @throws BenchError `bad-state` for other tokens
   */
  async compute(prefix: ExactPrefix, turn: TurnContext, rest: PromptSuffix): Promise<ComputedPrefix> {
    const { engine, kv, evict, keptAs, store } = this.#parts;
    const { key, tokenIds, headerTokens, memoryIds } = prefix;
    const context = { ...this.#parts, signal: turn.signal };
    let computeMs = 0;
    let selector: Selector | null = null;
    const { cut, quantised } = await computeExactly(async () => {
      const start = performance.now();
      await evaluatePrefix(prefix, turn);
      let prefixCut = await exportPrefix(turn.session, headerTokens, kv);
      requireTokens([...prefixCut.header.tokenIds, ...prefixCut.memories.tokenIds], tokenIds);
      if (evict !== null) {
        const evicted = await evictTokens(context, evict, prefixCut, rest);
        prefixCut = { ...prefixCut, memories: evicted.cells };
        selector = evicted.selector;
      }
      let bytes: Uint8Array | null = null;
      if (keptAs !== 'f16') {
        using cells = joinPrefix(prefixCut, 1, engine, kv);
        bytes = kv.quantise(cells, keptAs);
        prefixCut = cutPrefix(kv.restore(bytes), headerTokens, kv);
      }
      computeMs += performance.now() - start;
      await this.#inject(prefixCut, turn);
      return { cut: prefixCut, quantised: bytes };
    }, store);
    return {
      sizeBytes: 0,
      cells: cut.header.positions.length + cut.memories.positions.length,
      origin: 'computed',
      computeMs,
      selector,
      // Does not touch the session.
      keep: async () => {
        using cells = quantised === null ? joinPrefix(cut, 1, engine, kv) : null;
        const bytes = quantised ?? writeBlockFile(cells!);
        await store.keepBlock({ userId: turn.userId, key, tokens: tokenIds.length, memoryIds }, bytes);
        return bytes.length;
      },
    };
  }

  async #inject(unscaled: PrefixCut, { session, alpha }: TurnContext): Promise<void> {
    const { header, memories } = unscaled;
    {
      using scaled = joinPrefix(unscaled, alpha, this.#parts.engine, this.#parts.kv);
      await session.importCells(scaled);
    }
    const ids = [...header.tokenIds, ...tokensByPosition(memories).slice(header.positions.length)];
    requireTokens(session.tokens, ids);
  }
}

function otherCells(): BenchError {
  const message = 'stored KV has other tokens or positions than its key stands for';
  return new BenchError('bad-state', message, 'it will be computed again');
}
