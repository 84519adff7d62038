import { expect, it } from 'vitest';
import type { RunSummary } from '../eval/analysis/compare/compare-runs.ts';
import { runCaveat } from './render-runs-comparison.ts';

it('names the group of an interrupted suite, since --resume takes no name with a slash', () => {
  const run: RunSummary = {
    id: 'r',
    name: 'first/latency',
    suite: 'latency',
    status: 'interrupted',
    startedAt: '',
    failedChecks: [],
    model: 'tiny',
    dataset: 'ours',
  };
  expect(runCaveat(run)).toBe(
    'NOT COMPLETE: first/latency is interrupted, its checks are undecided; continue it: npx dki-bench bench --resume first',
  );
});
