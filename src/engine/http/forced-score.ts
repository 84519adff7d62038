import { z } from 'zod';
import { lnProbability, type NextDistribution, type SequenceScore } from '../sequence-score.ts';
import type { TokenId, TokenIds } from '../token-id.ts';

const tokenProbabilityShape = z.object({ id: z.int().nonnegative(), logprob: z.number() });

/** A sampled token, and the likeliest tokens at its position in falling order. */
export const listedProbabilitiesShape = tokenProbabilityShape.extend({ top_logprobs: z.array(tokenProbabilityShape) });

export type ListedProbabilities = z.output<typeof listedProbabilitiesShape>;

/** Above this size, the distribution of one token would be megabytes of JSON. */
const LARGEST_LISTED_VOCABULARY = 2 ** 16;
const LISTED_TOKENS = 100;
/** Logit bias that makes sure a token is sampled. */
export const FORCING_BIAS = 1e6;

export type ScoredModel = Readonly<ReturnType<typeof scoredModel>>;

/** @returns also `listed`, how many tokens a distribution lists: all, or the likeliest N */
export function scoredModel(vocabularySize: number, plainToken: TokenId) {
  const listed = vocabularySize <= LARGEST_LISTED_VOCABULARY ? ('all' as const) : LISTED_TOKENS;
  return { vocabularySize, listed, plainToken };
}

/** Request to sample `token` after `ids` and to list the `count` largest probabilities at that position. */
export interface ForcedRequest {
  readonly ids: TokenIds;
  /** How many of the first ids the server already holds. */
  readonly held: number;
  readonly token: TokenId;
  readonly count: number;
  /** An earlier request of the same score evaluated the ids, so they must not be counted as reused. */
  readonly isStep: boolean;
}

/** Sends a request. Undefined if the server reports nothing because the token ends within a character. */
export type SendForced = (request: ForcedRequest) => Promise<ListedProbabilities | undefined>;

interface ScoreRequest extends Pick<ForcedRequest, 'ids' | 'held'> {
  readonly continuation: TokenIds;
  readonly distributions: boolean;
}

/**
 * Scores a continuation token by token: forces each token and reads its probability, which the server computes from the unbiased
 * logits. llama-server reports none for a token that ends within a character; it is then looked up in the whole distribution.
 */
export async function forcedScore(
  send: SendForced,
  { ids, held, continuation, distributions }: ScoreRequest,
  { vocabularySize, listed, plainToken }: ScoredModel,
): Promise<SequenceScore> {
  const isWhole = listed === 'all';
  let isStep = false;
  const force = async (request: Omit<ForcedRequest, 'isStep'>): Promise<ListedProbabilities | undefined> => {
    const found = await send({ ...request, isStep });
    isStep = true;
    return found;
  };
  const listAll = async (before: TokenIds): Promise<ListedProbabilities> =>
    (await force({ ids: before, held: before.length, token: plainToken, count: vocabularySize }))!;
  const list = async (before: TokenIds, there: number, token = plainToken): Promise<ListedProbabilities> =>
    (await force({ ids: before, held: there, token, count: isWhole ? vocabularySize : listed })) ??
    (await listAll(before));
  const probability = async (before: TokenIds, there: number, token: TokenId): Promise<number> => {
    const found = await force({ ids: before, held: there, token, count: 1 });
    return found === undefined ? (find(await listAll(before), token) ?? 0) : Math.exp(found.logprob);
  };

  const first = await list(ids, held, isWhole ? undefined : continuation[0]);
  const lists = [first];
  const logProbabilities: number[] = [];
  for (const [index, token] of continuation.entries()) {
    const before = [...ids, ...continuation.slice(0, index)];
    // The first request has evaluated all `ids`. Later, the last token before this one is still to be evaluated.
    const there = index === 0 ? before.length : before.length - 1;
    // A shorter list rounds differently, so always request all if all can be listed.
    if (index > 0 && isWhole) lists.push(await list(before, there));
    const known = lists[index] && find(lists[index], token);
    logProbabilities.push(lnProbability(known ?? (await probability(before, there, token))));
  }
  if (!isWhole) {
    const top = first.top_logprobs.slice(0, listed);
    const tokens = top.map(({ id, logprob }) => ({ id, probability: Math.exp(logprob) }));
    return { next: { span: 'top', tokens }, logProbabilities };
  }
  const next: NextDistribution = { span: 'all', probabilities: wholeDistribution(first, vocabularySize) };
  if (!distributions) return { next, logProbabilities };
  const behind = lists.slice(0, continuation.length);
  return {
    next,
    logProbabilities,
    distributions: behind.map((one) => Float32Array.from(wholeDistribution(one, vocabularySize))),
  };
}

function find({ id, logprob, top_logprobs: top }: ListedProbabilities, token: TokenId): number | undefined {
  const own = id === token ? logprob : top.find((one) => one.id === token)?.logprob;
  return own === undefined ? undefined : Math.exp(own);
}

function wholeDistribution({ top_logprobs: top }: ListedProbabilities, vocabularySize: number): Float64Array {
  const probabilities = new Float64Array(vocabularySize);
  for (const { id, logprob } of top) probabilities[id] = Math.exp(logprob);
  return probabilities;
}
