import { BenchError } from '../../../base/bench-error.ts';
import type { Engine } from '../../../engine/engine.ts';
import { meterDifference } from '../../../engine/token-meter.ts';
import type { AttributionRecord, TurnRecord } from '../../../store/records/turn-record.ts';
import { answerAgain, sumOf } from './answer-again.ts';
import { memoriesOf, storedSequence } from './stored-sequence.ts';
import { openReplay } from './turn-replay.ts';

/** Progress of a computation, and the way to end it. */
export interface AttributionHooks {
  /** Called after each evaluation, the one with all memories included. */
  readonly onProgress?: (done: number, of: number) => void;
  readonly signal?: AbortSignal;
}

/**
 * Leave-one-out attribution of the answer of a stored turn: ln p of the very tokens that were generated, with all memories
 * in the sequence, and with each left out in turn while everything else stands as it stood.
 * @param engine with the model that made the turn, and a free session
 * @throws BenchError `not-reproduced` where the turn does not come out as stored, or holds no memory; the reason of the signal
 */
export async function attribute(
  stored: TurnRecord,
  engine: Engine,
  { onProgress, signal }: AttributionHooks = {},
): Promise<AttributionRecord> {
  const turn = storedSequence(stored);
  const memoryIds = memoriesOf(turn);
  if (memoryIds.length === 0) {
    const message = `the sequence of item ${stored.itemId}, arm ${stored.arm} holds no memory`;
    throw new BenchError('not-reproduced', message, 'choose an arm that is given memories');
  }
  await using session = await engine.openSession('attribution');
  const before = await session.meter();
  await using replay = await openReplay(turn, engine, session);
  signal?.throwIfAborted();
  const { tokens, logProbability } = await answerAgain(turn, replay, engine, session);
  const without = new Map<string, number>();
  // From the last: text keeps what precedes the memory that was left out before.
  for (const memoryId of memoryIds.toReversed()) {
    onProgress?.(without.size + 1, memoryIds.length + 1);
    signal?.throwIfAborted();
    const { logProbabilities } = await session.score(await replay.begin(memoryId), tokens);
    without.set(memoryId, sumOf(logProbabilities));
  }
  onProgress?.(memoryIds.length + 1, memoryIds.length + 1);
  const { busyMs } = meterDifference(await session.meter(), before);
  return {
    method: replay.method,
    logProbability,
    memories: memoryIds.map((memoryId) => ({ memoryId, logProbability: without.get(memoryId)! })),
    modelMs: busyMs ?? 0,
  };
}
