import { afterAll, expect, it } from 'vitest';
import { presetModels } from '../../src/models/default-models.ts';
import type { EngineSession } from '../../src/engine/engine-session.ts';
import { realEngine } from '../fixtures/engines.ts';
import { shippedTurns } from '../fixtures/shipped-turns.ts';
import { TurnsAtOnce } from '../fixtures/turns-at-once.ts';

const at = await TurnsAtOnce.open(realEngine, presetModels.model);
afterAll(() => at[Symbol.asyncDispose]());

it('three users who ask at once hear in three sessions what each hears alone, and so does who comes later', async () => {
  const turns = await shippedTurns(3, 2);
  for (const mode of ['dki', 'dki-blocks']) await at.expectSameAtOnce(mode, [3], turns);
  const answers = await at.oneByOne('rag', turns);
  expect(new Set([...answers.values()].map(({ tokenIds }) => tokenIds.join())).size).toBeGreaterThan(2);
});

it('sessions that compute at once give the bits that each gives alone', async () => {
  const texts = [
    'User: My dog is called Brenko and I live in Port Dral.\n\nAI:',
    'User: Who was it that told me of the lighthouse at the end of the pier?\n\nAI:',
    'User: Hi!\n\nAI:',
  ];
  const prompts = await at.engine.tokenize(texts.map((text) => ({ text, as: 'text', first: true })));
  const answer = async (session: EngineSession, index: number): Promise<unknown> => {
    await session.clear();
    const { tokens } = await session.generate(prompts[index]!, { maxTokens: 24 });
    // Behind the KV of the answer, each token of which was evaluated in a pass of its own.
    return { tokens, score: await session.score(prompts[index]!, []) };
  };
  const alone: unknown[] = [];
  for (const [index, session] of at.sessions.entries()) alone.push(await answer(session, index));
  for (let round = 0; round < 3; round++) expect(await Promise.all(at.sessions.map(answer))).toEqual(alone);
});
