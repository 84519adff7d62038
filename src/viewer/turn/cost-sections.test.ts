import { expect, it } from 'vitest';
import { answeredTurn } from '../../../test/fixtures/turn-record.ts';
import { kvSummary, turnPhases } from './cost-sections.ts';

it('says what was evicted and how it is kept, where that is not all of it as the engine has it', () => {
  const turn = answeredTurn('dki', { injected: true });
  const injected = { ...turn.prefill!, sizeBytes: 2048 };
  const shown = { ...turn, unknownQuality: null, shownScores: [] };
  const words = (changes: object): string => kvSummary({ ...shown, prefill: { ...injected, ...changes } });
  expect(words({})).toContain('2.0 KiB loaded');
  expect(words({})).not.toMatch(/evicted|stored as/);
  expect(words({ evicted: 'knorm:.5', keptAs: 'q8_0' })).toContain('memory tokens evicted by knorm:.5, stored as q8_0');
});

const timings = { retrieve: 1, gate: 0, assemble: 0.5, kvLoad: 0.25, kvCompute: 6, prefill: 2 };

it('puts the parts of a turn one behind the other, and what none accounts for last', () => {
  const phases = turnPhases({ timings: { ...timings, firstToken: 9.75, decode: 3, total: 13 } });
  expect(phases).toEqual([
    { name: 'retrieve', startMs: 0, ms: 1 },
    { name: 'assemble prompt', startMs: 1, ms: 0.5 },
    { name: 'compute KV', startMs: 1.5, ms: 6 },
    { name: 'load KV', startMs: 7.5, ms: 0.25 },
    { name: 'prefill', startMs: 7.75, ms: 2 },
    { name: 'decode', startMs: 9.75, ms: 3 },
    { name: 'other', startMs: 12.75, ms: 0.25 },
  ]);
});

it('tells KV that is kept behind the answer from what is computed before it', () => {
  const phases = turnPhases({ timings: { ...timings, firstToken: 3.75, decode: 3, total: 12.75 } });
  const names = ['retrieve', 'assemble prompt', 'load KV', 'prefill', 'decode', 'store KV'];
  expect(phases.map(({ name }) => name)).toEqual(names);
  expect(phases.at(-1)).toEqual({ name: 'store KV', startMs: 6.75, ms: 6 });
});
