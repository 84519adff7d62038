import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { EvictionRule } from '../store/records/prefill-record.ts';
import { evictionScores, type HeadCells, lagFor, lagScores } from './eviction-scores.ts';
import { keptTokens } from './eviction-rule-and-share.ts';

type Heads = readonly (readonly (readonly number[])[])[];

/** Made by the package itself; see its note. */
const kvpress = JSON.parse(
  readFileSync(new URL('../../test/fixtures/kvpress-scores.json', import.meta.url), 'utf8'),
) as {
  readonly keys: Heads;
  readonly values: Heads;
  readonly scores: readonly {
    readonly rule: EvictionRule;
    readonly ratio?: number;
    readonly lag?: number;
    readonly scores: readonly (readonly number[])[];
  }[];
  readonly left: readonly {
    readonly rule: EvictionRule;
    readonly ratio: number;
    readonly positions: readonly (readonly number[])[];
  }[];
  readonly kept: readonly (readonly [number, number, number])[];
};

const headOf = (index: number): HeadCells => {
  const [keys, values] = [kvpress.keys[index]!, kvpress.values[index]!];
  return {
    tokens: keys.length,
    dimension: keys[0]!.length,
    keys: Float32Array.from(keys.flat()),
    values: Float32Array.from(values.flat()),
  };
};
const noDraw = (): number => expect.unreachable('nothing is drawn');

it.each(kvpress.scores)(
  'scores of $rule are those of kvpress (ratio $ratio, lag $lag)',
  ({ rule, ratio, lag, scores }) => {
    scores.forEach((wanted, index) => {
      const head = headOf(index);
      const found =
        lag === undefined ? evictionScores({ by: rule, ratio: ratio ?? 0.5 }, head, noDraw) : lagScores(head, lag);
      expect(found).toHaveLength(wanted.length);
      wanted.forEach((score, token) => expect(found[token]).toBeCloseTo(score, 5));
    });
  },
);

it.each(kvpress.left)('$rule keeps at $ratio the tokens that kvpress keeps', ({ rule, ratio, positions }) => {
  positions.forEach((wanted, index) => {
    const scores = evictionScores({ by: rule, ratio }, headOf(index), noDraw);
    const best = [...scores.keys()].sort((a, b) => scores[b]! - scores[a]!).slice(0, wanted.length);
    expect(best.sort((a, b) => a - b)).toEqual(wanted);
  });
});

it('keeps as many tokens as kvpress, at least one', () => {
  for (const [tokens, ratio, wanted] of kvpress.kept) expect(keptTokens(tokens, { ratio })).toBe(wanted);
  expect(keptTokens(9, { ratio: 0 })).toBe(9);
});

it('random scores are the drawn numbers', () => {
  let drawn = 0;
  const scores = evictionScores({ by: 'random', ratio: 0.5 }, headOf(0), () => drawn++);
  expect([...scores]).toEqual(Array.from({ length: 23 }, (_, token) => token));
});

it('lagkv takes the published partition for long texts, eight of them for shorter ones, and the latest of the shortest', () => {
  expect([5000, 1024, 1023, 100, 32, 9, 1].map(lagFor)).toEqual([128, 128, 64, 8, 4, 4, 4]);
  const short = evictionScores({ by: 'lagkv', ratio: 0.5 }, { ...headOf(0), tokens: 7 }, noDraw);
  expect([...short]).toEqual([...short].sort((a, b) => a - b));
});

it('lagkv ignores a dimension without a range', () => {
  const same = (index: number): number => (index % 2 === 0 ? 1 : Math.sin(index));
  const numbers = Float32Array.from({ length: 24 }, (_, index) => same(index));
  const scores = lagScores({ tokens: 12, dimension: 2, keys: numbers, values: numbers }, 4);
  expect([...scores].every(Number.isFinite)).toBe(true);
  expect([...scores.slice(8)]).toEqual([1, 1, 1, 1]);
  expect([...scores.slice(0, 4)].sort()).toEqual([0, 0.25, 0.5, 0.75]);
});

it('snapkv scores the mean attention to a token and two neighbours on both sides, and needs a question', () => {
  const attention = Float64Array.of(0, 0, 0, 5, 0, 0, 10);
  const rule = { by: 'snapkv', ratio: 0.5 } as const;
  const scores = evictionScores(rule, { ...headOf(0), tokens: 7, attention }, noDraw);
  expect([...scores]).toEqual([0, 1, 1, 1, 3, 3, 2]);
  expect(() => evictionScores(rule, headOf(0), noDraw)).toThrow('snapkv evicts by the attention of a question');
});
