import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { folderOfEachTest } from '../../../../test/fixtures/folder-of-each-test.ts';
import type { LengthMeasurement, LengthStep } from '../../../store/records/suite-measurements.ts';
import { lengthFrame } from '../measure/measure-length.ts';
import { measuredCosts, writtenCosts } from './estimated-costs.ts';

const folder = folderOfEachTest();
const geometry = { name: 'm', parameters: 1e9, kvBytesPerToken: 100, operationsPerPair: 4e5 };

it('takes tokens by parameters and attention by pairs, unless a speed is given', () => {
  const speeds = { tokensPerSecond: undefined, readBytesPerSecond: 2e9, copyBytesPerSecond: 4e9 };
  const { costs, assumed } = writtenCosts(geometry, speeds);
  // 2 × 10⁹ operations at 10¹⁴ a second.
  expect(costs.evaluate.token).toBeCloseTo(0.02);
  expect(costs.evaluate.call).toBeCloseTo(1);
  expect(costs.evaluate.pair).toBeCloseTo(4e-6);
  const copied = { fixed: 0, each: 2.5e-7 };
  expect(costs).toMatchObject({ import: copied, export: copied, read: { fixed: 0, each: 5e-7 } });
  expect(assumed[0]).toMatch(/^50000 tokens evaluated per second \(100 TFLOP\/s, 1.0 B parameters\)/);
  expect(writtenCosts(geometry, { ...speeds, tokensPerSecond: 100 }).costs.evaluate.token).toBe(10);
});

const steps = { find: 0, read: 0, verify: 0, convert: 0, join: 0, import: 0, evaluate: 0 };
const row = (
  way: LengthMeasurement['way'],
  tier: LengthMeasurement['tier'],
  tokens: number,
  ms: Partial<Record<LengthStep, number>>,
): LengthMeasurement => ({
  ...{ way, tier, tokens, type: tier === null ? null : 'f16', bytes: 100 * (tokens + lengthFrame.headerTokens) },
  ...{ evaluated: null, sameToken: true, repeats: [{ steps: { ...steps, ...ms }, joules: null, diskBytes: null }] },
});

function writeResults(length: readonly LengthMeasurement[]): string {
  const run = { name: 'mine', model: { name: 'measured' } };
  writeFileSync(folder.file('results.json'), JSON.stringify({ run, measured: { length } }));
  return folder.file('results.json');
}

it('takes what suite length measured', () => {
  const file = writeResults(
    [1000, 2000].flatMap((tokens) => [
      row('text', null, tokens, { evaluate: (tokens + lengthFrame.headerTokens + lengthFrame.queryTokens) * 2 }),
      row('resident', null, tokens, { evaluate: lengthFrame.queryTokens * 2 }),
      row('blocks', 'memory', tokens, { join: tokens + lengthFrame.headerTokens }),
      row('blocks', 'disk', tokens, { read: 3 * (tokens + lengthFrame.headerTokens) }),
    ]),
  );
  const { costs, assumed } = measuredCosts(file, geometry);
  const close = (ms: number): unknown => expect.closeTo(ms, 9);
  expect(costs.evaluate).toEqual({ call: close(0), token: close(2), pair: close(0) });
  expect(costs.import.each).toBeCloseTo(0.01);
  expect(costs.read.each).toBeCloseTo(0.03);
  expect(assumed).toEqual([
    'times as run mine measured them with measured at 1000 to 2000 tokens, and in a line beyond',
  ]);
  expect(() => measuredCosts(file, { ...geometry, kvBytesPerToken: 120 })).toThrow(
    'measured measured, with 100 bytes of KV a token, and m has 120',
  );
});

it('refuses what cannot give costs', () => {
  expect(() => measuredCosts(writeResults([row('blocks', 'memory', 64, {})]), geometry)).toThrow(
    'has no blocks in f16 at two lengths',
  );
  writeFileSync(folder.file('other.json'), '{"run":{}}');
  expect(() => measuredCosts(folder.file('other.json'), geometry)).toThrow('holds no results of suite length');
});
