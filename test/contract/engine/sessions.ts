import { expect, test } from 'vitest';
import type { EngineSession } from '../../../src/engine/engine-session.ts';
import { type Opened, openEngine } from './opened.ts';
import { filler, type Subject } from './subjects.ts';

export function sessionPromises(subject: Subject, opened: Opened): void {
  test('as many as it was opened with, and again those that were closed', async () => {
    const { engine } = opened;
    const second = await engine.openSession('second');
    await expect(engine.openSession('third')).rejects.toMatchObject({ code: 'no-session' });
    await second[Symbol.asyncDispose]();
    await using third = await engine.openSession('third');
    expect([third.tokens, third.cells]).toEqual([[], 0]);
  });

  test('each with tokens of its own: another scope reuses nothing', async () => {
    const { engine, session, memories, answer } = opened;
    const whole = await session.score(memories, answer);
    await using other = await engine.openSession('other');
    expect(await other.score(memories, answer)).toEqual(whole);
    const { evaluated, reused } = await other.meter();
    // Where a whole prompt is scored, its last token is a token of the prompt.
    const isPrompt = engine.capabilities.logProbabilities!.continuation === 'recomputed';
    const last = isPrompt ? 0 : 1;
    expect([evaluated, reused]).toEqual([memories.length + answer.length - last, 0]);
  });

  test('whose calls wait for each other, whatever becomes of those before', async () => {
    const { session, memories, question, answer } = opened;
    await session.evaluate(memories);
    const alone = await session.score(question, answer);
    await session.clear();
    const [, refused, , , scored] = await Promise.allSettled([
      session.evaluate(memories),
      session.truncate(10_000),
      session.evaluate(question),
      session.truncate(memories.length),
      session.score(question, answer),
      session.meter(),
    ]);
    expect(refused).toMatchObject({ status: 'rejected', reason: expect.any(RangeError) as unknown });
    expect(scored).toEqual({ status: 'fulfilled', value: alone });
  });

  test('which answer as if alone where several are asked at once', async () => {
    const { engine, session, memories, question } = opened;
    await using other = await engine.openSession('other');
    const generate = async (from: EngineSession, prompt: readonly number[]): Promise<readonly number[]> => {
      await from.clear();
      return (await from.generate(prompt, { maxTokens: 8 })).tokens;
    };
    const [first, second] = [[...memories, ...question], filler(engine, 90)];
    const alone = [await generate(session, first), await generate(session, second)];
    expect(await Promise.all([generate(session, first), generate(other, second)])).toEqual(alone);
  });

  test('which, once closed, answer no more', async () => {
    const { session, memories, question } = opened;
    const running = session.evaluate(memories);
    await session[Symbol.asyncDispose]();
    await running;
    await expect(session.evaluate(question)).rejects.toMatchObject({ code: 'no-session' });
    await expect(session.meter()).rejects.toMatchObject({ code: 'no-session' });
    await session[Symbol.asyncDispose]();
  });

  test('which a closed engine closes', async () => {
    const engine = await openEngine(subject);
    const session = await engine.openSession('contract');
    const running = session.evaluate(opened.memories);
    await engine[Symbol.asyncDispose]();
    await running;
    await expect(session.clear()).rejects.toMatchObject({ code: 'no-session' });
    await expect(engine.openSession('contract')).rejects.toMatchObject({ code: 'no-session' });
    await expect(engine.tokenize([])).rejects.toMatchObject({ code: 'no-session' });
    await engine[Symbol.asyncDispose]();
  });

  test('calls with a signal that is aborted reject with its reason, and change nothing', async () => {
    const { engine, session, memories, question, answer } = opened;
    await session.evaluate(memories);
    const reason = new Error('enough');
    const signal = AbortSignal.abort(reason);
    const calls = [
      engine.tokenize([], { signal }),
      engine.openSession('contract', { signal }),
      engine.meter({ signal }),
      session.evaluate(question, { signal }),
      session.score(question, answer, { signal }),
      session.truncate(2, { signal }),
      session.clear({ signal }),
      session.checkpoint({ signal }),
      session.exportCells(undefined, { signal }),
    ];
    expect(await Promise.allSettled(calls)).toEqual(calls.map(() => ({ status: 'rejected', reason })));
    expect(session.tokens).toEqual(memories);
  });

  test('an aborted evaluation leaves the session as it was', async () => {
    const { engine, session, memories, question, answer } = opened;
    await session.evaluate(memories);
    const whole = await session.score(question, answer);
    await session.truncate(memories.length);
    const reason = new Error('enough');
    for (const isScore of [false, true]) {
      const controller = new AbortController();
      const { signal } = controller;
      const long = filler(engine, 1100);
      const aborted = isScore ? session.score(long, answer, { signal }) : session.evaluate(long, { signal });
      setTimeout(() => controller.abort(reason));
      await expect(aborted).rejects.toBe(reason);
      expect(session.tokens).toEqual(memories);
      expect(await session.score(question, answer)).toEqual(whole);
      await session.truncate(memories.length);
    }
  });
}
