import { describe, expect, it } from 'vitest';
import { suites } from '../../src/eval/suites/suites.ts';
import { placementTable } from '../../src/report/topics/ablation.ts';
import { checkOf, shippedArm, smallRun } from '../fixtures/small-run.ts';
import { failedChecks } from './bench-fixture.ts';

const flags = { contextTokens: '2048' };

describe('the arms of suite placement', () => {
  it('pass every check, and each changes an outcome', async () => {
    const results = await smallRun(suites.placement.arms.join(), { flags });
    expect(failedChecks(results)).toEqual([]);
    for (const check of ['cells', 'token accounting', 'token identity', 'same memories', 'effect'] as const) {
      expect(checkOf(results, check)).toMatchObject({ status: 'passed' });
    }
    expect(checkOf(results, 'effect').evidence).toBe('9 arms and settings change an outcome');
    const { rows } = placementTable(results);
    expect(rows.map(({ label }) => label)).toEqual(suites.placement.arms);
  });

  it('fail the checks where nobody reads a setting', async () => {
    const [blocks, parallel] = [shippedArm('dki-blocks'), shippedArm('dki-parallel')];
    const deaf = [blocks, parallel].map((arm) => ({
      ...arm,
      open: (...[parts, argument]: Parameters<typeof arm.open>) => arm.open({ ...parts, blocks: {} }, argument),
    }));
    const settings = ['dki-blocks@context=none', 'dki-blocks@context=previous', 'dki-blocks@sink=4'];
    const others = ['dki-blocks@positions=parallel', 'dki-parallel@temperature=0.5'];
    const arms = ['rag', 'dki-blocks', 'dki-parallel', ...settings, ...others];
    const results = await smallRun(arms.join(), { flags, arms: deaf });
    const effect = checkOf(results, 'effect');
    expect(effect.status).toBe('failed');
    for (const name of [...settings, ...others]) expect(effect.evidence).toContain(`${name} (against`);
    expect(checkOf(results, 'cells')).toMatchObject({ status: 'failed' });
  });
});
