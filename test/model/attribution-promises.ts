import { describe, expect, it } from 'vitest';
import { attribute } from '../../src/eval/run/attribution/attribute.ts';
import { memoryIds, openReplay, splitSequence, storedSequence } from '../../src/eval/run/attribution/turn-replay.ts';
import { evidenceOf, type FinishedRun, meterOf } from './finished-run.ts';

/** Promises of attribution for each arm. */
export function attributionPromises(
  finished: FinishedRun,
  arms: readonly string[],
  /** Arms whose blocks are replayed, and the tokens that they recompute of each. */
  replayed: readonly (readonly [arm: string, recomputedTokens: number])[],
): void {
  describe('attribute', () => {
    it.each(arms)('finds the memory that the answer of %s rests on', async (arm) => {
      const row = finished.telling(arm);
      const { logProbability, memories, method } = await attribute(row, finished.engine);
      expect(method).toBe(arm.startsWith('dki-') ? 'blocks' : 'text');
      expect(memories.map(({ memoryId }) => memoryId)).toEqual(memoryIds(storedSequence(row)));
      const lost = memories.map((memory) => logProbability - memory.logProbability);
      const evidence = memories.findIndex(({ memoryId }) => memoryId === evidenceOf(row));
      expect(lost.indexOf(Math.max(...lost))).toBe(evidence);
      expect(lost[evidence]).toBeGreaterThan(5);
    });
  });

  describe('openReplay', () => {
    it.each(replayed)('leaves a block of %s out without reading a memory again', async (arm, recomputedTokens) => {
      const turn = storedSequence(finished.telling(arm));
      await using session = await finished.engine.openSession('test');
      await using replay = await openReplay(turn, finished.engine, session);
      const { lines } = splitSequence(turn);
      const built = await meterOf(session);
      await replay.begin();
      const { header, suffix } = splitSequence(turn);
      const prefix = header.length + lines.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
      // The first tokens of all blocks but the first are recomputed at their final place.
      expect((await meterOf(session)) - built).toBe(prefix + recomputedTokens * (lines.length - 1));
      for (const { memoryId } of lines) {
        const before = await meterOf(session);
        const rest = await replay.begin(memoryId);
        expect(rest).toEqual(suffix);
        expect((await meterOf(session)) - before).toBe(recomputedTokens * (lines.length - 2));
        const joined = await meterOf(session);
        await session.score(rest, [7, 8, 9]);
        expect((await meterOf(session)) - joined).toBe(suffix.length + 2);
      }
    });
  });
}
