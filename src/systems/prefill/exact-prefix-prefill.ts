import { BenchError } from '../../base/bench-error.ts';
import type { Engine } from '../../engine/engine.ts';
import { lastExactCut, requireCells } from '../../engine/engine-capabilities.ts';
import type { EngineSession } from '../../engine/engine-session.ts';
import type { SequenceState } from '../../engine/sequence-state.ts';
import type { TokenId } from '../../engine/token-id.ts';
import { writeBlockFile } from '../../kv/block-file.ts';
import { evictionName } from '../../kv/eviction-rule-and-share.ts';
import type { KvStore } from '../../kv/kv-disk-store.ts';
import { type KvOperations, kvOperations } from '../../kv/kv-operations.ts';
import type { PrefillRecord } from '../../store/records/prefill-record.ts';
import type { Selector } from '../../store/records/turn-record.ts';
import { type BuiltPrompt, type PrefixParts, prefixParts } from '../prompt/build-prompt.ts';
import {
  computeExactly,
  holdsTokens,
  isBadState,
  requireTokens,
  restoreCheckpoint,
  storeCheckpoint,
  type StoredTokens,
  tokensByPosition,
} from './verify-kv-tokens.ts';
import {
  type KvParts,
  prefillAsText,
  type Prefilled,
  type PrefillStrategy,
  type TurnContext,
} from './prefill-strategy.ts';
import { evictTokens, type PromptSuffix } from './question-attention.ts';

/** Header and memories as one token sequence, and the key of its KV. */
interface ExactPrefix extends StoredTokens {
  /** Tokens before the first memory. */
  readonly headerTokens: number;
}

interface LoadedPrefix {
  readonly sizeBytes: number;
  /** Fewer than the tokens if some were evicted. */
  readonly cells: number;
  readonly origin: 'resident' | 'disk' | 'computed';
}

interface ComputedPrefix extends LoadedPrefix {
  readonly computeMs: number;
  /** What selecting the tokens to evict cost; null if nothing was evaluated for it. */
  readonly selector: Selector | null;
  readonly keep: NonNullable<Prefilled['keep']>;
}

/** The cells of a prefix, cut before the first memory, in plain memory, with unscaled values. */
interface PrefixCut {
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
async function evaluatePrefix({ tokenIds }: ExactPrefix, { session, signal }: TurnContext): Promise<void> {
  await session.clear();
  await session.evaluate(tokenIds, { signal });
  requireTokens(session.tokens, tokenIds);
}

export interface ExactPrefixOptions extends KvParts<KvStore> {
  /** Leaves the prefix in the session, so that the next turn with the same memories need not load it. */
  readonly keepsSession: boolean;
}

const hit = { cache: 'hit', built: 0 } as const;

function computedAccount({ tokenIds }: ExactPrefix, { selector }: ComputedPrefix) {
  return { cache: 'miss', built: tokenIds.length, ...(selector === null ? {} : { selector }) } as const;
}

type Resident = LoadedPrefix & Pick<ExactPrefix, 'key'> & Pick<TurnContext, 'userId' | 'alpha'>;

/**
 * Header and memories as one contiguous KV prefix: computed once per set of memories, stored after the answer, loaded in
 * later turns. Its tokens are exactly those of the text prompt. Unedited KV ends at a multiple of the engine's `exactCuts`,
 * which makes next-token probabilities bitwise equal to those of text; the few tokens after it are evaluated with the suffix.
 *
 * Prefixes that are scaled, evicted or quantised, for which the engine cannot make checkpoints, are stored as cells, with
 * unscaled values. A hit then costs one import.
 * @see Knowledge Packs, arXiv 2604.03270
 */
export class ExactPrefixPrefill implements PrefillStrategy {
  readonly #options: ExactPrefixOptions;
  #resident: Resident | undefined;

  constructor(options: ExactPrefixOptions) {
    this.#options = options;
  }

  async prefill(prompt: BuiltPrompt, turn: TurnContext): Promise<Prefilled> {
    const parts = prefixParts(prompt);
    const resident = this.#resident;
    this.#resident = undefined;
    const { alpha } = turn;
    const stored = this.#storedTokens(prompt, alpha);
    const suffix = prompt.tokenIds.slice(stored);
    if (parts.lines.length === 0 || stored === 0) return prefillAsText(turn.session, prompt.tokenIds);
    const start = performance.now();
    const prefix = this.#prefix(prompt.tokenIds.slice(0, stored), parts, alpha);
    const remainder = prompt.prefixTokens - stored;
    const found = (await this.#continue(resident, prefix, turn)) ?? (await this.#load(prefix, turn));
    const computed = found === undefined ? await this.#compute(prefix, turn, parts) : null;
    const loaded = found ?? computed!;
    const computeMs = computed?.computeMs ?? 0;
    this.#holdInSession(prefix, loaded, turn);
    return {
      keep: computed === null ? undefined : () => this.#keep(computed),
      suffix,
      record: this.#record(prefix, loaded, alpha, computeMs),
      account: {
        ...(computed === null ? hit : computedAccount(prefix, computed)),
        recomputed: 0,
        ...(remainder === 0 ? {} : { remainder }),
        resident: loaded.cells,
        positions: prompt.tokenIds.length,
      },
      kvLoadMs: performance.now() - start - computeMs,
      kvComputeMs: computeMs,
    };
  }

  #holdInSession({ key }: ExactPrefix, { sizeBytes, cells }: LoadedPrefix, { userId, alpha }: TurnContext): void {
    const { keepsSession, evict } = this.#options;
    // After eviction, the session's tokens no longer identify the prefix.
    if (keepsSession && evict === null) this.#resident = { key, userId, alpha, sizeBytes, cells, origin: 'resident' };
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

  /** Tokens of the prefix that are stored: up to the last exact cut, or all if KV is edited and so never equals text. */
  #storedTokens({ prefixTokens }: BuiltPrompt, alpha: number): number {
    return this.#isPlain(alpha) ? lastExactCut(this.#options.engine.capabilities, prefixTokens) : prefixTokens;
  }

  #prefix(ids: readonly TokenId[], { header, lines }: PrefixParts, alpha: number): ExactPrefix {
    const { engine, kv, template, evict, keptAs } = this.#options;
    // KV of the same tokens that is edited differently needs a different key.
    const cells = evict === null ? 'cells' : `evict-${evictionName(evict)}`;
    const form = this.#isPlain(alpha) ? template : `${template}/${cells}/${keptAs}`;
    return {
      key: kv.key({ stateIdentity: engine.info.stateIdentity ?? '', template: form, tokenIds: ids }),
      tokenIds: ids,
      headerTokens: Math.min(header.length, ids.length),
      memoryIds: lines.map(({ memoryId }) => memoryId),
    };
  }

  /** True where KV is stored as it was evaluated: as a checkpoint of the session. */
  #isPlain(alpha: number): boolean {
    const { evict, keptAs } = this.#options;
    return alpha === 1 && evict === null && keptAs === 'f16';
  }

  /** Reuses the prefix that the last turn left in the session; undefined if that was a different one. */
  async #continue(
    resident: Resident | undefined,
    { key, tokenIds }: ExactPrefix,
    { session, userId, alpha }: TurnContext,
  ): Promise<LoadedPrefix | undefined> {
    if (resident?.key !== key || resident.userId !== userId || resident.alpha !== alpha) return undefined;
    // Another arm may have used the session since.
    if (session.tokens.length < tokenIds.length) return undefined;
    await session.truncate(tokenIds.length);
    try {
      requireTokens(session.tokens, tokenIds);
      return resident;
    } catch (error) {
      if (!isBadState(error)) throw error;
      this.#options.store.countRejected();
      return undefined;
    }
  }

  async #load(prefix: ExactPrefix, turn: TurnContext): Promise<LoadedPrefix | undefined> {
    if (!this.#isPlain(turn.alpha)) return this.#loadCells(prefix, turn);
    const sizeBytes = await restoreCheckpoint(this.#options.store, prefix, turn);
    return sizeBytes === undefined ? undefined : { sizeBytes, cells: prefix.tokenIds.length, origin: 'disk' };
  }

  async #compute(prefix: ExactPrefix, turn: TurnContext, rest: PromptSuffix): Promise<ComputedPrefix> {
    if (!this.#isPlain(turn.alpha)) return this.#computeCells(prefix, turn, rest);
    const { store } = this.#options;
    const start = performance.now();
    await computeExactly(() => evaluatePrefix(prefix, turn), store);
    const computeMs = performance.now() - start;
    const keep = () => storeCheckpoint(store, prefix, turn);
    return { sizeBytes: 0, cells: prefix.tokenIds.length, origin: 'computed', computeMs, selector: null, keep };
  }

  /** Loads a prefix into the session and scales it; undefined if none is stored or the stored one is unusable. */
  async #loadCells(prefix: ExactPrefix, turn: TurnContext): Promise<LoadedPrefix | undefined> {
    const { store, kv, keptAs, evict } = this.#options;
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
  async #computeCells(prefix: ExactPrefix, turn: TurnContext, rest: PromptSuffix): Promise<ComputedPrefix> {
    const { engine, kv, evict, keptAs, store } = this.#options;
    const { key, tokenIds, headerTokens, memoryIds } = prefix;
    const context = { ...this.#options, signal: turn.signal };
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
    using scaled = joinPrefix(unscaled, alpha, this.#options.engine, this.#options.kv);
    await session.importCells(scaled);
    const ids = [...header.tokenIds, ...tokensByPosition(memories).slice(header.positions.length)];
    requireTokens(session.tokens, ids);
  }

  /** Stores a computed prefix. Only then is the size of a prefix that stays in the session known. */
  async #keep({ keep }: ComputedPrefix): Promise<number | undefined> {
    const sizeBytes = await keep();
    if (this.#resident !== undefined && sizeBytes !== undefined) this.#resident = { ...this.#resident, sizeBytes };
    return sizeBytes;
  }

  #record(
    { key, tokenIds, headerTokens, memoryIds }: ExactPrefix,
    { sizeBytes, cells, origin }: LoadedPrefix,
    alpha: number,
    computeMs: number,
  ): PrefillRecord {
    const { evict, keptAs } = this.#options;
    return {
      strategy: 'prefix',
      ...(evict === null ? {} : { evicted: evictionName(evict) }),
      ...(keptAs === 'f16' ? {} : { keptAs }),
      alpha,
      key,
      memoryIds,
      tokens: tokenIds.length,
      origin,
      computeMs,
      sizeBytes,
      memoryLines: { tokens: tokenIds.length - headerTokens, cells: cells - headerTokens },
    };
  }
}

function otherCells(): BenchError {
  const message = 'stored KV has other tokens or positions than its key stands for';
  return new BenchError('bad-state', message, 'it will be computed again');
}
