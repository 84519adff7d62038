import { expect, test } from 'vitest';
import { meterDifference, meterSum } from '../../../src/engine/token-meter.ts';
import type { EngineSession } from '../../../src/engine/engine-session.ts';
import { type Opened, openEngine } from './opened.ts';
import { filler, type Subject } from './subjects.ts';

export function meterPromises(subject: Subject, opened: Opened): void {
  const { prefixCache, logProbabilities } = subject.capabilities;
  const isRecomputed = logProbabilities?.continuation === 'recomputed';
  const block = prefixCache?.blockTokens ?? 1;
  const isExact = block === 1 && !isRecomputed;
  const wholeBlocks = (tokens: number): number => Math.floor(tokens / block) * block;
  test('every token of a call is evaluated or reused, in whole blocks; a score that is recomputed reuses none', async () => {
    const { engine, session } = opened;
    let before = await session.meter();
    expect(before).toMatchObject({ evaluated: 0, reused: 0, decoded: 0 });
    const added = async (call: Promise<unknown>): Promise<unknown> => {
      await call;
      const now = await session.meter();
      const { evaluated, reused, decoded } = meterDifference(now, before);
      before = now;
      return [evaluated, reused, decoded];
    };
    expect(await added(session.evaluate(filler(engine, 600)))).toEqual([600, 0, 0]);
    const score = session.score(filler(engine, 8), [25, 26, 27]);
    expect(await added(score)).toEqual(isExact ? [10, 600, 0] : [611, 0, 0]);
    if (isExact) expect(await added(session.score(filler(engine, 4), []))).toEqual([4, 610, 0]);
    await session.truncate(100);
    const generation = session.generate(filler(engine, 20), { maxTokens: 5 });
    const counts = await added(generation);
    const { tokens, stop } = await generation;
    const found = wholeBlocks(100);
    expect(counts).toEqual([120 - found, found, stop === 'end' ? tokens.length : tokens.length - 1]);
    expect(await added(session.clear())).toEqual([0, 0, 0]);
    expect(await added(session.truncate(0))).toEqual([0, 0, 0]);
    if (!isExact) expect(await added(session.evaluate(filler(engine, 600)))).toEqual([600, 0, 0]);
  });

  test.runIf(prefixCache?.span === 'engine')('under one name, sessions find what any of them evaluated', async () => {
    const { engine, session } = opened;
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
    expect(await reused(other)).toBe(wholeBlocks(199));
  });

  test('what the answers of an engine say, its counters say too', async () => {
    await using engine = await openEngine(subject);
    await using session = await engine.openSession('contract');
    await session.evaluate(filler(engine, 100));
    await session.generate(filler(engine, 20), { maxTokens: 4 });
    const audit = await engine.audit();
    if (audit === null) return;
    expect(audit.counters).toMatchObject({ evaluated: audit.answers.evaluated, reused: audit.answers.reused });
    const { evaluated, reused } = await engine.meter();
    expect(audit.answers.evaluated + audit.answers.reused!).toBeGreaterThanOrEqual(evaluated! + reused!);
  });

  const { cells, checkpoints } = subject.capabilities;
  test.runIf(cells !== null && checkpoints)('what is loaded is not evaluated', async () => {
    const { session, memories, question } = opened;
    await session.evaluate(memories);
    const checkpoint = await session.checkpoint();
    const state = await session.exportCells();
    const before = await session.meter();
    await session.restore(checkpoint);
    await session.importCells(state);
    await session.exportCells();
    const { busyMs, ...counts } = meterDifference(await session.meter(), before);
    expect(counts).toEqual({ evaluated: 0, reused: 0, decoded: 0 });
    expect(busyMs).toBeGreaterThan(0);
    await session.evaluate(question);
    expect(meterDifference(await session.meter(), before)).toMatchObject({
      evaluated: question.length,
      reused: memories.length,
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
