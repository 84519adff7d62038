import { type Eviction, keptTokens } from './eviction-rule-and-share.ts';

/** Keys and values of one KV head in one layer, each as [token][dimension]. */
export interface HeadCells {
  readonly tokens: number;
  /** Numbers in the key of one token, and in its value. */
  readonly dimension: number;
  readonly keys: Float32Array;
  readonly values: Float32Array;
  /** For `snapkv`: how much the question attends to each token. */
  readonly attention?: Float64Array | undefined;
}

/** Published partition size of LagKV, in tokens; halved for shorter texts. */
const LONGEST_LAG = 128;
const SHORTEST_LAG = 4;
/** Minimum number of partitions, unless partitions would become shorter than `SHORTEST_LAG`. */
const PARTITIONS = 8;
/** Vectors shorter than this are divided by this instead of their length. @see torch, `normalize`, `cosine_similarity` */
const MIN_LENGTH = 1e-12;
const MIN_COSINE_LENGTH = 1e-8;
/** Width of the mean over neighbouring tokens in `snapkv`. */
const POOL_WIDTH = 5;

/**
 * Scores of the tokens of one head; the lowest are dropped. What scores high:
 * - `random`: what is drawn.
 * - `streaming`: recent tokens; the header before these cells is the sink.
 * - `knorm`: keys with a small norm.
 * - `keydiff`: keys unlike the mean key.
 * - `lagkv`: a high variance relative to the next partition; the last partition scores highest.
 * - `snapkv`: tokens that, with their neighbours, the question attends to; the same in all heads.
 * @param draw gives a number in [0, 1), for `random`
 * @throws RangeError for `snapkv` without the attention of a question
 * @see kvpress 0.5.5; StreamingLLM, arXiv 2309.17453; arXiv 2406.11430; KeyDiff, arXiv 2504.15364; LagKV, arXiv 2504.04704;
 * SnapKV, arXiv 2404.14469
 */
export function evictionScores(eviction: Eviction, head: HeadCells, draw: () => number): Float64Array {
  switch (eviction.by) {
    case 'random':
      return Float64Array.from({ length: head.tokens }, draw);
    case 'streaming':
      return new Float64Array(head.tokens).fill(1, head.tokens - keptTokens(head.tokens, eviction));
    case 'knorm':
      return vectorLengths(head.keys, head).map((length) => -length);
    case 'keydiff':
      return unlikeMean(head);
    case 'lagkv':
      return lagScores(head, lagFor(head.tokens));
    case 'snapkv':
      if (head.attention === undefined) throw new RangeError('snapkv evicts by the attention of a question');
      return meanOfNeighbours(head.attention);
  }
}

/** The mean over each token and two neighbours on both sides; those beyond the ends count as 0. */
function meanOfNeighbours(attention: Float64Array): Float64Array {
  const reach = Math.floor(POOL_WIDTH / 2);
  return attention.map((_, token) => {
    const near = attention.subarray(Math.max(0, token - reach), token + reach + 1);
    return near.reduce((sum, share) => sum + share, 0) / POOL_WIDTH;
  });
}

/** Partition size for a text: 128 as published, halved until the text has 8 partitions, but at least 4. */
export function lagFor(tokens: number): number {
  let lag = LONGEST_LAG;
  while (lag > SHORTEST_LAG && tokens < PARTITIONS * lag) lag /= 2;
  return lag;
}

/**
 * Scores of LagKV without sinks. The last full partition and the rest after it score 1. In texts shorter than two partitions,
 * later tokens score higher.
 */
export function lagScores(head: HeadCells, lag: number): Float64Array {
  const { tokens, keys, values } = head;
  if (tokens < 2 * lag) return Float64Array.from({ length: tokens }, (_, token) => token / tokens);
  const scores = new Float64Array(tokens).fill(1);
  for (let start = 0; start + 2 * lag <= tokens; start += lag) {
    const [byKey, byValue] = [keys, values].map((numbers) => softmax(spreads(numbers, head, start, lag)));
    const both = byKey!.map((score, token) => (score + byValue![token]!) / 2);
    const order = [...both.keys()].sort((a, b) => both[a]! - both[b]!);
    order.forEach((token, rank) => (scores[start + token] = rank / lag));
  }
  return scores;
}

function vectorLengths(numbers: Float32Array, { tokens, dimension }: HeadCells): Float64Array {
  return Float64Array.from({ length: tokens }, (_, token) => {
    let sum = 0;
    for (let at = token * dimension; at < (token + 1) * dimension; at++) sum += numbers[at]! ** 2;
    return Math.sqrt(sum);
  });
}

function unlikeMean(head: HeadCells): Float64Array {
  const { tokens, dimension, keys } = head;
  const lengths = vectorLengths(keys, head);
  const mean = new Float64Array(dimension);
  for (let at = 0; at < keys.length; at++) {
    const length = Math.max(lengths[Math.floor(at / dimension)]!, MIN_LENGTH);
    mean[at % dimension]! += keys[at]! / length / tokens;
  }
  const meanLength = Math.sqrt(mean.reduce((sum, number) => sum + number ** 2, 0));
  return lengths.map((length, token) => {
    const product = mean.reduce((sum, number, at) => sum + number * keys[token * dimension + at]!, 0);
    return -product / (Math.max(length, MIN_COSINE_LENGTH) * Math.max(meanLength, MIN_COSINE_LENGTH));
  });
}

/** Each token's standard deviation over dimensions, every dimension scaled to its range in the next partition. */
function spreads(numbers: Float32Array, { dimension }: Pick<HeadCells, 'dimension'>, start: number, lag: number) {
  const [low, high] = [new Float64Array(dimension).fill(Infinity), new Float64Array(dimension).fill(-Infinity)];
  for (let at = (start + lag) * dimension; at < (start + 2 * lag) * dimension; at++) {
    low[at % dimension] = Math.min(low[at % dimension]!, numbers[at]!);
    high[at % dimension] = Math.max(high[at % dimension]!, numbers[at]!);
  }
  return Float64Array.from({ length: lag }, (_, token) => {
    const places = Float64Array.from({ length: dimension }, (__, at) => {
      const range = high[at]! - low[at]!;
      return range === 0 ? 0 : (numbers[(start + token) * dimension + at]! - low[at]!) / range;
    });
    const mean = places.reduce((sum, place) => sum + place, 0) / dimension;
    return Math.sqrt(places.reduce((sum, place) => sum + (place - mean) ** 2, 0) / (dimension - 1));
  });
}

function softmax(numbers: Float64Array): Float64Array {
  const largest = numbers.reduce((most, number) => Math.max(most, number), -Infinity);
  const powers = numbers.map((number) => Math.exp(number - largest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}
