import { expect, it } from 'vitest';
import { answeredTurn } from '../../../test/fixtures/turn-record.ts';
import { kvSummary, turnPhases } from './kv-and-cost-sections.ts';
import { pairTokens } from './turn-sections.ts';

it('says what was evicted and how KV is stored, unless all is stored as the engine has it', () => {
  const turn = answeredTurn('dki', { injected: true });
  const injected = { ...turn.prefill!, sizeBytes: 2048 };
  const shown = { ...turn, unknownQuality: null, shownScores: [] };
  const words = (changes: object): string => kvSummary({ ...shown, prefill: { ...injected, ...changes } });
  expect(words({})).toContain('2.0 KiB loaded');
  expect(words({})).not.toMatch(/evicted|stored as/);
  expect(words({ evicted: 'knorm:.5', keptAs: 'q8_0' })).toContain('memory tokens evicted by knorm:.5, stored as q8_0');
});

const timings = { retrieve: 1, gate: 0, assemble: 0.5, kvLoad: 0.25, kvCompute: 6, prefill: 2 };

it('puts the phases of a turn one after the other, and unaccounted time last', () => {
  const phases = turnPhases({ timings: { ...timings, firstToken: 9.75, decode: 3, total: 13 } });
  expect(phases.map(({ name, startMs, ms }) => `${name} ${startMs} + ${ms}`).join(', ')).toBe(
    'retrieve 0 + 1, assemble prompt 1 + 0.5, compute KV 1.5 + 6, load KV 7.5 + 0.25, prefill 7.75 + 2, decode 9.75 + 3, other 12.75 + 0.25',
  );
});

it('tells KV that is stored after the answer from KV computed before it', () => {
  const phases = turnPhases({ timings: { ...timings, firstToken: 3.75, decode: 3, total: 12.75 } });
  const names = ['retrieve', 'assemble prompt', 'load KV', 'prefill', 'decode', 'store KV'];
  expect(phases.map(({ name }) => name)).toEqual(names);
  expect(phases.at(-1)).toEqual({ name: 'store KV', startMs: 6.75, ms: 6 });
});

it('pairs the likeliest tokens of two arms, then those of the second alone', () => {
  const likely = (...tokens: readonly (readonly [string, number])[]) =>
    tokens.map(([token, probability]) => ({ token, probability }));
  const here = likely([' a', 0.6], ['\ufffd', 0.2], ['\ufffd', 0.1]);
  expect(pairTokens(here, likely(['\ufffd', 0.5], [' b', 0.3], [' a', 0.1]))).toEqual([
    { token: ' a', here: 0.6, there: 0.1 },
    { token: '\ufffd', here: 0.2, there: 0.5 },
    { token: '\ufffd', here: 0.1, there: undefined },
    { token: ' b', here: undefined, there: 0.3 },
  ]);
});
