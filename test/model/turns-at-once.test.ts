import { expect, it } from 'vitest';
import { presetModels } from '../../src/models/preset-models.ts';
import { realEngine } from '../fixtures/engines.ts';
import { shippedTurns } from '../fixtures/shipped-turns.ts';
import { TurnsAtOnce } from '../fixtures/turns-at-once.ts';

it('three users who ask at once hear in three sessions what each hears alone, and so does who comes later', async () => {
  await using at = await TurnsAtOnce.open(realEngine, presetModels.model);
  const turns = await shippedTurns(3, 2);
  for (const mode of ['dki', 'dki-blocks']) await at.expectSameAtOnce(mode, [3], turns);
  const answers = await at.oneByOne('rag', turns);
  expect(new Set([...answers.values()].map(({ tokenIds }) => tokenIds.join())).size).toBeGreaterThan(2);
});
