import { expect, it } from 'vitest';
import { runResults } from '../../../test/fixtures/run-results.ts';
import { fastestArms, keepsQuality, keptQuality, keptQualityText } from './reuse.ts';

const measured = { run: 'r', promptTokens: 1000, n: 100 };

it('keeps quality near the length at which it was measured, in every run', () => {
  const kept = [{ ...measured, arm: 'dki-blocks', percent: 96 }];
  expect([400, 500, 1000, 2000, 2100].map((tokens) => keepsQuality(kept, 'dki-blocks', tokens))).toEqual([
    false,
    true,
    true,
    true,
    false,
  ]);
  expect(keepsQuality(kept, 'dki-blocks@context=previous', 1000)).toBe(false);
  expect(keepsQuality([...kept, { ...kept[0]!, percent: 94 }], 'dki-blocks', 1000)).toBe(false);
});

it('knows that exact KV and a prefix cache have the answers of text in the same order', () => {
  const kept = [{ ...measured, arm: 'rag@order=stable', percent: 99 }];
  expect(
    ['rag-cached@order=stable', 'dki@order=stable', 'dki-blocks'].map((arm) => keepsQuality(kept, arm, 1000)),
  ).toEqual([true, true, false]);
});

it('takes from a run what each arm keeps of the quality of text, in prompts of its length', () => {
  const kept = keptQuality(runResults);
  expect(kept.find(({ arm }) => arm === 'rag')).toMatchObject({ percent: 100, promptTokens: 180.25, n: 320 });
  expect(new Set(kept.map(({ arm }) => arm)).size).toBe(kept.length);
  expect(keptQualityText([{ ...measured, arm: 'dki-blocks', percent: 95.55 }], ['dki', 'dki-blocks'])).toBe(
    'run r, 1,000 tokens, n = 100: dki-blocks 95.5',
  );
});

it('shows an arm that is fast as the fastest only where it keeps quality', () => {
  const cell = {
    room: 'memory',
    memoryTokens: 1000,
    memories: 5,
    repeated: 0.5,
    evaluatedTokens: 1,
    hitRate: 0,
  } as const;
  const cells = [
    { ...cell, arm: 'rag', ms: 10 },
    { ...cell, arm: 'rag-cached', ms: 8 },
    { ...cell, arm: 'dki-blocks', ms: 1 },
  ];
  const any = (...percents: readonly number[]) =>
    fastestArms(
      cells,
      'memory',
      percents.map((percent) => ({ ...measured, arm: 'dki-blocks', percent })),
    ).any.arm;
  expect([any(96), any(90), any()]).toEqual(['dki-blocks', 'rag-cached', 'rag-cached']);
  expect(fastestArms(cells, 'memory').any.arm).toBe('dki-blocks');
});
