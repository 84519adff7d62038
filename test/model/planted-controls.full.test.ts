import { beforeAll, describe, expect, it } from 'vitest';
import { foundMemories } from '../../scripts/open-parts.ts';
import type { CheckName, RunResults } from '../../src/store/records/results.ts';
import type { ArmDefinition } from '../../src/systems/arms/arm-definition.ts';
import { checkOf, liar, lying, shippedArm, smallRun } from '../fixtures/small-run.ts';

const dki = shippedArm('dki');

const arms: readonly ArmDefinition[] = [
  // A control that is shown what it must not see.
  lying(shippedArm('dki-wrong'), (system, { memories }) => async (request) => {
    return system.chat({ ...request, retrieved: foundMemories(memories.all(request.userId!)) });
  }),
  liar('borrows', dki, (system) => async ({ retrieved, ...request }) => {
    const other = { memoryId: 'other-m1', content: 'My dog is called Quavi.', score: 0.1, metadata: {} };
    return system.chat({ ...request, retrieved: { ...retrieved!, memories: [...retrieved!.memories, other] } });
  }),
  liar('stumbles', dki, (system) => async (request) => {
    if (request.query.endsWith('please?')) throw new Error('out of breath');
    return system.chat(request);
  }),
  // A setting that nobody reads.
  { ...dki, open: (parts, argument) => dki.open({ ...parts, alpha: 1 }, argument) },
];

describe('a run with a control that sees, a borrower, a setting without effect, and turns that fail', () => {
  let results: RunResults;
  beforeAll(async () => {
    results = await smallRun('rag,dki,dki@alpha=0.5,dki-wrong,borrows,stumbles', { arms });
  });

  it.each<[string, CheckName, RegExp]>([
    ['a control with memories of the asker', 'negative controls', /hold memories of the asker's own: dki-wrong on/],
    ['a control with the answer', 'negative controls', /hold an answer: dki-wrong on/],
    ['a memory that nobody retrieved', 'same memories', /show memories that they were not given: [^;]*borrows on/],
    ['a setting that nobody reads', 'effect', /no outcome is changed by dki@alpha=0\.5 \(against dki\)/],
    ['a setting that nobody reads', 'cells', /have wrong cells: dki@alpha=0\.5 on [^:]*: values differ/],
    ['a turn that fails', 'errors', /stumbles.*out of breath/],
  ])('%s is found by %s', (_, check, evidence) => {
    expect(checkOf(results, check)).toMatchObject({
      status: 'failed',
      evidence: expect.stringMatching(evidence) as string,
    });
  });

  it('has a row of every turn, and of none the mean of an arm', () => {
    expect(checkOf(results, 'sample')).toMatchObject({
      status: 'passed',
      evidence: expect.stringMatching(/36 of 36 planned turns are rows, 2 of them failed/) as string,
    });
    const { errors, costAll } = results.arms.find(({ arm }) => arm === 'stumbles')!;
    expect([errors, costAll!.turns]).toEqual([2, 4]);
  });
});
