import { readFileSync } from 'node:fs';
import { BenchError } from '../../config/bench-error.ts';
import { parseSequenceState } from '../../kv/sequence-state.ts';
import { stateKey } from '../../kv/state-key.ts';
import type { StateStore, StoredState } from '../../kv/state-store.ts';
import type { LanguageModel } from '../../llm/language-model.ts';
import type { ModelInfo } from '../../llm/model-info.ts';
import type { ModelSequence } from '../../llm/model-sequence.ts';
import { answerAsText, type HandOver, type HandOverRequest, type HandOverResult } from '../hand-over.ts';
import { LastTurn } from '../last-turn.ts';
import { type PrefixParts, prefixParts } from './prefix-parts.ts';
import { scaledPrefix } from './scaled-prefix.ts';
import { ScratchState } from '../scratch-state.ts';

/** K/V that is ready in front of the suffix, and where it came from. */
interface Ready {
  readonly state: StoredState;
  readonly origin: 'resident' | 'disk' | 'computed';
}

/** What a turn injects, and whose it is. */
interface Injection {
  readonly key: string;
  readonly userId: string;
  readonly parts: PrefixParts;
  readonly alpha: number;
}

/**
 * Header and memories as one contiguous K/V prefix: computed once for a set of memories, kept as a llama.cpp
 * state, loaded in every turn, never read again. The very token sequence of RAG, so its answers are RAG's, bit by bit,
 * while its values are not scaled.
 * @see Knowledge Packs, arXiv 2604.03270
 */
export class PrefixHandOver implements HandOver {
  readonly sequence: ModelSequence;
  readonly #info: ModelInfo;
  readonly #store: StateStore;
  readonly #template: string;
  readonly #last: LastTurn;
  readonly #staysResident: boolean;
  /** What the sequence begins with since the last turn, where it stays there. */
  #resident: (Pick<Injection, 'key' | 'userId' | 'alpha'> & { readonly state: StoredState }) | undefined;

  /**
   * @param template template and labels, part of each key
   * @param staysResident leaves the K/V of a turn in the sequence, so that the same set of memories is not even loaded
   */
  constructor(model: LanguageModel, store: StateStore, template: string, staysResident = false) {
    this.sequence = model.openSequence();
    this.#info = model.info;
    this.#store = store;
    this.#template = template;
    this.#staysResident = staysResident;
    this.#last = new LastTurn(new ScratchState(store));
  }

  async answer({ prompt, userId, limits, alpha }: HandOverRequest): Promise<HandOverResult> {
    const parts = prefixParts(prompt);
    if (parts.lines.length === 0) {
      this.#last.wasText(parts.suffix);
      this.#resident = undefined;
      return answerAsText(this.sequence, parts.suffix, limits);
    }
    const start = performance.now();
    const prefix = prompt.tokenIds.slice(0, prompt.prefixTokens);
    const injection: Injection = { key: this.#key(prefix), userId, parts, alpha };
    const found = (await this.#goOn(injection, prefix.length)) ?? (await this.#loadKept(injection));
    const computeStart = performance.now();
    const { state, origin } = found ?? (await this.#compute(injection, prefix));
    const kvComputeMs = found === undefined ? performance.now() - computeStart : 0;
    if (found === undefined) await this.#last.load(this.sequence);
    if (this.#staysResident) this.#resident = { key: injection.key, userId, alpha, state };
    const kvLoadMs = performance.now() - start - kvComputeMs;
    const generation = await this.sequence.generate(parts.suffix, limits);
    const builtTokens = found === undefined ? prefix.length : 0;
    return {
      generation,
      kvLoadMs,
      kvComputeMs,
      keepMs: 0,
      residentTokens: prefix.length,
      positions: prompt.tokenIds.length,
      builtTokens,
      linkTokens: 0,
      expectedEvaluatedTokens: parts.suffix.length + builtTokens,
      reuse: found === undefined ? 'new' : 'seen',
      details: {
        kv: {
          mode: 'prefix',
          alpha,
          key: injection.key,
          memoryIds: memoryIdsOf(parts),
          tokens: state.tokens,
          origin,
          computeMs: kvComputeMs,
          sizeBytes: state.sizeBytes,
        },
      },
    };
  }

  replay(sequence: ModelSequence): Promise<readonly number[]> {
    return this.#last.replay(sequence);
  }

  forget(userId: string, memoryId: string): void {
    this.#last.forget(userId, memoryId);
    this.#resident = undefined;
  }

  reset(): void {
    this.#store.clear();
    this.forgetLastTurn();
  }

  forgetLastTurn(): void {
    this.#last.forgetAll();
    this.#resident = undefined;
  }

  #key(tokenIds: readonly number[]): string {
    const { sha256, contextOptions } = this.#info;
    return stateKey({ modelSha256: sha256, contextOptions, template: this.#template, tokenIds });
  }

  /** Goes on behind what the last turn injected; undefined where that was something else. */
  async #goOn({ key, userId, alpha, parts }: Injection, prefixTokens: number): Promise<Ready | undefined> {
    const resident = this.#resident;
    this.#resident = undefined;
    if (resident?.key !== key || resident.userId !== userId || resident.alpha !== alpha) return undefined;
    await this.sequence.truncate(prefixTokens);
    this.#last.goesOn(parts.suffix);
    return { state: resident.state, origin: 'resident' };
  }

  /** Undefined where nothing is kept; what llama.cpp refuses, or another process took away, counts as that. */
  async #loadKept(injection: Injection): Promise<Ready | undefined> {
    const { key, userId } = injection;
    const state = this.#store.find(userId, key);
    if (state === undefined) return undefined;
    try {
      this.#take(state.path, injection);
      await this.#last.load(this.sequence);
      return { state, origin: 'disk' };
    } catch (error) {
      if (!(error instanceof BenchError) || error.code !== 'bad-state') throw error;
      this.#store.reject(userId, key);
      return undefined;
    }
  }

  /** Makes a state in the store what this turn injects. */
  #take(path: string, { parts, userId, alpha }: Injection): void {
    if (alpha === 1) {
      if (!this.#last.tookKept(path, parts.suffix, userId, memoryIdsOf(parts))) throw gone(path);
    } else {
      const { cells } = parseSequenceState(readState(path));
      const scaled = scaledPrefix(cells, parts.header.length, alpha, this.#info);
      this.#last.wasInjected(scaled, parts.suffix, userId, memoryIdsOf(parts));
    }
  }

  async #compute(injection: Injection, prefix: readonly number[]): Promise<Ready> {
    const { key, userId, parts } = injection;
    await this.sequence.clear();
    await this.sequence.evaluate(prefix);
    const save = async (path: string): Promise<void> => {
      await this.sequence.saveState(path);
      // Before it is in its place, where another process could evict it at once.
      this.#take(path, injection);
    };
    const state = await this.#store.keep(userId, key, prefix.length, memoryIdsOf(parts), save);
    return { state, origin: 'computed' };
  }
}

function memoryIdsOf({ lines }: PrefixParts): string[] {
  return lines.map(({ memoryId }) => memoryId);
}

function readState(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw gone(path, cause);
  }
}

function gone(path: string, cause?: unknown): BenchError {
  return new BenchError('bad-state', `${path}: no such K/V state`, 'it will be computed again', cause);
}
