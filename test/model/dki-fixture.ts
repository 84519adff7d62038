import { afterAll, beforeAll, beforeEach } from 'vitest';
import { foundMemories, openParts, storeIn } from '../../scripts/open-parts.ts';
import { type BenchDatabase, openDatabase } from '../../src/store/database.ts';
import type { EngineOpener, EngineRequest } from '../../src/engine/engine-adapter.ts';
import { compareScores, type SequenceScore } from '../../src/engine/sequence-score.ts';
import type { PrefillRecord } from '../../src/store/records/prefill-record.ts';
import type { MemorySearchResult } from '../../src/retrieval/retriever.ts';
import { armRegistry } from '../../src/systems/arms/arm-registry.ts';
import type { BenchSystem, ChatRequest, ChatResponse } from '../../src/systems/memory-system.ts';
import type { OpenEngine } from '../../src/systems/answer-turn.ts';
import { folderOfEachTest } from '../fixtures/folder-of-each-test.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

/** Memories as a retriever gives them, best first; those of a favourite are preferences. */
export function memoriesOf(...contents: readonly string[]): MemorySearchResult[] {
  return contents.map((content, index) => ({
    memoryId: `m${index + 1}`,
    content,
    score: 0.9 - 0.1 * index,
    metadata: { preference: content.includes('favourite') },
  }));
}

/** The blocks that a turn injected. */
export function blocksOf({ trace: { prefill } }: ChatResponse): Exclude<PrefillRecord, { strategy: 'prefix' }> {
  if (prefill === null || prefill.strategy === 'prefix') throw new Error('no blocks were injected');
  return prefill;
}

/**
 * Scores an answer behind the KV that a turn left in its session, in another session: from where the suffix of the turn
 * began. Call it before the next turn of the session.
 */
export async function scoreBehind(
  { engine, session }: OpenEngine,
  { trace }: ChatResponse,
  answer = ' Brenko',
): Promise<SequenceScore> {
  const [continuation] = await engine.tokenize([{ text: answer, as: 'text' }]);
  await using scoring = await engine.openSession('scoring');
  if (trace.prefixPositions > 0) {
    const checkpoint = await session.checkpoint();
    await scoring.restore(checkpoint);
    await engine.deleteCheckpoint(checkpoint);
    await scoring.truncate(trace.prefixPositions);
  }
  return await scoring.score(trace.suffix, continuation!);
}

/** Turns of arms in one session of an engine; each test has a database and a folder of its own. */
export class DkiTurns {
  readonly checkpoints = temporaryFolder();
  readonly folder = folderOfEachTest();
  opened!: OpenEngine;
  database!: BenchDatabase;
  #opened = 0;
  #asked = 0;

  constructor(opener: EngineOpener, model: string, more: Partial<EngineRequest> = {}) {
    beforeAll(async () => {
      const checkpointFolder = this.checkpoints.path;
      const engine = await opener.open({ model, sessions: 2, checkpointFolder, contextTokens: 1024, ...more });
      this.opened = { engine, session: await engine.openSession('turns') };
    });
    afterAll(() => this.opened.engine[Symbol.asyncDispose]());
    beforeEach(() => {
      this.database = openDatabase({ path: ':memory:' });
      return () => this.database.close();
    });
  }

  /** @param store folder of its KV store: systems that are given the same one find each other's KV */
  open(arm: string, { store = `store-${this.#opened++}`, maxBytes = 2 ** 28, gatingThreshold = 0 } = {}): BenchSystem {
    const [definition] = armRegistry.named([arm], { alpha: 1, gatingThreshold });
    const openStore = storeIn(this.folder.file(store), maxBytes);
    return definition!.open({ ...openParts(this.opened, this.database), openStore });
  }

  ask(
    system: BenchSystem,
    memories: readonly MemorySearchResult[],
    changes: Partial<ChatRequest> = {},
  ): Promise<ChatResponse> {
    const retrieved = foundMemories(memories);
    const sessionId = `s${this.#asked++}`;
    return system.chat({ query: 'What is my dog called?', sessionId, userId: 'ann', retrieved, ...changes });
  }

  async askAndScore(system: BenchSystem, memories: readonly MemorySearchResult[]): Promise<SequenceScore> {
    return scoreBehind(this.opened, await this.ask(system, memories));
  }

  /** The largest difference of two arms in ln p, each behind KV that it found; 0 only where all bits are equal. */
  async difference(a: string, b: string, memories: readonly MemorySearchResult[]): Promise<number> {
    const scores: SequenceScore[] = [];
    for (const arm of [a, b]) {
      await using system = this.open(arm);
      await this.ask(system, memories);
      scores.push(await this.askAndScore(system, memories));
    }
    const { bitwiseEqual, largestDifference } = compareScores(scores[0]!, scores[1]!);
    return bitwiseEqual ? 0 : Math.max(largestDifference, Number.MIN_VALUE);
  }
}
