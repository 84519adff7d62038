import { expect, test } from 'vitest';
import { changedTurn } from '../../../../test/fixtures/check-input.ts';
import { latency } from './metric-estimates.ts';

test('means of times are over items, their quantiles over the turns of all repeats', () => {
  const turns = [0, 1].flatMap((repeat) =>
    Array.from({ length: 60 }, (_, item) => {
      const firstToken = repeat === 1 && item < 12 ? 1000 : 10;
      return changedTurn('rag', { timings: { firstToken } }, { itemId: `q${item}`, userId: `u${item % 10}`, repeat });
    }),
  );
  expect(latency(turns, 'firstToken')).toMatchObject({ mean: 109, n: 60, users: 10, p50: 10, p95: 1000 });
});
