import { expect, it } from 'vitest';
import { loadBenchConfig } from '../../../bench/load-config.ts';
import { suites } from '../../suites/suites.ts';
import { withWorkers } from './number-of-workers.ts';

it('one process makes a run whose suite has no turns, or whose results are times', () => {
  const workers = (suite: keyof typeof suites, flags: Readonly<Record<string, unknown>> = {}) => {
    const config = loadBenchConfig({ flags: { suite, workers: '3', ...flags }, environment: {} });
    return withWorkers(config, suites[suite], { canStart: false }).workers;
  };
  const oneProcess = ['retrieval', 'edit', 'serving'] as const;
  expect(oneProcess.map((suite) => workers(suite))).toEqual([undefined, undefined, undefined]);
  // Others ask for several.
  expect(() => workers('main')).toThrow('this program starts no workers');
  expect(() => workers('retrieval', { arms: 'rag' })).toThrow('this program starts no workers');
});
