import { expect, it } from 'vitest';
import { turnPhases } from './turn-phases.ts';

const timings = { retrieve: 1, gate: 0, assemble: 0.5, kvLoad: 0.25, kvCompute: 6, prefill: 2 };

it('puts the parts of a turn one behind the other, and what none accounts for last', () => {
  const phases = turnPhases({ timings: { ...timings, firstToken: 9.75, decode: 3, total: 13 } });
  expect(phases).toEqual([
    { name: 'retrieve', startMs: 0, ms: 1 },
    { name: 'assemble prompt', startMs: 1, ms: 0.5 },
    { name: 'compute K/V', startMs: 1.5, ms: 6 },
    { name: 'load K/V', startMs: 7.5, ms: 0.25 },
    { name: 'prefill', startMs: 7.75, ms: 2 },
    { name: 'decode', startMs: 9.75, ms: 3 },
    { name: 'other', startMs: 12.75, ms: 0.25 },
  ]);
});

it('tells K/V that is kept behind the answer from what is computed before it', () => {
  const phases = turnPhases({ timings: { ...timings, firstToken: 3.75, decode: 3, total: 12.75 } });
  expect(phases.map(({ name }) => name)).toEqual([
    ...['retrieve', 'assemble prompt', 'load K/V', 'prefill', 'decode', 'keep K/V'],
  ]);
  expect(phases.at(-1)).toEqual({ name: 'keep K/V', startMs: 6.75, ms: 6 });
});
