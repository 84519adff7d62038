import { expect, it } from 'vitest';
import { runBench } from '../../src/bench/run-bench.ts';
import { lengthBreakEvens, totals, wayName } from '../../src/eval/analysis/summary/length-break-even.ts';
import type { LengthMeasurement } from '../../src/store/records/suite-measurements.ts';
import { reportTables } from '../../src/report/tables/report-tables.ts';
import { failedChecks, smallConfig, TestFolder } from './bench-fixture.ts';

it('suite length measures every way at every length that fits, and nothing but the query is evaluated behind stored KV', async () => {
  using folder = new TestFolder();
  const config = smallConfig(folder, { suite: 'length', lengths: '48,96,1000000', limit: '1' });
  const [results] = await runBench(config);
  const rows = results!.measured!.length!;
  expect(failedChecks(results!)).toEqual([]);
  expect([...new Set(rows.map(({ tokens }) => tokens))]).toEqual([48, 96]);
  const names = rows.filter(({ tokens }) => tokens === 48).map(wayName);
  const tiers = (way: string) => ['memory', 'disk'].flatMap((tier) => ['f16', 'q8_0', 'q4_0'].map((type) => `${way} ${type} ${tier}`)); // prettier-ignore
  expect(names).toEqual(expect.arrayContaining(['text', 'resident', ...tiers('prefix'), ...tiers('blocks')]));
  for (const { way, tier, type, tokens, bytes, evaluated, sameToken, repeats } of rows) {
    if (way === 'resident' || (way === 'prefix' && type === 'f16')) expect(sameToken).toBe(true);
    expect(evaluated).toBe(way === 'text' ? 16 + tokens + 24 : 24);
    expect(repeats.length).toBe(9);
    for (const { steps, diskBytes } of repeats) {
      expect(steps.evaluate).toBeGreaterThan(0);
      expect(steps.import > 0).toBe(tier !== null);
      expect(steps.join > 0).toBe(way === 'blocks');
      expect(steps.read > 0 && steps.verify > 0).toBe(tier === 'disk' || tier === 'guest-cold');
      if (tier === 'guest-cold') expect(diskBytes).toBeGreaterThanOrEqual(0.9 * bytes);
    }
    const shapeBytes = rows.find((row) => row.way === way && row.type === 'f16' && row.tokens === tokens)?.bytes ?? 0;
    if (type === 'q8_0') expect(bytes / shapeBytes).toBeLessThan(0.6);
    if (type === 'q4_0') expect(bytes / shapeBytes).toBeLessThan(0.35);
  }
  const tables = reportTables(results!);
  expect(tables.get('14')!.rows.length).toBe(rows.length);
  expect(tables.get('14b')!.rows.length).toBe(names.length - 2);
});

/** A measurement in which each of three repeats took about `ms`. */
function measurement(way: 'text' | 'blocks', tokens: number, ms: number, spread = 0): LengthMeasurement {
  const steps = { find: 0, read: 0, verify: 0, convert: 0, join: 0, import: ms / 4 };
  const repeats = [1 - spread, 1, 1 + spread].map((factor) => {
    return { steps: { ...steps, evaluate: factor * ms - ms / 4 }, joules: null, diskBytes: null };
  });
  const stored =
    way === 'text' ? { tier: null, type: null, bytes: 0 } : ({ tier: 'disk', type: 'f16', bytes: 1 } as const);
  return { tokens, way, evaluated: 1, sameToken: true, repeats, ...stored };
}

const breakEven = (own: readonly number[], spread = 0) => {
  const lengths = [100, 400, 1600];
  const rows = lengths.flatMap((tokens, index) => [
    measurement('text', tokens, tokens, spread),
    measurement('blocks', tokens, own[index]!, spread),
  ]);
  const [found] = lengthBreakEvens(rows);
  return { tokens: found!.tokens, low: found!.low, high: found!.high };
};

it('the break-even lies where the medians cross, between the lengths in proportion to their logarithms', () => {
  expect(totals(measurement('blocks', 100, 20))).toEqual([20, 20, 20]);
  // Twice the text at 100, half of it at 400: they cross in the middle of the logarithms.
  expect(breakEven([200, 200, 200])).toEqual({ tokens: 200, low: 200, high: 200 });
  expect(breakEven([50, 50, 50])).toEqual({ tokens: 0, low: 0, high: 0 });
  expect(breakEven([200, 800, 3200])).toEqual({ tokens: null, low: null, high: null });
  // What is gained at 100 and lost again at 400 does not count.
  expect(breakEven([50, 800, 800]).tokens).toBe(800);
  const { tokens, low, high } = breakEven([200, 200, 200], 0.2);
  expect(tokens).toBe(200);
  expect(low!).toBeLessThan(200);
  expect(high!).toBeGreaterThan(200);
});
