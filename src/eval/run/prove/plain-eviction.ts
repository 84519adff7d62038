import { createHash } from 'node:crypto';
import { norm, product } from '../../../base/vectors.ts';
import { SeededRandom } from '../../../base/seeded-random.ts';
import type { TokenId } from '../../../engine/token-id.ts';
import type { EvictionName, EvictionRule } from '../../../store/records/prefill-record.ts';

/** One head of one layer: the vector of each token. */
export interface HeadVectors {
  readonly keys: readonly Float64Array[];
  readonly values: readonly Float64Array[];
  /** Bounds of rounding for a number in the keys, and in the values, of any token. */
  readonly keyError: number;
  readonly valueError: number;
}

/** Of each token the least and the greatest score that rounding allows. */
export type ScoreRange = readonly { readonly low: number; readonly high: number }[];

/** Scores of equal tokens that arithmetic in another order may give. */
const ORDER_ERROR = 1e-9;

/** The rule of a name, and the tokens that it leaves of so many. */
export function leftBy(name: EvictionName, tokens: number): { readonly rule: EvictionRule; readonly left: number } {
  const [rule = '', ratio] = name.split(':');
  return { rule: rule as EvictionRule, left: Math.max(1, Math.floor(tokens * (1 - Number(ratio)))) };
}

/** Draws the scores of `random`, of one head after the other in one layer after the other. */
export function drawsOf(ids: readonly TokenId[]): () => number {
  const seed = createHash('sha256').update(Int32Array.from(ids)).digest().readInt32LE(0);
  const random = new SeededRandom(seed);
  return () => random.float();
}

/**
 * The scores by which a rule keeps tokens of one head, computed as its paper and kvpress have it, in 64-bit floats; shares no
 * code with the layer that evicts.
 */
export function plainScores(rule: EvictionRule, head: HeadVectors, left: number, draw: () => number): ScoreRange {
  const { keys, keyError } = head;
  const error = keyError * Math.sqrt(keys[0]!.length);
  switch (rule) {
    case 'random':
      return keys.map(() => exactly(draw()));
    case 'streaming':
      return keys.map((_, token) => exactly(token < keys.length - left ? 0 : 1));
    case 'knorm':
      return keys.map((key) => within(-norm(key), error));
    case 'keydiff': {
      const units = keys.map((key) => key.map((number) => number / norm(key)));
      const anchor = keys[0]!.map((_, at) => units.reduce((sum, unit) => sum + unit[at]!, 0) / units.length);
      const shortest = Math.min(...keys.map(norm));
      return units.map((unit) => within(-product(unit, anchor) / norm(anchor), (4 * error) / shortest / norm(anchor)));
    }
    case 'lagkv':
      return lagged(head);
  }
}

function lagged({ keys, values, keyError, valueError }: HeadVectors): ScoreRange {
  const count = keys.length;
  const lag = [128, 64, 32, 16, 8].find((tokens) => count >= 8 * tokens) ?? 4;
  const whole = Math.floor(count / lag);
  if (whole < 2) return keys.map((_, token) => exactly(token));
  return keys.map((_, token) => {
    const part = Math.floor(token / lag);
    if (part >= whole - 1) return exactly(1);
    const begin = part * lag;
    const byKey = shares(keys.slice(begin, begin + lag), keys.slice(begin + lag, begin + 2 * lag), keyError);
    const byValue = shares(values.slice(begin, begin + lag), values.slice(begin + lag, begin + 2 * lag), valueError);
    const scores = byKey.map(({ low, high }, at) => ({ low: low + byValue[at]!.low, high: high + byValue[at]!.high }));
    const own = scores[token - begin]!;
    const others = scores.filter((score) => score !== own);
    return {
      low: others.filter(({ high }) => high < own.low - ORDER_ERROR).length / lag,
      high: others.filter(({ low }) => low < own.high + ORDER_ERROR).length / lag,
    };
  });
}

/** Softmax over tokens of how much each varies over dimensions, in units of the ranges of those behind it. */
function shares(vectors: readonly Float64Array[], behind: readonly Float64Array[], error: number): ScoreRange {
  const ranges = Array.from(vectors[0]!, (_, at) => {
    const numbers = behind.map((vector) => vector[at]!);
    return { least: Math.min(...numbers), range: Math.max(...numbers) - Math.min(...numbers) };
  });
  const powers = vectors.map((vector) => {
    const places = ranges.map(({ least, range }, at) => (range === 0 ? 0 : (vector[at]! - least) / range));
    const mean = places.reduce((sum, place) => sum + place) / places.length;
    const squares = places.reduce((sum, place) => sum + (place - mean) ** 2, 0);
    return Math.exp(Math.sqrt(squares / (places.length - 1)));
  });
  const narrowest = Math.min(...ranges.map(({ range }) => range).filter((range) => range > 0));
  const factor = Math.exp((8 * error) / narrowest);
  const sum = powers.reduce((total, power) => total + power);
  return powers.map((power) => ({ low: power / sum / factor, high: (power / sum) * factor }));
}

function exactly(score: number): ScoreRange[number] {
  return { low: score, high: score };
}

function within(score: number, error: number): ScoreRange[number] {
  return { low: score - error - ORDER_ERROR, high: score + error + ORDER_ERROR };
}
