import { expect, it } from 'vitest';
import { exitCode } from './bench.ts';

it('ends with 1 where a check failed, with 3 where a quality threshold was missed, and with 0 where checks are only undecided', () => {
  const run = (...statuses: readonly ('passed' | 'failed' | 'undecided')[]) => ({
    checks: statuses.map((status) => ({ check: 'cells', status, evidence: '' }) as const),
  });
  const codes = [
    exitCode([run('passed', 'undecided')], []),
    exitCode([run('passed'), run('undecided', 'failed')], []),
    exitCode([run('failed')], ['contains of dki']),
    exitCode([run('passed')], ['contains of dki']),
  ];
  expect(codes).toEqual([0, 1, 1, 3]);
});
