import { describe, expect, it } from 'vitest';
import { presetModels } from '../../src/models/default-models.ts';
import { realEngine } from '../fixtures/engines.ts';
import { shippedTurns } from '../fixtures/shipped-turns.ts';
import { modes, TurnsAtOnce } from '../fixtures/turns-at-once.ts';

describe('8 users who ask 20 questions each at once', () => {
  it.each(modes)(
    '%s: hear in one session and in three what each hears alone, and so does who comes later',
    async (mode) => {
      await using at = await TurnsAtOnce.open(realEngine, presetModels.model);
      const turns = await shippedTurns(8, 20);
      expect([turns.length, new Set(turns.map(({ userId }) => userId)).size]).toEqual([160, 8]);
      await at.expectSameAtOnce(mode, [1, 3], turns);
    },
  );
});
