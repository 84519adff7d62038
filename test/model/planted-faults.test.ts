import { setTimeout } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { CheckName, RunResults } from '../../src/store/records/results.ts';
import type { ArmDefinition } from '../../src/systems/arms/arm-definition.ts';
import type { BenchSystem, ChatResponse } from '../../src/systems/contracts.ts';
import { replacing } from '../fixtures/replacing.ts';
import { twoFacedSession } from '../fixtures/two-faced-session.ts';
import { checkOf, liar, renamed, shippedArm, smallRun } from '../fixtures/small-run.ts';

const [rag, dki] = [shippedArm('rag'), shippedArm('dki')];

/** Answers of `rag` by user and question, which its false twin copies. */
const heard = new Map<string, ChatResponse>();
const nameOf = ({ userId = '', query }: { readonly userId?: string; readonly query: string }) => `${userId} ${query}`;

const arms: readonly ArmDefinition[] = [
  {
    ...rag,
    open: (parts, argument) => {
      const system = rag.open(parts, argument);
      const chat: BenchSystem['chat'] = async (request) => {
        const response = await system.chat(request);
        heard.set(nameOf(request), response);
        return response;
      };
      return replacing(system, { chat });
    },
  },
  {
    ...shippedArm('rag-twin'),
    open: (...asked) => {
      const system = shippedArm('rag-twin').open(...asked);
      return replacing(system, { chat: async (request) => heard.get(nameOf(request)) ?? system.chat(request) });
    },
  },
  liar('waits', rag, (system) => async (request) => {
    await setTimeout(60);
    return system.chat(request);
  }),
  liar('told', dki, (system) => async (request) => {
    const response = await system.chat(request);
    return { ...response, trace: { ...response.trace, answer: { ...response.trace.answer, text: 'Brenko' } } };
  }),
  liar(
    'withholds',
    dki,
    (system) =>
      ({ retrieved, ...request }) =>
        system.chat({ ...request, retrieved: { ...retrieved!, memories: retrieved!.memories.slice(1) } }),
  ),
  liar(
    'whispers',
    dki,
    (system) =>
      ({ retrieved, ...request }) =>
        system.chat({
          ...request,
          retrieved: { ...retrieved!, memories: [] },
          systemPrompt: `You remember: ${retrieved!.memories.map(({ content }) => content).join(' ')}`,
        }),
  ),
  liar('moonlights', dki, (system, parts) => async (request) => {
    const { engine } = await parts.open();
    await using hidden = await engine.openSession('hidden');
    await hidden.evaluate([60, 61, 62]);
    return await system.chat(request);
  }),
  liar('lingers', dki, (system, parts) => async (request) => {
    const response = await system.chat(request);
    const { session } = await parts.open();
    // While others answer.
    void setTimeout(1)
      .then(() => session.evaluate([60, 61]).catch(() => undefined))
      .catch(() => undefined);
    return response;
  }),
  // On a hit it answers behind other KV, and puts the right one back before it is read back.
  renamed('two-faced', {
    ...dki,
    open: (parts, argument) => {
      const open = async () => {
        const { engine, session } = await parts.open();
        return { engine, session: twoFacedSession(session) };
      };
      return dki.open({ ...parts, open }, argument);
    },
  }),
];

describe('a run with arms that lie', () => {
  let results: RunResults;
  beforeAll(async () => {
    const names = 'rag,dki,rag-twin,waits,told,withholds,whispers,moonlights,lingers,two-faced';
    results = await smallRun(names, { arms });
  });

  it.each<[string, CheckName, RegExp]>([
    ['an answer that no engine gave', 'answers', /answers are not what the engine generated: [^;]*told on/],
    ['a twin that copies', 'answers', /answers are not what the engine generated: [^;]*rag-twin on/],
    ['a twin that copies', 'sample', /rag-twin answered without evaluating its prompt/],
    ['another answer path on cache hits', 'answers', /do not begin with the likeliest token: two-faced on/],
    ['another answer path on cache hits', 'token identity', /hold other ids than they claim: [^;]*two-faced on/],
    ['memories that are withheld', 'same memories', /lose memories that they were given: [^;]*withholds on/],
    ['memories in the system prompt', 'same memories', /outside of the part for memories: whispers on/],
    ['evaluation in a session of its own', 'token accounting', /evaluated other than they claim: [^;]*moonlights on/],
    ['work that goes on behind the turn', 'clock', /work outside of turns was refused: lingers \(\d+ calls\)/],
    ['a turn that waits', 'clock', /waits [6-9]\d\.\d\d ms|waits \d{3,}\.\d\d ms/],
  ])('%s is found by %s', (_, check, evidence) => {
    expect(checkOf(results, check)).toMatchObject({
      status: 'failed',
      evidence: expect.stringMatching(evidence) as string,
    });
  });

  it('blames no honest arm, and passes the other checks', () => {
    for (const check of ['answers', 'same memories', 'token accounting', 'sample'] as const) {
      expect(checkOf(results, check).evidence).not.toMatch(/\b(rag|dki|waits) on /);
    }
    for (const check of ['cells', 'embedder', 'errors'] as const) {
      expect(checkOf(results, check)).toMatchObject({ status: 'passed' });
    }
    // Its books are in order, except for what was hidden from them.
    expect(results.run.profile.evaluatedTokens).toMatchObject({ unbooked: 0, prepared: 0 });
  });
});
