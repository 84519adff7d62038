import { BenchError } from '../../../base/bench-error.ts';
import { firstSentence } from '../../../base/first-sentence.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { EngineSession } from '../../../engine/engine-session.ts';
import { likeliestTokens } from '../../../engine/sequence-score.ts';
import type { TokenId } from '../../../engine/token-id.ts';
import { promptFormOf } from '../../../systems/prompt/chat-form.ts';
import { answerLimits } from '../../../systems/answer-turn.ts';
import { likeliestTexts } from '../observe/turn-observer.ts';
import type { StoredSequence } from './stored-sequence.ts';
import type { TurnReplay } from './turn-replay.ts';

/** Largest difference in ln p between a stored probability and the same computed again. */
const TOLERANCE = 0.01;
/** Below this, the engine's rounding shows in ln p. */
const RELEVANT_PROBABILITY = 1e-6;

/** An answer, generated again as it was, and what the model gives to it. */
export interface AnswerAgain {
  /** All tokens that were generated, those of a stop text and the end of text too. */
  readonly tokens: readonly TokenId[];
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
  engine: Engine,
  session: EngineSession,
): Promise<AnswerAgain> {
  const limits = {
    ...answerLimits(await promptFormOf(turn.form, engine), turn.reserveTokens),
    // Of several sentences are answers of an earlier release, which did not end them there.
    oneSentence: firstSentence(turn.answer) === turn.answer.trim(),
  };
  const { tokens, text, stop } = await session.generate(await replay.begin(), limits);
  if (text !== turn.answer || tokens.length !== turn.generatedTokens) {
    throw cannot(`it now answers ${JSON.stringify(text)}, not ${JSON.stringify(turn.answer)}`);
  }
  const answer = stop === 'end' ? [...tokens, await tokenAfter(tokens, replay, session)] : tokens;
  const score = await session.score(await replay.begin(), answer);
  requireSameNext(turn, await likeliestTexts(engine, score.next, turn.nextTokens.length));
  return { tokens: answer, logProbability: sumOf(score.logProbabilities) };
}

export function sumOf(logProbabilities: readonly number[]): number {
  return logProbabilities.reduce((sum, value) => sum + value, 0);
}

/** The likeliest token behind an answer that ended by itself: a model may know more than one end of text. */
async function tokenAfter(tokens: readonly TokenId[], replay: TurnReplay, session: EngineSession): Promise<TokenId> {
  const { next } = await session.score([...(await replay.begin()), ...tokens], []);
  return likeliestTokens(next, 1)[0]!.id;
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
    'it was made by another release of the engine or on another kind of processor: run the bench again here',
  );
}
