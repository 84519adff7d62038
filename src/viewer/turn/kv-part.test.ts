import { expect, it } from 'vitest';
import { answeredTurn } from '../../../test/fixtures/turn-record.ts';
import { kvSummary } from './kv-part.ts';

it('says what was evicted and how it is kept, where that is not all of it as the engine has it', () => {
  const turn = answeredTurn('dki', { injected: true });
  const injected = { ...turn.prefill!, sizeBytes: 2048 };
  const shown = { ...turn, unknownQuality: null, shownScores: [] };
  const words = (changes: object): string => kvSummary({ ...shown, prefill: { ...injected, ...changes } });
  expect(words({})).toContain('2.0 KiB loaded');
  expect(words({})).not.toMatch(/evicted|kept as/);
  expect(words({ evicted: 'knorm:.5', keptAs: 'q8_0' })).toContain('memory tokens evicted by knorm:.5, kept as q8_0');
});
