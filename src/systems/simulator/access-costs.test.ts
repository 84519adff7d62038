import { expect, it } from 'vitest';
import type { LengthMeasurement } from '../../store/records/suite-measurements.ts';
import { costsOfLengths, firstTokenMs } from './access-costs.ts';

const planted = { call: 2, token: 0.5, pair: 0.001 };
const frame = { headerTokens: 16, queryTokens: 24 };

/** Token by token: each attends to all cells up to the end of its batch of 512, and of a step of 256. */
function evaluateMs(tokens: number, behind: number): number {
  let ms = planted.call;
  for (let index = 0; index < tokens; index++) {
    const batchEnd = behind + Math.min(tokens, 512 * (Math.floor(index / 512) + 1));
    ms += planted.token + planted.pair * Math.ceil(batchEnd / 256) * 256;
  }
  return ms;
}

type Given = Pick<LengthMeasurement, 'way' | 'tier' | 'exports'> & { readonly steps: object };

function row(tokens: number, given: Given): LengthMeasurement {
  const none = { find: 0, read: 0, verify: 0, convert: 0, join: 0, import: 0, evaluate: 0 };
  const { steps, ...rest } = given;
  const type = rest.tier === null ? null : 'f16';
  const repeats = [{ steps: { ...none, ...steps }, joules: null, diskBytes: null }];
  return {
    tokens,
    type,
    bytes: 1000 * tokens,
    evaluated: null,
    sameToken: true,
    repeats,
    ...rest,
  };
}

it('takes the costs of a turn from measured lengths', () => {
  const measured = [64, 256, 1024].flatMap((tokens) => {
    const query = evaluateMs(24, 16 + tokens);
    return [
      row(tokens, { way: 'text', tier: null, steps: { evaluate: evaluateMs(16 + tokens, 0) + query } }),
      row(tokens, { way: 'resident', tier: null, steps: { evaluate: query } }),
      row(tokens, {
        ...{ way: 'blocks', tier: 'memory', steps: { join: 1 + 1e-3 * tokens, import: 1e-3 * tokens } },
        // The median counts, not the slow first one.
        exports: [90, 0.5 + 1e-2 * 48, 0.5 + 1e-2 * 48, 0.5 + 1e-2 * 16].map((ms, index) => ({
          bytes: index === 3 ? 16e3 : 48e3,
          ms,
        })),
      }),
      row(tokens, { way: 'blocks', tier: 'disk', steps: { find: 3, read: 4e-3 * tokens, join: 9 } }),
    ];
  });
  const costs = costsOfLengths(measured, frame);
  for (const part of ['call', 'token', 'pair'] as const) expect(costs.evaluate[part]).toBeCloseTo(planted[part], 9);
  expect(costs.import).toEqual({ fixed: expect.closeTo(1, 9), each: expect.closeTo(2e-6, 12) });
  expect(costs.read).toEqual({ fixed: expect.closeTo(3, 9), each: expect.closeTo(4e-6, 12) });
  expect(costs.export).toEqual({ fixed: expect.closeTo(0.5, 9), each: expect.closeTo(1e-5, 12) });
  const none = { tokens: 0, bytes: 0, parts: 0 };
  const access = {
    evaluations: [
      { tokens: 10, behind: 0 },
      { tokens: 5, behind: 100 },
    ],
    memory: none,
    disk: { tokens: 100, bytes: 1e5, parts: 1 },
    made: { bytes: 5e4, parts: 2 },
    importedBytes: 1e6,
    hit: true,
  };
  expect(firstTokenMs(access, costs)).toBeCloseTo(evaluateMs(10, 0) + evaluateMs(5, 100) + 3.4 + 3 + 1.5, 6);
  expect(firstTokenMs({ ...access, disk: none, made: none, importedBytes: 0 }, costs)).toBeCloseTo(
    evaluateMs(10, 0) + evaluateMs(5, 100),
    6,
  );
});

it('never gives a negative cost', () => {
  const falling = [64, 1024].map((tokens) =>
    row(tokens, { way: 'blocks', tier: 'memory', steps: { join: 5 - tokens / 1024 } }),
  );
  const others = [64, 1024].flatMap((tokens) => [
    row(tokens, { way: 'text', tier: null, steps: { evaluate: tokens } }),
    row(tokens, { way: 'resident', tier: null, steps: { evaluate: 20 } }),
    row(tokens, { way: 'blocks', tier: 'disk', steps: {} }),
  ]);
  const costs = costsOfLengths([...falling, ...others], frame);
  expect(costs.import.fixed).toBeGreaterThanOrEqual(0);
  expect(costs.import.each).toBeGreaterThanOrEqual(0);
  expect(costs.read).toEqual({ fixed: 0, each: 0 });
  // Older reports of suite `length` have no exports.
  expect(costs.export).toEqual({ fixed: 0, each: 0 });
});
