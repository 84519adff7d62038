import { expect, test } from 'vitest';
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
    const { engine, session, prompts } = opened;
    const whole = await session.score(prompts.memories, prompts.answer);
    await using other = await engine.openSession('other');
    expect(await other.score(prompts.memories, prompts.answer)).toEqual(whole);
    const { evaluated, reused } = await other.meter();
    // Where a whole prompt is scored, its last token is a token of the prompt.
    const isPrompt = engine.capabilities.logProbabilities!.continuation === 'recomputed';
    const last = isPrompt ? 0 : 1;
    expect([evaluated, reused]).toEqual([prompts.memories.length + prompts.answer.length - last, 0]);
  });

  test('whose calls wait for each other, whatever becomes of those before', async () => {
    const { session, prompts } = opened;
    const { memories, question, answer } = prompts;
    await session.evaluate(memories);
    const alone = await session.score(question, answer);
    await session.clear();
    const calls = [
      session.evaluate(memories),
      session.truncate(10_000),
      session.evaluate(question),
      session.truncate(memories.length),
      session.score(question, answer),
      session.meter(),
    ];
    const [, refused, , , scored] = await Promise.allSettled(calls);
    expect(refused).toMatchObject({ status: 'rejected', reason: expect.any(RangeError) as unknown });
    expect(scored).toEqual({ status: 'fulfilled', value: alone });
  });

  test('which answer as if alone where several are asked at once', async () => {
    const { engine, session, prompts } = opened;
    const [first, second] = [[...prompts.memories, ...prompts.question], filler(engine, 90)];
    const alone = [await session.generate(first, { maxTokens: 8 })];
    await session.clear();
    alone.push(await session.generate(second, { maxTokens: 8 }));
    await session.clear();
    await using other = await engine.openSession('other');
    const together = await Promise.all([
      session.generate(first, { maxTokens: 8 }),
      other.generate(second, { maxTokens: 8 }),
    ]);
    expect(together.map(({ tokens }) => tokens)).toEqual(alone.map(({ tokens }) => tokens));
  });

  test('which, once closed, answer no more', async () => {
    const { session, prompts } = opened;
    const running = session.evaluate(prompts.memories);
    await session[Symbol.asyncDispose]();
    await running;
    await expect(session.evaluate(prompts.question)).rejects.toMatchObject({ code: 'no-session' });
    await expect(session.meter()).rejects.toMatchObject({ code: 'no-session' });
    await session[Symbol.asyncDispose]();
  });

  test('which a closed engine closes', async () => {
    const engine = await openEngine(subject);
    const session = await engine.openSession('contract');
    const running = session.evaluate(opened.prompts.memories);
    await engine[Symbol.asyncDispose]();
    await running;
    await expect(session.clear()).rejects.toMatchObject({ code: 'no-session' });
    await expect(engine.openSession('contract')).rejects.toMatchObject({ code: 'no-session' });
    await expect(engine.tokenize([])).rejects.toMatchObject({ code: 'no-session' });
    await engine[Symbol.asyncDispose]();
  });

  test('calls with a signal that is aborted reject with its reason, and change nothing', async () => {
    const { engine, session, prompts } = opened;
    await session.evaluate(prompts.memories);
    const reason = new Error('enough');
    const signal = AbortSignal.abort(reason);
    const calls = [
      engine.tokenize([], { signal }),
      engine.openSession('contract', { signal }),
      engine.meter({ signal }),
      session.evaluate(prompts.question, { signal }),
      session.score(prompts.question, prompts.answer, { signal }),
      session.truncate(2, { signal }),
      session.clear({ signal }),
      session.checkpoint({ signal }),
      session.exportCells(undefined, { signal }),
    ];
    expect(await Promise.allSettled(calls)).toEqual(calls.map(() => ({ status: 'rejected', reason })));
    expect(session.tokens).toEqual(prompts.memories);
  });

  test('an aborted evaluation leaves the session as it was', async () => {
    const { engine, session, prompts } = opened;
    await session.evaluate(prompts.memories);
    const whole = await session.score(prompts.question, prompts.answer);
    await session.truncate(prompts.memories.length);
    const calls = [
      (signal: AbortSignal) => session.evaluate(filler(engine, 1100), { signal }),
      (signal: AbortSignal) => session.score(filler(engine, 1100), prompts.answer, { signal }),
    ];
    for (const call of calls) {
      const controller = new AbortController();
      const reason = new Error('enough');
      const aborted = call(controller.signal);
      setTimeout(() => controller.abort(reason));
      await expect(aborted).rejects.toBe(reason);
      expect(session.tokens).toEqual(prompts.memories);
      expect(await session.score(prompts.question, prompts.answer)).toEqual(whole);
      await session.truncate(prompts.memories.length);
    }
  });
}
