import { BenchError } from '../../../base/bench-error.ts';
import { firstSentence } from '../../../base/sentence-boundaries.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { EngineSession } from '../../../engine/engine-session.ts';
import { likeliestTokens } from '../../../engine/sequence-score.ts';
import { meterDifference } from '../../../engine/token-meter.ts';
import type { AttributionRecord } from '../../../store/records/attribution-record.ts';
import type { TurnRecord } from '../../../store/records/turn-record.ts';
import { answerLimits } from '../../../systems/answer-turn.ts';
import { openPromptForm } from '../../../systems/prompt/chat-form.ts';
import { sum } from '../../analysis/statistics/observations.ts';
import { likeliestTexts } from '../observe/post-turn-measurements.ts';
import { memoryIds, openReplay, type StoredSequence, storedSequence, type TurnReplay } from './turn-replay.ts';

/** Largest difference in ln p between a stored probability and the recomputed one. */
const TOLERANCE = 0.01;
/** Less likely tokens are not compared: rounding in the engine changes their ln p too much. */
const RELEVANT_PROBABILITY = 1e-6;

export interface AttributionHooks {
  /** Called after each evaluation, including the one with all memories. */
  readonly onProgress?: (done: number, of: number) => void;
  readonly signal?: AbortSignal;
}

/**
 * Leave-one-out attribution of a stored answer: ln p of its tokens with all memories in the sequence, and without
 * each of them, while everything else stays in place.
 * @param engine with the model that made the turn, and a free session
 * @throws BenchError `not-reproduced` if the turn cannot be reproduced, or holds no memory; the reason of the signal
 */
export async function attribute(
  stored: TurnRecord,
  engine: Engine,
  { onProgress, signal }: AttributionHooks = {},
): Promise<AttributionRecord> {
  const turn = storedSequence(stored);
  const ids = memoryIds(turn);
  if (ids.length === 0) {
    const message = `the sequence of item ${stored.itemId}, arm ${stored.arm} holds no memory`;
    throw new BenchError('not-reproduced', message, 'choose an arm that is given memories');
  }
  await using session = await engine.openSession('attribution');
  const before = await session.meter();
  await using replay = await openReplay(turn, engine, session);
  signal?.throwIfAborted();
  const { tokens, logProbability } = await answerAgain(turn, replay, engine, session);
  const without = new Map<string, number>();
  // From the last to the first, so that a replay of text can keep the longest evaluated prefix.
  for (const memoryId of ids.toReversed()) {
    onProgress?.(without.size + 1, ids.length + 1);
    signal?.throwIfAborted();
    const { logProbabilities } = await session.score(await replay.begin(memoryId), tokens);
    without.set(memoryId, sum(logProbabilities));
  }
  onProgress?.(ids.length + 1, ids.length + 1);
  const { busyMs } = meterDifference(await session.meter(), before);
  return {
    method: replay.method,
    logProbability,
    memories: ids.map((memoryId) => ({ memoryId, logProbability: without.get(memoryId)! })),
    modelMs: busyMs ?? 0,
  };
}

/** Generates a stored answer again. @returns its tokens with ln p @throws BenchError `not-reproduced` if it differs */
async function answerAgain(turn: StoredSequence, replay: TurnReplay, engine: Engine, session: EngineSession) {
  const limits = {
    ...answerLimits(await openPromptForm(turn.form, engine), turn.reserveTokens),
    // Earlier releases did not end an answer after its first sentence.
    oneSentence: firstSentence(turn.answer) === turn.answer.trim(),
  };
  const { tokens, text, stop } = await session.generate(await replay.begin(), limits);
  if (text !== turn.answer || tokens.length !== turn.generatedTokens) {
    throw notReproduced(`it now answers ${JSON.stringify(text)}, not ${JSON.stringify(turn.answer)}`);
  }
  const answer = [...tokens];
  if (stop === 'end') {
    // A model may have several end tokens. The likeliest one ended this answer.
    const { next } = await session.score([...(await replay.begin()), ...tokens], []);
    answer.push(likeliestTokens(next, 1)[0]!.id);
  }
  const { next, logProbabilities } = await session.score(await replay.begin(), answer);
  const texts = await likeliestTexts(engine, next, turn.nextTokens.length);
  for (const [index, { token, probability }] of turn.nextTokens.entries()) {
    const now = texts[index]?.probability ?? 0;
    if (probability < RELEVANT_PROBABILITY || Math.abs(Math.log(now) - Math.log(probability)) <= TOLERANCE) continue;
    const place = `next token ${index + 1} (${JSON.stringify(token)})`;
    throw notReproduced(`${place} has p = ${now.toPrecision(6)}, and ${probability.toPrecision(6)} is stored`);
  }
  return { tokens: answer, logProbability: sum(logProbabilities) };
}

function notReproduced(why: string): BenchError {
  const hint = 'it was made with another release of the engine or another kind of processor: run the bench again here';
  return new BenchError('not-reproduced', `the turn cannot be reproduced as it is stored: ${why}`, hint);
}
