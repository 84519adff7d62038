import { expect, it } from 'vitest';
import { realEngine } from '../../../../test/fixtures/engines.ts';
import { LikelihoodScorer } from './likelihood-scorer.ts';

it('gives the distribution that a turn generated from, independent of what is scored after the prompt', async () => {
  // These weights are computed in groups of tokens, so that tokens behind the prompt change the bits of its last ones.
  await using engine = await realEngine.open({ model: 'random:small-llama:q4_k', threads: 1, sessions: 2 });
  expect(engine.capabilities.exactCuts).toBeGreaterThan(1);
  await using scoring = await engine.openSession('scoring');
  await using session = await engine.openSession('turn');
  const [prompt] = await engine.tokenize([
    { text: 'I told you where I live. Where do I live? You live in', as: 'text' },
  ]);
  const next = async (answer: readonly number[]): Promise<unknown> => {
    const state = { session, prefixPositions: 0, suffix: prompt! };
    const scorer = new LikelihoodScorer({ engine, scoring });
    return (await scorer.score(state, { gold: { suffix: prompt!, answer }, others: [] }, {})).next;
  };
  const alone = await next([]);
  for (const behind of [1, 2, 3, 4, 7]) expect(await next(prompt!.slice(0, behind))).toEqual(alone);
});
