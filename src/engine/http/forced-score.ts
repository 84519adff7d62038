import { z } from 'zod';
import { logProbabilityOf, type NextDistribution, type SequenceScore } from '../sequence-score.ts';
import type { TokenId } from '../token-id.ts';

/** Of every token of the vocabulary: nothing is kept that is not read. */
const tokenProbabilityShape = z.object({ id: z.int().nonnegative(), logprob: z.number() });

/** A sampled token, and the likeliest ones at its place. */
export const listedProbabilitiesShape = tokenProbabilityShape.extend({ top_logprobs: z.array(tokenProbabilityShape) });

export type ListedProbabilities = z.output<typeof listedProbabilitiesShape>;

/** Beyond it, all probabilities of a token are megabytes of JSON. */
const LARGEST_LISTED_VOCABULARY = 2 ** 16;
const LISTED_TOKENS = 100;
/** The bias that makes a token the likeliest by far. */
export const CERTAIN = 1e6;

/** As many tokens as a llama-server is asked to list with their probabilities. */
export function listedOf(vocabularySize: number): ScoredModel['listed'] {
  return vocabularySize <= LARGEST_LISTED_VOCABULARY ? 'all' : LISTED_TOKENS;
}

/** One request of a score: a token is forced behind ids, and so many probabilities at its place are listed. */
export interface ForcedRequest {
  readonly ids: readonly TokenId[];
  /** Ids that the server holds from before. */
  readonly held: number;
  readonly token: TokenId;
  readonly count: number;
  /** An earlier request of the same score left the ids there: they are not counted again. */
  readonly isStep: boolean;
}

/** Asks a server; undefined where it shows nothing of a token that leaves a character unfinished. */
export type AskForced = (request: ForcedRequest) => Promise<ListedProbabilities | undefined>;

/** Facts of the model that scoring needs. */
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
 * @param held ids that the server holds from before
 */
export async function forcedScore(
  ask: AskForced,
  ids: readonly TokenId[],
  held: number,
  continuation: readonly TokenId[],
  model: ScoredModel,
  distributions: boolean,
): Promise<SequenceScore> {
  const scorer = new Scorer(ask, model);
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
  readonly #send: AskForced;
  readonly #model: ScoredModel;
  #isStep = false;

  constructor(send: AskForced, model: ScoredModel) {
    this.#send = send;
    this.#model = model;
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

  async #ask(
    ids: readonly TokenId[],
    held: number,
    token: TokenId,
    count: number,
  ): Promise<ListedProbabilities | undefined> {
    const found = await this.#send({ ids, held, token, count, isStep: this.#isStep });
    this.#isStep = true;
    return found;
  }
}

/** Tokens with their probabilities, likeliest first. */
class Listed {
  readonly #found: ListedProbabilities;
  readonly #model: ScoredModel;

  constructor(found: ListedProbabilities, model: ScoredModel) {
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
