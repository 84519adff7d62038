import { stateKey } from '../../kv/state-key.ts';
import type { StateStore, StoredState } from '../../kv/state-store.ts';
import type { LanguageModel } from '../../llm/language-model.ts';
import type { ModelSequence } from '../../llm/model-sequence.ts';
import type { HandOver, HandOverRequest, HandOverResult } from '../hand-over.ts';
import type { BuiltPrompt } from '../prompt/build-prompt.ts';

/** Loads the prefix of the last turn into another sequence, or nothing where there was none. */
interface LastTurn {
  readonly state: StoredState | undefined;
  readonly rest: readonly number[];
}

/**
 * Header and memories as one contiguous K/V prefix: computed once for a set of memories, kept as a llama.cpp
 * state, loaded in every turn, never read again. The very token sequence of RAG, so its answers are RAG's, bit by bit.
 * @see Knowledge Packs, arXiv 2604.03270
 */
export class PrefixHandOver implements HandOver {
  readonly sequence: ModelSequence;
  readonly #model: LanguageModel;
  readonly #store: StateStore;
  readonly #template: string;
  #last: LastTurn = { state: undefined, rest: [] };

  /** @param template template and labels, part of each key */
  constructor(model: LanguageModel, sequence: ModelSequence, store: StateStore, template: string) {
    this.sequence = sequence;
    this.#model = model;
    this.#store = store;
    this.#template = template;
  }

  async answer({ prompt, userId, limits }: HandOverRequest): Promise<HandOverResult> {
    const prefix = prompt.tokenIds.slice(0, prompt.prefixTokens);
    const rest = prompt.tokenIds.slice(prompt.prefixTokens);
    if (prefix.length === 0) {
      await this.sequence.clear();
      this.#last = { state: undefined, rest };
      return {
        generation: await this.sequence.generate(rest, limits),
        kvLoadMs: 0,
        kvComputeMs: 0,
        keepMs: 0,
        residentTokens: 0,
        expectedEvaluatedTokens: rest.length,
        reuse: 'none',
        details: {},
      };
    }

    const findStart = performance.now();
    const key = this.#key(prefix);
    const found = this.#store.find(userId, key);
    const findMs = performance.now() - findStart;
    const computeStart = performance.now();
    const state = found ?? (await this.#compute(userId, key, prefix, prompt));
    const kvComputeMs = found === undefined ? performance.now() - computeStart : 0;
    const loadStart = performance.now();
    await this.sequence.clear();
    await this.sequence.loadState(state.path);
    const kvLoadMs = findMs + performance.now() - loadStart;
    this.#last = { state, rest };
    const generation = await this.sequence.generate(rest, limits);
    return {
      generation,
      kvLoadMs,
      kvComputeMs,
      keepMs: 0,
      residentTokens: prefix.length,
      expectedEvaluatedTokens: rest.length + (found === undefined ? prefix.length : 0),
      reuse: found === undefined ? 'new' : 'seen',
      details: {
        kv: {
          key,
          sizeBytes: state.sizeBytes,
          tokens: state.tokens,
          origin: found === undefined ? 'computed' : 'disk',
        },
      },
    };
  }

  async replay(sequence: ModelSequence): Promise<readonly number[]> {
    await sequence.clear();
    if (this.#last.state !== undefined) await sequence.loadState(this.#last.state.path);
    return this.#last.rest;
  }

  reset(): void {
    this.#store.clear();
    this.#last = { state: undefined, rest: [] };
  }

  #key(prefix: readonly number[]): string {
    const { sha256, contextOptions } = this.#model.info;
    return stateKey({ modelSha256: sha256, contextOptions, template: this.#template, tokenIds: prefix });
  }

  async #compute(userId: string, key: string, prefix: readonly number[], prompt: BuiltPrompt): Promise<StoredState> {
    await this.sequence.clear();
    await this.sequence.evaluate(prefix);
    const memoryIds = prompt.kept.map((memory) => memory.memoryId);
    return this.#store.keep(userId, key, prefix.length, memoryIds, (path) => this.sequence.saveState(path));
  }
}
