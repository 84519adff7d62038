import type { LanguageModel } from './language-model.ts';
import type { TokenId } from './model-info.ts';
import { compareScores } from './token-probabilities.ts';

/** What a model's arithmetic does to one token sequence that is evaluated in different pieces. */
export interface ParitySelfTest {
  readonly prompts: number;
  /** Evaluations in two pieces, over all prompts. */
  readonly cuts: number;
  /** Every piecewise evaluation gave the bits of the whole one. */
  readonly bitwiseEqual: boolean;
  /** Largest difference in ln p, where p ≥ 1e-6: the noise floor of this model on this machine. */
  readonly largestDifference: number;
}

/** A prompt, and what is scored behind it. */
export interface ContinuedPrompt {
  readonly prompt: readonly TokenId[];
  readonly continuation: readonly TokenId[];
}

const SHORTEST_PROMPT = 4;

/**
 * Evaluates each prompt whole and cut in two at a quarter, half and three quarters, and compares the next token's
 * probabilities and its continuation's. No piece is a single token. Needs a free sequence of the model.
 * @throws RangeError for a prompt of fewer than four tokens, and where there is none
 */
export async function paritySelfTest(
  model: LanguageModel,
  prompts: readonly ContinuedPrompt[],
): Promise<ParitySelfTest> {
  if (prompts.length === 0) throw new RangeError('the parity self-test needs a prompt');
  await using sequence = model.openSequence();
  let cuts = 0;
  let bitwiseEqual = true;
  let largestDifference = 0;
  for (const { prompt, continuation } of prompts) {
    await sequence.clear();
    const whole = await sequence.score(prompt, continuation);
    for (const place of cutPlaces(prompt.length)) {
      await sequence.clear();
      await sequence.evaluate(prompt.slice(0, place));
      const difference = compareScores(whole, await sequence.score(prompt.slice(place), continuation));
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
