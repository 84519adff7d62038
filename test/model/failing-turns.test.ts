import { expect, it } from 'vitest';
import { checkOf, liar, shippedArm, smallRun } from '../fixtures/small-run.ts';

it('a turn that fails is a failed turn, though it would succeed when it is tried again', async () => {
  const tried = new Set<string>();
  const arms = [
    liar('stumbles', shippedArm('dki'), (system) => async (request) => {
      const name = `${request.userId ?? ''} ${request.query}`;
      if (!request.query.startsWith('Where') || tried.has(name)) return await system.chat(request);
      tried.add(name);
      throw new Error('stumbled');
    }),
  ];
  const results = await smallRun('rag,dki,stumbles', { arms });
  expect(results.arms.map(({ errors }) => errors)).toEqual([0, 0, 2]);
  expect(checkOf(results, 'errors')).toMatchObject({
    status: 'failed',
    evidence: expect.stringMatching(/^2 of 18 turns failed: stumbles on /) as string,
  });
});
