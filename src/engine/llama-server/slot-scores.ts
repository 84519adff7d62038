import type { CallOptions } from '../call-options.ts';
import { logProbabilityOf, type NextDistribution, type SequenceScore } from '../sequence-score.ts';
import type { TokenId } from '../token-id.ts';
import type { Completion } from './server-shapes.ts';
import { forced, type Slot } from './slot.ts';

/** What scoring needs to know of the model. */
export interface ScoredModel {
  readonly vocabularySize: number;
  /** Tokens that a distribution lists: all, or the likeliest. */
  readonly listed: 'all' | number;
  /** A token that is a whole text. */
  readonly plainToken: TokenId;
}

/**
 * Scores a continuation token by token: each is forced, and its own probability read, which the server takes from the model's
 * raw numbers. llama-server gives none for a token that leaves a character unfinished: that one is looked up among all.
 * @param held ids that the slot holds
 */
export async function scoreIn(
  slot: Slot,
  ids: readonly TokenId[],
  held: number,
  continuation: readonly TokenId[],
  model: ScoredModel,
  { distributions = false, ...options }: CallOptions & { readonly distributions?: boolean },
): Promise<SequenceScore> {
  const scorer = new Scorer(slot, model, options);
  const isWhole = model.listed === 'all';
  const first = await scorer.list(ids, held, isWhole ? undefined : continuation[0]);
  const lists = [first];
  const logProbabilities: number[] = [];
  for (const [index, token] of continuation.entries()) {
    const before = [...ids, ...continuation.slice(0, index)];
    // Of the tokens before, the last is not evaluated yet; of the first ones all are.
    const there = index === 0 ? before.length : before.length - 1;
    // Where all are listed, all are asked for: a shorter list is summed in another order.
    const list = index === 0 ? first : isWhole ? await scorer.list(before, there) : undefined;
    if (index > 0 && list !== undefined) lists.push(list);
    const known = list?.find(token);
    logProbabilities.push(logProbabilityOf(known ?? (await scorer.probability(before, there, token))));
  }
  return {
    next: first.distribution(),
    logProbabilities,
    ...(distributions && isWhole
      ? { distributions: lists.slice(0, continuation.length).map((list) => Float32Array.from(list.whole())) }
      : {}),
  };
}

class Scorer {
  readonly #slot: Slot;
  readonly #model: ScoredModel;
  readonly #options: CallOptions;
  #isStep = false;

  constructor(slot: Slot, model: ScoredModel, options: CallOptions) {
    this.#slot = slot;
    this.#model = model;
    this.#options = options;
  }

  /** The distribution behind ids, and the probability of one token in it. */
  async list(ids: readonly TokenId[], held: number, token = this.#model.plainToken): Promise<Listed> {
    const { listed, vocabularySize } = this.#model;
    const count = listed === 'all' ? vocabularySize : listed;
    const found = await this.#ask(ids, held, token, count);
    if (found !== undefined) return new Listed(found, this.#model);
    return new Listed((await this.#ask(ids, ids.length, this.#model.plainToken, vocabularySize))!, this.#model);
  }

  /** The probability of a token behind ids. */
  async probability(ids: readonly TokenId[], held: number, token: TokenId): Promise<number> {
    const found = await this.#ask(ids, held, token, 1);
    if (found !== undefined) return Math.exp(found.logprob);
    const all = await this.#ask(ids, ids.length, this.#model.plainToken, this.#model.vocabularySize);
    return new Listed(all!, this.#model).find(token) ?? 0;
  }

  async #ask(ids: readonly TokenId[], held: number, token: TokenId, count: number): Promise<Probabilities | undefined> {
    const asked = { n_predict: 1, n_probs: count, ...forced(token) };
    const options = { ...this.#options, isStep: this.#isStep };
    const { completion_probabilities: found = [] } = await this.#slot.complete(ids, held, asked, options);
    this.#isStep = true;
    return found[0];
  }
}

type Probabilities = NonNullable<Completion['completion_probabilities']>[number];

/** Tokens with their probabilities, likeliest first. */
class Listed {
  readonly #found: Probabilities;
  readonly #model: ScoredModel;

  constructor(found: Probabilities, model: ScoredModel) {
    this.#found = found;
    this.#model = model;
  }

  /** The probability of a token; undefined where it is not among those listed. */
  find(token: TokenId): number | undefined {
    const { id, logprob, top_logprobs: top } = this.#found;
    const own = id === token ? logprob : top.find((one) => one.id === token)?.logprob;
    return own === undefined ? undefined : Math.exp(own);
  }

  /** By token id. */
  whole(): Float64Array {
    const probabilities = new Float64Array(this.#model.vocabularySize);
    for (const { id, logprob } of this.#found.top_logprobs) probabilities[id] = Math.exp(logprob);
    return probabilities;
  }

  distribution(): NextDistribution {
    const { listed } = this.#model;
    if (listed === 'all') return { span: 'all', probabilities: this.whole() };
    const tokens = this.#found.top_logprobs.slice(0, listed);
    return { span: 'top', tokens: tokens.map(({ id, logprob }) => ({ id, probability: Math.exp(logprob) })) };
  }
}
