import { it } from 'vitest';
import { expectSameInAnyOrder } from '../../test/fixtures/interleaved-turns.ts';
import { askedTurns, TurnsAtOnce } from '../../test/fixtures/turns-at-once.ts';

it('200 rounds of turns in any order have the answers of turns one by one', async () => {
  await using at = await TurnsAtOnce.open();
  await expectSameInAnyOrder(at, { rounds: 200, seed: 18, turns: askedTurns });
});
