import type { Engine } from '../../engine/engine.ts';
import { compareScores } from '../../engine/sequence-score.ts';
import type { TokenId } from '../../engine/token-id.ts';
import type { ParitySelfTest } from '../../records/run-probes.ts';

/** A prompt, and the continuation that is scored behind it. */
export interface ContinuedPrompt {
  readonly prompt: readonly TokenId[];
  readonly continuation: readonly TokenId[];
}

const SHORTEST_PROMPT = 4;

/**
 * Evaluates each prompt whole and cut in two at a quarter, half and three quarters, and compares the next token's
 * probabilities and its continuation's. No piece is a single token. Needs a free session of the engine.
 * @throws RangeError for a prompt of fewer than four tokens, and where there is none
 */
export async function paritySelfTest(
  engine: Pick<Engine, 'openSession'>,
  prompts: readonly ContinuedPrompt[],
): Promise<ParitySelfTest> {
  if (prompts.length === 0) throw new RangeError('the parity self-test needs a prompt');
  await using session = await engine.openSession('self-test');
  let cuts = 0;
  let bitwiseEqual = true;
  let largestDifference = 0;
  for (const { prompt, continuation } of prompts) {
    await session.clear();
    const whole = await session.score(prompt, continuation);
    for (const place of cutPlaces(prompt.length)) {
      await session.clear();
      await session.evaluate(prompt.slice(0, place));
      const difference = compareScores(whole, await session.score(prompt.slice(place), continuation));
      cuts++;
      bitwiseEqual &&= difference.bitwiseEqual;
      largestDifference = Math.max(largestDifference, difference.largestDifference);
    }
  }
  return { prompts: prompts.length, cuts, bitwiseEqual, largestDifference };
}

function cutPlaces(tokens: number): number[] {
  if (tokens < SHORTEST_PROMPT)
    throw new RangeError(`a prompt of ${tokens} tokens cannot be cut into two pieces of two`);
  const places = [1, 2, 3].map((quarter) => Math.min(tokens - 2, Math.max(2, Math.floor((quarter * tokens) / 4))));
  return [...new Set(places)];
}
