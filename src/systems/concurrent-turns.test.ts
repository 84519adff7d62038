import { afterAll, describe, expect, it } from 'vitest';
import { askedTurns, calling, modes, nameOf, said, TurnsAtOnce } from '../../test/fixtures/turns-at-once.ts';
import { expectSameInAnyOrder } from '../../test/fixtures/interleaved-turns.ts';
import { replacing } from '../../test/fixtures/replacing.ts';
import type { ChatRequest } from './memory-system.ts';

const at = await TurnsAtOnce.open();
afterAll(() => at[Symbol.asyncDispose]());

/** One turn of each user. */
const four = askedTurns.filter((_, index) => index % 3 === 0);

describe.each(modes)('%s', (mode) => {
  it('answers users who ask at once as one by one, and keeps nothing wrong', async () => {
    await at.expectSameAtOnce(mode, [1, 3], four);
  });

  it('gives an empty answer if it is aborted while the prompt is evaluated, and later ones are right', async () => {
    const controller = new AbortController();
    const [session] = at.sessions;
    let calls = 0;
    const givingUp = replacing(session!, {
      generate: (...args) => {
        if (calls++ === 0) controller.abort(new Error('enough'));
        return session!.generate(...args);
      },
    });
    await using system = at.system(mode, { session: givingUp });
    const { trace, text } = await system.chat({ ...four[0]!, signal: controller.signal });
    expect([trace.answer.stop, text]).toEqual(['aborted', '']);
    const alone = await at.oneByOne(mode, four);
    for (const turn of four) expect(said(await system.chat(turn))).toEqual(alone.get(nameOf(turn)));
  });
});

it('two systems in one session take turns there', async () => {
  const [rag, dki] = (['rag', 'dki'] as const).map((mode) => at.system(mode));
  const responses = await Promise.all(four.flatMap((turn) => [rag!.chat(turn), dki!.chat(turn)]));
  const alone = await at.oneByOne('rag', four);
  responses.forEach((response, index) => expect(said(response)).toEqual(alone.get(nameOf(four[index >> 1]!))));
  await rag![Symbol.asyncDispose]();
  await dki![Symbol.asyncDispose]();
});

describe('between turns', () => {
  it('a memory is replaced and removed when the turn under way has ended', async () => {
    const events: string[] = [];
    const session = calling(at.sessions[0]!, (call) => async (...args) => {
      events.push('call');
      return call(...args);
    });
    await using system = at.system('dki', { session });
    const turn = system.chat(four[0]!).then(() => events.push('answered'));
    const changes = [
      system.addMemory('s', 'My dog is Orso.', { userId: 'ann', memoryId: 'm0' }).then(() => events.push('added')),
      system.removeMemory('s', 'm0', 'ann').then(() => events.push('removed')),
      system.forgetMemory('ann', 'm1').then(() => events.push('forgotten')),
      system.reset().then(() => events.push('reset')),
    ];
    expect(system.getStats().turns).toEqual({ waiting: 4, running: 1 });
    await Promise.all([turn, ...changes]);
    expect(events.filter((event) => event !== 'call')).toEqual(['answered', 'added', 'removed', 'forgotten', 'reset']);
    expect(events.indexOf('answered')).toBeGreaterThan(events.lastIndexOf('call'));
    // The turn had kept its KV by then.
    expect(system.getStats().kvStore).toMatchObject({ entries: 0 });
  });

  it('blocks are computed ahead', async () => {
    await using system = at.system('dki-blocks@built=ahead');
    const prepared = system.prepare!('ann', [{ memoryId: 'm0', content: 'My dog is Brenko.' }]);
    const [response] = await Promise.all([system.chat(four[0]!), prepared]);
    expect(said(response)).toEqual((await at.oneByOne('dki-blocks', four)).get(nameOf(four[0]!)));
  });
});

it('what was computed ahead of a reset counts in no turn', async () => {
  await using system = at.system('dki-blocks@built=ahead');
  await system.prepare!('ann', [{ memoryId: 'm0', content: 'My dog is Brenko.' }]);
  await system.reset();
  const { trace } = await system.chat(four[0]!);
  expect(trace.account.ahead).toBeUndefined();
});

describe('a turn that waits', () => {
  it('leaves at once when its signal is aborted', async () => {
    await using system = at.system('dki');
    const controller = new AbortController();
    const running = system.chat(four[0]!);
    const waiting = system.chat({ ...four[1]!, signal: controller.signal });
    const behind = system.chat(four[2]!);
    let isAnswered = false;
    void running.then(() => (isAnswered = true));
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(isAnswered).toBe(false);
    await Promise.all([running, behind]);
  });

  it("rejects with its signal's reason while KV is being computed", async () => {
    const controller = new AbortController();
    const [session] = at.sessions;
    const aborting = replacing(session!, {
      evaluate: (tokens, options) => {
        controller.abort(new Error('enough'));
        return session!.evaluate(tokens, options);
      },
    });
    await using system = at.system('dki', { session: aborting });
    await expect(system.chat({ ...four[0]!, signal: controller.signal })).rejects.toMatchObject({ message: 'enough' });
    expect(system.getStats().kvStore).toMatchObject({ entries: 0 });
  });

  it('is refused when its system closes, which waits for the turn under way', async () => {
    const system = at.system('dki');
    const events: string[] = [];
    const ask = async (turn: ChatRequest): Promise<void> => {
      await system.chat(turn).then(
        () => events.push('answered'),
        (error: unknown) => events.push((error as Error).message),
      );
    };
    const turns = [ask(four[0]!), ask(four[1]!)];
    await system[Symbol.asyncDispose]().then(() => events.push('closed'));
    await Promise.all(turns);
    expect(events).toEqual(['the system is closed and accepts no more calls', 'answered', 'closed']);
    await expect(system.chat(four[0]!)).rejects.toMatchObject({ code: 'no-session' });
  });
});

it('turns in any order have the answers of turns one by one', () =>
  expectSameInAnyOrder(at, { rounds: 10, seed: 1, turns: four }));
