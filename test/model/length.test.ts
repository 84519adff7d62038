import { expect, it } from 'vitest';
import { runBench } from '../../src/bench/run-bench.ts';
import { fullLayers } from '../../src/engine/gguf/random-model/random-model.ts';
import { lengthBreakEvens, totals, wayName } from '../../src/eval/analysis/summary/length-break-even.ts';
import { atFullLayers, type LengthMeasurement } from '../../src/store/records/suite-measurements.ts';
import { reportTables } from '../../src/report/report-contents.ts';
import { runResults } from '../fixtures/run-results.ts';
import { failedChecks, smallConfig, TestFolder } from './bench-fixture.ts';

it('suite length measures every way at every length that fits, goes on where it was interrupted, and evaluates nothing but the query behind stored KV', async () => {
  using folder = new TestFolder();
  const config = smallConfig(folder, {
    suite: 'length',
    lengths: '48,96,1000000',
    users: '10',
    limit: '1',
    run: 'lengths',
  });
  const broken = runBench(config, {
    onProgress: ({ phase, done }) => {
      if (phase === 'measure' && done === 1) throw new Error('the display broke');
    },
  });
  await expect(broken).rejects.toThrow('the display broke');
  const steps: string[] = [];
  const [results] = await runBench(smallConfig(folder, { resume: 'lengths' }), {
    onProgress: ({ phase, done, total }) => phase === 'measure' && steps.push(`${done} of ${total}`),
  });
  expect(steps.slice(1)).toEqual(['2 of 2']);
  const rows = results!.measured!.length!;
  expect(failedChecks(results!)).toEqual([]);
  expect([...new Set(rows.map(({ tokens }) => tokens))]).toEqual([48, 96]);
  const names = rows.filter(({ tokens }) => tokens === 48).map(wayName);
  const tiers = (way: string) =>
    ['memory', 'disk'].flatMap((tier) => ['f16', 'q8_0', 'q4_0'].map((type) => `${way} ${type} ${tier}`));
  expect(names).toEqual(expect.arrayContaining(['text', 'resident', ...tiers('prefix'), ...tiers('blocks')]));
  for (const { way, tier, type, tokens, bytes, evaluated, sameToken, repeats } of rows) {
    if (way === 'resident' || (way === 'prefix' && type === 'f16')) expect(sameToken).toBe(true);
    expect(evaluated).toBe(way === 'text' ? 16 + tokens + 24 : 24);
    expect(repeats.length).toBe(10);
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

it('few layers count as all of the model, and the tables say so', () => {
  expect(fullLayers('random:llama-8b-2-layers:q8_0')).toBe(32);
  expect([fullLayers('random:llama-3.2-1b'), fullLayers('llama-8b-2-layers')]).toEqual([undefined, undefined]);
  const few = [measurement('text', 100, 40), measurement('blocks', 100, 20)].map((row) => {
    const repeats = row.repeats.map(({ steps }) => ({ steps: { ...steps, find: 1 }, joules: 2, diskBytes: null }));
    return { ...row, repeats, layers: { measured: 2, full: 32 } };
  });
  const [text, blocks] = atFullLayers(few);
  expect(totals(text!)).toEqual([641, 641, 641]);
  expect(blocks).toMatchObject({ bytes: 16, repeats: Array(3).fill({ joules: 32, diskBytes: null }) });
  expect(atFullLayers([blocks!])).toEqual([blocks]);
  const results = { ...runResults, run: { ...runResults.run, suite: 'length' }, measured: { length: few } };
  const [table, breakEvens] = ['14', '14b'].map((name) => reportTables(results).get(name)!);
  expect(table!.rows[1]!.cells).toMatchObject({ 'ms:import': { value: 80 }, joules: { value: 32 } });
  for (const { notes } of [table!, breakEvens!]) expect(notes.join(' ')).toContain('Measured with 2 of 32 layers');
});

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
  expect(low).toBeLessThan(200);
  expect(high).toBeGreaterThan(200);
});
