import { createHash } from 'node:crypto';
import type { StateStore } from '../../kv/state-store.ts';
import { commonLength } from '../../llm/common-length.ts';
import type { ModelSequence } from '../../llm/model-sequence.ts';
import type { HandOver, HandOverRequest, HandOverResult } from '../hand-over.ts';
import { LastTurn } from '../last-turn.ts';
import { ScratchState } from '../scratch-state.ts';

interface CachedPrompt {
  readonly key: string;
  readonly tokenIds: readonly number[];
  readonly memoryIds: readonly string[];
}

/**
 * The prompt as text with prefix caching: the states of earlier prompts of the same user are kept, as many
 * bytes as K/V injection may keep, and the one with the longest common beginning saves its evaluation.
 */
export class CachedTextHandOver implements HandOver {
  readonly sequence: ModelSequence;
  readonly #store: StateStore;
  readonly #cached = new Map<string, CachedPrompt[]>();
  readonly #last: LastTurn;
  #reusedTokens = 0;

  constructor(sequence: ModelSequence, store: StateStore) {
    this.sequence = sequence;
    this.#store = store;
    this.#last = new LastTurn(new ScratchState(store));
  }

  async answer({ prompt, userId, limits }: HandOverRequest): Promise<HandOverResult> {
    const { tokenIds } = prompt;
    const loadStart = performance.now();
    const kept = this.#reuseLongest(userId, tokenIds);
    await this.#restore(this.sequence);
    const kvLoadMs = performance.now() - loadStart;
    const generation = await this.sequence.generate(tokenIds.slice(kept), limits);
    const keepStart = performance.now();
    const memoryIds = prompt.kept.map((memory) => memory.memoryId);
    await this.#keep(userId, tokenIds, memoryIds);
    return {
      generation,
      kvLoadMs,
      kvComputeMs: 0,
      keepMs: performance.now() - keepStart,
      residentTokens: kept,
      positions: tokenIds.length,
      builtTokens: 0,
      linkTokens: 0,
      expectedEvaluatedTokens: tokenIds.length - kept,
      reuse: 'none',
      details: {},
    };
  }

  replay(sequence: ModelSequence): Promise<readonly number[]> {
    return this.#restore(sequence);
  }

  forget(userId: string, memoryId: string): void {
    this.#last.forget(userId, memoryId);
  }

  forgetLastTurn(): void {
    this.#last.forgetAll();
  }

  reset(): void {
    this.#store.clear();
    this.#cached.clear();
    this.#last.forgetAll();
  }

  /** Loads what was reused and cuts it down to the common beginning; gives the tokens still to be evaluated. */
  async #restore(sequence: ModelSequence): Promise<readonly number[]> {
    const rest = await this.#last.replay(sequence);
    if (sequence.nextPosition > 0) await sequence.truncate(this.#reusedTokens);
    return rest;
  }

  /**
   * Takes the state with the longest common beginning, and gives its length. Two tokens at least stay to be evaluated:
   * a chunk of one takes another path through the arithmetic.
   */
  #reuseLongest(userId: string, tokenIds: readonly number[]): number {
    const candidates = (this.#cached.get(userId) ?? [])
      .map((cached) => ({ cached, tokens: Math.min(commonLength(cached.tokenIds, tokenIds), tokenIds.length - 2) }))
      .filter(({ tokens }) => tokens > 1)
      .sort((a, b) => b.tokens - a.tokens);
    for (const { cached, tokens } of candidates) {
      const state = this.#store.find(userId, cached.key);
      if (state !== undefined && this.#last.tookKept(state.path, tokenIds.slice(tokens), userId, cached.memoryIds)) {
        this.#reusedTokens = tokens;
        return tokens;
      }
      this.#drop(userId, cached.key);
    }
    this.#last.wasText(tokenIds);
    return 0;
  }

  async #keep(userId: string, tokenIds: readonly number[], memoryIds: readonly string[]): Promise<void> {
    const key = createHash('sha256').update(Int32Array.from(tokenIds)).digest('hex');
    if ((this.#cached.get(userId) ?? []).some((cached) => cached.key === key)) return;
    await this.sequence.truncate(tokenIds.length);
    await this.#store.keep(userId, key, tokenIds.length, memoryIds, (path) => this.sequence.saveState(path));
    this.#cached.set(userId, [...(this.#cached.get(userId) ?? []), { key, tokenIds, memoryIds }]);
  }

  #drop(userId: string, key: string): void {
    this.#cached.set(
      userId,
      (this.#cached.get(userId) ?? []).filter((cached) => cached.key !== key),
    );
  }
}
