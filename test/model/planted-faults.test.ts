import { setTimeout } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { foundMemories } from '../../scripts/open-parts.ts';
import type { CheckName, RunResults } from '../../src/store/records/run-results.ts';
import type { ArmDefinition } from '../../src/systems/arms/arm-definition.ts';
import type { ChatResponse } from '../../src/systems/memory-system.ts';
import { checkOf, liar, lying, renamed, shippedArm, smallRun } from '../fixtures/small-run.ts';
import { twoFacedSession } from '../fixtures/two-faced-session.ts';

const [rag, dki] = [shippedArm('rag'), shippedArm('dki')];

/** Answers of `rag` by user and question, which its false twin copies. */
const heard = new Map<string, ChatResponse>();
const nameOf = ({ userId = '', query }: { readonly userId?: string; readonly query: string }) => `${userId} ${query}`;

const liars: readonly ArmDefinition[] = [
  lying(rag, (system) => async (request) => {
    const response = await system.chat(request);
    heard.set(nameOf(request), response);
    return response;
  }),
  lying(
    shippedArm('rag-twin'),
    (system) => async (request) => heard.get(nameOf(request)) ?? (await system.chat(request)),
  ),
  liar('waits', rag, (system) => async (request) => {
    await setTimeout(60);
    return system.chat(request);
  }),
  liar('told', dki, (system) => async (request) => {
    const response = await system.chat(request);
    return { ...response, trace: { ...response.trace, answer: { ...response.trace.answer, text: 'Brenko' } } };
  }),
  liar('withholds', dki, (system) => async ({ retrieved, ...request }) => {
    return system.chat({ ...request, retrieved: { ...retrieved!, memories: retrieved!.memories.slice(1) } });
  }),
  liar('whispers', dki, (system) => async ({ retrieved, ...request }) => {
    const systemPrompt = `You remember: ${retrieved!.memories.map(({ content }) => content).join(' ')}`;
    return system.chat({ ...request, retrieved: { ...retrieved!, memories: [] }, systemPrompt });
  }),
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

type Found = readonly [what: string, check: CheckName, evidence: RegExp];

let results: RunResults;

/** Runs arms, and expects checks to fail with the name of what is at fault. */
function expectFound(names: string, arms: readonly ArmDefinition[], found: readonly Found[]): void {
  beforeAll(async () => {
    results = await smallRun(names, { arms });
  });

  it.each(found)('%s is found by %s', (_, check, evidence) => {
    expect(checkOf(results, check)).toMatchObject({
      status: 'failed',
      evidence: expect.stringMatching(evidence) as string,
    });
  });
}

describe('in a run with arms that lie', () => {
  expectFound('rag,dki,rag-twin,waits,told,withholds,whispers,moonlights,lingers,two-faced', liars, [
    ['an answer that no engine gave', 'answers', /answers are not what the engine generated: [^;]*told on/],
    ['a twin that copies', 'answers', /answers are not what the engine generated: [^;]*rag-twin on/],
    ['a twin that copies', 'sample', /rag-twin answered without evaluating its prompt/],
    ['another answer path on cache hits', 'answers', /do not begin with the likeliest token: two-faced on/],
    ['another answer path on cache hits', 'token identity', /hold other ids than they claim: [^;]*two-faced on/],
    ['memories that are withheld', 'same memories', /lose memories that they were given: [^;]*withholds on/],
    ['memories in the system prompt', 'same memories', /outside of the part for memories: whispers on/],
    ['evaluation in a session of its own', 'token accounting', /did not evaluate what they claim: [^;]*moonlights on/],
    ['work that goes on behind the turn', 'clock', /work outside of turns was refused: lingers \(\d+ calls\)/],
    ['a turn that waits', 'clock', /waits [5-9]\d\.\d\d ms|waits \d{3,}\.\d\d ms/],
  ]);

  it('no honest arm is blamed, and the other checks pass', () => {
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

const stumbledOn = new Set<string>();
const others: readonly ArmDefinition[] = [
  // A control that is shown what it must not see.
  lying(shippedArm('dki-wrong'), (system, { memories }) => async (request) => {
    return system.chat({ ...request, retrieved: foundMemories(memories.all(request.userId)) });
  }),
  liar('borrows', dki, (system) => async ({ retrieved, ...request }) => {
    const other = { memoryId: 'other-m1', content: 'My dog is called Quavi.', score: 0.1, metadata: {} };
    return system.chat({ ...request, retrieved: { ...retrieved!, memories: [...retrieved!.memories, other] } });
  }),
  // What fails is failed, though it would succeed when it is tried again.
  liar('stumbles', dki, (system) => async (request) => {
    if (!request.query.endsWith('please?') || stumbledOn.has(nameOf(request))) return system.chat(request);
    stumbledOn.add(nameOf(request));
    throw new Error('out of breath');
  }),
  // A setting that nobody reads.
  { ...dki, open: (parts, argument) => dki.open({ ...parts, alpha: 1 }, argument) },
];

describe('in a run with a control that sees, a borrower, a setting without effect, and turns that fail', () => {
  expectFound('rag,dki,dki@alpha=0.5,dki-wrong,borrows,stumbles', others, [
    ['a control with memories of the asker', 'negative controls', /hold memories of the asker's own: dki-wrong on/],
    ['a control with the answer', 'negative controls', /hold an answer: dki-wrong on/],
    ['a memory that nobody retrieved', 'same memories', /show memories that they were not given: [^;]*borrows on/],
    ['a setting that nobody reads', 'effect', /no outcome is changed by dki@alpha=0\.5 \(against dki\)/],
    ['a setting that nobody reads', 'cells', /have wrong cells: dki@alpha=0\.5 on [^:]*: values differ/],
    ['a turn that fails', 'errors', /stumbles.*out of breath/],
  ]);

  it('there is a row of every turn, and no failed one in the mean of an arm', () => {
    const evidence = expect.stringMatching(/36 of 36 planned turns are rows, 2 of them failed/) as string;
    expect(checkOf(results, 'sample')).toMatchObject({ status: 'passed', evidence });
    const { errors, costAll } = results.arms.find(({ arm }) => arm === 'stumbles')!;
    expect([errors, costAll!.turns]).toEqual([2, 4]);
  });
});
