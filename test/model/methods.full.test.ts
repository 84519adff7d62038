import { expect, it } from 'vitest';
import { formatCell } from '../../src/render/table.ts';
import { shownTables } from '../../src/report/report-contents.ts';
import { smallRun } from '../fixtures/small-run.ts';
import { failedChecks } from './bench-fixture.ts';

const arms = [
  ...['rag', 'dki', 'dki-blocks', 'dki-random:.3', 'dki-first:.3'],
  ...['dki-evict-random:.5', 'dki-evict-knorm:.5', 'dki-blocks@store=q8_0'],
];

const results = await smallRun(arms.join(), { flags: { suite: 'methods', contextTokens: '2048' } });

it('a run of suite methods passes every check, and draws its tables without a hole', () => {
  expect(failedChecks(results)).toEqual([]);
  const tables = shownTables(results);
  expect(tables.map(({ id }) => id)).toEqual(['table-11', 'table-11b', 'table-13']);
  const cells = tables.flatMap(({ rows }) => rows.flatMap((row) => Object.values(row.cells).map(formatCell)));
  expect(cells.filter((cell) => /NaN|Infinity|undefined/.test(cell))).toEqual([]);
});

it('its methods store and recompute what their names say', () => {
  const methods = new Map(results.methods!.map((method) => [method.arm, method]));
  expect([...methods.keys()]).toEqual(arms);
  const bytes = (arm: string): number => methods.get(arm)!.bytesPerMemoryToken!;
  expect(methods.get('rag')!.bytesPerMemoryToken).toBeNull();
  // Half of an odd number of tokens is not half of them.
  expect(bytes('dki-evict-knorm:.5') / bytes('dki-blocks')).toBeCloseTo(0.5, 1);
  expect(bytes('dki-evict-knorm:.5')).toBe(bytes('dki-evict-random:.5'));
  expect(bytes('dki-blocks@store=q8_0')).toBeLessThan(bytes('dki-blocks'));
  const selected = (arm: string) => methods.get(arm)!.selectedTokens;
  expect(selected('dki-first:.3')).toBeGreaterThan(0);
  expect([selected('dki-random:.3'), selected('dki-blocks')]).toEqual([selected('dki-first:.3'), null]);
  expect(methods.get('dki')!.recomputedTokens).toBe(0);
});

it('its tests against random tokens are those that have a control, and few users get no verdict', () => {
  const tested = results.methods!.flatMap(({ arm, againstRandom }) =>
    againstRandom === null ? [] : [[arm, againstRandom.b, againstRandom.outcome]],
  );
  expect(tested).toEqual([
    ['dki-first:.3', 'dki-random:.3', 'too few users'],
    ['dki-evict-knorm:.5', 'dki-evict-random:.5', 'too few users'],
  ]);
});
