import { createHash } from 'node:crypto';
import type { StateStore } from '../../kv/state-store.ts';
import type { ModelSequence } from '../../llm/model-sequence.ts';
import type { HandOver, HandOverRequest, HandOverResult } from '../hand-over.ts';

interface CachedPrompt {
  readonly key: string;
  readonly tokenIds: readonly number[];
}

interface Reuse {
  readonly path: string;
  readonly tokens: number;
}

function commonLength(a: readonly number[], b: readonly number[]): number {
  const limit = Math.min(a.length, b.length);
  let length = 0;
  while (length < limit && a[length] === b[length]) length++;
  return length;
}

/**
 * The prompt as text with prefix caching: the states of earlier prompts of the same user are kept, as many
 * bytes as K/V injection may keep, and the one with the longest common beginning saves its evaluation.
 */
export class CachedTextHandOver implements HandOver {
  readonly sequence: ModelSequence;
  readonly #store: StateStore;
  readonly #cached = new Map<string, CachedPrompt[]>();
  #last: { readonly tokenIds: readonly number[]; readonly reuse: Reuse | undefined } = {
    tokenIds: [],
    reuse: undefined,
  };

  constructor(sequence: ModelSequence, store: StateStore) {
    this.sequence = sequence;
    this.#store = store;
  }

  async answer({ prompt, userId, limits }: HandOverRequest): Promise<HandOverResult> {
    const { tokenIds } = prompt;
    const loadStart = performance.now();
    const reuse = this.#longest(userId, tokenIds);
    await this.#restore(this.sequence, reuse);
    const kvLoadMs = performance.now() - loadStart;
    const kept = reuse?.tokens ?? 0;
    const generation = await this.sequence.generate(tokenIds.slice(kept), limits);
    this.#last = { tokenIds, reuse };
    const keepStart = performance.now();
    await this.#keep(
      userId,
      tokenIds,
      prompt.kept.map((memory) => memory.memoryId),
    );
    return {
      generation,
      kvLoadMs,
      kvComputeMs: 0,
      keepMs: performance.now() - keepStart,
      residentTokens: kept,
      expectedEvaluatedTokens: tokenIds.length - kept,
      reuse: 'none',
      details: {},
    };
  }

  async replay(sequence: ModelSequence): Promise<readonly number[]> {
    const { tokenIds, reuse } = this.#last;
    await this.#restore(sequence, reuse);
    return tokenIds.slice(reuse?.tokens ?? 0);
  }

  reset(): void {
    this.#store.clear();
    this.#cached.clear();
  }

  async #restore(sequence: ModelSequence, reuse: Reuse | undefined): Promise<void> {
    await sequence.clear();
    if (reuse === undefined) return;
    await sequence.loadState(reuse.path);
    await sequence.truncate(reuse.tokens);
  }

  /** Two tokens at least stay to be evaluated: a chunk of one takes another path through the arithmetic. */
  #longest(userId: string, tokenIds: readonly number[]): Reuse | undefined {
    const candidates = (this.#cached.get(userId) ?? [])
      .map((cached) => ({ cached, tokens: Math.min(commonLength(cached.tokenIds, tokenIds), tokenIds.length - 2) }))
      .filter(({ tokens }) => tokens > 1)
      .sort((a, b) => b.tokens - a.tokens);
    for (const { cached, tokens } of candidates) {
      const state = this.#store.find(userId, cached.key);
      if (state !== undefined) return { path: state.path, tokens };
      this.#drop(userId, cached.key);
    }
    return undefined;
  }

  async #keep(userId: string, tokenIds: readonly number[], memoryIds: readonly string[]): Promise<void> {
    const key = createHash('sha256').update(Int32Array.from(tokenIds)).digest('hex');
    if ((this.#cached.get(userId) ?? []).some((cached) => cached.key === key)) return;
    await this.sequence.truncate(tokenIds.length);
    await this.#store.keep(userId, key, tokenIds.length, memoryIds, (path) => this.sequence.saveState(path));
    this.#cached.set(userId, [...(this.#cached.get(userId) ?? []), { key, tokenIds }]);
  }

  #drop(userId: string, key: string): void {
    this.#cached.set(
      userId,
      (this.#cached.get(userId) ?? []).filter((cached) => cached.key !== key),
    );
  }
}
