import { afterAll, beforeAll, expect, it } from 'vitest';
import { presetModels } from '../../src/models/preset-models.ts';
import type { EngineSession } from '../../src/engine/engine-session.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { compareScores } from '../../src/engine/sequence-score.ts';
import { realEngine } from '../fixtures/engines.ts';

let engine: Engine;
let sessions: readonly EngineSession[];
let prompts: readonly (readonly number[])[];

beforeAll(async () => {
  engine = await realEngine.open({ model: presetModels.model, sessions: 3 });
  sessions = await Promise.all(['a', 'b', 'c'].map((scope) => engine.openSession(scope)));
  const texts = [
    'User: My dog is called Brenko and I live in Port Dral.\n\nAI:',
    'User: Who was it that told me of the lighthouse at the end of the pier?\n\nAI:',
    'User: Hi!\n\nAI:',
  ];
  prompts = await engine.tokenize(texts.map((text) => ({ text, as: 'text', first: true })));
});
afterAll(() => engine[Symbol.asyncDispose]());

/** The answers of all sessions, and the distribution behind each answer and the prompt again. */
async function all(atOnce: boolean) {
  const ask = async (session: EngineSession, index: number) => {
    await session.clear();
    const { tokens } = await session.generate(prompts[index]!, { maxTokens: 24 });
    // Behind the KV of the answer, each token of which was evaluated in a pass of its own.
    return { tokens, score: await session.score(prompts[index]!, []) };
  };
  if (atOnce) return Promise.all(sessions.map(ask));
  const answers: Awaited<ReturnType<typeof ask>>[] = [];
  for (const [index, session] of sessions.entries()) answers.push(await ask(session, index));
  return answers;
}

it('sessions that compute at once give the bits that each gives alone', async () => {
  const alone = await all(false);
  for (let round = 0; round < 3; round++) {
    const together = await all(true);
    together.forEach(({ tokens, score }, index) => {
      expect(tokens).toEqual(alone[index]!.tokens);
      expect(compareScores(score, alone[index]!.score)).toEqual({ bitwiseEqual: true, largestDifference: 0 });
    });
  }
});
