import { BenchError } from '../../config/bench-error.ts';
import type { LanguageModel } from '../../llm/language-model.ts';
import type { ModelSequence } from '../../llm/model-sequence.ts';
import { answerLimits } from '../../systems/answer-limits.ts';
import { promptFormOf } from '../../systems/prompt/chat-form.ts';
import { likeliest } from '../run/turn-evidence.ts';
import type { StoredSequence } from './stored-sequence.ts';
import type { TurnReplay } from './turn-replay.ts';

/** Largest difference in ln p between a stored probability and the same computed again. */
const TOLERANCE = 0.01;
/** Below this, llama.cpp's rounding shows in ln p. */
const RELEVANT_PROBABILITY = 1e-6;

/** An answer, generated again as it was, and what the model gives to it. */
export interface AnswerAgain {
  /** All tokens that were generated, those of a stop text and the end of text too. */
  readonly tokens: readonly number[];
  /** Sum of ln p over these tokens. */
  readonly logProbability: number;
}

/**
 * Answers a stored turn again from the same sequence. Rows hold the text of an answer, which other tokens could spell too:
 * generating is the one way to the tokens, and at temperature 0 it is the same way twice.
 * @throws BenchError `not-reproduced` where the answer, or the probabilities in front of it, are not those that are stored
 */
export async function answerAgain(
  turn: StoredSequence,
  replay: TurnReplay,
  model: LanguageModel,
  sequence: ModelSequence,
): Promise<AnswerAgain> {
  const limits = answerLimits(promptFormOf(turn.form, model), turn.reserveTokens);
  const { tokens, text, stop } = await sequence.generate(await replay.begin(), limits);
  if (text !== turn.answer || tokens.length !== turn.generatedTokens) {
    throw cannot(`it now answers ${JSON.stringify(text)}, not ${JSON.stringify(turn.answer)}`);
  }
  const answer = stop === 'end-of-text' ? [...tokens, await tokenAfter(tokens, replay, sequence)] : tokens;
  const score = await sequence.score(await replay.begin(), answer);
  requireSameNext(turn, likeliest(model, score.nextProbabilities, turn.nextTokens.length));
  return { tokens: answer, logProbability: sumOf(score.logProbabilities) };
}

export function sumOf(logProbabilities: readonly number[]): number {
  return logProbabilities.reduce((sum, value) => sum + value, 0);
}

/** The likeliest token behind an answer that ended by itself: a model may know more than one end of text. */
async function tokenAfter(tokens: readonly number[], replay: TurnReplay, sequence: ModelSequence): Promise<number> {
  const { nextProbabilities } = await sequence.score([...(await replay.begin()), ...tokens], [0]);
  return nextProbabilities.reduce((best, p, token) => (p > nextProbabilities[best]! ? token : best), 0);
}

function requireSameNext({ nextTokens: stored }: StoredSequence, now: StoredSequence['nextTokens']): void {
  stored.forEach(({ token, probability }, index) => {
    const again = now[index]?.probability ?? 0;
    if (probability < RELEVANT_PROBABILITY) return;
    if (Math.abs(Math.log(again) - Math.log(probability)) <= TOLERANCE) return;
    const place = `next token ${index + 1} (${JSON.stringify(token)})`;
    throw cannot(`${place} has p = ${again.toPrecision(6)}, and ${probability.toPrecision(6)} is stored`);
  });
}

function cannot(why: string): BenchError {
  return new BenchError(
    'not-reproduced',
    `the turn does not come out as it is stored: ${why}`,
    'it was made by another release of llama.cpp or on another kind of processor: run the bench again here',
  );
}
