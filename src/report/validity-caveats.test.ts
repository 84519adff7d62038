import { expect, it } from 'vitest';
import { runResults } from '../../test/fixtures/run-results.ts';
import { answersNothing } from './validity-caveats.ts';

const [rag] = runResults.arms;

it('a model answers nothing if no answer is right, for every unit of the primary metric', () => {
  const run = { ...runResults.run, dataset: { ...runResults.run.dataset, primaryMetric: 'goldLogProb' } };
  const oracle = (contains: number) => {
    const estimate = (mean: number) => ({ mean, low: mean, high: mean, n: 60, users: 20 });
    const metrics = { ...rag!.metrics, goldLogProb: estimate(-0.5), contains: estimate(contains) };
    return answersNothing({ run, arms: [{ ...rag!, arm: 'oracle', metrics }] });
  };
  expect(oracle(0.9)).toBeUndefined();
  expect(oracle(0)).toBe('NO ANSWERS: oracle, given the right memories, has contains 0 on 60 items');
});
