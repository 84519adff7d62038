import type { OpenEngine } from '../../src/systems/answer-turn.ts';

const LIMITS = { maxTokens: 48, stopTexts: ['\n'] };

/** The answer to a prompt, greedy and of one line; each piece of the prompt is tokenised alone. */
export async function greedyAnswer({ engine, session }: OpenEngine, pieces: readonly string[]): Promise<string> {
  const { bosToken } = engine.info;
  const ids = await engine.tokenize(pieces.map((text, index) => ({ text, as: 'text', first: index === 0 })));
  await session.clear();
  return (await session.generate([...(bosToken === null ? [] : [bosToken]), ...ids.flat()], LIMITS)).text;
}
