import { expect, test } from 'vitest';
import { meterDifference, meterSum } from '../../../src/engine/token-meter.ts';
import type { EngineSession } from '../../../src/engine/engine-session.ts';
import { type Opened, openEngine } from './opened.ts';
import { filler, type Subject } from './subjects.ts';

export function meterPromises(subject: Subject, opened: Opened): void {
  const { prefixCache, logProbabilities } = subject.capabilities;
  const isRecomputed = logProbabilities?.continuation === 'recomputed';
  const isExact = (prefixCache?.blockTokens ?? 1) === 1 && !isRecomputed;
  test.runIf(!isExact)(
    'every token of a call is evaluated or reused, in whole blocks; a score reuses none',
    async () => {
      const { engine, session } = opened;
      const block = prefixCache!.blockTokens;
      const blocksOf = (tokens: number): number => Math.floor(tokens / block) * block;
      const reading = async (): Promise<unknown> => {
        const { evaluated, reused, decoded } = await session.meter();
        return [evaluated, reused, decoded];
      };
      await session.evaluate(filler(engine, 600));
      expect(await reading()).toEqual([600, 0, 0]);
      await session.score(filler(engine, 8), [25, 26, 27]);
      expect(await reading()).toEqual([600 + 611, 0, 0]);
      await session.truncate(100);
      const { tokens, stop } = await session.generate(filler(engine, 20), { maxTokens: 5 });
      const decoded = stop === 'end' ? tokens.length : tokens.length - 1;
      const found = blocksOf(100);
      expect(await reading()).toEqual([600 + 611 + 120 - found, found, decoded]);
      await session.clear();
      await session.evaluate(filler(engine, 600));
      expect(await reading()).toEqual([600 + 611 + 120 - found + 600, found, decoded]);
    },
  );

  test.runIf(prefixCache?.span === 'engine')('under one name, sessions find what any of them evaluated', async () => {
    const { engine, session } = opened;
    const block = prefixCache!.blockTokens;
    const reused = async (from: EngineSession): Promise<number | null> => {
      const before = await from.meter();
      await from.evaluate(filler(engine, 200));
      return meterDifference(await from.meter(), before).reused;
    };
    const cacheScope = 'ann';
    await session.clear({ cacheScope });
    expect(await reused(session)).toBe(0);
    await using other = await engine.openSession('other');
    await other.clear({ cacheScope: 'bob' });
    expect(await reused(other)).toBe(0);
    await other.clear();
    expect(await reused(other)).toBe(0);
    await other.clear({ cacheScope });
    expect(await reused(other)).toBe(Math.floor(199 / block) * block);
  });

  test('what the answers of an engine say, its counters say too', async () => {
    await using engine = await openEngine(subject);
    await using session = await engine.openSession('contract');
    await session.evaluate(filler(engine, 100));
    await session.generate(filler(engine, 20), { maxTokens: 4 });
    const audit = await engine.audit();
    if (audit === null) return;
    expect(audit.counters).toEqual(audit.answers);
    const { evaluated, reused } = await engine.meter();
    expect(audit.answers.evaluated + audit.answers.reused!).toBeGreaterThanOrEqual(evaluated! + reused!);
  });

  test.runIf(isExact)(
    'each token that a call was given is evaluated once; each that was there already is reused',
    async () => {
      const { engine, session } = opened;
      const reading = async (): Promise<unknown> => {
        const { evaluated, reused, decoded } = await session.meter();
        return [evaluated, reused, decoded];
      };
      expect(await reading()).toEqual([0, 0, 0]);
      await session.evaluate(filler(engine, 600));
      expect(await reading()).toEqual([600, 0, 0]);
      await session.score(filler(engine, 8), [25, 26, 27]);
      expect(await reading()).toEqual([610, 600, 0]);
      await session.score(filler(engine, 4), []);
      expect(await reading()).toEqual([614, 1210, 0]);
      await session.truncate(10);
      const { tokens, stop } = await session.generate(filler(engine, 20), { maxTokens: 5 });
      expect(await reading()).toEqual([634, 1220, stop === 'end' ? tokens.length : tokens.length - 1]);
      await session.clear();
      await session.truncate(0);
      expect(await reading()).toEqual([634, 1220, stop === 'end' ? tokens.length : tokens.length - 1]);
    },
  );

  const { cells, checkpoints } = subject.capabilities;
  test.runIf(cells !== null && checkpoints)('what is loaded is not evaluated', async () => {
    const { session, prompts } = opened;
    await session.evaluate(prompts.memories);
    const [checkpoint, cells, before] = [
      await session.checkpoint(),
      await session.exportCells(),
      await session.meter(),
    ];
    await session.restore(checkpoint);
    await session.importCells(cells);
    await session.exportCells();
    const { evaluated, reused, decoded, busyMs } = meterDifference(await session.meter(), before);
    expect([evaluated, reused, decoded]).toEqual([0, 0, 0]);
    expect(busyMs).toBeGreaterThan(0);
    await session.evaluate(prompts.question);
    expect(meterDifference(await session.meter(), before)).toMatchObject({
      evaluated: prompts.question.length,
      reused: prompts.memories.length,
    });
    await opened.engine.deleteCheckpoint(checkpoint);
  });

  test('the engine counts all its sessions, closed ones too', async () => {
    await using engine = await openEngine(subject);
    expect(await engine.meter()).toEqual({ evaluated: 0, reused: 0, decoded: 0, busyMs: 0 });
    const first = await engine.openSession('first');
    await using second = await engine.openSession('second');
    await Promise.all([
      first.generate(filler(engine, 30), { maxTokens: 4 }),
      second.score(filler(engine, 40), filler(engine, 3)),
    ]);
    await first.evaluate(filler(engine, 5));
    const [ofFirst, length] = [await first.meter(), first.tokens.length];
    await first[Symbol.asyncDispose]();
    await using third = await engine.openSession('third');
    await third.evaluate(filler(engine, 50));
    const sum = [await second.meter(), await third.meter()].reduce(meterSum, ofFirst);
    const ofEngine = await engine.meter();
    expect(ofEngine).toEqual({ ...sum, busyMs: ofEngine.busyMs });
    const [scored, again] = isExact ? [42, 5] : [43, length - ofFirst.reused!];
    expect(ofEngine.evaluated).toBe(30 + scored + again + 50);
    // Tokenising belongs to no session.
    expect(ofEngine.busyMs).toBeGreaterThanOrEqual(sum.busyMs! - 0.01);
  });
}
