import { expect, it } from 'vitest';
import { loadBenchConfig } from '../../../bench/load-config.ts';
import { suites } from '../../suites/suites.ts';
import { withWorkers } from './number-of-workers.ts';

it('one process makes a run whose suite has no turns, or whose results are times', () => {
  const workers = (suite: keyof typeof suites, flags: Readonly<Record<string, unknown>> = {}) => {
    const config = loadBenchConfig({ flags: { suite, workers: '3', ...flags }, environment: {} });
    return withWorkers(config, suites[suite], { canStart: true }).workers;
  };
  expect([workers('main'), workers('retrieval'), workers('edit'), workers('serving')]).toEqual([
    3,
    undefined,
    undefined,
    undefined,
  ]);
  expect(workers('retrieval', { arms: 'rag' })).toBe(3);
});
