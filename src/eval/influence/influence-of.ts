import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BenchError } from '../../config/bench-error.ts';
import type { Influence } from '../../db/influence-repository.ts';
import type { TurnRow } from '../../db/schema.ts';
import { StateStore } from '../../kv/state-store.ts';
import type { LanguageModel } from '../../llm/language-model.ts';
import { answerAgain, sumOf } from './answer-again.ts';
import { memoriesOf, storedSequence } from './stored-sequence.ts';
import { openReplay } from './turn-replay.ts';

/** Bound of the K/V that a computation keeps: that of a run. */
const STORE_BYTES = 256 * 2 ** 20;

/** What a computation tells, and how it is ended. */
export interface InfluenceHooks {
  /** Told after each evaluation, the one with all memories included. */
  readonly onProgress?: (done: number, of: number) => void;
  readonly signal?: AbortSignal;
}

/**
 * What each memory of a stored turn did to its answer: ln p of the very tokens that were generated, with all memories in
 * the sequence, and with each left out in turn while everything else stands as it stood.
 * @param model the one that made the turn, with a sequence to spare
 * @throws BenchError `not-reproduced` where the turn does not come out as stored, or holds no memory; the reason of the signal
 */
export async function influenceOf(
  row: TurnRow,
  model: LanguageModel,
  { onProgress, signal }: InfluenceHooks = {},
): Promise<Influence> {
  const turn = storedSequence(row);
  const memoryIds = memoriesOf(turn);
  if (memoryIds.length === 0) {
    const message = `the sequence of item ${row.itemId}, arm ${row.arm} holds no memory`;
    throw new BenchError('not-reproduced', message, 'choose an arm that is given memories');
  }
  const folder = mkdtempSync(join(tmpdir(), 'dki-bench-influence-'));
  try {
    await using sequence = model.openSequence();
    const before = model.clock.callMs;
    const room = { info: model.info, sequence, states: new StateStore(folder, STORE_BYTES) };
    const replay = openReplay(turn, room);
    signal?.throwIfAborted();
    const { tokens, logProbability } = await answerAgain(turn, replay, model, sequence);
    const without = new Map<string, number>();
    // From the last: text keeps what precedes the memory that was left out before.
    for (const memoryId of memoryIds.toReversed()) {
      onProgress?.(without.size + 1, memoryIds.length + 1);
      signal?.throwIfAborted();
      const { logProbabilities } = await sequence.score(await replay.begin(memoryId), tokens);
      without.set(memoryId, sumOf(logProbabilities));
    }
    onProgress?.(memoryIds.length + 1, memoryIds.length + 1);
    return {
      method: replay.method,
      logProbability,
      memories: memoryIds.map((memoryId) => ({ memoryId, logProbability: without.get(memoryId)! })),
      modelMs: model.clock.callMs - before,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
